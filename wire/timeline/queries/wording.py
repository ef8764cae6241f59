"""Checks a draft against a corpus's rules. Rules decide, no model: every finding names the phrase, its place and what to write."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from wire.stories.tokens import STOP_WORDS, token, words
from wire.timeline import names, searching
from wire.timeline.models import TimelineEvent
from wire.timeline.queries.reports import phrasing
from wire.timeline.queries.scope import Scope, scope_of
from wire.timeline.schemas import FindingOut, WordingOut
from wire.timeline.vocabulary import NOT_AS_FACT, OFFICIAL

MAX_DRAFT: Final = 20_000
MAX_FOUND: Final = 100
LIKE: Final = 2
"""Words of a report's title, motifs or claims that a sentence shares with it before it counts as being about it."""
MOST_READ: Final = 500  # reports and events that a sentence is compared with

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_WORD: Final = re.compile(r"[^\W_]+")
_AS_FACT: Final = re.compile(
    r"\b(prove[sdn]?|proof|confirm(s|ed)?|demonstrate[sd]?|establishe[sd]|undeniabl[ey]|certainly|is (now )?(a )?fact|reveal(s|ed)?"
    r"|it is known|scientists know|shows? that)\b",
    re.IGNORECASE,
)
_HEDGED: Final = re.compile(
    r"\b(report(s|ed|edly)?|interpret(s|ed|ation)?|reading|linked?"
    r"|symbolic(ally)?|framed?|claim(s|ed)?|according to|say(s|ing)?|said"
    r"|believe[sd]?|describe[sd]?|not|never|no|un(proven|confirmed)|disputed?)\b",
    re.IGNORECASE,
)
_CAUSE: Final = re.compile(
    r"\b(caus(e|es|ed|ing)|because of|due to|led to|leads to|triggered|triggers|brought about"
    r"|resulted in|results in|opened|made possible"
    r"|is why|responsible for)\b",
    re.IGNORECASE,
)


def check_wording(slug: str, draft: str, as_of: int | None = None) -> WordingOut:
    """Every phrase of a draft that breaks a rule, in its order. Raises: NotFound."""
    scope = scope_of(slug, as_of)
    findings = [*_avoided(scope, draft), *_left_out(scope, draft)]
    for sentence in _SENTENCE.finditer(draft):
        findings += _of_sentence(scope, sentence[0], sentence.start())
    findings.sort(key=lambda one: (one.start, one.rule))
    return WordingOut(
        **scope.answered, ok=not findings, findings=findings[:MAX_FOUND], language_rules=scope.settings.language_rules()
    )


def _avoided(scope: Scope, draft: str) -> Iterator[FindingOut]:
    """Phrases that corpus.json says to avoid, in any form of their words."""
    said = scope.settings
    placed = [(token(part), found.start(), found.end()) for found in _WORD.finditer(draft) for part in words(found[0])]
    stems = [stem for stem, *_ in placed]
    for phrase in said.avoid:
        wanted = [token(word) for word in words(phrase)]
        for at in range(len(stems) - len(wanted) + 1):
            if wanted and stems[at : at + len(wanted)] == wanted and not (at and stems[at - 1] in {"not", "never", "un"}):
                start, end = placed[at][1], placed[at + len(wanted) - 1][2]
                yield FindingOut(
                    rule="avoid",
                    phrase=draft[start:end],
                    start=start,
                    end=end,
                    why=f"This corpus never says “{phrase}”.",
                    instead=said.say[0] if said.say else "",
                    about=[],
                )


def _left_out(scope: Scope, draft: str) -> Iterator[FindingOut]:
    """A name whose HMAC the corpus has. The answer repeats the draft's own words, and never says which name it was."""
    said = scope.settings
    if not said.left_out_names:
        return
    parts = list(_WORD.finditer(draft))
    for length in sorted({name.words for name in said.left_out_names}):
        for at in range(len(parts) - length + 1):
            start, end = parts[at].start(), parts[at + length - 1].end()
            if any(names.found_in([draft[start:end]], [name for name in said.left_out_names if name.words == length])):
                yield FindingOut(
                    rule="left-out-name",
                    phrase=draft[start:end],
                    start=start,
                    end=end,
                    why="This corpus leaves this name out on purpose.",
                    instead="a family of sources that this corpus does not name",
                    about=[],
                )


