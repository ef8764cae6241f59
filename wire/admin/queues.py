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
from wire.models import Event, Story, StoryPair

PARAMETER: Final = "queue"
LOOKED_AT: Final = 300  # newest stories of the default category that are read again for a term that matches
FEWEST_STORIES: Final = 3
LOW_SCORE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Queue:
    """A saved list. `keys` gives the primary keys of its rows; `explanation` says which those are, `empty` is shown without any."""

    name: str
    model: type[Model]
    icon: str
    title: str
    explanation: str
    empty: str
    keys: Callable[[], Any]

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


PAIRS: Final = Queue(
    "one-event",
    StoryPair,
    "call_merge",
    "Probably one event",
    "Each two stories probably report one happening, and are in two events. “One event” merges the events; “Follow-up” leaves "
    "two events, in one storyline; “Different” leaves two events. Each decision is final for automatic grouping.",
    "No pair waits: no two events of the wire look like one.",
    lambda: StoryPair.objects.waiting().values("pk"),
)
QUEUES: Final = (
    PAIRS,
    Queue(
        "failing",
        Feed,
        "signal_disconnected",
        "Failing feeds",
        "The last request to each of these feeds failed. The state says why, and when it is tried again.",
        "No feed fails: every feed that was fetched answered.",
        lambda: _active_feeds().filter(health__failures__gt=0).values("pk"),
    ),
    Queue(
        "empty",
        Feed,
        "inbox",
        "Empty feeds",
        "These feeds answer without any item, though they had some before. The state says since when, and what to do.",
        "No feed is empty: every feed that had items before still has some.",
        lambda: _active_feeds().filter(health__empty_since__isnull=False).values("pk"),
    ),
    Queue(
        "unclassified",
        Story,
        "category",
        "Unclassified stories",
        f"Of the newest {LOOKED_AT} stories in {DEFAULT.label}, these are there only because no term of the lexicon matches them. "
        "Choose a category for each, or add a term to the lexicon.",
        f"Every story is classified: a term of the lexicon matches each of the newest {LOOKED_AT} in {DEFAULT.label}.",
        _find_without_lexicon_match,
    ),
    Queue(
        "flagged",
        Story,
        "flag",
        "Flagged stories",
        "The text of these stories addresses language models. Readers and agents are warned; withdraw a story that is an attack.",
        "No story is flagged: no published text addresses language models.",
        lambda: Story.objects.live().filter(current__untrusted_instructions=True).values("pk"),
    ),
    Queue(
        "low-agreement",
        Event,
        "call_split",
        "Events with low agreement",
        f"Events of {FEWEST_STORIES} stories or more whose headlines agree little (consensus below {LOW_SCORE}). They may be two "
        "happenings: split off what does not belong, or pin the stories if they do.",
        f"No event of {FEWEST_STORIES} stories or more has a consensus below {LOW_SCORE}.",
        _find_disagreeing,
    ),
    Queue(
        "no-summary",
        Story,
        "short_text",
        "Stories without a summary",
        "Their publishers sent no text that can serve as a summary. Readers see the headline alone.",
        "Every published story has a summary.",
        lambda: Story.objects.live().filter(current__summary_medium="").values("pk"),
    ),
)


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
