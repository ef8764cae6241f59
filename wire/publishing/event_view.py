"""An event as readers see it: which report stands for it, by how many it is reported, and that in a few words. Pure."""

import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from sources.choices import Tier
from sources.roster import Houses
from wire.publishing import consensus
from wire.publishing.consensus import FAINT, Report
from wire.schemas.story import StoryOut
from wire.text.filters import Genre
from wire.text.lexicons import compile_patterns, load_lexicon

if TYPE_CHECKING:
    from wire.models import StoryRevision

WIDELY: Final = 3  # independent sources from which an event is widely reported

_FIGURES: Final = compile_patterns(load_lexicon("quantities")["figures"], {}, re.I)


@dataclass(frozen=True, slots=True)
class EventReport:
    """A story of an event. `independent`: it counts as a source, as only news does; `is_copy`: it repeats another's text."""

    story: StoryOut
    independent: bool
    is_copy: bool
    genre: Genre

    @property
    def is_news(self) -> bool:
        return self.genre == Genre.NEWS


@dataclass(frozen=True, slots=True)
class EventView:
    """A happening. `lead` stands for it, and its score and count are the event's; `reports` are all of them, oldest first."""

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
        return [report.story for report in self.reports if report.story is not self.lead]

    @property
    def first(self) -> StoryOut:
        """Return the earliest news report; the earliest of all if none is news."""
        return next((report for report in self.reports if report.is_news), self.reports[0]).story

    @property
    def is_first_known(self) -> bool:
        """Return whether the times say which publication was first."""
        return precedes_others(date_report(self.first), [date_report(report.story) for report in self.reports])

    @property
    def latest(self) -> StoryOut:
        return self.reports[-1].story

    @property
    def publications(self) -> list[str]:
        """Return the names of the publications with a report, in the order of their first; the first to report it as news leads."""
        return list(dict.fromkeys([self.first.original_publisher, *(report.story.original_publisher for report in self.reports)]))

    @property
    def coverage(self) -> str:
        """Return who reported it, as a sentence."""
        first, *others = self.publications
        if not others:
            return f"Reported by {first}."
        reported = f"Reported by {', '.join([first, *others[:-1]])} and {others[-1]}"
        return f"{reported}; first by {first}." if self.is_first_known else f"{reported}."

    @property
    def agreement(self) -> str:
        """Return how widely the event is reported, in words; the makers' own posts are named apart."""
        newsrooms, makers = self.newsrooms, self.makers
        if not newsrooms:
            return "the company’s own announcement" if makers == 1 else "the companies’ own announcements"
        if newsrooms == 1:
            words = "one source"
        elif self.score < FAINT:
            words = f"{'two' if newsrooms == 2 else newsrooms} sources, low agreement"
        else:
            words = "two independent sources" if newsrooms < WIDELY else f"widely reported: {newsrooms} independent sources"
        return words + ("" if not makers else " and the company itself" if makers == 1 else f" and {makers} companies themselves")


class Dated(NamedTuple):
    """Who published when, in UTC, and whether the publisher gave that time."""

    publisher: str
    at: dt.datetime
    has_time: bool


def date_report(story: "StoryOut | StoryRevision") -> Dated:
    """Return who published a story when."""
    # A story without a date has the time of its arrival, one with a date alone midnight: neither is a time of publication.
    at = story.published_at.astimezone(dt.UTC)
    return Dated(story.original_publisher, at, not story.published_at_estimated and at.time() != dt.time())


def precedes_others(first: Dated, reports: Iterable[Dated]) -> bool:
    """Return whether `first` was certainly before all other publications; of archives that give days alone, it rarely is."""
    others = [report for report in reports if report.publisher != first.publisher]
    return all(
        other.at != first.at and ((first.has_time and other.has_time) or other.at.date() != first.at.date()) for other in others
    )


