"""The editor's take: the day's brief in Markdown, from this day's stories and the previous day's snapshot alone. Pure."""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from citations.format.citation_statement import (
    INNER_QUOTES,
    Statement,
    StatementKind,
    adds_news,
    is_news_statement,
    restates_headline,
    shares_amount,
)
from citations.sentence_boundaries import add_full_stop, split_sentences
from sources.choices import Tier
from wire.publishing.consensus import STATEMENT, Report, has_action_word, rank_event, rank_reports, weigh_headline
from wire.text.choices import Category
from wire.text.plain_text import SHORT, cut_text, strip_invisible

MOST_WORDS: Final = 300  # of the brief; addresses are not counted
MOST_OTHERS: Final = 3  # events told beside the lead and what goes on
MOST_OF_MAKERS: Final = 2  # announcements that no newsroom reports
MANY_EVENTS: Final = 12  # from which on the brief says what kind of day it was
LARGE_SHARE: Final = 0.4  # of a day's events, for a category that gives the day its character
LONGEST_HEADLINE: Final = 200  # characters; one that is longer is left out, for none is cut
LONGEST_QUOTATION: Final = 240
MOST_ADDITIONS: Final = 2
LONGEST_CITATION: Final = 400
EMPTY: Final = "No stories were published on this day."
BY_RULES: Final = "*Written by rules from this day's stories.*"
BY_HAND: Final = "*Written by the editors of ChatbotNews.ai, in place of the generated brief.*"
MOST_NAMED: Final = 4  # sources
NUMBERS: Final = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
KINDS_OF_DAY: Final = {
    Category.LAUNCHES: "launches",
    Category.FUNDING: "funding",
    Category.AGENTS: "agents",
    Category.INDUSTRY: "industry news",
}  # of the other category, what belongs nowhere else

_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.+)")  # CommonMark's: "#1 of the day" is none
_HEADINGS: Final = re.compile(r"\A(?:#{1,6}(?:[ \t].*)?(?:\n|\Z))+")
_LINK: Final = re.compile(r"(?<!\\)\[((?:\\.|[^\\\[\]])*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])")
_DEFINITION: Final = re.compile(r"^ {0,3}\[[^\]]+\]:[ \t]*\S.*$", re.M)
_ADDRESS: Final = re.compile(r" Source: \S+$")  # of a citation
_SYNTAX: Final = re.compile(r"[\\`*\[<~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")  # CommonMark's, and of GitHub's ~ and |


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief(Report):
    """A story as the take sees it; `cite` gives its layered citation, made of the `statement`."""

    event_id: str
    statement: Statement
    category: str
    topics: Sequence[str]
    consensus_score: float
    cross_source_count: int
    began: dt.datetime  # its event's first news report
    makers: tuple[str, ...]  # among its event's independent sources
    makers_of_day: tuple[str, ...]  # those of them that posted on this day
    voices: tuple[str, ...]  # the newsrooms among these that reported on this day
    voices_of_other_days: tuple[str, ...]
    cite: Callable[[], str]
    permalink: str
    quotable: bool

    @property
    def newsrooms(self) -> int:
        """Return how many independent newsrooms report its event; of their own affairs, makers are none."""
        return self.cross_source_count - len(self.makers)

    @property
    def weight(self) -> float:
        return weigh_headline(self.headline, self.category, self.topics)

    @property
    def is_self_explanatory(self) -> bool:
        """Return whether its headline, alone, tells a reader what happened."""
        return self.is_news and self.category != Category.ANALYSIS and is_news_statement(self.headline)


class Before(NamedTuple):
    """The latest earlier day that was published, and the event that led it (None: it was empty)."""

    day: dt.date
    lead: str | None


class TakeDetail(NamedTuple):
    title: str
    summary: str


def format_title(day: dt.date) -> str:
    return f"Editor's Take: {day.day} {day:%B %Y}"


