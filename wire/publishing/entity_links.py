"""Which stories name which company, person or product; the shipped list of these, and new names that grow."""

import calendar
import datetime as dt
import hashlib
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import orjson
from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from sources.models import Publication
from wire.models import Entity, Story, StoryEntity, StoryRevision, WireState
from wire.publishing.trending import list_growing_names
from wire.text.entity_names import normalize_typography

ENTITIES_FILE: Final = Path(settings.BASE_DIR) / "fixtures" / "entities.json"
WINDOW: Final = dt.timedelta(weeks=4)  # in which a new name has to have grown
MOST_PROPOSED: Final = 30
_BATCH: Final = 2_000
_DATES: Final = {name.casefold() for name in (*calendar.day_name, *calendar.month_name)}


def build_links(published: Sequence[tuple[Story, StoryRevision]]) -> list[StoryEntity]:
    """Return the links of stories, by their texts; those of a name's own publication whether they name it or not."""
    rows = [(story.pk, story.published_at, story.publication_id, text.headline, text.summary_medium) for story, text in published]
    return _match_entities(Entity.objects.filter(state=Entity.State.SHOWN), rows) if rows else []


def _match_entities(entities: Collection[Entity], rows: Sequence[tuple[int, dt.datetime, int, str, str]]) -> list[StoryEntity]:
    publications = dict(Publication.objects.values_list("slug", "pk"))
    finders = [(entity.pk, publications.get(entity.publication_id or ""), entity.finder) for entity in entities]
    return [
        StoryEntity(story_id=story, entity_id=entity, is_official=publication == own, published_at=published_at)
        for story, published_at, publication, *texts in rows
        for text in [normalize_typography(*texts)]
        for entity, own, finder in finders
        if publication == own or finder.is_named_in(text)
    ]


@transaction.atomic
def relink_entities(entities: Collection[Entity]) -> int:
    """Find the stories of these entities anew, in all published stories; return how many links there are. A day need not be
    published again.
    """
    WireState.lock()
    StoryEntity.objects.filter(entity__in=entities).delete()
    shown = [entity for entity in entities if entity.state == Entity.State.SHOWN]
    number = sum(len(StoryEntity.objects.bulk_create(links)) for links in find_entity_links(shown)) if shown else 0
    WireState.raise_version()
    return number


def find_entity_links(entities: Collection[Entity]) -> Iterator[list[StoryEntity]]:
    """Yield the links that these entities must have to all published stories, unsaved, a few thousand stories at a time."""
    columns = ("pk", "published_at", "publication_id", "current__headline", "current__summary_medium")
    rows = Story.objects.live().order_by("pk").values_list(*columns).iterator(_BATCH)
    while batch := list(islice(rows, _BATCH)):
        yield _match_entities(entities, batch)


@transaction.atomic
def sync_shipped_entities(file: Path = ENTITIES_FILE) -> None:
    """Bring the shipped entities up to date with the file, unless they are. What an editor set or refused is never touched."""
    document = file.read_bytes()
    digest, state = hashlib.sha256(document).hexdigest(), WireState.objects.filter(pk=1)
    if state.filter(entities_sha256=digest).exists():
        return
    WireState.lock()
    stored = {entity.slug: entity for entity in Entity.objects.all()}
    editors = [entity for entity in stored.values() if not entity.is_shipped and entity.state != Entity.State.PROPOSED]
    decided = {spelling.casefold() for entity in editors for spelling in entity.list_spellings()}
    changed = []
    for row in orjson.loads(document):
        values = {
            "name": row["name"],
            "kind": row["kind"],
            **{name: "\n".join(row.get(name, [])) for name in ("spellings", "exceptions")},
            "publication_id": row.get("publication"),
            **{"is_shipped": True, "state": Entity.State.SHOWN, "reason": ""},
        }
        entity = stored.pop(row["slug"], None) or Entity(slug=row["slug"])
        spellings = {spelling.casefold() for spelling in (row["name"], *row.get("spellings", []))}
        is_editors = entity in editors or not decided.isdisjoint(spellings)  # perhaps at another address
        if not is_editors and any(getattr(entity, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(entity, name, value)
            changed.append(entity)
    Entity.objects.filter(pk__in=[entity.pk for entity in stored.values() if entity.is_shipped]).delete()
    Entity.objects.bulk_create([entity for entity in changed if entity.pk is None])
    fields = ["name", "kind", "spellings", "exceptions", "publication", "is_shipped", "state", "reason"]
    Entity.objects.bulk_update([entity for entity in changed if entity.pk is not None], fields)
    if Story.objects.published().exists():
        relink_entities(Entity.objects.filter(slug__in=[entity.slug for entity in changed]))
    state.update(entities_sha256=digest)


@transaction.atomic
def propose_new_names() -> None:
    """Propose names that grew in the four weeks before the newest story and that no editor has decided about; drop proposals whose
    names grow no more.
    """
    newest = Story.objects.live().order_by("-published_at").values_list("published_at", flat=True).first()
    if newest is None:
        return
    growing = [*list_growing_names(newest - WINDOW, newest)]  # counted before others have to wait
    WireState.lock()
    decided = Entity.objects.exclude(state=Entity.State.PROPOSED)
    known = {spelling.casefold() for entity in decided for spelling in entity.list_spellings()}
    for name, aliases in Publication.objects.values_list("name", "aliases"):
        known |= {one.casefold() for one in (name, *aliases)}
    slugs = set(decided.values_list("slug", flat=True))
    proposed: dict[str, Entity] = {}
    for growth in growing:
        slug = slugify(growth.name)[:60]
        is_date = not _DATES.isdisjoint(growth.name.casefold().split())
        if growth.name.casefold() not in known and not is_date and slug and slug not in slugs and len(growth.name) <= 80:
            reason = f"{growth.stories} stories in the four weeks to {newest:%-d %B %Y}, {growth.expected:g} expected."
            entity = Entity(slug=slug, name=growth.name, kind=Entity.NameKind.PRODUCT, state=Entity.State.PROPOSED, reason=reason)
            proposed.setdefault(slug, entity)
    chosen = list(proposed.values())[:MOST_PROPOSED]
    Entity.objects.filter(state=Entity.State.PROPOSED).exclude(slug__in=[entity.slug for entity in chosen]).delete()
    Entity.objects.bulk_create(chosen, update_conflicts=True, unique_fields=["slug"], update_fields=["name", "reason"])
