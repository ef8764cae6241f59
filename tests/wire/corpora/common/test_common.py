"""The plumbing that the corpora share."""

import datetime as dt

import pytest

from config.errors import InvalidArgument
from wire.admin.base import LinesField
from wire.corpora.common.counters import add_counts
from wire.corpora.common.cursors import ListCursor
from wire.corpora.common.forms import JsonField
from wire.corpora.common.page_patterns import match_pages
from wire.models import UsageCount
from wire.search.cursor import encode


def test_a_cursor_gives_back_its_place() -> None:
    assert ListCursor("rows", "a", None).read(ListCursor("rows", "a", None).write(1, -2), 2) == [1, -2]


@pytest.mark.parametrize(
    "cursor",
    [
        ListCursor("rows", "other question").write(1),
        ListCursor("other list", "a").write(1),
        ListCursor("rows", "a").write(1, 2),
        encode("rows", "mark", 1),
        "",
        "é",
        *(ListCursor("rows", "a").write(place) for place in (True, 1.5, None, "1", 2**63)),  # type: ignore[arg-type]
    ],
)
def test_any_other_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgument, match="does not belong to this list"):
        ListCursor("rows", "a").read(cursor, 1)


def test_pages_are_matched_whole() -> None:
    rule = match_pages(("/a/[^/]+", "query"), (r"/b\.xml",))
    assert [rule(path) for path in ("/a/x", "/b.xml", "/a/x/y", "/b.xmls")] == [frozenset({"query"}), frozenset(), None, None]


@pytest.mark.django_db
def test_counts_add_up() -> None:
    minute = dt.datetime(2026, 1, 14, 9, 30, tzinfo=dt.UTC)
    columns = ("server", "kind", "name", "minute", "outcome")
    one, two = (("wire", "tools/call", name, minute, "success") for name in ("search_wire", "get_story"))
    add_counts(UsageCount, columns, {one: 2, two: 0})
    add_counts(UsageCount, columns, {one: 3, two: 1})
    add_counts(UsageCount, columns, {})
    assert dict(UsageCount.objects.values_list("name", "count")) == {"search_wire": 5, "get_story": 1}


def test_lines_are_a_list() -> None:
    field, expected = LinesField(), ["b", "a", "b"]
    assert field.clean(" b \r\n\r\na\nb") == expected
    assert not field.has_changed(expected, "\n".join(expected))


def test_json_is_written_and_read() -> None:
    field = JsonField(required=False)
    assert (field.clean('{"a": [1]}'), field.clean(""), field.prepare_value({"a": 1})) == ({"a": [1]}, None, '{\n  "a": 1\n}')
    with pytest.raises(Exception, match="This is not JSON"):
        field.clean("{")
