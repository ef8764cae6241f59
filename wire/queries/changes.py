"""The log of changes of the public record, in the order of their commits, from any place on."""

import datetime as dt
from collections.abc import Collection
from typing import Final

from django.conf import settings
from django.db.models import Count

from config.errors import InvalidArgument
from config.http import publish_waiters
from sources.models import utc_today
from wire.models import Change, WireState
from wire.schemas import build_from
from wire.schemas.proofs import ChangeOut, ChangesOut
from wire.schemas.story import estimate_tokens
from wire.search.cursor import decode_cursor, encode_cursor
from wire.text.choices import ChangeKind

LIMIT: Final = 30  # about 2,200 tokens
MOST: Final = 500
SINCE: Final = "Changes from this moment on; default: from today, 00:00 UTC. For a copy of everything, give 1970-01-01."
_EPOCH: Final = dt.datetime.fromtimestamp(0, dt.UTC)
_LONGEST_RUN: Final = dt.timedelta(days=1)


def get_changes(
    cursor: str | None = None,
    limit: int = LIMIT,
    kinds: Collection[ChangeKind] | None = None,
    since: dt.datetime | None = None,
) -> ChangesOut:
    """Return at most `limit` changes after `cursor`, or without one from `since` on (default: from today on, UTC), in the order of
    their commits; only of these kinds, where given. A change is announced 1-2 s after its commit, when every process has seen it.

    Raises: InvalidArgument for a strange cursor, or one of a log that was made again since.
    """
    # The end is read before the rows: what is committed meanwhile comes with the next page, and no cursor goes past it.
    epoch, last = _read_log_end()
    if cursor is None:
        after = _find_change_before(since or dt.datetime.combine(utc_today(), dt.time(), dt.UTC), last)
    else:
        of, after = decode_cursor(cursor, {"changes": 2})[1]
        if of != epoch or isinstance(after, bool) or not isinstance(after, int) or not 0 <= after < 2**63:
            raise InvalidArgument(
                "cursor belongs to a log that no longer exists: the wire has since been restored.",
                "Leave cursor out, give since=1970-01-01 and start with an empty copy.",
            )
    rows = Change.objects.filter(number__gt=after, number__lte=last).order_by("number")
    if kinds:
        rows = rows.filter(kind__in=list(kinds))
    found = list(rows[: limit + 1])
    page, has_more = found[:limit], len(found) > limit
    end = max(page[-1].number if has_more else last, after)
    by_kind = rows.order_by("kind").values_list("kind").annotate(Count("number")) if cursor is None else None
    answer = ChangesOut(
        changes=[_to_change_out(row) for row in page],
        next_cursor=encode_cursor("changes", epoch, end),
        has_more=has_more,
        est_tokens=0,
        counts=None if by_kind is None else dict(by_kind),
    )
    return answer.model_copy(update={"est_tokens": estimate_tokens([answer.model_dump_json().encode()])})


def _find_change_before(since: dt.datetime, last: int) -> int:
    """Return the number of the change before the first one with since <= at; `last` if there is none."""
    # `at` has no index, and a run writes the moment at which it began: it may be before that of the change in front of it. The
    # newest change that is older than any run that still wrote after `since` is found from the end of the log.
    numbers = Change.objects.values_list("number", flat=True)
    older = numbers.filter(at__lt=max(since, _EPOCH) - _LONGEST_RUN).order_by("-number").first() or 0
    first = numbers.filter(number__gt=older, at__gte=since).order_by("number").first()
    return last if first is None else min(first - 1, last)


def parse_kinds(text: str | None) -> list[ChangeKind]:
    """Parse kinds separated by commas. Raises: InvalidArgument."""
    try:
        return [ChangeKind(kind.strip()) for kind in (text or "").split(",") if kind.strip()]
    except ValueError:
        raise InvalidArgument("kinds holds an unknown one.", f"Use one of: {', '.join(ChangeKind.values)}.") from None


def get_last_cursor() -> str:
    """Return a cursor after every change that is announced so far."""
    return encode_cursor("changes", *_read_log_end())


def build_cursor_behind(cursor: str, number: int) -> str:
    """Return the cursor after one change, in the log of another cursor."""
    return encode_cursor("changes", decode_cursor(cursor, {"changes": 2})[1][0], number)


def get_last_number() -> int:
    """Return the number of the newest change; 0 before the first."""
    return Change.objects.order_by("-number").values_list("number", flat=True).first() or 0


def _read_log_end() -> tuple[str, int]:
    """Return the epoch of the log, and the number of its newest change that may be announced."""
    epoch = WireState.objects.values_list("changes_epoch", flat=True).get(pk=1)
    last, settled = get_last_number(), publish_waiters.settled.number
    return epoch, last if settled is None else min(last, settled)


def _to_change_out(row: Change) -> ChangeOut:
    room = "stories" if row.kind.startswith("story_") else "events" if row.kind.startswith("event_") else "archive"
    path = "sources.json" if row.kind == ChangeKind.ROSTER_REPLACED else f"{room}/{row.subject}.json"
    names = {"event_id": row.other or None, "url": f"{settings.WIRE_SITE_URL}/api/{path}"}
    return build_from(ChangeOut, row, kind=ChangeKind(row.kind), **names)
