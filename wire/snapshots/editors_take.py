"""The editor's take: the day's brief in Markdown, from this day's stories and the previous day's snapshot alone. Pure."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from citations.sentences import ends_whole
from sources.vocabulary import Tier
from wire.snapshots import standing
from wire.stories.roundups import is_roundup
from wire.stories.text import SHORT, cut, visible

MOST_WORDS: Final = 300  # of the brief; addresses are not counted
MOST_OTHERS: Final = 3  # events told beside the lead and what goes on
LONGEST_HEADLINE: Final = 200  # characters; one that is longer is left out, for none is cut
LONGEST_CITATION: Final = 400
EMPTY: Final = "No stories were published on this day."
BY_RULES: Final = "*Written by rules from this day's stories.*"
BY_HAND: Final = "*Written by the editors of ChatbotNews.ai, in place of the generated brief.*"
NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.+)")  # CommonMark's: "#1 of the day" is none
_HEADINGS: Final = re.compile(r"\A(?:#{1,6}(?:[ \t].*)?(?:\n|\Z))+")
_LINK: Final = re.compile(r"(?<!\\)\[((?:\\.|[^\\\[\]])*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])")
_DEFINITION: Final = re.compile(r"^ {0,3}\[[^\]]+\]:[ \t]*\S.*$", re.M)
_SYNTAX: Final = re.compile(r"[\\`*\[<~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")  # CommonMark's, and of GitHub's ~ and |


@dataclass(frozen=True, slots=True)
class Brief:
    """One story as the take sees it; `cite` gives its layered citation, which only says the headline if it is not `summarized`."""

    chatbotnews_id: str
    event_id: str
    headline: str
    summarized: bool
    publisher: str
    tier: int
    category: str
    has_topics: bool
    consensus_score: float
    cross_source_count: int
    published_at: dt.datetime
    began: dt.datetime  # its event's first report
    makers: int  # of its event's independent sources
    cite: Callable[[], str]
    permalink: str
    quotable: bool


@dataclass(frozen=True, slots=True)
class Before:
    """The latest earlier day that was published, and the event that led it (None: it was empty)."""

    day: dt.date
    lead: str | None


@dataclass(frozen=True, slots=True)
class TakeDetail:
    """The take's parts, read back from its Markdown."""

    title: str
    summary: str


def title(day: dt.date) -> str:
    return f"Editor's Take: {day.day} {day:%B %Y}"


def write(day: dt.date, stories: Sequence[Brief], before: Before | None) -> str:
    """The brief in Markdown, three or four sentences long: what leads and who reports it, with its citation; events of other
    categories; and what goes on of the day `before`.

    The same stories give the same text. Every sentence names who reports and links to it. Headlines stand whole or not at all, and
    text that addresses the reading model is never quoted.
    """
    heading = f"# {title(day)}"
    if not stories:
        return f"{heading}\n\n{EMPTY}\n"
    ranked = _ranked(day, stories)
    if not ranked:
        whose = "The text of the day's one story addresses" if len(stories) == 1 else "The texts of all stories of this day address"
        return _joined([heading, BY_RULES, f"{whose} language models, so nothing is quoted here."])
    lead = ranked[0]
    going_on = _going_on(ranked, lead, before)
    others = _others([story for story in ranked if story.event_id not in {lead.event_id, going_on and going_on.event_id}], lead)
    rest = [_listed(others, stories)] if others else []
    if going_on and before:
        rest.append(f"Still in the news from {_date(before.day)}: {_sourced(going_on, stories)}.")
    paragraphs = [heading, BY_RULES, _lead(lead, stories, before)]
    told = [*paragraphs, " ".join(rest)] if rest else paragraphs
    return _joined(told if words(told) <= MOST_WORDS else paragraphs)


def by_hand(day: dt.date, markdown: str) -> str:
    """A brief that an editor wrote, saying so, under the title of the day unless it begins with its own; without characters that
    nobody can see, which some programs paste along.
    """
    lines = "\n".join(visible(line).replace("\x1f", " ") for line in markdown.splitlines()).strip()
    titled = lines if lines.startswith("# ") else f"# {title(day)}\n\n{lines}"
    return f"{titled}\n\n{BY_HAND}\n"


def draft(markdown: str) -> str:
    """A generated brief as an editor starts from it: without its title, and without what only a generated one explains."""
    paragraphs = [paragraph for paragraph in markdown.strip().split("\n\n") if paragraph != BY_RULES]
    return "\n\n".join(paragraphs[1:] if paragraphs[0].startswith("# ") else paragraphs)


