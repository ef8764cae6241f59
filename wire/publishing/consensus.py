"""Consensus: corroboration of a story by other publications; which report stands for an event, which event leads a day. Pure."""

import datetime as dt
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Final

from rapidfuzz import fuzz

from citations.format.citation_statement import is_commentary, is_news_statement
from sources.choices import Tier
from wire.text.choices import COMPANIES, Category
from wire.text.filters import Genre, find_genre
from wire.text.identity import headline_key
from wire.text.lexicons import load_lexicon
from wire.text.tokens import stem_word, words

if TYPE_CHECKING:
    from sources.roster import Houses
    from wire.models import Story, StoryRevision

# How much one more source of each tier counts. A maker's own blog is not independent of what it announces.
WEIGHTS: Final[Mapping[int, float]] = {Tier.CORPORATE: 0.5, Tier.SPECIALIST: 0.6, Tier.GLOBAL: 0.7, Tier.CATEGORY: 0.3}
NEARLY_THE_SAME: Final = 90  # of 100: texts of one house that differ by a house style or a cut, not by another report
STATEMENT: Final = 2  # least weight of a headline that says what happened
FAINT: Final = 0.3  # under a lower consensus, two reports are as often of two happenings as of one
TYPICAL: Final = 0.9
Key = tuple[float | str, ...]
_ACTIONS: Final = frozenset(" ".join(load_lexicon("actions").values()).split())
_SECOND_THOUGHT: Final = re.compile(r"\s+[—–-]+\s+(?=but |and |though )")
_BILLIONS: Final = re.compile(r"[$€£¥]\s?\d[\d.,]*\s?(?:b\b|bn\b|billion|t\b|trillion)", re.I)


@dataclass(frozen=True, slots=True)
class Report:
    """A story of an event. `house`: who owned the publication on that day, "" for nobody known."""

    chatbotnews_id: str
    publisher: str
    tier: int
    published_at: dt.datetime
    headline: str
    summary: str
    author: str | None = None
    house: str = ""
    genre: Genre = Genre.NEWS

    @property
    def is_news(self) -> bool:
        return self.genre == Genre.NEWS


def add_context(report: Report, url: str, houses: "Houses") -> Report:
    """Return a report with its house and its genre."""
    house, genre = houses.get_owner(report.publisher, report.published_at), find_genre(report.headline, url, report.summary)
    return replace(report, house=house, genre=genre)


def build_report(story: "Story", revision: "StoryRevision", houses: "Houses") -> Report:
    source = revision.original_publisher, revision.original_publisher_tier, revision.published_at
    texts = revision.headline, revision.summary_medium, revision.author
    return add_context(Report(story.chatbotnews_id, *source, *texts), story.original_url, houses)


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another publication's story of the same event, and what it adds."""

    report: Report
    similarity: float
    independent: bool
    is_copy: bool


@dataclass(frozen=True, slots=True)
class Consensus:
    """`score` 0-1, two decimals; `count` independent sources, the story's own included; `first`: the first news report."""

    score: float
    count: int
    siblings: tuple[Sibling, ...]
    first: Report
    has_maker: bool


def weigh_consensus(story: Report, others: Iterable[Report]) -> Consensus:
    """Return the consensus about `story` by the others of its event: 1 - Π(1 - wᵢ·sᵢ) over sources, each publication once, and
    copies of one text once. Only news is counted.
    """
    reports = [story, *(other for other in others if other.chatbotnews_id != story.chatbotnews_id)]
    reports.sort(key=lambda one: (one.published_at, one.chatbotnews_id))
    mine = reports.index(story)
    alike = [compare_headlines(story.headline, other.headline) for other in reports]
    independent, copies, score = _find_sources(mine, reports, _list_texts(reports), alike)
    newest_first = sorted(range(len(reports)), key=lambda at: (-reports[at].published_at.timestamp(), reports[at].chatbotnews_id))
    is_reported = any(one.is_news and one.publisher == story.publisher for one in reports)
    return Consensus(
        score=score,
        count=max(len(independent) + is_reported, 1),
        siblings=tuple(
            Sibling(reports[at], round(alike[at], 2), independent=at in independent, is_copy=at in copies)
            for at in newest_first
            if reports[at].publisher != story.publisher
        ),
        has_maker=any(one.tier == Tier.CORPORATE for one in reports),
        first=find_first_report(reports),
    )


def find_first_report(reports: Iterable[Report]) -> Report:
    return min(reports, key=lambda one: (not one.is_news, one.published_at, one.chatbotnews_id))


def score_reports(event: Iterable[Report], wanted: Collection[str]) -> dict[str, tuple[float, int]]:
    """Return score and count of the wanted stories (ids) of an event, as `weigh` gives them."""
    reports = sorted(event, key=lambda one: (one.published_at, one.chatbotnews_id))
    headlines, texts = [_fold_words(one.headline) for one in reports], _list_texts(reports)
    newsrooms = {one.publisher for one in reports if one.is_news}
    alike: dict[int, list[float]] = {}
    found = {}
    for mine, story in enumerate(reports):
        if story.chatbotnews_id in wanted:
            alike[mine] = [
                alike[at][mine] if at in alike else fuzz.token_set_ratio(headlines[mine], other) / 100
                for at, other in enumerate(headlines)
            ]
            independent, _, score = _find_sources(mine, reports, texts, alike[mine])
            found[story.chatbotnews_id] = score, max(len(independent) + (story.publisher in newsrooms), 1)
    return found


