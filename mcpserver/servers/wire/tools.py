"""The tools: parse, ask one query, return. Names, arguments, defaults and bounds are the specification's §4, to the letter.

The last five let a client check the wire, and what was written about it.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, get_type_hints

import orjson
from ninja import Schema
from pydantic import BaseModel, Field, StringConstraints

from citations.format.formats import CitationFormat
from config.http.request_guard import caller, uncount_request
from mcpserver.servers.base import TEXTS
from mcpserver.servers.wire.detail import fit
from mcpserver.tooling.arguments import LIST, WHOLE, Arguments
from mcpserver.tooling.tools import ADDRESSES_THE_MODEL, ToolAnswer, ToolSpec
from sources import queries as sources_queries
from wire import queries
from wire.api.streaming import LONGEST_WAIT
from wire.queries.changes import LIMIT, MOST, parse_kinds
from wire.queries.claim_corroboration import MAX_CLAIM
from wire.queries.verification import MAX_TEXT
from wire.schemas import client_limits, params, proofs, story
from wire.schemas.detail import Detail, shape_page
from wire.schemas.documents import DocumentOut
from wire.schemas.params import MOST_BUDGET, AnyCategory, AnyTopic, Day, Days, IsoEnd, IsoMoment
from wire.schemas.stories_answer import StoriesAnswer

CITE: Final[str] = TEXTS["wire"]["cite"]
Query = Annotated[str, Field(min_length=1, max_length=params.MAX_QUERY, description='Keywords, or a "phrase" in double quotes.')]
TRIMMED: Final = StringConstraints(strip_whitespace=True)
Id = Annotated[str, Field(max_length=100), TRIMMED]
StoryId = Annotated[Id, Field(description="A chatbotnews_id such as cbn-0123456789ab.")]
SearchLimit = Annotated[params.SearchLimit, Field(description="Max stories."), WHOLE]
ListLimit = Annotated[params.ListLimit, Field(description="Max stories."), WHOLE]
Tier = Annotated[
    int, Field(ge=1, le=4, description="1 corporate blogs, 2 specialist press, 3 global press, 4 category wire."), WHOLE
]
Cursor = Annotated[str | None, Field(max_length=500, description="The previous next_cursor.")]
Since = Annotated[IsoMoment | None, Field(description="Published since: a UTC time or day, yesterday, May 2026, …")]
Until = Annotated[IsoEnd | None, Field(description="Published before this time.")]
AsOf = Annotated[IsoMoment | None, Field(description="As it was then.")]
Section = Annotated[AnyCategory, Field(description="One of the five.")]
Subject = Annotated[AnyTopic, Field(description="One of the twelve.")]
How = Annotated[Detail, Field(description="About 105, 290 or 840 tokens a story.")]
Budget = Annotated[
    Annotated[int, Field(ge=1, le=MOST_BUDGET), WHOLE] | None,
    Field(description="Default: 10,000."),
]


class SearchWire(Arguments):
    query: Query
    category: Section | None = None
    source: Annotated[str | None, Field(max_length=200, description="One publication.")] = None
    since: Since = None
    limit: SearchLimit = params.SEARCH_LIMIT
    cursor: Cursor = None
    detail: How = Detail.FULL
    sort: Annotated[params.Sort, Field(description="Best matches first, or newest first.")] = params.Sort.RELEVANCE
    until: Until = None
    topic: Subject | None = None
    tier: Tier | None = None
    sources: Annotated[params.Sources, Field(description="Any of several publications."), LIST] = None
    max_tokens: Budget = None
    group: Annotated[params.Group, Field(description="`event`: the best story of each event. `none`: all.")] = params.Group.EVENT


class GetStory(Arguments):
    story_id: StoryId
    as_of: AsOf = None


class GetCategory(Arguments):
    category: Section
    limit: ListLimit = params.LIST_LIMIT
    cursor: Cursor = None
    detail: How = Detail.FULL
    max_tokens: Budget = None
    as_of: AsOf = None


class GetTopicCoverage(Arguments):
    topic: Subject
    since: Since = None
    limit: ListLimit = params.LIST_LIMIT
    cursor: Cursor = None
    detail: How = Detail.FULL
    max_tokens: Budget = None
    until: Until = None


class GetEntity(Arguments):
    name: Annotated[str, Field(min_length=1, max_length=100, description="A company, person or product."), TRIMMED]
    since: Since = None
    limit: ListLimit = params.LIST_LIMIT
    cursor: Cursor = None
    detail: How = Detail.FULL
    max_tokens: Budget = None
    until: Until = None


class GetConsensus(Arguments):
    story_id: Annotated[Id | None, Field(description="A chatbotnews_id; overrides headline.")] = None
    headline: Annotated[str | None, Field(max_length=params.MAX_HEADLINE_QUERY, description="Used if story_id is not given.")] = (
        None
    )


class GetCitation(Arguments):
    story_id: StoryId
    format: Annotated[CitationFormat, Field(description="layered is the canonical one.")] = CitationFormat.LAYERED


class GetEditorTake(Arguments):
    date: Annotated[Day | None, Field(description="A UTC day, YYYY-MM-DD, or yesterday; default: the latest.")] = None


class ListSources(Arguments):
    tier: Tier | None = None


class VerifySource(Arguments):
    publication_name: Annotated[str, Field(max_length=500, description="The name, alias or domain to check.")]


class ListEvents(Arguments):
    date: Annotated[Days | None, Field(description="A UTC day, YYYY-MM-DD, or yesterday, this week, …; default: the latest.")] = (
        None
    )
    category: Section | None = None
    topic: Subject | None = None
    limit: Annotated[params.ListLimit, Field(description="Max events."), WHOLE] = params.LIST_LIMIT
    cursor: Cursor = None
    max_tokens: Budget = None


class GetEvent(Arguments):
    event_id: Annotated[Id, Field(description="An event_id, or the id of any story of the event.")]


class GetStoryline(Arguments):
    event_id: Annotated[Id, Field(description="A storyline_id, or the id of any event or story of it.")]
    limit: Annotated[params.ListLimit, Field(description="Max events."), WHOLE] = params.LIST_LIMIT
    cursor: Cursor = None


class Search(Arguments):
    query: Query


class Fetch(Arguments):
    # Listed with the bound of before: only a long id of a corpus exceeds it.
    id: Annotated[
        str, Field(max_length=300, description="An id that search returned.", json_schema_extra={"maxLength": 100}), TRIMMED
    ]


class VerifyCitation(Arguments):
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="Prose or citations in any format.")]


class GetProvenance(Arguments):
    date: Annotated[Day | None, Field(description="A UTC day; default: the latest, or the story's.")] = None
    story_id: Annotated[Id | None, Field(description="Also prove that this story is in it.")] = None


class GetChanges(Arguments):
    cursor: Annotated[str | None, Field(max_length=500, description="The last next_cursor; overrides since.")] = None
    kinds: Annotated[str | None, Field(max_length=200, description="Only these: story_added,story_withdrawn,…")] = None
    limit: Annotated[int, Field(ge=1, le=MOST), WHOLE] = LIMIT
    wait: Annotated[int, Field(ge=0, le=LONGEST_WAIT, description="Max wait in seconds."), WHOLE] = 0
    since: Annotated[IsoMoment | None, Field(description="Also yesterday, last week; default: today.")] = None
    max_tokens: Budget = None


class Corroborate(Arguments):
    claim: Annotated[str, Field(min_length=1, max_length=MAX_CLAIM, description="A plain sentence: who did what.")]


class CompareCoverage(Arguments):
    event_id: Annotated[Id, Field(description="An event_id, or the id of a story of it.")]


class CheckLimits(Arguments):
    """Nothing."""


class SearchHit(Schema):
    id: str = Field(description="cbn-… is a story; event:…, factcheck:… and so on name other kinds.")
    title: str
    url: str


class SearchHits(Schema):
    results: list[SearchHit]


def search_wire(args: SearchWire) -> ToolAnswer:
    filters = ("query", "category", "topic", "source", "sources", "tier", "since", "until", "cursor", "sort", "group")
    given = {name: getattr(args, name) for name in filters}
    return _stories(args, lambda limit: queries.search_wire(**given, limit=limit))


def get_story(args: GetStory) -> ToolAnswer:
    if args.as_of is not None:
        return ToolAnswer(orjson.loads(queries.get_story_as_of(args.story_id, args.as_of)))
    return ToolAnswer(orjson.loads(queries.get_pinned_story(args.story_id) or queries.get_story_json(args.story_id)))


def get_category(args: GetCategory) -> ToolAnswer:
    if args.as_of is not None:
        moment = args.as_of
        return _stories(args, lambda limit: queries.get_category_as_of(args.category, moment, limit, args.cursor))
    return _stories(args, lambda limit: queries.get_category(args.category, limit, args.cursor))


def get_topic_coverage(args: GetTopicCoverage) -> ToolAnswer:
    return _stories(args, lambda limit: queries.get_topic_coverage(args.topic, args.since, limit, args.cursor, args.until))


def get_entity(args: GetEntity) -> ToolAnswer:
    return _stories(args, lambda limit: queries.get_entity(args.name, args.since, limit, args.cursor, args.until))


def get_citation(args: GetCitation) -> ToolAnswer:
    found = queries.get_pinned_citation(args.story_id, args.format) or queries.get_citation(args.story_id, args.format)
    return ToolAnswer.from_model(found, found.citation)


def get_editor_take(args: GetEditorTake) -> ToolAnswer:
    found = queries.get_editor_take(args.date)
    return ToolAnswer.from_model(found, found.markdown)


def list_events(args: ListEvents) -> ToolAnswer:
    def page(limit: int) -> dict[str, Any]:
        return queries.list_events(args.date, args.category, args.topic, limit, args.cursor).model_dump(mode="json")

    return ToolAnswer(fit(args.max_tokens, args.limit, "events", page))


def search(args: Search) -> ToolAnswer:
    """OpenAI's connector shape: `{"results": [{id, title, url}]}`; beside it kinds that did not answer, if there are any."""
    found = queries.search_documents(args.query)
    hits = SearchHits(results=[SearchHit(id=hit.id, title=hit.title, url=hit.url) for hit in found.results])
    missing = {name: value for name, value in found.model_dump(include={"refused", "degraded"}).items() if value}
    return ToolAnswer(hits.model_dump() | missing)


