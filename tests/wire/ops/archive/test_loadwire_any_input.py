"""Whatever stands in an archive, every line is accounted for, and what is stored is fit to be served."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.wire.archives import item, loadwire, ndjson, verifywire

pytestmark = pytest.mark.django_db

TEXT = st.text(max_size=40) | st.sampled_from(["\x00", "\ud800", "<b>", "&#0;", "\u202e", " ", "x" * 3000, "🤖" * 600])
VALUE = st.none() | st.booleans() | st.integers() | TEXT | st.lists(TEXT, max_size=2) | st.dictionaries(TEXT, TEXT, max_size=2)
DATE = st.sampled_from(["2026-01-15", "0000-01-01", "2999-01-01", "1 Jan 0000 00:00 GMT", "Thu, 15 Jan 2026 10:00:00 +0100"])
ADDRESS = st.sampled_from(["https://a.example/", "javascript:1", "https://ü.example/\u00e9?b&a", "http://[::1]/"]) | TEXT
FIELDS = {
    "title": TEXT,
    "url": ADDRESS,
    "publisher": st.sampled_from(["TechCrunch", "Google News", "Daily Bugle"]) | TEXT,
    "published_at": DATE | TEXT,
    "summary": TEXT,
    "author": TEXT,
    "guid": TEXT,
    "credited_source": TEXT,
    "language": TEXT | st.sampled_from(["de", "zh-Hant-TW"]),
}


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """An item of which a few fields are odd, or no item at all."""
    if draw(st.integers(0, 5)) == 0:
        return draw(st.binary(max_size=60)).replace(b"\n", b"").lstrip(b"< \t\r\x0b\x0c")
    told: dict[str, Any] = item(draw(st.integers(0, 5)))
    for name in draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=3)):
        told[name] = draw(VALUE if draw(st.integers(0, 4)) == 0 else FIELDS[name])
    return json.dumps(told, ensure_ascii=draw(st.booleans())).encode(errors=draw(st.sampled_from(["replace", "surrogatepass"])))


@pytest.mark.slow
@given(st.lists(lines(), max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_line_has_an_outcome_and_the_wire_verifies(tmp_path: Path, made: list[bytes]) -> None:
    assume(not made or not made[0].startswith(b'{"kind":"dump"'))  # that is a dump, and another thing
    report = loadwire(ndjson(tmp_path / "a.ndjson", made))
    report.pop("snapshots published", None)
    assert sum(report.values()) == sum(1 for one in made if one.strip())
    verifywire()
