"""Reports that bear out a plain sentence, and how many newsrooms of the roster publish them independently. Precision first: a
report bears a claim out only if it has the claim's numbers, its names and nearly all of its other words, and contradicts none
(`wire.text.claim_match`). A claim in quite different words is missed; a claim that nobody reported is not confirmed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from citations.sentence_boundaries import split_sentences
from config.errors import InvalidArgument
from sources import publication_names
from sources import queries as sources_queries
from sources.choices import Tier
from wire.models import Story
from wire.models.search import find_newest, get_position
from wire.publishing.event_view import EventReport, EventView
from wire.queries.events import find_events_by_id
from wire.queries.snapshots import is_sample_wire
from wire.queries.stories import search_wire
from wire.schemas import build_from
from wire.schemas.params import Group
from wire.schemas.proofs import CorroborationOut, EventCorroboration, VoiceOut
from wire.schemas.story import StoryOut
from wire.search.nearest import find_nearest_stories
from wire.text import claim_match
from wire.text.claim_match import Statement
from wire.text.lexicons import load_lexicon
from wire.text.search_query import Term
from wire.text.tokens import STOP_WORDS, stem_word, words

MAX_CLAIM: Final = 500  # characters
FOUND: Final = 20  # stories that are looked at
EVENTS: Final = 3  # that are shown
WHOLE: Final = 0.75  # share of the claim's words from which a report bears it out
PARTS: Final = 0.5  # … from which another report of the same event does, too
# A report may mean the same from this cosine on; each tenth of the claim's words that it has makes up for a hundredth.
ALIKE: Final = 0.935
FOR_WORDS: Final = 0.1
_REPORTERS: Final = [re.compile(pattern) for pattern in load_lexicon("attributions")["reporters"]]
NOT_MEANT: Final = (
    "confirmed: two or more newsrooms of the roster report it independently, which does not make it true. single_source: one "
    "does. not_found: no report supports these words; that does not make it untrue. Makers' own posts are not counted."
)


def corroborate(claim: str) -> CorroborationOut:
    """Return the events that bear a claim out, and their reporters. Raises: InvalidArgument for a claim without words."""
    claim = " ".join(claim.encode("utf-8", "replace").decode().split())[:MAX_CLAIM]
    newsroom, plain = _split_attribution(claim)
    said = claim_match.parse_statement(plain)
    if len(said.stems) + len(said.quantities) < 2:
        raise InvalidArgument("claim has too few words.", "Write it as a sentence: who did what.")
    views = _find_events(plain)
    likeness = _measure_likeness(plain, views)
    found = [_weigh_event(said, view, newsroom, likeness or {}) for view in views]
    borne = [event for event in found if event.voices or event.makers]
    newsrooms = {voice.publisher for event in borne for voice in event.voices}
    verdict = "confirmed" if len(newsrooms) > 1 else "single_source" if borne else "not_found"
    chosen = [event for event in found if event.voices or event.makers or event.similar] or found
    shown = sorted(chosen, key=lambda event: (-len(event.voices), -len(event.similar), -event.coverage))[:EVENTS]
    # The sample wire fetches no feed, so none of its feeds is silent.
    feeds = [] if is_sample_wire() else sources_queries.get_feeds_health().feeds
    silent = sorted({feed.publication for feed in feeds if feed.active and (feed.silent or feed.last_success_at is None)})
    notes = [NOT_MEANT]
    if similar := list(dict.fromkeys(voice.publisher for event in found for voice in event.similar)):
        notes.append(f"{', '.join(similar[:6])} may report it in other words: read `similar` and compare before you rely on it.")
    elif near := [event for event in shown if not borne and (event.coverage > 0 or event.words_not_reported)]:
        notes.append(f"Nearest: {near[0].headline!r}; compare names, numbers and verbs.")
    if silent:
        notes.append(f"Coverage is degraded: {len(silent)} sources are silent ({', '.join(silent[:6])}).")
    return CorroborationOut(
        claim=claim,
        verdict=verdict,  # type: ignore[arg-type]
        independent_sources=len(newsrooms),
        events=shown,
        silent_sources=silent,
        degraded=["vectors"] if likeness is None else [],
        notes=" ".join(notes),
    )


def _find_events(claim: str) -> list[EventView]:
    """Return events that may be about the claim: of the stories that a search finds, and of those with its rarest words."""
    try:
        hits = [story.event_id for story in search_wire(claim, limit=FOUND, group=Group.NONE).stories]
    except InvalidArgument:
        hits = []
    terms = [Term((stem_word(word),)) for word in dict.fromkeys(words(claim)) if word not in STOP_WORDS][:12]
    positions = find_newest([terms], limit=FOUND) if terms else []
    more = Story.objects.live().filter(search_document__in=positions).values_list("event_id", flat=True)
    ids = list(dict.fromkeys([*hits, *more]))[:FOUND]
    views = find_events_by_id(ids)
    return [views[event_id] for event_id in ids if event_id in views]


def _split_attribution(claim: str) -> tuple[str | None, str]:
    """Return the newsroom of the roster that a claim names as its reporter, and the claim without that."""
    for pattern in _REPORTERS:
        if match := pattern.search(claim):
            verdict = publication_names.verify_name(match["name"], sources_queries.list_known_names())
            if verdict.in_roster and verdict.tier != Tier.CORPORATE and verdict.similarity == 1:
                return verdict.canonical_name, pattern.sub("", claim)
    return None, claim


def _measure_likeness(claim: str, views: Sequence[EventView]) -> dict[str, float] | None:
    """Return the cosine of a claim and each report, by chatbotnews_id; None without a model."""
    stories = [report.story for view in views for report in view.reports]
    position_of = {story.chatbotnews_id: get_position(story.published_at, story.chatbotnews_id) for story in stories}
    nearest = find_nearest_stories(claim, 1, None, None, position_of.values())
    return nearest and {story_id: nearest.cosines.get(at, 0.0) for story_id, at in position_of.items()}


def _weigh_event(claim: Statement, view: EventView, newsroom: str | None, likeness: Mapping[str, float]) -> EventCorroboration:
    """Return the event with the reports that bear the claim out: at least one whole, others in good part. If a `newsroom` is
    given, its own report has to bear it out whole.
    """
    texts = [claim_match.parse_statement(_read_text(report.story)) for report in view.reports]
    scores = [claim_match.measure_coverage(claim, text) for text in texts]
    strange = claim_match.list_unsupported(claim, *texts)
    of_newsroom = [newsroom in (None, report.story.original_publisher) for report in view.reports]
    best = max((score for score, counts in zip(scores, of_newsroom, strict=True) if counts), default=0.0)
    bearing, alike = list[EventReport](), list[EventReport]()
    if not claim_match.find_overclaim(claim, *texts):
        is_whole, is_named = best >= WHOLE and not strange, claim_match.has_all_names(claim, *texts)
        for report, text, score in zip(view.reports, texts, scores, strict=True):
            shared = claim_match.measure_coverage(claim, text, is_part=True) if is_named else 0.0
            if is_whole and score >= PARTS:
                bearing.append(report)
            elif shared and likeness.get(report.story.chatbotnews_id, 0.0) + FOR_WORDS * shared >= ALIKE:
                alike.append(report)
    newsrooms = [report for report in bearing if report.independent and report.story.original_publisher_tier != Tier.CORPORATE]
    makers = [report for report in bearing if report.story.original_publisher_tier == Tier.CORPORATE]
    voices = {report.story.original_publisher: report.story for report in newsrooms}
    first = next((report for report in bearing if report.is_news), next(iter(bearing), None))
    return EventCorroboration(
        event_id=view.event_id,
        headline=view.lead.headline,
        coverage=round(best, 2),
        voices=[_to_voice(claim, story) for story in sorted(voices.values(), key=lambda story: story.published_at)],
        makers=[_to_voice(claim, report.story) for report in makers],
        first_reported=_to_voice(claim, first.story) if first else None,
        similar=[_to_voice(claim, report.story) for report in alike if newsroom in (None, report.story.original_publisher)],
        words_not_reported=strange[:12],
    )


def _read_text(story: StoryOut) -> str:
    """Return what a report says, with its month, and with the name of a maker, who writes "we"."""
    name = story.original_publisher if story.original_publisher_tier == Tier.CORPORATE else ""
    name = name.removesuffix(" Blog").removesuffix(" AI")
    return f"{story.headline}. {story.summary_medium} {name} ({story.published_at:%B %Y})"


def _to_voice(claim: Statement, story: StoryOut) -> VoiceOut:
    parts = [story.headline, *split_sentences(story.summary_medium)]
    return build_from(
        VoiceOut,
        story,
        bears=max(parts, key=lambda part: len(claim.told & claim_match.parse_statement(part).stems)),
        publisher=story.original_publisher,
        tier=story.original_publisher_tier,
        layered_ready=story.citation_objects.layered_ready if story.citation_objects else "",
    )
