"""Fact-checks as an MCP server: three tools whose inputs and Markdown are those of servers of this kind, to the letter.

Structured content, resources, the prompt and further arguments are additions.
"""

from typing import Annotated, Any, Final
from urllib.parse import unquote

import mcp_types as types
import orjson
from django.conf import settings
from mcp.server.lowlevel import Server
from pydantic import BeforeValidator, Field, StrictBool

from config.errors import NotFound, WireError
from config.http import memory_cache
from mcpserver.http.sessions import Sessions
from mcpserver.http.threads import run_query
from mcpserver.servers import base
from mcpserver.servers.base import TEXTS, Context, PromptSpec, Toolbox, build_lister, describe_tool
from mcpserver.tooling import arguments
from mcpserver.tooling.arguments import LIST, WHOLE, Arguments
from mcpserver.tooling.tools import HOUR_MS, ToolAnswer, error_result, render_error
from wire.corpora.factchecks import api_keys, queries, rendering
from wire.corpora.factchecks.languages import Code
from wire.corpora.factchecks.schemas import ClaimCategoriesOut, ClaimOut, FoundClaimsOut
from wire.schemas.params import IsoMoment
from wire.text.untrusted_text import fold_line

MAX_QUERY: Final = 2_000
CATEGORIES: Final = "factcheck://categories"
SCHEME: Final = "factcheck://"
INSTRUCTIONS: Final[str] = TEXTS["factchecks"]["instructions"]
STREAMS: Final = False  # its lists never change
sessions: Final = Sessions("factchecks", api_keys.EndedSessions())

Question = Annotated[str, Field(min_length=1, max_length=MAX_QUERY)]
Limit = Annotated[int, Field(ge=1, le=20, json_schema_extra={"type": "number"}), WHOLE]
Label = Annotated[str, Field(max_length=200)]
Labels = Annotated[list[Label] | None, Field(max_length=20), LIST]
RATING: Final = (
    "Only this rating: a fact-checker's own label, or true, mostly_true, mixed, misleading, mostly_false, false, unproven or "
    "satire for all labels with that meaning."
)


class SearchFactchecks(Arguments):
    query: Annotated[Question, Field(description="The claim or question, in the words of whoever makes it.")]
    limit: Annotated[Limit, Field(description="Number of results (1-20, default: 5).")] = 5
    categories: Annotated[
        Labels, Field(description="Only fact-checks of any of these categories, as list_categories names them.")
    ] = None
    rating_label: Annotated[Label | None, Field(description=RATING)] = None
    language: Annotated[
        Code | None,
        Field(description="The query's language, for stemming; detected if left out. It filters nothing."),
        BeforeValidator(lambda value: None if value == "auto" else value),
    ] = None
    cursor: Annotated[str | None, Field(max_length=500, description="The previous next_cursor.")] = None
    status: Annotated[str | None, Field(max_length=40, description="Only fact-checks of this status, such as published.")] = None
    published_since: Annotated[
        IsoMoment | None, Field(description="Only fact-checks published at or after this time, UTC unless it names a zone.")
    ] = None
    enable_fts: Annotated[StrictBool, Field(description="Search by words.")] = True
    enable_vec: Annotated[StrictBool, Field(description="Search by meaning.")] = True


class GetFactcheck(Arguments):
    id: Annotated[str, Field(min_length=1, max_length=200, description="A claim's UUID or short id, such as 2025/11/20-2.")]


class CheckClaim(Arguments):
    claim: Annotated[Question, Field(description="The claim to check, in words.")]


def search_factchecks(args: SearchFactchecks) -> ToolAnswer:
    halves: list[queries.Half] = [*(["words"] if args.enable_fts else []), *(["meaning"] if args.enable_vec else [])]  # type: ignore[list-item]
    found = queries.search_claims(**args.model_dump(exclude={"enable_fts", "enable_vec"}), halves=halves)
    return ToolAnswer.from_model(found, rendering.render_results(found))


def get_factcheck(args: GetFactcheck) -> ToolAnswer:
    found = queries.get_claim(args.id)
    return ToolAnswer.from_model(found, rendering.render_claim(found))


