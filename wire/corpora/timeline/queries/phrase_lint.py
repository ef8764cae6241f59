"""Checks a draft against a corpus's rules. Rules decide, no model: every finding names the phrase, its place and what to write."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from wire.corpora.timeline import omitted_names, search
from wire.corpora.timeline.models import TimelineEvent
from wire.corpora.timeline.queries.reports import phrasing
from wire.corpora.timeline.queries.scope import Scope, scope_of
from wire.corpora.timeline.schemas import FindingOut, WordingOut
from wire.corpora.timeline.search import Release
from wire.corpora.timeline.vocabulary import NOT_AS_FACT, OFFICIAL
from wire.search import postings_index
from wire.text.tokens import STOP_WORDS, is_run, split_words, token, words

MAX_DRAFT: Final = 20_000
MAX_FOUND: Final = 100
READINGS: Final = ("symbolic", "speculative", "interpretive")
MAX_SENTENCES: Final = 40  # that are compared with the corpus
LIKE: Final = 2  # words of a report that a sentence shares with it before it counts as being about it
MOST_WORDS: Final = 60  # of a sentence that reports are looked for by
MOST_READ: Final = 50  # reports that a sentence is compared with: those that hold the most of its words
MOST_EVENTS: Final = 500  # of a corpus that sentences are compared with
MOST_PREPARED: Final = 2_000  # reports of a release that stay prepared

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_WORD: Final = re.compile(r"[^\W_]+")
_AS_FACT: Final = re.compile(
    r"\b(prove[sdn]?|proof|confirm(s|ed)?|demonstrate[sd]?|establishe[sd]|undeniabl[ey]|certainly|is (now )?(a )?fact|reveal(s|ed)?"
    r"|it is known|scientists know|shows? that)\b",
    re.IGNORECASE,
)
_HEDGED: Final = re.compile(
    r"\b(report(s|ed|edly)?|interpret(s|ed|ation)?|reading|linked?|symbolic(ally)?|framed?|claim(s|ed)?|according to|say(s|ing)?"
    r"|said|believe[sd]?|describe[sd]?|not|never|no|un(proven|confirmed)|disputed?)\b",
    re.IGNORECASE,
)
_CAUSE: Final = re.compile(
    r"\b(caus(e|es|ed|ing)|because of|due to|led to|leads to|triggered|triggers|brought about|resulted in|results in|opened"
    r"|made possible|is why|responsible for)\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(not|never|no|nothing)\b", re.IGNORECASE)


class _Row(NamedTuple):
    """A report or an event, and the stems of what it says."""

    row: Any
    stems: frozenset[str]


class _Corpus:
    """A release as sentences are compared with it; prepared once, since a release never changes."""

    def __init__(self, release: Release) -> None:
        self._release = release
        events = TimelineEvent.objects.in_release(release.corpus, release.number).in_order()[:MOST_EVENTS]
        self._events = [_Row(event.row, frozenset(event.words.split())) for event in events]
        self._reports: dict[int, _Row] = {}

    def find_events(self, stems: Sequence[str]) -> list[Any]:
        return _most_alike(self._events, stems)

    def find_reports(self, stems: Sequence[str]) -> list[Any]:
        """Rank reports by their words in common; all pairs of words are looked for, so that no common word hides a report."""
        placed = search.ranks(self._release)
        asked = {stem[: search.LONGEST] for stem in stems[:MOST_WORDS]}
        times = np.zeros(len(placed), dtype=int)
        for numbers, _ in postings_index.weights(search.index_of(self._release.corpus), asked).values():
            times[numbers[numbers < len(placed)]] += 1
        found = np.flatnonzero((times >= LIKE) & (placed > 0))
        best = found[np.argsort(-times[found], kind="stable")][:MOST_READ].tolist()
        if len(self._reports) > MOST_PREPARED:
            self._reports = {}
        if missing := [number for number in best if number not in self._reports]:
            for number, row in search.rows_of(self._release.corpus, missing).items():
                motifs = (motif.replace("-", " ") for motif in row["motifs"])
                texts = (row["title"], row["summary"], *motifs, *(claim["text"] for claim in row["claims"]))
                self._reports[number] = _Row(row, frozenset(search.index_words(*texts).split()))
        return _most_alike((self._reports[number] for number in best if number in self._reports), stems)


_corpus = lru_cache(maxsize=4)(_Corpus)


def check_wording(slug: str, draft: str, as_of: int | None = None) -> WordingOut:
    """Find the phrases of a draft that break a rule, in its order. Raises: NotFound."""
    scope = scope_of(slug, as_of)
    placed = [(part, found.start(), found.end()) for found in _WORD.finditer(draft) for part in words(found[0])]
    findings = [*_find_avoided(scope, draft, placed), *_find_omitted(scope, draft, placed)]
    compared, unread = 0, dict[str, Any]()
    for sentence in _SENTENCE.finditer(draft):
        certain, cause = _AS_FACT.search(sentence[0]), _CAUSE.search(sentence[0])
        if certain and _HEDGED.search(sentence[0][: certain.start()]):
            certain = None
        if cause and _DENIED.search(sentence[0][: cause.end()]):
            cause = None
        if certain is None and cause is None:
            continue
        if compared == MAX_SENTENCES:
            unread = {"unread_from": sentence.start()}
            break
        compared += 1
        findings += _check_sentence(scope, sentence, certain, cause)
    findings.sort(key=lambda one: (one.start, one.rule))
    return WordingOut(
        **scope.answered,
        ok=not findings and not unread,
        findings=findings[:MAX_FOUND],
        language_rules=scope.settings.language_rules(),
        **unread,
    )


def _find_avoided(scope: Scope, draft: str, placed: Sequence[tuple[str, int, int]]) -> Iterator[FindingOut]:
    """Find phrases that corpus.json says to avoid, in any form of their words."""
    said = scope.settings
    stems = [token(word) for word, *_ in placed]
    phrases = defaultdict[str, list[tuple[list[str], str]]](list)
    for phrase in said.avoid:
        if wanted := [token(word) for word in words(phrase)]:
            phrases[wanted[0]].append((wanted, phrase))
    for at, stem in enumerate(stems):
        for wanted, phrase in phrases.get(stem, ()):
            if stems[at : at + len(wanted)] == wanted and not (at and stems[at - 1] in {"not", "never", "un"}):
                start, end = placed[at][1], placed[at + len(wanted) - 1][2]
                why = f"This corpus never says “{phrase}”."
                yield _finding("avoid", draft[start:end], start, why, said.say[0] if said.say else "")


def _find_omitted(scope: Scope, draft: str, placed: Sequence[tuple[str, int, int]]) -> Iterator[FindingOut]:
    """Find names whose HMAC the corpus has. The answer repeats the draft's own words."""
    for at, length in omitted_names.find_runs([word for word, *_ in placed], scope.settings.left_out_names):
        start, end = placed[at][1], placed[at + length - 1][2]
        why = "This corpus leaves this name out on purpose."
        yield _finding("left-out-name", draft[start:end], start, why, "a family of sources that this corpus does not name")


