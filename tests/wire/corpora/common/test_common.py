"""The plumbing that the corpora share."""

import re
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from config.errors import InvalidArgument
from wire.admin.base import LinesField
from wire.corpora.common.cursors import ListCursor
from wire.corpora.common.forms import RecordsField
from wire.corpora.common.page_cache_rules import build_page_matcher
from wire.search.cursor import encode_cursor


def test_a_cursor_gives_back_its_place() -> None:
    assert ListCursor("rows", "a", None).decode_position(ListCursor("rows", "a", None).encode_position(1, -2), 2) == [1, -2]


@pytest.mark.parametrize(
    "cursor",
    [
        ListCursor("rows", "other question").encode_position(1),
        ListCursor("other list", "a").encode_position(1),
        ListCursor("rows", "a").encode_position(1, 2),
        encode_cursor("rows", "mark", 1),
        "",
        "é",
        *(ListCursor("rows", "a").encode_position(place) for place in (True, 1.5, None, "1", 2**63)),  # type: ignore[arg-type]
    ],
)
def test_any_other_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArgument, match="does not belong to this list"):
        ListCursor("rows", "a").decode_position(cursor, 1)


def test_pages_are_matched_whole() -> None:
    rule = build_page_matcher(("/a/[^/]+", "query"), (r"/b\.xml",))
    assert [rule(path) for path in ("/a/x", "/b.xml", "/a/x/y", "/b.xmls")] == [frozenset({"query"}), frozenset(), None, None]


def test_lines_are_a_list() -> None:
    field, expected = LinesField(), ["b", "a", "b"]
    assert field.clean(" b \r\n\r\na\nb") == expected
    assert not field.has_changed(expected, "\n".join(expected))


SCHEMA: dict[str, Any] = {
    "required": ["text"],
    "properties": {
        "text": {"type": "string"},
        "number": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "is_new": {"type": "boolean"},
        "links": {"type": "array", "items": {"$ref": "#/$defs/Link"}},
    },
}
LINK = {"Link": {"properties": {"id": {"type": "string"}, "claim": {"type": "integer"}, "url": {"type": "string"}}}}


def test_records_are_written_line_by_line_and_read_again() -> None:
    field = RecordsField(SCHEMA, LINK, required=False)
    records = [
        {
            **{"text": "One: two\nthree", "number": 3, "is_new": False},
            "links": [{"id": "a", "url": "https://a.example/"}, {"id": "b", "claim": 2}],
        },
        {"text": "Last"},
    ]
    written = field.prepare_value(records)
    assert written.startswith("Text: One: two\n  three\nNumber: 3\nIs new: no\nLinks: a |  | https://a.example/\n")
    assert field.clean(written.replace("\n", "\r\n")) == records
    assert not field.has_changed([{"text": "Last", "number": None}], "Text: Last"), "a null that is stored stays"
    assert field.has_changed(records, written + "x")
    assert (field.clean(""), field.clean("text: a\nIS_NEW: yes")) == (None, [{"text": "a", "is_new": True}])
    template = field.initial
    assert template == "Text: \nNumber: \nIs new: \nLinks: "
    assert (field.clean(template), field.has_changed(template, template)) == (None, False)
    with pytest.raises(ValidationError, match="required"):
        RecordsField(SCHEMA, LINK).clean(template)
    assert field.clean(template.replace("Text: ", "Text: a")) == [{"text": "a"}]
    for wrong, says in (
        ("text", "Line 1 is not a “Name: value”"),
        ("text: a\nmood: b", "Line 2 is not a “Name: value” with one of these names: Text, Number, Is new, Links"),
        ("text: a\ntext: b", "Line 2 gives Text twice"),
        ("number: x", "Line 1: a number is needed, not “x”"),
        ("is_new: perhaps", "yes or no is needed"),
        ("links: a | 1 | b | c", "more values than there are fields: ID | Claim | URL"),
    ):
        with pytest.raises(ValidationError, match=re.escape(says)):
            field.clean(wrong)
