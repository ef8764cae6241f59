"""Entries as feeds give them, and stories made of them through the real pipeline."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import factory

from sources.choices import FeedType
from sources.entries import Entry
from sources.models import Feed, FetchHost
from tests.feedserver import FeedServer
from wire.ingest import classifier_terms
from wire.ingest.draft_comparison import Outcome
from wire.ingest.normalise import Context, Rejected
from wire.ingest.save import save_entries
from wire.models import Snapshot, Story
from wire.ops.archive.reader import load_items
from wire.publishing.publish import publish_pending
from wire.text.identity import canonical_url, chatbotnews_id

NOW = dt.datetime(2026, 1, 16, 12, 0, tzinfo=dt.UTC)
DAY = dt.date(2026, 1, 15)
SAMPLE = Path(__file__).parent.parent / "fixtures" / "sample"


def _host(publisher: str) -> str:
    return "techcrunch.com" if publisher == "TechCrunch" else "publisher.example"


class EntryFactory(factory.Factory):
    """A plain TechCrunch item of 15 January 2026; every one has an address, a headline and a summary of its own.

    Of another publisher, it has an address that is none of the roster's.
    """

    class Meta:
        model = Entry

    publisher = "TechCrunch"
    title = factory.Sequence(lambda n: f"Quince Robotics model number {n} learns trick {n * 7919}")
    url = factory.LazyAttributeSequence(lambda made, n: f"https://{_host(made.publisher)}/2026/01/15/story-{n}/")
    published_at = "2026-01-15T10:00:00Z"
    summary = factory.Sequence(lambda n: f"This is number {n}. There is more in {n * 7919}.")

    @classmethod
    def _setup_next_sequence(cls) -> int:
        return 100  # smaller numbers are words like others, and stories of two days could become one event


def entry(**values: Any) -> Entry:
    made: Entry = EntryFactory(**values)
    return made


def take(*entries: Entry, now: dt.datetime = NOW) -> list[Outcome | Rejected]:
    """Take entries in, without publishing."""
    return save_entries(entries, Context.load(classifier_terms.load_lexicon(), now))


def see(feed: Feed, *entries: Entry, now: dt.datetime = NOW) -> list[Outcome | Rejected]:
    """Take entries in as `feed` showed them at `now`, without publishing."""
    context = Context.load(classifier_terms.load_lexicon(), now).bind_feed(feed, now)
    return save_entries([made.with_publisher(feed.publication.name) for made in entries], context)


def feed_of(slug: str) -> Feed:
    """The first feed of a publication of the roster."""
    return Feed.objects.select_related("publication").filter(publication__slug=slug).order_by("id")[0]


def second_feed(slug: str, **values: Any) -> Feed:
    """One more feed of a publication, of its own site and about AI alone unless told otherwise."""
    usual = {"feed_type": FeedType.RSS, "url": f"https://{slug}.example/second", "ai_only": True}
    made: Feed = Feed.objects.create(publication=feed_of(slug).publication, **(usual | values))
    return made


def served_feed(server: FeedServer, slug: str, path: str = "/feed") -> Feed:
    """The first feed of a publication, moved to a server of the tests, which may be asked at once: its robots.txt is known."""
    feed = feed_of(slug)
    feed.feed_type, feed.url, feed.query = FeedType.RSS, server.url(path), ""
    feed.save()
    known = {"robots": "", "robots_at": dt.datetime.now(dt.UTC)}
    FetchHost.objects.update_or_create(host=f"127.0.0.1:{server.port}", defaults=known)
    return feed


def publish(*entries: Entry, now: dt.datetime = NOW) -> list[Snapshot]:
    """Take entries in and publish every day that waits."""
    take(*entries, now=now)
    return publish_pending(now=now)


def published(**values: Any) -> Story:
    """An entry of these values, taken in and published: its story."""
    made = entry(**values)
    publish(made)
    return story_of(made)


def publish_sample() -> None:
    """Take the sample wire in and publish it, the day after its last."""
    for file in sorted(SAMPLE.glob("*.ndjson")):
        load_items(file, {})
    publish_pending(now=dt.datetime(2026, 10, 16, 12, 0, tzinfo=dt.UTC))


def next_lexicon(folder: Path, **relevance: float) -> Path:
    """The file that another edition of the wire ships: today's, with these relevance terms in place of its own."""
    document = json.loads(classifier_terms.TAXONOMY_FILE.read_text(encoding="utf-8"))
    document["relevance"] = {"ai": relevance}
    file = folder / "taxonomy.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def story_of(made: Entry) -> Story:
    """The stored story of an entry."""
    return Story.objects.select_related("current", "publication").get(chatbotnews_id=chatbotnews_id(canonical_url(made.url)))
