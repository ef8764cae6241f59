"""Asks a wire for everything that it serves, in one order: REST, pages, the desk, MCP servers, commands.

The questions are found in the answers: in the description of REST, in links of pages, in lists of MCP servers. So two checkouts are
asked the same as long as they answer the same, whatever their modules are called.
"""

import asyncio
import html
import json
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command, get_commands, load_command_class
from django.test import Client
from django.urls import Resolver404, URLPattern, get_resolver, resolve
from mcp.shared.inbound import encode_header_value

from tests.served.recorder import Answer, Recorder
from tests.served.values import ANY, OWNERS, Values

ROOT: Final = Path(__file__).resolve().parents[2]
MOST_PAGES: Final = 600
MOST_OF_ROUTE: Final = 30  # pages of one route that are asked for with the same parameters
MOST_OF_DESK: Final = 400
LEGACY, MODERN = "2025-11-25", "2026-07-28"
NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
SOMEBODY: Final = {"clientInfo": {"name": "recorder", "version": "1"}}
BEGIN: Final = {"protocolVersion": LEGACY, "capabilities": {}, **SOMEBODY}
LISTS: Final = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
JSON: Final = {"content-type": "application/json"}
OTHERS: Final[Sequence[tuple[str, str, Mapping[str, str], bytes]]] = (
    *(("GET", "/api/today.json", {"accept-encoding": coding}, b"") for coding in ("gzip", "zstd")),
    ("GET", "/api/today.json", {"if-none-match": "*"}, b""),
    *((method, "/api/today.json", {}, b"") for method in ("HEAD", "OPTIONS", "POST")),
    *(("GET", address, {}, b"") for address in ("/api/today.json?nothing=1", "/api/nothing.json", "/nothing", "/mcp/v2", "/mcp")),
    ("GET", "/", {"host": "elsewhere.example"}, b""),
    ("OPTIONS", "/mcp", {"origin": "https://claude.ai"}, b""),
    ("POST", "/mcp", {"origin": "https://elsewhere.example"}, b"{}"),
    ("POST", "/mcp", JSON, b"no JSON"),
    ("GET", "/api/timegate/api/today.json", {}, b""),
    ("GET", "/api/timegate/api/archive.json", {"accept-datetime": "Thu, 15 Jan 2026 10:00:00 GMT"}, b""),
    ("GET", "/metrics", {"authorization": "Bearer a-token-for-recordings-alone-0123456789"}, b""),
    ("GET", "/api/stream", {}, b""),
)
"""What no list leads to."""
RUN: Final = ("verifywire", "publishers list", "timeline list", "timeline verify", "gateway check", "gateway list", "gateway log")