def list_categories(_args: Arguments) -> ToolAnswer:
    found = queries.list_categories()
    return ToolAnswer.from_model(found, rendering.render_categories(found))


_BOX: Final = Toolbox(
    describe_tool("factchecks", "search_factchecks", SearchFactchecks, FoundClaimsOut, search_factchecks),
    describe_tool("factchecks", "get_factcheck", GetFactcheck, ClaimOut, get_factcheck),
    describe_tool("factchecks", "list_categories", Arguments, ClaimCategoriesOut, list_categories),
)
TOOLS: Final = _BOX.tools
_RESOURCES: Final[dict[str, Any]] = TEXTS["factchecks"]["resources"]
_RESOURCE: Final = types.Resource(uri=CATEGORIES, mime_type="application/json", **_RESOURCES["categories"])
_TEMPLATE: Final = types.ResourceTemplate(uri_template="factcheck://{id}", mime_type="application/json", **_RESOURCES["factcheck"])
_PROMPT: Final[dict[str, str]] = TEXTS["factchecks"]["prompts"]["check-claim"]


async def call_tool(_context: Context, params: types.CallToolRequestParams) -> Any:
    """Call a tool; an error that the model can mend is a result, as the specification has it."""
    tool = _BOX.find(params.name)
    try:
        answer: ToolAnswer = await run_query(tool.run, arguments.parse_arguments(tool.arguments, params.arguments))
    except NotFound as error:  # to the letter; where ids come from is in the tools' descriptions
        return error_result(fold_line(error.message))
    except WireError as error:
        return error_result(render_error(error))
    return answer.as_result()


def _read_resource(uri: str) -> str:
    """Return a resource as JSON. Raises: NotFound."""
    if uri == CATEGORIES:
        return queries.list_categories().model_dump_json()
    if not uri.startswith(SCHEME):
        raise NotFound("There is no such resource.", f"Resources are {CATEGORIES} and factcheck://{{id}}.")
    return queries.get_claim(unquote(uri.removeprefix(SCHEME))).model_dump_json()


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    with base.translate_errors(context, uri):
        text = await run_query(_read_resource, uri)
    return base.resource_content(uri, "application/json", text)


def _render_prompt(args: CheckClaim) -> str:
    hits = [hit.model_dump(mode="json") for hit in queries.search_claims(args.claim).claims]
    texts = (args.claim, orjson.dumps(hits, option=orjson.OPT_INDENT_2).decode())
    claim, factchecks = (text.replace("<", "\\u003c") for text in texts)
    return _PROMPT["text"].format(claim=claim, factchecks=factchecks)


_PROMPTS: Final = {"check-claim": PromptSpec("check-claim", _PROMPT["title"], _PROMPT["description"], CheckClaim, _render_prompt)}


async def admit(token: str | None) -> None:
    async def make() -> tuple[api_keys.KeyRule, int]:
        found = await run_query(api_keys.read_key_rule, "mcp")
        return found, 200 * (1 + len(found.hashes))

    api_keys.expect_valid_key(token, await memory_cache.answers.get_or_make(("keys", "factchecks"), make))


def usage_name(method: str, given: str) -> str:
    if method == "tools/call":
        return _BOX.usage_name(method, given)
    if method == "prompts/get":
        return given if given in _PROMPTS else ""
    return CATEGORIES if given == CATEGORIES else "factcheck://{id}" if given.startswith(SCHEME) else ""


def build() -> Server[Any]:
    return base.build_server(
        "chatbotnews-factchecks",
        _BOX,
        call_tool,
        HOUR_MS,
        title="Fact-checks",
        description="Fact-checked claims, searchable by words and by meaning.",
        instructions=INSTRUCTIONS,
        website_url=f"{settings.WIRE_SITE_URL}/factchecks",
        on_list_resources=build_lister(types.ListResourcesResult, resources=[_RESOURCE]),
        on_list_resource_templates=build_lister(types.ListResourceTemplatesResult, resource_templates=[_TEMPLATE]),
        on_read_resource=read_resource,
        **base.build_prompt_handlers(_PROMPTS),
    )
