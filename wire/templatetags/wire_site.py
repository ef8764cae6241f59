"""How the site writes times, differences and Markdown."""

import datetime as dt
import difflib
import re
from typing import Final

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

from wire.schemas import StoriesOut

register = template.Library()

_WORDS: Final = re.compile(r"\s*\S+")
_TABLE: Final = re.compile("<table>(.*?</thead>.*?)</table>", re.DOTALL)
_TAGS: Final = {"delete": "<del>{}</del>", "insert": "<ins>{}</ins>"}
MOST_WORDS: Final = 150


@register.filter
def when(moment: dt.datetime) -> str:
    """ "14:05 UTC" of the current UTC day, else "15 Oct 2026": pages are kept for a day, so they cannot say how long ago it was."""
    utc = moment.astimezone(dt.UTC)
    return f"{utc:%H:%M} UTC" if utc.date() == timezone.now().date() else f"{utc:%-d %b %Y}"


@register.filter
def code(text: str) -> SafeString:
    """Text with what stands between backticks as <code>."""
    parts = text.split("`")
    return format_html_join("", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in enumerate(parts)))


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
def total(page: StoriesOut) -> str:
    """How many a list has; "1,000+" where no more were counted."""
    return f"{page.total:,}" if page.total_is_exact else f"{page.total:,}+"


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