def is_by_hand(markdown: str) -> bool:
    """Whether a published brief is an editor's: a generated one never says so, since what it quotes is escaped."""
    return BY_HAND in markdown


def opening(markdown: str) -> str:
    """The first paragraph of a take that tells of the day, as Markdown, with the addresses of its links that stand elsewhere; of a
    generated one all but the citation, which stands on a line of its own; where it is the first sentence, all but its address.
    """
    first = _first(markdown)
    if BY_RULES in markdown:
        line, _, following = first.partition("\n")
        sentence, _, address = line.rpartition(" Source: ")
        told = f"{sentence} {following}".strip() if sentence and " " not in address else line
        return "\n\n".join([told, *filter(None, [markdown.partition(first)[2].strip()])])
    return "\n\n".join([first, *_DEFINITION.findall(markdown)])


def words(paragraphs: Sequence[str]) -> int:
    """Words of Markdown, addresses not counted."""
    text = re.sub(r"\]\([^)]*\)|https?://\S+", " ", " ".join(paragraphs))
    return sum(1 for word in text.split() if re.search(r"\w", word))


def lead_of(day: dt.date, stories: Sequence[Brief]) -> str | None:
    """The event that a day's brief begins with; None where it quotes no story."""
    ranked = _ranked(day, stories)
    return ranked[0].event_id if ranked else None


def detail(markdown: str) -> TakeDetail:
    """Title and first paragraph of a take, an editor's own too; the paragraph as plain text of at most 160 characters. A generated
    take has its first sentence on a line of its own, which is short enough to be whole.
    """
    heading = _HEADING.match(markdown.lstrip())
    text = _first(markdown)
    if BY_RULES in markdown:
        line = text.partition("\n")[0]
        text = line.rpartition(" Source: ")[0] or line
    summary = cut(_plain(" ".join(text.split())), SHORT)
    return TakeDetail(_plain(heading[1]) if heading else "Editor's Take", summary)


def escape(text: str) -> str:
    """Plain text as Markdown that renders as itself, within a line."""
    return _SYNTAX.sub(r"\\\g<0>", text)


def _first(markdown: str) -> str:
    blocks = (_HEADINGS.sub("", block).strip() for block in re.split(r"\n\s*\n", _DEFINITION.sub("", markdown)))
    return next((block for block in blocks if block and block != BY_RULES), "")


def _plain(markdown: str) -> str:
    text = _LINK.sub(r"\1", markdown)
    return re.sub(r"\\([\\`*_\[\]<>#|~&])", r"\1", text.replace("**", ""))


def _ranked(day: dt.date, stories: Sequence[Brief]) -> list[Brief]:
    """The story that stands for each event that may be quoted; the one that leads the day first, a newsroom's before a maker's."""
    events: dict[str, list[Brief]] = defaultdict(list)
    for story in stories:
        if story.quotable:
            events[story.event_id].append(story)
    best = [_best(reports) for reports in events.values()]
    ranked = sorted(best, key=lambda story: _event_key(day, story, events[story.event_id]))
    lead = next((story for story in ranked if story.cross_source_count > story.makers), None)
    return ranked if lead is None else [lead, *(story for story in ranked if story is not lead)]


def _best(reports: Sequence[Brief]) -> Brief:
    """The report that stands for an event on its day."""
    keys = [
        standing.of_report(
            quotable=True,
            is_typical=is_typical,
            tier=story.tier,
            published_at=story.published_at,
            story_id=story.chatbotnews_id,
        )
        for story, is_typical in zip(reports, standing.typical([story.headline for story in reports]), strict=True)
    ]
    return min(zip(reports, keys, strict=True), key=lambda pair: pair[1])[0]


def _event_key(day: dt.date, lead: Brief, reports: Sequence[Brief]) -> standing.Key:
    return standing.of_event(
        day,
        newsrooms=lead.cross_source_count - lead.makers,
        that_day=len({story.publisher for story in reports if story.tier != Tier.CORPORATE}),
        score=max(story.consensus_score for story in reports),
        began=lead.began,
        latest=max(story.published_at for story in reports),
        headline=lead.headline,
        category=lead.category,
        has_topics=lead.has_topics,
        event_id=lead.event_id,
    )


def _going_on(ranked: Sequence[Brief], lead: Brief, before: Before | None) -> Brief | None:
    """The best report of what led the day before, unless it leads again."""
    if before is None or before.lead == lead.event_id:
        return None
    return next((story for story in ranked if story.event_id == before.lead and _fits(story)), None)


