"""The desk's first page: today's news, faults, and work for editors. The number of queries does not grow with the stories."""

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
from wire.admin.queues import QUEUES, find_unclassified
from wire.admin.stories import event_page, story_link
from wire.ingest.classify import DEFAULT
from wire.models import Snapshot, Story, WireState
from wire.publishing import consensus, signing

SHOWN: Final = 20
RECENT: Final = dt.timedelta(days=3)
USUAL_PERIOD: Final = dt.timedelta(minutes=30)  # of ingest, where this server does none itself
MISSED_RUNS: Final = 2  # periods without any request, after which ingest is not at work
NEWEST: Final = 1000  # stories, the last that came: among them those of a run are counted
UNLIKE: Final = 0.6  # similarity to the nearest sibling; of the events judged in fixtures/eval, most below it are two happenings


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the dashboard to the context, for users who may see stories."""
    if not request.user.has_perm("wire.view_story"):
        return context
    now = timezone.now()
    faults, doubtful = [*filter(None, [roster.find_problem()]), *signing.list_chain_faults()], _list_doubtful(now)
    queues = [(queue, queue.count()) for queue in QUEUES if request.user.has_perm(queue.permission)]
    return context | {
        "title": "Dashboard",
        "stopped": _explain_stop(now),
        "urgent": list(_list_urgent(faults, {queue.name: number for queue, number in queues}, len(doubtful["rows"]))),
        "last_run": _describe_last_run(),
        "queues": queues,
        "today": _count_today(now),
        "failing": _list_failing(now),
        "uncategorised": _list_uncategorised(),
        "doubtful": doubtful,
        "last_publish": Snapshot.objects.defer("packed").select_related("key").first(),
        "faults": faults,
        "links": signing.LINKS,
    }


def environment(_request: HttpRequest | None = None) -> tuple[str, str] | None:
    """Return the mark of every page of the desk."""
    return ("Sample wire", "warning") if WireState.objects.filter(is_sample=True).exists() else None


def _explain_stop(now: dt.datetime) -> str:
    """Return why no news arrives and what to do; "" while ingest works, and on the sample wire, which has none.

    A server with WIRE_INGEST=off may have a process beside it that ingests: what counts is when a feed was last fetched.
    """
    if environment():
        return ""
    feeds = FeedHealth.objects.aggregate(tried=Max("tried_at"), succeeded=Max("succeeded_at"))
    here = settings.WIRE_INGEST is not None
    off = "" if here else "Ingest is off on this server (WIRE_INGEST=off), and "
    start = "look into the server's log, or start it by hand" if here else "set WIRE_INGEST=30m and restart the server, or start it"
    how = f"so no news arrives. To get news, {start}: manage.py ingest --every 30m."
    no = "No" if here else "no"
    if feeds["tried"] is None:
        return f"{off}{no} feed was ever fetched, {how}"
    if now - feeds["tried"] > MISSED_RUNS * (settings.WIRE_INGEST or USUAL_PERIOD):
        return f"{off}{no} feed was fetched since {moment(feeds['tried'])}, {how}"
    if feeds["succeeded"] is None:
        return "No feed has ever answered, so no news arrives. Look at this machine's way out: DNS, firewall, proxy."
    return ""


def _describe_last_run() -> str:
    tried = FeedHealth.objects.aggregate(tried=Max("tried_at"))["tried"]
    if tried is None:
        return "This is the sample wire, which fetches no feeds." if environment() else ""
    since = tried - (settings.WIRE_INGEST or USUAL_PERIOD) / 2
    newest = Story.objects.order_by("-pk").values_list("first_seen_at", flat=True)[:NEWEST]
    number = sum(since <= seen for seen in newest)
    return f"Last run of ingest: {moment(tried)}, {count(number, 'story', 'stories') if number else 'no story'} came."


def _list_urgent(faults: Sequence[str], waiting: Mapping[str, int], doubtful: int) -> Iterator[tuple[str, str]]:
    """Yield what needs a hand, most urgent first, and where at the desk it is."""
    pages = {queue.name: queue.url for queue in QUEUES}
    if faults:
        yield f"{count(len(faults), 'fault', 'faults')} in the roster or in the chain of snapshots", "#integrity"
    if number := waiting.get("failing"):
        yield f"{count(number, 'feed fails', 'feeds fail')}", pages["failing"]
    if number := waiting.get("empty"):
        yield f"{count(number, 'feed answers', 'feeds answer')} without items", pages["empty"]
    if doubtful:
        yield f"{count(doubtful, 'event of the last three days', 'events of the last three days')} to check", "#doubtful"
    if number := waiting.get("unclassified"):
        yield f"{count(number, 'story', 'stories')} to classify", pages["unclassified"]


def _count_today(now: dt.datetime) -> Mapping[str, int]:
    """Count stories of the UTC day; `waiting` of any day."""
    live = Q(wire_date=now.date(), current__isnull=False) & ~Q(status="withdrawn")
    return Story.objects.filter(live | Q(pending=True)).aggregate(
        stories=Count("pk", filter=live),
        events=Count("event", filter=live, distinct=True),
        corroborated=Count("pk", filter=live & Q(cross_source_count__gt=1)),
        waiting=Count("pk", filter=Q(pending=True)),
    )


def _list_failing(now: dt.datetime) -> Mapping[str, object]:
    rows = []
    feeds = Feed.objects.filter(health__failures__gt=0, publication__seat__isnull=False)
    for feed in feeds.select_related("publication", "health").order_by("-health__failures", "id"):
        at = feed.health.next_try_at
        is_next = at is None or health.is_due(feed.health, now)
        when = "never: it is switched off" if not feed.active else "at the next run" if is_next or at is None else moment(at)
        rows.append((link(feed, feed.publication.name), feed.health.failure, when))
    return table(("Publication", "Why", "Next try"), rows, "Every feed that was fetched answered.")


def _list_uncategorised() -> Mapping[str, Any]:
    waiting, looked_at = find_unclassified()
    stories = Story.objects.filter(pk__in=waiting[:SHOWN]).with_text().select_related("publication").newest_first()
    rows = [(story_link(story), story.publication.name, moment(story.published_at)) for story in stories]
    title = f"Headline ({len(waiting)} of the newest {looked_at} in {DEFAULT.label})"
    return table((title, "Publication", "Published"), rows, f"All of the newest {looked_at} stories are classified.")


def _list_doubtful(now: dt.datetime) -> Mapping[str, Any]:
    """Return events of the last days that may be two happenings, without those that editors settled."""
    recent = Story.objects.live().filter(published_at__gte=now - RECENT, event_pinned=False)
    by_event = defaultdict[str, list[Story]](list)
    stories = Story.objects.live().filter(event__in=recent.values("event")).with_text().select_related("publication")
    for story in stories.newest_first():
        by_event[str(story.event_id)].append(story)
    rows = [
        (
            lines("{}, {}", ((story_link(s), s.publication.name) for s in reports)),
            why,
            format_html('<a href="{}">Look at it</a>', event_page(event)),
        )
        for event, reports in by_event.items()
        if (why := "; ".join(_list_doubts(reports)))
    ]
    return table(("Stories of one event", "Why", "Event"), rows[:SHOWN], "No event of the last three days looks doubtful.")


def _list_doubts(stories: Sequence[Story]) -> Iterator[str]:
    publications = [story.publication.name for story in stories]
    for name in sorted({name for name in publications if publications.count(name) > 1}):
        yield f"{publications.count(name)} stories of {name}"
    if len(set(publications)) > 1:
        nearest = dict.fromkeys((story.pk for story in stories), 0.0)
        headlines = {story.pk: story.current.headline if story.current else "" for story in stories}
        for one, two in combinations(headlines, 2):
            alike = consensus.similarity(headlines[one], headlines[two])
            nearest[one], nearest[two] = max(nearest[one], alike), max(nearest[two], alike)
        if min(nearest.values()) < UNLIKE:
            yield f"one headline is like the others to {min(nearest.values()):.2f} at most"
