"""Wires of any size for measuring: invented stories written straight into the tables, the same for the same seed.

Nothing is clustered or published in truth, for that takes hours; what is read is as publishing leaves it.
"""

import datetime as dt
import hashlib
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, islice
from operator import itemgetter
from typing import Any, Final, TypeVar

from django.core.management.color import no_style
from django.db import connection, models, transaction

from sources.models import Publication
from wire.models import Event, SearchDocument, SigningKey, Snapshot, Story, StoryRevision, StoryTopic, WireState
from wire.models.search import get_position
from wire.publishing import story_json
from wire.publishing.indexing import build_document
from wire.text import provenance_manifest
from wire.text.choices import Category, Status, Topic
from wire.text.identity import chatbotnews_id

LAST_DAY: Final = dt.date(2026, 10, 31)
A_DAY: Final = 250
"""Stories of a day: ten of each publication, so that a million are eleven years."""
BATCH: Final = 5_000
BASE: Final = 50_000
KNOWN: Final = (
    "AI OpenAI model new Google Microsoft data says Anthropic company Nvidia Meta chip agents billion tech funding ChatGPT GPT-5 "
    "launches raises Claude research startup Gemini security cloud users users training xAI Mistral Perplexity open source law "
    "regulation court robots music video search code workers energy benchmark safety"
).split()
RARE: Final = 60_000
"""Words besides these, most of which stand in a few dozen stories of a million."""

M = TypeVar("M", bound=models.Model)


class Words:
    """Zipf's law: the n-th word is drawn n times as seldom as the first."""

    def __init__(self) -> None:
        dice = random.Random(7)
        made = {
            "".join(dice.choices("bcdfghklmnprstvw", k=2)) + dice.choice("aeiou") + "".join(_syllables(dice)) for _ in range(RARE)
        }
        self.all = [*KNOWN, *sorted(made, key=lambda word: hashlib.sha256(word.encode()).digest())]
        self._weights = list(accumulate((rank + 3) ** -1.1 for rank in range(len(self.all))))

    def draw(self, dice: random.Random, number: int) -> list[str]:
        return dice.choices(self.all, cum_weights=self._weights, k=number)


def _syllables(dice: random.Random) -> Iterator[str]:
    for _ in range(dice.randint(0, 3)):
        yield dice.choice("bcdfghklmnprstvz") + dice.choice("aeiou")


