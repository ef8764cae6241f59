"""A stored story as it is shown: made into JSON when it changes, and taken from there when somebody asks.

The JSON is what readers get, and no hash of the record covers it. So each row is sealed: a keyed hash of it (BLAKE2b, the key
derived from SECRET_KEY) stands before its bytes and is checked whenever they are read. What this installation did not write so is
made anew from the revision. `verifywire` compares the whole table with what the revisions say.
"""

import hmac
import logging
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b, sha512
from typing import Any, Final, NamedTuple

import zstandard
from django.conf import settings

from citations.formats import citation_objects
from sources.vocabulary import Tier
from wire.models import Story, StoryJson, StoryRevision
from wire.models.inserted import insert, or_else
from wire.schemas import CitationObjects, StoryOut
from wire.snapshots.citing import citable, permalink
from wire.stories.vocabulary import Category, Status, Topic

log = logging.getLogger(__name__)

RENDERING: Final = 5
"""Raise it whenever what a story's JSON says or how a citation reads changes: whatever was kept before is then made anew."""

BATCH: Final = 500
SEAL: Final = 16  # bytes in front of the packed JSON


class Stored(NamedTuple):
    """What is read of a story to show it; in the order of COLUMNS."""

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
    def fits(self) -> bool:
        """Whether the JSON kept is of the story as it is now."""
        return self.made_of == _made_of(self.current_id, self.event_id, self.consensus_score, self.cross_source_count)


COLUMNS: Final = (
    *("pk", "chatbotnews_id", "current_id", "event_id", "consensus_score", "cross_source_count"),
    *("json__revision", "json__made_of", "json__packed"),
)


def shown(rows: Iterable[Sequence[Any]]) -> list[bytes]:
    """The JSON of each of these stories (`COLUMNS` of Story), in their order."""
    stored = [Stored(*row) for row in rows]
    unpacked_rows = {one.pk: unpacked(one) for one in stored}
    missing = [pk for pk, json in unpacked_rows.items() if json is None]
    made = {story.pk: story_json(story) for story in Story.objects.filter(pk__in=missing).with_text()} if missing else {}
    return [unpacked_rows[one.pk] or made[one.pk] for one in stored]


def unpacked(stored: Stored) -> bytes | None:
    """The JSON kept; None for one that does not fit, or whose seal does not: damaged, or not written by this installation."""
    if not stored.fits or stored.packed is None:
        return None
    try:
        return _opened(_about(stored.revision, stored.made_of), stored.packed)
    except (TypeError, ValueError) as error:
        log.error("The JSON kept of %s is damaged (%s); it is made anew. Run manage.py verifywire.", stored.chatbotnews_id, error)
        return None


def store(published: Sequence[tuple[Story, StoryRevision]]) -> None:
    """Make and store the JSON of these stories, each in the revision beside it."""
    names = ("revision", "made_of", "packed")
    insert(StoryJson, ("story_id", *names), (_row(story, revision) for story, revision in published), or_else("story_id", names))


def render_outdated(progress: Callable[[int], None] = lambda _number: None) -> int:
    """Make the JSON of every story whose kept one cannot be shown, in pieces that hold up nobody. How many that were."""
    number, last = 0, 0
    rows = Story.objects.published().select_related("current", "json").order_by("pk")
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        old = [story for story in batch if unpacked(stored(story)) is None]
        store([(story, story.current) for story in old if story.current])
        number += len(old)
        if old:
            progress(number)
    return number


def stored(story: Story) -> Stored:
    """What a reader of COLUMNS gets of a published story that was read with its `json`."""
    kept = getattr(story, "json", None)
    row = (kept.revision, kept.made_of, kept.packed) if kept else (None, None, None)
    return Stored(
        story.pk,
        story.chatbotnews_id,
        story.current_id or 0,
        str(story.event_id),
        story.consensus_score,
        story.cross_source_count,
        *row,
    )


def matches_revision(story: Story) -> bool:
    """Whether the JSON kept of a published story, read with `current` and `json`, is what its revision says. One that does not fit
    is shown to nobody, so it may be whatever it is.
    """
    kept = stored(story)
    try:
        return not kept.fits or (story.current is not None and unpacked(kept) == story_json(story))
    except ValueError:  # a revision that cannot be rendered, such as one of an unknown category
        return False


def outdated_count() -> int:
    """How many published stories have no JSON of today's edition, and are rendered whenever somebody asks for them."""
    edition = _edition(settings.WIRE_SITE_URL, settings.SECRET_KEY)
    return Story.objects.published().count() - StoryJson.objects.filter(made_of__startswith=f"{edition} ").count()