def fetch(args: Fetch) -> ToolAnswer:
    """OpenAI's connector shape: `{id, title, text, url, metadata}`. Raises: NotFound, for a withdrawn story too."""
    document = queries.fetch_document(args.id)
    if "untrusted_instructions" in document.metadata:
        document.text = f"{ADDRESSES_THE_MODEL}\n\n{document.text}"
    return ToolAnswer.from_model(document)


def check_limits(_args: CheckLimits) -> ToolAnswer:
    uncount_request(caller.get())  # this request was counted before it was read
    return ToolAnswer.from_model(queries.check_limits())


def get_changes(args: GetChanges) -> ToolAnswer:
    return ToolAnswer(fit(args.max_tokens, args.limit, "changes", lambda limit: list_changes(args, limit).model_dump(mode="json")))


def list_changes(args: GetChanges, limit: int) -> proofs.ChangesOut:
    return queries.get_changes(args.cursor, limit, parse_kinds(args.kinds), args.since)


def _stories(args: SearchWire | GetCategory | GetTopicCoverage | GetEntity, ask: Callable[[int], StoriesAnswer[Any]]) -> ToolAnswer:
    return ToolAnswer(fit(args.max_tokens, args.limit, "stories", lambda limit: shape_page(ask(limit), args.detail)))


