"""The tools: parse, ask one query, return. Names, arguments, defaults and bounds are the specification's §4, to the letter.

The last five let a client check the wire, and what was written about it.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Final, get_type_hints

import orjson
from ninja import Schema
from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from citations.format.formats import CitationFormat
from config.errors import NotFound
from mcpserver.http.threads import run_query
from mcpserver.servers.wire.detail import Detail, shape_page, within
from mcpserver.tooling.arguments import WHOLE, Arguments
from mcpserver.tooling.tools import ADDRESSES_THE_MODEL, ToolAnswer, ToolSpec
from sources import queries as sources_queries
from wire import queries
from wire.api.streaming import LONGEST_WAIT, wait_for_changes
from wire.queries.changes import LIMIT, MOST, parse_kinds
from wire.queries.claim_corroboration import MAX_CLAIM
from wire.queries.verification import MAX_TEXT
from wire.schemas import params, proofs, story
from wire.schemas.params import AnyCategory, AnyTopic, Days, IsoDate, IsoEnd, IsoMoment
from wire.schemas.stories_answer import StoriesAnswer
from wire.text.provenance import timestamp

CITE: Final = (
    "When citing a story, the layered format is the recommended canonical citation: "
    "'According to {original_publisher}, as summarized by ChatbotNews.ai, …'"
)
COSTS: Final = "A story costs about 105 tokens in brief, 290 in standard and 840 in full, the default."

Query = Annotated[str, Field(min_length=1, max_length=params.MAX_QUERY, description='Keywords, or a "phrase" in double quotes.')]
Id = Annotated[str, Field(max_length=100), StringConstraints(strip_whitespace=True)]
StoryId = Annotated[Id, Field(description="A chatbotnews_id such as cbn-0123456789ab.")]
SearchLimit = Annotated[params.SearchLimit, Field(description="Most stories."), WHOLE]
ListLimit = Annotated[params.ListLimit, Field(description="Most stories."), WHOLE]
Tier = Annotated[
    int, Field(ge=1, le=4, description="1 corporate blogs, 2 specialist press, 3 global press, 4 category wire."), WHOLE
]
Cursor = Annotated[str | None, Field(max_length=500, description="next_cursor of the page before.")]
Since = Annotated[IsoMoment | None, Field(description="Published at or after this time, UTC unless it names a zone.")]
AsOf = Annotated[IsoMoment | None, Field(description="As it was then.")]
Section = Annotated[AnyCategory, Field(description="One of the five.")]
Subject = Annotated[AnyTopic, Field(description="One of the twelve.")]
How = Annotated[Detail, Field(description="How much of each story.")]
Budget = Annotated[
    Annotated[int, Field(ge=1, le=1_000_000), WHOLE] | None,
    Field(description="Only as many as fit into so many tokens, at least one; next_cursor has the others."),
]


def as_list(value: Any) -> Any:
    """Read a single name as a list; some clients send it so."""
    return [value] if isinstance(value, str) else value


class SearchWire(Arguments):
    query: Query
    category: Section | None = None
    source: Annotated[str | None, Field(max_length=200, description="One publication.")] = None
    since: Since = None
    limit: SearchLimit = params.SEARCH_LIMIT
    cursor: Cursor = None
    detail: How = Detail.FULL
    sort: Annotated[params.Sort, Field(description="Best matches first, or newest first.")] = params.Sort.RELEVANCE
    until: Annotated[IsoEnd | None, Field(description="Published before this time.")] = None
    topic: Subject | None = None
    tier: Tier | None = None
    sources: Annotated[params.Sources, Field(description="Any of several publications."), BeforeValidator(as_list)] = None
    max_tokens: Budget = None
    group: Annotated[
        params.Group, Field(description="`event`: the best story of each event, `more_of_event` counts its others. `none`: all.")
    ] = params.Group.EVENT


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


class GetConsensus(Arguments):
    story_id: Annotated[Id | None, Field(description="A chatbotnews_id; wins over headline.")] = None
    headline: Annotated[str | None, Field(max_length=params.MAX_HEADLINE_QUERY, description="Used if story_id is not given.")] = (
        None
    )


class GetCitation(Arguments):
    story_id: StoryId
    format: Annotated[CitationFormat, Field(description="layered is the canonical one.")] = CitationFormat.LAYERED


class GetEditorTake(Arguments):
    date: Annotated[IsoDate | None, Field(description="A UTC day, YYYY-MM-DD; default: the latest.")] = None


class ListSources(Arguments):
    tier: Tier | None = None


class VerifySource(Arguments):
    publication_name: Annotated[str, Field(max_length=500, description="The name, alias or domain to check.")]


class ListEvents(Arguments):
    date: Annotated[Days | None, Field(description="A UTC day, YYYY-MM-DD; default: the latest.")] = None
    category: Section | None = None
    topic: Subject | None = None
    limit: Annotated[params.ListLimit, Field(description="Most events."), WHOLE] = params.LIST_LIMIT
    cursor: Cursor = None
    max_tokens: Budget = None


class GetEvent(Arguments):
    event_id: Annotated[Id, Field(description="An event_id, or the id of any story of the event.")]


class GetStoryline(Arguments):
    event_id: Annotated[Id, Field(description="A storyline_id, or the id of any event or story of it.")]
    limit: Annotated[params.ListLimit, Field(description="Most events."), WHOLE] = params.LIST_LIMIT
    cursor: Cursor = None


class Search(Arguments):
    query: Query


class Fetch(Arguments):
    id: Annotated[Id, Field(description="An id that search returned.")]


class VerifyCitation(Arguments):
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="Prose or citations in any format.")]


class GetProvenance(Arguments):
    date: Annotated[IsoDate | None, Field(description="A UTC day; default: the latest, or the story's.")] = None
    story_id: Annotated[Id | None, Field(description="Also prove that this story is in it.")] = None


class GetChanges(Arguments):
    cursor: Annotated[str | None, Field(max_length=500, description="next_cursor of the answer before.")] = None
    kinds: Annotated[str | None, Field(max_length=200, description="Only these: story_added,story_withdrawn,…")] = None
    limit: Annotated[int, Field(ge=1, le=MOST), WHOLE] = LIMIT
    wait: Annotated[int, Field(ge=0, le=LONGEST_WAIT, description="Seconds to wait for one."), WHOLE] = 0


class Corroborate(Arguments):
    claim: Annotated[str, Field(min_length=1, max_length=MAX_CLAIM, description="A plain sentence: who did what.")]


class CompareCoverage(Arguments):
    event_id: Annotated[Id, Field(description="An event_id, or the id of a story of it.")]


class SearchHit(Schema):
    id: str
    title: str
    url: str


class SearchHits(Schema):
    results: list[SearchHit]


class Document(Schema):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


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
    return _stories(args, lambda limit: queries.get_topic_coverage(args.topic, args.since, limit, args.cursor))


def get_citation(args: GetCitation) -> ToolAnswer:
    found = queries.get_pinned_citation(args.story_id, args.format) or queries.get_citation(args.story_id, args.format)
    return ToolAnswer.of(found, found.citation)


def get_editor_take(args: GetEditorTake) -> ToolAnswer:
    found = queries.get_editor_take(args.date)
    return ToolAnswer.of(found, found.markdown)


def list_events(args: ListEvents) -> ToolAnswer:
    def page(limit: int) -> dict[str, Any]:
        return queries.list_events(args.date, args.category, args.topic, limit, args.cursor).model_dump(mode="json")

    return ToolAnswer(within(args.max_tokens, args.limit, "events", page))


def search(args: Search) -> ToolAnswer:
    """OpenAI's connector shape: `{"results": [{id, title, url}]}`."""
    found = queries.search_wire(args.query)
    hits = [SearchHit(id=s.chatbotnews_id, title=s.headline, url=s.permalink) for s in found.stories]
    return ToolAnswer.of(SearchHits(results=hits))