def story_json(story: Story) -> bytes:
    return story_out(story).model_dump_json(by_alias=True).encode()


def story_out(story: Story) -> StoryOut:
    """The story as its published revision and its day's latest snapshot have it."""
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    return revision_out(story, story.current, str(story.event_id), story.consensus_score, story.cross_source_count)


def revision_out(story: Story, revision: StoryRevision, event_id: str, score: float, count: int) -> StoryOut:
    """A story as one snapshot has it. Not validated again: everything stored was, and a day has hundreds."""
    cited = None
    if revision.status != Status.WITHDRAWN:
        cited = CitationObjects.model_construct(None, **citation_objects(citable(story, revision)))
    return StoryOut.model_construct(
        chatbotnews_id=story.chatbotnews_id,
        permalink=permalink(story.chatbotnews_id),
        headline=revision.headline,
        author=revision.author,
        category=Category(revision.category),
        topics=[Topic(topic) for topic in revision.topics],
        original_publisher=revision.original_publisher,
        original_publisher_tier=revision.original_publisher_tier,
        original_publisher_tier_label=str(Tier(revision.original_publisher_tier).label),
        original_url=story.original_url,
        via=revision.via,
        credited_source=revision.credited_source,
        published_at=revision.published_at,
        published_at_estimated=revision.published_at_estimated,
        first_seen_at=story.first_seen_at,
        updated_at=revision.recorded_at,
        summary_short=revision.summary_short,
        summary_medium=revision.summary_medium,
        language=revision.language,
        untrusted_instructions=revision.untrusted_instructions,
        consensus_score=float(score),  # a manifest, canonical JSON, has 0 for 0.0
        cross_source_count=count,
        event_id=event_id,
        status=Status(revision.status),
        revision=revision.revision,
        story_sha256=revision.story_sha256,
        citation_objects=cited,
    )


def _row(story: Story, revision: StoryRevision) -> tuple[int, int, str, bytes]:
    derived = str(story.event_id), story.consensus_score, story.cross_source_count
    json = revision_out(story, revision, *derived).model_dump_json(by_alias=True).encode()
    made_of, compressed = _made_of(revision.pk, *derived), _packer().compress(json)
    seal = _seal(settings.SECRET_KEY, _about(revision.revision, made_of), compressed)
    return story.pk, revision.revision, made_of, seal + compressed


def _made_of(revision: int, event_id: str, score: float, count: int) -> str:
    """Of one story alone, since no two share a revision: a row that was moved to another story fits it not."""
    return f"{_edition(settings.WIRE_SITE_URL, settings.SECRET_KEY)} {revision} {event_id} {float(score)} {count}"


@lru_cache(maxsize=10)
def _edition(site: str, secret: str) -> str:
    """Permalinks and citations name the site; under another secret there are other seals."""
    return f"{RENDERING}-{zlib.crc32(site.encode()):08x}-{_seal(secret, '', b'').hex()[:8]}"


def _about(revision: int | None, made_of: str | None) -> str:
    """The columns beside the packed JSON, as its seal covers them."""
    return f"{revision} {made_of}\n"


def _seal(secret: str, about: str, compressed: bytes) -> bytes:
    seal = _sealer(secret).copy()
    seal.update(about.encode())
    seal.update(compressed)
    return seal.digest()


@lru_cache(maxsize=10)
def _sealer(secret: str) -> blake2b:
    return blake2b(key=sha512(secret.encode()).digest(), digest_size=SEAL, person=b"wire.story_json")


@lru_cache(maxsize=1000)
def _opened(about: str, packed: bytes) -> bytes:
    """The newest stories stand in many lists: they stay unpacked, in 4 MB. Raises: TypeError, ValueError for bytes without their
    seal.
    """
    compressed = packed[SEAL:]
    if not hmac.compare_digest(packed[:SEAL], _seal(settings.SECRET_KEY, about, compressed)):
        raise ValueError("its seal is not of these bytes")
    return _zstd().decompress(compressed)


_own = threading.local()  # zstd's contexts are not for two threads at once


def _zstd() -> zstandard.ZstdDecompressor:
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    found: zstandard.ZstdDecompressor = _own.decompressor
    return found


def _packer() -> zstandard.ZstdCompressor:
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=3)
    found: zstandard.ZstdCompressor = _own.compressor
    return found
