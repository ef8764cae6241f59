"""Check what is submitted to directories of MCP servers against their published rules (docs/registering.md)."""

import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import mcp_types as types
from django.conf import settings
from django.core.management.base import CommandError
from django.urls import is_valid_path
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from config.command_base import WireCommand
from config.errors import WireError
from config.plugins import list_plugins
from mcpserver.servers import SERVERS
from mcpserver.servers.wire.tools import TOOLS
from mcpserver.tooling.arguments import parse_arguments
from mcpserver.tooling.json_schema import compact_schema
from wire.corpora.common.server_card import read_wire_card

REGISTRY: Final = "server.json"
SUBMISSIONS: Final = ("docs/chatgpt-submission.json", "docs/claude-submission.json")
LEAST_CASES: Final = {"positive_cases": 5, "negative_cases": 3}  # of the strictest directory
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HINTS: Final = {"read_only_hint": True, "destructive_hint": False}
_RANGE: Final = re.compile(r"[\^~<>*]|\.x\b|^latest$")

Address = Annotated[str, Field(pattern=r"^https?://[^\s{}]+$")]


def _refuse_version_range(version: str) -> str:
    if _RANGE.search(version):
        raise ValueError("must be one version, not a range")
    return version


class Remote(BaseModel):
    type: Literal["streamable-http", "sse"]
    url: Address


class Card(BaseModel):
    """The fields of server.json (schema 2025-12-11) that a server without packages has; server cards have the same."""

    schema_url: Address = Field(alias="$schema")
    name: str = Field(min_length=3, max_length=200, pattern=r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")
    title: str = Field(min_length=1, max_length=100)
    description: str = Field(min_length=1, max_length=100)
    version: Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_refuse_version_range)]
    website: Address = Field(alias="websiteUrl")
    remotes: list[Remote] = Field(min_length=1)


class Command(WireCommand):
    help = (
        "Check server.json, every server's card and tools, and the submissions to directories, whose test prompts are run on this "
        "wire. Exit status 1 if a directory would refuse something."
    )

    def handle(self, **_options: Any) -> None:
        problems = []
        for check in (check_cards, check_tools, check_submissions):
            found = list(check(Path(settings.BASE_DIR)))
            problems += found
            self.stdout.write(f"{check.__name__.removeprefix('check_')}: {len(found) or 'no'} problems")
        for problem in problems:
            self.stderr.write(problem)
        if problems:
            raise CommandError("A directory would refuse this. Fix the problems above, then check again.")


def check_cards(root: Path) -> Iterator[str]:
    wires = read_wire_card()
    registered = json.loads((root / REGISTRY).read_text(encoding="utf-8"))
    cards = [wires, *(wires | own for plugin in list_plugins() for own, _ in plugin.list_server_cards())]
    for where, card in ((REGISTRY, registered), *((f"card of {card['name']}", card) for card in cards)):
        try:
            Card.model_validate(card)
        except ValidationError as error:
            yield from (f"{where}: {'.'.join(map(str, row['loc']))}: {row['msg']}" for row in error.errors())
    if settings.SITE_IS_HTTPS and settings.WIRE_MCP_URL not in [remote["url"] for remote in registered.get("remotes", ())]:
        yield f"{REGISTRY}: no remote has the address {settings.WIRE_MCP_URL} (WIRE_MCP_URL). Put your own address and name there."


def check_tools(_root: Path) -> Iterator[str]:
    for module in dict.fromkeys(SERVERS.values()):
        for spec in import_module(module).TOOLS.values():
            problems = _check_tool(spec.to_listing(compact_schema))
            yield from (f"{module.rpartition('.')[2]}: {spec.name[:80]}: {problem}" for problem in problems)


def _check_tool(tool: types.Tool) -> Iterator[str]:
    if not _NAME.fullmatch(tool.name):
        yield "the name must have 1 to 64 letters, digits, - or _"
    if not (tool.title and tool.description):
        yield "title and description are needed"
    for hint, value in _HINTS.items():
        if getattr(tool.annotations, hint, None) is not value:
            yield f"{hint} must be {value}, because the tool only reads"


def check_submissions(root: Path) -> Iterator[str]:
    """Yield what is wrong with each submission: its pages, its number of cases, and cases with unexpected answers."""
    for file in SUBMISSIONS:
        package = json.loads((root / file).read_text(encoding="utf-8"))
        for page in ("privacy_page", "terms_page"):
            if not is_valid_path(str(package.get(page)), settings.PUBLIC_URLCONF):
                yield f"{file}: {page}: {package.get(page)!r} is not a page of the site"
        for kind, least in LEAST_CASES.items():
            if len(package.get(kind, ())) < least:
                yield f"{file}: {kind}: at least {least} are required"
        first_id = ""
        for case in (case for kind in LEAST_CASES for case in package.get(kind, ())):
            answer = call_tool_of_case(case, first_id)
            first_id = first_id or next((hit["id"] for hit in answer.get("results", ())), "")
            if wrong := [name for name, wanted in case["expect"].items() if not has_expected_value(answer, name, wanted)]:
                yield f"{file}: {case['prompt']!r} is answered differently in {', '.join(wrong)}"


def call_tool_of_case(case: Mapping[str, Any], first_id: str) -> dict[str, Any]:
    """Return the answer of a case's tool: its structured content, with the result's `text` and `is_error` as `_text`, `_error`."""
    given = {name: first_id if value == "$first_id" else value for name, value in case["arguments"].items()}
    spec = TOOLS[case["tool"]]
    try:
        answer = spec.run(parse_arguments(spec.arguments, given))
    except WireError as error:
        return {"_text": str(error.message), "_error": True}
    return {**answer.structured, "_text": answer.as_text(), "_error": False}


def has_expected_value(answer: Mapping[str, Any], name: str, wanted: object) -> bool:
    match name:
        case "results" | "stories":
            found: object = "some" if answer.get(name) else "none"
        case "keys":
            found = [key for key in answer if not key.startswith("_")]
        case "text_begins":
            return str(answer["_text"]).startswith(str(wanted))
        case "is_error":
            found = answer["_error"]
        case _:
            found = answer.get(name)
    return found == wanted
