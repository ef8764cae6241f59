"""Following over HTTP: a stream of server-sent events, and requests that wait for the next change."""

import asyncio
import datetime as dt
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from config import asgi
from mcpserver import registry
from mcpserver.http.threads import run_query
from mcpserver.servers import SERVERS
from mcpserver.servers.wire import tools
from mcpserver.tooling.arguments import parse_arguments
from tests.factories import entry, publish
from tests.mcpserver.asgi import Answer, http_scope, message, rpc_headers, send_request, serving
from tests.mcpserver.test_streams import Stream
from wire import queries
from wire.api import streaming
from wire.text.choices import ChangeKind

pytestmark = pytest.mark.django_db(transaction=True)

LOG: Final = "/api/changes.json?since=1970-01-01"
GET: Final = {"accept": "text/event-stream"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.WIRE_RATE_LIMIT = "off"
    monkeypatch.setattr(asgi, "LOOK", 0.02)
    for path, opened in registry.build_endpoints(SERVERS).items():  # the SDK's streams start once only
        monkeypatch.setitem(registry.doors, path, opened)


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def serve() -> None:
        async with serving():
            await scenario()

    asyncio.run(serve())


async def get(path: str) -> Answer:
    return await send_request(http_scope("GET", path))


async def events(stream: Stream, number: int) -> list[tuple[str, str, dict[str, Any]]]:
    """So many events: id, kind, data."""
    found, text = list[tuple[str, str, dict[str, Any]]](), ""
    while len(found) < number:
        text += (await stream.next()).decode()
        *blocks, text = text.split("\n\n")
        for block in blocks:
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if "data" in fields:
                found.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return found


@pytest.mark.slow
def test_a_stream_tells_every_change_and_goes_on_where_it_broke_off() -> None:
    async def scenario() -> None:
        async with Stream(http_scope("GET", "/api/stream", GET)) as stream:
            assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream")
            await run_query(publish, entry())
            told = await events(stream, 3)
        assert [kind for _, kind, _ in told] == ["story_added", "event_founded", "day_published"]
        await run_query(publish, entry())
        again = {**GET, "last-event-id": told[0][0]}
        async with Stream(http_scope("GET", "/api/stream", again)) as stream:
            more = (await get(f"/api/changes.json?wait=5&cursor={told[-1][0]}")).json()["changes"]
            whole = (await get(LOG)).json()["changes"]
            assert whole[3:] == more
            later = await events(stream, len(whole) - 1)
        assert [data for _, _, data in later] == whole[1:]
        async with Stream(http_scope("GET", "/api/stream?kinds=day_published&cursor=" + told[0][0], GET)) as stream:
            days = [change["number"] for change in whole if change["kind"] == "day_published"]
            assert [data["number"] for _, _, data in await events(stream, 2)] == days

    run(scenario)


@pytest.mark.parametrize("foreign", ["42", "of another server", "é\xa0", "x" * 600])
@pytest.mark.slow
def test_a_stream_that_resumes_behind_a_foreign_id_says_so_and_goes_on_from_now(foreign: str) -> None:
    """An EventSource that is refused never comes back."""

    async def scenario() -> None:
        await run_query(publish, entry(title="A marmot sings"))
        async with Stream(http_scope("GET", "/api/stream", {**GET, "last-event-id": foreign})) as stream:
            assert stream.status == 200
            ((last, kind, data),) = await events(stream, 1)
            assert (kind, data["error"]) == ("reset", "invalid_argument")
            await run_query(publish, entry())
            assert [kind for _, kind, _ in await events(stream, 2)] == ["story_added", "event_founded"]
        async with Stream(http_scope("GET", "/api/stream", {**GET, "last-event-id": last})) as stream:
            assert (await events(stream, 1))[0][1] == "story_added"

    run(scenario)


@pytest.mark.slow
def test_nobody_hears_of_a_change_that_another_process_may_not_show_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "LOOK", 0.2)

    async def scenario() -> None:
        assert (await get(LOG)).json()["changes"] == []
        await run_query(publish, entry())
        committed = asyncio.get_running_loop().time()
        asked = [get(f"{LOG}&wait=5"), get(LOG)]
        waited, at_once = await asyncio.gather(*asked)
        assert asyncio.get_running_loop().time() - committed >= 2 * asgi.LOOK
        assert at_once.json()["changes"] == []
        told = [change["kind"] for change in waited.json()["changes"]]
        assert told == ["story_added", "event_founded", "day_published"]
        assert (await get(LOG)).json()["changes"] == waited.json()["changes"]  # what was cached before is gone

    run(scenario)


