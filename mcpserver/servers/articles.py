"""One MCP server per publisher for its articles, with the three tools of the specification.

Names, descriptions, arguments, texts and errors follow the specification; structured content and more arguments are additions.
"""

import datetime as dt
import html
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Final

import mcp_types as types
import orjson
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import AfterValidator, Field

from config.errors import InvalidArgument, NotFound, PaymentRequired, Unavailable, WireError
from mcpserver.http.threads import run_query
from mcpserver.servers.base import TEXTS, Context, Toolbox, build_server, describe_tool
from mcpserver.tooling.arguments import WHOLE, Arguments, parse_arguments
from mcpserver.tooling.batched_counter import Tally
from mcpserver.tooling.tools import ADDRESSES_THE_MODEL, MINUTE_MS, PAYMENT, PAYMENT_RESPONSE, ToolAnswer, render_error
from mcpserver.tooling.usage import CountedCall
from wire.corpora.articles import queries, usage_counts
from wire.corpora.articles.directory import LISTED, list_members
from wire.corpora.articles.models import Publisher
from wire.corpora.articles.rendering import Format
from wire.corpora.articles.schemas import ArticleOut, HitsOut, RecentsOut
from wire.corpora.articles.url_keys import build_url_key
from wire.schemas.params import MAX_QUERY
from wire.text.untrusted_text import fold_line

MAX_URL: Final = 2_048
MAX_CURSOR: Final = 8_000  # characters; it holds an address and the question's keywords
UNKNOWN: Final = LISTED
INSTRUCTIONS: Final[str] = TEXTS["articles"]["instructions"]


def _limit_length(length: int) -> AfterValidator:
    """Return a bound that the schema does not show, because the specification has none."""

    def check(text: str) -> str:
        if len(text) > length:
            raise ValueError(f"at most {length:,} characters")
        return text

    return AfterValidator(check)


# The specification calls a limit a number; the bounds are the ones that its description names.
_NUMBER: Final[dict[str, Any]] = {"type": "number"}
Cursor = Annotated[str | None, Field(max_length=MAX_CURSOR, description="The previous next_cursor.")]
MaxChars = Annotated[
    Annotated[int, Field(ge=1, le=queries.WHOLE), WHOLE] | None,
    Field(description="Max characters of text; default: all. Continue at next_offset."),
]
Offset = Annotated[int, Field(ge=0, le=queries.WHOLE, description="Characters of the text to skip."), WHOLE]


class SearchContent(Arguments):
    query: Annotated[str, Field(description="Search query keywords"), _limit_length(MAX_QUERY)]
    limit: Annotated[int, Field(ge=1, le=20, description="Max results (default 5, max 20)", json_schema_extra=_NUMBER), WHOLE] = 5
    cursor: Cursor = None


class GetArticle(Arguments):
    url: Annotated[str, Field(description="The article URL to retrieve"), _limit_length(MAX_URL)]
    format: Annotated[Format, Field(description="Text format.")] = "markdown"
    max_chars: MaxChars = None
    offset: Offset = 0


class ListRecent(Arguments):
    limit: Annotated[
        int, Field(ge=1, le=50, description="Number of articles (default 10, max 50)", json_schema_extra=_NUMBER), WHOLE
    ] = 10
    cursor: Cursor = None


def search_content(slug: str, args: SearchContent) -> ToolAnswer:
    return _build_list_answer(queries.search_content(slug, args.query, args.limit, args.cursor))


def get_article(slug: str, args: GetArticle, payment: object = None) -> ToolAnswer:
    """Return an article; a paid one is requested, paid for and delivered as x402's MCP transport prescribes."""
    try:
        found, settled = queries.buy_article(slug, args.url, args.format, args.max_chars or queries.WHOLE, args.offset, payment)
    except PaymentRequired as error:
        return ToolAnswer(error.terms, is_error=True)
    structured = found.model_dump(mode="json")
    meta = {PAYMENT_RESPONSE: settled.as_dict()} if settled else None
    return ToolAnswer(structured, render_article(found, structured["publishedAt"], args.offset), meta)


def list_recent(slug: str, args: ListRecent) -> ToolAnswer:
    return _build_list_answer(queries.list_recent(slug, args.limit, args.cursor))


def _build_list_answer(page: HitsOut | RecentsOut) -> ToolAnswer:
    # The text is the bare list, with the specification's own fields only.
    structured = page.model_dump(mode="json")
    bare = [{name: value for name, value in one.items() if name != "untrusted_instructions"} for one in structured["articles"]]
    return ToolAnswer(structured, orjson.dumps(bare).decode())


