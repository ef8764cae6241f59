"""Five real feeds of 19 months, replayed day by day, against what another reader of the same XML counts.

The recordings are no part of the project; where they are absent, these tests are skipped.
"""

import datetime as dt
import html
import io
import tarfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings
from django.core.management import call_command
from pytest_django import DjangoDbBlocker

from tests.wire.archives import dump, replace_publication, verifywire
from wire.models import Snapshot, Story, StoryRevision, WireState
from wire.vocabulary import Status

HISTORY = Path(settings.BASE_DIR).parent / "shared" / "data" / "feeds_history"
RECORDED = {
    "feed_meta_ai": "meta-ai-blog",
    "feed_google_ai": "google-ai-blog",
    "feed_mistral": "mistral",
    "feed_cohere": "cohere",
    "feed_perplexity_hub": "perplexity",
}
IN_PLACE_OF = {"mistral": "fortune", "cohere": "engadget", "perplexity": "semafor"}
THINNED = {"feed_meta_ai", "feed_cohere"}  # they grow by little and are long
EMPTY = b'<?xml version="1.0"?><rss version="2.0"><channel><title>A day without items</title></channel></rss>'

pytestmark = [
    pytest.mark.skipif(not HISTORY.is_dir(), reason="the recorded feeds are not here"),
    pytest.mark.django_db,
]


@dataclass(slots=True)
class Told:
    """What one publication's files say, read with nothing of the wire's own."""

    headlines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By address: every headline in turn, without the days on which it stayed as it was."""
    guids: set[tuple[str, str]] = field(default_factory=set)
    last: set[str] = field(default_factory=set)
    """Addresses in the last file that has any."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the files tell by publication, and what the wire was after each of two replays."""

    told: dict[str, Told]
    dumps: list[bytes]
    versions: list[int]


def unpack(archive: str, target: Path) -> list[Path]:
    """The recorded files, oldest first. Of the two largest feeds, every fourth and all that differ from the day before."""
    target.mkdir()
    before: set[tuple[str, str]] = set()
    with tarfile.open(HISTORY / f"{archive}.tar.gz") as packed:
        members = sorted((member for member in packed if member.isfile()), key=lambda member: member.name)
        for number, member in enumerate(members):
            source = packed.extractfile(member)
            assert source is not None
            content = source.read()
            now = {(url, headline) for url, headline, _ in items(content)}
            if number % 4 == 0 or now != before or archive not in THINNED:
                (target / Path(member.name).name).write_bytes(content)
            before = now
    return sorted(target.iterdir())


def items(content: bytes) -> list[tuple[str, str, str]]:
    """Address, headline and GUID of each item."""
    found = ET.fromstring(content).findall("./channel/item")  # noqa: S314  recordings, not news
    fields = [[(item.findtext(name) or "").strip() for name in ("link", "title", "guid")] for item in found]
    return [
        (quote(url.rstrip("/"), safe="/:%?&=+"), " ".join(html.unescape(headline).split()), guid) for url, headline, guid in fields
    ]


def tell(files: list[Path]) -> Told:
    told = Told()
    for file in files:
        found = items(file.read_bytes())
        for url, headline, guid in found:
            if told.headlines[url][-1:] != [headline]:
                told.headlines[url].append(headline)
            told.guids.add((guid, url))
        told.last = {url for url, _, _ in found} or told.last
    return told


def add_an_empty_day(newest: Path) -> None:
    day = dt.date.fromisoformat(newest.stem) + dt.timedelta(days=1)
    newest.with_stem(day.isoformat()).write_bytes(EMPTY)


def replay(directory: Path) -> None:
    err = io.StringIO()
    call_command("ingest", from_files=directory, stdout=io.StringIO(), stderr=err)
    assert err.getvalue() == ""


@pytest.fixture(scope="module")
def replayed(
    django_db_setup: None,  # noqa: ARG001
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Replayed]:
    """All five feeds, replayed twice."""
    directory, dumps = tmp_path_factory.mktemp("history"), tmp_path_factory.mktemp("dumps")
    told = {}
    for archive, slug in RECORDED.items():
        files = unpack(archive, directory / slug)
        told[slug] = tell(files)
        add_an_empty_day(files[-1])
    with django_db_blocker.unblock():
        try:
            for slug, retired in IN_PLACE_OF.items():
                replace_publication(retired, slug, slug.title())
            written, versions = [], []
            for turn in ("first", "second"):
                replay(directory)
                written.append(dump(dumps / f"{turn}.ndjson"))
                versions.append(WireState.objects.get().version)
            yield Replayed(told, written, versions)
        finally:
            call_command("flush", interactive=False, verbosity=0)


@pytest.mark.parametrize("slug", RECORDED.values())
def test_every_address_that_any_file_held_is_a_story(replayed: Replayed, slug: str) -> None:
    stored = Story.objects.filter(publication__slug=slug).values_list("original_url", flat=True)
    assert len(replayed.told[slug].headlines) >= 50
    assert sorted(stored) == sorted(replayed.told[slug].headlines)


@pytest.mark.parametrize("slug", RECORDED.values())
def test_no_two_stories_share_a_guid_and_a_headline(replayed: Replayed, slug: str) -> None:
    rows = Story.objects.filter(publication__slug=slug).exclude(guid="").values_list("guid", "current__headline")
    assert len(set(rows)) == len(rows) == len([guid for guid, _ in replayed.told[slug].guids if guid])


@pytest.mark.parametrize("slug", RECORDED.values())
def test_every_edited_headline_is_a_revision_and_the_old_text_stays(replayed: Replayed, slug: str) -> None:
    revisions = StoryRevision.objects.filter(story__publication__slug=slug).order_by("story", "revision")
    stored: dict[str, list[str]] = defaultdict(list)
    for url, headline in revisions.values_list("story__original_url", "headline"):
        if stored[url][-1:] != [headline]:
            stored[url].append(headline)
    assert stored == replayed.told[slug].headlines


def test_some_headlines_were_edited(replayed: Replayed) -> None:
    edited = [url for told in replayed.told.values() for url, headlines in told.headlines.items() if len(headlines) > 1]
    assert len(edited) >= 4


@pytest.mark.parametrize("slug", ["google-ai-blog", "meta-ai-blog", "perplexity"])
def test_what_vanished_from_a_feed_stays_on_the_wire(replayed: Replayed, slug: str) -> None:
    vanished = set(replayed.told[slug].headlines) - replayed.told[slug].last
    assert vanished
    assert set(Story.objects.live().values_list("original_url", flat=True)) >= vanished


def test_a_day_whose_file_holds_no_item_withdraws_nothing(replayed: Replayed) -> None:
    assert replayed.told
    assert set(Story.objects.values_list("status", flat=True)) == {Status.LIVE}
    assert set(StoryRevision.objects.values_list("status", flat=True)) == {Status.LIVE}


def test_every_story_is_published_and_waits_for_nothing(replayed: Replayed) -> None:
    assert Story.objects.published().count() == sum(len(told.headlines) for told in replayed.told.values())
    assert not Story.objects.pending().exists()


def test_a_second_replay_changes_not_a_byte(replayed: Replayed) -> None:
    first, second = replayed.dumps
    assert first == second
    assert replayed.versions[0] == replayed.versions[1] > 1


def test_the_chain_that_came_of_it_verifies(replayed: Replayed) -> None:
    said = verifywire()
    assert f" {len(StoryRevision.objects.all()):,} revisions verify" in said
    assert replayed.dumps[0].count(b'"kind":"snapshot"') == Snapshot.objects.count() > 100
