"""Queries of one story, lists of stories, search and citations."""

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypedDict, Unpack

import orjson
from django.db.models import Count, Max, Min, QuerySet

from citations.format.formats import CitationFormat, cite_story
from config.errors import NotFound, Withdrawn
from config.plugins import get_story_extras
from sources.models import Publication, utc_today
from sources.queries import get_canonical_name
from wire.models import Story, StoryTopic
from wire.models.search import encode_filters, get_first_position
from wire.models.story import StoryListQuerySet, StoryQuerySet
from wire.publishing.story_json import COLUMNS, read_stories_json, to_citable
from wire.schemas.params import LIST_LIMIT, SEARCH_LIMIT, Group, Sort
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import CitationOut, SearchOut, StoriesOut, StoryOut, TopicOut
from wire.search.cursor import COUNTED, Position, count_rows, decode_cursor, decode_position, encode_cursor, encode_story_position
from wire.search.ranking import Scope, build_newest_page
from wire.search.service import search_stories
from wire.text.choices import Category, Status, Topic
from wire.text.identity import is_story_id
from wire.text.plain_text import plain_text
from wire.text.search_query import EVERYTHING

Row = tuple[Any, ...]  # COLUMNS

LINKED_COLUMNS: Final = tuple(f"story__{name}" for name in COLUMNS)  # of StoryTopic and StoryEntity
SUMMED_UP: Final = 200  # newest stories that the sentence about a topic of more than a thousand tells of


class ListHead(NamedTuple):
    """A list in one line: its number of stories, counted as lists count them, and its newest one."""

    name: Category | Topic
    total: int
    total_is_exact: bool
    newest: StoryOut | None


def get_story(story_id: str) -> StoryOut:
    """Return one story with every citation rendered; a withdrawn one has its status and none. Raises: NotFound."""
    return StoryOut.model_validate_json(get_story_json(story_id))


def get_standing_story(story_id: str) -> StoryOut:
    """Return a story as `get_story`; for a merged story the one that it was merged into. Raises: NotFound."""
    story = get_story(story_id)
    return get_standing_story(story.merged_into) if story.merged_into else story


def get_story_json(story_id: str) -> bytes:
    """Return `get_story` as finished JSON, with the fields of other apps, such as `factchecks`. Raises: NotFound."""
    rows = Story.objects.published().filter(chatbotnews_id=story_id)
    found = read_stories_json(rows.values_list(*COLUMNS)) if is_story_id(story_id) else []
    if not found:
        raise _not_found(story_id)
    more = get_story_extras(story_id)
    return found[0][:-1] + b"," + orjson.dumps(more)[1:] if more else found[0]


def get_citation(story_id: str, citation_format: CitationFormat = CitationFormat.LAYERED) -> CitationOut:
    """Return one citation, always the same; of a merged story that of the story merged into. Raises: NotFound, Withdrawn."""
    story = resolve_merged_story(find_published_story(story_id))
    if story.status == Status.WITHDRAWN or story.current is None:
        raise Withdrawn(
            f"{story.chatbotnews_id} was withdrawn and must not be cited.",
            "get_story tells its status; search_wire finds other coverage.",
        )
    return CitationOut(
        citation=cite_story(to_citable(story, story.current), citation_format),
        format=str(citation_format),
        story_id=story.chatbotnews_id,
    )


