"""Checks a draft against a corpus's rules. Rules decide, no model: every finding names the phrase, its place and what to write."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from wire.corpora.timeline import omitted_names, search
from wire.corpora.timeline.models import TimelineEvent
from wire.corpora.timeline.queries.reports import build_phrasing
from wire.corpora.timeline.queries.scope import Scope, get_scope
from wire.corpora.timeline.row_schemas import NOT_AS_FACT, OFFICIAL, VERIFIED
from wire.corpora.timeline.schemas import FindingOut, WordingOut
from wire.corpora.timeline.search import Release
from wire.search import postings_index
from wire.text.lexicons import load_lexicon
from wire.text.tokens import STOP_WORDS, is_unspaced, split_words, stem_word, words

MAX_DRAFT: Final = 20_000
READINGS: Final = ("symbolic", "speculative", "interpretive")
MAX_SENTENCES: Final = 150  # that are compared with the corpus
LIKE: Final = 2  # words of a report that a sentence shares with it before it counts as being about it
ALIKE: Final = 0.8  # share of a claim's words, hedges aside, that a sentence repeats when it tells that claim …
LEAST: Final = 3  # … which has at least so many
MOST_WORDS: Final = 60  # of a sentence that reports are looked for by

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_WORD: Final = re.compile(r"[^\W_]+")
_AS_FACT, _HEDGED, _TELLERS, _CAUSE, _DENIED = (
    re.compile(rf"\b({'|'.join(load_lexicon('phrase_lint')[name])})\b", re.IGNORECASE)
    for name in ("as_fact", "hedged", "tellers", "cause", "denied")
)


class _Row(NamedTuple):
    """A report or an event, the stems of what it says, and those of each of its claims without hedges."""

    row: Any
    stems: frozenset[str]
    claims: Sequence[frozenset[str]] = ()


class _Corpus:
    """A release as sentences are compared with it; prepared once, since a release never changes."""

    def __init__(self, release: Release) -> None:
        self._release = release
        events = TimelineEvent.objects.in_release(release.corpus, release.number).in_order()[:500]
        self.events = [_Row(event.row, frozenset(event.words.split())) for event in events]
        self._reports: dict[int, _Row] = {}

    def find_reports(self, sentences: Sequence[Sequence[str]]) -> Iterator[list[_Row]]:
        """Yield for each sentence (its stems) the reports that share the most of its words."""
        placed = search.read_ranks(self._release)
        asked = {stem for stems in sentences for stem in stems[:MOST_WORDS]}
        postings = postings_index.get_weights(search.rank_index_name(self._release.corpus), asked)
        for stems in sentences:
            times = np.zeros(len(placed), dtype=int)
            for numbers, _ in (postings[stem] for stem in stems[:MOST_WORDS] if stem in postings):
                times[numbers[numbers < len(placed)]] += 1
            found = np.flatnonzero((times >= LIKE) & (placed > 0))
            best = found[np.argsort(-times[found], kind="stable")][:50].tolist()
            yield _find_similar_rows(self._load_rows(best), stems)

    def _load_rows(self, numbers: Sequence[int]) -> list[_Row]:
        if len(self._reports) > 2_000:
            self._reports = {}
        if missing := [number for number in numbers if number not in self._reports]:
            for number, row in search.load_report_rows(self._release.corpus, missing).items():
                motifs = (motif.replace("-", " ") for motif in row["motifs"])
                texts = (row["title"], row["summary"], *motifs, *(claim["text"] for claim in row["claims"]))
                stated = (claim["text"] for claim in row["claims"] if claim["status"] != VERIFIED)
                claims = [frozenset(_list_stems(_TELLERS.sub(" ", _HEDGED.sub(" ", text)))) for text in stated]
                self._reports[number] = _Row(row, frozenset(search.join_stems(*texts).split()), claims)
        return [self._reports[number] for number in numbers if number in self._reports]


_corpus = lru_cache(maxsize=4)(_Corpus)


def check_wording(slug: str, draft: str, as_of: int | None = None) -> WordingOut:
    """Find the phrases of a draft that break a rule, in its order. Raises: NotFound."""
    scope = get_scope(slug, as_of)
    placed = [(part, found.start(), found.end()) for found in _WORD.finditer(draft) for part in words(found[0])]
    findings = [*_find_avoided_phrases(scope, draft, placed), *_find_omitted_names(scope, draft, placed)]
    sentences = [sentence for found in _SENTENCE.finditer(draft) if (sentence := _read_sentence(found)).needs_comparison]
    compared = sentences[:MAX_SENTENCES]
    corpus = _corpus(scope.key)
    for sentence, reports in zip(compared, corpus.find_reports([one.stems for one in compared]), strict=True):
        findings += _check_sentence(scope, sentence, reports, _find_similar_rows(corpus.events, sentence.stems))
    unread: dict[str, Any] = {"unread_from": sentences[MAX_SENTENCES].start} if len(sentences) > MAX_SENTENCES else {}
    findings.sort(key=lambda one: (one.start, one.rule))
    return WordingOut(
        **scope.answered,
        ok=not findings and not unread,
        findings=findings[:100],
        language_rules=scope.language_rules,
        **unread,
    )


class _Sentence(NamedTuple):
    """A sentence of a draft: its stems, and its words of proof and of cause that nothing before them takes back."""

    text: str
    start: int
    stems: list[str]
    certain: re.Match[str] | None
    cause: re.Match[str] | None
    is_hedged: bool

    @property
    def needs_comparison(self) -> bool:
        return bool(self.certain or self.cause or (not self.is_hedged and len(self.stems) >= LEAST))


def _read_sentence(found: re.Match[str]) -> _Sentence:
    text = found[0]
    certain, cause = _AS_FACT.search(text), _CAUSE.search(text)
    if certain and _HEDGED.search(text[: certain.start()]):
        certain = None
    if cause and _DENIED.search(text[: cause.end()]):
        cause = None
    return _Sentence(text, found.start(), _list_stems(text), certain, cause, bool(_HEDGED.search(text)))


def _list_stems(text: str) -> list[str]:
    long_enough = (word for word in split_words(text) if len(word) > 2 or is_unspaced(word))
    return sorted({stem_word(word)[: search.LONGEST] for word in long_enough if word not in STOP_WORDS})


def _find_avoided_phrases(scope: Scope, draft: str, placed: Sequence[tuple[str, int, int]]) -> Iterator[FindingOut]:
    """Find phrases that corpus.json says to avoid, in any form of their words."""
    said = scope.settings
    stems = [stem_word(word) for word, *_ in placed]
    phrases = defaultdict[str, list[tuple[list[str], str]]](list)
    for phrase in said.avoid:
        if wanted := [stem_word(word) for word in words(phrase)]:
            phrases[wanted[0]].append((wanted, phrase))
    for at, stem in enumerate(stems):
        for wanted, phrase in phrases.get(stem, ()):
            if stems[at : at + len(wanted)] == wanted and not (at and stems[at - 1] in {"not", "never", "un"}):
                start, end = placed[at][1], placed[at + len(wanted) - 1][2]
                why = f"This corpus never says “{phrase}”."
                yield _to_finding("avoid", draft[start:end], start, why, said.say[0] if said.say else "")


def _find_omitted_names(scope: Scope, draft: str, placed: Sequence[tuple[str, int, int]]) -> Iterator[FindingOut]:
    """Find names whose HMAC the corpus has. The answer repeats the draft's own words."""
    for at, length in omitted_names.find_names([word for word, *_ in placed], scope.settings.left_out_names):
        start, end = placed[at][1], placed[at + length - 1][2]
        why = "This corpus leaves this name out on purpose."
        yield _to_finding("left-out-name", draft[start:end], start, why, "a family of sources that this corpus does not name")