def _others(ranked: Sequence[Brief], lead: Brief) -> list[Brief]:
    """The best story of each other category; of those that are left, as many as are needed for two."""
    told: list[Brief] = []
    fit = [story for story in ranked if _fits(story) and not is_roundup(story.headline)]
    for another_category in (True, False):
        for story in fit:
            taken = {lead.category, *(one.category for one in told)} if another_category else set()
            enough = MOST_OTHERS if another_category else MOST_OTHERS - 1
            if len(told) < enough and story.category not in taken and story.event_id not in {one.event_id for one in told}:
                told.append(story)
    return told


def _fits(story: Brief) -> bool:
    return len(story.headline) <= LONGEST_HEADLINE


def _lead(lead: Brief, stories: Sequence[Brief], before: Before | None) -> str:
    """A sentence of at most 160 characters, as they are read, on a line of its own; then the citation. Where the citation
    only says the headline, it is the sentence, if it is short enough.
    """
    if before and before.lead == lead.event_id:
        what = f"Still the main story after {_date(before.day)}"
    else:
        alone = lead.cross_source_count == 1  # then no event stands out
        what = "The day's one story" if len(stories) == 1 else "One of the day's stories" if alone else "The day's main story"
    cited, sources = lead.cite(), _counted_sources(lead)
    by = _sources(lead, stories)
    if len(stories) > 1 and {story.publisher for story in stories if story.event_id == lead.event_id} == {by}:
        by += " alone"
    if not lead.summarized and len(f"{what}: {cited.rpartition(' Source: ')[0]}") < SHORT:
        return "\n".join([f"{what}: {escape(cited)}", *_confirmed(lead)])
    opening = f"[{what}]({lead.permalink}) is reported by {sources}."
    beginnings = (f"{what}, reported by {by}: ", f"{what}, reported by {sources}: ", f"From {sources}: ")
    fitting = [beginning for beginning in beginnings if len(beginning) + len(lead.headline) < SHORT]
    opening = fitting[0] + _stopped(lead) if fitting else opening
    return "\n".join([opening, *([escape(cited)] if len(cited) <= LONGEST_CITATION else [])])


def _confirmed(lead: Brief) -> list[str]:
    """Who else reports what a citation says, if anybody does."""
    others = _others_in_words(lead)
    if not others:
        return []
    who = " and ".join(others)
    return [f"[{who[0].upper()}{who[1:]}]({lead.permalink}) {_report(lead)} it too."]


def _report(lead: Brief) -> str:
    return "reports" if lead.cross_source_count == 2 else "report"


def _listed(others: Sequence[Brief], stories: Sequence[Brief]) -> str:
    *first, last = [_sourced(story, stories) for story in others]
    return f"Also: {', '.join(first)} and {last}." if first else f"Also: {last}."


def _sourced(story: Brief, stories: Sequence[Brief]) -> str:
    return f"{_linked(story)} ({_sources(story, stories)})"


def _sources(story: Brief, stories: Sequence[Brief]) -> str:
    """Who reports it: by name, if the day's reports are all that count and few."""
    names = dict.fromkeys([story.publisher, *sorted(one.publisher for one in stories if one.event_id == story.event_id)])
    if story.cross_source_count != len(names) or len(names) > len(NUMBERS[:4]):
        return _counted_sources(story)
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _counted_sources(story: Brief) -> str:
    *first, last = [story.publisher, *_others_in_words(story)]
    return f"{', '.join(first)} and {last}" if first else last


def _others_in_words(story: Brief) -> list[str]:
    """The newsrooms beside this report, and the makers, who are no independent source of their own affairs."""
    is_maker = story.tier == Tier.CORPORATE
    makers = max(0, story.makers - is_maker)
    newsrooms = story.cross_source_count - 1 - makers
    words = []
    if newsrooms > 0:
        number = NUMBERS[newsrooms] if newsrooms < len(NUMBERS) else str(newsrooms)
        words.append(f"{number} {'' if is_maker else 'other '}independent source{'' if newsrooms == 1 else 's'}")
    if makers:
        words.append(
            "the company itself" if makers == 1 and not is_maker else "another company" if makers == 1 else f"{makers} companies"
        )
    return words


def _linked(story: Brief) -> str:
    """The headline, whole, as a link to the story; within a link's text `]` would end it."""
    return f"[{escape(story.headline).replace(']', chr(92) + ']')}]({story.permalink})"


def _stopped(story: Brief) -> str:
    return _linked(story) + ("" if ends_whole(story.headline) else ".")


def _date(day: dt.date) -> str:
    return f"{day.day} {day:%B}"


def _joined(paragraphs: Sequence[str]) -> str:
    return "\n\n".join(paragraphs) + "\n"
