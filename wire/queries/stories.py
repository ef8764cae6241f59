"""One story, lists of stories, search, citations."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from django.db.models import Count, Max, Min

from citations.formats import CitationFormat, cite
from config.errors import NotFound, Withdrawn
from sources.models import Publication
from sources.queries import canonical_source
from wire import beside
from wire.answers import StoriesAnswer
from wire.bounds import LIST_LIMIT, SEARCH_LIMIT, Sort
from wire.models import Story, StoryTopic
from wire.models.compiled import Compiled, Row
from wire.models.search import first_place, marks
from wire.models.story import StoryQuerySet, StoryTopicQuerySet
from wire.schemas import CitationOut, SearchOut, StoriesOut, StoryOut, TopicOut, estimated_tokens
from wire.search.asking import search
from wire.search.cursor import Place, decode, decode_place, encode, place_of
from wire.search.ranking import Scope, newest_page
from wire.search.total import COUNTED, counted
from wire.snapshots.citing import citable
from wire.snapshots.story_json import COLUMNS, shown
from wire.stories.identity import is_story_id
from wire.stories.question import EVERYTHING
from wire.stories.text import plain_text
from wire.stories.vocabulary import Category, Status, Topic

SUMMED_UP: Final = 200  # newest stories that the sentence about a topic of more than a thousand tells of


@dataclass(frozen=True, slots=True)
class ListHead:
    """A list in one line: how many stories it has, counted as lists count them, and the newest one."""

    name: Category | Topic
    total: int
    total_is_exact: bool
    newest: StoryOut | None


def get_story(story_id: str) -> StoryOut:
    """One story with every citation rendered; a withdrawn one answers with its status and none. Raises: NotFound."""
    return StoryOut.model_validate_json(get_story_json(story_id))


def get_story_json(story_id: str) -> bytes:
    """What `get_story` returns, as the finished JSON, with what stands beside the story, such as `factchecks`. Raises: NotFound."""
    found = shown(_STORY.rows(story_id)) if is_story_id(story_id) else []
    if not found:
        raise _unknown(story_id)
    more = beside.of_story(story_id)
    return found[0][:-1] + b"," + orjson.dumps(more)[1:] if more else found[0]


def get_citation(story_id: str, citation_format: CitationFormat = CitationFormat.LAYERED) -> CitationOut:
    """One citation, the same whenever it is asked for. Raises: NotFound, Withdrawn."""
    story = published_story(story_id)
    if story.status == Status.WITHDRAWN or story.current is None:
        raise Withdrawn(
            f"{story_id} was withdrawn and must not be cited.", "get_story tells its status; search_wire finds other coverage."
        )
    return CitationOut(
        citation=cite(citable(story, story.current), citation_format), format=str(citation_format), story_id=story_id
    )


def list_stories(limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesAnswer[StoriesOut]:
    """One page of all stories, newest first. Raises: InvalidArgument for a strange cursor."""
    return _list("stories", None, limit, cursor)


def get_category(category: Category, limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesAnswer[StoriesOut]:
    """One page of a category's stories of all days, newest first. Raises: InvalidArgument for a strange cursor."""
    return _list(f"category {category}", category, limit, cursor)


