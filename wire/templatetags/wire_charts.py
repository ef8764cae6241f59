"""Pictures that the server draws: SVG with a text alternative. Place or shape always says what colour says."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from wire.publishing.event_view import EventView
from wire.schemas.figures import ActivityOut, CoverageOut, TierCoverage, WeekOut

register = template.Library()

SEATS: Final = {1: 7, 2: 6, 3: 10, 4: 1}  # places of a row's bar; a tier with more publications gets a wider group
CELL: Final = 5  # a place of 4 with a gap of 1
GROUP_GAP: Final = 5
FEW: Final = 2  # stories of a day that is no peak; days that are no chart
STATES: Final = (
    ("reported", "reported"),
    ("not_counted", "not counted"),
    ("silent", "no report"),
    ("not_received", "nothing received"),
)


@register.simple_tag
def draw_coverage_bar(event: EventView) -> SafeString:
    """Draw the independent sources of an event as filled places, in a group of places for each tier."""
    counts = Counter(report.story.original_publisher_tier for report in event.reports if report.independent)
    x, empty, filled = 0, "", list[tuple[int, str]]()
    for tier, seats in SEATS.items():
        number = counts[tier]
        empty += f"M{x} 4h{CELL * max(seats, number)}"
        if number:
            filled.append((tier, f"M{x} 4h{CELL * number}"))
        x += CELL * max(seats, number) + GROUP_GAP
    told = ", ".join(f"{number} of tier {tier}" for tier, number in sorted(counts.items()))
    return format_html(
        '<svg class="bar" viewBox="0 0 {} 8" width="{}" height="8" role="img" aria-label="Sources: {}"><path d="{}"/>{}</svg>',
        x - GROUP_GAP,
        x - GROUP_GAP,
        told,
        empty,
        format_html_join("", '<path class="t{}" d="{}"/>', filled),
    )


@register.simple_tag
def draw_coverage_map(coverage: CoverageOut) -> SafeString:
    """Draw a line of places for each tier: filled, half filled, empty, a dot."""
    rows = [_draw_tier(tier, 26 * number) for number, tier in enumerate(coverage.tiers)]
    most = max(sum(len(getattr(tier, state)) for state, _ in STATES) for tier in coverage.tiers)
    label = "; ".join(f"tier {tier.tier}: {_count_states(tier)}" for tier in coverage.tiers)
    return format_html(
        '<svg class="coverage" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" '
        'aria-label="Coverage by tier. {2}">{3}</svg>',
        44 + 22 * most,
        26 * len(rows),
        label,
        format_html_join("", "{}", ((row,) for row in rows)),
    )


def _count_states(tier: TierCoverage) -> str:
    return ", ".join(f"{len(names)} {words}" for state, words in STATES if (names := getattr(tier, state))) or "no publication"


def _draw_tier(tier: TierCoverage, y: int) -> SafeString:
    cells = [(state, words, name) for state, words in STATES for name in getattr(tier, state)]
    shapes = (
        (f"{state} t{tier.tier}", f"{name}: {words}", *_place_cell(state, 44 + 22 * number, y))
        for number, (state, words, name) in enumerate(cells)
    )
    return format_html(
        '<text x="0" y="{}">Tier {}</text>{}',
        y + 15,
        tier.tier,
        format_html_join("", '<rect class="{0}" x="{2}" y="{3}" width="{4}" height="{5}"><title>{1}</title></rect>', shapes),
    )


def _place_cell(state: str, x: int, y: int) -> tuple[int, int, int, int]:
    """Return x, y, width and height of a place."""
    return {"not_counted": (x, y + 12, 18, 8), "not_received": (x + 7, y + 9, 4, 4)}.get(state, (x, y + 2, 18, 18))


@register.inclusion_tag("_trend.html")
def draw_trend(activity: ActivityOut, address: str, marked: dt.date | None = None) -> dict[str, Any]:
    """Draw stories a day as bars, and name the day with most; `marked` is the day that the page shows."""
    most = activity.peak.stories if activity.peak else 1
    bars = [
        (day.date, f"M{4 * number + 2} 48v-{max(round(46 * day.stories / most), 1)}")
        for number, day in enumerate(activity.days)
        if day.stories
    ]
    peak = activity.peak.date if activity.peak and activity.peak.stories > FEW else None
    if sum(day.stories == most for day in activity.days) > 1:
        peak = None  # several days are the highest
    return {
        "activity": activity,
        "is_chart": len(bars) > FEW,
        "first": activity.days[0].date if activity.days else None,
        "last": activity.days[-1].date if activity.days else None,
        "width": 4 * len(activity.days),
        "bars": "".join(path for day, path in bars if day not in (peak, marked)),
        "peak_bar": "".join(path for day, path in bars if day == peak),
        "marked_bar": "".join(path for day, path in bars if day == marked != peak),
        "peak": peak,
        "address": address,
    }


@register.simple_tag
def draw_event_line(events: Sequence[EventView], width: int = 640) -> SafeString:
    """Draw events as dots over time, the larger the more sources report them; nothing if all have one time."""
    moments = [event.first.published_at for event in events]
    first, last = min(moments), max(moments)
    if first == last:
        return SafeString("")
    length = (last - first).total_seconds()
    dots = [
        (
            round(14 + (width - 28) * (event.first.published_at - first).total_seconds() / length),
            min(3 + 1.5 * event.count, 12),
            f"{event.first.published_at:%-d %B %Y}: {event.lead.headline} ({event.agreement})",
        )
        for event in sorted(events, key=lambda event: -event.count)  # a smaller dot lies on a larger one
    ]
    return format_html(
        '<svg class="events" viewBox="0 0 {0} 32" width="{0}" height="32" role="img" aria-label="{1}">'
        '<path d="M0 16h{0}"/>{2}</svg>',
        width,
        f"{len(events)} events from {first:%-d %B %Y} to {last:%-d %B %Y}",
        format_html_join("", '<circle cx="{}" cy="16" r="{}"><title>{}</title></circle>', dots),
    )


@register.simple_tag
def draw_week_chart(week: WeekOut) -> SafeString:
    """Draw a bar for each day of a week, with its number of stories."""
    most = max((day.stories for day in week.days), default=0) or 1
    bars: Iterable[tuple[object, ...]] = (
        (
            90 * number + 5,
            84 - (height := round(70 * day.stories / most)),
            height,
            90 * number + 45,
            80 - height,
            day.stories,
            f"{day.date:%a %-d}",
        )
        for number, day in enumerate(week.days)
    )
    label = ", ".join(f"{day.date:%A} {day.stories}" for day in week.days)
    return format_html(
        '<svg class="week" viewBox="0 0 630 104" width="630" height="104" role="img" aria-label="Stories per day: {}">{}</svg>',
        label,
        format_html_join(
            "",
            '<rect x="{0}" y="{1}" width="80" height="{2}"/><text x="{3}" y="{4}">{5}</text><text x="{3}" y="101">{6}</text>',
            bars,
        ),
    )