def fill(stories: int) -> None:
    """An empty wire, its roster founded, gets so many stories, A_DAY a day, the last of LAST_DAY.

    Up to BASE are written one by one; more are these again, each time so many days earlier, by the database itself.
    """
    first, copies = min(stories, BASE), -(-stories // BASE)
    index = _without_index()
    _write_stories(first)
    for copy in range(1, copies):
        _copy(first, copy)
    _publish()
    with connection.cursor() as cursor:
        for sql in [*index, *connection.ops.sequence_reset_sql(no_style(), [Story, StoryRevision, StoryTopic]), "ANALYZE"]:
            cursor.execute(sql)
    story_json.render_outdated_json()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as its autovacuum does, which may be off or not there yet


def _without_index() -> list[str]:
    """Both databases build their index of words in one go many times as fast as story by story; what builds it."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_get_indexdef('wire_searchindex'::regclass)")
            (made_by,) = cursor.fetchone()
            cursor.execute("DROP INDEX wire_searchindex")
            return ["SET maintenance_work_mem = '1GB'", made_by]
        cursor.execute("PRAGMA foreign_keys=OFF")  # a story and its revision name each other, which makes it look back each time
        cursor.execute("PRAGMA synchronous=OFF")
        cursor.execute("PRAGMA cache_size=-1000000")
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'wire_searchdocument'")
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
    sizes = [f"INSERT INTO wire_searchindex(wire_searchindex, rank) VALUES('hashsize', {size})" for size in (1 << 29, 1 << 20)]
    whole = "INSERT INTO wire_searchindex(rowid, tokens, marks) SELECT entry, tokens, marks FROM wire_searchsource ORDER BY entry"
    return [sizes[0], whole, sizes[1], *(sql for _, sql in triggers)]


def _write_stories(number: int) -> None:
    words, dice = Words(), random.Random(number)
    publications = list(Publication.objects.active().order_by("seat"))
    made = _stories(number, words, dice, publications)
    while batch := list(islice(made, BATCH)):
        with transaction.atomic():
            _write(Event, [Event(event_id=s.event_id) for s, _ in batch if s.event_id == s.chatbotnews_id])
            _write(Story, [story for story, _ in batch])
            _write(StoryRevision, [revision for _, revision in batch])
            topics = [
                StoryTopic(pk=story.pk * 4 + n, story=story, topic=topic, published_at=story.published_at)
                for story, revision in batch
                for n, topic in enumerate(revision.topics)
            ]
            _write(StoryTopic, topics)
            documents = {get_position(s.published_at, s.chatbotnews_id): build_document(s, revision) for s, revision in batch}
            _write(SearchDocument, [SearchDocument(place=at, **fields) for at, fields in sorted(documents.items())])


def _copy(stories: int, copy: int) -> None:
    """The first `stories` stories again, in copy number `copy`, with ids of their own."""
    days, last = copy * stories // A_DAY, "0123456789abcdefghjkmnpqrstvwxyz"[copy]
    is_sqlite = connection.vendor == "sqlite"
    earlier = f"datetime({{}}, '-{days} days')" if is_sqlite else f"{{}} - interval '{days} days'"
    date = f"date({{}}, '-{days} days')" if is_sqlite else f"({{}} - interval '{days} days')::date"
    other_id = f"substr({{}}, 1, 15) || '{last}'"
    by_table: dict[type[models.Model], dict[str, str]] = {
        Event: {"event_id": other_id},
        Story: {
            "id": f"{{}} + {copy * stories}",
            "chatbotnews_id": other_id,
            "event_id": other_id,
            "current_id": f"{{}} + {copy * stories}",
            "wire_date": date,
            "published_at": earlier,
            "first_seen_at": earlier,
        },
        StoryRevision: {
            "id": f"{{}} + {copy * stories}",
            "story_id": f"{{}} + {copy * stories}",
            "published_at": earlier,
            "recorded_at": earlier,
        },
        StoryTopic: {"id": f"{{}} + {copy * stories * 4}", "story_id": f"{{}} + {copy * stories}", "published_at": earlier},
        SearchDocument: {"place": f"{{}} - {days * 86_400 << 20}", "story_id": f"{{}} + {copy * stories}"},
    }
    with transaction.atomic(), connection.cursor() as cursor:
        for model, changed in by_table.items():
            columns = [f'"{field.column}"' for field in model._meta.concrete_fields]
            shown = [changed.get(column.strip('"'), "{}").format(column) for column in columns]
            which = f"{'id' if model is Story else 'story_id'} <= {stories}"
            if model is Event:
                which = f"event_id IN (SELECT chatbotnews_id FROM wire_story WHERE id <= {stories})"  # noqa: S608
            cursor.execute(
                f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) "  # noqa: S608
                f"SELECT {', '.join(shown)} FROM {model._meta.db_table} WHERE {which}"
            )


def _publish() -> None:
    """A snapshot of each day, oldest first."""
    key = SigningKey.objects.create(key_id="0" * 16, public_key="0" * 44, created_at=_moment(LAST_DAY))
    columns = ("wire_date", "chatbotnews_id", "current__revision", "current__story_sha256", "event_id", "consensus_score")
    rows = Story.objects.order_by("wire_date", "-published_at", "chatbotnews_id").values_list(*columns, "cross_source_count")
    previous, waiting = None, list[Snapshot]()
    for sequence, (day, told) in enumerate(groupby(rows.iterator(), itemgetter(0)), start=1):
        previous = _snapshot(sequence, day, [provenance_manifest.build_manifest_story(*row[1:]) for row in told], previous, key)
        waiting.append(previous)
        if len(waiting) == 200:
            _write(Snapshot, waiting)
            waiting = []
    _write(Snapshot, waiting)
    WireState.objects.update(version=1)


def _stories(
    number: int, words: Words, dice: random.Random, publications: Sequence[Publication]
) -> Iterator[tuple[Story, StoryRevision]]:
    """Stories and their revisions, oldest first; a fifth tells of what one before it told."""
    first = LAST_DAY - dt.timedelta(days=number // A_DAY - 1)
    recent: list[str] = []
    for pk in range(1, number + 1):
        day, nth = divmod(pk - 1, A_DAY)
        at = _moment(first + dt.timedelta(days=day)) + dt.timedelta(seconds=nth // 2 * 2 * (86_400 // A_DAY))  # two at a time
        url = f"https://example.org/{pk}"
        story_id = chatbotnews_id(url)[:-1] + "0"  # copies have other last digits
        event = dice.choice(recent) if nth and dice.random() < 0.2 else story_id
        if event == story_id:
            recent = [*recent[-40:], story_id] if nth else [story_id]
        publication = publications[pk % len(publications)]
        category = dice.choices(Category.values, weights=[5, 3, 2, 6, 1])[0]
        headline = " ".join(words.draw(dice, dice.randint(6, 12))).capitalize()
        summary = " ".join(words.draw(dice, dice.randint(20, 60))).capitalize()[:470] + "."
        story = Story(
            pk=pk,
            chatbotnews_id=story_id,
            original_url=url,
            publication=publication,
            guid=url,
            wire_date=at.date(),
            first_seen_at=at,
            pending=False,
            event_id=event,
            current_id=pk,
            status=Status.LIVE,
            category=category,
            tier=publication.tier,
            published_at=at,
            consensus_score=0.6 if event != story_id else 0.0,
            cross_source_count=2 if event != story_id else 1,
        )
        yield story, _revision(story, headline, summary, dice)


def _revision(story: Story, headline: str, summary: str, dice: random.Random) -> StoryRevision:
    topics = sorted({*dice.choices(Topic.values, weights=range(12, 0, -1), k=dice.choice((0, 1, 1, 2, 3)))})
    is_corrected = dice.random() < 0.0005
    return StoryRevision(
        pk=story.pk,
        story=story,
        revision=2 if is_corrected else 1,
        status=story.status,
        headline=headline,
        summary_short=summary[:159] + ".",
        summary_medium=summary,
        category=story.category,
        topics=topics,
        original_publisher=story.publication.name,
        original_publisher_tier=story.tier,
        published_at=story.published_at,
        story_sha256=hashlib.sha256(story.chatbotnews_id.encode()).hexdigest(),
        recorded_at=story.published_at,
        reason="The name was misspelt." if is_corrected else "",
    )


def _snapshot(sequence: int, day: dt.date, lines: Sequence[dict[str, Any]], previous: Snapshot | None, key: SigningKey) -> Snapshot:
    manifest = provenance_manifest.build_manifest(
        wire_date=day,
        revision=1,
        previous_sha256=previous.wire_sha256 if previous else None,
        roster_sha256="0" * 64,
        editor_take=f"# {day}\n\nAn invented day.\n",
        stories=lines,
    )
    canonical = provenance_manifest.canonicalize_json(manifest)
    return Snapshot(
        sequence=sequence,
        wire_date=day,
        revision=1,
        wire_sha256=provenance_manifest.sha256(canonical),
        previous_sha256=previous.wire_sha256 if previous else None,
        roster_sha256="0" * 64,
        generated_at=_moment(day),
        story_count=len(lines),
        packed=zlib.compress(canonical),
        signature="0" * 88,
        key=key,
    )


def _write(model: type[M], rows: Iterable[M]) -> None:
    model._default_manager.bulk_create(rows, batch_size=1_000)


def _moment(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), dt.UTC)
