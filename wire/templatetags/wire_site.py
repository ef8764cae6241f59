"""How the site writes times and differences."""

import datetime as dt
import difflib
import re
from typing import Final

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from wire.schemas import StoriesOut
from wire.stories import marking
from wire.stories.tokens import Query

register = template.Library()

_WORDS: Final = re.compile(r"\s*\S+")
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
def marked(text: str, question: Query) -> SafeString:
    """Text with what a search found in it as <mark>."""
    pieces = marking.marked(text, question)
    return format_html_join("", "{}", ((format_html("<mark>{}</mark>", piece) if found else piece,) for piece, found in pieces))


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