def _check_sentence(scope: Scope, sentence: _Sentence, reports: Sequence[_Row], events: Sequence[_Row]) -> Iterator[FindingOut]:
    """Find a reading told as fact, by a word of proof or in a claim's own words, and an official event as a cause."""
    readings = [
        one for one in reports if one.row["evidence_grade"] in READINGS or NOT_AS_FACT in (one.row.get("safety_flags") or ())
    ]
    held = set(sentence.stems)
    told = [
        one.row
        for one in readings
        if not sentence.is_hedged and any(len(claim) >= LEAST and len(claim & held) >= ALIKE * len(claim) for claim in one.claims)
    ]
    if about := [one.row for one in readings] if sentence.certain else told:
        why = f"“{about[0]['title']}” is graded {about[0]['evidence_grade']}; it is a reading, not a proof."
        phrase = sentence.certain[0] if sentence.certain else sentence.text.strip()
        at = sentence.certain.start() if sentence.certain else sentence.text.index(phrase)
        yield _to_finding("symbolic-as-fact", phrase, sentence.start + at, why, build_phrasing(scope, about[0]).say, about)
    if sentence.cause:
        lanes = scope.settings.vocabularies.lanes()
        official = [one.row for one in events if lanes[one.row["layer"]] == OFFICIAL]
        linked = [one.row for one in events if lanes[one.row["layer"]] != OFFICIAL]
        linked += [one.row for one in reports if one.row["evidence_grade"] != OFFICIAL]
        if official and linked:
            why = f"“{official[0]['title']}” is an official event; what is linked with it is interpretation, not causation."
            cause, instead = sentence.cause, scope.settings.phrases.official_cause
            yield _to_finding("official-cause", cause[0], sentence.start + cause.start(), why, instead, [official[0], *linked[:5]])


def _to_finding(rule: str, phrase: str, start: int, why: str, instead: str, about: Sequence[Any] = ()) -> FindingOut:
    end, ids = start + len(phrase), [row["id"] for row in about]
    return FindingOut(rule=rule, phrase=phrase, start=start, end=end, why=why, instead=instead, about=ids)


def _find_similar_rows(rows: Iterable[_Row], stems: Sequence[str]) -> list[_Row]:
    """Return up to five rows that share at least LIKE words with a sentence, the most first."""
    wanted = set(stems)
    scored = [(-shared, one.row["id"], one) for one in rows if (shared := len(wanted & one.stems)) >= LIKE]
    return [one for *_, one in sorted(scored, key=lambda scored: scored[:2])][:5]
