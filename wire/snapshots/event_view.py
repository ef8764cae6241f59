"""An event as readers see it: which report stands for it, by how many it is reported, and that in a few words. Pure."""

import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sources.houses import Houses
from sources.vocabulary import Tier
from wire.schemas import StoryOut
from wire.snapshots import consensus, standing
from wire.snapshots.standing import FAINT

WIDELY: Final = 3  # independent sources from which an event is widely reported

_UNIT: Final = r"(?:\s?(?:thousand|million|billion|trillion|bn|[kmbt])\b)"
_FIGURE: Final = re.compile(
    rf"[$€£¥₹]\s?\d[\d.,]*(?<![.,]){_UNIT}?"  # $2.5 billion
    r"|\d[\d.,]*\s?(?:%|percent\b|per cent\b)"  # 40 %
    r"|\d[\d.,]*\s(?:thousand|million|billion|trillion)\b(?:\s\w+)?"  # 700 million users
    r"|\b\d{1,3}(?:,\d{3})+\b(?:\s\w+)?",  # 12,000 jobs
    re.I,
)


@dataclass(frozen=True, slots=True)
class EventReport:
    """One story of an event. `independent`: it counts as a source of its own; `is_copy`: it repeats a text already counted."""

    story: StoryOut
    independent: bool
    is_copy: bool


@dataclass(frozen=True, slots=True)
class EventView:
    """One happening. `lead` stands for it, and its score and count are the event's; `reports` are all of them, oldest first."""

    event_id: str
    lead: StoryOut
    reports: tuple[EventReport, ...]
    newsrooms: int
    makers: int

    @property
    def score(self) -> float:
        return self.lead.consensus_score

    @property
    def count(self) -> int:
        return self.lead.cross_source_count

    @property
    def others(self) -> list[StoryOut]:
        """The reports beside the lead, oldest first."""
        return [report.story for report in self.reports if report.story is not self.lead]

    @property
    def first(self) -> StoryOut:
        return self.reports[0].story

    @property
    def latest(self) -> StoryOut:
        return self.reports[-1].story

    @property
    def agreement(self) -> str:
        return agreement(self.newsrooms, self.makers, self.score)


def view(event_id: str, stories: Iterable[StoryOut], houses: Houses, chosen: Collection[str] = ()) -> EventView:
    """The event of these stories, one at least; `chosen`: ids that an editor lets stand for their events."""
    oldest_first = sorted(stories, key=lambda story: (story.published_at, story.chatbotnews_id))
    lead = _lead(oldest_first, chosen)
    reports = {story.chatbotnews_id: _report(story, houses) for story in oldest_first}
    found = consensus.weigh(reports[lead.chatbotnews_id], reports.values())
    independent = {lead.chatbotnews_id, *(one.report.chatbotnews_id for one in found.siblings if one.independent)}
    copies = {one.report.chatbotnews_id for one in found.siblings if one.is_copy}
    makers = sum(story.original_publisher_tier == Tier.CORPORATE for story in oldest_first if story.chatbotnews_id in independent)
    return EventView(
        event_id=event_id,
        lead=lead,
        reports=tuple(
            EventReport(story, independent=story.chatbotnews_id in independent, is_copy=story.chatbotnews_id in copies)
            for story in oldest_first
        ),
        newsrooms=max(lead.cross_source_count - makers, 0),
        makers=makers,
    )


def agreement(newsrooms: int, makers: int, score: float) -> str:
    """How widely an event is reported, in words; the makers' own posts are named apart."""
    if not newsrooms:
        return "the company’s own announcement" if makers == 1 else "the companies’ own announcements"
    if newsrooms == 1:
        words = "one source"
    elif score < FAINT:
        words = f"{'two' if newsrooms == 2 else newsrooms} sources, low agreement"
    else:
        words = "two independent sources" if newsrooms < WIDELY else f"widely reported: {newsrooms} independent sources"
    return words + ("" if not makers else " and the company itself" if makers == 1 else f" and {makers} companies themselves")


def by_weight(events: Iterable[EventView], day: dt.date) -> list[EventView]:
    """The events of a UTC day, the most widely reported first."""
    return sorted(events, key=lambda event: rank(event, day))


def rank(event: EventView, day: dt.date) -> standing.Key:
    """The place of an event among those of a UTC day, as `standing` has it."""
    stories = [report.story for report in event.reports]
    of_day = [story for story in stories if story.published_at.astimezone(dt.UTC).date() == day]
    return standing.of_event(
        day,
        newsrooms=event.newsrooms,
        that_day=len({story.original_publisher for story in of_day if story.original_publisher_tier != Tier.CORPORATE}),
        score=max(story.consensus_score for story in stories),
        began=event.first.published_at,
        latest=max(story.published_at for story in of_day or stories),
        headline=event.lead.headline,
        category=event.lead.category,
        has_topics=bool(event.lead.topics),
        event_id=event.event_id,
    )


def leading(events: Sequence[EventView]) -> EventView | None:
    """Which of a day's events, in the order of their rank, leads it: the first that a newsroom reports, else the first of all.
    Never one whose text addresses the reading model, since it cannot be quoted.
    """
    quotable = [event for event in events if not event.lead.untrusted_instructions]
    return next((event for event in quotable if event.newsrooms), next(iter(quotable), None))


def figures(text: str) -> list[str]:
    """Amounts, shares and large numbers of a text, as it writes them, each once."""
    return list(dict.fromkeys(" ".join(found.split()).rstrip(".,") for found in _FIGURE.findall(text)))


def _lead(stories: Sequence[StoryOut], chosen: Collection[str]) -> StoryOut:
    keys = [
        standing.of_report(
            quotable=not story.untrusted_instructions,
            is_typical=is_typical,
            tier=story.original_publisher_tier,
            published_at=story.published_at,
            story_id=story.chatbotnews_id,
        )
        for story, is_typical in zip(stories, standing.typical([story.headline for story in stories]), strict=True)
    ]
    return min(zip(stories, keys, strict=True), key=lambda pair: (pair[0].chatbotnews_id not in chosen, pair[1]))[0]


def _report(story: StoryOut, houses: Houses) -> consensus.Report:
    return consensus.Report(
        story.chatbotnews_id,
        story.original_publisher,
        story.original_publisher_tier,
        story.published_at,
        story.headline,
        story.summary_medium,
        story.author,
        houses.of(story.original_publisher, story.published_at),
    )
