"""The editor's take: the day's brief in Markdown, from this day's stories and the previous day's snapshot alone. Pure."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from citations.sentence_boundaries import ends_whole
from sources.vocabulary import Tier
from wire.publishing.consensus import Report, rank_event, rank_reports
from wire.text.plain_text import SHORT, cut, strip_invisible

MOST_WORDS: Final = 300  # of the brief; addresses are not counted
MOST_OTHERS: Final = 3  # events told beside the lead and what goes on
LONGEST_HEADLINE: Final = 200  # characters; one that is longer is left out, for none is cut
LONGEST_CITATION: Final = 400
EMPTY: Final = "No stories were published on this day."
BY_RULES: Final = "*Written by rules from this day's stories.*"
BY_HAND: Final = "*Written by the editors of ChatbotNews.ai, in place of the generated brief.*"
MOST_NAMED: Final = 4  # sources
NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.+)")  # CommonMark's: "#1 of the day" is none
_HEADINGS: Final = re.compile(r"\A(?:#{1,6}(?:[ \t].*)?(?:\n|\Z))+")
_LINK: Final = re.compile(r"(?<!\\)\[((?:\\.|[^\\\[\]])*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])")
_DEFINITION: Final = re.compile(r"^ {0,3}\[[^\]]+\]:[ \t]*\S.*$", re.M)
_SYNTAX: Final = re.compile(r"[\\`*\[<~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")  # CommonMark's, and of GitHub's ~ and |


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief(Report):
    """A story as the take sees it; `cite` gives its layered citation, which only says the headline if it is not `summarized`."""

    event_id: str
    summarized: bool
    category: str
    has_topics: bool
    consensus_score: float
    cross_source_count: int
    began: dt.datetime  # its event's first news report
    makers: int  # of its event's independent sources
    cite: Callable[[], str]
    permalink: str
    quotable: bool


class Before(NamedTuple):
    """The latest earlier day that was published, and the event that led it (None: it was empty)."""

    day: dt.date
    lead: str | None


class TakeDetail(NamedTuple):
    title: str
    summary: str


def title(day: dt.date) -> str:
    return f"Editor's Take: {day.day} {day:%B %Y}"


def write(day: dt.date, stories: Sequence[Brief], before: Before | None) -> str:
    """Return the brief in Markdown, three or four sentences long: what leads, with its citation; events of other categories; and
    what goes on of the day `before`. The same stories give the same text; text that addresses the reading model is never quoted.
    """
    heading = f"# {title(day)}"
    if not stories:
        return f"{heading}\n\n{EMPTY}\n"
    ranked = _rank_events(day, stories)
    if not ranked:
        whose = "The text of the day's one story addresses" if len(stories) == 1 else "The texts of all stories of this day address"
        return f"{heading}\n\n{BY_RULES}\n\n{whose} language models, so nothing is quoted here.\n"
    lead, fitting = ranked[0], [story for story in ranked if len(story.headline) <= LONGEST_HEADLINE]
    going_on = None  # what led the day before, unless it leads again
    if before and before.lead != lead.event_id:
        going_on = next((story for story in fitting if story.event_id == before.lead), None)
    others = _choose_others([story for story in fitting if story.event_id not in {lead.event_id, before and before.lead}], lead)
    rest = []
    if others:
        rest.append(f"Also: {_join_names([_write_source(story, stories) for story in others])}.")
    if going_on and before:
        rest.append(f"Still in the news from {_format_day(before.day)}: {_write_source(going_on, stories)}.")
    paragraphs = [heading, BY_RULES, _write_lead(lead, stories, before)]
    if rest and count_words([*paragraphs, text := " ".join(rest)]) <= MOST_WORDS:
        paragraphs.append(text)
    return "\n\n".join(paragraphs) + "\n"


def by_hand(day: dt.date, markdown: str) -> str:
    """Return a brief that an editor wrote, saying so, under the title of the day unless it begins with its own."""
    lines = "\n".join(strip_invisible(line).replace("\x1f", " ") for line in markdown.splitlines()).strip()
    titled = lines if lines.startswith("# ") else f"# {title(day)}\n\n{lines}"
    return f"{titled}\n\n{BY_HAND}\n"


def draft(markdown: str) -> str:
    """Return a generated brief as an editor starts from it: without its title, and without what only a generated one explains."""
    paragraphs = [paragraph for paragraph in markdown.strip().split("\n\n") if paragraph != BY_RULES]
    return "\n\n".join(paragraphs[1:] if paragraphs[0].startswith("# ") else paragraphs)


def opening(markdown: str) -> str:
    """Return the first paragraph of a take that tells of the day, as Markdown, with the addresses of links; of a generated one
    without the citation on its own line, or without the address of that sentence.
    """
    first = _find_first(markdown)
    if BY_RULES not in markdown:
        return "\n\n".join([first, *_DEFINITION.findall(markdown)])
    line, _, following = first.partition("\n")
    sentence, _, address = line.rpartition(" Source: ")
    shown = f"{sentence} {following}".strip() if sentence and " " not in address else line
    return "\n\n".join([shown, *filter(None, [markdown.partition(first)[2].strip()])])


def count_words(paragraphs: Sequence[str]) -> int:
    """Count the words of Markdown, addresses not counted."""
    text = re.sub(r"\]\([^)]*\)|https?://\S+", " ", " ".join(paragraphs))
    return sum(1 for word in text.split() if re.search(r"\w", word))


def find_lead(day: dt.date, stories: Sequence[Brief]) -> str | None:
    """Return the event that a day's brief begins with; None where it quotes no story."""
    ranked = _rank_events(day, stories)
    return ranked[0].event_id if ranked else None


