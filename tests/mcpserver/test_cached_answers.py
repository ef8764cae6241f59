"""A cached answer is what would be made: every tool, resource, prompt, list and address, byte for byte, until a publish."""

import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
import zstandard
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from citations.format.formats import CitationFormat
from config.http import memory_cache
from mcpserver.http.threads import run_query
from mcpserver.servers.wire import prompts, resources, tools
from mcpserver.tooling import usage
from tests.factories import entry, publish, story_of
from tests.mcpserver.asgi import (
    ERAS,
    LEGACY,
    MODERN,
    Answer,
    get,
    message,
    request,
    rpc,
    rpc_headers,
)
from wire.ingest import corrections
from wire.text.choices import Category, Topic

pytestmark = pytest.mark.django_db

committed = pytest.mark.django_db(transaction=True)
"""What other threads are to see must be committed."""

WORDS: Final = ["moon", "OpenAI", "the", "openai moon", '"79-minute ring"', "agents", "zzz", ""]


@pytest.fixture(autouse=True)
def opened() -> Iterator[None]:
    """As the application is while it serves."""
    memory_cache.answers.set_version(1)
    yield
    memory_cache.answers.set_version(None)


def uncached(ask: Any) -> Answer:
    """The answer of the same question when nothing is cached; nothing is cached after it either."""
    memory_cache.answers.set_version(None)
    try:
        answer: Answer = ask()
    finally:
        memory_cache.answers.set_version(1)
    return answer


def same_each_time(ask: Any) -> Answer:
    """The first answer, which is cached if it may be, those from the cache, and one that is made anew: all the same bytes."""
    first, *others = ask(), ask(), ask(), uncached(ask)
    for other in others:
        assert (first.status, first.headers, first.body) == (other.status, other.headers, other.body)
    found: Answer = first
    return found


def rpc_of(method: str, params: Mapping[str, Any], era: str) -> Any:
    asked = message(method, params, era)
    return lambda: request("POST", "/mcp", json.dumps(asked).encode(), rpc_headers(asked, era))


def arguments_of_tools() -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    story = st.sampled_from(
        [one["chatbotnews_id"] for one in get("/api/archive/2026-10-13.json")["stories"]] + ["cbn-000000000000"]
    )
    given: dict[str, dict[str, Any]] = {
        "search_wire": {
            "query": st.sampled_from(WORDS),
            "limit": st.integers(0, 51),
            "source": st.sampled_from(["Wired", "Nobody"]),
        },
        "get_story": {"story_id": story},
        "get_category": {"category": st.sampled_from([*Category.values, "x"]), "limit": st.integers(0, 101)},
        "get_topic_coverage": {"topic": st.sampled_from(Topic.values), "since": st.sampled_from(["2026-10-14", "soon"])},
        "get_consensus": {"story_id": story},
        "get_citation": {"story_id": story, "format": st.sampled_from(["layered", "bibtex", "x"])},
        "get_editor_take": {"date": st.sampled_from(["2026-10-12", "2026-10-99"])},
        "list_sources": {"tier": st.integers(0, 5)},
        "verify_source_integrity": {"publication_name": st.sampled_from(["wired", "The Bugle"])},
        "list_events": {"date": st.sampled_from(["2026-10-12", "2026-10-99"]), "limit": st.sampled_from([1, 20, 0, 2.0])},
        "get_event": {"event_id": story},
        "get_storyline": {"event_id": story},
        "get_entity": {"name": st.sampled_from(["OpenAI", "openai", "nobody"])},
        "search": {"query": st.sampled_from(WORDS)},
        "fetch": {"id": story},
        "verify_citation": {"text": story},
        "get_provenance": {"date": st.sampled_from(["2026-10-12", "2026-10-99"]), "story_id": story},
        "get_changes": {
            "cursor": st.sampled_from(["", "strange"]),
            "kinds": st.sampled_from(["", "story_added", "x"]),
            "limit": st.sampled_from([1, 0, 500]),
            "since": st.sampled_from(["yesterday", "2026-10-16", "soon"]),
        },
        "corroborate": {"claim": st.sampled_from(WORDS)},
        "compare_coverage": {"event_id": story},
        "check_limits": {},
    }
    assert set(given) == set(tools.TOOLS)
    return st.one_of(*(st.tuples(st.just(name), st.fixed_dictionaries({}, optional=fields)) for name, fields in given.items()))


@pytest.mark.slow
@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize("era", ERAS)
def test_every_tool_is_answered_the_same_cached_and_made(era: str) -> None:
    @effort(max_examples=60)
    @given(asked=arguments_of_tools())
    def whatever_is_asked(asked: tuple[str, dict[str, Any]]) -> None:
        same_each_time(rpc_of("tools/call", {"name": asked[0], "arguments": asked[1]}, era))

    whatever_is_asked()


