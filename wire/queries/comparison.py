"""One event side by side, as each publication has it. Facts of the texts, no judgement."""

from collections import defaultdict
from decimal import Decimal
from typing import Final

from sources.vocabulary import Tier
from wire.queries.events import view_event
from wire.schemas import StoryOut
from wire.snapshots import cluster
from wire.stories.quantities import Quantity, read
from wire.stories.tokens import STOP_WORDS, token, words
from wire.trust import ComparedReport, ComparisonOut, DifferingFigure

MOST_WORDS: Final = 12
_NOTHING: Final = STOP_WORDS | {""}


def compare_coverage(event_id: str) -> ComparisonOut:
    """Each report of an event (or of a story's event), oldest first: its headline, when it was first seen, the words that it alone
    uses, and its figures; and the figures of one unit that differ. Raises: NotFound.
    """
    view = view_event(event_id)
    reports = [report.story for report in view.reports]
    told = [_stems(story) for story in reports]
    compared = []
    for number, (story, report) in enumerate(zip(reports, view.reports, strict=True)):
        others = {stem for at, stems in enumerate(told) if at != number for stem in stems}
        alone = [word for stem, word in told[number].items() if stem not in others] if len(reports) > 1 else []
        compared.append(
            ComparedReport(
                chatbotnews_id=story.chatbotnews_id,
                publisher=story.original_publisher,
                tier=story.original_publisher_tier,
                headline=story.headline,
                published_at=story.published_at,
                first_seen_at=story.first_seen_at,
                independent=report.independent and story.original_publisher_tier != Tier.CORPORATE,
                is_copy=report.is_copy,
                only_here=alone[:MOST_WORDS],
                figures=list(_counted(story)),
                untrusted_instructions=story.untrusted_instructions,
            )
        )
    shared = set.intersection(*(set(stems) for stems in told))
    return ComparisonOut(
        event_id=view.event_id,
        agreement=view.agreement,
        in_all=[word for stem, word in told[0].items() if stem in shared][:MOST_WORDS],
        reports=compared,
        differing_figures=_differing(reports),
        notes="Words and figures of headlines and summaries, not of whole articles; what one leaves out it may have further down.",
    )


def _text(story: StoryOut) -> str:
    return f"{story.headline} {story.summary_medium}"


def _stems(story: StoryOut) -> dict[str, str]:
    """Words that carry meaning, by their stems, as they are written first; in the order of the text."""
    found: dict[str, str] = {}
    for word in words(_text(story)):
        if word not in cluster.STOP_WORDS and len(word) > 2 and not word.isdigit():
            found.setdefault(token(word), word)
    return found


def _counted(story: StoryOut) -> dict[str, Quantity]:
    """Amounts, shares and counts of a report, as it writes them; no bare numbers, which are years and names."""
    found, _ = read(_text(story))
    return {f"{one.said} {one.of}".strip(): one for one in found if one.unit or one.of not in _NOTHING}


def _differing(reports: list[StoryOut]) -> list[DifferingFigure]:
    """Figures of one thing ("%", "$", "minute", "books") of which publications have different ones."""
    said: dict[str, dict[Decimal, tuple[str, list[str]]]] = defaultdict(dict)
    names: dict[str, str] = {}
    for story in reports:
        for text, one in _counted(story).items():
            thing = one.unit or token(one.of.casefold())
            names.setdefault(thing, one.unit or one.of)
            _, publishers = said[thing].setdefault(one.value, (text, []))
            if story.original_publisher not in publishers:
                publishers.append(story.original_publisher)
    return [
        DifferingFigure(unit=names[thing], said=dict(values.values()))
        for thing, values in said.items()
        if len(values) > 1 and len({publisher for _, publishers in values.values() for publisher in publishers}) > 1
    ]
