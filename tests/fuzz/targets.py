"""Readers of strangers' bytes, each with its contract; whatever breaks the contract raises. They need the sample wire.

tests/corpus/ has a file of inputs for each, an input a line as printable ASCII. A coverage-guided search found them: each reached
code that no smaller one reached.
"""

import base64
import datetime as dt
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from citations.find.finder import find_citations
from citations.format.formats import Citable, CitationFormat, cite_story
from config.errors import WireError
from mcpserver.servers.wire import resources
from sources.entries import Entry
from sources.parse import MAX_ITEMS, InvalidFeed, Parsed, parse_feed, parse_page
from sources.parse.links import is_web_url
from tests.citations.reader import read_back
from tests.citations.stories import STORY as CITED
from wire import queries
from wire.ingest import classifier_terms
from wire.ingest.normalise import GOOGLE_NEWS, Context, Rejected, normalise_entry
from wire.search.cursor import decode_cursor, decode_position, encode_cursor, encode_position
from wire.search.ranking import KINDS
from wire.text.choices import Category
from wire.text.identity import canonical_url
from wire.text.plain_text import find_forbidden

Target = Callable[[bytes], None]
CORPUS: Final = Path(__file__).resolve().parents[1] / "corpus"
NOW: Final = dt.datetime(2026, 10, 16, 12, tzinfo=dt.UTC)
FORMATS: Final = tuple(CitationFormat)
LISTS: Final = {"days": 1, "resources": 1, "category launches": 1, **KINDS}

STORY: Final = replace(CITED, headline="", summary_short="", author=None)


def inputs(target: str) -> list[bytes]:
    lines = (CORPUS / f"{target}.txt").read_text(encoding="ascii").splitlines()
    return [line.encode().decode("unicode_escape").encode("latin-1") for line in lines]


def feeds(data: bytes) -> None:
    """Entries that can be made stories or refused by name, or `InvalidFeed`."""
    found: list[Entry] = []
    with suppress(InvalidFeed):
        parsed = parse_feed(data, content_type="text/xml", url="https://wire.example/a/feed")
        _is_sound(parsed)
        found += parsed.entries
    if page := parse_page(data, content_type="text/html", url="https://wire.example/a/b"):
        found.append(page)
    for entry in found[:4]:
        with suppress(Rejected):
            draft = normalise_entry(entry.with_publisher(GOOGLE_NEWS if entry.credited_source else "TechCrunch"), _context())
            assert canonical_url(draft.original_url) == draft.original_url
            texts = (draft.headline, draft.summary_medium, draft.author or "", draft.credited_source or "", draft.guid)
            assert not any(map(find_forbidden, texts))
            assert draft.publication.name in _context().publications


def _is_sound(parsed: Parsed) -> None:
    assert len(parsed.entries) <= MAX_ITEMS
    for entry in parsed.entries:
        assert not entry.image or is_web_url(entry.image)
        assert not entry.source_url or is_web_url(entry.source_url)
        assert len(entry.language) <= 35
        assert entry.published_at is None or isinstance(entry.published_at, dt.datetime)
        assert entry.published_at is None or entry.published_at.tzinfo is dt.UTC


@cache
def _context() -> Context:
    return Context.load(classifier_terms.load_lexicon(), NOW)


def citations(data: bytes) -> None:
    """Citations are looked for in any text without a fault; and whatever a story says, its citation is read back as its own.

    The first byte chooses: a text, or a format and, between NULs, the story's texts.
    """
    if not data:
        return
    text = data[1:].decode("utf-8", "replace")
    if data[0] % 11 == 10:
        find_citations(text)
        return
    form = FORMATS[data[0] % 11]
    texts = (text.split("\0") + [""] * 4)[:4]
    story = replace(STORY, headline=texts[0], summary_short=texts[1], author=texts[2] or None)
    if data[0] & 64:
        story = replace(story, publisher=GOOGLE_NEWS, tier=4, credited_source=texts[3] or None)
    if data[0] & 128:
        story = replace(story, corrected_on=NOW.date())
    if form != CitationFormat.ACADEMIC or not _could_be_two(story):
        _comes_back(story, form)


def _could_be_two(story: Citable) -> bool:
    """Whether its academic citation, of sentences alone, could be another story's: who has an author's name in front cannot tell a
    headline that says what Google News credits from a credit, nor an outlet from the publisher of that name.
    """
    in_headline = f". {GOOGLE_NEWS}, crediting " in f". {story.headline}"
    return story.author is not None and (in_headline or story.credited_source is not None)


def _comes_back(story: Citable, form: CitationFormat) -> None:
    story_id = None if form == CitationFormat.INLINE else story.chatbotnews_id
    assert read_back(cite_story(story, form)) == (form, story_id, story.publisher)


def cursors(data: bytes) -> None:
    """A page of the list that gave the cursor, or a refusal in words; and what was decoded is encoded to what decodes the same.

    The first byte chooses: a cursor as it is sent, or what stands in one.
    """
    if not data:
        return
    raw = data[1:].decode("utf-8", "replace")
    cursor = raw if data[0] % 2 else base64.urlsafe_b64encode(data[1:]).decode().rstrip("=")
    with suppress(WireError):
        kind, values = decode_cursor(cursor, LISTS)
        assert orjson.dumps(decode_cursor(encode_cursor(kind, *values), LISTS)) == orjson.dumps((kind, values))
        place = decode_position(values[0])
        assert decode_position(encode_position(place)) == place
    if _is_one(cursor):
        for ask in _PAGES:
            with suppress(WireError):
                ask(cursor)


def _is_one(cursor: str) -> bool:
    """Whether any list could have given it; a search is too dear to be asked in vain."""
    try:
        decode_cursor(cursor, LISTS)
    except WireError:
        return False
    return True


_PAGES: Final[tuple[Callable[[str], Any], ...]] = (
    lambda cursor: queries.search_wire("openai", cursor=cursor),
    lambda cursor: queries.get_category(Category.LAUNCHES, 2, cursor),
    lambda cursor: queries.list_published_days(2, cursor),
    lambda cursor: resources.list_resources(cursor),
)


TARGETS: Final[Mapping[str, Target]] = {"feeds": feeds, "citations": citations, "cursors": cursors}
