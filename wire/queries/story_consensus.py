"""Coverage of a story or headline by other publications, and an event's reports side by side: facts of the texts, no judgement."""

from collections import defaultdict
from decimal import Decimal
from typing import Any, Final

from config.errors import InvalidArgument
from sources.choices import Tier
from sources.roster import Houses
from wire.models import Story
from wire.models.search import find_newest
from wire.publishing import consensus
from wire.publishing.event_view import date_report, precedes_others
from wire.publishing.grouping import headline_lookup
from wire.publishing.grouping.candidates import Item
from wire.queries.events import view_event
from wire.queries.site_pages import list_not_received
from wire.queries.stories import find_published_story, resolve_merged_story
from wire.schemas import build_from
from wire.schemas.proofs import ComparedReport, ComparisonOut, DifferingFigure
from wire.schemas.story import ConsensusOut, FirstReport, MatchOut, SiblingOut, StoryOut
from wire.text import tokens
from wire.text.choices import Status
from wire.text.quantities import Quantity, find_quantities
from wire.text.search_query import MAX_TERMS, Term
from wire.text.tokens import STOP_WORDS, stem_word, words
from wire.text.word_frequency import FREQUENT_WORDS

CANDIDATES: Final = 500  # newest stories that share a word with the headline asked about
MOST: Final = 500  # stories of one event that are weighed; no event of 24 publications comes near


def get_consensus(story_id: str | None = None, headline: str | None = None) -> ConsensusOut:
    """Return the consensus about a story (or the one it was merged into), or about the event nearest to a headline; `story_id`
    wins. Raises: InvalidArgument without either; NotFound for an unknown story.
    """
    if story_id is not None:
        return _weigh_story(resolve_merged_story(find_published_story(story_id)))
    if headline is None or not headline.strip():
        raise InvalidArgument("Neither story_id nor headline was given.", "Give one of them; story_id wins when both are given.")
    found = _find_nearest_story(headline)
    if found is None:
        notes = "No coverage found: no story has a similar headline. It may still be true; try search_wire with its main words."
        nothing: dict[str, Any] = dict.fromkeys(("first_reported", "story_id", "event_id", "matched"))
        nothing |= {"siblings": [], "sibling_details": [], "not_received": [], "maker_among_them": False}
        return ConsensusOut(consensus_score=0.0, cross_source_count=0, notes=notes, **nothing)
    return _weigh_story(*found)


def _find_nearest_story(headline: str) -> tuple[Story, float] | None:
    """Return the story most like the headline, and its likeness."""
    asked = [Term((token,)) for token in dict.fromkeys(tokens.tokenize(headline)) if token not in FREQUENT_WORDS][:MAX_TERMS]
    if not asked:
        return None
    # Those that hold every word, or the very headline would be missed once so many newer stories share a word with it.
    positions = {position for wanted in ([asked], [[term] for term in asked]) for position in find_newest(wanted, limit=CANDIDATES)}
    rows = Story.objects.live().filter(search_document__in=positions).newest_first()
    columns = ("chatbotnews_id", "current__headline", "published_at", "event_id", "current__summary_medium")
    items = [Item(*row) for row in rows.values_list(*columns)]
    if (found := headline_lookup.find_nearest_story(headline, items)) is None:
        return None
    item, similarity = found
    return Story.objects.live().with_text().get(chatbotnews_id=item.chatbotnews_id), similarity


def _weigh_story(story: Story, likeness: float | None = None) -> ConsensusOut:
    """Return the figures of the story's day, and as siblings all stories public now. `likeness`: to the headline asked about."""
    assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
    event = Story.objects.live().filter(event=story.event_id).exclude(pk=story.pk).with_text().newest_first()[:MOST]
    houses = Houses.load()
    own = consensus.build_report(story, story.current, houses)
    others = [consensus.build_report(other, other.current, houses) for other in event if other.current]
    found = consensus.weigh_consensus(own, others)
    dated = {other.chatbotnews_id: date_report(other.current) for other in (story, *event) if other.current}
    certain = precedes_others(dated[found.first.chatbotnews_id], dated.values())
    not_received = list_not_received([report.published_at for report in (own, *others)])
    about = "This story was withdrawn; do not cite it. " if story.status == Status.WITHDRAWN else ""
    if likeness is not None:  # of words, which is not sameness of claims
        about = (
            f"These figures belong to {story.chatbotnews_id}, the story whose headline is most similar to yours. They do not "
            "confirm yours: compare names, numbers and verbs with `matched.headline` before you say that anybody reports it. "
        )
    unsafe = {other.chatbotnews_id for other in event if other.current and other.current.untrusted_instructions}
    return ConsensusOut(
        consensus_score=story.consensus_score,
        cross_source_count=story.cross_source_count,
        siblings=[sibling.report.chatbotnews_id for sibling in found.siblings],
        sibling_details=[
            build_from(
                SiblingOut,
                sibling.report,
                original_publisher=sibling.report.publisher,
                original_publisher_tier=sibling.report.tier,
                similarity=sibling.similarity,
                independent=sibling.independent,
                is_copy=sibling.is_copy,
                untrusted_instructions=sibling.report.chatbotnews_id in unsafe,
            )
            for sibling in found.siblings
        ],
        first_reported=build_from(FirstReport, found.first, original_publisher=found.first.publisher, certain=certain),
        maker_among_them=found.has_maker,
        story_id=story.chatbotnews_id,
        event_id=story.event_id,
        matched=None
        if likeness is None
        else build_from(MatchOut, story.current, chatbotnews_id=story.chatbotnews_id, similarity=round(likeness, 2)),
        not_received=not_received,
        notes=about + _describe_siblings(story, own, found, not_received),
    )


