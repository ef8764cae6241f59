"""The desk's first page: what today brought, what fails, and what waits for an editor.

The number of queries is the same for any number of stories; what is computed is bounded by days or by a number of stories.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Max, Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html

from sources import health, roster
from sources.models import Feed, FeedHealth
from wire.admin.base import count, lines, link, moment, table
from wire.admin.queues import QUEUES, unclassified
from wire.admin.stories import event_page, story_link
from wire.intake.classify import DEFAULT
from wire.models import Snapshot, Story, WireState
from wire.snapshots import chain, consensus

SHOWN: Final = 20
RECENT: Final = dt.timedelta(days=3)
USUAL_PERIOD: Final = dt.timedelta(minutes=30)  # of ingest, where this server does none itself
MISSED_RUNS: Final = 2  # periods without any request, after which ingest is not at work
NEWEST: Final = 1000  # stories, the last that came: among them those of a run are counted
UNLIKE: Final = 0.6  # similarity to the nearest sibling; of the events judged in fixtures/eval, most below it are two happenings


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Adds what the dashboard shows, for those who may see stories."""
    if not request.user.has_perm("wire.view_story"):
        return context
    now = timezone.now()
    faults, doubtful, uncategorised = list(_faults()), _doubtful(now), _uncategorised()
    queues = [(queue, queue.count()) for queue in QUEUES if request.user.has_perm(queue.permission)]
    return context | {
        "title": "Dashboard",
        "stopped": _stopped(now),
        "urgent": list(_urgent(faults, {queue.name: number for queue, number in queues}, len(doubtful["rows"]))),
        "last_run": _last_run(),
        "queues": queues,
        "today": _today(now),
        "failing": _failing(now),
        "uncategorised": uncategorised,
        "doubtful": doubtful,
        "last_publish": Snapshot.objects.defer("packed").select_related("key").first(),
        "faults": faults,
        "links": chain.LINKS,
    }


def environment(_request: HttpRequest | None = None) -> tuple[str, str] | None:
    """What every page of the desk is marked with."""
    return ("Sample wire", "warning") if WireState.objects.filter(is_sample=True).exists() else None


def _stopped(now: dt.datetime) -> str:
    """Why no news arrives and what to do, in a sentence; empty while ingest is at work, and on the sample wire, which has none.

    A server with WIRE_INGEST=off may have a process beside it that ingests: what counts is when a feed was last fetched.
    """
    if environment():
        return ""
    feeds = FeedHealth.objects.aggregate(tried=Max("tried_at"), succeeded=Max("succeeded_at"))
    here = settings.WIRE_INGEST is not None
    off = "" if here else "Ingest is off on this server (WIRE_INGEST=off), and "
    start = "look into the server's log, or start it by hand" if here else "set WIRE_INGEST=30m and restart the server, or start it"
    how = f"To get news, {start}: manage.py ingest --every 30m."
    if feeds["tried"] is None:
        return _sentence(f"{off}no feed was ever fetched, so no news arrives. {how}")
    if now - feeds["tried"] > MISSED_RUNS * (settings.WIRE_INGEST or USUAL_PERIOD):
        return _sentence(f"{off}no feed was fetched since {moment(feeds['tried'])}, so no news arrives. {how}")
    if feeds["succeeded"] is None:
        return "No feed has ever answered, so no news arrives. Look at this machine's way out: DNS, firewall, proxy."
    return ""


def _last_run() -> str:
    """When ingest last fetched a feed, and how many stories came of that run."""
    tried = FeedHealth.objects.aggregate(tried=Max("tried_at"))["tried"]
    if tried is None:
        return "This is the sample wire, which fetches no feeds." if environment() else ""
    since = tried - (settings.WIRE_INGEST or USUAL_PERIOD) / 2
    newest = Story.objects.order_by("-pk").values_list("first_seen_at", flat=True)[:NEWEST]
    number = sum(since <= seen for seen in newest)
    return f"Last run of ingest: {moment(tried)}, {count(number, 'story', 'stories') if number else 'no story'} came."


def _urgent(faults: Sequence[str], waiting: Mapping[str, int], doubtful: int) -> Iterator[tuple[str, str]]:
    """What needs a hand, and where at the desk it is; the most urgent first."""
    pages = {queue.name: queue.url for queue in QUEUES}
    if faults:
        yield f"{count(len(faults), 'fault', 'faults')} in the roster or in the chain of snapshots", "#integrity"
    if number := waiting.get("failing"):
        yield f"{count(number, 'feed fails', 'feeds fail')}", pages["failing"]
    if doubtful:
        yield f"{count(doubtful, 'event of the last three days', 'events of the last three days')} to check", "#doubtful"
    if number := waiting.get("unclassified"):
        yield f"{count(number, 'story', 'stories')} to classify", pages["unclassified"]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


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
    return moment(feed.health.next_try_at)


def _uncategorised() -> Mapping[str, Any]:
    """The newest of the unclassified stories."""
    waiting, looked_at = unclassified()
    stories = Story.objects.filter(pk__in=waiting[:SHOWN]).with_text().select_related("publication").newest_first()
    rows = [(story_link(story), story.publication.name, moment(story.published_at)) for story in stories]
    title = f"Headline ({len(waiting)} of the newest {looked_at} in {DEFAULT.label})"
    return table((title, "Publication", "Published"), rows, f"All of the newest {looked_at} stories are classified.")


def _doubtful(now: dt.datetime) -> Mapping[str, Any]:
    """Events of the last days that may be two happenings. What editors settled is not asked again."""
    recent = Story.objects.live().filter(published_at__gte=now - RECENT, event_pinned=False)
    by_event = defaultdict[str, list[Story]](list)
    for story in (
        Story.objects.live().filter(event__in=recent.values("event")).with_text().select_related("publication").newest_first()
    ):
        by_event[str(story.event_id)].append(story)
    rows = [
        (lines("{}, {}", ((story_link(s), s.publication.name) for s in stories)), why, _event_link(event))
        for event, stories in by_event.items()
        if (why := "; ".join(_doubts(stories)))
    ]
    return table(("Stories of one event", "Why", "Event"), rows[:SHOWN], "No event of the last three days looks doubtful.")


def _event_link(event_id: str) -> str:
    return format_html('<a href="{}">Look at it</a>', event_page(event_id))


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
