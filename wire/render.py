"""A stored story as it is shown: made into JSON when it changes, and taken from there when somebody asks."""

import logging
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson
import zstandard
from django.conf import settings

from citations.formats import citation_objects
from sources.vocabulary import Tier
from wire.citing import citable, permalink
from wire.models import Story, StoryJson, StoryRevision
from wire.schemas import CitationObjects, StoryOut
from wire.vocabulary import Category, Status, Topic

log = logging.getLogger(__name__)

RENDERING: Final = 2
"""Raise it whenever what a story's JSON says or how a citation reads changes: whatever was kept before is then made anew."""

BATCH: Final = 500

Reader = Callable[[bytes], Any]
"""What becomes of a story's JSON in an answer."""

as_schema: Final[Reader] = StoryOut.model_validate_json
"""For the site and whoever looks into a story."""
as_json: Final[Reader] = orjson.Fragment
"""For programs: passed on as it is."""
as_values: Final[Reader] = orjson.loads


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
    told = {one.pk: unpacked(one) for one in stored}
    missing = [pk for pk, json in told.items() if json is None]
    made = {story.pk: story_json(story) for story in Story.objects.filter(pk__in=missing).with_text()} if missing else {}
    return [told[one.pk] or made[one.pk] for one in stored]


def unpacked(stored: Stored) -> bytes | None:
    """The JSON kept; None for one that does not fit, or whose bytes were damaged: its checksum tells."""
    if not stored.fits or stored.packed is None:
        return None
    try:
        return _decompressed(stored.packed)
    except zstandard.ZstdError as error:
        log.error("The JSON kept of %s is damaged (%s); it is made anew. Run manage.py verifywire.", stored.chatbotnews_id, error)
        return None


def keep(published: Sequence[tuple[Story, StoryRevision]]) -> None:
    """Make and keep the JSON of these stories, as the revision with each tells it."""
    rows = [_row(story, revision) for story, revision in published]
    fields = ["revision", "made_of", "packed"]
    StoryJson.objects.bulk_create(rows, batch_size=BATCH, update_conflicts=True, unique_fields=["story"], update_fields=fields)


def keep_all(progress: Callable[[int], None] = lambda _number: None) -> int:
    """Make the JSON of every story whose kept one does not fit, in pieces that hold up nobody. How many that were."""
    number, last = 0, 0
    rows = Story.objects.published().select_related("current", "json").defer("json__packed").order_by("pk")
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        old = [story for story in batch if not _fits(story)]
        keep([(story, story.current) for story in old if story.current])
        number += len(old)
        if old:
            progress(number)
    return number


def _fits(story: Story) -> bool:
    owed = str(story.event_id), story.consensus_score, story.cross_source_count
    return hasattr(story, "json") and story.json.made_of == _made_of(story.current_id or 0, *owed)


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


def _row(story: Story, revision: StoryRevision) -> StoryJson:
    owed = str(story.event_id), story.consensus_score, story.cross_source_count
    told = revision_out(story, revision, *owed).model_dump_json(by_alias=True).encode()
    return StoryJson(story=story, revision=revision.revision, made_of=_made_of(revision.pk, *owed), packed=_packer().compress(told))


def _made_of(revision: int, event_id: str, score: float, count: int) -> str:
    return f"{_edition(settings.WIRE_SITE_URL)} {revision} {event_id} {float(score)} {count}"


@lru_cache(maxsize=10)
def _edition(site: str) -> str:
    """Permalinks and citations name the site."""
    return f"{RENDERING}-{zlib.crc32(site.encode()):08x}"


@lru_cache(maxsize=1000)
def _decompressed(packed: bytes) -> bytes:
    """The newest stories stand in many lists: they stay unpacked, in 4 MB."""
    return _zstd().decompress(packed)


_own = threading.local()  # zstd's contexts are not for two threads at once


def _zstd() -> zstandard.ZstdDecompressor:
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    found: zstandard.ZstdDecompressor = _own.decompressor
    return found


def _packer() -> zstandard.ZstdCompressor:
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
    found: zstandard.ZstdCompressor = _own.compressor
    return found