def _check_sentence(
    scope: Scope, sentence: re.Match[str], certain: re.Match[str] | None, cause: re.Match[str] | None
) -> Iterator[FindingOut]:
    """Find a reading told as fact, and an official event said to cause something."""
    corpus, at = _corpus(scope.key), sentence.start()
    long_enough = (word for word in split_words(sentence[0]) if len(word) > 2 or is_run(word))
    stems = sorted({token(word) for word in long_enough if word not in STOP_WORDS})
    reports = corpus.find_reports(stems)
    about = [row for row in reports if row["evidence_grade"] in READINGS or NOT_AS_FACT in (row.get("safety_flags") or ())]
    if certain and about:
        why = f"“{about[0]['title']}” is graded {about[0]['evidence_grade']}; it is a reading, not a proof."
        yield _finding("symbolic-as-fact", certain[0], at + certain.start(), why, phrasing(about[0]).say, about)
    if cause:
        lanes = scope.settings.vocabularies.lanes()
        events = corpus.find_events(stems)
        official = [row for row in events if lanes[row["layer"]] == OFFICIAL]
        linked = [row for row in events if lanes[row["layer"]] != OFFICIAL]
        linked += [row for row in reports if row["evidence_grade"] != OFFICIAL]
        if official and linked:
            why = f"“{official[0]['title']}” is an official event; what is linked with it is interpretation, not causation."
            instead = "is linked by the community with"
            yield _finding("official-cause", cause[0], at + cause.start(), why, instead, [official[0], *linked[:5]])


def _finding(rule: str, phrase: str, start: int, why: str, instead: str, about: Sequence[Any] = ()) -> FindingOut:
    return FindingOut(
        rule=rule,
        phrase=phrase,
        start=start,
        end=start + len(phrase),
        why=why,
        instead=instead,
        about=[row["id"] for row in about],
    )


def _most_alike(rows: Iterable[_Row], stems: Sequence[str]) -> list[Any]:
    """Up to five rows that share at least LIKE words with a sentence, the most first."""
    wanted = set(stems)
    scored = [(-shared, row["id"], row) for row, held in rows if (shared := len(wanted & held)) >= LIKE]
    return [row for *_, row in sorted(scored, key=lambda one: one[:2])][:5]
