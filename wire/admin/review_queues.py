"""Saved queues: lists of the desk that show only rows that may need an editor."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.admin import SimpleListFilter
from django.db.models import Count, Exists, F, Max, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from config.plugins import list_plugins
from sources import feed_health
from sources.models import Feed
from wire.admin.base import ModelAdmin, Row
from wire.ingest import classifier_terms
from wire.ingest.classify import DEFAULT
from wire.ingest.evidence import NEAR
from wire.models import Entity, Event, Story, StoryPair
from wire.text.identity import headline_key
from wire.text.lexicons import load_lexicon

PARAMETER: Final = "queue"
LOOKED_AT: Final = 300  # newest stories of the default category that are read again for a term that matches
TWINS_AMONG: Final = 1000  # newest stories whose headlines are compared
RECENT: Final = dt.timedelta(days=3)
FEWEST_STORIES: Final = 3
LOW_SCORE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Queue:
    """A saved list. `keys` gives the primary keys of its rows; `explanation` says which those are, `empty` is shown without any."""

    name: str
    model: type[Model]
    keys: Callable[[], Any]
    icon: str
    title: str
    explanation: str
    empty: str
    is_for_operators: bool = False

    @property
    def url(self) -> str:
        meta = self.model._meta
        return f"{reverse(f'admin:{meta.app_label}_{meta.model_name}_changelist')}?{PARAMETER}={self.name}"

    @property
    def permission(self) -> str:
        # Editors lack only permissions for accounts; operators are superusers.
        return "auth.view_user" if self.is_for_operators else f"{self.model._meta.app_label}.view_{self.model._meta.model_name}"

    def count(self) -> int:
        keys = self.keys()
        return len(keys) if isinstance(keys, list) else keys.count()


def _find_without_lexicon_match() -> list[int]:
    """Return the newest stories of the default category that no term of the lexicon matches."""
    terms = classifier_terms.load_lexicon()
    newest = Story.objects.live().filter(category=DEFAULT, editor_category="").newest_first()
    rows = newest.values_list("pk", "current__headline", "current__summary_medium")[:LOOKED_AT]
    return [pk for pk, headline, summary in rows if not terms.category_or_none(headline, summary)]


def _select_active_feeds() -> QuerySet[Feed]:
    return Feed.objects.filter(active=True, publication__seat__isnull=False)


def _find_silent_feeds() -> list[int]:
    now = timezone.now()
    feeds = _select_active_feeds().filter(health__failures=0).select_related("health")
    return [feed.pk for feed in feeds if feed_health.is_silent(feed.health, now)]


def _find_twin_stories() -> list[int]:
    """Return the newest stories of which their publication has another with the same headline, not long before or after."""
    newest = Story.objects.live().newest_first().values_list("pk", "publication", "current__headline", "published_at")[:TWINS_AMONG]
    rows = [(pk, (publication, headline_key(headline)), at) for pk, publication, headline, at in newest]
    often = Counter(key for _, key, _ in rows)
    places = {key: [at for _, other, at in rows if other == key] for key, number in often.items() if number > 1}
    return [pk for pk, key, at in rows if key in places and sum(abs(at - other) <= NEAR for other in places[key]) > 1]


def _find_linked_events() -> QuerySet[Any, Any]:
    """Select events that began lately and that the machine, not an editor, linked to earlier ones."""
    recent = Story.objects.live().filter(event=OuterRef("pk"), published_at__gte=timezone.now() - RECENT)
    linked = Event.objects.filter(storyline__isnull=False, storyline_pinned=False).exclude(storyline=F("pk"))
    return linked.filter(Exists(recent)).values("pk")


def _find_disagreeing_events() -> QuerySet[Any, Any]:
    """Select events whose best story is poorly corroborated by the others, without those that editors settled."""
    events = Story.objects.live().filter(event__isnull=False).order_by().values("event")
    unsettled = Count("pk", filter=Q(event_pinned=False))
    score, sources = Max("consensus_score"), Max("cross_source_count")
    found = events.annotate(stories=Count("pk"), score=score, sources=sources, unsettled=unsettled)
    return found.filter(stories__gte=FEWEST_STORIES, score__lt=LOW_SCORE, sources__gte=2, unsettled__gt=0).values("event")


Rows = Mapping[str, tuple[type[Model], Callable[[], Any]]]
_ROWS: Final[Rows] = {
    "one-event": (StoryPair, lambda: StoryPair.objects.waiting().values("pk")),
    "twins": (Story, _find_twin_stories),
    "grew": (Event, _find_linked_events),
    "failing": (Feed, lambda: _select_active_feeds().filter(health__failures__gt=0).values("pk")),
    "silent": (Feed, _find_silent_feeds),
    "empty": (Feed, lambda: _select_active_feeds().filter(health__empty_since__isnull=False).values("pk")),
    "unclassified": (Story, _find_without_lexicon_match),
    "flagged": (Story, lambda: Story.objects.live().filter(current__untrusted_instructions=True).values("pk")),
    "low-agreement": (Event, _find_disagreeing_events),
    "new-names": (Entity, lambda: Entity.objects.filter(state=Entity.State.PROPOSED).values("pk")),
    "no-summary": (Story, lambda: Story.objects.live().filter(current__summary_medium="").values("pk")),
}
_FIGURES: Final = {
    "newest": LOOKED_AT,
    "stories": FEWEST_STORIES,
    "score": LOW_SCORE,
    "default": DEFAULT.label,
    "twins": TWINS_AMONG,
}


def build_queues(rows: Rows, lexicon_name: str, figures: Mapping[str, object]) -> list[Queue]:
    """Return queues in the order of `rows`, with the texts of a file of fixtures/lexicons."""
    texts = load_lexicon(lexicon_name)
    return [
        Queue(name, *found, **{what: text.format(**figures) for what, text in texts[name].items()}) for name, found in rows.items()
    ]


QUEUES: Final = build_queues(_ROWS, "queues", _FIGURES)
PAIRS: Final = QUEUES[0]


def list_queues() -> list[Queue]:
    """Return the queues of the wire and of every plugin."""
    return [*QUEUES, *(queue for plugin in list_plugins() for queue in plugin.list_queues())]


def count_queues(user: Any) -> list[tuple[Queue, int]]:
    """Return the queues that a user may see, with how many rows wait in each: those with any come first."""
    counted = [(queue, queue.count()) for queue in list_queues() if user.has_perm(queue.permission)]
    return sorted(counted, key=lambda found: not found[1])


class QueueFilter(SimpleListFilter):
    title = "Queue"
    parameter_name = PARAMETER

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(queue.name, queue.title) for queue in list_queues() if queue.model is model_admin.model]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        queue = _find_queue(self.value(), queryset.model)
        return queryset.filter(pk__in=queue.keys()) if queue else queryset


class QueuedAdmin(ModelAdmin[Row]):
    """A list with queues; a chosen queue gives it a title, and a sentence about its rows or why it is empty."""

    list_before_template = "admin/queue.html"

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changes: Any = super().get_changelist_instance(request)
        changes.queue = _find_queue(request.GET.get(PARAMETER), self.model)
        if changes.queue:
            changes.title = changes.queue.title
        return changes


def _find_queue(name: str | None, model: type[Model]) -> Queue | None:
    return next((queue for queue in list_queues() if (queue.name, queue.model) == (name, model)), None)
