"""Any text costs little: each argument of each server that is text is asked at its full length, in shapes that hurt parsers.

The arguments come from the servers' own schemas and from OpenAPI, so that a new one cannot be forgotten. What counts is the CPU
time of the process, all of its threads together.
"""

import asyncio
import functools
import gc
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote, urlencode

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from config.api import api
from config.http.request_guard import MAX_BODY
from mcpserver import registry
from mcpserver.gateway import auth, runtime
from mcpserver.gateway.process_context import ProcessContext
from mcpserver.gateway.resolver import Resolver
from mcpserver.gateway.resource_policy import load_policy as load_policy
from mcpserver.servers import SERVERS
from mcpserver.servers import gateway as gateway_server
from tests import claims, emptying
from tests.mcpserver.asgi import Answer, http_scope, message, request, rpc_headers, send_request
from tests.mcpserver.gateway.stage import Scripted
from tests.publishers import cake, draft, publisher, store
from tests.wire.corpora.timeline.corpora import SLUG, changed
from wire.corpora.timeline.load import load_directory as load_corpus
from wire.models import Story

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,
    pytest.mark.usefixtures("full_wire"),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="processor time of texts does not depend on the database"),
]

MOST_CPU: Final = 0.5  # seconds of one request
STEEPEST: Final = 1.5  # times what a text of a quarter lets expect
UNNOTICED: Final = 0.1  # seconds; what costs less may grow as it likes
LONGEST_ADDRESS: Final = 15_000  # bytes: a head has 16 KiB

PATHS: Final = ["/mcp", "/mcp/articles/chef", "/mcp/factchecks", "/mcp/timeline", f"/mcp/timeline/{SLUG}", "/mcp/gateway"]


