"""Every scenario of `make soak`, shortened: `pytest -m soak`. Outside `make test`, since each takes up to a minute."""

from pathlib import Path

import pytest

from tests.faults.soak.__main__ import PAGE, SCENARIOS, run
from tests.faults.soak.outcome import Run

SHORT = 0.05  # of its full length


@pytest.mark.soak
@pytest.mark.parametrize("name", SCENARIOS)
def test_it_holds_when_it_is_short(name: str, tmp_path: Path) -> None:
    held = run(name, Run(SHORT, tmp_path))
    assert held
    assert [one for one in held if not one.ok] == []


def test_each_has_its_place_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if page.count(f"<!-- {name} -->\n") != 1 or page.count(f"<!-- /{name} -->\n") != 1] == []
