"""The editor's take: the day's brief in Markdown, from this day's stories and the previous day's snapshot alone. Pure."""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from wire.stories.text import SHORT, cut, visible
from wire.stories.vocabulary import Category

FEWEST_WORDS: Final = 120  # of the brief of a day with stories; addresses are not counted
MOST_WORDS: Final = 300
LONGEST_CITATION: Final = 120
EMPTY: Final = "No stories were published on this day."
BY_HAND: Final = "*Written by the editors of ChatbotNews.ai, in place of the generated brief.*"

# What a short day has room for, and a reader who meets the wire for the first time is glad of.
EXPLANATIONS: Final = (
    "*How to read this*: an event counts as corroborated when independent publications of the roster report it, each counted once "
    "and copies of one text once. Until then it rests on one witness alone, and should be quoted as such.",
    "This brief is put together by rules from the day's snapshot and the one before; no model wrote it, and it claims nothing that "
    "the cited summaries do not say.",
    "Each citation names the publication that reported, and leads to a page of the story with its hashes, revisions and the "
    "publisher's own address.",
    "Later reports may still join these events while the day is open; the snapshot changes then, and keeps its earlier revisions.",
)

_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.+)")  # CommonMark's: "#1 of the day" is none
_HEADINGS: Final = re.compile(r"\A(?:#{1,6}(?:[ \t].*)?(?:\n|\Z))+")
_LINK: Final = re.compile(r"\[([^\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])")
_DEFINITION: Final = re.compile(r"^ {0,3}\[[^\]]+\]:[ \t]*\S.*$", re.M)
_SYNTAX: Final = re.compile(r"[\\`*\[<~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")  # CommonMark's, and of GitHub's ~ and |


@dataclass(frozen=True, slots=True)
class Brief:
    """One story as the take sees it; `cite` gives its layered citation, which every factual paragraph carries."""

    chatbotnews_id: str
    event_id: str
    publisher: str
    category: str
    consensus_score: float
    cross_source_count: int
    published_at: dt.datetime
    cite: Callable[[], str]
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
    if not stories:
        return f"{heading}\n\n{EMPTY}\n"
    ranked = _ranked(stories)
    if not ranked:
        told = _count(len(stories), "story", "stories")
        return _explained([heading, f"{told} came in, with text that addresses reading models; none is quoted here."])
    lead = ranked[0]
    sections = [(category, [story for story in stories if story.category == category]) for category in Category]
    sections = [(category, section) for category, section in sections if section]
    paragraphs = [
        heading,
        _opening(stories),
        f"**Lead** ({_borne_out(lead)}; {Category(lead.category).label}). {escape(_cited(lead))}",
        *(_section(category, section, lead) for category, section in sections),
        *([_since(before, stories)] if before else []),
    ]
    for at, (category, section) in reversed(list(enumerate(sections, start=3))):
        if words(paragraphs) > MOST_WORDS:  # summaries of very short words: the last categories are told in figures
            paragraphs[at] = f"**{category.label}**: {_count(len(section), 'story', 'stories')}."
    return _explained(paragraphs)


def by_hand(day: dt.date, markdown: str) -> str:
    """A brief that an editor wrote, saying so, under the title of the day unless it begins with its own; without characters that
    nobody can see, which some programs paste along.
    """
    lines = "\n".join(visible(line).replace("\x1f", " ") for line in markdown.splitlines()).strip()
    titled = lines if lines.startswith("# ") else f"# {title(day)}\n\n{lines}"
    return f"{titled}\n\n{BY_HAND}\n"


def draft(markdown: str) -> str:
    """A generated brief as an editor starts from it: without its title, and without what only a generated one explains."""
    paragraphs = [paragraph for paragraph in markdown.strip().split("\n\n") if paragraph not in EXPLANATIONS]
    return "\n\n".join(paragraphs[1:] if paragraphs[0].startswith("# ") else paragraphs)


def is_by_hand(markdown: str) -> bool:
    """Whether a published brief is an editor's: a generated one never says so, since what it quotes is escaped."""
    return BY_HAND in markdown


def opening(markdown: str) -> str:
    """The first paragraph of a take that is no heading, as Markdown, with the addresses of links that stand elsewhere in it."""
    return "\n\n".join([_first(markdown), *_DEFINITION.findall(markdown)])


def words(paragraphs: Sequence[str]) -> int:
    """Words of Markdown, addresses not counted."""
    text = re.sub(r"\]\([^)]*\)|https?://\S+", " ", " ".join(paragraphs))
    return sum(1 for word in text.split() if re.search(r"\w", word))


def lead_of(stories: Sequence[Brief]) -> str | None:
    """The event that a day's brief begins with; None where it quotes no story."""
    ranked = _ranked(stories)
    return ranked[0].event_id if ranked else None