@pytest.mark.slow
@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize("era", ERAS)
def test_every_resource_prompt_and_list_is_answered_the_same_cached_and_made(era: str) -> None:
    listed = [str(resource.uri) for resource in resources.list_resources(None)[0]]
    for uri in [*listed, "wire://story/cbn-000000000000", "wire://topic/openai", "wire://archive/2026-10-14", "wire://nowhere"]:
        same_each_time(rpc_of("resources/read", {"uri": uri}, era))
    for name in prompts.PROMPTS:
        same_each_time(rpc_of("prompts/get", {"name": name, "arguments": {}}, era))
    lists = [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        *(["server/discover"] if era == MODERN else []),
    ]
    for method in lists:
        assert same_each_time(rpc_of(method, {}, era)).status == 200


def addresses() -> Iterator[str]:
    day = get("/api/archive/2026-10-13.json")
    story = day["stories"][0]["chatbotnews_id"]
    yield from ("/api/today.json", "/api/today.schema.json", "/api/archive.json", "/api/sources.json?tier=2", "/api/openapi.json")
    yield from (f"/api/{what}/2026-10-13.json" for what in ("archive", "editor-take", "provenance"))
    yield from (f"/api/stories/{one}.json" for one in (story, "cbn-000000000000", "x"))
    yield from (f"/api/categories/{category}.json?limit=3" for category in (*Category.values, "x"))
    yield from (f"/api/topics/{topic}.json" for topic in Topic.values)
    yield from (f"/api/citations/{story}.json?format={form}" for form in CitationFormat)
    yield from (f"/api/search.json?{urlencode({'query': word, 'limit': 4})}" for word in WORDS)
    yield from (f"/api/consensus.json?story_id={story}", f"/api/consensus.json?headline={quote('OpenAI on the moon')}")
    yield from ("/api/verify-source.json?publication_name=wired", "/api/archive/2026-10-13.json?revision=1", "/api/nowhere.json")


@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize("coding", ["", "br, gzip, zstd"])
@pytest.mark.slow
def test_every_rest_address_is_answered_the_same_cached_and_made(coding: str) -> None:
    for address in addresses():
        same_each_time(lambda address=address: request("GET", address, headers={"accept-encoding": coding}))


@pytest.mark.usefixtures("sample")
def test_each_coding_is_the_same_json_under_its_own_etag_and_confirms_itself_alone() -> None:
    plain = request("GET", "/api/today.json")
    packed = request("GET", "/api/today.json", headers={"accept-encoding": "br, gzip;q=0.5"})
    dense = request("GET", "/api/today.json", headers={"accept-encoding": "gzip, deflate, zstd"})
    assert (plain["content-encoding"], packed["content-encoding"], dense["content-encoding"]) == (None, "gzip", "zstd")
    assert gzip.decompress(packed.body) == zstandard.decompress(dense.body) == plain.body
    tags = [answer["etag"] or "" for answer in (plain, packed, dense)]
    assert len(set(tags)) == 3
    for answer in (plain, packed, dense):
        assert answer["vary"] == "Accept-Encoding"
        assert int(answer["content-length"] or 0) == len(answer.body)
    for asked, expected in (
        (tags[1], 304),
        (f"W/{tags[1]}", 304),
        (f'"x", {tags[1]}', 304),
        ("*", 304),
        (tags[0], 200),
        (tags[2], 200),
    ):
        found = request("GET", "/api/today.json", headers={"accept-encoding": "gzip", "if-none-match": asked})
        assert (found.status, found["etag"]) == (expected, tags[1])
        assert (found.body == b"") == (expected == 304)
    head = request("HEAD", "/api/today.json", headers={"accept-encoding": "gzip"})
    assert (head.headers, head.body) == (packed.headers, b"")
    refused = request("GET", "/api/today.json", headers={"accept-encoding": "gzip;q=0, zstd;q=0.0"})
    assert refused["content-encoding"] is None


@pytest.mark.slow
@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/docs"])
def test_what_ninja_answers_itself_is_cached_as_well(path: str) -> None:
    first = request("GET", path, headers={"accept-encoding": "gzip"})
    assert (first.status, first["content-encoding"]) == (200, "gzip")
    again = request("GET", path, headers={"accept-encoding": "gzip", "if-none-match": str(first["etag"])})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "localhost:", "127.0.0.1", "[::1]:80"])
def test_an_answer_is_for_all_by_whatever_name_of_ours_it_was_asked_for_first(host: str) -> None:
    memory_cache.answers.clear()
    for path in ("/api/search.json?query=moon", "/search?query=moon"):
        assert request("GET", path, headers={"host": host}).body == request("GET", path).body
        assert request("GET", path, headers={"host": host}).status == 200


