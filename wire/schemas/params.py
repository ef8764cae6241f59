"""Types and bounds of what is asked and answered: defined once, shared by REST and MCP."""

import datetime as dt
import re
from enum import StrEnum
from functools import partial
from typing import Annotated

from ninja import Field, Schema
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from sources.choices import ROSTER_SIZE
from sources.models import utc_today
from wire.text.choices import Category, Topic
from wire.text.date_range import DAY, read_period
from wire.text.identity import STORY_ID_PATTERN
from wire.text.provenance_manifest import to_rfc3339

NAMED = "today, yesterday, this week, last week, last 7 days or a month such as May 2026"
ONE_DAY = "an ISO 8601 date such as 2026-01-14, today or yesterday"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def read_date(value: object) -> dt.date:
    """Parse `YYYY-MM-DD` and nothing else, where pydantic would take numbers too. Raises: ValueError."""
    if isinstance(value, str) and re.fullmatch(_DATE, value):
        return dt.date.fromisoformat(value)
    raise ValueError("not an ISO 8601 date such as 2026-01-14")


def read_days(value: object) -> tuple[dt.date, dt.date]:
    """Parse a UTC day, or a period as people name it, into its first day and the day after its last. Raises: ValueError."""
    days = read_period(value, utc_today()) if isinstance(value, str) else None
    if days is None:
        raise ValueError(f"not an ISO 8601 date such as 2026-01-14, nor a period such as 2026-01-12/2026-01-18, {NAMED}")
    return days


def read_day(value: object) -> dt.date:
    """Parse a UTC day: a date, or words that name one. Raises: ValueError, for a period of several days too."""
    if isinstance(value, str) and re.fullmatch(_DATE, value):
        return read_date(value)
    days = read_period(value, utc_today()) if isinstance(value, str) else None
    if days is None:
        raise ValueError(f"not {ONE_DAY}")
    if (last := days[1] - DAY) != days[0]:
        raise ValueError(f"a period of several days, {days[0]} to {last}, where one day is needed: {ONE_DAY}")
    return days[0]


def read_moment(value: object, end: int = 0) -> dt.datetime:
    """Parse an ISO 8601 date or date-time, UTC without a zone, or a period as people name it: its beginning, with `end` 1 its end.
    Raises: ValueError.
    """
    try:
        if not isinstance(value, str):
            raise ValueError
        if not re.match(_DATE, value):
            days = read_days(value)
            return dt.datetime.combine(days[end], dt.time(), dt.UTC)
        moment = dt.datetime.fromisoformat(value)
        return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"not an ISO 8601 date or date-time such as 2026-01-14 or 2026-01-14T09:30:00Z, nor {NAMED}") from None


def fold_case(value: object) -> object:
    """Return a text in small letters, as values of vocabularies are spelled: OpenAI is the topic openai."""
    return value.lower() if isinstance(value, str) else value


AnyCategory = Annotated[Category, BeforeValidator(fold_case)]
AnyTopic = Annotated[Topic, BeforeValidator(fold_case)]
Moment = Annotated[
    dt.datetime,
    PlainSerializer(to_rfc3339, return_type=str, when_used="json"),
    Field(description="RFC 3339, UTC, whole seconds.", json_schema_extra={"format": "date-time"}),
]
Score = Annotated[float, Field(ge=0, le=1, description="0-1, two decimals.")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
IsoMoment = Annotated[
    dt.datetime,
    BeforeValidator(read_moment),
    Field(description="ISO 8601 date or date-time; UTC unless it names another zone.", examples=["2026-01-14T00:00:00Z"]),
]
IsoEnd = Annotated[dt.datetime, BeforeValidator(partial(read_moment, end=1)), *IsoMoment.__metadata__[1:]]
Days = Annotated[
    tuple[dt.date, dt.date],
    BeforeValidator(read_days),
    Field(description="ISO 8601 date, a UTC day; or a period.", examples=["2026-01-14"]),
    WithJsonSchema({"type": "string", "format": "date"}),
]
Day = Annotated[
    dt.date, BeforeValidator(read_day), Field(description="ISO 8601 date, a UTC day; or today, yesterday.", examples=["2026-01-14"])
]
IsoDate = Annotated[dt.date, BeforeValidator(read_date), Field(description="ISO 8601 date, a UTC day.", examples=["2026-01-14"])]
StoryId = Annotated[str, Field(pattern=STORY_ID_PATTERN, examples=["cbn-0123456789ab"])]
SearchLimit = Annotated[int, Field(ge=1, le=50)]
ListLimit = Annotated[int, Field(ge=1, le=100)]
Sources = Annotated[list[Annotated[str, Field(max_length=200)]] | None, Field(max_length=ROSTER_SIZE)]

SEARCH_LIMIT = 10
LIST_LIMIT = 20
MAX_QUERY = 300
MOST_BUDGET = 1_000_000  # tokens
MAX_HEADLINE_QUERY = 1000
SINCE = "Only stories published at or after this moment; a date means 00:00 UTC."
UNTIL = "Only stories published before this moment (not included): `since=2026-01-14&until=2026-01-15` is one day."

SORT = "`relevance`: best first. `newest`: all matches, newest first."


class Sort(StrEnum):
    """In which order a search answers."""

    RELEVANCE = "relevance"
    NEWEST = "newest"


GROUP = "`event`: of several matching stories of one event, only the best, if ranked by relevance. `none`: all."


class EntityKind(StrEnum):
    """What a name in the news is the name of."""

    COMPANY = "company"
    PERSON = "person"
    PRODUCT = "product"


class Group(StrEnum):
    """Which stories of one event a search shows."""

    EVENT = "event"
    NONE = "none"


class SearchQuery(Schema):
    """What a search may ask."""

    query: str = Field(min_length=1, max_length=MAX_QUERY, description='Words, or a "phrase" in double quotes.')
    category: AnyCategory | None = None
    topic: AnyTopic | None = None
    source: str | None = Field(None, max_length=200, description="A publication of the roster, by any of its names.")
    sources: Sources = Field(None, description="Stories from any of these.")
    tier: int | None = Field(None, ge=1, le=4)
    since: IsoMoment | None = Field(None, description=SINCE)
    until: IsoEnd | None = Field(None, description=UNTIL)
    sort: Sort = Field(Sort.RELEVANCE, description=SORT)
    group: Group = Field(Group.EVENT, description=GROUP)
    limit: SearchLimit = SEARCH_LIMIT
    cursor: str | None = Field(None, max_length=500, description="The previous `next_cursor`.")


class SearchForm(SearchQuery):
    """Parameters of the site's form: words, filters, or both."""

    query: str = Field("", max_length=MAX_QUERY)