def detail(markdown: str) -> TakeDetail:
    """Title and first paragraph of a take, an editor's own too; the paragraph as plain text of at most 160 characters."""
    heading = _HEADING.match(markdown.lstrip())
    return TakeDetail(_plain(heading[1]) if heading else "Editor's Take", cut(_plain(" ".join(_first(markdown).split())), SHORT))


def escape(text: str) -> str:
    """Plain text as Markdown that renders as itself, within a line."""
    return _SYNTAX.sub(r"\\\g<0>", text)


def _first(markdown: str) -> str:
    blocks = (_HEADINGS.sub("", block).strip() for block in re.split(r"\n\s*\n", _DEFINITION.sub("", markdown)))
    return next((block for block in blocks if block), "")


def _plain(markdown: str) -> str:
    text = _LINK.sub(r"\1", markdown)
    return re.sub(r"\\([\\`*_\[\]<>#|~&])", r"\1", text.replace("**", ""))


def _ranked(stories: Sequence[Brief]) -> list[Brief]:
    """Those that may be quoted, the event with the most consensus first; of its stories the strongest, and the first of equals."""
    quotable = [story for story in stories if story.quotable]
    return sorted(quotable, key=lambda s: (-s.consensus_score, -s.cross_source_count, s.published_at, s.chatbotnews_id))


def _explained(paragraphs: list[str]) -> str:
    """The brief, with as much about how to read it as a short one has room for."""
    told = list(paragraphs)
    for explanation in EXPLANATIONS:
        if words(told) < FEWEST_WORDS:
            told.append(explanation)
    return "\n\n".join(told) + "\n"


def _cited(story: Brief) -> str:
    """The layered citation; of one too long for any brief, where it is."""
    citation = story.cite()
    short = words([citation]) <= LONGEST_CITATION
    return citation if short else f"{story.publisher} reports at length. Source: {story.permalink}"


def _opening(stories: Sequence[Brief]) -> str:
    publications = len({story.publisher for story in stories})
    events = {story.event_id: story.cross_source_count for story in sorted(stories, key=lambda story: story.cross_source_count)}
    several = sum(count > 1 for count in events.values())
    alone = len(events) - several
    told = f"{_count(len(stories), 'story', 'stories')} from {_count(publications, 'publication', 'publications')}"
    told += f" on {_count(len(events), 'event', 'events')}"
    if not several:
        return f"{told}, {'which rests' if alone == 1 else 'each of which rests'} on one witness alone so far."
    rest = f"{_count(alone, 'rests', 'rest')} on one alone so far" if alone else "none rests on one alone"
    return f"{told}: {_count(several, 'is', 'are')} corroborated by more than one independent witness, {rest}."


def _section(category: Category, stories: Sequence[Brief], lead: Brief) -> str:
    """All of a category in figures, told by the best of those that may be quoted and are not on the lead event."""
    others = [story for story in stories if story.event_id != lead.event_id]
    ranked = _ranked(others)
    aside = [
        *_part(len(stories) - len(others), stories, "on the lead event"),
        *_part(len(others) - len(ranked), stories, "unquoted for addressing reading models"),
    ]
    told = ", ".join([_count(len(stories), "story", "stories"), *aside])
    if not ranked:
        return f"**{category.label}**: {told}."
    best = ranked[0]
    linked = f"{told}; [this one]({best.permalink})" if len(stories) > 1 else f"[{told}]({best.permalink}),"
    return f"**{category.label}** ({linked} told by {_borne_out(best)}). {escape(_cited(best))}"


def _part(number: int, stories: Sequence[Brief], what: str) -> list[str]:
    """What holds of so many of the stories, if of any."""
    if number < len(stories):
        return [f"{number} {what}"] if number else []
    return [f"all {what}" if number > 1 else what]


def _borne_out(story: Brief) -> str:
    if story.cross_source_count > 1:
        return f"{story.cross_source_count} independent witnesses, consensus {story.consensus_score:.2f}"
    return "one witness so far"


def _since(before: Before, stories: Sequence[Brief]) -> str:
    """What changed. New is an event whose founder is of this day; others may have been told on any day but the one before."""
    change = len(stories) - before.stories
    volume = f"{_count(abs(change), 'story', 'stories')} {'more' if change > 0 else 'fewer'}" if change else "as many stories"
    today = {story.event_id for story in stories}
    fresh = today - before.events
    new = len(fresh & {story.chatbotnews_id for story in stories})
    on, others = len(today) - len(fresh), len(fresh) - new
    told = f"**Since {before.day.day} {before.day:%B}**: {volume}; "
    told += f"{_count(new, 'event is', 'events are')} new" if new else "no event is new"
    told += f", {_count(on, 'goes', 'go')} on" if on else ""
    told += f", {_count(others, 'other was', 'others were')} not on that day's wire." if others else "."
    if before.lead:
        told += " That day's lead goes on." if before.lead in today else " Nothing new on that day's lead."
    return told


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
