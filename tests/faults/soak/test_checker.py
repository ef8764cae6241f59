"""The checker of the soak sees what is wrong: bodies of other bytes, stories and days that are not what their hashes say."""

import asyncio
import gzip
import hashlib
import random
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client

from benchmarks.doors.questions import MODERN, get, tool
from tests.faults.soak.checker import Checker, Wrong
from tests.faults.soak.load import Connection, Load
from tests.faults.soak.questions import Asked
from tests.faults.soak.wires import Chain

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample_wire")]

TODAY = Asked("rest", "/api/today.json", get("/api/today.json"))
Json = dict[str, Any]


def today() -> Json:
    day: Json = orjson.loads(Client().get("/api/today.json").content)
    return day


def look(checker: Checker, day: Json) -> int | None:
    body = orjson.dumps(day)
    return checker.look(TODAY, 0, {"etag": etag(body)}, body)


def etag(body: bytes, coding: str = "") -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}{coding}"'


def test_what_was_published_is_right_in_every_coding_and_at_both_doors() -> None:
    checker, day = Checker(), today()
    mark = look(checker, day)
    assert mark == day["provenance"]["sequence"]
    body = orjson.dumps(day)
    packed = {"etag": etag(body, "-gzip"), "content-encoding": "gzip"}
    assert checker.look(TODAY, 0, packed, gzip.compress(body)) == mark
    story = day["stories"][0]
    asked = Asked("mcp", "get_story", tool(MODERN, "get_story", story_id=story["chatbotnews_id"]))
    answer = b'{"jsonrpc":"2.0","id":7,"result":%b}' % orjson.dumps({"structuredContent": story})
    assert checker.look(asked, 7, {}, answer) == story["revision"]
    with pytest.raises(Wrong):
        checker.look(asked, 8, {}, answer)


def test_a_body_that_its_etag_is_not_of_is_wrong() -> None:
    body = orjson.dumps(today())
    with pytest.raises(Wrong, match="ETag"):
        Checker().look(TODAY, 0, {"etag": etag(body)}, body[:-1])


DAMAGES: dict[str, Callable[[Json], object]] = {
    "a headline": lambda day: day["stories"][0].update(headline="Quince ships nothing"),
    "a story is gone": lambda day: day["stories"].pop(),
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
        look(Checker(), day)


def test_what_is_in_no_chain_was_never_published_and_what_nobody_saw_is_named() -> None:
    checker, day = Checker(), today()
    look(checker, day)
    revision = day["provenance"]["revision"]
    stories = {(story["chatbotnews_id"], story["revision"]): story["story_sha256"] for story in day["stories"]}
    whole = Chain({(day["wire_date"], revision): day["provenance"]["wire_sha256"]}, stories, dict(iter(stories)))
    assert checker.against(whole) == []
    assert checker.against(Chain({}, stories)) == [f"day {day['wire_date']} revision {revision}"]
    assert len(checker.against(Chain(whole.days, {}))) == len(stories)
    assert len(Checker().against(whole)) == len(stories) + 1


def archive() -> tuple[Chain, dict[str, bytes]]:
    """The whole sample wire: what was published, and the answer to each question of a sweep."""
    chain, bodies = Chain(), dict[str, bytes]()
    client = Client()
    for one in client.get("/api/archive.json?limit=100").json()["dates"]:
        path = f"/api/archive/{one['wire_date']}.json"
        bodies[path] = client.get(path).content
        day = orjson.loads(bodies[path])
        chain.days[day["wire_date"], day["provenance"]["revision"]] = day["provenance"]["wire_sha256"]
        for story in day["stories"]:
            chain.stories[story["chatbotnews_id"], story["revision"]] = story["story_sha256"]
            chain.shown[story["chatbotnews_id"]] = story["revision"]
    for story_id in chain.shown:
        path = f"/api/stories/{story_id}.json"
        bodies[path] = client.get(path).content
    return chain, bodies


@pytest.mark.slow
def test_one_damaged_story_among_all_of_them_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, bodies = archive()
    assert len(chain.shown) > 90

    async def answer(_load: Load, _connection: Connection, raw: bytes) -> tuple[int, dict[str, str], bytes]:
        body = bodies[raw.split(b" ", 2)[1].decode()]
        return 200, {"etag": etag(body)}, body

    monkeypatch.setattr(Load, "_reply", answer)

    def swept() -> list[str]:
        load = Load(0)
        asyncio.run(load.sweep(chain))
        return [*load.failed, *load.checker.wrong, *load.checker.against(chain)]

    assert swept() == []
    for path in random.Random(1).sample([path for path in bodies if path.startswith("/api/stories/")], 10):
        whole = bodies[path]
        story = orjson.loads(whole)
        bodies[path] = orjson.dumps(story | {"headline": story["headline"] + "."})
        assert any("is not what its hash is of" in fault for fault in swept())
        bodies[path] = whole


def test_a_chain_with_a_gap_or_a_fork_is_not_one() -> None:
    assert Chain(links=[(1, "a", None), (2, "b", "a"), (3, "c", "b")]).is_one
    assert not Chain(links=[(1, "a", None), (2, "b", "a"), (3, "c", "a")]).is_one
    assert not Chain(links=[(1, "a", None), (3, "c", "a")]).is_one