@pytest.mark.parametrize(
    "path", ["/api/stream?cursor=strange", "/api/stream?kinds=nothing", "/api/stream?limit=3", "/api/changes.json?wait=99"]
)
@pytest.mark.slow
def test_what_cannot_be_followed_is_refused_at_once(path: str) -> None:
    async def scenario() -> None:
        answer = await get(path)
        assert answer.status == 422
        assert answer.json()["hint"]

    run(scenario)


@pytest.mark.slow
def test_there_are_only_so_many_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "MAX_STREAMS", 1)

    async def scenario() -> None:
        async with Stream(http_scope("GET", "/api/stream", GET)):
            assert (await get("/api/stream")).status == 503
        async with Stream(http_scope("GET", "/api/stream", GET)) as stream:
            assert stream.status == 200

    run(scenario)


@pytest.mark.slow
def test_a_stream_ends_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LIFETIME", 0.1)
    run(lambda: get("/api/stream"))  # type: ignore[arg-type, return-value]


@pytest.mark.slow
def test_a_request_waits_for_the_next_change_and_no_longer() -> None:
    async def scenario() -> None:
        cursor = (await get(LOG)).json()["next_cursor"]
        assert (await get(f"/api/changes.json?cursor={cursor}&wait=1")).json()["changes"] == []
        waiting = asyncio.create_task(get(f"/api/changes.json?cursor={cursor}&wait=20"))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await run_query(publish, entry())
        answer = await asyncio.wait_for(waiting, 10)
        assert [change["kind"] for change in answer.json()["changes"]][:1] == ["story_added"]
        assert answer["cache-control"] == "no-store"

    run(scenario)


@pytest.mark.slow
def test_the_tool_waits_too_and_its_empty_answer_is_not_kept() -> None:
    async def tool(**arguments: Any) -> Any:
        asked = message("tools/call", {"name": "get_changes", "arguments": arguments})
        answer = await send_request(http_scope("POST", "/mcp", rpc_headers(asked)), [json.dumps(asked).encode()])
        return answer.result["structuredContent"]

    async def scenario() -> None:
        cursor = (await tool())["next_cursor"]
        for _ in range(2):
            waiting = asyncio.create_task(tool(cursor=cursor, wait=20))
            await asyncio.sleep(0.1)
            assert not waiting.done()
            await run_query(publish, entry())
            found = await asyncio.wait_for(waiting, 10)
            assert found["changes"]
            cursor = found["next_cursor"]

    run(scenario)


@pytest.mark.slow
def test_rest_and_tool_say_the_same() -> None:
    publish(entry())

    async def scenario() -> None:
        for query, arguments, told in asked:
            assert (await get(f"/api/changes.json?{query}")).json() == told
            answer = await run_query(tools.get_changes, parse_arguments(tools.GetChanges, arguments))
            assert answer.structured == told

    kinds = [ChangeKind.DAY_PUBLISHED, ChangeKind.STORY_ADDED]
    asked: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("limit=2", {"limit": 2}, queries.get_changes(limit=2).model_dump(mode="json")),
        (
            "since=May 2025",
            {"since": "May 2025"},
            queries.get_changes(since=dt.datetime(2025, 5, 1, tzinfo=dt.UTC)).model_dump(mode="json"),
        ),
        (f"kinds={','.join(kinds)}", {"kinds": ",".join(kinds)}, queries.get_changes(kinds=kinds).model_dump(mode="json")),
    ]
    run(scenario)