def _describe_siblings(story: Story, own: consensus.Report, found: consensus.Consensus, not_received: list[str]) -> str:
    genre = "" if own.is_news else f"This story is not a news report ({own.genre}), so it does not count as an independent source. "
    if not found.siblings and story.cross_source_count == 1:
        silent = f" {len(not_received)} of them sent no story in the days around it." if not_received else ""
        return f"{genre}No other publication on the roster has reported this so far.{silent}"
    if genre:
        text = f"{genre}Other independent sources on the roster: {sum(sibling.independent for sibling in found.siblings)}."
    elif story.cross_source_count == 1:
        text = "No independent source besides this story's own was counted."
    else:
        text = f"Reported by {story.cross_source_count} independent sources on the roster, this story's own included."
    copies = sum(sibling.is_copy for sibling in found.siblings)
    others = sum(not sibling.report.is_news for sibling in found.siblings)
    second = sum(not sibling.independent and not sibling.is_copy for sibling in found.siblings) - others
    late = found.count - story.cross_source_count
    gone = "since withdrawn, moved, or found to be a copy or not a news report"
    sentences = (
        (copies, f" Copies of a text already counted: {copies}."),
        (second, f" Second stories of a publication already counted: {second}."),
        (others, f" Not counted, since they are not news reports: {others}."),
        (found.has_maker, " The maker's own blog is among them; it announces rather than reports."),
        (late > 0, f" Independent, but later than the day's last snapshot and not counted: {late}."),
        (late < 0, f" Counted in the day's last snapshot, but {gone}: {-late}."),
    )
    return text + "".join(sentence for is_so, sentence in sentences if is_so)


MOST_WORDS: Final = 12
_NOTHING: Final = STOP_WORDS | {""}


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
            build_from(
                ComparedReport,
                story,
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
        differing_figures=_list_differing_figures(reports),
        notes="Compares headlines and summaries, not whole articles: a word or figure missing here may be in the article.",
    )


def _map_stems(story: StoryOut) -> dict[str, str]:
    """Return words that carry meaning, by stem, each as it is first written; in the order of the text."""
    found: dict[str, str] = {}
    for word in words(f"{story.headline} {story.summary_medium}"):
        if word not in FREQUENT_WORDS and len(word) > 2 and not word.isdigit():
            found.setdefault(stem_word(word), word)
    return found


def _read_figures(story: StoryOut) -> dict[str, Quantity]:
    """Return amounts, shares and counts of a report, by their wording; no bare numbers, which are years and names."""
    found, _ = find_quantities(f"{story.headline} {story.summary_medium}")
    return {f"{one.said} {one.of}".strip(): one for one in found if one.unit or one.of not in _NOTHING}


def _list_differing_figures(reports: list[StoryOut]) -> list[DifferingFigure]:
    """Return figures of one thing ("%", "$", "minute", "books") of which publications have different ones."""
    said: dict[str, dict[Decimal, tuple[str, list[str]]]] = defaultdict(dict)
    names: dict[str, str] = {}
    for story in reports:
        for text, one in _read_figures(story).items():
            thing = one.unit or stem_word(one.of.casefold())
            names.setdefault(thing, one.unit or one.of)
            _, publishers = said[thing].setdefault(one.value, (text, []))
            if story.original_publisher not in publishers:
                publishers.append(story.original_publisher)
    return [
        DifferingFigure(unit=names[thing], said=dict(values.values()))
        for thing, values in said.items()
        if len(values) > 1 and len({publisher for _, publishers in values.values() for publisher in publishers}) > 1
    ]
