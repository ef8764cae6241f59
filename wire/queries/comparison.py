"""Comparison of an event's reports: facts of the texts, no judgement."""

from collections import defaultdict
from decimal import Decimal
from typing import Final

from sources.vocabulary import Tier
from wire.queries.events import view_event
from wire.schemas.proofs import ComparedReport, ComparisonOut, DifferingFigure
from wire.schemas.story import StoryOut
from wire.text.quantities import Quantity, find_quantities
from wire.text.tokens import STOP_WORDS, token, words
from wire.text.word_frequency import FREQUENT_WORDS

MOST_WORDS: Final = 12
_NOTHING: Final = STOP_WORDS | {""}
_SAME_FIELDS: Final = ("chatbotnews_id", "headline", "published_at", "first_seen_at", "untrusted_instructions")


def compare_coverage(event_id: str) -> ComparisonOut:
    """Return the reports of an event (or of a story's event), oldest first, and where their figures differ. Raises: NotFound."""
    view = view_event(event_id)
    reports = [report.story for report in view.reports]
    stems = [_map_stems(story) for story in reports]
    compared = []
    for number, (story, report) in enumerate(zip(reports, view.reports, strict=True)):
        others = {stem for at, theirs in enumerate(stems) if at != number for stem in theirs}
        alone = [word for stem, word in stems[number].items() if stem not in others] if len(reports) > 1 else []
        compared.append(
            ComparedReport(
                **{name: getattr(story, name) for name in _SAME_FIELDS},
                publisher=story.original_publisher,
                tier=story.original_publisher_tier,
                independent=report.independent and story.original_publisher_tier != Tier.CORPORATE,
                is_copy=report.is_copy,
                only_here=alone[:MOST_WORDS],
                figures=list(_read_figures(story)),
            )
        )
    shared = set.intersection(*map(set, stems))
    return ComparisonOut(
        event_id=view.event_id,
        agreement=view.agreement,
        in_all=[word for stem, word in stems[0].items() if stem in shared][:MOST_WORDS],
        reports=compared,
        differing_figures=_list_differing(reports),
        notes="Words and figures of headlines and summaries, not of whole articles; what one leaves out it may have further down.",
    )


def _map_stems(story: StoryOut) -> dict[str, str]:
    """Return words that carry meaning, by stem, each as it is first written; in the order of the text."""
    found: dict[str, str] = {}
    for word in words(f"{story.headline} {story.summary_medium}"):
        if word not in FREQUENT_WORDS and len(word) > 2 and not word.isdigit():
            found.setdefault(token(word), word)
    return found


def _read_figures(story: StoryOut) -> dict[str, Quantity]:
    """Return amounts, shares and counts of a report, by their wording; no bare numbers, which are years and names."""
    found, _ = find_quantities(f"{story.headline} {story.summary_medium}")
    return {f"{one.said} {one.of}".strip(): one for one in found if one.unit or one.of not in _NOTHING}


def _list_differing(reports: list[StoryOut]) -> list[DifferingFigure]:
    """Return figures of one thing ("%", "$", "minute", "books") of which publications have different ones."""
    said: dict[str, dict[Decimal, tuple[str, list[str]]]] = defaultdict(dict)
    names: dict[str, str] = {}
    for story in reports:
        for text, one in _read_figures(story).items():
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
