"""What happened to the public record, in order, from any place on."""

from collections.abc import Collection
from typing import Final

from django.conf import settings

from config.errors import InvalidArgument
from config.http import publishes
from wire.models import Change, WireState
from wire.search.cursor import decode, encode
from wire.stories.vocabulary import ChangeKind
from wire.trust import ChangeOut, ChangesOut

LIMIT: Final = 100
MOST: Final = 500
_STORIES: Final = frozenset(kind for kind in ChangeKind if kind.startswith("story_"))
_EVENTS: Final = frozenset(kind for kind in ChangeKind if kind.startswith("event_"))


def get_changes(cursor: str | None = None, limit: int = LIMIT, kinds: Collection[ChangeKind] | None = None) -> ChangesOut:
    """At most `limit` changes behind `cursor` (default: from the first of all), in the order in which they were committed; only of
    these kinds, where given. A served wire tells a change a second or two after the commit: all its processes have seen it then.

    Raises: InvalidArgument for a strange cursor, or one of a log that was made again since.
    """
    epoch = _epoch()
    after = 0 if cursor is None else _place(cursor, epoch)
    # The end is read before the rows: what is committed meanwhile comes with the next page, and no cursor goes past it.
    last = _last()
    rows = Change.objects.filter(number__gt=after, number__lte=last).order_by("number")
    if kinds:
        rows = rows.filter(kind__in=list(kinds))
    found = list(rows[: limit + 1])
    page, has_more = found[:limit], len(found) > limit
    end = page[-1].number if has_more else last
    return ChangesOut(changes=[_out(row) for row in page], next_cursor=_cursor(epoch, max(end, after)), has_more=has_more)


def kinds_of(text: str | None) -> list[ChangeKind]:
    """Kinds by commas. Raises: InvalidArgument."""
    try:
        return [ChangeKind(kind.strip()) for kind in (text or "").split(",") if kind.strip()]
    except ValueError:
        raise InvalidArgument("kinds holds an unknown one.", f"There are: {', '.join(ChangeKind.values)}.") from None


def last_cursor() -> str:
    """A cursor behind everything that is told so far."""
    epoch = _epoch()
    return _cursor(epoch, _last())


def cursor_behind(cursor: str, number: int) -> str:
    """The cursor behind one change of the log that another cursor is of."""
    return _cursor(decode(cursor, {"changes": 2})[1][0], number)


def last_number() -> int:
    """Of the newest change; 0 before the first."""
    return Change.objects.order_by("-number").values_list("number", flat=True).first() or 0


def _last() -> int:
    """Of the newest change that may be told."""
    last = last_number()
    return last if publishes.settled.number is None else min(last, publishes.settled.number)


def _epoch() -> str:
    return WireState.objects.values_list("changes_epoch", flat=True).get(pk=1)


def _cursor(epoch: str, number: int) -> str:
    return encode("changes", epoch, number)


def _place(cursor: str, epoch: str) -> int:
    _, (of, number) = decode(cursor, {"changes": 2})
    if of != epoch or isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**63:
        raise InvalidArgument(
            "cursor belongs to a log that is no more: the wire was restored since.",
            "Leave cursor out and begin with an empty copy.",
        )
    return number


def _out(row: Change) -> ChangeOut:
    return ChangeOut(
        number=row.number,
        kind=ChangeKind(row.kind),
        subject=row.subject,
        revision=row.revision,
        event_id=row.other or None,
        at=row.at,
        url=f"{settings.WIRE_SITE_URL}{_path(row)}",
    )


def _path(row: Change) -> str:
    if row.kind in _STORIES:
        return f"/api/stories/{row.subject}.json"
    if row.kind in _EVENTS:
        return f"/api/events/{row.subject}.json"
    return "/api/sources.json" if row.kind == ChangeKind.ROSTER_REPLACED else f"/api/archive/{row.subject}.json"
