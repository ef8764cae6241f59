"""How the site writes times, differences and Markdown."""

import datetime as dt
import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

from wire.queries import EventList
from wire.schemas import StoriesOut
from wire.stories import marking
from wire.stories.question import Query
from wire.stories.tokens import words

register = template.Library()

_WORDS: Final = re.compile(r"\s*\S+")
_TABLE: Final = re.compile("<table>(.*?</thead>.*?)</table>", re.DOTALL)
_TAGS: Final = {"delete": "<del>{}</del>", "insert": "<ins>{}</ins>"}
MOST_WORDS: Final = 150


@register.filter
def when(moment: dt.datetime, day: dt.date | None = None) -> str:
    """ "14:05" of that UTC day, else "15 Oct 2026, 14:05 UTC". Of midnight sharp the date alone: archives and some feeds give no
    time, and no page is to invent one.
    """
    utc = moment.astimezone(dt.UTC)
    if utc.time() == dt.time():
        return "" if utc.date() == day else f"{utc:%-d %b %Y}"
    if day is None:
        return f"{utc:%-d %b %Y, %H:%M} UTC"
    return f"{utc:%H:%M}" if utc.date() == day else f"{utc:%-d %b, %H:%M}"


@register.simple_tag(takes_context=True)
def clock(context: Context, moment: dt.datetime, before: str = "") -> SafeString:
    """A <time> as `when` writes it, on the pages of a day (`on`) for that day; `before` stands before it if there is any."""
    text = when(moment, context.get("on"))
    utc = moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return format_html('{}<time datetime="{}">{}</time>', before, utc, text) if text else SafeString()


@register.simple_tag
def own_words(headline: str, headlines: Sequence[str]) -> SafeString:
    """A headline with the words that none of the others has in <mark>."""
    others = {word for other in headlines if other != headline for word in words(other)}
    pieces = (
        format_html("<mark>{}</mark>" if (found := words(piece)) and others.isdisjoint(found) else "{}", piece)
        for piece in re.split(r"(\s+)", headline)
    )
    return format_html_join("", "{}", ((piece,) for piece in pieces))


@register.filter
def code(text: str) -> SafeString:
    """Text with what stands between backticks as <code>."""
    parts = text.split("`")
    return format_html_join("", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in enumerate(parts)))


@register.filter
def marked(text: str, question: Query) -> SafeString:
    """Text with what a search found in it as <mark>."""
    pieces = marking.marked(text, question)
    return format_html_join("", "{}", ((format_html("<mark>{}</mark>", piece) if found else piece,) for piece, found in pieces))


@register.filter
def html(markdown: str) -> SafeString:
    """Markdown as HTML. Raw HTML in it is escaped (html=False), so the result is safe to show."""
    rendered = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return SafeString(_TABLE.sub(_boxed, rendered))


def _boxed(table: re.Match[str]) -> str:
    """A table that scrolls on a narrow screen, by keyboard too, and whose columns are known before its first row is."""
    columns = table[1].count("<th>") + table[1].count("<th ")
    box = '<div class="wide" tabindex="0" role="group" aria-label="Table">'
    return f'{box}<table><colgroup span="{columns}"></colgroup>{table[1]}</table></div>'


@register.simple_tag
def total(page: StoriesOut | EventList) -> str:
    """How many a list has; "1,000+" where no more were counted."""
    return f"{page.total:,}" if page.total_is_exact else f"{page.total:,}+"


@register.filter
def span(seconds: int) -> str:
    """How long, to one unit: "40 minutes", "3 hours", "2 days"."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * size or size == 60:
            number = max(round(seconds / size), 1)
            return f"{number} {unit}{'s' if number > 1 else ''}"
    raise AssertionError("minutes are for all that is shorter")


@register.simple_tag(takes_context=True)
def publisher(context: Mapping[str, Any], name: str) -> SafeString:
    """A publication's name, leading to its page; the name alone where the roster never had it."""
    slug = context.get("publication_slugs", {}).get(name)  # the desk's previews have none
    return format_html('<a href="{}">{}</a>', reverse("source", args=[slug]), name) if slug else format_html("{}", name)


@register.simple_tag
def stamp(moment: dt.datetime, form: str = "%-d %B %Y, %H:%M UTC") -> SafeString:
    """A <time> in UTC."""
    utc = moment.astimezone(dt.UTC)
    return format_html('<time datetime="{}">{}</time>', utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.strftime(form))


@register.simple_tag
def diff(old: str, new: str) -> SafeString:
    """`new` with what came in <ins> and what went in <del>, word by word."""
    one, two = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(one), len(two)) > MOST_WORDS:  # comparing takes the product of both, and more where words repeat
        return format_html("<del>{}</del> <ins>{}</ins>", old, new)
    pieces = []
    for kind, i, j, k, end in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(format_html("{}", "".join(one[i:j])))
            continue
        if j > i:
            pieces.append(format_html(_TAGS["delete"], "".join(one[i:j])))
        if end > k:
            pieces.append(format_html(_TAGS["insert"], "".join(two[k:end])))
    return format_html_join("", "{}", ((piece,) for piece in pieces))