def _find_sources(
    mine: int, reports: Sequence[Report], texts: Sequence[set[str]], alike: Sequence[float]
) -> tuple[set[int], set[int], float]:
    """Return the places of independent sources and of copies beside a story of an event, the strongest first, and its score."""
    strength = [WEIGHTS[one.tier] * likeness for one, likeness in zip(reports, alike, strict=True)]
    publications, seen, doubt = {reports[mine].publisher}, set(texts[mine]), 1.0
    independent, copies = set(), set()
    for at in sorted(range(len(reports)), key=strength.__getitem__, reverse=True):
        if at == mine or not reports[at].is_news:
            continue
        if not seen.isdisjoint(texts[at]):
            copies.add(at)
        elif reports[at].publisher not in publications:
            publications.add(reports[at].publisher)
            independent.add(at)
            doubt *= 1 - strength[at]
        seen |= texts[at]
    return independent, copies, round(1 - doubt, 2)


def compare_headlines(one: str, other: str) -> float:
    """Return how alike two headlines are, 0-1, whatever the order of their words."""
    return fuzz.token_set_ratio(_fold_words(one), _fold_words(other)) / 100


@lru_cache(maxsize=16_384)
def _fold_words(text: str) -> str:
    return " ".join(words(text))


def _list_texts(reports: Sequence[Report]) -> list[set[str]]:
    """Return keys of each report's texts; two that share one are copies: the same text, or nearly the same in one house."""
    texts = [{key for key in (headline_key(report.headline), headline_key(report.summary)) if key} for report in reports]
    in_houses = [(report, keys) for report, keys in zip(reports, texts, strict=True) if report.house]
    for (one, its), (other, theirs) in combinations(in_houses, 2):
        if one.house == other.house and one.publisher != other.publisher:
            is_same_author = one.author and other.author and _fold_words(one.author) == _fold_words(other.author) != ""
            if _is_nearly_equal(one.summary, other.summary) or (is_same_author and _is_nearly_equal(one.headline, other.headline)):
                pair = "\n".join(sorted((one.chatbotnews_id, other.chatbotnews_id)))  # no folded text has lines
                its.add(pair)
                theirs.add(pair)
    return texts


def _is_nearly_equal(one: str, other: str) -> bool:
    """Also if one is a part of the other; an empty text is like none."""
    return fuzz.token_set_ratio(_fold_words(one), _fold_words(other)) >= NEARLY_THE_SAME


def rank_reports(reports: Sequence[Report], quotable: Sequence[bool]) -> list[Key]:
    """Return a key of each report; the least is of the one that stands for the event: of what may be quoted news before other
    genres, newsrooms before makers, then typical headlines, those that state the news, then by tier, then the earliest.
    """
    # Typical is about as like all others as the one most like them. An early report often tells of something beside the event
    # ("Claude 4.1 dominates tests days before GPT-5 arrives").
    likeness = [sum(compare_headlines(one.headline, other.headline) for other in reports) for one in reports]
    return [
        (
            not is_quotable,
            not one.is_news,
            one.tier == Tier.CORPORATE,
            total < TYPICAL * max(likeness),
            not is_news_statement(one.headline),
            one.tier,
            one.published_at.timestamp(),
            one.chatbotnews_id,
        )
        for one, is_quotable, total in zip(reports, quotable, likeness, strict=True)
    ]


def rank_event(
    day: dt.date,
    *,
    newsrooms: int,
    that_day: int,
    score: float,
    began: dt.datetime,
    latest: dt.datetime,
    is_news: bool,
    weight: float,
    event_id: str,
) -> Key:
    """Return an event's key; the event with the least key leads its UTC day. It orders, in turn, by how many of its `newsrooms`
    reported it `that_day`; new events before those that began earlier, and lone reports of what happened before other lone
    reports; how widely it is reported in all; a `weight` of 1 and more; `score`; the amount of `weight`; the newest of that day.
    One newsroom's report and a maker's own post are equal; reports that hardly agree stand between one report and two that
    agree. Events without a news report that day (`is_news`) come last.
    """
    most = newsrooms if score >= FAINT else min(newsrooms, 1.5)  # more than one report, less than two that agree
    newest, in_all = max(min(that_day, most), 1), max(most, 1)
    is_old = began.astimezone(dt.UTC).date() < day - dt.timedelta(days=1)
    place = -newest if is_news else 0
    agreement = (score if newsrooms > 1 and score >= FAINT else 0.0) - (weight < 1)  # a maker agrees with news of itself
    is_weak = newest == 1 and weight < STATEMENT  # yesterday's news about which one newsroom advises today
    return place, 2 * is_old + is_weak, -in_all, -agreement, -weight, -latest.timestamp(), event_id


def has_action_word(headline: str) -> bool:
    """Return whether a headline has a word for what somebody did, such as launching, suing or hiring."""
    return any(stem_word(word) in _ACTIONS for word in words(headline))


def weigh_headline(headline: str, category: str, topics: Collection[str]) -> float:
    """Return the weight of a story among others that as many report, 0-4: 1 and more for news on a tracked topic or of billions
    whose headline is a statement, most for one that says what happened, for a tracked company, and for the billions; below 1
    for other news, 0 for analysis.
    """
    if category == Category.ANALYSIS:
        return 0
    is_large = bool(_BILLIONS.search(headline))
    is_tracked = is_large or bool(topics)
    if not is_tracked or not is_news_statement(_SECOND_THOUGHT.split(headline)[0]):
        return 0.5 if is_tracked else 0.25
    if is_commentary(headline):
        return 1
    return STATEMENT + bool(COMPANIES & {*topics}) + is_large