def detail(markdown: str) -> TakeDetail:
    """Return title and first paragraph of a take, the paragraph as plain text of at most 160 characters."""
    heading = _HEADING.match(markdown.lstrip())
    text = _find_first(markdown)
    if BY_RULES in markdown:
        line = text.partition("\n")[0]
        text = line.rpartition(" Source: ")[0] or line
    return TakeDetail(_strip_markup(heading[1]) if heading else "Editor's Take", cut(_strip_markup(" ".join(text.split())), SHORT))


def escape(text: str) -> str:
    """Return plain text as Markdown that renders as itself, within a line."""
    return _SYNTAX.sub(r"\\\g<0>", text)


def _find_first(markdown: str) -> str:
    blocks = (_HEADINGS.sub("", block).strip() for block in re.split(r"\n\s*\n", _DEFINITION.sub("", markdown)))
    return next((block for block in blocks if block and block != BY_RULES), "")


def _strip_markup(markdown: str) -> str:
    text = _LINK.sub(r"\1", markdown)
    return re.sub(r"\\([\\`*_\[\]<>#|~&])", r"\1", text.replace("**", ""))


def _rank_events(day: dt.date, stories: Sequence[Brief]) -> list[Brief]:
    """Return the story that stands for each quotable event; the one that leads first: news first, a newsroom's before a maker's."""
    events: dict[str, list[Brief]] = defaultdict(list)
    for story in stories:
        if story.quotable:
            events[story.event_id].append(story)
    ranked = []
    for event_id, reports in events.items():
        keys = rank_reports(reports, [True] * len(reports))
        best = min(zip(keys, reports, strict=True), key=lambda pair: pair[0])[1]
        key = rank_event(
            day,
            newsrooms=best.cross_source_count - best.makers,
            that_day=len({story.publisher for story in reports if story.is_news and story.tier != Tier.CORPORATE}),
            score=max(story.consensus_score for story in reports),
            began=best.began,
            latest=max(story.published_at for story in reports),
            is_news=best.is_news,
            category=best.category,
            has_topics=best.has_topics,
            event_id=event_id,
        )
        ranked.append((key, best))
    ordered = [best for _, best in sorted(ranked, key=lambda pair: pair[0])]
    lead = min(ordered, key=lambda story: (not story.is_news, story.cross_source_count <= story.makers), default=None)
    return sorted(ordered, key=lambda story: story is not lead)


