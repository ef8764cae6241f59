"""The desk's first page: today's news, faults, and work for editors. The number of queries does not grow with the stories."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Max, Q
from django.http import HttpRequest
from django.utils import timezone

from sources import roster
from sources.models import FeedHealth
from wire.admin.base import plural, utc_time
from wire.admin.review_queues import count_queues, list_queues
from wire.models import Snapshot, Story, WireState
from wire.publishing import signing

USUAL_PERIOD: Final = dt.timedelta(minutes=30)  # between ingests, where another process runs them


def add_dashboard_context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the dashboard to the context, for users who may see stories."""
    if not request.user.has_perm("wire.view_story"):
        return context
    now = timezone.now()
    faults = [*filter(None, [roster.find_problem()]), *signing.list_chain_faults()]
    live = Q(wire_date=now.date(), current__isnull=False) & ~Q(status="withdrawn")
    queues = count_queues(request.user)
    return context | {
        "title": "Dashboard",
        "stopped": _explain_stop(now),
        "urgent": list(_list_urgent(faults, {queue.name: number for queue, number in queues})),
        "last_run": _describe_last_run(),
        "queues": queues,
        "to_review": sum(number > 0 for _, number in queues),
        "today": Story.objects.filter(live | Q(pending=True)).aggregate(
            stories=Count("pk", filter=live),
            events=Count("event", filter=live, distinct=True),
            corroborated=Count("pk", filter=live & Q(cross_source_count__gt=1)),
            waiting=Count("pk", filter=Q(pending=True)),  # of any day
        ),
        "last_publish": Snapshot.objects.defer("packed").select_related("key").first(),
        "faults": faults,
        "links": signing.LINKS,
    }


def get_environment_label(_request: HttpRequest | None = None) -> tuple[str, str] | None:
    """Return the label that every page of the desk shows."""
    return ("Sample wire", "warning") if WireState.objects.filter(is_sample=True).exists() else None


def _explain_stop(now: dt.datetime) -> str:
    """Return why no news arrives and what to do; "" while ingest works, and on the sample wire, which has none."""
    if get_environment_label():
        return ""
    # A server with WIRE_INGEST=off may have a process beside it that ingests: what counts is when a feed was last fetched.
    feeds = FeedHealth.objects.aggregate(tried=Max("tried_at"), succeeded=Max("succeeded_at"))
    here = settings.WIRE_INGEST is not None
    off = "" if here else "Ingest is off on this server (WIRE_INGEST=off), and "
    start = "check the server's log, or start ingest by hand" if here else "set WIRE_INGEST=30m and restart the server, or run"
    how = f"so no news is arriving. To get news, {start}: manage.py ingest --every 30m."
    no = "No" if here else "no"
    if feeds["tried"] is None:
        return f"{off}{no} feed has ever been fetched, {how}"
    if now - feeds["tried"] > 2 * (settings.WIRE_INGEST or USUAL_PERIOD):
        return f"{off}{no} feed has been fetched since {utc_time(feeds['tried'])}, {how}"
    if feeds["succeeded"] is None:
        return "No feed has ever answered, so no news is arriving. Check this machine's outbound network: DNS, firewall, proxy."
    return ""


def _describe_last_run() -> str:
    tried = FeedHealth.objects.aggregate(tried=Max("tried_at"))["tried"]
    if tried is None:
        return "This is the sample wire, which fetches no feeds." if get_environment_label() else ""
    since = tried - (settings.WIRE_INGEST or USUAL_PERIOD) / 2
    newest = Story.objects.order_by("-pk").values_list("first_seen_at", flat=True)[:1000]
    number = sum(since <= seen for seen in newest)
    return f"Last run of ingest: {utc_time(tried)}, {plural(number, 'new story', 'new stories') if number else 'no new stories'}."


def _list_urgent(faults: Sequence[str], waiting: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield what needs attention, most urgent first, and where at the desk it is."""
    pages = {queue.name: queue.url for queue in list_queues()}
    if faults:
        yield f"{plural(len(faults), 'fault', 'faults')} in the roster or in the chain of snapshots", "#integrity"
    texts = {
        "failing": ("feed is failing", "feeds are failing"),
        "silent": ("feed is silent", "feeds are silent"),
        "empty": ("feed answers without items", "feeds answer without items"),
        "unclassified": ("story to classify", "stories to classify"),
    }
    yield from ((plural(waiting[name], *forms), pages[name]) for name, forms in texts.items() if waiting.get(name))
