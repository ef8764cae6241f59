"""The witness of the soak sees what is wrong: bodies of other bytes, stories and days that are not what their hashes say."""

import gzip
import hashlib
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

from benchmarks.doors.questions import MODERN, get, tool
from tests.faults.soak.load import most_in
from tests.faults.soak.questions import Asked
from tests.faults.soak.wires import Chain
from tests.faults.soak.witness import Mark, Witness, Wrong

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample_wire")]

TODAY = Asked("rest", "/api/today.json", get("/api/today.json"), newest=True)
Json = dict[str, Any]


def today() -> Json:
    told: Json = orjson.loads(Client().get("/api/today.json").content)
    return told


def look(witness: Witness, day: Json, sent: float = 0.0, heard: float = 0.0) -> Mark | None:
    body = orjson.dumps(day)
    return witness.look(TODAY, 0, {"etag": f'"{hashlib.sha256(body).hexdigest()[:32]}"'}, body, sent, heard)


def test_what_was_published_is_right_in_every_coding_and_at_both_doors() -> None:
    witness, day = Witness(), today()
    mark = look(witness, day)
    assert mark == Mark(day["provenance"]["sequence"], day["wire_date"])
    body = orjson.dumps(day)
    packed = {"etag": f'"{hashlib.sha256(body).hexdigest()[:32]}-gzip"', "content-encoding": "gzip"}
    assert witness.look(TODAY, 0, packed, gzip.compress(body), 0, 0) == mark
    story = day["stories"][0]
    asked = Asked("mcp", "get_story", tool(MODERN, "get_story", story_id=story["chatbotnews_id"]))
    told = b'{"jsonrpc":"2.0","id":7,"result":%b}' % orjson.dumps({"structuredContent": story})
    assert witness.look(asked, 7, {}, told, 0, 0) == Mark(story["revision"])
    with pytest.raises(Wrong):
        witness.look(asked, 8, {}, told, 0, 0)


def test_a_body_that_its_etag_is_not_of_is_wrong() -> None:
    body = orjson.dumps(today())
    with pytest.raises(Wrong, match="ETag"):
        Witness().look(TODAY, 0, {"etag": f'"{hashlib.sha256(body).hexdigest()[:32]}"'}, body[:-1], 0, 0)


DAMAGES: dict[str, Callable[[Json], object]] = {
    "a headline": lambda day: day["stories"][0].update(headline="Quince ships nothing"),
    "a story of another day's revision": lambda day: day["stories"].pop(),
    "the order": lambda day: day["stories"].reverse(),
    "a score": lambda day: day["stories"][0].update(consensus_score=0.01),
    "the take": lambda day: day.update(editor_take="# Another\n"),
    "the link": lambda day: day["provenance"].update(previous_sha256="0" * 64),
    "the revision": lambda day: day["provenance"].update(revision=day["provenance"]["revision"] + 1),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_day_with_anything_changed_is_wrong(damage: Callable[[Json], object]) -> None:
    day = today()
    damage(day)
    with pytest.raises(Wrong, match="is not what its hash is of"):
        look(Witness(), day)


def test_what_is_in_no_chain_was_never_published() -> None:
    witness, day = Witness(), today()
    look(witness, day)
    revision, stories = (
        day["provenance"]["revision"],
        {(s["chatbotnews_id"], s["revision"]): s["story_sha256"] for s in day["stories"]},
    )
    whole = Chain({(day["wire_date"], revision): day["provenance"]["wire_sha256"]}, stories)
    assert witness.against(whole) == []
    assert witness.against(Chain({}, stories)) == [f"day {day['wire_date']} revision {revision}"]
    assert len(witness.against(Chain(whole.days, {}))) == len(stories)


def test_an_answer_older_than_what_others_were_told_before_counts_as_stale() -> None:
    witness, day = Witness(), today()
    look(witness, day, 1.0, 1.1)
    assert witness.stale == 0
    newest = Mark(day["provenance"]["sequence"] + 1, day["wire_date"])
    witness._see(newest, 2.0, 2.1)
    look(witness, day, 2.6, 2.7)
    assert witness.stale == pytest.approx(0.5)


def test_a_chain_with_a_gap_or_a_fork_is_not_one() -> None:
    assert Chain(links=[(1, "a", None), (2, "b", "a"), (3, "c", "b")]).is_one
    assert not Chain(links=[(1, "a", None), (2, "b", "a"), (3, "c", "a")]).is_one
    assert not Chain(links=[(1, "a", None), (3, "c", "a")]).is_one


def test_the_most_in_any_stretch() -> None:
    assert most_in([(0.0, 0.1), (0.5, 0.6), (0.9, 0.95), (0.97, 1.1), (5.0, 5.0)], 1.0) == 3
    assert most_in([(0.0, 0.1), (0.9, 1.0)], 1.0) == 1  # counted at 0.1 and 0.9, or just as well at 0 and 1
    assert most_in([], 1.0) == 0
