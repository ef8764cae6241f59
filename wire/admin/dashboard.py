"""The desk's first page: what today brought, what fails, and what waits for an editor.

The number of queries is the same for any number of stories; what is computed is bounded by days or by a number of stories.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from django.db.models import Count, Q
from django.http import HttpRequest
from django.utils import timezone

from sources import health, roster
from sources.models import Feed
from wire.admin.base import lines, link, table
from wire.admin.stories import story_link
from wire.intake import lexicon
from wire.intake.classify import DEFAULT
from wire.models import Snapshot, Story, WireState
from wire.snapshots import chain, consensus

LOOKED_AT: Final = 300  # newest stories of the default category that are read again for a term that speaks for it
SHOWN: Final = 20
RECENT: Final = dt.timedelta(days=3)
UNLIKE: Final = 0.6  # similarity to the nearest sibling; of the events judged in fixtures/eval, most below it are two happenings


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Adds what the dashboard shows, for those who may see stories."""
    if not request.user.has_perm("wire.view_story"):
        return context
    now = timezone.now()
    return context | {
        "title": "Dashboard",
        "today": _today(now),
        "failing": _failing(now),
        "uncategorised": _uncategorised(),
        "doubtful": _doubtful(now),
        "last_publish": Snapshot.objects.defer("packed").select_related("key").first(),
        "faults": list(_faults()),
        "links": chain.LINKS,
    }


def environment(_request: HttpRequest) -> tuple[str, str] | None:
    """What every page of the desk is marked with."""
    return ("Sample wire", "warning") if WireState.objects.filter(is_sample=True).exists() else None


def _today(now: dt.datetime) -> Mapping[str, int]:
    """Counts of the UTC day; what waits is of any day."""
    live = Q(wire_date=now.date(), current__isnull=False) & ~Q(status="withdrawn")
    return Story.objects.filter(live | Q(pending=True)).aggregate(
        stories=Count("pk", filter=live),
        events=Count("event", filter=live, distinct=True),
        corroborated=Count("pk", filter=live & Q(cross_source_count__gt=1)),
        waiting=Count("pk", filter=Q(pending=True)),
    )


def _failing(now: dt.datetime) -> Mapping[str, object]:
    feeds = Feed.objects.filter(health__failures__gt=0, publication__seat__isnull=False)
    feeds = feeds.select_related("publication", "health").order_by("-health__failures", "id")
    return table(
        ("Publication", "Why", "Next try"),
        [(link(feed, feed.publication.name), feed.health.failure, _next_try(feed, now)) for feed in feeds],
        "Every feed that was fetched answered.",
    )


def _next_try(feed: Feed, now: dt.datetime) -> str:
    if not feed.active:
        return "never: it is switched off"
    if health.is_due(feed.health, now) or feed.health.next_try_at is None:
        return "at the next run"
    return f"{feed.health.next_try_at:%Y-%m-%d %H:%M} UTC"


def _uncategorised() -> Mapping[str, object]:
    """The newest stories that are in the default category for no better reason: by today's lexicon, no term speaks for any."""
    terms = lexicon.load()
    stories = list(
        Story.objects.live()
        .filter(category=DEFAULT, editor_category="")
        .with_text()
        .select_related("publication")
        .newest_first()[:LOOKED_AT]
    )
    waiting = [s for s in stories if s.current and not terms.category_or_none(s.current.headline, s.current.summary_medium)]
    rows = [(story_link(story), story.publication.name, f"{story.published_at:%Y-%m-%d %H:%M}") for story in waiting[:SHOWN]]
    title = f"Headline ({len(waiting)} of the newest {len(stories)} in {DEFAULT.label})"
    return table((title, "Publication", "Published"), rows, f"All of the newest {len(stories)} stories are classified.")


def _doubtful(now: dt.datetime) -> Mapping[str, object]:
    """Events of the last days that may be two happenings. What editors settled is not asked again."""
    recent = Story.objects.live().filter(published_at__gte=now - RECENT, event_pinned=False)
    by_event = defaultdict[str, list[Story]](list)
    for story in (
        Story.objects.live().filter(event__in=recent.values("event")).with_text().select_related("publication").newest_first()
    ):
        by_event[str(story.event_id)].append(story)
    rows = [
        (lines("{}, {}", ((story_link(s), s.publication.name) for s in stories)), why)
        for stories in by_event.values()
        if (why := "; ".join(_doubts(stories)))
    ]
    return table(("Stories of one event", "Why"), rows[:SHOWN], "No event of the last three days looks doubtful.")


def _doubts(stories: Sequence[Story]) -> Iterator[str]:
    publications = [story.publication.name for story in stories]
    for name in sorted({name for name in publications if publications.count(name) > 1}):
        yield f"{publications.count(name)} stories of {name}"
    if len(set(publications)) > 1:
        nearest = dict.fromkeys((story.pk for story in stories), 0.0)
        for one, two in combinations(stories, 2):
            alike = consensus.similarity(_headline(one), _headline(two))
            nearest[one.pk], nearest[two.pk] = max(nearest[one.pk], alike), max(nearest[two.pk], alike)
        if min(nearest.values()) < UNLIKE:
            yield f"one headline is like the others to {min(nearest.values()):.2f} at most"


def _faults() -> Iterator[str]:
    """What is wrong with the roster, or with the newest links of the chain."""
    if problem := roster.problem():
        yield problem
    yield from chain.faults()


def _headline(story: Story) -> str:
    return story.current.headline if story.current else ""
