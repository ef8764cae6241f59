"""Whether publications of the roster report what a plain sentence claims, independently of each other.

Precision first: a report bears a claim out only if it has the claim's numbers, its names and nearly all of its other words, and
says the opposite of none (`wire.stories.agreement`). What is worded quite differently is missed; what nobody reported is not
confirmed.
"""

import re
from typing import Final

from config.errors import InvalidArgument
from sources import names
from sources import queries as sources_queries
from sources.vocabulary import Tier
from wire.models import Story
from wire.models.search import newest_places
from wire.queries.events import events_by_id
from wire.queries.stories import search_wire
from wire.schemas import StoryOut
from wire.snapshots.event_view import EventView
from wire.stories import agreement
from wire.stories.agreement import Said
from wire.stories.question import Term
from wire.stories.tokens import STOP_WORDS, token, words
from wire.trust import CorroborationOut, EventCorroboration, VoiceOut

MAX_CLAIM: Final = 500  # characters
FOUND: Final = 20  # stories that are looked at
EVENTS: Final = 3  # that are shown
WHOLE: Final = 0.75  # share of the claim's words from which a report bears it out
PARTS: Final = 0.5  # … from which another report of the same event does, too
_ATTRIBUTIONS: Final = (
    re.compile(r"^(?:according to|as reported by|per) (?P<name>[^,]{2,40}), ", re.I),
    re.compile(r"^(?P<name>[A-Z][\w. ]{1,40}?) (?:says|said|reports|reported|writes|wrote)(?: that)? "),
    re.compile(r",? (?:according to|reports|says) (?P<name>[A-Z][\w. ]{1,40}?)\.?$"),
)
NOT_MEANT: Final = (
    "confirmed: two or more newsrooms of the roster report it independently. It does not mean that it is true. single_source: one "
    "does. not_found: no report bears these words out; that does not make it untrue. Makers' own posts announce and are no voices."
)


def corroborate(claim: str) -> CorroborationOut:
    """Which events bear a claim out, and by whom they are reported. Raises: InvalidArgument for a claim without words."""
    claim = " ".join(claim.encode("utf-8", "replace").decode().split())[:MAX_CLAIM]
    newsroom, plain = _attributed(claim)
    said = agreement.read(plain)
    if len(said.stems) + len(said.quantities) < 2:
        raise InvalidArgument("claim has too few words.", "Write it as a sentence: who did what.")
    views = _events(plain)
    found = [_event(said, view, newsroom) for view in views]
    borne = [event for event in found if event.voices or event.makers]
    most = max((len(event.voices) for event in borne), default=0)
    verdict = "confirmed" if most > 1 else "single_source" if borne else "not_found"
    shown = sorted(borne or found, key=lambda event: (-len(event.voices), -event.coverage))[:EVENTS]
    return CorroborationOut(
        claim=claim,
        verdict=verdict,  # type: ignore[arg-type]
        independent_sources=most,
        events=shown,
        silent_sources=(silent := _silent()),
        notes=" ".join(filter(None, (NOT_MEANT, _differences(shown) if not borne else "", _degraded(silent)))),
    )


def _events(claim: str) -> list[EventView]:
    """Events that may be about the claim: of the stories that a search finds, and of those that share its rarest words."""
    try:
        hits = [story.event_id for story in search_wire(claim, limit=FOUND).stories]
    except InvalidArgument:
        hits = []
    terms = [Term((token(word),)) for word in dict.fromkeys(words(claim)) if word not in STOP_WORDS][:12]
    places = newest_places([terms], limit=FOUND) if terms else []
    more = Story.objects.live().filter(search_document__in=places).values_list("event_id", flat=True)
    ids = list(dict.fromkeys([*hits, *more]))[:FOUND]
    views = events_by_id(ids)
    return [views[event_id] for event_id in ids if event_id in views]


def _attributed(claim: str) -> tuple[str | None, str]:
    """Which newsroom of the roster a claim says that reports it, and the claim without saying so."""
    for pattern in _ATTRIBUTIONS:
        if match := pattern.search(claim):
            verdict = names.verify(match["name"], sources_queries.known_names())
            if verdict.in_roster and verdict.tier != Tier.CORPORATE and verdict.similarity == 1:
                return verdict.canonical_name, pattern.sub("", claim)
    return None, claim


def _event(claim: Said, view: EventView, newsroom: str | None) -> EventCorroboration:
    """The event's reports that bear the claim out: one whole, and then those that agree with it in good part. `newsroom`: whose
    report has to bear it out whole.
    """
    told = [agreement.read(_text(report.story)) for report in view.reports]
    scored = [(agreement.coverage(claim, text), report) for text, report in zip(told, view.reports, strict=True)]
    best = max((score for score, report in scored if newsroom in (None, report.story.original_publisher)), default=0.0)
    strange = agreement.strange(claim, *told)
    bearing = [(score, report) for score, report in scored if best >= WHOLE and score >= PARTS and not strange]
    reports = [report for _, report in bearing]
    newsrooms = [report for report in reports if report.independent and report.story.original_publisher_tier != Tier.CORPORATE]
    makers = [report for report in reports if report.story.original_publisher_tier == Tier.CORPORATE]
    voices = {report.story.original_publisher: report.story for report in newsrooms}
    first = min(reports, key=lambda report: (report.story.published_at, report.story.chatbotnews_id), default=None)
    return EventCorroboration(
        event_id=view.event_id,
        headline=view.lead.headline,
        coverage=round(best, 2),
        voices=[_voice(story) for story in sorted(voices.values(), key=lambda story: story.published_at)],
        makers=[_voice(report.story) for report in makers],
        first_reported=_voice(first.story) if first else None,
        words_not_reported=strange[:12],
    )


def _text(story: StoryOut) -> str:
    """A maker writes "we": its name belongs to what it says."""
    name = story.original_publisher if story.original_publisher_tier == Tier.CORPORATE else ""
    return f"{story.headline}. {story.summary_medium} {name.removesuffix(' Blog').removesuffix(' AI')}"


def _voice(story: StoryOut) -> VoiceOut:
    return VoiceOut(
        chatbotnews_id=story.chatbotnews_id,
        publisher=story.original_publisher,
        tier=story.original_publisher_tier,
        headline=story.headline,
        published_at=story.published_at,
        layered_ready=story.citation_objects.layered_ready if story.citation_objects else "",
        untrusted_instructions=story.untrusted_instructions,
    )


def _silent() -> list[str]:
    return sorted({feed.publication for feed in sources_queries.feeds_health().feeds if feed.silent and feed.active})


def _degraded(silent: list[str]) -> str:
    return f"Coverage is degraded: {len(silent)} sources are silent ({', '.join(silent[:6])})." if silent else ""


def _differences(shown: list[EventCorroboration]) -> str:
    near = [event for event in shown if event.coverage > 0 or event.words_not_reported]
    return f"Nearest: {near[0].headline!r}; compare names, numbers and verbs." if near else ""