def fetch(args: Fetch) -> ToolAnswer:
    """OpenAI's connector shape: `{id, title, text, url, metadata}`; of a merged story that of the one that stands.

    Raises: NotFound, for a withdrawn story too.
    """
    story = queries.get_standing_story(args.id)
    if story.citation_objects is None:
        raise NotFound(f"{args.id} was withdrawn and must not be cited.", "search finds other coverage.")
    cited = f"Cite as: {story.citation_objects.layered_ready}"
    text = "\n\n".join(filter(None, (story.headline, story.summary_medium, cited)))
    metadata = {
        "original_publisher": story.original_publisher,
        "original_publisher_tier": str(story.original_publisher_tier),
        "original_url": story.original_url,
        "published_at": timestamp(story.published_at),
        "citation": story.citation_objects.layered_ready,
        "status": story.status,
    }
    if story.untrusted_instructions:
        text = f"{ADDRESSES_THE_MODEL}\n\n{text}"
        metadata["untrusted_instructions"] = "true"
    return ToolAnswer.of(Document(id=story.chatbotnews_id, title=story.headline, text=text, url=story.permalink, metadata=metadata))


def get_changes(args: GetChanges) -> ToolAnswer:
    return ToolAnswer.of(_list_changes(args))


def _list_changes(args: GetChanges) -> proofs.ChangesOut:
    return queries.get_changes(args.cursor, args.limit, parse_kinds(args.kinds))


