"""Timeline corpora as MCP servers: eleven tools. At /mcp/timeline any corpus may be named, below it each has a server of its own.

Names, arguments and answers are the specification's; paging, filters on every list, structured content and
`timeline_check_wording` are additions. Every error is a tool result with `isError`.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Final, get_type_hints

import mcp_types as types
from django.conf import settings
from mcp.server.lowlevel import Server
from pydantic import BaseModel, Field

from config.errors import NotFound, WireError
from mcpserver.cards.page_files import Card
from mcpserver.http.threads import run_query
from mcpserver.servers.base import TEXTS, Context, Toolbox, build_server, describe_tool
from mcpserver.tooling.arguments import LIST, NUMBER, Arguments, parse_arguments
from mcpserver.tooling.tools import MINUTE_MS, ToolAnswer, ToolSpec
from wire.corpora.timeline import queries
from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.row_schemas import Frame, Grade, Stance
from wire.schemas.params import MAX_QUERY

STREAMS: Final = False  # its lists never change
UNKNOWN: Final = queries.LISTED
INSTRUCTIONS: Final[str] = TEXTS["timeline"]["instructions"]

Word = Annotated[str | None, Field(max_length=60)]
OneId = Annotated[str | None, Field(max_length=120)]
Words = Annotated[
    str | None, Field(max_length=MAX_QUERY, description='Words in any form, names, a "phrase", a period such as after 2012.')
]
Ids = Annotated[list[Annotated[str, Field(max_length=120)]] | None, Field(max_length=20), LIST]
Motifs = Annotated[Ids, Field(description="Motif ids; a report must have all. timeline_motif_map lists them.")]
Id = Annotated[str, Field(min_length=1, max_length=120)]
Date = Annotated[str | None, Field(max_length=40)]
Cursor = Annotated[str | None, Field(max_length=300, description="The previous next_cursor, with the same filters.")]
AsOf = Annotated[
    Annotated[int, Field(ge=1), NUMBER] | None,
    Field(description="A release number; the rows of a release never change. Default: the newest."),
]
Limit = Annotated[int, Field(ge=1, le=100, description="Max rows per page."), NUMBER]


class CorpusArguments(Arguments):
    as_of: AsOf = None
    corpus: Annotated[
        str | None, Field(max_length=40, description="Another corpus by its slug; timeline_agent_manifest lists them.")
    ] = None


class Filtered(CorpusArguments):
    query: Words = None
    motifs: Motifs = None
    phenomenon_types: Annotated[Ids, Field(description="Any of these, such as mandela-effect or launches.")] = None
    source_types: Annotated[Ids, Field(description="Any of these, such as forum-thread or maker-blog.")] = None
    stance: Annotated[Stance | None, Field(description="Which side a report takes.")] = None
    evidence_grade: Annotated[Grade | None, Field(description="What kind of evidence it is.")] = None
    date_start: Annotated[Date, Field(description="ISO date, YYYY-MM-DD; this day and later ones.")] = None
    date_end: Annotated[Date, Field(description="ISO date, YYYY-MM-DD; this day and earlier ones.")] = None
    limit: Limit = 20
    cursor: Cursor = None


class SearchReports(Filtered):
    limit: Annotated[int, Field(ge=1, le=50, description="Max reports per page."), NUMBER] = 10


class GetReport(CorpusArguments):
    id: Annotated[Id, Field(description="A report's id, as timeline_search_reports gives it.")]


class MandelaCatalog(Filtered):
    category: Annotated[
        Word, Field(description="brand, film, music, geography, scripture, pop-culture, personal-memory; corpora add others.")
    ] = None
    status: Annotated[Word, Field(description="classic, new-wave, unverified, needs-review; corpora add others.")] = None
    motif: Annotated[OneId, Field(description="A motif id.")] = None


class MotifMap(Filtered):
    family: Annotated[Word, Field(description="Only motifs of this family; an error lists the families.")] = None
    motif: Annotated[OneId, Field(description="This motif and those that are linked with it.")] = None


class StoryThreads(Filtered):
    id: Annotated[OneId, Field(description="One thread by its id.")] = None
    lens: Annotated[Frame | None, Field(description="Which of a thread's three frames to give as active_frame.")] = None


class Events(Filtered):
    layer: Annotated[
        Word,
        Field(description="official-science, community-wave, symbolic-anchor, site-update, submission-batch; corpora add others."),
    ] = None


class CompareSources(CorpusArguments):
    topic: Annotated[str, Field(min_length=1, max_length=MAX_QUERY, description="What to compare, in a few words.")]
    frames: Annotated[list[Frame] | None, Field(max_length=3, description="Which frames; default: all three."), LIST] = None
    limit: Annotated[int, Field(ge=1, le=100, description="Max claims per page."), NUMBER] = 20
    cursor: Cursor = None


class DeepenStory(CorpusArguments):
    report_id: Annotated[OneId, Field(description="A report's id.")] = None
    motif: Annotated[OneId, Field(description="Or a motif's.")] = None
    thread_id: Annotated[OneId, Field(description="Or a thread's. Give exactly one of the three ids.")] = None


class CheckWording(CorpusArguments):
    draft: Annotated[str, Field(min_length=1, max_length=queries.MAX_DRAFT, description="The text that is to be published.")]


def _build_tool(query: Callable[..., BaseModel], arguments: type[Arguments], **renamed: str) -> ToolSpec:
    """Return the tool that asks `query`, whose name it has; `renamed` are arguments that the query calls otherwise."""

    def run(slug: str, args: CorpusArguments) -> ToolAnswer:
        given = {renamed.get(name, name): value for name, value in dict(args).items() if name != "corpus"}
        found = query(args.corpus or slug, **given)
        return ToolAnswer(found.model_dump(mode="json", exclude_unset=True))

    answer = get_type_hints(query)["return"]
    return describe_tool("timeline", f"timeline_{query.__name__}", arguments, answer, run, is_open_world=False)


def _allow_error_output(listed: types.Tool) -> types.Tool:
    """Return the tool with an output schema that holds for errors too, which clients check like any answer."""
    schema = dict(listed.output_schema or {})
    required = schema.pop("required", [])
    schema["properties"] = {**schema["properties"], **{key: {"type": "string"} for key in ("error", "message", "hint")}}
    schema["properties"]["hint"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema["anyOf"] = [{"required": required}, {"required": ["error", "message", "hint"]}]
    return listed.model_copy(update={"output_schema": schema})


_BOX: Final = Toolbox(
    _build_tool(queries.search_reports, SearchReports),
    _build_tool(queries.get_report, GetReport, id="report_id"),
    _build_tool(queries.mandela_catalog, MandelaCatalog),
    _build_tool(queries.motif_map, MotifMap),
    _build_tool(queries.story_threads, StoryThreads, id="thread_id"),
    _build_tool(queries.events, Events),
    _build_tool(queries.compare_sources, CompareSources),
    _build_tool(queries.deepen_story, DeepenStory),
    _build_tool(queries.stats, CorpusArguments),
    _build_tool(queries.agent_manifest, CorpusArguments),
    _build_tool(queries.check_wording, CheckWording),
    adapt=_allow_error_output,
)
TOOLS: Final = _BOX.tools


def list_lanes() -> dict[str, Any]:
    corpora = {slug: corpus for slug, corpus in queries.list_members().items() if not isinstance(corpus, NotFound)}
    return {slug: {"lanes": corpus.lanes, "layers": corpus.vocabularies.lanes()} for slug, corpus in corpora.items()}


CARDS: Final = {
    "timeline_events": Card(
        "timeline", "Timeline", "Dated events in two lanes: what is on record, and what is said of it.", list_lanes
    )
}


async def call_tool(slug: str, _context: Context, params: types.CallToolRequestParams) -> Any:
    tool = _BOX.find(params.name)
    try:
        answer = await run_query(lambda: tool.run(slug, parse_arguments(tool.arguments, params.arguments)))
    except WireError as error:
        answer = ToolAnswer(error.as_dict(), is_error=True)
    return answer.as_result()


usage_name = _BOX.usage_name
members = queries.list_members


def build(member: CorpusFile | None = None) -> Server[Any]:
    slug = member.slug if member else settings.WIRE_TIMELINE_CORPUS
    name = member.name if member else "Timeline corpora"
    about = member.about if member else f"Tools ask the corpus {slug} unless `corpus` names another."
    return build_server(
        f"chatbotnews-timeline-{member.slug}" if member else "chatbotnews-timeline",
        _BOX,
        partial(call_tool, slug),
        MINUTE_MS,
        title=name,
        description=f"{name}: dated reports with evidence grades, claims, motifs, threads and events.",
        instructions=INSTRUCTIONS.format(name=name, about=about),
        website_url=f"{settings.WIRE_SITE_URL}/timeline/{slug}/",
    )
