"""The editor's take: the day's brief in Markdown, from this day's stories and the previous day's alone. Pure."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wire.text import SHORT, cut
from wire.vocabulary import Category


@dataclass(frozen=True, slots=True)
class Brief:
    """One story as the take sees it; `citation` is its layered citation, which every factual paragraph carries."""

    chatbotnews_id: str
    event_id: str
    publisher: str
    category: str
    consensus_score: float
    cross_source_count: int
    published_at: dt.datetime
    citation: str
    quotable: bool


@dataclass(frozen=True, slots=True)
class TakeDetail:
    """The take's parts, read back from its Markdown."""

    title: str
    summary: str


def title(day: dt.date) -> str:
    return f"Editor's Take: {day.day} {day:%B %Y}"


def write(day: dt.date, stories: Sequence[Brief], before: int | None) -> str:
    """The brief in Markdown; `before` is the number of stories of the previous day's snapshot, None when there is none.

    The same stories give the same text. Text that addresses the reading model is never quoted.
    """
    heading = f"# {title(day)}"
    quotable = [story for story in stories if story.quotable]
    if not quotable:
        return f"{heading}\n\nNo stories were published on this day.\n"
    ranked = sorted(quotable, key=lambda s: (-s.consensus_score, -s.cross_source_count, s.published_at, s.chatbotnews_id))
    paragraphs = [heading, _opening(quotable, before), _lead(ranked[0])]
    for category in Category:
        section = [story for story in ranked if story.category == category and story.event_id != ranked[0].event_id]
        if section:
            paragraphs.append(f"**{category.label}** ({len(section)}). {escape(section[0].citation)}")
    paragraphs.append(_standing(quotable))
    return "\n\n".join(paragraphs) + "\n"


def detail(markdown: str) -> TakeDetail:
    """Title and first paragraph of a take, an editor's own too; the paragraph as plain text of at most 160 characters."""
    lines = [line.strip() for line in markdown.splitlines() if line.strip()]
    heading = next((line.lstrip("# ") for line in lines if line.startswith("#")), "Editor's Take")
    body = next((line for line in lines if not line.startswith("#")), "")
    return TakeDetail(_plain(heading), cut(_plain(body), SHORT))


def escape(text: str) -> str:
    """Plain text as Markdown that renders as itself."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", text)


def _plain(markdown: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"\\([\\`*_\[\]<>#|~])", r"\1", text.replace("**", ""))


def _opening(stories: Sequence[Brief], before: int | None) -> str:
    publications = len({story.publisher for story in stories})
    text = f"{_count(len(stories), 'story', 'stories')} from {_count(publications, 'publication', 'publications')}"
    if before is not None:
        change = len(stories) - before
        text += (
            f", {abs(change)} {'more' if change > 0 else 'fewer'} than the day before" if change else ", as many as the day before"
        )
    return text + "."


def _lead(story: Brief) -> str:
    if story.cross_source_count > 1:
        borne_out = f"reported by {story.cross_source_count} publications, consensus {story.consensus_score:.2f}"
    else:
        borne_out = "resting on one publication so far"
    return f"**Lead**, {borne_out}. {escape(story.citation)}"


def _standing(stories: Sequence[Brief]) -> str:
    events = {story.event_id: max(1, story.cross_source_count) for story in stories}
    several = sum(1 for count in events.values() if count > 1)
    if not several:
        return "Nothing in this day's wire is borne out by more than one publication; each story rests on its own."
    return (
        f"{_count(several, 'event is', 'events are')} borne out by more than one publication; "
        f"the other {_count(len(events) - several, 'rests', 'rest')} on one each."
    )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