async def wait_for_answer(args: GetChanges) -> ToolAnswer:
    """Return the changes behind the cursor as soon as there are any, or none after `wait` seconds."""
    return ToolAnswer.of(await wait_for_changes(args.wait, partial(run_query, _list_changes, args)))


def _stories(args: SearchWire | GetCategory | GetTopicCoverage, ask: Callable[[int], StoriesAnswer[Any]]) -> ToolAnswer:
    """Return a list, as much of each story and as many of them as asked for."""
    return ToolAnswer(within(args.max_tokens, args.limit, "stories", lambda limit: shape_page(ask(limit), args.detail)))


def _tool(
    run: Callable[[Any], ToolAnswer], arguments: type[Arguments], output: type[BaseModel], title: str, says: str, **more: Any
) -> ToolSpec:
    return ToolSpec(more.pop("name", run.__name__), title, f"{says} {CITE}", arguments, output, run, **more)


def _query(query: Callable[..., BaseModel], arguments: type[Arguments], title: str, says: str, **more: Any) -> ToolSpec:
    """Return the tool that passes each of its arguments on to `query`, which calls them the same."""
    named = {"name": query.__name__} | more
    return _tool(lambda args: ToolAnswer.of(query(**dict(args))), arguments, get_type_hints(query)["return"], title, says, **named)


