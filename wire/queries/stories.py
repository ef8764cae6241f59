"""One story, lists of stories, search, citations."""

import datetime as dt
from typing import Any

from django.db.models import Count, Max, Min

from citations.formats import CitationFormat, cite
from config.errors import InvalidArgument, Withdrawn
from sources.queries import canonical_source
from wire import search
from wire.bounds import LIST_LIMIT, SEARCH_LIMIT
from wire.citing import citable
from wire.models import Story
from wire.models.story import StoryQuerySet
from wire.queries.cursor import decode, decode_place, encode, encode_place
from wire.queries.ranking import ranked_page, suggestion
from wire.queries.render import published_story, story_out
from wire.schemas import CitationOut, SearchOut, StoriesOut, StoryOut, TopicOut, estimated_tokens
from wire.vocabulary import Category, Status, Topic


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
    return StoriesOut(**_page("stories", Story.objects.live(), limit, cursor))


def get_category(category: Category, limit: int = LIST_LIMIT, cursor: str | None = None) -> StoriesOut:
    """One page of a category's stories of all days, newest first. Raises: InvalidArgument for a strange cursor."""
    return StoriesOut(**_page(f"category {category}", Story.objects.live().filter(category=category), limit, cursor))


def get_topic_coverage(
    topic: Topic, since: dt.datetime | None = None, limit: int = LIST_LIMIT, cursor: str | None = None
) -> TopicOut:
    """One page of a topic's stories, newest first, and the topic in a sentence."""
    rows = Story.objects.live().about(topic).between(since, None)
    page = _page(f"topic {topic}", rows, limit, cursor)
    return TopicOut(topic=topic, label=topic.label, summary=_topic_summary(topic, rows), **page)


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
    rows = Story.objects.live().between(since, until)
    if category is not None:
        rows = rows.filter(category=category)
    if topic is not None:
        rows = rows.about(topic)
    if source is not None:
        rows = rows.filter(publication__name=canonical_source(source))
    if tier is not None:
        rows = rows.filter(tier=tier)
    page = ranked_page(rows.holding(question.terms), question, limit, cursor)
    if not page.total:
        page.suggestion = suggestion(query, rows)
    return page


def _page(name: str, rows: StoryQuerySet, limit: int, cursor: str | None) -> dict[str, Any]:
    """The fields of StoriesOut for one page of `rows`, newest first; `name` is the list's, for its cursors."""
    page = rows.after(*decode_place(decode(cursor, {name: 1})[1][0])) if cursor is not None else rows
    stories = list(page.newest_first().with_text()[: limit + 1])
    more, stories = len(stories) > limit, stories[:limit]
    last = encode(name, encode_place((stories[-1].published_at, stories[-1].chatbotnews_id))) if more else None
    shown = [story_out(story) for story in stories]
    return {"stories": shown, "next_cursor": last, "total": rows.count(), "est_tokens": estimated_tokens(shown)}


def _topic_summary(topic: Topic, rows: StoryQuerySet) -> str:
    """What the list holds, in figures; nothing that no story says."""
    found = rows.aggregate(
        n=Count("pk"), publishers=Count("publication", distinct=True), first=Min("wire_date"), last=Max("wire_date")
    )
    if not found["n"]:
        return f"No stories about {topic.label} in this period."
    stories = "1 story" if found["n"] == 1 else f"{found['n']:,} stories"
    publishers = "1 publication" if found["publishers"] == 1 else f"{found['publishers']} publications"
    period = f"on {found['first']}" if found["first"] == found["last"] else f"from {found['first']} to {found['last']}"
    text = f"{stories} about {topic.label} by {publishers}, {period}."
    widest = (
        rows.filter(cross_source_count__gt=1).with_text().order_by("-cross_source_count", "-published_at", "chatbotnews_id").first()
    )
    if widest and widest.current and not widest.current.untrusted_instructions:
        count, headline = widest.cross_source_count, widest.current.headline
        told = f'"{headline}" ({widest.current.original_publisher}, {widest.wire_date})'
        text += f" Most widely reported, by {count} publications: {told}."
    return text
