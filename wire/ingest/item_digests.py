"""Digests of the publisher's items that a story was read from: a change of our rules must never count as the publisher's.

`Story.inputs` has a line for each, oldest first, such as `feed 2 0123456789abcdef`.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

FEED: Final = "feed"  # the one whose edits the story follows
ARCHIVE: Final = "archive"
_UNRECORDED: Final = "unrecorded"  # the story is older than its inputs: nobody knows what its first revision was read from
MOST: Final = 16  # of one story: an item with a counter in it has another digest at each fetch


class Input(NamedTuple):
    """An item: the kind of its source, the number of the revision that the publisher's words made of it, its digest."""

    source: str
    revision: int
    digest: str


def read_inputs(text: str) -> list[Input]:
    """Return the inputs of a story; none for one that is older than them."""
    rows = (line.split(" ") for line in text.splitlines())
    return [Input(source, int(revision), digest) for source, revision, digest in rows]


def is_fully_recorded(inputs: Sequence[Input]) -> bool:
    return bool(inputs) and inputs[0].source != _UNRECORDED


def add_input(inputs: str, new: Input) -> str:
    """Return the text with one more input, without the oldest where there are too many."""
    before = read_inputs(inputs)
    if new in before:
        return inputs
    mark = [] if is_fully_recorded(before) else [Input(_UNRECORDED, 0, "-")]
    others = [item for item in before if item.source != _UNRECORDED and (item.source, item.digest) != (new.source, new.digest)]
    return _write_inputs([*mark, *[*others, new][-MOST:]])


def raise_newest_revision(inputs: str, revision: int) -> str:
    before = read_inputs(inputs)
    newest = max((item.revision for item in before if item.source == FEED), default=0)
    return _write_inputs(
        [item._replace(revision=revision) if item.revision == newest and item.source == FEED else item for item in before]
    )


def write_first_input(source: str, digest: str) -> str:
    return _write_inputs([Input(source, 1, digest)])


def _write_inputs(inputs: Sequence[Input]) -> str:
    return "\n".join(f"{item.source} {item.revision} {item.digest}" for item in inputs)