def list_source_stories(slug: str, limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesAnswer[StoriesOut]:
    """One page of a publication's stories of all days, newest first, also of a retired one.

    Raises: NotFound for an unknown publication; InvalidArgument for a strange cursor.
    """
    publication = Publication.objects.called(slug).values_list("pk", flat=True).first()
    if publication is None:
        raise NotFound("There is no such publication.", "The roster is at /sources.")
    name = f"source {slug}"
    rows = _SOURCE.rows(publication, *list_place(name, cursor), limit + 1)
    return _page(name, rows, limit, counted(_SOURCE_COUNT, publication))


def get_topic_coverage(
    topic: Topic,
    since: dt.datetime | None = None,
    limit: int = LIST_LIMIT,
    cursor: str | None = None,
) -> StoriesAnswer[TopicOut]:
    """One page of a topic's stories, newest first, and the topic in a sentence. Raises: InvalidArgument for a strange cursor."""
    name = f"topic {topic}" if since is None else f"topic {topic} since {since.timestamp()}"
    place, total = list_place(name, cursor), counted(TOPIC_COUNT, topic, since)
    page = _page(name, TOPIC.rows(topic, since, *place, limit + 1), limit, total)
    head = TopicOut.model_construct(topic=topic, label=topic.label, summary=_topic_summary(topic, since, total), **dict(page.head))
    return StoriesAnswer(head, page.story_json)


def list_heads() -> tuple[list[ListHead], list[ListHead]]:
    """Every category and every topic, each in the order of its vocabulary."""
    categories = [_head(one, counted(LIST_COUNT, one), LIST.rows(one, None, "", 1)) for one in Category]
    topics = [_head(one, counted(TOPIC_COUNT, one, None), TOPIC.rows(one, None, None, "", 1)) for one in Topic]
    return categories, topics


def _head(name: Category | Topic, total: tuple[int, bool], rows: list[Row]) -> ListHead:
    newest = [StoryOut.model_validate_json(story) for story in shown(rows)]
    return ListHead(name, *total, newest[0] if newest else None)


def search_wire(
    query: str,
    category: Category | None = None,
    topic: Topic | None = None,
    source: str | None = None,
    tier: int | None = None,
    since: dt.datetime | None = None,
    until: dt.datetime | None = None,
    limit: int = SEARCH_LIMIT,
    cursor: str | None = None,
    sort: Sort = Sort.RELEVANCE,
    sources: Sequence[str] | None = None,
) -> StoriesAnswer[SearchOut]:
    """Stories that answer `query`: those that hold all its words, and where these are few those that hold most or some; every
    "quoted phrase" word by word; since <= published_at < until; by `source` or one of `sources`, where any is given.

    Best first, newer first among equals; or newest first. `matched`, `suggestion` and `period` tell how the query was read. Raises:
    InvalidArgument when `query` holds no word or `cursor` is strange; NotInRoster when a source is none of the 24.
    """
    scope = _scope(category, topic, [*([source] if source is not None else []), *(sources or [])], tier, since, until)
    return search(query, scope, utc_today(), limit, cursor, sort)


def utc_today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


def newest_matches(query: str, limit: int) -> list[StoryOut]:
    """The newest stories that hold every word of `query`, newest first. Raises: InvalidArgument when it holds no word."""
    found = search_wire(query, limit=limit, sort=Sort.NEWEST)
    return found.stories if found.matched in (None, "all words") else []


def filter_wire(
    category: Category | None = None,
    topic: Topic | None = None,
    source: str | None = None,
    tier: int | None = None,
    since: dt.datetime | None = None,
    until: dt.datetime | None = None,
    limit: int = SEARCH_LIMIT,
    cursor: str | None = None,
) -> StoriesAnswer[SearchOut]:
    """All stories that pass the filters of `search_wire`, whatever their words, newest first.

    Raises: InvalidArgument when `cursor` is strange; NotInRoster when `source` is none of the 24.
    """
    scope = _scope(category, topic, [source] if source is not None else [], tier, since, until)
    return newest_page(scope, [EVERYTHING], limit, cursor)


def _scope(
    category: Category | None,
    topic: Topic | None,
    sources: Sequence[str],
    tier: int | None,
    since: dt.datetime | None,
    until: dt.datetime | None,
) -> Scope:
    """Raises: NotInRoster."""
    names = {canonical_source(source) for source in sources}
    publications = Publication.objects.filter(name__in=names).order_by("pk").values_list("pk", flat=True) if names else []
    of_any = tuple(mark for publication in publications for mark in marks(publication=publication))
    all_of = marks(category, [topic] if topic else [], tier=tier)
    return Scope(
        marks=(*((mark,) for mark in all_of), *([of_any] if of_any else [])),
        low=first_place(since) if since else None,
        high=first_place(until) if until else None,
    )


IDS: Final = "Ids look like cbn-0123456789ab; search_wire (/api/search.json) and wire://today (/api/today.json) list them."


def published_story(story_id: str) -> Story:
    """The story, withdrawn or not, with its text. Raises: NotFound."""
    story = Story.objects.published().with_text().filter(chatbotnews_id=story_id).first() if is_story_id(story_id) else None
    if story is None:
        raise _unknown(story_id)
    return story


def _unknown(story_id: str) -> NotFound:
    return NotFound(f"There is no story {plain_text(story_id, 40)!r}.", pins_hint(story_id) or IDS)


def pins_hint(story_id: str) -> str:
    """For whoever asks with a pin what takes none, or with one that is none."""
    if "@" not in story_id:
        return ""
    return (
        "A pin is @r and a revision, perhaps with a colon and eight digits or more of its hash. get_story, get_citation and "
        "verify_citation take one; other tools do not."
    )


def _stories(category: str | None, published_at: dt.datetime | None = None, story_id: str = "") -> StoryQuerySet:
    """Live stories of a category, or of all, behind a place in list order."""
    rows = Story.objects.live() if category is None else Story.objects.live().filter(category=category)
    return rows if published_at is None else rows.after(published_at, story_id)


def _of(publication: int, published_at: dt.datetime | None = None, story_id: str = "") -> StoryQuerySet:
    """Live stories of a publication, behind a place in list order."""
    rows = Story.objects.live().filter(publication=publication)
    return rows if published_at is None else rows.after(published_at, story_id)


def _told(topic: str, since: dt.datetime | None, published_at: dt.datetime | None = None, story_id: str = "") -> StoryTopicQuerySet:
    """Which stories are about a topic, behind a place in list order."""
    rows = StoryTopic.objects.about(topic, since)
    return rows if published_at is None else rows.after(published_at, story_id)


_STORY: Final = Compiled(lambda story_id: Story.objects.published().filter(chatbotnews_id=story_id).values_list(*COLUMNS))
LIST: Final = Compiled(lambda *asked: _stories(*asked[:-1]).newest_first().values_list(*COLUMNS)[: asked[-1]])
# Counted in the order of the index, and only what stands in it, so that Postgres reads nothing else.
LIST_COUNT: Final = Compiled(lambda category, most: _stories(category).newest_first().values_list("chatbotnews_id")[:most])
_SOURCE: Final = Compiled(lambda *asked: _of(*asked[:-1]).newest_first().values_list(*COLUMNS)[: asked[-1]])
_SOURCE_COUNT: Final = Compiled(lambda publication, most: _of(publication).newest_first().values_list("chatbotnews_id")[:most])
TOPIC: Final = Compiled(
    lambda *asked: _told(*asked[:-1]).newest_first().values_list(*(f"story__{name}" for name in COLUMNS))[: asked[-1]]
)
TOPIC_COUNT: Final = Compiled(lambda topic, since, most: _told(topic, since).order_by("-published_at").values_list("story")[:most])


def _list(name: str, category: Category | None, limit: int, cursor: str | None) -> StoriesAnswer[StoriesOut]:
    """One page of a list, newest first; `name` is the list's, for its cursors."""
    rows = LIST.rows(category, *list_place(name, cursor), limit + 1)
    return _page(name, rows, limit, counted(LIST_COUNT, category))


def list_place(name: str, cursor: str | None) -> Place | tuple[None, str]:
    """Where the page before ended. Raises: InvalidArgument."""
    return (None, "") if cursor is None else decode_place(decode(cursor, {name: 1})[1][0])


def _page(name: str, rows: list[Row], limit: int, total: tuple[int, bool]) -> StoriesAnswer[StoriesOut]:
    """`rows` (COLUMNS) are those of the page, and one more if there is a next page."""
    stories = shown(rows[:limit])
    head = StoriesOut.model_construct(
        stories=[],
        next_cursor=encode(name, place_of(stories[-1])) if len(rows) > limit else None,
        total=total[0],
        total_is_exact=total[1],
        est_tokens=estimated_tokens(stories),
    )
    return StoriesAnswer(head, stories)


def _topic_summary(topic: Topic, since: dt.datetime | None, total: tuple[int, bool]) -> str:
    """What the list holds, or the newest of a long one, in figures; nothing that no story says."""
    told, (number, is_exact) = StoryTopic.objects.about(topic, since), total
    if not number:
        return f"No stories about {topic.label} in this period."
    newest = told.order_by("-published_at", "story").values_list("story", flat=True)[: COUNTED if is_exact else SUMMED_UP]
    rows = Story.objects.filter(pk__in=list(newest))
    found = rows.aggregate(publishers=Count("publication", distinct=True), first=Min("wire_date"), last=Max("wire_date"))
    publishers = "1 publication" if found["publishers"] == 1 else f"{found['publishers']} publications"
    period = f"on {found['first']}" if found["first"] == found["last"] else f"from {found['first']} to {found['last']}"
    if is_exact:
        stories = "1 story" if number == 1 else f"{number:,} stories"
        text = f"{stories} about {topic.label} by {publishers}, {period}."
    else:
        text = f"More than {number:,} stories about {topic.label}. The newest {SUMMED_UP} are by {publishers}, {period}."
    shared = rows.filter(cross_source_count__gt=1).with_text()
    widest = shared.order_by("-cross_source_count", "-consensus_score", "-published_at", "chatbotnews_id").first()
    if widest and widest.current and not widest.current.untrusted_instructions:
        count, headline = widest.cross_source_count, widest.current.headline
        what = f'"{headline}" ({widest.current.original_publisher}, {widest.wire_date})'
        text += f" Most widely reported{'' if is_exact else ' of these'}, by {count} independent sources: {what}."
    return text