@committed
def test_a_publish_shows_at_once_by_both_doors() -> None:
    first = entry(title="Quince opens")
    publish(first)
    day = request("GET", "/api/today.json").body
    search = {"name": "search_wire", "arguments": {"query": "quince", "group": "none"}}
    assert rpc("tools/call", search).result["structuredContent"]["total"] == 1
    publish(entry(title="Quince opens again"))
    assert request("GET", "/api/today.json").body != day
    assert rpc("tools/call", search).result["structuredContent"]["total"] == 2


@pytest.mark.slow
@committed
def test_what_is_private_to_one_request_is_in_no_other_answer() -> None:
    publish(entry(title="Quince opens"))
    for era in ERAS:
        for number in (7, 'a\u2028"b', -3):
            asked = message("tools/list", {}, era) | {"id": number}
            asked["params"].setdefault("_meta", {})["progressToken"] = f"secret {number}"
            answer = request("POST", "/mcp", json.dumps(asked).encode(), rpc_headers(asked, era))
            assert answer.json()["id"] == number
            assert b"secret" not in answer.body
    told = request(
        "GET", "/api/today.json", headers={"cookie": "secret=1", "x-forwarded-host": "evil.example", "accept": "text/html"}
    )
    assert (told.body, told.headers) == (request("GET", "/api/today.json").body, request("GET", "/api/today.json").headers)


@committed
def test_a_repeated_request_is_charged_with_all_that_is_stored_of_it() -> None:
    """Headers that nobody else sends, and a long `_meta`, take room that is counted."""
    publish(entry(title="Quince opens"))
    asked = message("tools/call", {"name": "search_wire", "arguments": {"query": "quince"}}, MODERN) | {"id": 1}
    request("POST", "/mcp", json.dumps(asked).encode(), rpc_headers(asked, MODERN))
    for strange in ({f"mcp-x-{number}": "y" * 20 for number in range(300)}, {}):
        asked["params"]["_meta"]["x"] = [[]] * (0 if strange else 5_000)
        before = memory_cache.answers.bytes
        request("POST", "/mcp", json.dumps(asked).encode(), dict(rpc_headers(asked, MODERN)) | strange)
        assert memory_cache.answers.bytes - before >= (300 * 200 if strange else 5_000)


@committed
def test_whoever_repeats_a_request_gets_it_with_the_id_of_its_own() -> None:
    """Wherever else an "id" stands in the request."""
    publish(entry(title="Quince opens"))
    story = get("/api/today.json")["stories"][0]["chatbotnews_id"]
    call = f'"method":"tools/call","params":{{"name":"fetch","arguments":{{"id":"{story}"}}}}'
    strange = f'"method":"tools/call","params":{{"name":"fetch","arguments":{{"id":"{story}"}},"x":{{"id":5}}}}'
    headers = {"content-type": "application/json", "accept": "application/json", "mcp-protocol-version": LEGACY}
    for text in (
        '{"jsonrpc":"2.0","id":%s,' + call + "}",
        '{"jsonrpc":"2.0",' + call + ',"id":%s}',
        '{"jsonrpc":"2.0","id":3,"id":%s,' + call + "}",
        '{"jsonrpc":"2.0","id": %s,' + strange + "}",
        '{"jsonrpc":"2.0","x":{"id":7},"id":%s,' + call + "}",
    ):
        for own_id in ("1", "12345678901234", '"a-b"', '"é"', "-7"):
            answer = request("POST", "/mcp", (text % own_id).encode(), headers).json()
            assert answer["id"] == json.loads(own_id)
            assert answer["result"]["structuredContent"]["id"] == story
        for no_id in ("1e3", "007", "null", "[1]", "1.5", "true", "1" * 30):
            assert request("POST", "/mcp", (text % no_id).encode(), headers).status == 400, no_id
    assert request("POST", "/mcp", (text % 9).encode(), {**headers, "content-type": "text/plain"}).status == 415


@pytest.mark.slow
@committed
@pytest.mark.parametrize("era", ERAS)
def test_a_request_is_known_by_all_headers_that_decide_and_by_no_other(era: str) -> None:
    """Proxies and tracers number each request; that makes it no other question."""
    publish(entry(title="Quince opens"))
    asked = message("tools/call", {"name": "search_wire", "arguments": {"query": "quince"}}, era) | {"id": 1}
    body, headers = json.dumps(asked).encode(), rpc_headers(asked, era)
    answers, counts = [], []
    for number in range(6):
        numbered = {"x-forwarded-for": f"192.0.2.{number}", "traceparent": f"00-{number:032x}-{number:016x}-01"}
        answers.append(request("POST", "/mcp", body, {**headers, **numbered}))
        counts.append(memory_cache.answers.count)
    assert all((answer.status, answer.body) == (200, answers[0].body) for answer in answers)
    assert counts == [counts[0]] * 6
    for name, value in (("content-type", "text/plain"), ("accept", "text/html"), ("mcp-protocol-version", "1999-01-01")):
        assert request("POST", "/mcp", body, {**headers, name: value}).status >= 400
    if era == MODERN:
        for name in ("mcp-method", "mcp-name"):
            assert request("POST", "/mcp", body, {**headers, name: "tools/list"}).status == 400
            assert request("POST", "/mcp", body, [*headers.items(), (name, headers[name])]).status == 400
    assert request("POST", "/mcp", body, headers).body == answers[0].body


