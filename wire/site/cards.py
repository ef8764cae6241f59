"""Cards: the picture that a chat or a social network shows beside a link to the wire. PNG, drawn when asked for."""

import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from importlib.resources import files
from io import BytesIO
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from PIL import Image, ImageDraw, ImageFont

from config.errors import InvalidArgument, NotFound, NothingPublished
from config.http.responses import BRIEFLY
from sources.vocabulary import ROSTER_SIZE
from wire import queries
from wire.bounds import read_date
from wire.schemas import StoryOut
from wire.site.pages import View, read
from wire.stories.vocabulary import Status
from wire.templatetags.wire_site import when

WIDTH, HEIGHT = 1200, 630  # pixels, as Open Graph and X want them
MARGIN: Final = 72
ROOM: Final = WIDTH - 2 * MARGIN
TITLE_TOP, TITLE_HEIGHT = 146, 322
TITLE_SIZES: Final = (104, 90, 78, 68, 60, 54, 46)  # tried from the largest down
LINE: Final = 1.16  # of its size, from one line of the title to the next
MOST_LINES: Final = 5
MOST_CHARACTERS: Final = 500  # more than the smallest size has room for; what is behind them is not measured
PAPER, INK, QUIET, LINES, ACCENT = "#fbf9f4", "#1d1a16", "#5f584e", "#d9d2c4", "#a8201a"  # as in site.css
COLORS: Final = 32  # enough for letters with soft edges; a third of the bytes

_drawing = threading.Lock()
"""One card at a time: a typeface is for one thread, and many cards at once would take the processor from pages."""


@dataclass(frozen=True, slots=True)
class Card:
    """What stands on a card, beside the name of the wire. `instead` stands in the place of a title that cannot be drawn."""

    title: str
    source: str
    facts: str
    is_sample: bool
    instead: str = ""


def card(describe: Callable[..., Card]) -> View:
    """The card that `describe` tells of; 404 in plain text for what is not there."""

    @require_safe
    @wraps(describe)
    def view(request: HttpRequest, **which: Any) -> HttpResponse:  # noqa: ARG001
        try:
            png = drawn(describe(**which))
        except (NotFound, InvalidArgument, NothingPublished):
            return HttpResponse("There is no such card.\n", status=404, content_type="text/plain; charset=utf-8")
        return HttpResponse(png, content_type="image/png", headers={"Cache-Control": BRIEFLY})

    return view


@card
def site() -> Card:
    """Of every page that has none of its own."""
    return Card(
        title="The conversational AI wire",
        source=f"AI-industry news from exactly {ROSTER_SIZE} publications",
        facts="Every story citable",
        is_sample=queries.is_sample(),
    )


@card
def story(story_id: str) -> Card:
    """A withdrawn story's says so, and no more of it than who had published it and when."""
    found = queries.get_story(story_id)
    if found.status == Status.WITHDRAWN:
        return Card("Withdrawn", _source(found), f"{when(found.published_at)} · do not cite it", queries.is_sample())
    facts = f"{when(found.published_at)} · {_sources(found.cross_source_count)}"
    return Card(found.headline, _source(found), facts, queries.is_sample(), found.original_publisher)


@card
def event(event_id: str) -> Card:
    """An event's has the headline of the story that stands for it."""
    found = queries.view_event(event_id)
    agreement = found.agreement[0].upper() + found.agreement[1:]
    facts = f"First by {found.first.original_publisher}, {when(found.first.published_at)}"
    return Card(found.lead.headline, agreement, facts, queries.is_sample(), "An event")


@card
def day(day: str) -> Card:
    """A published day's."""
    found = queries.get_archive(read(read_date, day))
    stories, publications = len(found.stories), len({story.original_publisher for story in found.stories})
    source = f"{stories} {'story' if stories == 1 else 'stories'} from {publications} of {ROSTER_SIZE} publications"
    return Card(f"The wire of {found.wire_date:%-d %B %Y}", source, "Signed, and every story citable", queries.is_sample())


