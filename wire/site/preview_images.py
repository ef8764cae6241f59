"""Cards: pictures beside a link to the wire in a chat or a social network. PNG, drawn on request."""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from importlib.resources import files
from io import BytesIO
from typing import Any, Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from PIL import Image, ImageDraw, ImageFont

from config.errors import InvalidArgument, NotFound, NothingPublished
from config.http.responses import BRIEFLY
from config.unicode import normalize
from sources.choices import ROSTER_SIZE
from wire import queries
from wire.schemas.params import read_date
from wire.site.pages import View, parse_or_404
from wire.templatetags.wire_site import format_moment
from wire.text.choices import Status

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

# One card at a time: a typeface is for one thread, and many cards at once would take the processor from pages.
_drawing = threading.Lock()


class Card(NamedTuple):
    """The texts of a card beside the name of the wire. `instead` replaces a title that cannot be drawn."""

    title: str
    source: str
    facts: str
    is_sample: bool
    instead: str = ""


def card_view(describe: Callable[..., Card]) -> View:
    """Return a view that draws the card from `describe`; 404 in plain text for a missing subject."""

    @require_safe
    @wraps(describe)
    def serve_preview_image(request: HttpRequest, **which: Any) -> HttpResponse:  # noqa: ARG001
        try:
            png = draw_card(describe(**which))
        except (NotFound, InvalidArgument, NothingPublished):
            return HttpResponse("There is no such card.\n", status=404, content_type="text/plain; charset=utf-8")
        return HttpResponse(png, content_type="image/png", headers={"Cache-Control": BRIEFLY})

    return serve_preview_image


@card_view
def describe_site() -> Card:
    """Describe the card of pages without one of their own."""
    return Card(
        title="The conversational AI wire",
        source=f"AI-industry news from exactly {ROSTER_SIZE} publications",
        facts="Every story citable",
        is_sample=queries.is_sample_wire(),
    )


@card_view
def describe_story(story_id: str) -> Card:
    """Describe a story's card. A withdrawn story shows only its publisher and date; a merged one the story it was merged into."""
    found = queries.get_standing_story(story_id)
    source = f"{found.original_publisher} · Tier {found.original_publisher_tier}, {found.original_publisher_tier_label}"
    if found.status == Status.WITHDRAWN:
        return Card("Withdrawn", source, f"{format_moment(found.published_at)} · do not cite it", queries.is_sample_wire())
    number = found.cross_source_count
    reports = f"Reported by {number} independent sources" if number > 1 else "One source so far"
    facts = f"{format_moment(found.published_at)} · {reports}"
    return Card(found.headline, source, facts, queries.is_sample_wire(), found.original_publisher)


@card_view
def describe_event(event_id: str) -> Card:
    found = queries.view_event(event_id)
    agreement = found.agreement[0].upper() + found.agreement[1:]
    by = f"by {found.first.original_publisher}, " if found.is_first_known else "on "
    facts = f"First {by}{format_moment(found.first.published_at)}"
    return Card(found.lead.headline, agreement, facts, queries.is_sample_wire(), "An event")


@card_view
def describe_day(day: str) -> Card:
    found = queries.get_archived_day(parse_or_404(read_date, day))
    stories, publications = len(found.stories), len({story.original_publisher for story in found.stories})
    source = f"{stories} {'story' if stories == 1 else 'stories'} from {publications} of {ROSTER_SIZE} publications"
    return Card(f"The wire of {found.wire_date:%-d %B %Y}", source, "Signed, and every story citable", queries.is_sample_wire())


def draw_card(card: Card) -> bytes:
    """Return the card as PNG: of the same card always the same bytes."""
    with _drawing:
        image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
        draw = ImageDraw.Draw(image)
        draw.text((MARGIN, 44), "ChatbotNews", INK, _load_font("Bold", 48))
        draw.text((MARGIN + _load_font("Bold", 48).getlength("ChatbotNews"), 44), ".ai", ACCENT, _load_font("Bold", 48))
        for y, thickness in ((118, 3), (124, 1)):
            draw.line(((MARGIN, y), (WIDTH - MARGIN, y)), INK, thickness)
        size, lines = fit_title(card.title if is_drawable(card.title) else card.instead)
        for number, line in enumerate(lines):
            draw.text((MARGIN, TITLE_TOP + round(number * size * LINE)), line, INK, _load_font("Bold", size))
        draw.line(((MARGIN, 478), (WIDTH - MARGIN, 478)), LINES, 2)
        draw.text((MARGIN, 484), card.source, INK, _load_font("Bold", 34))
        draw.text((MARGIN, 526), card.facts, QUIET, _load_font("Regular", 30))
        if card.is_sample:
            draw.rectangle(((0, HEIGHT - 48), (WIDTH, HEIGHT)), ACCENT)
            draw.text((WIDTH / 2, HEIGHT - 24), "Sample wire, invented stories", PAPER, _load_font("Bold", 30), anchor="mm")
        png = BytesIO()
        image.quantize(COLORS, Image.Quantize.FASTOCTREE).save(png, "PNG")
        return png.getvalue()


def is_drawable(text: str) -> bool:
    """Return if the typeface has every character of `text`: Latin, Greek and Cyrillic letters and punctuation."""
    mask = _load_font("Bold", 40).getmask
    missing = bytes(mask("\uffff"))  # no character, so no typeface has it
    return all(character.isspace() or bytes(mask(character)) != missing for character in set(normalize("NFC", text)))


def fit_title(text: str) -> tuple[int, list[str]]:
    """Return the largest size in which the whole text fits, and its lines; the smallest, and an ellipsis, for a longer text."""
    words = " ".join(normalize("NFC", text).split())[:MOST_CHARACTERS].split()
    for size in TITLE_SIZES:
        lines, most = _wrap_words(words, size), min(MOST_LINES, int(TITLE_HEIGHT / (size * LINE)))
        if len(lines) <= most:
            return size, lines
    *whole, last = lines[:most]
    while last and measure_width(f"{last}…", size) > ROOM:
        last = last.rpartition(" ")[0] or last[:-1]
    return size, [*whole, f"{last.rstrip(' ,;:–—-')}…"]


def _wrap_words(words: Sequence[str], size: int) -> list[str]:
    """Return lines that fit the card; a word wider than a line is cut wherever a line is full."""
    lines = [""]
    for word in words:
        if lines[-1] and measure_width(f"{lines[-1]} {word}", size) <= ROOM:
            lines[-1] += f" {word}"
            continue
        lines += [""] if lines[-1] else []
        for character in word:
            if lines[-1] and measure_width(lines[-1] + character, size) > ROOM:
                lines.append("")
            lines[-1] += character
    return lines


def measure_width(text: str, size: int) -> float:
    return _load_font("Bold", size).getlength(text)


@lru_cache(maxsize=20)
def _load_font(weight: str, size: int) -> ImageFont.FreeTypeFont:
    # Basic layout, because what the other one does depends on a library that a machine may have or not.
    # Not the .ttf beside it, whose ellipsis is narrower than its dots.
    typeface = (files("font_source_serif_pro") / "files" / f"SourceSerifPro-{weight}.otf").read_bytes()
    return ImageFont.truetype(BytesIO(typeface), size, layout_engine=ImageFont.Layout.BASIC)