def list_stories(limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesAnswer[StoriesOut]:
    """Return one page of all stories, newest first. Raises: InvalidArgument for a strange cursor."""
    return _list_page("stories", Story.objects.live(), count_rows(select_category_ids, None), limit, cursor)


def get_category(category: Category, limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesAnswer[StoriesOut]:
    """Return one page of a category's stories of all days, newest first. Raises: InvalidArgument for a strange cursor."""
    return _list_page(f"category {category}", select_category(category), count_rows(select_category_ids, category), limit, cursor)


def list_source_stories(slug: str, limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesAnswer[StoriesOut]:
    """Return one page of a publication's stories, newest first; also of a retired one. Raises: NotFound, InvalidArgument."""
    publication = Publication.objects.with_slug(slug).values_list("pk", flat=True).first()
    if publication is None:
        raise NotFound("There is no such publication.", "The roster is at /sources.")
    stories = Story.objects.live().filter(publication=publication)
    return _list_page(f"source {slug}", stories, count_rows(_select_publication_ids, publication), limit, cursor)


def get_topic_coverage(
    topic: Topic,
    since: dt.datetime | None = None,
    limit: int = LIST_LIMIT,
    cursor: str | None = None,
    until: dt.datetime | None = None,
) -> StoriesAnswer[TopicOut]:
    """Return one page of a topic's stories with since <= published_at < until, newest first, and a summary.

    Raises: InvalidArgument for a strange cursor.
    """
    total = count_rows(select_topic_ids, topic, since, until)
    about = StoryTopic.objects.about(topic, since, until)
    page, summary = list_coverage(f"topic {topic}", f"about {topic.label}", about, total, since, until, limit, cursor)
    head = TopicOut.model_construct(topic=topic, label=topic.label, summary=summary, **dict(page.head))
    return StoriesAnswer(head, page.story_json)


def list_coverage(
    name: str,
    what: str,
    about: StoryListQuerySet[Any],
    total: tuple[int, bool],
    since: dt.datetime | None,
    until: dt.datetime | None,
    limit: int,
    cursor: str | None,
) -> tuple[StoriesAnswer[StoriesOut], str]:
    """Return one page of the stories of `about`, newest first, and all of them in figures. `name`: the list's, for cursors; its
    bounds, which `about` respects, belong to it. `what`: such as "about OpenAI". Raises: InvalidArgument for a strange cursor.
    """
    bounds = {"since": since, "until": until}
    name = " ".join([name, *(f"{bound} {at.timestamp()}" for bound, at in bounds.items() if at is not None)])
    return _list_page(name, about, total, limit, cursor, LINKED_COLUMNS), _summarize_list(about, what, total)


def list_heads() -> tuple[list[ListHead], list[ListHead]]:
    """Return the categories and the topics, each in the order of its vocabulary."""

    def head(name: Category | Topic, total: tuple[int, bool], rows: Any, columns: Sequence[str] = COLUMNS) -> ListHead:
        newest = read_stories_json(read_story_rows(rows, (None, ""), 1, columns))
        return ListHead(name, *total, next(map(StoryOut.model_validate_json, newest), None))

    categories = [head(one, count_rows(select_category_ids, one), select_category(one)) for one in Category]
    topics = [head(one, count_rows(select_topic_ids, one), StoryTopic.objects.about(one), LINKED_COLUMNS) for one in Topic]
    return categories, topics


class Filters(TypedDict, total=False):
    """Stories of a search: since <= published_at < until; by `source` or one of `sources`, where any is given."""

    category: Category | None
    topic: Topic | None
    source: str | None
    sources: Sequence[str] | None
    tier: int | None
    since: dt.datetime | None
    until: dt.datetime | None


def search_wire(
    query: str,
    limit: int = SEARCH_LIMIT,
    cursor: str | None = None,
    sort: Sort = Sort.RELEVANCE,
    group: Group = Group.EVENT,
    **filters: Unpack[Filters],
) -> StoriesAnswer[SearchOut]:
    """Return stories that answer `query`: those with all its words, and where these are few those with most or some; every "quoted
    phrase" word by word. Best first, newer first among equals, of each event the best (`group`); or newest first. `matched`,
    `suggestion` and `period` tell how the query was read. Raises: InvalidArgument when `query` holds no word or `cursor` is
    strange; NotInRoster when a source is none of the 24.
    """
    return search_stories(query, _build_scope(filters), utc_today(), limit, cursor, sort, group)


def list_matches(query: str, limit: int, **filters: Unpack[Filters]) -> list[StoryOut]:
    """Return the newest stories with every word of `query` that pass the filters, newest first; "" asks for no word.

    Raises: InvalidArgument when it holds no word; NotInRoster.
    """
    if not query:
        return list_filtered_stories(limit, **filters).stories
    found = search_wire(query, limit=limit, sort=Sort.NEWEST, **filters)
    return found.stories if found.matched in (None, "all words") else []


def list_filtered_stories(
    limit: int = SEARCH_LIMIT, cursor: str | None = None, **filters: Unpack[Filters]
) -> StoriesAnswer[SearchOut]:
    """Return all stories that pass the filters of `search_wire`, newest first. Raises: InvalidArgument, NotInRoster."""
    return build_newest_page(_build_scope(filters), [EVERYTHING], limit, cursor)


def _build_scope(filters: Filters) -> Scope:
    """Raises: NotInRoster."""
    source, topic = filters.get("source"), filters.get("topic")
    names = {get_canonical_name(name, "sources") for name in filters.get("sources") or []}
    names |= set() if source is None else {get_canonical_name(source)}
    publications = Publication.objects.filter(name__in=names).order_by("pk").values_list("pk", flat=True) if names else []
    any_of = tuple(mark for publication in publications for mark in encode_filters(publication=publication))
    all_of = encode_filters(filters.get("category"), [topic] if topic else [], tier=filters.get("tier"))
    low, high = (None if moment is None else get_first_position(moment) for moment in (filters.get("since"), filters.get("until")))
    return Scope(marks=(*((mark,) for mark in all_of), *([any_of] if any_of else [])), low=low, high=high)


PINS: Final = (
    "A pin is @r and a revision number, maybe with a colon and at least eight digits of its hash. Only get_story, get_citation "
    "and verify_citation take one."
)
IDS: Final = "Ids look like cbn-0123456789ab; search_wire (/api/search.json) and wire://today (/api/today.json) list them."


def find_published_story(story_id: str) -> Story:
    """Return the story, withdrawn or not, with its text. Raises: NotFound."""
    story = Story.objects.published().with_text().filter(chatbotnews_id=story_id).first() if is_story_id(story_id) else None
    if story is None:
        raise _not_found(story_id)
    return story


def resolve_merged_story(story: Story) -> Story:
    """Return the story that a merged one leads to, with its text; any other story itself."""
    while story.status == Status.WITHDRAWN and story.merged_into:
        story = find_published_story(story.merged_into)
    return story


def _not_found(story_id: str) -> NotFound:
    return NotFound(f"There is no story {plain_text(story_id, 40)!r}.", explain_pin(story_id) or IDS)


def explain_pin(story_id: str) -> str:
    """Return a hint for an id with a pin that is malformed or not accepted here; "" for other ids."""
    return PINS if "@" in story_id else ""


def select_category(category: Category | None) -> StoryQuerySet:
    return Story.objects.live() if category is None else Story.objects.live().filter(category=category)


def read_story_rows(rows: Any, position: Position | tuple[None, str], most: int, columns: Sequence[str] = COLUMNS) -> list[Row]:
    """Return the first stories after a position in list order, newest first."""
    after = rows if position[0] is None else rows.after(*position)
    return list(after.newest_first().values_list(*columns)[:most])


# Counts select only columns of the index, in its order, so that Postgres reads nothing else.
def select_category_ids(category: Category | None) -> QuerySet[Any, Any]:
    return select_category(category).newest_first().values_list("chatbotnews_id")


def _select_publication_ids(publication: int) -> QuerySet[Any, Any]:
    return Story.objects.live().filter(publication=publication).newest_first().values_list("chatbotnews_id")


def select_topic_ids(topic: Topic, since: dt.datetime | None = None, until: dt.datetime | None = None) -> QuerySet[Any, Any]:
    return StoryTopic.objects.about(topic, since, until).order_by("-published_at").values_list("story")


def parse_list_cursor(name: str, cursor: str | None) -> Position | tuple[None, str]:
    """Return the position where the page before ended. Raises: InvalidArgument."""
    return (None, "") if cursor is None else decode_position(decode_cursor(cursor, {name: 1})[1][0])


def _list_page(
    name: str, rows: Any, total: tuple[int, bool], limit: int, cursor: str | None, columns: Sequence[str] = COLUMNS
) -> StoriesAnswer[StoriesOut]:
    """Return a page of stories, of StoryTopic or of StoryEntity, newest first. `name`: the list's, for cursors."""
    rows = read_story_rows(rows, parse_list_cursor(name, cursor), limit + 1, columns)
    return build_page(name, read_stories_json(rows), limit, total)


def build_page(name: str, found: Sequence[bytes], limit: int, total: tuple[int, bool]) -> StoriesAnswer[StoriesOut]:
    """Return the first `limit` stories; one more means a next page."""
    following = encode_cursor(name, encode_story_position(found[limit - 1])) if len(found) > limit else None
    head = StoriesOut.model_construct(stories=[], next_cursor=following, total=total[0], total_is_exact=total[1], est_tokens=0)
    return StoriesAnswer(head, found[:limit])


def _summarize_list(about: QuerySet[Any, Any], what: str, total: tuple[int, bool]) -> str:
    """Return the list, or the newest of a long one, in figures; no claim that no story makes."""
    number, is_exact = total
    if not number:
        return f"No stories {what} in this period."
    newest = about.order_by("-published_at", "story").values_list("story", flat=True)
    rows = Story.objects.filter(pk__in=list(newest[: COUNTED if is_exact else SUMMED_UP]))
    found = rows.aggregate(publishers=Count("publication", distinct=True), first=Min("wire_date"), last=Max("wire_date"))
    publishers = "1 publication" if found["publishers"] == 1 else f"{found['publishers']} publications"
    first, last = (f"{found[name]:%-d %b %Y}" for name in ("first", "last"))
    period = f"on {first}" if first == last else f"from {first} to {last}"
    if is_exact:
        stories = "1 story" if number == 1 else f"{number:,} stories"
        text = f"{stories} {what} by {publishers}, {period}."
    else:
        text = f"More than {number:,} stories {what}. The newest {SUMMED_UP} are by {publishers}, {period}."
    shared = rows.filter(cross_source_count__gt=1).with_text()
    widest = shared.order_by("-cross_source_count", "-consensus_score", "-published_at", "chatbotnews_id").first()
    if widest and widest.current and not widest.current.untrusted_instructions:
        count, headline = widest.cross_source_count, widest.current.headline
        what = f"“{headline}” ({widest.current.original_publisher}, {widest.wire_date:%-d %b %Y})"
        text += f" Most widely reported{'' if is_exact else ' of these'}, by {count} independent sources: {what}."
    return text
