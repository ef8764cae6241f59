"""Companies, people and products that are in the news: who has a page, and the stories, events and storylines that name them."""

import datetime as dt
import difflib
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet

from config.errors import NotFound
from wire.models import Entity, Story, StoryEntity
from wire.models.entity import StoryEntityQuerySet
from wire.publishing.story_json import read_stories_json
from wire.queries.events import EventList, build_event_page
from wire.queries.stories import LINKED_COLUMNS, list_coverage
from wire.queries.weeks import list_storylines
from wire.schemas import build_from
from wire.schemas.params import LIST_LIMIT, EntityKind
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import EntitiesOut, EntityBrief, EntityLink, EntityOut, EntityStoryline, OfficialPost, StoryOut
from wire.search.cursor import count_rows
from wire.text.entity_names import NameFinder, normalize_typography
from wire.text.plain_text import plain_text

RECENT: Final = dt.timedelta(days=28)
OFFICIAL: Final = 5  # newest posts of its own publication
STORYLINES: Final = 5
LOOKED_AT: Final = 100  # newest stories whose storylines are shown
NEAREST: Final = 5  # names that an unknown one is answered with
_ALIKE: Final = 0.6  # share of letters, as difflib counts them


def select_shown_entities() -> QuerySet[Entity]:
    return Entity.objects.filter(state=Entity.State.SHOWN).select_related("publication")


def list_entities(kind: EntityKind | None = None) -> EntitiesOut:
    """Return all with a page, or those of one kind, by kind and name."""
    newest = Story.objects.live().aggregate(newest=Max("published_at"))["newest"]
    named = Q(story_entities__is_official=False)
    rows = (select_shown_entities() if kind is None else select_shown_entities().filter(kind=kind)).annotate(
        stories=Count("story_entities", filter=named),
        recent=Count("story_entities", filter=named & Q(story_entities__published_at__gt=newest - RECENT) if newest else named),
        newest_story_at=Max("story_entities__published_at", filter=named),
    )
    ranked = sorted(rows, key=lambda row: (row.kind, row.name.casefold()))
    return EntitiesOut(entities=[build_from(EntityBrief, row, permalink=_get_address(row)) for row in ranked], total=len(ranked))


def find_entity(name: str) -> Entity:
    """Return the one with this slug, name or other spelling, in any capitals. Raises: NotFound, with the nearest names."""
    wanted = " ".join(name.split()).casefold()
    if by_address := select_shown_entities().filter(slug=wanted).first():  # first: no spelling may take an address over
        return by_address
    entities = list(select_shown_entities())
    by_spelling = {entity.slug: entity for entity in entities}
    for entity in entities:
        for spelling in entity.list_spellings():
            by_spelling.setdefault(spelling.casefold(), entity)
    if wanted in by_spelling:
        return by_spelling[wanted]
    words = set(wanted.split())
    alike = difflib.get_close_matches(wanted[:100], by_spelling, NEAREST, _ALIKE)
    alike += [spelling for spelling in by_spelling if words & set(spelling.split())]
    near = list(dict.fromkeys(by_spelling[spelling].name for spelling in alike))[:NEAREST]
    hint = "/api/entities.json lists all names; search_wire (/api/search.json) takes any subject."
    raise NotFound(f"There is no page about {plain_text(name, 80)!r}.", f"Nearest: {', '.join(near)}. {hint}" if near else hint)


def get_entity(
    name: str,
    since: dt.datetime | None = None,
    limit: int = LIST_LIMIT,
    cursor: str | None = None,
    until: dt.datetime | None = None,
) -> StoriesAnswer[EntityOut]:
    """Return one page of the stories that name it with since <= published_at < until, newest first, and a summary; on the first
    page the newest posts of its own publication, which are not among them, and its storylines.

    Raises: NotFound, with the nearest names; InvalidArgument for a strange cursor.
    """
    entity = find_entity(name)
    total = count_rows(_select_story_ids, entity.pk, since, until)
    about = StoryEntity.objects.about(entity.pk, since, until)
    page, summary = list_coverage(f"entity {entity.slug}", f"naming {entity.name}", about, total, since, until, limit, cursor)
    head = EntityOut.model_construct(
        **dict(_to_link(entity)),
        summary=summary,
        publication=entity.publication.name if entity.publication else None,
        official_posts=_list_official_posts(entity, since, until) if cursor is None else [],
        storylines=_list_storylines(about) if cursor is None else [],
        **dict(page.head),
    )
    return StoriesAnswer(head, page.story_json)


def list_entity_events(entity: Entity, limit: int, cursor: str | None = None) -> EventList:
    """Return events with a report that names it, of all days. Raises: InvalidArgument for a strange cursor."""
    about, total = StoryEntity.objects.about(entity.pk), count_rows(_select_story_ids, entity.pk)
    return build_event_page(f"events naming {entity.slug}", about, total, limit, cursor)


def list_named_entities(story_ids: Collection[str]) -> list[EntityLink]:
    """Return who and what these stories name, or belong to; those that most of them name first."""
    rows = select_shown_entities().filter(story_entities__story__chatbotnews_id__in=list(story_ids))
    counted = rows.annotate(number=Count("story_entities")).order_by("-number", "name")
    return [_to_link(entity) for entity in counted]


def find_query_names(query: str) -> list[EntityLink]:
    """Return who and what a search names, in any capitals."""
    text = normalize_typography(query.casefold())
    finders = ((entity, _build_finder(entity.list_spellings(), entity.list_exceptions())) for entity in select_shown_entities())
    return [_to_link(entity) for entity, finder in finders if finder.is_named_in(text)]


@lru_cache(maxsize=4096)  # a search asks for all names
def _build_finder(spellings: tuple[str, ...], exceptions: tuple[str, ...]) -> NameFinder:
    return NameFinder(map(str.casefold, spellings), map(str.casefold, exceptions))


def _select_story_ids(entity: int, since: dt.datetime | None = None, until: dt.datetime | None = None) -> QuerySet[Any, Any]:
    return StoryEntity.objects.about(entity, since, until).order_by("-published_at").values_list("story")


def _get_address(entity: Entity) -> str:
    return f"{settings.WIRE_SITE_URL}/about/{entity.slug}"


def _to_link(entity: Entity) -> EntityLink:
    return build_from(EntityLink, entity, permalink=_get_address(entity))


def _list_official_posts(entity: Entity, since: dt.datetime | None, until: dt.datetime | None) -> list[OfficialPost]:
    rows = StoryEntity.objects.official(entity.pk).between(since, until).newest_first().values_list(*LINKED_COLUMNS)[:OFFICIAL]
    stories = map(StoryOut.model_validate_json, read_stories_json(rows))
    return [
        build_from(OfficialPost, story, layered_ready=story.citation_objects.layered_ready if story.citation_objects else "")
        for story in stories
    ]


def _list_storylines(about: StoryEntityQuerySet) -> list[EntityStoryline]:
    """Return the storylines of the newest stories, the one with the newest story first."""
    newest = about.newest_first().values_list("story__event", "story__event__storyline")[:LOOKED_AT]
    events = list(dict.fromkeys(event for event, storyline in newest if storyline))
    return [
        build_from(EntityStoryline, storyline, untrusted_instructions=named_after.lead.untrusted_instructions)
        for storyline, _, named_after in list_storylines(events, STORYLINES)
    ]
