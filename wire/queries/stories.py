"""One story, lists of stories, search, citations."""

import datetime as dt
from typing import Any, Final

from django.db.models import Count, Max, Min

from citations.formats import CitationFormat, cite
from config.errors import InvalidArgument, Withdrawn
from sources.models import Publication
from sources.queries import canonical_source
from wire import search
from wire.bounds import LIST_LIMIT, SEARCH_LIMIT
from wire.citing import citable
from wire.models import Story, StoryTopic
from wire.models.search import first_place, marks
from wire.models.story import StoryQuerySet, StoryTopicQuerySet
from wire.queries.cursor import Place, decode, decode_place, encode, encode_place
from wire.queries.ranking import Scope, ranked_page, suggestion
from wire.queries.render import published_story, story_out
from wire.queries.total import COUNTED, counted
from wire.schemas import CitationOut, SearchOut, StoriesOut, StoryOut, TopicOut, estimated_tokens
from wire.vocabulary import Category, Status, Topic

SUMMED_UP: Final = 200  # newest stories that the sentence about a topic of more than a thousand tells of


def get_story(story_id: str) -> StoryOut:
    """One story with every citation rendered; a withdrawn one answers with its status and none. Raises: NotFound."""
    return story_out(published_story(story_id))


def get_citation(story_id: str, citation_format: CitationFormat = CitationFormat.LAYERED) -> CitationOut:
    """One citation, the same whenever it is asked for. Raises: NotFound, Withdrawn."""
    story = published_story(story_id)
    if story.status == Status.WITHDRAWN or story.current is None:
        raise Withdrawn(
            f"{story_id} was withdrawn and is not to be cited.", "get_story tells its status; search_wire finds other coverage."
        )
    return CitationOut(
        citation=cite(citable(story, story.current), citation_format), format=str(citation_format), story_id=story_id
    )


def list_stories(limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesOut:
    """One page of all stories, newest first. Raises: InvalidArgument for a strange cursor."""
    return StoriesOut.model_construct(None, **_list("stories", Story.objects.live(), limit, cursor))


def get_category(category: Category, limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesOut:
    """One page of a category's stories of all days, newest first. Raises: InvalidArgument for a strange cursor."""
    return StoriesOut.model_construct(
        None, **_list(f"category {category}", Story.objects.live().filter(category=category), limit, cursor)
    )


def get_topic_coverage(
    topic: Topic, since: dt.datetime | None = None, limit: int = LIST_LIMIT, cursor: str | None = None
) -> TopicOut:
    """One page of a topic's stories, newest first, and the topic in a sentence."""
    name, told = f"topic {topic}", StoryTopic.objects.about(topic, since)
    place, total = _place(name, cursor), counted(told)
    rows = (told.after(*place) if place else told).newest_first().with_story()[: limit + 1]
    page = _page(name, [row.story for row in rows], limit, total)
    return TopicOut.model_construct(None, topic=topic, label=topic.label, summary=_topic_summary(topic, told, total), **page)


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
) -> SearchOut:
    """Stories that hold every word of `query`, and every "quoted phrase" word by word; since <= published_at < until.

    Best first, newer first among equals. Raises: InvalidArgument when `query` holds no word or `cursor` is strange;
    NotInRoster when `source` is none of the 24.
    """
    question = search.parse(query)
    if not question.terms:
        raise InvalidArgument("query holds no word.", "Give one or more words, or a phrase in double quotes.")
    publication = Publication.objects.only("pk").get(name=canonical_source(source)).pk if source is not None else None
    scope = Scope(
        marks=tuple(marks(category, [topic] if topic else [], publication, tier)),
        low=first_place(since) if since else None,
        high=first_place(until) if until else None,
    )
    page = ranked_page(scope, question, limit, cursor)
    if not page.total and page.total_is_exact:
        page.suggestion = suggestion(query, scope)
    return page


def _list(name: str, rows: StoryQuerySet, limit: int, cursor: str | None) -> dict[str, Any]:
    """The fields of StoriesOut for one page of `rows`, newest first; `name` is the list's, for its cursors."""
    place = _place(name, cursor)
    stories = (rows.after(*place) if place else rows).newest_first().with_text()[: limit + 1]
    return _page(name, list(stories), limit, counted(rows))


def _place(name: str, cursor: str | None) -> Place | None:
    """Where the page before ended. Raises: InvalidArgument."""
    return None if cursor is None else decode_place(decode(cursor, {name: 1})[1][0])


def _page(name: str, stories: list[Story], limit: int, total: tuple[int, bool]) -> dict[str, Any]:
    """`stories` are those of the page, and one more if there is a next page."""
    more, stories = len(stories) > limit, stories[:limit]
    last = encode(name, encode_place((stories[-1].published_at, stories[-1].chatbotnews_id))) if more else None
    shown = [story_out(story) for story in stories]
    number, is_exact = total
    return {
        "stories": shown,
        "next_cursor": last,
        "total": number,
        "total_is_exact": is_exact,
        "est_tokens": estimated_tokens(shown),
    }


def _topic_summary(topic: Topic, told: StoryTopicQuerySet, total: tuple[int, bool]) -> str:
    """What the list holds, or the newest of a long one, in figures; nothing that no story says."""
    number, is_exact = total
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
    widest = (
        rows.filter(cross_source_count__gt=1).with_text().order_by("-cross_source_count", "-published_at", "chatbotnews_id").first()
    )
    if widest and widest.current and not widest.current.untrusted_instructions:
        count, headline = widest.cross_source_count, widest.current.headline
        what = f'"{headline}" ({widest.current.original_publisher}, {widest.wire_date})'
        text += f" Most widely reported{'' if is_exact else ' of these'}, by {count} publications: {what}."
    return text
