"""JSON of somebody's own: its objects are rows, its strings are texts, and nothing in it stops the search."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from citations.find.finder import find_citations
from citations.find.json_citations import find_json, list_json_lines

ID = "cbn-06ff206kfxbb"
OTHER = "cbn-7kt2v7n2ns0w"
PERMALINK = f"https://wire.example/story/{ID}"

PLAIN = st.text(st.characters(codec="utf-8", exclude_characters='"')).filter(lambda text: "cbn-" not in text.lower())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | PLAIN, lambda inner: st.lists(inner) | st.dictionaries(PLAIN, inner), max_leaves=20
)


def _ids(value: Any) -> list[str | None]:
    return [one.story_id for one in find_citations(json.dumps(value))]


def test_an_object_is_a_row_whatever_its_keys_are_called() -> None:
    (line,) = list_json_lines(
        {"claim": "it rained", "publisher": "Wired", "tier": 2, "page": 7, "frogs": 10, "headline": "Rain", "source": PERMALINK}
    )
    assert line.is_row
    assert line.text == f'it rained | according to Wired | tier 2 | 10 frogs | "Rain" | {PERMALINK}'


def test_a_tier_that_is_none_is_no_fault() -> None:
    for tier in (0, "0", "٣", "tier 9.0"):
        assert _ids({"id": ID, "tier": tier}) == [ID], tier


def test_what_stands_beside_several_ids_is_said_of_each() -> None:
    assert [line.text for line in list_json_lines({"answer": "it rained", "citations": [ID, OTHER]})] == [
        f"it rained | {ID}",
        f"it rained | {OTHER}",
    ]


def test_an_id_and_its_permalink_are_one_citation() -> None:
    assert _ids({"id": ID, "url": PERMALINK, "claim": "it rained"}) == [ID]
    assert _ids([{"id": ID, "claim": "it rained"}, {"id": OTHER, "claim": "it snowed"}]) == [ID, OTHER]


def test_a_string_that_cites_is_a_text_of_its_own() -> None:
    text = f"It rained, says Wired.\n\nMore: {PERMALINK}"
    assert [(line.text, line.is_row) for line in list_json_lines({"role": "assistant", "content": text})] == [(text, False)]
    assert _ids({"answer": f"It rained ({ID}).", "sources": [{"id": OTHER, "quote": "it snowed"}]}) == [ID, OTHER]
    assert _ids({"content": json.dumps({"answer": f"It rained ({ID})."})}) == [ID], "JSON in a string of JSON"


def test_fields_of_the_wires_own_json_that_no_citation_has_are_not_compared() -> None:
    (line,) = list_json_lines({"chatbotnews_id": ID, "headline": "Rain", "language": "en", "consensus_score": 0.5, "revision": 1})
    assert line.text == f'{ID} | "Rain"'


@given(VALUES, st.sampled_from([{"source": ID}, {"a": {"b": [ID]}}, [ID]]))
def test_an_id_in_any_json_is_found_once(value: Any, citing: Any) -> None:
    assert _ids({"value": value, "citing": citing}) == [ID]


@given(st.text('[]{}":,0 \\n' + ID))
def test_brackets_that_are_no_json_end_nothing(text: str) -> None:
    for begin, end, _ in find_json(text):
        assert 0 <= begin < end <= len(text)
    find_citations(text)