def _of_sentence(scope: Scope, sentence: str, at: int) -> Iterator[FindingOut]:
    """A reading told as fact, and an official event said to cause something."""
    certain, cause = _AS_FACT.search(sentence), _CAUSE.search(sentence)
    if certain and not _HEDGED.search(sentence[: certain.start()]):
        about = [row for row in _alike(scope, sentence, _reports) if _is_reading(row)]
        if about:
            yield FindingOut(
                rule="symbolic-as-fact",
                phrase=sentence[certain.start() : certain.end()],
                start=at + certain.start(),
                end=at + certain.end(),
                why=f"“{about[0]['title']}” is graded {about[0]['evidence_grade']}; it is a reading, not a proof.",
                instead=phrasing(about[0]).say,
                about=[row["id"] for row in about],
            )
    if cause and not re.search(r"\b(not|never|no|nothing)\b", sentence[: cause.end()], re.IGNORECASE):
        lanes = scope.settings.vocabularies.lanes()
        events = _alike(scope, sentence, _events)
        official = [row for row in events if lanes[row["layer"]] == OFFICIAL]
        community = [row for row in events if lanes[row["layer"]] != OFFICIAL]
        readings = [row for row in _alike(scope, sentence, _reports) if row["evidence_grade"] != OFFICIAL]
        if official and (community or readings):
            yield FindingOut(
                rule="official-cause",
                phrase=sentence[cause.start() : cause.end()],
                start=at + cause.start(),
                end=at + cause.end(),
                why=f"“{official[0]['title']}” is an official event; what is linked with it is interpretation, not causation.",
                instead="is linked by the community with",
                about=[official[0]["id"], *(row["id"] for row in (*community, *readings)[:5])],
            )


def _is_reading(row: Any) -> bool:
    return row["evidence_grade"] in {"symbolic", "speculative", "interpretive"} or NOT_AS_FACT in (row.get("safety_flags") or ())


def _alike(scope: Scope, sentence: str, rows_with: Any) -> list[Any]:
    """Rows that share at least LIKE words with the sentence, the most first."""
    stems = {token(word) for word in words(sentence) if word not in STOP_WORDS and len(word) > 2}
    scored = []
    for row, held in rows_with(scope, sorted(stems)):
        shared = len(stems & held)
        if shared >= LIKE:
            scored.append((-shared, row["id"], row))
    return [row for *_, row in sorted(scored, key=lambda one: one[:2])][:5]


def _reports(scope: Scope, stems: Sequence[str]) -> Iterable[tuple[Any, set[str]]]:
    """The newest reports that hold two of these words: every pair is asked for, so that no common word hides them."""
    found = dict[int, int]()
    for stem in stems[:60]:
        for number in searching.holding(scope.key, stem):
            found[number] = found.get(number, 0) + 1
    best = sorted((number for number, times in found.items() if times >= LIKE), key=lambda number: (-found[number], number))
    for row in searching.rows_of(scope.corpus.pk, best[:MOST_READ]).values():
        texts = (row["title"], row["summary"], *(motif.replace("-", " ") for motif in row["motifs"]))
        yield row, {stem for text in (*texts, *(claim["text"] for claim in row["claims"])) for stem in searching.stems(text)}


def _events(scope: Scope, stems: Sequence[str]) -> Iterable[tuple[Any, set[str]]]:
    for event in scope.rows(TimelineEvent).in_order()[:MOST_READ]:
        held = set(event.words.split())
        if len(held.intersection(stems)) >= LIKE:
            yield event.row, held
