"""JSON-LD as templates of sites write it."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sources.parse.json_ld import parse_json_ld

VALUES = st.dictionaries(
    st.text(max_size=5), st.text('a,}]\\"{[ ', max_size=8) | st.lists(st.integers(), max_size=3), min_size=1, max_size=4
)


@example({"]]>": "<![CDATA["}, "<!-- {} -->")
@given(VALUES, st.sampled_from(["{}", "<!-- {} -->", "//<![CDATA[\n{}\n//]]>", "/*<![CDATA[*/ {};  /*]]>*/"]))
def test_what_stands_around_it_changes_nothing(value: dict[str, object], around: str) -> None:
    assert parse_json_ld(around.replace("{}", json.dumps(value), 1)) == value


def test_a_comma_too_many_is_passed_over_and_one_in_a_text_is_kept() -> None:
    assert parse_json_ld('{"a": ["b,}", "c",], }') == {"a": ["b,}", "c"]}
    assert parse_json_ld("{&quot;a&quot;: 1,}") == {"a": 1}


@pytest.mark.parametrize("script", ["", "<!-- -->", "{", "nothing", "]{"])
def test_what_is_no_json_is_refused(script: str) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        parse_json_ld(script)
