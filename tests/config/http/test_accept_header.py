"""Accept headers: whose request is answered with a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.http.accept_header import prefers_html

BROWSERS = (
    b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    b"text/html, application/xhtml+xml, application/xml;q=0.9, image/avif, image/webp, image/apng, */*;q=0.8, "
    b"application/signed-exchange;v=b3;q=0.7",
    b"TEXT/HTML",
    b"text/*, application/json;q=0.2, text/event-stream;q=0.999",
    b"text/html;q=0.5, */*;q=0",
)
CLIENTS = (
    b"",
    b"*/*",
    b"application/json",
    b"text/event-stream",
    b"text/html, text/event-stream",
    b"application/json, text/html",
    b"text/html;q=0.9, application/json",
    b"text/html;q=2, */*;q=0.1",
    b"text/*",
    b"text/html;level=1;q=0.1, */*",
)
WEIGHTS = st.integers(0, 1_000)


@pytest.mark.parametrize("accepted", BROWSERS)
def test_a_browser_prefers_a_page(accepted: bytes) -> None:
    assert prefers_html(accepted)


@pytest.mark.parametrize("accepted", CLIENTS)
def test_a_client_prefers_data(accepted: bytes) -> None:
    assert not prefers_html(accepted)


@given(WEIGHTS, WEIGHTS, WEIGHTS, st.permutations(range(3)))
def test_the_highest_weight_decides_in_any_order(html: int, json: int, stream: int, order: list[int]) -> None:
    ranges = [
        f"{name} ; q={weight / 1_000:.3f}"
        for name, weight in (("text/html", html), ("application/json", json), ("text/event-stream", stream))
    ]
    assert prefers_html(", ".join(ranges[place] for place in order).encode()) is (html > max(json, stream))


@given(st.binary(max_size=200) | st.text("texhml/jsonq=;,.* 01", max_size=60).map(str.encode))
def test_no_header_is_too_strange(accepted: bytes) -> None:
    assert prefers_html(accepted) in (True, False)
