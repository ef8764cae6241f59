"""What clients ask: the same questions of a wire by REST, the site and MCP in both eras."""

import json
import random
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.doors.questions import ERAS, Question, get, rpc, tool
from tests.faults.soak.wires import HOST

SHARES: Final = {"rest": 45, "mcp": 45, "site": 10}  # a page costs what a hundred cached answers cost
WORDS: Final = ("model", "agent", "chip", "OpenAI", "maker", "funding", "trial", "research")


@dataclass(frozen=True, slots=True)
class Asked:
    """`about` names what is asked, whatever the client."""

    door: str
    about: str
    question: Question


def fetch(port: int, path: str) -> bytes:
    """Raises: OSError."""
    with urllib.request.urlopen(f"http://{HOST}:{port}{path}", timeout=30) as answer:
        body: bytes = answer.read()
        return body


def questions(port: int) -> list[Asked]:
    """Of everything that a served wire shows a little, every question one that is answered. Blocks."""
    return ask_about(json.loads(fetch(port, "/api/archive.json")), json.loads(fetch(port, "/api/today.json")))


def ask_about(archive: Mapping[str, Any], today: Mapping[str, Any]) -> list[Asked]:
    """Return the same questions of a wire that answers so."""
    days = [day["wire_date"] for day in archive["dates"][:4]]
    stories = [story["chatbotnews_id"] for story in today["stories"][:4]]
    asked = [rest("/api/today.json"), rest("/api/today.json", accept_encoding="gzip")]
    asked += [rest(f"/api/archive/{day}.json") for day in days]
    asked += [rest(f"/api/archive/{day}.json?revision=1") for day in days[:2]]
    asked += [rest(f"/api/provenance/{day}.json") for day in days[:2]]
    asked += [rest(f"/api/stories/{story}.json", accept_encoding="gzip, zstd;q=0") for story in stories]
    asked += [rest("/api/categories/launches.json?limit=20"), rest("/api/search.json?query=model&limit=10")]
    asked += [rest("/api/archive.json"), rest("/api/sources.json"), rest("/api/editor-take/" + days[0] + ".json")]
    asked += [Asked("site", path, get(path)) for path in ("/", f"/day/{days[0]}", f"/story/{stories[0]}", "/archive")]
    asked += [Asked("site", path, get(path)) for path in ("/category/launches", "/feeds/stories.json", "/llms.txt", "/sources")]
    for era in ERAS:
        uris = ["wire://today", *(f"wire://archive/{day}" for day in days[:2]), f"wire://story/{stories[-1]}"]
        asked += [Asked("mcp", f"{era} {uri}", rpc(era, "resources/read", {"uri": uri}, uri)) for uri in uris]
        asked += [_call(era, "get_story", story_id=story) for story in stories]
        asked += [_call(era, "search_wire", query="model", limit=10), _call(era, "get_category", category="launches", limit=20)]
        asked += [_call(era, "get_citation", story_id=stories[0], format="layered"), _call(era, "list_sources")]
    return asked


def chosen(asked: list[Asked], dice: random.Random, shares: dict[str, int]) -> Callable[[], Asked]:
    """One after the other at random, each door as often as its share; the door `new` is for searches that nobody sent before."""
    by_door = {door: [one for one in asked if one.door == door] for door in shares}
    doors, weights = list(shares), list(shares.values())

    def choose() -> Asked:
        door = dice.choices(doors, weights)[0]
        return _never_asked(dice) if door == "new" else dice.choice(by_door[door])

    return choose


def rest(path: str, **headers: str) -> Asked:
    return Asked("rest", path, get(path, **headers))


def _never_asked(dice: random.Random) -> Asked:
    """A search that no cached answer is for, so that the database is asked."""
    since = (
        f"20{dice.randint(10, 22)}-01-{dice.randint(10, 28)}T{dice.randint(10, 23)}:{dice.randint(10, 59)}:{dice.randint(10, 59)}Z"
    )
    return rest(f"/api/search.json?query={dice.choice(WORDS)}&limit={dice.randint(1, 50)}&since={since}")


def _call(era: str, name: str, **arguments: Any) -> Asked:
    return Asked("mcp", f"{era} {name} {json.dumps(arguments)}", tool(era, name, **arguments))