@committed
def test_the_order_of_parameters_means_nothing_except_where_it_does() -> None:
    publish(*(entry(title=f"Quince {number}") for number in range(3)))
    one = request("GET", "/api/search.json?query=quince&limit=1")
    size = memory_cache.answers.count
    for query in (
        "limit=1&query=quince",
        "%6cimit=1&query=quince&",
    ):
        assert request("GET", f"/api/search.json?{query}").body == one.body
    assert memory_cache.answers.count <= size + 1
    for query in (
        "query=quince&limit=1&limit=2",
        "query=quince&limit=2&limit=1",
        "query=quince&%6cimit=2&limit=1",
        "query=a%26limit=2",
    ):
        again = request("GET", f"/api/search.json?{query}")
        assert again.body == uncached(lambda query=query: request("GET", f"/api/search.json?{query}")).body
    assert len(request("GET", "/api/search.json?query=quince&limit=1&limit=2").json()["stories"]) == 2


@pytest.mark.slow
@committed
def test_parameters_that_an_address_does_not_take_are_refused_and_nothing_is_cached() -> None:
    publish(entry(title="Quince opens"))
    size = memory_cache.answers.count
    for number in range(20):
        answer = request("GET", f"/api/today.json?asked={number}")
        assert (answer.status, answer["cache-control"]) == (400, "no-store")
    assert memory_cache.answers.count == size


@committed
def test_errors_health_and_what_cannot_be_a_key_are_not_cached() -> None:
    publish(entry(title="Quince opens"))
    memory_cache.answers.clear()
    request("GET", "/api/nowhere.json")
    request("GET", "/api/health/feeds.json")
    request("GET", "/api/search.json?query=")
    rpc("tools/call", {"name": "get_story", "arguments": {"story_id": "cbn-000000000000"}})
    rpc("tools/call", {"name": "nothing", "arguments": {}}, LEGACY)
    deep: Any = 1
    for _ in range(300):
        deep = {"a": deep}
    asked = message("tools/call", {"name": "get_story", "arguments": {"story_id": deep}}, LEGACY)
    assert request("POST", "/mcp", json.dumps(asked).encode(), rpc_headers(asked, LEGACY)).status in (200, 400)
    assert memory_cache.answers.count == 0


@committed
def test_a_kept_answer_is_counted_like_any_other() -> None:
    publish(entry(title="Quince opens"))
    usage._waiting.clear()
    for _ in range(5):
        rpc("tools/call", {"name": "list_sources", "arguments": {}})
        rpc("resources/read", {"uri": "wire://sources"}, LEGACY)
    counted = {(*key[:3], key[4]): number for key, number in usage._waiting.items()}
    assert counted == {("wire", "tools/call", "list_sources", True): 5, ("wire", "resources/read", "wire://sources", True): 5}
    usage._waiting.clear()


@committed
def test_a_story_that_was_withdrawn_is_never_cited_from_memory() -> None:
    made = entry(title="Quince opens")
    publish(made, entry(title="A marmot sings"))
    story = story_of(made).chatbotnews_id
    address = f"/api/citations/{story}.json"
    assert request("GET", address).status == 200
    corrections.withdraw_story(story, reason="Retracted.")
    assert request("GET", address).status == 410


@committed
@pytest.mark.parametrize("era", ERAS)
def test_a_request_that_bears_a_key_is_neither_cached_nor_answered_from_the_cache(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = message("tools/call", {"name": "list_sources", "arguments": {}}, era)
    headers = rpc_headers(question, era)
    request("POST", "/mcp", json.dumps(question).encode(), headers)
    asked = 0

    def count(*args: Any, **kwargs: Any) -> Any:
        nonlocal asked
        asked += 1
        return run_query(*args, **kwargs)

    monkeypatch.setattr("mcpserver.servers.wire.run_query", count)
    sent = json.dumps(question).encode()
    for more, times in (({}, 0), ({"authorization": "Bearer key"}, 1), ({"authorization": "Bearer key"}, 2), ({}, 2)):
        assert request("POST", "/mcp", sent, {**headers, **more}).status == 200
        assert asked == times
