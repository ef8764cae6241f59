"""Canonical JSON: the fast way and the library's give the same bytes."""

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from mcpserver.gateway.canonical_json import EXACT, encode_canonical_json

numbers = st.integers(-EXACT, EXACT) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | numbers | texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=30
)


@given(values)
def test_both_ways_give_the_same_bytes(value: object) -> None:
    assert encode_canonical_json(value) == rfc8785.dumps(value)  # type: ignore[arg-type]
