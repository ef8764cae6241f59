"""What clients ask: the same questions of a wire by REST, the site and MCP in both eras."""

import asyncio
import json
import random
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.doors.questions import ERAS, Question, get, rpc, tool
from tests.faults.soak.wires import HOST

SHARES: Final = {"rest": 45, "mcp": 45, "site": 10}  # a page costs what a hundred kept answers cost
WORDS: Final = ("model", "agent", "chip", "OpenAI", "maker", "funding", "trial", "research")


@dataclass(frozen=True, slots=True)
class Asked:
    """`about` names what is asked, whatever the client. `newest`: it tells a day as it stands now, so it can be out of date."""

    door: str
    about: str
    question: Question
    newest: bool = False


async def questions(port: int) -> list[Asked]:
    """Of everything that a served wire shows a little, every question one that is answered."""
    return await asyncio.to_thread(_questions, port)


async def days_now(port: int) -> list[Asked]:
    """Each of the newest hundred days, as it stands."""
    told = await asyncio.to_thread(read, port, "/api/archive.json?limit=100")
    return [_rest(f"/api/archive/{day['wire_date']}.json", newest=True) for day in told["dates"]]


def read(port: int, path: str) -> Any:
    """The JSON at a path of a served wire."""
    return json.loads(fetch(port, path))


def fetch(port: int, path: str) -> bytes:
    """Raises: OSError."""
    with urllib.request.urlopen(f"http://{HOST}:{port}{path}", timeout=30) as answer:
        body: bytes = answer.read()
        return body


def _questions(port: int) -> list[Asked]:
    days = [day["wire_date"] for day in read(port, "/api/archive.json")["dates"][:4]]
    stories = [story["chatbotnews_id"] for story in read(port, "/api/today.json")["stories"][:4]]
    asked = [_rest("/api/today.json", newest=True), _rest("/api/today.json", newest=True, accept_encoding="gzip")]
    asked += [_rest(f"/api/archive/{day}.json", newest=True) for day in days]
    asked += [_rest(f"/api/archive/{day}.json?revision=1") for day in days[:2]]
    asked += [_rest(f"/api/provenance/{day}.json") for day in days[:2]]
    asked += [_rest(f"/api/stories/{story}.json", accept_encoding="gzip, zstd;q=0") for story in stories]
    asked += [_rest("/api/categories/launches.json?limit=20"), _rest("/api/search.json?query=model&limit=10")]
    asked += [_rest("/api/archive.json"), _rest("/api/sources.json"), _rest("/api/editor-take/" + days[0] + ".json")]
    asked += [Asked("site", path, get(path)) for path in ("/", f"/day/{days[0]}", f"/story/{stories[0]}", "/archive")]
    asked += [Asked("site", path, get(path)) for path in ("/category/launches", "/feeds/stories.json", "/llms.txt", "/sources")]
    for era in ERAS:
        asked += [_resource(era, uri) for uri in ("wire://today", *(f"wire://archive/{day}" for day in days[:2]))]
        asked += [_resource(era, f"wire://story/{stories[-1]}"), _resource(era, "wire://provenance/today")]
        asked += [_call(era, "get_story", story_id=story) for story in stories]
        asked += [_call(era, "search_wire", query="model", limit=10), _call(era, "get_category", category="launches", limit=20)]
        asked += [_call(era, "get_citation", story_id=stories[0], format="layered"), _call(era, "list_sources")]
    return asked


def chosen(asked: list[Asked], dice: random.Random, shares: dict[str, int] = SHARES) -> Callable[[], Asked]:
    """One after the other at random, each door as often as its share."""
    by_door = {door: [one for one in asked if one.door == door] for door in shares}
    doors, weights = list(shares), list(shares.values())
    return lambda: dice.choice(by_door[dice.choices(doors, weights)[0]])


def never_asked(dice: random.Random) -> Callable[[], Asked]:
    """Searches that no kept answer is for, so that the database is asked each time."""

    def search() -> Asked:
        path = f"/api/search.json?query={dice.choice(WORDS)}&limit={dice.randint(1, 50)}&since=20{dice.randint(10, 22)}"
        path += (
            f"-0{dice.randint(1, 9)}-{dice.randint(10, 28)}T{dice.randint(10, 23)}:{dice.randint(10, 59)}:{dice.randint(10, 59)}Z"
        )
        return Asked("rest", path, get(path))

    return search


def _rest(path: str, *, newest: bool = False, **headers: str) -> Asked:
    return Asked("rest", path, get(path, **headers), newest)


def _call(era: str, name: str, **arguments: Any) -> Asked:
    return Asked("mcp", f"{era} {name} {json.dumps(arguments)}", tool(era, name, **arguments))


def _resource(era: str, uri: str) -> Asked:
    newest = uri == "wire://today" or uri.startswith("wire://archive/")
    return Asked("mcp", f"{era} {uri}", rpc(era, "resources/read", {"uri": uri}, uri), newest)