def _build_tool(run: Callable[[Any], ToolAnswer], arguments: type[Arguments], output: type[BaseModel], **more: Any) -> ToolSpec:
    name = more.pop("name", run.__name__)
    texts = TEXTS["wire"]["tools"][name]
    return ToolSpec(name, texts["title"], f"{texts['description']} {CITE}", arguments, output, run, **more)


def _build_query_tool(query: Callable[..., BaseModel], arguments: type[Arguments], **more: Any) -> ToolSpec:
    named = {"name": query.__name__} | more
    return _build_tool(lambda args: ToolAnswer.from_model(query(**dict(args))), arguments, get_type_hints(query)["return"], **named)


TOOLS: Final[Mapping[str, ToolSpec]] = {
    tool.name: tool
    for tool in (
        _build_tool(search_wire, SearchWire, story.SearchOut),
        _build_tool(get_story, GetStory, story.StoryOut, is_terse=True),
        _build_tool(get_category, GetCategory, story.StoriesOut),
        _build_tool(get_topic_coverage, GetTopicCoverage, story.TopicOut),
        _build_query_tool(queries.get_consensus, GetConsensus, is_terse=True),
        _build_tool(get_citation, GetCitation, story.CitationOut),
        _build_tool(get_editor_take, GetEditorTake, story.EditorTakeOut),
        _build_query_tool(queries.list_sources, ListSources),
        _build_query_tool(sources_queries.verify_source, VerifySource, name="verify_source_integrity", is_terse=True),
        _build_tool(list_events, ListEvents, story.EventsOut),
        _build_query_tool(queries.get_event, GetEvent, is_terse=True),
        _build_query_tool(queries.get_storyline, GetStoryline, is_brief=True),
        _build_tool(get_entity, GetEntity, story.EntityOut, is_brief=True),
        _build_tool(search, Search, SearchHits),
        _build_tool(fetch, Fetch, DocumentOut),
        _build_query_tool(queries.verify_citation, VerifyCitation, is_brief=True),
        _build_query_tool(queries.get_proved_day, GetProvenance, name="get_provenance", is_brief=True),
        _build_tool(get_changes, GetChanges, proofs.ChangesOut, is_brief=True),
        _build_query_tool(queries.corroborate, Corroborate, is_brief=True),
        _build_query_tool(queries.compare_coverage, CompareCoverage, is_brief=True),
        _build_tool(check_limits, CheckLimits, client_limits.LimitsOut, is_brief=True),
    )
}
