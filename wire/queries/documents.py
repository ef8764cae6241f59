"""One question over all systems: stories, events, storylines, and the documents of each corpus, which its plugin brings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Final

from django.conf import settings

from config.errors import InvalidArgument, NotFound, WireError
from config.plugins import list_document_kinds
from wire.models import Event, Story
from wire.publishing.event_view import EventView, find_most_reported
from wire.queries.events import find_events_by_id, view_event
from wire.queries.stories import get_standing_story, search_wire
from wire.queries.storylines import find_headline_events, view_storyline
from wire.schemas.documents import DocumentHit, DocumentOut, DocumentsOut, RefusedKind, build_document
from wire.schemas.params import SEARCH_LIMIT
from wire.schemas.story import StoryOut
from wire.search.ranking import fuse_ranks
from wire.text.plain_text import plain_text
from wire.text.provenance_manifest import to_rfc3339

STORY: Final = "story"
EVENT: Final = "event"
STORYLINE: Final = "storyline"
OWN_KINDS: Final = {STORY: "Stories", EVENT: "Events", STORYLINE: "Storylines"}


def list_kind_titles() -> dict[str, str]:
    """Return the kinds of documents, stories first, with their titles."""
    return OWN_KINDS | {name: kind.title for name, kind in list_document_kinds().items()}


def search_documents(
    query: str, kinds: str | None = None, limit: int = SEARCH_LIMIT, stories: Sequence[StoryOut] | None = None
) -> DocumentsOut:
    """Return the best `limit` hits of all kinds, or of these (by commas), fused by their ranks; kinds in their order among equals.
    A kind that holds nothing is not searched, and one that refuses the query is named in `refused`. `stories`: the best ones, if
    they were found already.

    Raises: InvalidArgument for an unknown kind; the first refusal, if every kind that was searched refuses.
    """
    wanted = _parse_kinds(kinds)
    # Events and storylines are those of the stories found.
    find_stories = cache(lambda: search_wire(query, limit).stories if stories is None else stories[:limit])
    searches: dict[str, Callable[[], DocumentsOut]] = {}
    if Story.objects.live().exists():
        searches = {
            STORY: lambda: DocumentsOut(results=[_build_hit(STORY, story) for story in find_stories()]),
            EVENT: lambda: DocumentsOut(results=_list_event_hits(find_stories())),
            STORYLINE: lambda: DocumentsOut(results=_list_storyline_hits(find_stories())),
        }
    searches |= {name: partial(kind.search, query, limit) for name, kind in list_document_kinds(filled=True).items()}
    found, refusals = list[DocumentsOut](), dict[str, WireError]()
    for name in (name for name in wanted if name in searches):
        try:
            found.append(searches[name]())
        except WireError as error:
            if error.status >= 500:
                raise
            refusals[name] = error
    if refusals and not found:
        raise next(iter(refusals.values()))
    scores = fuse_ranks([hit.id for hit in one.results] for one in found)
    hits = sorted((hit for one in found for hit in one.results), key=lambda hit: -scores[hit.id])
    return DocumentsOut(
        results=hits[:limit],
        refused=[RefusedKind(kind=name, message=f"{error.message} {error.hint}") for name, error in refusals.items()],
        degraded=[kind for one in found for kind in one.degraded],
    )


def fetch_document(given: str) -> DocumentOut:
    """Return the document of an id that a search gave; of a merged story that of the one that stands.

    Raises: NotFound, for a withdrawn story too, and whatever else a kind refuses its ids with.
    """
    kind, separator, own_id = given.partition(":")
    fetches: Mapping[str, Callable[[str], DocumentOut]] = {EVENT: _fetch_event, STORYLINE: _fetch_storyline}
    fetches = {**fetches, **{name: one.fetch for name, one in list_document_kinds().items()}}
    if not separator and given.startswith("cbn-"):
        return _fetch_story(given)
    if not separator or kind not in fetches:
        forms = ", ".join(f"{name}:{one.id_form}" for name, one in list_document_kinds().items())
        raise NotFound(
            f"There is no document {plain_text(given, 40)!r}.",
            f"Ids look like cbn-0123456789ab (a story), event:cbn-…, storyline:cbn-…{forms and f', {forms}'}; search finds them.",
        )
    return fetches[kind](own_id)


def _parse_kinds(text: str | None) -> list[str]:
    """Return the kinds named, in the order of all; all without any. Raises: InvalidArgument."""
    known, named = list_kind_titles(), {kind.strip() for kind in (text or "").split(",") if kind.strip()}
    if unknown := sorted(named - known.keys()):
        raise InvalidArgument(
            f"kinds: {plain_text(', '.join(unknown), 60)!r} names no kind of document.", f"Use any of: {', '.join(known)}."
        )
    return [name for name in known if not named or name in named]


def _build_hit(kind: str, story: StoryOut, own_id: str = "") -> DocumentHit:
    """Return a story as a hit, or the event or storyline of this id that it stands for."""
    return DocumentHit(
        kind=kind,
        id=f"{kind}:{own_id}" if own_id else story.chatbotnews_id,
        title=story.headline,
        url=f"{settings.WIRE_SITE_URL}/{kind}/{own_id}" if own_id else story.permalink,
        source=story.original_publisher,
        published_at=to_rfc3339(story.published_at),
        citation=story.citation_objects.layered_ready if story.citation_objects else "",
        untrusted_instructions=story.untrusted_instructions,
    )


def _list_event_hits(stories: Sequence[StoryOut]) -> list[DocumentHit]:
    """Return the events of stories that several sources report, in the order of the stories; an event of one is its story."""
    ids = dict.fromkeys(story.event_id for story in stories if story.cross_source_count > 1)
    events = find_events_by_id(ids) if ids else {}
    return [_build_hit(EVENT, events[event_id].lead, event_id) for event_id in ids if event_id in events]


def _list_storyline_hits(stories: Iterable[StoryOut]) -> list[DocumentHit]:
    ids = dict.fromkeys(story.event_id for story in stories)
    storyline_of = dict(Event.objects.filter(pk__in=ids).exclude(storyline=None).values_list("event_id", "storyline_id"))
    storylines = dict.fromkeys(storyline_of[event] for event in ids if event in storyline_of)
    headlines = find_headline_events(storylines)
    events = find_events_by_id(headlines.values()) if headlines else {}
    return [
        _build_hit(STORYLINE, events[event].lead, storyline)
        for storyline in storylines
        if (event := headlines.get(storyline)) in events  # else withdrawn meanwhile
    ]


def _fetch_story(story_id: str) -> DocumentOut:
    story = get_standing_story(story_id)
    if story.citation_objects is None:
        raise NotFound(f"{story_id} was withdrawn and must not be cited.", "search finds other coverage.")
    return build_document(
        _build_hit(STORY, story),
        story.summary_medium,
        original_publisher=story.original_publisher,
        original_publisher_tier=str(story.original_publisher_tier),
        original_url=story.original_url,
        status=story.status,
    )


def _fetch_event(event_id: str) -> DocumentOut:
    event = view_event(event_id)
    lines = [f"- {one.story.citation_objects.layered_ready}" for one in event.reports if one.story.citation_objects]
    return _build_overview(EVENT, event.event_id, event.agreement, lines, [event])


def _fetch_storyline(event_id: str) -> DocumentOut:
    found, events = view_storyline(event_id)
    return _build_overview(STORYLINE, found.storyline_id, "", [f"- {event.line}" for event in found.events], events)


def _build_overview(kind: str, own_id: str, says: str, lines: Sequence[str], events: Sequence[EventView]) -> DocumentOut:
    """Return a document that cites the stories of events in `lines`; the lead of the most reported event stands for all."""
    hit = _build_hit(kind, find_most_reported(events).lead, own_id)
    hit.untrusted_instructions = any(one.story.untrusted_instructions for event in events for one in event.reports)
    return build_document(hit, "\n\n".join(filter(None, (says, "\n".join(lines)))))
