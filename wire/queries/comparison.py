"""One event side by side, as each publication has it. Facts of the texts, no judgement."""

import re
from collections import defaultdict
from typing import Final

from wire.queries.events import view_event
from wire.schemas import StoryOut
from wire.snapshots import cluster
from wire.snapshots.event_view import figures
from wire.stories.tokens import token, words
from wire.trust import ComparedReport, ComparisonOut, DifferingFigure

MOST_WORDS: Final = 12
_UNIT: Final = re.compile(r"[^\W\d_]+")


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
                independent=report.independent,
                is_copy=report.is_copy,
                only_here=alone[:MOST_WORDS],
                figures=figures(_text(story)),
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


def _differing(reports: list[StoryOut]) -> list[DifferingFigure]:
    """Figures of one unit ("books", "%", "$ million") of which publications have different ones."""
    by_unit: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for story in reports:
        for figure in figures(_text(story)):
            unit = " ".join(
                filter(None, (figure[0] if figure[0] in "$€£¥₹" else "", "%" if "%" in figure else "", *_UNIT.findall(figure)))
            )
            if story.original_publisher not in by_unit[unit.lower()][figure.lower()]:
                by_unit[unit.lower()][figure.lower()].append(story.original_publisher)
    return [
        DifferingFigure(unit=unit, said=dict(said))
        for unit, said in by_unit.items()
        if len(said) > 1 and len({publisher for publishers in said.values() for publisher in publishers}) > 1
    ]