def write_take_of_day(day: dt.date, stories: Sequence[Brief], before: Before | None) -> str:
    """Return the brief in Markdown, three to five sentences: what leads and what each newsroom adds; on a full day its kind; the
    next events by weight; makers' own news; and what goes on of the day `before`. The same stories give the same text; text that
    addresses the reading model is never quoted.
    """
    heading = f"# {format_title(day)}"
    if not stories:
        return f"{heading}\n\n{EMPTY}\n"
    ranked = _rank_events(day, stories)
    if not ranked:
        whose = "The text of the day's one story addresses" if len(stories) == 1 else "The texts of all the day's stories address"
        return f"{heading}\n\n{BY_RULES}\n\n{whose} language models, so nothing is quoted here.\n"
    lead, fitting = ranked[0], [story for story in ranked if len(story.headline) <= LONGEST_HEADLINE]
    going_on = None  # what led the day before, unless it leads again
    if before and before.lead != lead.event_id:
        going_on = next((story for story in fitting if story.event_id == before.lead and story.newsrooms > 1), None)
        going_on = going_on if going_on and is_news_statement(going_on.headline) else None
    told = [lead, *filter(None, [going_on])]
    left = [story for story in fitting if story not in told]
    others = _choose_new_stories(_list_other_stories(day, left), told, MOST_OTHERS)
    announced = [story for story in left if story.newsrooms <= 0 and story.is_self_explanatory and has_action_word(story.headline)]
    of_makers = _choose_new_stories(announced, [*told, *others], MOST_OF_MAKERS)
    rest = [_write_kind_of_day(ranked, stories)] if len(ranked) >= MANY_EVENTS else []
    if others:
        rest.append(f"In other news, {_write_reports(others)}.")
    if of_makers:
        posts = [f"{_link_headline(story)} ({story.publisher})" for story in of_makers]
        rest.append(f"From the companies themselves: {_join_names(posts)}.")
    if going_on and before:
        rest.append(f"Still in the news from {_format_day(before.day)}: {_link_headline(going_on)} ({_name_sources(going_on)}).")
    sentence = _write_lead(lead, len(stories), before)
    additions = _write_additions(lead, stories, said="" if sentence.startswith("[") else lead.headline)
    paragraphs = [heading, BY_RULES, "\n".join([sentence, *additions])]
    while rest and count_words([*paragraphs, " ".join(rest)]) > MOST_WORDS:
        rest.pop()
    return "\n\n".join([*paragraphs, *filter(None, [" ".join(rest)])]) + "\n"


def label_own_take(day: dt.date, markdown: str) -> str:
    """Return a brief that an editor wrote, saying so, under the title of the day unless it begins with its own."""
    lines = "\n".join(strip_invisible(line).replace("\x1f", " ") for line in markdown.splitlines()).strip()
    titled = lines if lines.startswith("# ") else f"# {format_title(day)}\n\n{lines}"
    return f"{titled}\n\n{BY_HAND}\n"


def build_draft(markdown: str) -> str:
    """Return a generated brief as an editor starts from it: without its title, and without what only a generated one explains."""
    paragraphs = [paragraph for paragraph in markdown.strip().split("\n\n") if paragraph != BY_RULES]
    return "\n\n".join(paragraphs[1:] if paragraphs[0].startswith("# ") else paragraphs)


def extract_opening(markdown: str) -> str:
    """Return the first paragraph of a take that tells of the day, as Markdown, with the addresses of links; of a generated one
    without the citation on its own line, or without the address of that sentence.
    """
    first = _find_first_paragraph(markdown)
    if BY_RULES not in markdown:
        return "\n\n".join([first, *_DEFINITION.findall(markdown)])
    sentence, *following = first.split("\n")
    shown = [_ADDRESS.sub("", sentence), *(line for line in following if not _ADDRESS.search(line))]
    return "\n\n".join([" ".join(shown), *filter(None, [markdown.partition(first)[2].strip()])])


def count_words(paragraphs: Sequence[str]) -> int:
    """Count the words of Markdown, addresses not counted."""
    text = re.sub(r"\]\([^)]*\)|https?://\S+", " ", " ".join(paragraphs))
    return sum(1 for word in text.split() if re.search(r"\w", word))


