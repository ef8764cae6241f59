"""Template filters and tags of the site: times, differences, Markdown."""

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

from wire.publishing.event_view import EventView
from wire.queries import EventList
from wire.schemas.story import StoriesOut
from wire.text import highlighting
from wire.text.search_query import Query
from wire.text.tokens import words

register = template.Library()

_WORDS: Final = re.compile(r"\s*\S+")
_TABLE: Final = re.compile("<table>(.*?</thead>.*?)</table>", re.DOTALL)
MOST_WORDS: Final = 150


@register.filter
def format_moment(moment: dt.datetime, day: dt.date | None = None) -> str:
    """Write "14:05" for a moment of that UTC day, else "15 Oct 2026, 14:05 UTC"."""
    utc = moment.astimezone(dt.UTC)
    if utc.time() == dt.time():  # archives and some feeds have no time, and no page is to invent one
        return "" if utc.date() == day else f"{utc:%-d %b %Y}"
    if day is None:
        return f"{utc:%-d %b %Y, %H:%M} UTC"
    return f"{utc:%H:%M}" if utc.date() == day else f"{utc:%-d %b, %H:%M}"


@register.simple_tag(takes_context=True)
def write_time(context: Context, moment: dt.datetime, before: str = "") -> SafeString:
    """Write a <time> as `format_moment` does, on the pages of a day (`on`) for that day, with the exact one as its title; with
    `before` in front unless it is empty.
    """
    text, exact = format_moment(moment, context.get("on")), format_moment(moment)
    utc = moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return format_html('{}<time datetime="{}" title="{}">{}</time>', before, utc, exact, text) if text else SafeString()


@register.simple_tag
def link_event_page(event: EventView) -> SafeString:
    """Write how widely an event is reported, as a link to its page; of a lone story to the story's."""
    if event.others:
        return format_html('<a href="/event/{}">{}</a>', event.event_id, event.agreement)
    return format_html('<a href="/story/{}">{}</a>', event.lead.chatbotnews_id, event.agreement)


@register.simple_tag
def link_other_reports(event: EventView, most: int = 3) -> SafeString:
    """Write the other publications that report an event, each as a link to its article, oldest first; nothing for a lone story."""
    counted = {report.story.original_publisher for report in event.reports if report.independent}
    articles: dict[str, str] = {}
    for story in event.others:
        if story.original_publisher != event.lead.original_publisher:
            articles.setdefault(story.original_publisher, story.original_url)
    if not articles:
        return SafeString()
    shown = [(address, name, "" if name in counted else " (not counted)") for name, address in list(articles.items())[:most]]
    links = format_html_join(", ", '<a href="{}" rel="noopener external">{}</a>{}', shown)
    more = f" and {len(articles) - most} more" if len(articles) > most else ""
    return format_html('<span class="also"> · also {}{}</span>', links, more)


@register.simple_tag
def mark_own_words(headline: str, headlines: Sequence[str]) -> SafeString:
    """Mark the words of a headline that none of the others has."""
    others = {word for other in headlines if other != headline for word in words(other)}
    pieces = (
        format_html("<mark>{}</mark>" if (found := words(piece)) and others.isdisjoint(found) else "{}", piece)
        for piece in re.split(r"(\s+)", headline)
    )
    return format_html_join("", "{}", ((piece,) for piece in pieces))


@register.filter
def mark_code(text: str) -> SafeString:
    """Write text between backticks as <code>."""
    parts = text.split("`")
    return format_html_join("", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in enumerate(parts)))


@register.filter
def mark_words(text: str, question: Query) -> SafeString:
    """Mark the words that a search found."""
    pieces = highlighting.mark_matches(text, question)
    return format_html_join("", "{}", ((format_html("<mark>{}</mark>", piece) if found else piece,) for piece, found in pieces))


@register.filter
def render_markdown(markdown: str) -> SafeString:
    """Render Markdown as HTML. Raw HTML in it is escaped (html=False), so the result is safe to show."""
    return wrap_tables(MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown))


def wrap_tables(rendered: str) -> SafeString:
    """Put each table of rendered Markdown into a box that scrolls."""

    def wrap_table(table: re.Match[str]) -> str:
        # It scrolls on a narrow screen, by keyboard too; its columns are known before its first row is.
        columns = table[1].count("<th>") + table[1].count("<th ")
        box = '<div class="wide" tabindex="0" role="group" aria-label="Table">'
        return f'{box}<table><colgroup span="{columns}"></colgroup>{table[1]}</table></div>'

    return SafeString(_TABLE.sub(wrap_table, rendered))


@register.simple_tag
def format_total(page: StoriesOut | EventList) -> str:
    """Write the length of a list; "1,000+" where no more were counted."""
    return f"{page.total:,}" if page.total_is_exact else f"{page.total:,}+"


@register.filter
def format_duration(seconds: int) -> str:
    """Write a duration in one unit: "40 minutes", "3 hours", "2 days"."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * size or size == 60:
            number = max(round(seconds / size), 1)
            return f"{number} {unit}{'s' if number > 1 else ''}"
    raise AssertionError("minutes are for all that is shorter")


@register.simple_tag(takes_context=True)
def link_publisher(context: Mapping[str, Any], name: str) -> SafeString:
    """Write a publication's name as a link to its page; the name alone where the roster never had it."""
    slug = context.get("publication_slugs", {}).get(name)  # the desk's previews have none
    return format_html('<a href="{}">{}</a>', reverse("source", args=[slug]), name) if slug else format_html("{}", name)


@register.simple_tag
def write_utc_time(moment: dt.datetime, form: str = "%-d %B %Y, %H:%M UTC") -> SafeString:
    """Write a <time> in UTC."""
    utc = moment.astimezone(dt.UTC)
    return format_html('<time datetime="{}">{}</time>', utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.strftime(form))


@register.simple_tag
def mark_changes(old: str, new: str) -> SafeString:
    """Write `new` with insertions in <ins> and deletions in <del>, word by word."""
    one, two = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(one), len(two)) > MOST_WORDS:  # comparing takes the product of both, and more where words repeat
        return format_html("<del>{}</del> <ins>{}</ins>", old, new)
    pieces: list[tuple[str, str]] = []
    for kind, i, j, k, end in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        gone, come = "".join(one[i:j]), "".join(two[k:end])
        pieces += [("{}", gone)] if kind == "equal" else [("<del>{}</del>", gone), ("<ins>{}</ins>", come)]
    return format_html_join("", "{}", ((format_html(form, text),) for form, text in pieces if text))