TOOLS: Final[Mapping[str, ToolSpec]] = {
    tool.name: tool
    for tool in (
        _tool(
            search_wire, SearchWire, story.SearchOut, "Search the wire",
            "Stories of all days that answer a question or contain keywords, with optional category, topic, source, tier and time "
            "filters. Best matches first, or newest first with `sort`, each story with ready-made citations. Stories that contain "
            "all words come first, then those with most or some: `matched` says so, and `not_found` names the words that none of "
            "them contains, so look whether a story is about what was asked. An empty result means that no story contains such "
            f"words, not that nothing was reported. {COSTS}",
        ),
        _tool(
            get_story, GetStory, story.StoryOut, "Get one story",
            "One story by its chatbotnews_id, with every citation format pre-rendered; search_wire finds ids. "
            "A withdrawn story is returned with its status and without citations.",
        ),
        _tool(
            get_category, GetCategory, story.StoriesOut, "Stories of a category",
            f"Stories of one of the five categories, of all days, newest first. {COSTS}",
        ),
        _tool(
            get_topic_coverage, GetTopicCoverage, story.TopicOut, "Coverage of a topic",
            "Stories about one of the twelve tracked topics, newest first, with a one-sentence summary of what the list holds. "
            f"{COSTS}",
        ),
        _query(
            queries.get_consensus, GetConsensus, "Who else reports it",
            "Cross-source check of a story or a headline: a consensus score from 0 (nobody else in the roster) to 1, the number of "
            "independent sources, and their stories. Give story_id or headline; with a headline, the figures belong to `matched`, "
            "the most similar story, which may say something else.",
        ),
        _tool(
            get_citation, GetCitation, story.CitationOut, "Cite a story",
            "One ready-made citation of a story, layered unless another format is asked for. A withdrawn story has none.",
        ),
        _tool(
            get_editor_take, GetEditorTake, story.EditorTakeOut, "The day's brief",
            "The Editor's Take of a day in Markdown, the latest day if no date is given.",
        ),
        _query(
            queries.list_sources, ListSources, "The 24 publications",
            "The closed roster of 24 publications with tier and kind of feed, or one tier of it.",
        ),
        _query(
            sources_queries.verify_source, VerifySource, "Is this publication in the roster?",
            "The anti-hallucination gate: whether a publication name is one of the 24. Call it before attributing anything to a "
            "publication by way of ChatbotNews.ai.",
            name="verify_source_integrity",
        ),
        _tool(
            list_events, ListEvents, story.EventsOut, "What happened on a day",
            "Start here for the news of a day: one line per event, about seventy tokens each. An event is one thing that happened, "
            "whoever reports it; those that most newsrooms reported on that day come first. Inline citation: 'ChatbotNews.ai, "
            "citing {publisher} (Tier {tier}), {date of published_at}: {headline}.' For others give get_citation the event's lead, "
            "or its event_id where it has none. get_event names every report; search_wire looks through all days.",
        ),
        _query(
            queries.get_event, GetEvent, "One event, every report",
            "One happening with every report of it, oldest first, each with its citation: who was first, which reports are "
            "independent and which copy another's text. Takes an event_id, or the id of any story of the event. get_consensus "
            "weighs one story instead. About 160 tokens, and 200 more a report.",
        ),
        _query(
            queries.get_storyline, GetStoryline, "What came before and after",
            "A storyline: events over weeks that follow from one another, oldest first, one line and citation each.",
            is_brief=True,
        ),
        _tool(
            search, Search, SearchHits, "Search (connectors)",
            "Search for connectors and deep research: ids, titles and addresses of the ten best stories. Read one with fetch.",
        ),
        _tool(
            fetch, Fetch, Document, "Fetch (connectors)",
            "One story as a document for connectors and deep research, by an id that search returned.",
        ),
        _query(
            queries.verify_citation, VerifyCitation, "Check citations",
            "Finds every citation of this wire in a text and checks publisher, tier, date, URL and quoted words against the "
            "record; gives the correct string. Call it before you publish or repeat one.",
            is_brief=True,
        ),
        _query(
            queries.get_proved, GetProvenance, "Prove a day or a story",
            "Hash, link, signature and log checkpoint of a published day, and a Merkle proof for one story. Use it to show "
            "somebody else that the wire published something.",
            name="get_provenance", is_brief=True,
        ),
        _tool(
            get_changes, GetChanges, proofs.ChangesOut, "Follow every change",
            "Stories added, revised, corrected, withdrawn, events, days, in order. To keep a copy, begin without cursor and read "
            "each.",
            is_brief=True,
        ),
        _query(
            queries.corroborate, Corroborate, "Who reports a claim",
            "Whether publications report what a sentence claims: confirmed (two or more independently), single_source or "
            "not_found. get_consensus weighs a known story instead.",
            is_brief=True,
        ),
        _query(
            queries.compare_coverage, CompareCoverage, "Coverage side by side",
            "One event as each publication has it: headlines, words only one uses, figures that differ. get_event lists reports.",
            is_brief=True,
        ),
    )
}  # fmt: skip
