"""Figures that pages draw: stories a day, coverage by tier, first reports, a week."""

import datetime as dt
import re
from typing import Annotated, Final

from ninja import Schema
from pydantic import BeforeValidator, Field, WithJsonSchema

from wire.schemas.params import StoryId
from wire.schemas.story import EventBrief

_WEEK: Final = re.compile(r"([0-9]{4})-W([0-9]{2})")


def parse_week(value: object) -> dt.date:
    """Parse an ISO week such as 2026-W21 into its Monday. Raises: ValueError."""
    if isinstance(value, str) and (found := _WEEK.fullmatch(value)):
        try:
            monday = dt.date.fromisocalendar(int(found[1]), int(found[2]), 1)
            if monday.year < dt.MAXYEAR:  # a week later the calendar ends
                return monday
        except ValueError:
            pass
    raise ValueError("not an ISO 8601 week such as 2026-W21")


def format_week(day: dt.date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


IsoWeek = Annotated[
    dt.date,
    BeforeValidator(parse_week),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]{4}-W[0-9]{2}$", "examples": ["2026-W21"]}),
]


class DayCount(Schema):
    date: dt.date
    stories: int


class FirstReports(Schema):
    """How often a publication was the first of several, over the events of its newest 200 stories."""

    events: int = Field(description="Events that an independent source reports too and whose first report is `certain`.")
    first: int = Field(description="Of these, how many this publication reported first.")


class ActivityOut(Schema):
    """Stories a day, up to the latest published day. Days without a story count as 0."""

    days: list[DayCount] = Field(description="Oldest first.")
    total: int
    mean: float = Field(description="Stories a day, one decimal.")
    peak: DayCount | None = Field(description="The day with the most stories, the newest if tied; null if there is none.")
    first_reports: FirstReports | None = Field(None, description="Of a source.")


class TierCoverage(Schema):
    """The publications of one tier, by what each did about an event."""

    tier: int
    tier_label: str
    reported: list[str] = Field(description="Counted as independent sources.")
    not_counted: list[str] = Field(description="Reported it only as a copy, or not as news.")
    silent: list[str] = Field(description="Delivered stories on those days, but none about the event.")
    not_received: list[str] = Field(description="Sent no story at all on those days.")


class CoverageOut(Schema):
    """Which sources reported an event, by tier."""

    event_id: StoryId
    permalink: str
    cross_source_count: int
    tiers: list[TierCoverage]


class WeekDay(Schema):
    date: dt.date
    stories: int
    events: int = Field(description="Events with a report on that day.")


class WeekStoryline(Schema):
    """A storyline with events in a week."""

    storyline_id: StoryId
    permalink: str
    headline: str = Field(description="That of its most reported event.")
    events: list[StoryId] = Field(description="Of that week, oldest first.")
    total: int = Field(description="Events of the whole storyline.")


class WeekOut(Schema):
    """A week, Monday to Sunday (UTC), by its storylines and events."""

    week: str
    first: dt.date
    last: dt.date
    stories: int
    total: int = Field(description="All events of the week.")
    days: list[WeekDay]
    storylines: list[WeekStoryline] = Field(description="The most widely reported first.")
    events: list[EventBrief] = Field(description="Ranked by number of newsrooms, then by place on their best day.")
    earlier: str | None = Field(description="The published week before.")
    later: str | None
