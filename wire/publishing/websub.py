"""WebSub (W3C, 2018): tells the hub that the operator named which feeds changed, so that subscribers need not ask again and again.

It follows the log of changes, so a killed or failed pass goes on where it stopped, and nothing that publishes waits for it.
"""

import datetime as dt
import logging
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from config.errors import Busy
from sources import job_lock
from sources.job_lock import Lease
from wire.models import Change, Event, HubState, Story, StoryEntity, StoryTopic, WireState
from wire.text.choices import ChangeKind

if TYPE_CHECKING:
    from httpcore2 import ConnectionPool

FORMS: Final = ("rss", "atom", "json")
MOST: Final = 200  # feeds of single events and storylines in one pass; after an import of an archive nobody follows those
PATIENCE: Final = 10.0  # seconds for one step of the hub's answer, and for its words
MAX_ANSWER: Final = 1_000  # bytes of it that are read
IDLE: Final = 3600.0  # seconds until the next look without a publish
LONGEST_PAUSE: Final = 6 * 3600.0  # seconds between two tries of a hub that does not answer
RENEWED_EVERY: Final = 30.0  # seconds between two renewals of the lease
WHILE_BUSY: Final = 60.0  # seconds until the next look while another process is at work
_CORRECTIONS: Final = {ChangeKind.STORY_CORRECTED, ChangeKind.STORY_WITHDRAWN}
_LATER: Final = {408, 425, 429}  # statuses below 500 that ask to try again

log = logging.getLogger(__name__)


class Unanswered(Exception):
    """The hub asks to try again later."""


class FeedUnanswered(Unanswered):
    """The hub has trouble with one feed, which is announced again later."""


def announce_changes(last: int | None, now: dt.datetime | None = None) -> float:
    """Tell the hub the feeds that changed up to the change `last`, which every process shows (None: not known yet). Return the
    seconds until this should be called again, unless something is published before.
    """
    now = now or timezone.now()
    epoch, is_sample = WireState.objects.values_list("changes_epoch", "is_sample").get(pk=1)
    if last is None:
        return 1.0
    if is_sample:
        return IDLE
    begin = {"url": settings.WIRE_WEBSUB_HUB, "epoch": epoch, "number": last}
    state, _ = HubState.objects.get_or_create(pk=1, defaults=begin)
    if (state.url, state.epoch) != (settings.WIRE_WEBSUB_HUB, epoch):
        HubState.objects.filter(pk=1).update(**begin, failures=0, next_try_at=None, error="")
    elif state.number < last:
        if state.next_try_at and now < state.next_try_at:
            return (state.next_try_at - now).total_seconds()
        try:
            with job_lock.acquire(HubState.objects.filter(pk=1), "announcement to the hub") as lease:
                return _announce_missed(lease, last, now)
        except Busy:
            return WHILE_BUSY
    return IDLE


def _announce_missed(lease: Lease, last: int, now: dt.datetime) -> float:
    """Announce the changes between the stored one and `last`. Raises: Busy, when another process took over."""
    import httpcore2  # takes long to load, and few installations have a hub

    row, refused, left = lease.row, "", None
    state = row.get()
    if state.number >= last:  # another process announced them until it let go of the lease
        return IDLE
    renewed = time.monotonic()
    try:
        with httpcore2.ConnectionPool(max_connections=1) as pool:
            for topic in list_topics(state.number, last):
                if time.monotonic() > renewed + RENEWED_EVERY:
                    lease.renew()
                    renewed = time.monotonic()
                try:
                    refused = _ping_hub(pool, topic) or refused
                except FeedUnanswered as error:  # the hub has trouble with this feed: the others need not wait for it
                    left = error
        if left:
            raise left
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, OSError, Unanswered) as error:
        failures = state.failures + 1
        pause: float = min(60.0 * 2 ** min(failures - 1, 20), LONGEST_PAUSE)
        what = str(error) or type(error).__name__
        row.update(failures=failures, next_try_at=now + dt.timedelta(seconds=pause), error=what[:500])
        log.warning("The WebSub hub does not answer: %s. Trying again in %.0f s.", what, pause)
        return pause
    if refused:
        log.warning("The WebSub hub refuses: %s", refused)
    row.update(number=last, failures=0, next_try_at=None, error=refused[:500])
    return IDLE


def _ping_hub(pool: "ConnectionPool", topic: str) -> str:
    """Announce one feed. Return why the hub refuses it, or "". Raises: Unanswered and httpcore2's errors, for a later try."""
    # `url` is PubSubHubbub's name of it, and most hubs'; others go by `topic`, as WebSub names it between subscribers and hubs.
    form = urlencode({"hub.mode": "publish", "hub.url": topic, "hub.topic": topic}).encode()
    times = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE)}
    headers = [("Content-Type", "application/x-www-form-urlencoded"), ("User-Agent", f"ChatbotNews.ai ({settings.WIRE_SITE_URL})")]
    said, ends = b"", time.monotonic() + PATIENCE
    with pool.stream("POST", settings.WIRE_WEBSUB_HUB, headers=headers, content=form, extensions=times) as answer:
        for piece in answer.iter_stream():
            said += piece
            if len(said) > MAX_ANSWER or time.monotonic() > ends:
                break
    if answer.status in range(200, 300):
        return ""
    words = " ".join(said.decode("utf-8", "replace").split())[:200].rstrip(".")
    why = f"status {answer.status} for {topic}{': ' if words else ''}{words}"
    if answer.status in _LATER:
        raise Unanswered(why)
    if answer.status >= 500:
        raise FeedUnanswered(why)
    return why


def list_topics(after: int, last: int) -> Iterator[str]:
    """Yield the addresses of the feeds that the changes with after < number <= last concern, lists first."""
    for name in _list_feeds(after, last):
        for form in FORMS:
            yield f"{settings.WIRE_SITE_URL}/feeds/{name}.{form}"


def _list_feeds(after: int, last: int) -> Sequence[str]:
    changes = Change.objects.filter(number__gt=after, number__lte=last)
    kinds = set(changes.order_by().values_list("kind", flat=True).distinct())
    names = []
    if any(kind != ChangeKind.ROSTER_REPLACED for kind in kinds):
        names += ["events", "stories"]
    names += ["corrections"] if kinds & _CORRECTIONS else []
    names += ["takes"] if ChangeKind.DAY_PUBLISHED in kinds else []
    stories = Story.objects.filter(chatbotnews_id__in=changes.filter(kind__startswith="story_").values("subject"))
    for label, rows in (
        ("category", stories.values_list("category", flat=True)),
        ("topic", StoryTopic.objects.filter(story__in=stories).values_list("topic", flat=True)),
        ("source", stories.values_list("publication__slug", flat=True)),
        ("about", StoryEntity.objects.filter(story__in=stories).values_list("entity__slug", flat=True)),
    ):
        names += [f"{label}-{which}" for which in sorted(set(rows.order_by().distinct()))]
    left = changes.filter(kind__startswith="event_").values("subject")  # events that others were merged into, or parted from
    events = Event.objects.filter(Q(pk__in=stories.values("event")) | Q(pk__in=left)).order_by().values_list("pk", "storyline")
    found = sorted(events[: MOST + 1])
    if len(found) <= MOST:
        names += [f"event-{event}" for event, _ in found]
        names += sorted({f"storyline-{storyline or event}" for event, storyline in found})
    return names