_FORMS: Final[Mapping[str, tuple[Callable[[str], str], str, str, str, str]]] = {
    "markdown": (lambda text: fold_line(text).replace("<", "&lt;"), "# {}", "**{}:** {}", "---", "{}"),  # no title means HTML
    "text": (fold_line, "{}", "{}: {}", "---", "{}"),
    "html": (lambda text: html.escape(fold_line(text)), "<h1>{}</h1>", "<p>{}: {}</p>", "<hr>", "<p>{}</p>"),
}
"""By format: the escape function, then templates for the title, a head line, the rule below the head, and a footer line."""
# Beginnings of lines that only the server writes.
_OURS: Final = r"(?=(?:cite as|author|published|source|note from the wire)[ \t*_]*(?:</\w+>)?:|\[(?:characters \d|an excerpt:))"
_POSING: Final = re.compile(rf"(?m)^(?=[ \t*_#]*{_OURS})", re.I)
_POSING_IN_HTML: Final = re.compile(rf"(?m)(^|>)(?=\s*{_OURS})", re.I)


def render_article(found: ArticleOut, published: str | None, offset: int) -> str:
    """Return the article with its head, as the specification shows it, and its citation. Unknown values get no line."""
    fit, title, field, rule, line = _FORMS[found.format]
    values = (("Author", found.author), ("Published", published), ("Source", found.url))
    head = "\n".join(field.format(name, fit(value)) for name, value in values if value)
    # The publisher's text is Markdown by contract and stays so, but for lines that begin like one of the server's.
    text = "\n".join(found.text.splitlines())
    text = _POSING_IN_HTML.sub(r"\1&gt; ", text) if found.format == "html" else _POSING.sub("> ", text)
    below = [f"Cite as: {found.citation}"]
    if found.is_excerpt:
        below.insert(0, "[An excerpt: the publisher gives agents no more. The whole article is at its address.]")
    if (end := found.next_offset) is not None:
        below.insert(0, f"[Characters {offset} to {end} of {found.total_chars}: continue at offset {end}.]")
    parts = [title.format(fit(found.title)), head, rule, text, *(line.format(fit(one)) for one in below)]
    return "\n\n".join([line.format(ADDRESSES_THE_MODEL), *parts] if found.untrusted_instructions else parts)


_BOX: Final = Toolbox(
    describe_tool("articles", "search-content", SearchContent, HitsOut, search_content),
    describe_tool("articles", "get-article", GetArticle, ArticleOut, get_article),
    describe_tool("articles", "list-recent", ListRecent, RecentsOut, list_recent),
)
TOOLS: Final = _BOX.tools


async def call_tool(slug: str, _context: Context, params: types.CallToolRequestParams) -> Any:
    """Call a tool. As specified, every error is a JSON-RPC error: a wrong argument, or a failure here or upstream."""
    tool = _BOX.find(params.name)
    given = params.arguments or {}
    for name in (name for name, field in tool.arguments.model_fields.items() if field.is_required()):
        value = given.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            raise MCPError(types.INVALID_PARAMS, f"{name} is required")
    try:
        if tool.run is get_article:
            paying = params.meta.get(PAYMENT) if params.meta else None
            answer = await run_query(get_article, slug, parse_arguments(GetArticle, given), paying, goes_outside=True)
        else:
            answer = await run_query(tool.run, slug, parse_arguments(tool.arguments, given))
    except (InvalidArgument, NotFound) as error:
        raise MCPError(types.INVALID_PARAMS, render_error(error), error.as_dict()) from error
    except WireError as error:
        later = {"retry_after": error.retry_after} if isinstance(error, Unavailable) else {}
        raise MCPError(types.INTERNAL_ERROR, render_error(error), error.as_dict() | later) from error
    return answer.as_result()


usage_name = _BOX.usage_name
members = list_members


def build(member: Publisher) -> Server[Any]:
    return build_server(
        f"chatbotnews-articles-{member.slug}",
        _BOX,
        partial(call_tool, member.slug),
        MINUTE_MS,
        title=member.name,
        description=f"Articles of {member.name}, on its own terms. {member.terms}",
        instructions=INSTRUCTIONS.format(name=member.name, homepage=member.homepage, terms=member.terms),
        website_url=member.homepage,
    )


calls: Final[Tally[usage_counts.CallKey]] = Tally(usage_counts.add_to_stored)


class ArticleUsageHook:
    def __init__(self, member: Publisher) -> None:
        self._slug = member.slug

    def get_subject(self, what: CountedCall, params: Mapping[str, Any]) -> str:
        return build_url_key(params["arguments"]["url"]) if what.name == "get-article" else ""

    def count_call(self, what: CountedCall) -> None:
        calls[usage_counts.CallKey(dt.datetime.now(dt.UTC).date(), self._slug, what.name, str(what.about))] += 1


usage_hook = ArticleUsageHook