def find_lead_event(day: dt.date, stories: Sequence[Brief]) -> str | None:
    """Return the event that a day's brief begins with; None where it quotes no story."""
    ranked = _rank_events(day, stories)
    return ranked[0].event_id if ranked else None


def extract_detail(markdown: str) -> TakeDetail:
    """Return title and first paragraph of a take, the paragraph as plain text of at most 160 characters."""
    heading = _HEADING.match(markdown.lstrip())
    text = _find_first_paragraph(markdown)
    if BY_RULES in markdown:
        text = _ADDRESS.sub("", text.partition("\n")[0])
    title = _strip_markup(heading[1]) if heading else "Editor's Take"
    return TakeDetail(title, cut_text(_strip_markup(" ".join(text.split())), SHORT))


def escape(text: str) -> str:
    """Return plain text as Markdown that renders as itself, within a line."""
    return _SYNTAX.sub(r"\\\g<0>", text)


def _find_first_paragraph(markdown: str) -> str:
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
            newsrooms=best.newsrooms,
            that_day=len({story.publisher for story in reports if story.is_news and story.tier != Tier.CORPORATE}),
            score=max(story.consensus_score for story in reports),
            began=best.began,
            latest=max(story.published_at for story in reports),
            is_news=best.is_news,
            weight=best.weight,
            event_id=event_id,
        )
        ranked.append((key, best))
    ordered = [best for _, best in sorted(ranked, key=lambda pair: pair[0])]
    lead = min(ordered, key=lambda story: (not story.is_news, story.newsrooms <= 0), default=None)
    return sorted(ordered, key=lambda story: story is not lead)


def _list_other_stories(day: dt.date, ranked: Sequence[Brief]) -> list[Brief]:
    """Return what several newsrooms report, then what one does, the weightiest first; only headlines that tell what happened, and
    of what began before this day only what several report on it.
    """
    several = [
        story
        for story in ranked
        if story.newsrooms > 1
        and is_news_statement(story.headline)
        and (len(story.voices) > 1 or story.began.astimezone(dt.UTC).date() >= day)
    ]
    one = [
        story
        for story in ranked
        if story.newsrooms == 1
        and story.is_news
        and story.weight >= STATEMENT
        and (has_action_word(story.headline) or story.weight >= STATEMENT + 2)  # billions of a tracked company
    ]
    return [*several, *one]


def _choose_new_stories(ranked: Sequence[Brief], told: Sequence[Brief], most: int) -> list[Brief]:
    """Return the first stories of `ranked` whose headlines tell news that no other does: grouping may have split one happening."""
    chosen: list[Brief] = []
    for story in ranked:
        if len(chosen) < most and not any(_tell_one_happening(story, other) for other in (*told, *chosen)):
            chosen.append(story)
    return chosen


def _tell_one_happening(one: Brief, other: Brief) -> bool:
    is_retold = any(restates_headline(f"{a.headline} {a.summary}", b.headline) for a, b in ((one, other), (other, one)))
    return is_retold or shares_amount(one.headline, other.headline)


def _write_lead(lead: Brief, number: int, before: Before | None) -> str:
    """Return a sentence of at most 160 characters as they are read, with who reports it as far as that fits."""
    what = "The day's main story"
    if before and before.lead == lead.event_id:
        what += f", as on {_format_day(before.day)},"
    elif number == 1:
        what = "The day's one story"
    elif len(lead.voices) < 2:  # no claim that it is the main one
        what = "One of the day's stories"
    sources = _name_sources(lead)
    length = len(f"{what} is “{lead.headline}”.")
    if length + len(by := f", reported by {sources}") <= SHORT:
        return f"{what} is {_link_headline(lead)}{by}."
    if length <= SHORT:
        return f"{what} is {_link_headline(lead)}.\nIt is reported by {sources}."
    return f"[{what.rstrip(',')}]({lead.permalink}) is reported by {sources}."


