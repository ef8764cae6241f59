"""Saved queues: lists of the desk that show only rows that may need an editor."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.admin import SimpleListFilter
from django.db.models import Count, Max, Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from sources.models import Feed
from wire.admin.base import ModelAdmin, Row
from wire.ingest import lexicon
from wire.ingest.classify import DEFAULT
from wire.models import Entity, Event, Story, StoryPair
from wire.text.lexicons import load

PARAMETER: Final = "queue"
LOOKED_AT: Final = 300  # newest stories of the default category that are read again for a term that matches
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

    @property
    def url(self) -> str:
        meta = self.model._meta
        return f"{reverse(f'admin:{meta.app_label}_{meta.model_name}_changelist')}?{PARAMETER}={self.name}"

    @property
    def permission(self) -> str:
        return f"{self.model._meta.app_label}.view_{self.model._meta.model_name}"

    def count(self) -> int:
        keys = self.keys()
        return len(keys) if isinstance(keys, list) else keys.count()


def _find_without_lexicon_match() -> list[int]:
    """Return the newest stories of the default category that no term of the lexicon matches."""
    terms = lexicon.load()
    newest = Story.objects.live().filter(category=DEFAULT, editor_category="").newest_first()
    rows = newest.values_list("pk", "current__headline", "current__summary_medium")[:LOOKED_AT]
    return [pk for pk, headline, summary in rows if not terms.category_or_none(headline, summary)]


def _active_feeds() -> QuerySet[Feed]:
    return Feed.objects.filter(active=True, publication__seat__isnull=False)


def _find_disagreeing() -> QuerySet[Any, Any]:
    """Select events whose best story is poorly corroborated by the others, without those that editors settled."""
    events = Story.objects.live().filter(event__isnull=False).order_by().values("event")
    unsettled = Count("pk", filter=Q(event_pinned=False))
    score, sources = Max("consensus_score"), Max("cross_source_count")
    found = events.annotate(stories=Count("pk"), score=score, sources=sources, unsettled=unsettled)
    return found.filter(stories__gte=FEWEST_STORIES, score__lt=LOW_SCORE, sources__gte=2, unsettled__gt=0).values("event")


_ROWS: Final[dict[str, tuple[type[Model], Callable[[], Any]]]] = {
    "one-event": (StoryPair, lambda: StoryPair.objects.waiting().values("pk")),
    "failing": (Feed, lambda: _active_feeds().filter(health__failures__gt=0).values("pk")),
    "empty": (Feed, lambda: _active_feeds().filter(health__empty_since__isnull=False).values("pk")),
    "unclassified": (Story, _find_without_lexicon_match),
    "flagged": (Story, lambda: Story.objects.live().filter(current__untrusted_instructions=True).values("pk")),
    "low-agreement": (Event, _find_disagreeing),
    "new-names": (Entity, lambda: Entity.objects.filter(state=Entity.State.PROPOSED).values("pk")),
    "no-summary": (Story, lambda: Story.objects.live().filter(current__summary_medium="").values("pk")),
}
_FIGURES: Final = {"newest": LOOKED_AT, "stories": FEWEST_STORIES, "score": LOW_SCORE, "default": DEFAULT.label}
QUEUES: Final = [
    Queue(name, *_ROWS[name], **{what: text.format(**_FIGURES) for what, text in texts.items()})
    for name, texts in load("queues").items()
]
PAIRS: Final = QUEUES[0]


class QueueFilter(SimpleListFilter):
    title = "Queue"
    parameter_name = PARAMETER

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        return [(queue.name, queue.title) for queue in QUEUES if queue.model is model_admin.model]

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
    return next((queue for queue in QUEUES if (queue.name, queue.model) == (name, model)), None)
