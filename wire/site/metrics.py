"""Figures of this process and of the wire in Prometheus' text format, for who holds WIRE_METRICS_TOKEN."""

import hmac
import logging
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.database import routing
from config.errors import Unavailable
from config.http import error_counts, memory_cache
from config.plugins import list_plugins
from sources.choices import Circuit
from sources.queries import get_feeds_health
from sources.schemas import FeedHealthOut
from wire import queries
from wire.models import Snapshot, Story
from wire.search.vectors import count_unembedded
from wire.site.errors import not_found

log = logging.getLogger(__name__)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """404 without the token, as if there were no such address."""
    token = request.headers.get("Authorization", "").encode()
    if not settings.WIRE_METRICS_TOKEN or not hmac.compare_digest(token, f"Bearer {settings.WIRE_METRICS_TOKEN}".encode()):
        return not_found(request)
    lines = [*_list_process_metrics(), *_list_wire_metrics(), *(one for plugin in list_plugins() for one in plugin.list_metrics())]
    form = "text/plain; version=0.0.4; charset=utf-8"
    return HttpResponse("\n".join(lines) + "\n", content_type=form, headers={"Cache-Control": "no-store"})


def _list_process_metrics() -> Iterator[str]:
    with suppress(OSError):  # where there is no /proc
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        yield _gauge("process_resident_memory_bytes", "Resident memory.", pages * os.sysconf("SC_PAGE_SIZE"))
    yield _gauge("process_cpu_seconds_total", "User and system time.", f"{time.process_time():.2f}", kind="counter")
    yield _gauge("wire_kept_answers", "Cached answers in this process's memory.", memory_cache.answers.count)
    yield _gauge("wire_kept_bytes", "Bytes that cached answers take.", memory_cache.answers.bytes)
    is_stale = int(memory_cache.answers.is_stale)
    yield _gauge("wire_kept_stale", "Whether cached answers are served because the database cannot be read.", is_stale)
    yield "# HELP wire_errors_total Answers with a server error, by entry point (label door).\n# TYPE wire_errors_total counter"
    yield from (f'wire_errors_total{{door="{door}"}} {error_counts.counts[door]}' for door in error_counts.DOORS)
    source = routing.source
    yield _gauge("wire_database_outages", "How often the database became unreachable.", source.outages, kind="counter")
    if routing.REPLICA in settings.DATABASES:
        yield _gauge("wire_replica_read", "Whether the replica is read.", int(source.alias == routing.REPLICA))
        is_up = int(not routing.explain_outage(queries.get_wire_version))
        yield _gauge("wire_primary_up", "Whether the primary answers, whatever the replica does.", is_up)
        yield _gauge("wire_replica_fallbacks", "How often reads switched to the primary.", source.fallbacks, kind="counter")


def _list_wire_metrics() -> Iterator[str]:
    lines: list[str] = []
    try:
        lines = list(_read_wire_metrics())
    except Unavailable:
        pass
    except Error:
        log.exception("The database does not answer.")
    yield _gauge("wire_database_up", "Whether the database answers; if not, the metrics below are missing.", int(bool(lines)))
    yield from lines


def _read_wire_metrics() -> Iterator[str]:
    yield _gauge("wire_version", "Raised by every public change.", queries.get_wire_version(), kind="counter")
    yield _gauge("wire_pending_stories", "Stories with a change that is not published yet.", Story.objects.pending().count())
    yield _gauge("wire_vectors_missing", "Live stories without a vector: search and grouping use words alone.", count_unembedded())
    newest = Snapshot.objects.order_by("-sequence").values_list("sequence", "generated_at").first()
    if newest:
        age = int((timezone.now() - newest[1]).total_seconds())
        yield _gauge("wire_snapshots", "Snapshots in the chain.", newest[0], kind="counter")
        yield _gauge("wire_snapshot_age_seconds", "Seconds since the newest snapshot was published.", age)
    feeds = get_feeds_health().feeds
    states = Counter(map(_classify_feed, feeds))
    yield "# HELP wire_feeds The roster's feeds by state.\n# TYPE wire_feeds gauge"
    yield from (f'wire_feeds{{state="{state}"}} {states[state]}' for state in ("answers", "silent", "fails", "off"))
    tried = [feed.last_try_at.timestamp() for feed in feeds if feed.last_try_at]
    if tried:
        yield _gauge("wire_feed_last_try_timestamp_seconds", "Last fetch of any feed.", int(max(tried)))


def _classify_feed(feed: FeedHealthOut) -> str:
    if not feed.active:
        return "off"
    # A machine without a network opens no circuit, and no feed answers it.
    if feed.failure or feed.circuit != Circuit.CLOSED:
        return "fails"
    return "silent" if feed.silent else "answers"


def _gauge(name: str, text: str, value: object, *, kind: str = "gauge") -> str:
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n{name} {value}"
