"""Stories as JSON, rendered and stored when they change. Each row is sealed by a keyed hash before its bytes (BLAKE2b, the key
derived from SECRET_KEY); JSON without its seal is rendered anew from the revision.
"""

import hmac
import logging
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b, sha512
from typing import Any, Final, NamedTuple

import zstandard
from django.conf import settings

from citations.format.formats import Citable, build_citation_objects
from sources.choices import Tier
from wire.models import Story, StoryJson, StoryRevision
from wire.schemas.story import CitationObjects, StoryOut
from wire.text.choices import Category, Status, Topic

log = logging.getLogger(__name__)

RENDERING: Final = 8
# Raise it whenever what a story's JSON says or how a citation reads changes: all stored JSON is then rendered anew.
BATCH: Final = 500
SEAL: Final = 16  # bytes in front of the packed JSON


class Derived(NamedTuple):
    """Fields of a story that depend on the others of its event."""

    event_id: str
    consensus_score: float
    cross_source_count: int

    @classmethod
    def from_manifest(cls, line: Mapping[str, Any]) -> "Derived":
        """Read a story's line of a manifest."""
        return cls(*(line[name] for name in cls._fields))

    @classmethod
    def from_story(cls, story: "Story | StoredStory") -> "Derived":
        return cls(str(story.event_id), story.consensus_score, story.cross_source_count)


class StoredStory(NamedTuple):
    """A story's row with its JSON; in the order of COLUMNS."""

    pk: int
    chatbotnews_id: str
    current_id: int
    event_id: str
    consensus_score: float
    cross_source_count: int
    revision: int | None
    made_of: str | None
    packed: bytes | None

    @property
    def is_current(self) -> bool:
        return self.made_of == _compute_state(self.current_id, Derived.from_story(self))


# Fields of a story's JSON that its revision has under the same name.
COPIED: Final = (
    *("headline", "author", "original_publisher", "original_publisher_tier", "via", "credited_source", "published_at"),
    *("published_at_estimated", "summary_short", "summary_medium", "language", "untrusted_instructions", "revision"),
    "story_sha256",
)
COLUMNS: Final = (
    *("pk", "chatbotnews_id", "current_id", "event_id", "consensus_score", "cross_source_count"),
    *("json__revision", "json__made_of", "json__packed"),
)


def read_stories_json(rows: Iterable[Sequence[Any]]) -> list[bytes]:
    """Return the JSON of each of these stories (`COLUMNS` of Story), in their order."""
    stored = [StoredStory(*row) for row in rows]
    found = {row.pk: unpack_json(row) for row in stored}
    if missing := [pk for pk, json in found.items() if json is None]:
        found |= {story.pk: render_story_json(story) for story in Story.objects.filter(pk__in=missing).with_text()}
    return [json for row in stored if (json := found[row.pk]) is not None]


def unpack_json(stored: StoredStory) -> bytes | None:
    """Return the stored JSON; None if it or its seal does not fit: damaged, or not written by this installation."""
    if not stored.is_current or stored.packed is None:
        return None
    try:
        return _unpack_sealed(f"{stored.revision} {stored.made_of}\n", stored.packed)
    except (TypeError, ValueError) as error:
        log.error("Stored JSON of %s is damaged (%s); rendered again. Run manage.py verifywire.", stored.chatbotnews_id, error)
        return None


def store_story_json(published: Sequence[tuple[Story, StoryRevision]]) -> None:
    """Render and store the JSON of these stories, each in the revision beside it."""
    packer, rows = zstandard.ZstdCompressor(level=3), []
    for story, revision in published:
        compressed = packer.compress(render_revision_json(story, revision, Derived.from_story(story)))
        made_of = _compute_state(revision.pk, Derived.from_story(story))
        seal = _compute_seal(settings.SECRET_KEY, f"{revision.revision} {made_of}\n", compressed)
        rows.append(StoryJson(story_id=story.pk, revision=revision.revision, made_of=made_of, packed=seal + compressed))
    changing = ["revision", "made_of", "packed"]
    StoryJson.objects.bulk_create(rows, update_conflicts=True, update_fields=changing, unique_fields=["story"])


def render_outdated_json(progress: Callable[[int], None] = lambda _number: None) -> int:
    """Render every story whose stored JSON cannot be shown, in batches that hold up nobody. Return how many."""
    number, last = 0, 0
    rows = Story.objects.published().select_related("current", "json").order_by("pk")
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        old = [story for story in batch if unpack_json(_read_stored(story)) is None]
        store_story_json([(story, story.current) for story in old if story.current])
        number += len(old)
        if old:
            progress(number)
    return number


