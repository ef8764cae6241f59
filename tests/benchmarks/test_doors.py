"""The comparison of servers: the wire's answers to a question are the same whichever number it carries."""

from pathlib import Path

import pytest

from benchmarks.doors import ourwire
from benchmarks.doors.contest import comparable_text
from benchmarks.doors.questions import FIRST_NUMBER, get, sections

NUMBERS = range(FIRST_NUMBER, FIRST_NUMBER + 8_000, 1_000)


@pytest.mark.slow
def test_a_question_that_is_new_each_time_gets_the_same_comparable_answer(tmp_path: Path) -> None:
    ourwire.fill(tmp_path / "wire")
    with ourwire.serve_wire("the wire", tmp_path / "wire", limit="off") as server:
        etag = server.ask(get("/api/today.json", accept_encoding="gzip")).headers["etag"]
        misses = [section for section in sections("", etag) if section.miss]
        assert len(misses) == 3
        for section in misses:
            texts = {comparable_text(server.ask(section.question, number), section.question) for number in NUMBERS}
            assert len(texts) == 1, section.title