class Questions:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._values = Values()
        self._routes: set[str] = set()

    async def ask_all(self) -> None:
        """Ask for all that is served over HTTP; MCP comes last, for pages show how often it was asked."""
        async with self._recorder.serving():
            await self._ask_rest()
            for method, address, headers, body in OTHERS:
                await self._recorder.ask("others", method, address, headers, body)
            await self._ask_site()
            await self._ask_desk()
            await self._ask_mcp()

    def list_missed(self) -> list[str]:
        """Return the routes of the site of which no address was asked for."""
        return [str(one.pattern) for one in _patterns() if str(one.pattern) not in self._routes]

    async def _ask_rest(self) -> None:
        """Ask each address of the description. First each is asked once: the answers have values for all that follow."""
        document = (await self._recorder.ask("rest", "GET", "/api/openapi.json")).json()
        found = {path: methods["get"].get("parameters", []) for path, methods in document["paths"].items() if "get" in methods}
        for is_first in (True, False):
            for path in sorted(found, key=lambda path: (path.count("{"), sum(one["required"] for one in found[path]), path)):
                await self._ask_address(path, found[path], document["components"]["schemas"], is_first=is_first)

    async def _ask_address(self, path: str, parameters: Sequence[Any], named: Mapping[str, Any], *, is_first: bool) -> None:
        """Ask with all values of the path; the first time, and with what varies in the query, with one of each owner."""
        schemas = {one["name"]: one["schema"] for one in parameters}
        asked = {one["name"]: (one["schema"], one["required"]) for one in parameters if one["in"] == "query"}
        required = {name: one for name, one in asked.items() if one[1]}
        owners = set()
        for filled in self._values.fill(re.findall(r"{(\w+)}", path), schemas, named, path):
            owner = next((filled[name] for name in OWNERS if name in filled), "")
            address = path.format(**{name: quote(str(value)) for name, value in filled.items()})

            async def ask(query: Mapping[str, Any], address: str = address, owner: str = owner) -> Any:
                told = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
                answer = await self._recorder.ask("rest", "GET", f"{address}?{urlencode(told, doseq=True)}".rstrip("?"))
                if answer.status == 200:
                    self._values.see(answer.json(), owner)
                return answer.json()

            if owner not in owners and not is_first:
                await self._values.vary(ask, asked, named, path, owner)
            elif owner not in owners or not is_first:
                await ask({name: self._values.choose(name, one[0], named, path, owner)[0] for name, one in required.items()})
            owners.add(owner)

    async def _ask_site(self) -> None:
        """Follow links, beginning with every address of the site that needs no parameter, and with files that few links lead to."""
        find, words = self._values.find, urlencode({"query": self._values.find("query")[0]})
        ends = ("", "/asked", "/asked.csv", "/llms.txt", "/ai.txt", "/license.xml")
        seeds = [
            *("/", "/archive", "/sources", f"/search?{words}"),
            *(f"/{one.pattern}" for one in _patterns() if "<" not in str(one.pattern)),
            *(f"/timeline/{slug}/" for slug in find("corpus")),
            *(f"/articles/{slug}{end}" for slug in find("publisher") for end in ends),
            *(f"/export/{form}?{asked}" for form in ("bib", "ris", "csl", "ninjs") for asked in ("", "category=funding", words)),
            *(f"/feeds/search.{form}?{words}" for form in ("rss", "atom", "json")),
            *(f"/factcheck/{quote(one)}" for one in find("any_id")),
            *(f"/og/event/{one}.png" for one in find("event_id")[:3]),
            *(f"/archive/{day}.manifest.json" for day in find("day")),
        ]
        await self._crawl("site", seeds, r"/(?!api/|admin|mcp$)", {}, MOST_PAGES, MOST_OF_ROUTE)

    async def _ask_desk(self) -> None:
        """Follow links of the desk as somebody who may do everything."""
        user = await asyncio.to_thread(get_user_model().objects.create_superuser, "recorder", "recorder@localhost")
        client = Client()
        await asyncio.to_thread(client.force_login, user)
        cookies = "; ".join(f"{name}={one.value}" for name, one in client.cookies.items())
        await self._crawl("desk", ["/admin/"], r"/admin/(?!logout)", {"cookie": cookies}, MOST_OF_DESK, 3)

    async def _crawl(
        self, place: str, seeds: Iterable[str], wanted: str, headers: Mapping[str, str], most: int, of_route: int
    ) -> None:
        """Ask for these addresses and for those that they lead to, at most `of_route` of one route with the same parameters."""
        waiting = deque(dict.fromkeys(seeds))
        known, taken = set(waiting), Counter[tuple[str, ...]]()
        while waiting and taken.total() < most:
            address = waiting.popleft()
            kind = (self._route(address), *sorted(re.findall(r"[?&](\w+)=", address)))
            if taken[kind] >= of_route:
                continue
            taken[kind] += 1
            answer = await self._recorder.ask(place, "GET", address, headers, label=f"GET {address}")
            new = [link for link in _links(answer, address) if re.match(wanted, link) and link not in known]
            known.update(new)
            waiting.extend(dict.fromkeys(new))

    def _route(self, address: str) -> str:
        """Return the route that an address belongs to, or the first word of its path."""
        path = unquote(urlsplit(address).path)
        try:
            route = resolve(path, settings.ROOT_URLCONF if path.startswith("/admin") else settings.PUBLIC_URLCONF).route
        except Resolver404:
            return path.split("/")[1]
        self._routes.add(route)
        return route

    async def _ask_mcp(self) -> None:
        """Ask every server of the list, and what stands above those that are members of something."""
        servers = (await self._recorder.ask("mcp", "GET", "/.well-known/mcp.json")).json()["servers"]
        for one in servers:
            self._routes.add(self._route(urlsplit(one["server_card"]).path))
            await self._recorder.ask("mcp", "GET", urlsplit(one["server_card"]).path)
        paths = [urlsplit(one["url"]).path for one in servers]
        for path in dict.fromkeys([*paths, *(path.rpartition("/")[0] for path in paths if path.count("/") > 2)]):
            if await self._call(path, "initialize", BEGIN):
                await self._ask_server(path)
        await asyncio.to_thread(self._ask_stdio, [_message(*one) for one in (("initialize", BEGIN), ("tools/list", {}))])

    async def _ask_server(self, path: str) -> None:
        """Ask for what a server lists, and for each of it."""
        await self._call(path, "ping", {})
        await self._call(path, "server/discover", {}, MODERN)
        tools, resources, templates, prompts = [await self._call(path, method, {}, LEGACY, MODERN) for method in LISTS]
        member = path.rpartition("/")[2].replace("timeline", settings.WIRE_TIMELINE_CORPUS)  # the one that is asked without any
        for tool in tools.get("tools", []):
            await self._ask_tool(path, tool, member if self._values.is_owner(member) else "")
        uris = [one["uri"] for one in resources.get("resources", [])]
        for template in (one["uriTemplate"] for one in templates.get("resourceTemplates", [])):
            uris += self._values.fill_template(template)
        for uri in dict.fromkeys(uris):
            await self._call(path, "resources/read", {"uri": uri}, LEGACY, MODERN)
        for prompt in prompts.get("prompts", []):
            await self._ask_prompt(path, prompt)

    async def _ask_tool(self, path: str, tool: Mapping[str, Any], owner: str) -> None:
        """Call a tool with what it requires, with each optional argument, and with all of them at once."""
        schema, name = tool["inputSchema"], tool["name"]
        required = set(schema.get("required", ()))
        parameters = {key: (one, key in required) for key, one in schema.get("properties", {}).items()}

        async def ask(given: Mapping[str, Any]) -> Any:
            eras = (LEGACY, MODERN) if given.keys() <= required else (LEGACY,)
            return (await self._call(path, "tools/call", {"name": name, "arguments": given}, *eras)).get("structuredContent", {})

        everything = await self._values.vary(ask, parameters, schema.get("$defs", {}), name, owner)
        if len(everything) > len(required) + 1:
            await ask(everything)

    async def _ask_prompt(self, path: str, prompt: Mapping[str, Any]) -> None:
        """Get a prompt with what it requires and with all arguments, and what completes each of them."""
        arguments = {
            one["name"]: ANY if one["name"] == "topic" else self._values.find(one["name"])[0] for one in prompt["arguments"]
        }
        required = {one["name"]: arguments[one["name"]] for one in prompt["arguments"] if one.get("required")}
        for given in [required, arguments][: 1 + (required != arguments)]:
            await self._call(path, "prompts/get", {"name": prompt["name"], "arguments": given}, LEGACY, MODERN)
        for name, value in arguments.items():
            about = {"ref": {"type": "ref/prompt", "name": prompt["name"]}, "argument": {"name": name, "value": value[:2]}}
            await self._call(path, "completion/complete", about)

    async def _call(self, path: str, method: str, params: Mapping[str, Any], *eras: str) -> dict[str, Any]:
        """Ask in each era; without any, in the older one. Return the first result, which is empty for an error."""
        results: list[dict[str, Any]] = []
        for era in eras or (LEGACY,):
            headers = {**JSON, "accept": "application/json, text/event-stream", "mcp-protocol-version": era}
            if era == MODERN:
                headers["mcp-method"] = method
                if method in NAMED_BY:
                    headers["mcp-name"] = encode_header_value(params[NAMED_BY[method]])
            label = f"{path} {method} {era} {json.dumps(params, ensure_ascii=False) if params else ''}".strip()
            body = json.dumps(_message(method, params, era)).encode()
            results.append((await self._recorder.ask("mcp", "POST", path, headers, body, label)).json().get("result", {}))
        return results[0]

    def _ask_stdio(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Ask the wire's server over standard input and output."""
        command = [sys.executable, str(ROOT / "manage.py"), "runmcp"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for message in messages:
                process.stdin.write(f"{json.dumps(message)}\n")
                process.stdin.flush()
                self._recorder.keep("mcp", f"runmcp {message['method']}", process.stdout.readline().encode())

    def run_commands(self) -> None:
        """Keep the help of each command of this project, what some of them tell, and what dumps hold."""
        own = {one.name for one in apps.get_app_configs() if _is_own(Path(one.path))}
        for name, app in sorted(get_commands().items()):
            if app in own:
                for words, parser in _parsers(name, load_command_class(app, name).create_parser("manage.py", name)):
                    self._recorder.keep("commands", f"{words} --help", parser.format_help().encode())
        for command in RUN:
            told = StringIO()
            try:
                call_command(*command.split(), stdout=told, stderr=told)
            except (Exception, SystemExit) as error:
                told.write(f"{type(error).__name__}: {error}")
            self._recorder.keep("commands", command, told.getvalue().encode())
        dump = self._recorder.scratch / "dump.ndjson"
        call_command("dumpwire", str(dump), stderr=StringIO())
        self._recorder.keep("commands", "dumpwire", dump.read_bytes())
        for slug in self._values.find("corpus"):
            folder = self._recorder.scratch / slug
            call_command("timeline", "dump", slug, str(folder), stdout=StringIO())
            for file in sorted(folder.iterdir()):
                self._recorder.keep("commands", f"timeline dump {slug} {file.name}", file.read_bytes())


def _patterns() -> list[URLPattern]:
    return [one for one in get_resolver(settings.PUBLIC_URLCONF).url_patterns if isinstance(one, URLPattern)]


def _links(answer: Answer, address: str) -> Iterator[str]:
    """Yield the addresses of this site that an answer leads to. A feed stands for its three forms."""
    text = answer.body.decode(errors="replace") if answer.body[:1] in (b"<", b"\n") else ""
    found = re.findall(r'(?:href|src|content|action)="([^"]+)"|<loc>([^<]+)</loc>', text)
    moved = [value for name, value in answer.headers if name == "location"]
    base = settings.WIRE_SITE_URL
    for one in [*moved, *(html.unescape(first or second) for first, second in found)]:
        link = urljoin(f"{base}{address}", one).partition("#")[0].removeprefix(base)
        if one.startswith(("/", "?", base)) and link.startswith("/") and " " not in link:
            forms = ("rss", "atom", "json") if link.startswith("/feeds/") else ("",)
            yield from (re.sub(r"\.(rss|atom|json)(?=$|\?)", f".{form}", link) if form else link for form in forms)


def _message(method: str, params: Mapping[str, Any], era: str = LEGACY) -> dict[str, Any]:
    if era == MODERN:
        told = {"protocolVersion": era, "clientCapabilities": {}, **SOMEBODY}
        params = {**params, "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in told.items()}}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _is_own(path: Path) -> bool:
    return path.is_relative_to(ROOT) and not {".venv", "site-packages"} & set(path.parts)


def _parsers(words: str, parser: ArgumentParser) -> Iterator[tuple[str, ArgumentParser]]:
    """Yield a command's parser and those of its parts."""
    yield words, parser
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for name, part in action.choices.items():
                yield from _parsers(f"{words} {name}", part)