def _read_stored(story: Story) -> StoredStory:
    json = getattr(story, "json", None)
    packed = (json.revision, json.made_of, json.packed) if json else (None, None, None)
    return StoredStory(story.pk, story.chatbotnews_id, story.current_id or 0, *Derived.from_story(story), *packed)


def matches_revision(story: Story) -> bool:
    """Return whether the stored JSON of a published story is what its revision says. JSON that does not fit is shown to nobody."""
    row = _read_stored(story)
    try:
        return not row.is_current or (story.current is not None and unpack_json(row) == render_story_json(story))
    except ValueError:  # a revision that cannot be rendered, such as one of an unknown category
        return False


def count_outdated_json() -> int:
    """Count published stories without JSON of today's edition, which are rendered whenever somebody asks for them."""
    edition = _name_edition(settings.WIRE_SITE_URL, settings.SECRET_KEY)
    return Story.objects.published().count() - StoryJson.objects.filter(made_of__startswith=f"{edition} ").count()


def render_story_json(story: Story) -> bytes:
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    return render_revision_json(story, story.current, Derived.from_story(story))


def render_revision_json(story: Story, revision: StoryRevision, derived: Derived) -> bytes:
    """Return the JSON of a story as one snapshot has it."""
    return build_story_out(story, revision, derived).model_dump_json(by_alias=True).encode()


def build_story_out(story: Story, revision: StoryRevision, derived: Derived) -> StoryOut:
    """Return a story as one snapshot has it. Not validated again: everything stored was, and a day has hundreds."""
    is_withdrawn = revision.status == Status.WITHDRAWN
    cited = None if is_withdrawn else CitationObjects.model_construct(None, **build_citation_objects(to_citable(story, revision)))
    return StoryOut.model_construct(
        **{name: getattr(revision, name) for name in COPIED},
        chatbotnews_id=story.chatbotnews_id,
        permalink=get_permalink(story.chatbotnews_id),
        category=Category(revision.category),
        topics=[Topic(topic) for topic in revision.topics],
        original_publisher_tier_label=str(Tier(revision.original_publisher_tier).label),
        original_url=story.original_url,
        first_seen_at=story.first_seen_at,
        updated_at=revision.recorded_at,
        consensus_score=float(derived.consensus_score),  # a manifest, canonical JSON, has 0 for 0.0
        cross_source_count=derived.cross_source_count,
        event_id=derived.event_id,
        status=Status(revision.status),
        citation_objects=cited,
        merged_into=(story.merged_into or "") if is_withdrawn else "",
    )


def _compute_state(revision: int, derived: Derived) -> str:
    """Return all that a story's JSON is made of. No two stories share a revision, so it fits no other story's row."""
    event_id, score, count = derived
    return f"{_name_edition(settings.WIRE_SITE_URL, settings.SECRET_KEY)} {revision} {event_id} {float(score)} {count}"


@lru_cache(maxsize=10)
def _name_edition(site: str, secret: str) -> str:
    """Permalinks and citations name the site; under another secret there are other seals."""
    return f"{RENDERING}-{zlib.crc32(site.encode()):08x}-{_compute_seal(secret, '', b'').hex()[:8]}"


def _compute_seal(secret: str, about: str, compressed: bytes) -> bytes:
    """Return the seal of packed JSON; `about` names the columns beside it."""
    key = sha512(secret.encode()).digest()
    return blake2b(about.encode() + compressed, key=key, digest_size=SEAL, person=b"wire.story_json").digest()


@lru_cache(maxsize=1000)  # the newest stories stand in many lists: they stay unpacked, in 4 MB
def _unpack_sealed(about: str, packed: bytes) -> bytes:
    """Raises: TypeError, ValueError for bytes without their seal."""
    compressed = packed[SEAL:]
    if not hmac.compare_digest(packed[:SEAL], _compute_seal(settings.SECRET_KEY, about, compressed)):
        raise ValueError("its seal does not match these bytes")
    return zstandard.decompress(compressed)


def get_permalink(chatbotnews_id: str) -> str:
    return f"{settings.WIRE_SITE_URL}/story/{chatbotnews_id}"


def to_citable(story: Story, revision: StoryRevision) -> Citable:
    """Everything in it is of the revision and the wire date, so a citation never depends on when it is asked for."""
    return Citable(
        chatbotnews_id=story.chatbotnews_id,
        headline=revision.headline,
        summary_short=revision.summary_short,
        author=revision.author,
        publisher=revision.original_publisher,
        tier=revision.original_publisher_tier,
        credited_source=revision.credited_source,
        original_url=story.original_url,
        permalink=get_permalink(story.chatbotnews_id),
        site=settings.WIRE_SITE_URL,
        wire_date=story.wire_date,
        corrected_on=revision.corrected_on,
    )
