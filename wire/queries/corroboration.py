"""Whether publications of the roster report what a plain sentence claims, independently of each other.

Precision first: a report bears a claim out only if it has the claim's numbers, its names and nearly all of its other words, and
says the opposite of none. What is worded quite differently is missed; what nobody reported is not confirmed.
"""

import re
from typing import Final

from config.errors import InvalidArgument
from sources import queries as sources_queries
from sources.vocabulary import Tier
from wire.models import Story
from wire.models.search import newest_places
from wire.queries.events import events_by_id
from wire.queries.stories import search_wire
from wire.schemas import StoryOut
from wire.snapshots import cluster
from wire.snapshots.event_view import EventView
from wire.stories.question import Term
from wire.stories.tokens import STOP_WORDS, token, words
from wire.stories.versions import differ
from wire.trust import CorroborationOut, EventCorroboration, VoiceOut

MAX_CLAIM: Final = 500  # characters
FOUND: Final = 20  # stories that are looked at
EVENTS: Final = 3  # that are shown
WHOLE: Final = 0.75  # share of the claim's words from which a report bears it out
PARTS: Final = 0.5  # … from which another report of the same event does, too
_NUMBER: Final = re.compile(r"\d[\d.,]*\d|\d")


def _all(listed: str) -> frozenset[str]:
    return frozenset(token(word) for word in listed.split())


NEGATIONS: Final = frozenset(["not", "no", "never", "without", "none", "neither", "nor"])
SPELLED: Final = _all("""two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion""")
"""Numbers in words, which a report must have as they are."""
COMMON: Final = _all("""launch launched unveil release released announce open opened introduce present raise raised lead led say
says said run ran take took get gets hold call called serve report make made show hire""")
"""What every report says in its own words: whether one has these very ones is no matter."""
_OPPOSITES: Final = tuple(
    (_all(one), _all(other))
    for one, other in (
        ("raise raised raises rise rose increase gain gained grow grew", "lose lost loses fall fell cut drop dropped decrease"),
        ("open opens opened launch launches launched start begin", "close closes closed shut end ended stop cancel cancelled"),
        ("buy bought acquire acquired", "sell sold"),
        ("approve pass passed adopt adopts adopted allow license exempt", "ban banned block reject rejected forbid include"),
        ("hire hires hired", "fire fired dismiss"),
        ("win won", "lose lost"),
    )
)
NOT_MEANT: Final = (
    "confirmed: two or more newsrooms of the roster report it independently. It does not mean that it is true. single_source: one "
    "does. not_found: no report bears these words out; that does not make it untrue. Makers' own posts announce and are no voices."
)


def corroborate(claim: str) -> CorroborationOut:
    """Which events bear a claim out, and by whom they are reported. Raises: InvalidArgument for a claim without words."""
    claim = " ".join(claim.split())[:MAX_CLAIM]
    stems = _stems(claim)
    if len(stems) < 2:
        raise InvalidArgument("claim has too few words.", "Write it as a sentence: who did what.")
    views = _events(claim)
    found = [_event(claim, stems, view) for view in views]
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


def _event(claim: str, stems: set[str], view: EventView) -> EventCorroboration:
    """The event's reports that bear the claim out: one whole, and then those that agree with it in good part."""
    scored = [(_coverage(claim, stems, report.story), report) for report in view.reports]
    best = max(score for score, _ in scored)
    known = {stem for report in view.reports for stem in _stems(_text(report.story))}
    strange = stems - known - COMMON
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
        words_not_reported=sorted(strange)[:12],
    )


def _coverage(claim: str, stems: set[str], story: StoryOut) -> float:
    """How much of the claim a report says, 0 to 1; 0 if its numbers, names, or its "not" are others."""
    text = _text(story)
    told = _stems(text)
    if not _numbers(claim) <= _numbers(text) or differ(claim, story.headline):
        return 0.0
    if (_negations(claim) ^ _negations(text)) & _negations(claim):
        return 0.0
    if _contradicts(stems, _stems(story.headline)) or _contradicts(stems, told):
        return 0.0
    if not (_names(claim) | (stems & SPELLED)) <= told:
        return 0.0
    counted = stems - COMMON or stems
    return len(counted & told) / len(counted)


def _contradicts(stems: set[str], told: set[str]) -> bool:
    """Whether a text says the opposite of one of the claim's verbs, and not the verb."""
    pairs = [pair for one, other in _OPPOSITES for pair in ((one, other), (other, one))]
    return any(stems & mine and told & theirs and not told & mine for mine, theirs in pairs)


def _text(story: StoryOut) -> str:
    """A maker writes "we": its name belongs to what it says."""
    name = story.original_publisher if story.original_publisher_tier == Tier.CORPORATE else ""
    return f"{story.headline} {story.summary_medium} {name.removesuffix(' Blog').removesuffix(' AI')}"


def _stems(text: str) -> set[str]:
    return {token(word) for word in words(text) if word not in cluster.STOP_WORDS and word not in STOP_WORDS}


def _names(claim: str) -> set[str]:
    """Stems of words with a capital or a digit that do not begin the sentence, and of the first if it is written so within."""
    found = [word for word in re.findall(r"[^\W_]+", claim) if not word.islower() and word.lower() not in cluster.STOP_WORDS]
    return {stem for word in found for stem in _stems(word)} if len(found) <= 0.8 * len(claim.split()) else set()


def _numbers(text: str) -> set[str]:
    return {number.replace(",", "").rstrip(".") for number in _NUMBER.findall(text)}


def _negations(text: str) -> set[str]:
    return {word for word in words(text.replace("n't", " not").replace("n’t", " not")) if word in NEGATIONS}


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
