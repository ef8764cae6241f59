"""The editor's take: the day's brief in Markdown, from this day's stories and the previous day's snapshot alone. Pure."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from wire.text import SHORT, cut
from wire.vocabulary import Category

FEWEST_WORDS: Final = 120  # of the brief of a day with stories; addresses are not counted
MOST_WORDS: Final = 300
EMPTY: Final = "No stories were published on this day."
BY_HAND: Final = "*Written by the editors of ChatbotNews.ai, in place of the generated brief.*"

# What a short day has room for, and a reader who meets the wire for the first time is glad of.
EXPLANATIONS: Final = (
    "*How to read this*: an event counts as corroborated when independent publications of the roster report it, each counted once "
    "and copies of one agency text not at all. Until then it is one publication's word, and should be quoted as such.",
    "This brief is put together by rules from the day's snapshot and the one before; no model wrote it, and it claims nothing that "
    "the cited summaries do not say.",
    "Each citation names the publication that reported, and leads to a page of the story with its hashes, revisions and the "
    "publisher's own address.",
    "Later reports may still join these events while the day is open; the snapshot changes then, and keeps its earlier revisions.",
)

_SYNTAX: Final = re.compile(r"[\\`*\[<~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")  # CommonMark's, and of GitHub's ~ and |


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
    permalink: str
    quotable: bool


@dataclass(frozen=True, slots=True)
class Before:
    """The latest earlier day that was published: its number of stories, its events, and which of them led (None: it was empty)."""

    day: dt.date
    stories: int
    events: frozenset[str]
    lead: str | None


@dataclass(frozen=True, slots=True)
class TakeDetail:
    """The take's parts, read back from its Markdown."""

    title: str
    summary: str


def title(day: dt.date) -> str:
    return f"Editor's Take: {day.day} {day:%B %Y}"


def write(day: dt.date, stories: Sequence[Brief], before: Before | None) -> str:
    """The brief in Markdown: the lead, a paragraph a category, what stands on how many feet, what changed since `before`.

    120 to 300 words unless the day is empty. The same stories give the same text. Text that addresses the reading model is never
    quoted.
    """
    heading = f"# {title(day)}"
    quotable = [story for story in stories if story.quotable]
    if not quotable:
        unquoted = (
            f"{_count(len(stories), 'story', 'stories')} came in, with text that addresses reading models; none is quoted here."
        )
        return f"{heading}\n\n{unquoted if stories else EMPTY}\n"
    ranked = sorted(quotable, key=lambda s: (-s.consensus_score, -s.cross_source_count, s.published_at, s.chatbotnews_id))
    lead = ranked[0]
    sections = [(category, [s for s in ranked if s.category == category and s.event_id != lead.event_id]) for category in Category]
    sections = [(category, section) for category, section in sections if section]
    paragraphs = [
        heading,
        _opening(stories),
        f"**Lead** ({_borne_out(lead)}; {Category(lead.category).label}). {escape(lead.citation)}",
        *(_section(category, section) for category, section in sections),
        *([_since(before, stories)] if before else []),
    ]
    for at, (category, section) in reversed(list(enumerate(sections, start=3))):
        if words(paragraphs) > MOST_WORDS:  # summaries of very short words: the last categories are told in figures
            paragraphs[at] = f"**{category.label}**: {_count(len(section), 'story', 'stories')}."
    for explanation in EXPLANATIONS:
        if words(paragraphs) < FEWEST_WORDS:
            paragraphs.append(explanation)
    return "\n\n".join(paragraphs) + "\n"


def by_hand(markdown: str) -> str:
    """A brief that an editor wrote, saying so."""
    return f"{markdown.rstrip()}\n\n{BY_HAND}\n"


def words(paragraphs: Sequence[str]) -> int:
    """Words of Markdown, addresses not counted."""
    text = re.sub(r"\]\([^)]*\)|https?://\S+", " ", " ".join(paragraphs))
    return sum(1 for word in text.split() if re.search(r"\w", word))


def lead_of(rows: Sequence[tuple[str, float, int]]) -> str | None:
    """The event that led a day, of its stories' (event, consensus, witnesses), newest first."""
    return max(reversed(rows), key=lambda row: row[1:], default=(None,))[0]


def detail(markdown: str) -> TakeDetail:
    """Title and first paragraph of a take, an editor's own too; the paragraph as plain text of at most 160 characters."""
    lines = [line.strip() for line in markdown.splitlines() if line.strip()]
    heading = next((line.lstrip("# ") for line in lines if line.startswith("#")), "Editor's Take")
    body = next((line for line in lines if not line.startswith("#")), "")
    return TakeDetail(_plain(heading), cut(_plain(body), SHORT))


def escape(text: str) -> str:
    """Plain text as Markdown that renders as itself, within a line."""
    return _SYNTAX.sub(r"\\\g<0>", text)


def _plain(markdown: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"\\([\\`*_\[\]<>#|~&])", r"\1", text.replace("**", ""))


def _opening(stories: Sequence[Brief]) -> str:
    publications = len({story.publisher for story in stories})
    events = {story.event_id: story.cross_source_count for story in sorted(stories, key=lambda story: story.cross_source_count)}
    several = sum(count > 1 for count in events.values())
    alone = len(events) - several
    if len(stories) == 1:
        return "1 story from 1 publication, which it rests on alone so far."
    told = f"{_count(len(stories), 'story', 'stories')} from {_count(publications, 'publication', 'publications')}"
    told += f" on {_count(len(events), 'event', 'events')}"
    if not several:
        return f"{told}; {'it rests' if alone == 1 else 'each rests'} on one publication alone so far."
    rest = f"{_count(alone, 'rests', 'rest')} on one alone so far" if alone else "none rests on one alone"
    return f"{told}: {_count(several, 'is', 'are')} corroborated by more than one publication, {rest}."


def _section(category: Category, ranked: Sequence[Brief]) -> str:
    best = ranked[0]
    told = f"{len(ranked)} stories; [this one]({best.permalink}) " if len(ranked) > 1 else f"[1 story]({best.permalink}), "
    return f"**{category.label}** ({told}{_borne_out(best)}). {escape(best.citation)}"


def _borne_out(story: Brief) -> str:
    if story.cross_source_count > 1:
        return f"reported by {story.cross_source_count} publications, consensus {story.consensus_score:.2f}"
    return "resting on one publication"


def _since(before: Before, stories: Sequence[Brief]) -> str:
    change = len(stories) - before.stories
    volume = f"{_count(abs(change), 'story', 'stories')} {'more' if change > 0 else 'fewer'}" if change else "as many stories"
    today = {story.event_id for story in stories}
    on, fresh = len(today & before.events), len(today - before.events)
    told = f"**Since {before.day.day} {before.day:%B}**: {volume}; "
    told += f"{_count(on, 'event goes', 'events go')} on, {_count(fresh, 'is', 'are')} new." if on else "all events are new."
    if before.lead:
        told += " That day's lead goes on." if before.lead in today else " Nothing new on that day's lead."
    return told


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