def _write_additions(lead: Brief, stories: Sequence[Brief], said: str) -> list[str]:
    """Return what the lead's own summary adds to what is `said`, as its citation where that does not repeat the headline, and then
    the first sentence of each other newsroom that names a number or a name not said before; one line each.
    """
    lines = []
    news, cited = lead.statement.news, lead.cite()
    if not said and len(cited) <= LONGEST_CITATION:
        lines.append(escape(cited))
    elif news and adds_news(news, said):
        if lead.statement.kind == StatementKind.SUMMARY and len(cited) <= LONGEST_CITATION:
            lines.append(escape(cited))
        elif len(news) <= LONGEST_QUOTATION:
            lines.append(f"{lead.publisher} adds: {escape(_quote(add_full_stop(news)))}")
        said = f"{said} {news}"
    publishers = {lead.publisher}
    for story in sorted(stories, key=lambda one: (one.published_at, one.chatbotnews_id)):
        is_other = story.event_id == lead.event_id and story.publisher not in publishers and story.quotable and story.is_news
        if is_other and story.statement.kind == StatementKind.SUMMARY:
            news = next(split_sentences(story.statement.news))
            if len(news) <= LONGEST_QUOTATION and adds_news(news, said):
                lines.append(f"[{escape(story.publisher)}]({story.permalink}) adds: {escape(_quote(add_full_stop(news)))}")
                publishers.add(story.publisher)
                said = f"{said} {news}"
    return lines[:MOST_ADDITIONS]


def _write_kind_of_day(ranked: Sequence[Brief], stories: Sequence[Brief]) -> str:
    counts = Counter(story.category for story in ranked)
    fewest = max(LARGE_SHARE * len(ranked), counts[Category.ANALYSIS] + 1)
    large = [kind for category, kind in KINDS_OF_DAY.items() if counts[category] >= fewest]
    kind = f"a day of {_join_names(large[:2])}" if large else "a mixed day"
    publications = len({story.publisher for story in stories})
    return f"It was {kind}: {len(stories)} stories from {_write_number(publications)} publication{'s' * (publications > 1)}."


def _write_reports(chosen: Sequence[Brief]) -> str:
    """Return who reports what: `Wired and ZDNet report “…” and “…” and TechCrunch reports “…”`."""
    by_source: dict[str, list[str]] = {}
    for story in chosen:
        by_source.setdefault(_name_sources(story), []).append(_link_headline(story))
    verbs = {source: "report" if re.search(r" and,? ", source) else "reports" for source in by_source}
    return _join_names([f"{source} {verbs[source]} {_join_names(headlines)}" for source, headlines in by_source.items()])


def _name_sources(story: Brief) -> str:
    """Return who reports it: newsrooms by name, then makers, who are no independent source of their own affairs."""
    names = _shorten_names([story.publisher, *(name for name in story.voices if name != story.publisher)])
    makers = [name for name in story.makers_of_day if name != story.publisher]
    names += makers if len(makers) < 2 else [f"{_write_number(len(makers))} companies"]
    others = [name for name in story.voices_of_other_days if name != story.publisher]
    if not others:
        return _join_names(names)
    when = "on another day" if len(others) == 1 else "on other days"
    return f"{', '.join(names)} and, {when}, {_join_names(_shorten_names(others))}"


def _shorten_names(names: list[str]) -> list[str]:
    left = len(names) - MOST_NAMED + 1
    return names if left < 2 else [*names[: MOST_NAMED - 1], f"{_write_number(left)} other newsrooms"]


def _join_names(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _link_headline(story: Brief) -> str:
    """Return the headline, whole and in quotation marks, as a link to the story; within a link's text `]` would end it."""
    text = escape(story.headline.removesuffix(".").translate(INNER_QUOTES)).replace("]", r"\]")
    return f"“[{text}]({story.permalink})”"


def _quote(text: str) -> str:
    return f"“{text.translate(INNER_QUOTES)}”"


def _write_number(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def _format_day(day: dt.date) -> str:
    return f"{day.day} {day:%B}"