def drawn(card: Card) -> bytes:
    """The card as PNG: of the same card always the same bytes."""
    with _drawing:
        image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
        draw = ImageDraw.Draw(image)
        draw.text((MARGIN, 44), "ChatbotNews", INK, _font("Bold", 48))
        draw.text((MARGIN + _font("Bold", 48).getlength("ChatbotNews"), 44), ".ai", ACCENT, _font("Bold", 48))
        for y, thickness in ((118, 3), (124, 1)):
            draw.line(((MARGIN, y), (WIDTH - MARGIN, y)), INK, thickness)
        size, lines = fitted(card.title if is_drawable(card.title) else card.instead)
        for number, line in enumerate(lines):
            draw.text((MARGIN, TITLE_TOP + round(number * size * LINE)), line, INK, _font("Bold", size))
        draw.line(((MARGIN, 478), (WIDTH - MARGIN, 478)), LINES, 2)
        draw.text((MARGIN, 484), card.source, INK, _font("Bold", 34))
        draw.text((MARGIN, 526), card.facts, QUIET, _font("Regular", 30))
        if card.is_sample:
            draw.rectangle(((0, HEIGHT - 48), (WIDTH, HEIGHT)), ACCENT)
            draw.text((WIDTH / 2, HEIGHT - 24), "Sample wire, invented stories", PAPER, _font("Bold", 30), anchor="mm")
        png = BytesIO()
        image.quantize(COLORS, Image.Quantize.FASTOCTREE).save(png, "PNG")
        return png.getvalue()


def is_drawable(text: str) -> bool:
    """Whether the typeface has every character of `text`: Latin, Greek and Cyrillic letters and what stands between them."""
    return all(map(_has_glyph, unicodedata.normalize("NFC", text)))


@lru_cache(maxsize=5_000)
def _has_glyph(character: str) -> bool:
    return character.isspace() or _picture(character) != _picture("\uffff")  # which is no character, so no typeface has it


def _picture(character: str) -> bytes:
    return bytes(_font("Bold", 40).getmask(character))


def fitted(text: str) -> tuple[int, list[str]]:
    """The largest size in which the whole text has room, and its lines; of a longer text the smallest, and an ellipsis."""
    words = " ".join(unicodedata.normalize("NFC", text).split())[:MOST_CHARACTERS].split()
    for size in TITLE_SIZES:
        lines = _wrapped(words, size)
        if len(lines) <= _most_lines(size):
            return size, lines
    lines = lines[: _most_lines(size)]
    *whole, last = lines
    while last and width(f"{last}…", size) > ROOM:
        last = last.rpartition(" ")[0] or last[:-1]
    return size, [*whole, f"{last.rstrip(' ,;:–—-')}…"]


def _most_lines(size: int) -> int:
    return min(MOST_LINES, int(TITLE_HEIGHT / (size * LINE)))


def _wrapped(words: Sequence[str], size: int) -> list[str]:
    """Lines that fit the card; a word that is wider than one goes on in the next."""
    lines, used = list[str](), 0.0
    for piece in (piece for word in words for piece in _pieces(word, size)):
        wide = width(piece, size)
        if lines and used + width(" ", size) + wide <= ROOM:
            lines[-1] += f" {piece}"
            used += width(" ", size) + wide
        else:
            lines.append(piece)
            used = wide
    return lines


def _pieces(word: str, size: int) -> Iterator[str]:
    """A word, cut wherever a line is full."""
    begin, used = 0, 0.0
    for place, character in enumerate(word):
        used += width(character, size)
        if used > ROOM and place > begin:
            yield word[begin:place]
            begin, used = place, width(character, size)
    yield word[begin:]


def width(text: str, size: int) -> float:
    """In pixels, at most: where letters are drawn closer together it is less."""
    return sum(_advance(character, size) for character in text)


@lru_cache(maxsize=5_000)
def _advance(character: str, size: int) -> float:
    return _font("Bold", size).getlength(character)


@lru_cache(maxsize=20)
def _font(weight: str, size: int) -> ImageFont.FreeTypeFont:
    # Basic layout, because what the other one does depends on a library that a machine may have or not.
    return ImageFont.truetype(BytesIO(_typeface(weight)), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=2)
def _typeface(weight: str) -> bytes:
    # Not the .ttf beside it, whose ellipsis is narrower than its dots.
    return (files("font_source_serif_pro") / "files" / f"SourceSerifPro-{weight}.otf").read_bytes()


def _source(story: StoryOut) -> str:
    return f"{story.original_publisher} · Tier {story.original_publisher_tier}, {story.original_publisher_tier_label}"


def _sources(number: int) -> str:
    return f"Reported by {number} independent sources" if number > 1 else "One source so far"