def repeat(part: str) -> Callable[[int], str]:
    return lambda length: (part * (length // len(part) + 1))[:length]


def number_words(template: str) -> Callable[[int], str]:
    """Other words in each repetition, so that nothing is computed once for all."""

    def shape(length: int) -> str:
        found, number = "", 0
        while len(found) < length:
            found += template.replace("#", str(number))
            number += 1
        return found[:length]

    return shape


SHAPES: Final[dict[str, Callable[[int], str]]] = {
    "short words": repeat("a b c the of "),
    "sentences": number_words("It is proof that clock# caused the tide of harbour#. "),
    "citations": number_words(
        "According to OpenAI News, as summarized by ChatbotNews.ai, on 2026-10-12 agents# said “x”. "
        "https://chatbotnews.ai/story/2026-10-12-a#?b=c (#) "
    ),
    "one token": repeat("ya"),
    "brackets": repeat("[[[(((<script {{{\"'"),
    "quotes": repeat('"a "'),
    "dates and lines": number_words("\n- 2026-01-#, #.5%: $# "),
    "combining": lambda length: "a" + "\u0345" * (length // 2) + "\u0334" * (length // 2),
    "Chinese": repeat("根据人工智能新闻报道称谷歌发布了新模型"),
}


class Argument(NamedTuple):
    """A place that takes a text, and its most characters."""

    name: str
    longest: int
    ask: Callable[[str], tuple[str, str, bytes, dict[str, str]]]
    """Method, address, body and headers of a request with this text."""


GIVEN: Final[dict[str, Any]] = {
    **{"query": "clock", "corpus": SLUG, "topic": "openai", "category": "agents", "text": "clock", "draft": "clock"},
    **{"claim": "OpenAI launched agents", "publication_name": "Wired", "day": "2026-10-12", "date": "2026-10-12", "first": 1},
    **{"url": "https://yoursite.com/best-chocolate-cake", "motif": "long-tide", "report_id": "hc-1", "name": "reports"},
    **{"publisher": "chef", "uri": "news://global/trends"},
}
"""What else a call needs."""


def find_value(name: str, schema: Any) -> Any:
    if name in GIVEN:
        return GIVEN[name]
    if name in {"story_id", "event_id"}:
        return Story.objects.values_list("event_id" if name == "event_id" else "chatbotnews_id", flat=True).first()
    return schema.get("enum", ["x"])[0] if schema.get("type", "string") == "string" else 1


def options(schema: Any, named: Any) -> Iterator[Any]:
    """The schemas that one value may fulfil."""
    if "$ref" in schema:
        yield from options(named[schema["$ref"].rpartition("/")[2]], named)
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from options(part, named)
    yield schema


def texts_in(schema: Any, named: Any) -> Iterator[tuple[int | None, Callable[[str], Any]]]:
    """Each place for a text in a value: its maxLength, and the value with a text there."""
    for option in options(schema, named):
        kind = option.get("type")
        if kind == "string" or (isinstance(kind, list) and "string" in kind):
            yield option.get("maxLength"), lambda text: text
        elif kind == "array":
            for longest, filled in texts_in(option.get("items", {"type": "string"}), named):
                yield longest, functools.partial(lambda filled, text: [filled(text)], filled)
            yield None, lambda text: text.split(" ")
        elif kind == "object":
            for name, inner in option.get("properties", {}).items():
                for longest, filled in texts_in(inner, named):
                    yield longest, functools.partial(lambda name, filled, text: {name: filled(text)}, name, filled)


def build_request(path: str, method: str, params: dict[str, Any]) -> tuple[str, str, bytes, dict[str, str]]:
    asked = message(method, params)
    return "POST", path, json.dumps(asked, ensure_ascii=False).encode(), rpc_headers(asked)


def list_members(path: str, method: str, member: str) -> list[Any]:
    verb, address, body, headers = build_request(path, method, {})
    answer = request(verb, address, body, headers).json()
    return list(answer["result"][member]) if "result" in answer else []


def mcp_arguments() -> Iterator[Argument]:
    for path in PATHS:
        for tool in list_members(path, "tools/list", "tools"):
            schema = tool["inputSchema"]
            named, properties = schema.get("$defs", {}), schema.get("properties", {})
            for name, inner in properties.items():
                required = {one: find_value(one, properties[one]) for one in schema.get("required", ()) if one != name}
                for number, (longest, filled) in enumerate(texts_in(inner, named)):

                    def call(
                        text: str,
                        path: str = path,
                        tool: Any = tool,
                        name: str = name,
                        filled: Any = filled,
                        required: Any = required,
                    ) -> Any:
                        return build_request(
                            path, "tools/call", {"name": tool["name"], "arguments": {**required, name: filled(text)}}
                        )

                    yield Argument(f"{path} {tool['name']} {name} {number}", longest or MAX_BODY, call)
        for prompt in list_members(path, "prompts/list", "prompts"):
            for one in prompt.get("arguments", ()):
                required = {
                    other["name"]: str(find_value(other["name"], {})) for other in prompt["arguments"] if other.get("required")
                }

                def get(
                    text: str, path: str = path, prompt: Any = prompt, name: str = one["name"], required: Any = required
                ) -> Any:
                    return build_request(path, "prompts/get", {"name": prompt["name"], "arguments": {**required, name: text}})

                def complete(text: str, path: str = path, prompt: Any = prompt, name: str = one["name"]) -> Any:
                    ref = {"type": "ref/prompt", "name": prompt["name"]}
                    return build_request(path, "completion/complete", {"ref": ref, "argument": {"name": name, "value": text}})

                yield Argument(f"{path} {prompt['name']} {one['name']}", MAX_BODY, get)
                yield Argument(f"{path} {prompt['name']} {one['name']} completed", MAX_BODY, complete)
        for template in list_members(path, "resources/templates/list", "resourceTemplates"):
            begin = template["uriTemplate"].partition("{")[0]

            def read(text: str, path: str = path, begin: str = begin) -> Any:
                return build_request(path, "resources/read", {"uri": begin + quote(text)})

            yield Argument(f"{path} {template['uriTemplate']}", LONGEST_ADDRESS, read)
        others: dict[str, Callable[[str], tuple[str, dict[str, Any]]]] = {
            "tools/list cursor": lambda text: ("tools/list", {"cursor": text}),
            "resources/list cursor": lambda text: ("resources/list", {"cursor": text}),
            "prompts/list cursor": lambda text: ("prompts/list", {"cursor": text}),
            "resources/templates/list cursor": lambda text: ("resources/templates/list", {"cursor": text}),
            "uri": lambda text: ("resources/read", {"uri": text}),
            "tool's name": lambda text: ("tools/call", {"name": text, "arguments": {}}),
        }
        for label, params in others.items():

            def send(text: str, path: str = path, params: Any = params) -> Any:
                return build_request(path, *params(text))

            yield Argument(f"{path} {label}", MAX_BODY, send)


def rest_arguments() -> Iterator[Argument]:
    schema = api.get_openapi_schema()
    named = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parameters = operation.get("parameters", [])
            for one in parameters:
                for number, (longest, _) in enumerate(texts_in(one["schema"], named)):

                    def ask(text: str, path: str = path, method: str = method, one: Any = one, parameters: Any = parameters) -> Any:
                        needed = {other["name"]: other for other in parameters if other.get("required") or other is one}
                        values = {
                            name: text if other is one else find_value(name, other["schema"]) for name, other in needed.items()
                        }
                        address = path
                        for name, other in needed.items():
                            if other["in"] == "path":
                                address = address.replace(f"{{{name}}}", quote(str(values.pop(name)), safe=""))
                        return method.upper(), f"{address}?{urlencode(values, safe='/')}".rstrip("?"), b"", {}

                    yield Argument(f"{method} {path} {one['name']} {number}", longest or LONGEST_ADDRESS, ask)
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            for number, (longest, filled) in enumerate(texts_in(body, named)):

                def send(text: str, path: str = path, method: str = method, filled: Any = filled) -> Any:
                    return method.upper(), path, json.dumps(filled(text)).encode(), {"content-type": "application/json"}

                yield Argument(f"{method} {path} body {number}", longest or MAX_BODY, send)


def length_of(argument: Argument, shape: str) -> int:
    """As much of the shape as the argument, a body and an address take."""
    length = argument.longest
    while length > 8:
        _, address, body, _ = argument.ask(SHAPES[shape](length))
        if len(address) <= LONGEST_ADDRESS and len(body) <= MAX_BODY:
            break
        length = int(length * 0.9)
    return length


def cpu(asked: tuple[str, str, bytes, dict[str, str]]) -> tuple[float, Answer]:
    method, address, body, headers = asked
    plain, _, query = address.partition("?")

    scope = http_scope(method, "/", headers) | {"path": unquote(plain), "raw_path": plain.encode(), "query_string": query.encode()}

    began = time.process_time()
    answer = asyncio.run(send_request(scope, [body]))
    return time.process_time() - began, answer


def measure_cpu(argument: Argument, shape: str, length: int, most: float) -> float:
    """Seconds of CPU of a request with so much of the shape; the least of three if the first is above `most`."""
    asked = argument.ask(SHAPES[shape](length))
    least = float("inf")
    for _ in range(3):
        gc.collect(0)
        took, answer = cpu(asked)
        assert answer.status < 500 or answer.status == 503, (argument.name, shape, answer.status, answer.body[:200])
        least = min(least, took)
        if least <= most:
            break
    return least


def copies(rows: list[Any], key: str, number: int) -> None:
    """Add so many rows like the one with this id, each with words of its own."""
    like = next(row for row in rows if row["id"] == key)
    title = f"{like['title']} once more"
    rows += [{**like, "id": f"{key}-{at}", "title": f"{title}, tide{at} of harbour{at % 50}"} for at in range(number)]


def large_corpus(directory: Path) -> Path:
    def reports(content: Any) -> None:
        copies(content["reports"], "hc-2", 600)
        content["meta"]["counts"]["reports"] = len(content["reports"])

    return changed(directory, reports=reports, events=lambda content: copies(content["events"], "clock-repair", 600))


@pytest.fixture(scope="module")
def full_wire(sample: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:  # noqa: ARG001
    """A wire with all five systems filled."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.WIRE_RATE_LIMIT", "off")
        load_corpus(large_corpus(tmp_path_factory.mktemp("corpus")))
        owner = publisher()
        store(owner, cake(), *(draft(f"Cake {number}", f"https://yoursite.com/cake-{number}") for number in range(50)))
        claims.load(*claims.german(), claims.LEAD, claims.TURBINES)
        policy = load_policy()
        policy = policy.with_overrides({name: {"min_interval": 0, "limit": 100_000} for name in policy.resources})
        runtime.replace_resolver(Resolver(policy, Scripted(), ProcessContext(runtime.run_write, runtime.run_read_query)))
        gateway_server._pieces.clear()
        auth.clear_caller_cache()
        for path, opened in registry.build_endpoints(SERVERS).items():
            patch.setitem(registry.doors, path, opened)
        yield
        runtime.replace_resolver(None)
        auth.clear_caller_cache()
        claims.forget()
        emptying.empty()


def arguments() -> list[Argument]:
    return [*mcp_arguments(), *rest_arguments()]


def test_every_server_is_asked() -> None:
    found = [argument.name for argument in arguments()]
    assert len(found) == len(set(found)) > 300
    for path in [*PATHS, *api.get_openapi_schema()["paths"]]:
        assert any(path in name for name in found) or "{" not in path, path
    members = {path.rstrip("/") for path in SERVERS}
    assert all(any(one.startswith(member) for one in PATHS) for member in members), "a new server is asked too"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_text_of_full_length_costs_half_a_second_at_most_and_grows_with_its_length(shape: str) -> None:
    wrong = []
    for argument in arguments():
        length = length_of(argument, shape)
        whole = measure_cpu(argument, shape, length, UNNOTICED)
        if whole > UNNOTICED and whole > 4 * STEEPEST * (quarter := measure_cpu(argument, shape, length // 4, 0)):
            wrong.append(f"{argument.name}: {length} characters take {whole:.2f} s, a quarter {quarter:.2f} s")
        elif whole > MOST_CPU:
            wrong.append(f"{argument.name}: {length} characters take {whole:.2f} s")
    assert not wrong, "\n".join(wrong)