def build_event_view(event_id: str, stories: Iterable[StoryOut], houses: Houses, chosen: Collection[str] = ()) -> EventView:
    """Return the event of these stories, one at least; `chosen`: ids that an editor lets stand for their events."""
    oldest_first = sorted(stories, key=lambda story: (story.published_at, story.chatbotnews_id))
    reports = {}
    for story in oldest_first:
        source = story.original_publisher, story.original_publisher_tier, story.published_at
        report = Report(story.chatbotnews_id, *source, story.headline, story.summary_medium, story.author)
        reports[story.chatbotnews_id] = consensus.add_context(report, story.original_url, houses)
    keys = consensus.rank_reports([*reports.values()], [not story.untrusted_instructions for story in oldest_first])
    ranked = zip(oldest_first, keys, strict=True)
    lead = min(ranked, key=lambda pair: (pair[0].chatbotnews_id not in chosen, pair[1]))[0]
    own = reports[lead.chatbotnews_id]
    found = consensus.weigh_consensus(own, reports.values())
    independent = {one.report.chatbotnews_id for one in found.siblings if one.independent}
    if len(independent) < found.count:  # the lead's publication counts, by a news report of its own
        voices = [one for one in (own, *reports.values()) if one.publisher == own.publisher and one.is_news]
        independent.add((voices or [own])[0].chatbotnews_id)
    copies = {one.report.chatbotnews_id for one in found.siblings if one.is_copy}
    makers = sum(story.original_publisher_tier == Tier.CORPORATE for story in oldest_first if story.chatbotnews_id in independent)
    return EventView(
        event_id=event_id,
        lead=lead,
        reports=tuple(
            EventReport(story, story_id in independent, story_id in copies, reports[story_id].genre)
            for story_id, story in zip(reports, oldest_first, strict=True)
        ),
        newsrooms=max(lead.cross_source_count - makers, 0),
        makers=makers,
    )


def sort_by_weight(events: Iterable[EventView], day: dt.date) -> list[EventView]:
    return sorted(events, key=lambda event: rank_event(event, day))


def rank_event(event: EventView, day: dt.date) -> consensus.Key:
    """Return the place of an event among those of a UTC day, as `rank_event` has it."""
    of_day = [report.story for report in _list_reports(event, day)] or [report.story for report in event.reports]
    news = [report.story for report in _list_reports(event, day) if report.is_news]
    return consensus.rank_event(
        day,
        newsrooms=event.newsrooms,
        that_day=len({story.original_publisher for story in news if story.original_publisher_tier != Tier.CORPORATE}),
        score=max(story.consensus_score for story in of_day),
        began=event.first.published_at,
        latest=max(story.published_at for story in of_day),
        is_news=bool(news),
        weight=max(consensus.weigh_headline(story.headline, story.category, story.topics) for story in news or of_day),
        event_id=event.event_id,
    )


def find_most_reported(events: Iterable[EventView]) -> EventView:
    """Return the event that most sources report, the newest of several: its headline names a storyline."""
    # What `find_headline_events` reads from the database alone.
    return max(
        events,
        key=lambda event: (
            max(report.story.cross_source_count for report in event.reports),
            event.reports[0].story.published_at,
            event.event_id,
        ),
    )


def choose_leading_event(events: Sequence[EventView], day: dt.date) -> EventView | None:
    """Return which of a day's events leads it: the first that a newsroom reports as news, else the first with news, else the first.
    Never one whose text addresses the reading model.
    """
    quotable = [event for event in events if not event.lead.untrusted_instructions]
    is_news = {event.event_id: any(report.is_news for report in _list_reports(event, day)) for event in quotable}
    return min(quotable, key=lambda event: (not is_news[event.event_id], not event.newsrooms), default=None)


def _list_reports(event: EventView, day: dt.date) -> list[EventReport]:
    return [report for report in event.reports if report.story.published_at.astimezone(dt.UTC).date() == day]


def find_figures(text: str) -> list[str]:
    """Return amounts, shares and large numbers of a text, as it writes them, each once."""
    return list(dict.fromkeys(" ".join(found.split()).rstrip(".,") for found in _FIGURES.findall(text)))