def _choose_others(ranked: Sequence[Brief], lead: Brief) -> list[Brief]:
    """Return the best story of each other category; of those that are left, as many as are needed for two."""
    chosen: list[Brief] = []
    news = [story for story in ranked if story.is_news]
    for story in news:
        if len(chosen) < MOST_OTHERS and story.category not in {lead.category, *(one.category for one in chosen)}:
            chosen.append(story)
    left = [story for story in news if story not in chosen]
    return [*chosen, *left[: max(0, MOST_OTHERS - 1 - len(chosen))]]


def _write_lead(lead: Brief, stories: Sequence[Brief], before: Before | None) -> str:
    """Return a sentence of at most 160 characters, then the citation on a line of its own, unless that only says the headline."""
    if before and before.lead == lead.event_id:
        what = f"Still the main story after {_format_day(before.day)}"
    elif len(stories) == 1:
        what = "The day's one story"
    else:
        what = "One of the day's stories" if lead.cross_source_count == 1 else "The day's main story"
    cited, others = lead.cite(), _list_others(lead)
    if not lead.summarized and len(f"{what}: {cited.rpartition(' Source: ')[0]}") < SHORT:
        lines = [f"{what}: {escape(cited)}"]
        if others:
            who, reports = " and ".join(others), "reports" if lead.cross_source_count == 2 else "report"
            lines.append(f"[{who[0].upper()}{who[1:]}]({lead.permalink}) {reports} it too.")
        return "\n".join(lines)
    sources, by = _join_names([lead.publisher, *others]), _name_sources(lead, stories)
    if len(stories) > 1 and {story.publisher for story in stories if story.event_id == lead.event_id} == {by}:
        by += " alone"
    opening = f"[{what}]({lead.permalink}) is reported by {sources}."
    for beginning in (f"{what}, reported by {by}: ", f"{what}, reported by {sources}: ", f"From {sources}: "):
        if len(beginning) + len(lead.headline) < SHORT:
            opening = beginning + _link_headline(lead) + ("" if ends_whole(lead.headline) else ".")
            break
    return "\n".join([opening, *([escape(cited)] if len(cited) <= LONGEST_CITATION else [])])


def _write_source(story: Brief, stories: Sequence[Brief]) -> str:
    return f"{_link_headline(story)} ({_name_sources(story, stories)})"


def _name_sources(story: Brief, stories: Sequence[Brief]) -> str:
    """Return who reports it: by name, if the day's reports are all that count and few."""
    names = dict.fromkeys([story.publisher, *sorted(one.publisher for one in stories if one.event_id == story.event_id)])
    is_short = story.cross_source_count == len(names) <= MOST_NAMED
    return _join_names([*names] if is_short else [story.publisher, *_list_others(story)])


def _join_names(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _list_others(story: Brief) -> list[str]:
    """Return the newsrooms beside this report, and the makers, who are no independent source of their own affairs, in words."""
    is_maker = story.tier == Tier.CORPORATE
    makers = max(0, story.makers - is_maker)
    newsrooms = story.cross_source_count - 1 - makers
    words = []
    if newsrooms > 0:
        number = NUMBERS[newsrooms] if newsrooms < len(NUMBERS) else str(newsrooms)
        words.append(f"{number} {'' if is_maker else 'other '}independent source{'' if newsrooms == 1 else 's'}")
    if makers:
        words.append(f"{makers} companies" if makers > 1 else "another company" if is_maker else "the company itself")
    return words


def _link_headline(story: Brief) -> str:
    """Return the headline, whole, as a link to the story; within a link's text `]` would end it."""
    return f"[{escape(story.headline).replace(']', chr(92) + ']')}]({story.permalink})"


def _format_day(day: dt.date) -> str:
    return f"{day.day} {day:%B}"
