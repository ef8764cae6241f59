"""Reports by words, phrases and filters, newest first: all of it from the wire's own postings.

A report's number is its document. Its tokens are words of all of its texts and its fields ("=motif:machine-silence"); its value is
its place in lists, in a second index the releases that have it. Both databases answer the same, and a release always the same.
"""

import datetime as dt
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
from django.db.models import Q

from config.errors import InvalidArgument
from wire.corpora.timeline.models import Motif, Report, TimelineEvent
from wire.corpora.timeline.validation import walk_texts
from wire.search import postings_index
from wire.search.postings_index import Numbers
from wire.text.search_query import ALL, SOME
from wire.text.tokens import STOP_WORDS, list_run_characters, split_words, stem_word, trim_phrase, words
from wire.text.word_frequency import get_rarity

LONGEST: Final = 60  # characters of a token
MAX_TERMS: Final = 32  # words of a question; more are refused
VERIFIED_PHRASES: Final = 2_000  # candidates of a phrase whose text is read; beyond them words that only stand near each other pass
EITHER: Final = 0.4  # share of a query's rarity; less than half, so that a question about two subjects finds either
SHARES: Final = (ALL, EITHER, SOME)
MONTHS: Final = 24  # beyond them, matches are counted by year
PAIRS: Final = 16_384  # kinds of neighbours that the index tells apart
MOST_NAMED: Final = 5_000  # motifs, and events, whose names are known
NEVER: Final = 2**31 - 1  # release in which a report ends that is still there
_ID: Final = re.compile(r"[A-Za-z0-9._-]+")
_PHRASE: Final = re.compile(r'"([^"]*)"')
_SKIPPED: Final = frozenset({"id", "anchor_id", "source_id", "source_url", "related_report_ids", "author_policy", "date_added"})


class Release(NamedTuple):
    """Which release of which corpus is asked; `sha256` keeps what is cached of one from being taken for another's."""

    corpus: int
    number: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Filters:
    query: str = ""
    motifs: Sequence[str] = ()
    phenomenon_types: Sequence[str] = ()
    source_types: Sequence[str] = ()
    stance: str | None = None
    evidence_grade: str | None = None
    date_start: dt.date | None = None
    date_end: dt.date | None = None


class Terms(NamedTuple):
    """Terms of a query: stems that must all occur, and phrases, whose stems must stand side by side."""

    stems: list[str]
    phrases: list[list[str]]


def parse_query(query: str) -> Terms:
    """Parse a query, without stop words unless there is nothing else. Raises: InvalidArgument."""
    phrases = [found for phrase in _PHRASE.findall(query) if len(found := trim_phrase(stem_text(phrase), phrase)) > 1]
    found = list(dict.fromkeys([*map(_to_stem, _drop_stop_words(query)), *(stem for phrase in phrases for stem in phrase)]))
    if query.strip() and not found:
        raise InvalidArgument("query has no words.", "Give words, or leave query out.")
    if min(len(found), len(words(query))) > MAX_TERMS:  # of a script without spaces, pairs of characters are no more words
        raise InvalidArgument(f"query has more than {MAX_TERMS} words.", "Leave out what is not needed.")
    return Terms(found, phrases)


def _drop_stop_words(text: str) -> list[str]:
    written = split_words(text)
    return [word for word in written if word not in STOP_WORDS] or written


def stem_text(text: str) -> list[str]:
    return [_to_stem(word) for word in split_words(text)]


def join_stems(*values: Any) -> str:
    found = dict.fromkeys(
        stem for one in walk_texts(list(values)) for stem in (*stem_text(one), *map(_to_stem, list_run_characters(one)))
    )
    return f" {' '.join(found)} "


def list_report_tokens(row: Any) -> dict[str, int]:
    found: list[str] = []
    for text in _list_searchable_texts(row):
        stemmed = stem_text(text)
        found += stemmed
        found += map(_build_pair_token, stemmed, stemmed[1:])
        found += map(_to_stem, list_run_characters(text))
    fields = [*(("motif", motif) for motif in row["motifs"]), ("phenomenon", row["phenomenon_type"])]
    fields += [("source", row["source"]["source_type"]), ("stance", row["stance"]), ("grade", row["evidence_grade"])]
    return dict.fromkeys([*found, *(field_token(name, value) for name, value in fields if value)], 1)


def field_token(name: str, value: str) -> str:
    return f"={name}:{value}"[:LONGEST]


def _build_pair_token(left: str, right: str) -> str:
    return f"+{(31 * _hash_stem(left) + _hash_stem(right)) % PAIRS}"


@lru_cache(maxsize=65_536)
def _hash_stem(stem: str) -> int:
    return (zlib.crc32(stem.encode()) | 1) % PAIRS


def compute_rank(date: dt.date | None, position: int) -> int:
    """Return a report's place in lists, its day above 32 bits: greater is earlier. Undated ones come last, others as filed."""
    return (date.toordinal() if date else 0) << 32 | (2**32 - 1 - position)


def rank_index_name(corpus: int) -> str:
    return f"timeline {corpus}"


def lifespan_index_name(corpus: int) -> str:
    return f"timeline {corpus} lives"


def encode_lifespan(since: int, until: int | None) -> int:
    return since << 32 | (NEVER if until is None else until)


@lru_cache(maxsize=16)
def read_ranks(release: Release) -> Numbers:
    """Return the rank of each report of a release by its number, 0 for those that it does not have. Read-only."""
    lives = postings_index.get_values(lifespan_index_name(release.corpus))
    alive = (lives > 0) & (lives >> 32 <= release.number) & ((lives & 0xFFFFFFFF) > release.number)
    placed = postings_index.get_values(rank_index_name(release.corpus))
    size = min(len(lives), len(placed))
    found = np.where(alive[:size], placed[:size], 0)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=16)
def _sort_reports(release: Release) -> Numbers:
    """Return the numbers of a release's reports, the newest first. Read-only."""
    placed = read_ranks(release)
    found: Numbers = np.argsort(-placed)[: np.count_nonzero(placed)]
    found.flags.writeable = False
    return found


class Matches(NamedTuple):
    """Reports that answer a question, the newest first. `share`: how much of its rarity each has to hold, 1 for every word."""

    numbers: Numbers
    share: float
    not_found: list[str]  # stems that none of them holds


def find_matches(release: Release, filters: Filters, shares: Sequence[float] = (ALL,)) -> Matches:
    """Find reports by the first of these shares of the query's rarity that has any; filters always hold. Raises: WireError."""
    placed, asked = read_ranks(release), parse_query(filters.query)
    named = _find_by_name(release, filters.query, asked.stems)
    needed = {stem for phrase in asked.phrases for stem in phrase}
    pairs = (_build_pair_token(left, right) for phrase in asked.phrases for left, right in pairwise(phrase))
    groups = [[token] for token in (*pairs, *needed, *(field_token("motif", motif) for motif in filters.motifs))]
    groups += [[field_token("stance", filters.stance)]] if filters.stance else []
    groups += [[field_token("grade", filters.evidence_grade)]] if filters.evidence_grade else []
    any_of = {"phenomenon": filters.phenomenon_types, "source": filters.source_types}
    groups += [[field_token(name, value) for value in values] for name, values in any_of.items() if values]
    numbers_of = postings_index.get_weights(
        rank_index_name(release.corpus), {*asked.stems, *(one for some in groups for one in some)}
    )

    def mark_reports(tokens: Iterable[str], others: Iterable[Numbers] = ()) -> Any:
        held = np.zeros(len(placed), dtype=bool)
        for numbers in (*(numbers_of[one][0] for one in tokens if one in numbers_of), *others):
            held[numbers[numbers < len(placed)]] = True
        return held

    within = placed > 0
    for group in groups:
        within &= mark_reports(group)
    days = placed >> 32
    if filters.date_start:
        within &= days >= filters.date_start.toordinal()
    if filters.date_end:
        within &= (days <= filters.date_end.toordinal()) & (days > 0)
    held = [mark_reports([stem], named.get(at, ())) for at, stem in enumerate(asked.stems)]
    weights = [get_rarity(stem) for stem in asked.stems]
    weighed: Any = sum((weight * one for weight, one in zip(weights, held, strict=True)), np.zeros(len(placed)))
    ordered = _sort_reports(release)
    for share in shares:
        enough = within & (weighed >= share * sum(weights) - 1e-9)
        found = _keep_phrases(release, ordered[enough[ordered]], asked.phrases)
        if len(found) or len(asked.stems) < 2:
            break
    return Matches(found, share, [stem for stem, one in zip(asked.stems, held, strict=True) if not one[found].any()])


@lru_cache(maxsize=4)
def _read_names(release: Release) -> dict[str, list[tuple[list[str], Numbers]]]:
    """Return names of motifs and short names of events by their first stem: all stems, and the reports that the name stands for."""
    motifs = [one.row for one in Motif.objects.in_release(release.corpus, release.number).in_order()[:MOST_NAMED]]
    carried = postings_index.get_weights(rank_index_name(release.corpus), [field_token("motif", row["id"]) for row in motifs])
    found = [
        (name, carried[field_token("motif", row["id"])][0])
        for row in motifs
        if field_token("motif", row["id"]) in carried
        for name in (row["id"], row["label"], *row["aliases"])
    ]
    events = TimelineEvent.objects.in_release(release.corpus, release.number).filter(body__contains='"short":"')[:MOST_NAMED]
    found += [(one.row["short"], _list_report_numbers(release, Q(anchors__anchor_id=one.key))) for one in events]
    names = defaultdict[str, list[tuple[list[str], Numbers]]](list)
    for name, numbers in found:
        if stems_of_name := list(dict.fromkeys(map(_to_stem, _drop_stop_words(name)))):
            names[stems_of_name[0]].append((stems_of_name, numbers))
    return names


def _find_by_name(release: Release, query: str, asked: Sequence[str]) -> dict[int, list[Numbers]]:
    """Return by the place of a word the reports that it finds as a part of a name or id: of a motif, an event or of the report."""
    found = defaultdict[int, list[Numbers]](list)
    names = _read_names(release) if asked else {}
    for at, stem in enumerate(asked):
        for name, numbers in names.get(stem, ()):
            if list(asked[at : at + len(name)]) == name:
                for place in range(at, at + len(name)):
                    found[place].append(numbers)
    key = query.strip()
    if asked and _ID.fullmatch(key):
        own = _list_report_numbers(release, Q(key=key) | Q(anchors__anchor_id=key))
        for place in range(len(asked)):
            found[place].append(own)
    return found


def _list_report_numbers(release: Release, wanted: Q) -> Numbers:
    reports = Report.objects.in_release(release.corpus, release.number).filter(wanted)
    return np.array(list(reports.values_list("number", flat=True)), dtype=np.int64)


def cut_page(release: Release, numbers: Numbers, limit: int, before: int | None) -> tuple[list[int], int | None]:
    """Return the first `limit` of them below the rank `before`, and the last one's rank if more follow."""
    placed = read_ranks(release)
    if before is not None:
        numbers = numbers[placed[numbers] < before]
    return numbers[:limit].tolist(), int(placed[numbers[limit - 1]]) if len(numbers) > limit else None


def count_by_month(release: Release, numbers: Numbers) -> dict[str, int]:
    """Count these reports by month, or by year where there are more than MONTHS months; without undated ones."""
    days = read_ranks(release)[numbers] >> 32
    dates = (days[days > 0] - dt.date(1970, 1, 1).toordinal()).astype("datetime64[D]")
    months, counts = np.unique(dates.astype("datetime64[M]"), return_counts=True)
    found = Counter[str]()
    for month, count in zip(months.astype(str).tolist(), counts.tolist(), strict=True):
        found[month if len(months) <= MONTHS else month[:4]] += count
    return dict(found)


def load_report_rows(corpus: int, numbers: Iterable[int]) -> dict[int, Any]:
    found = Report.objects.filter(corpus_id=corpus, number__in=list(numbers)).values_list("number", "body")
    return {number: orjson.loads(body) for number, body in found}


def _keep_phrases(release: Release, numbers: Numbers, phrases: list[list[str]]) -> Numbers:
    if not phrases or not len(numbers):
        return numbers
    read = numbers[:VERIFIED_PHRASES].tolist()
    bodies = load_report_rows(release.corpus, read)

    def has_phrase(row: Any, phrase: list[str]) -> bool:
        size = len(phrase)
        texts = (stem_text(text) for text in _list_searchable_texts(row))
        return any(text[at : at + size] == phrase for text in texts for at in range(len(text) - size + 1))

    holding = [number for number in read if all(has_phrase(bodies[number], phrase) for phrase in phrases)]
    return np.concatenate((np.array(holding, dtype=np.int64), numbers[VERIFIED_PHRASES:]))


def _list_searchable_texts(row: Any) -> Iterable[str]:
    for name, value in row.items():
        if name in _SKIPPED or name.startswith("date"):
            continue
        if isinstance(value, list):
            for inner in value:
                yield from _list_searchable_texts(inner) if isinstance(inner, dict) else (inner,)
        elif isinstance(value, dict):
            yield from _list_searchable_texts(value)
        elif isinstance(value, str):
            yield value


def _to_stem(word: str) -> str:
    return stem_word(word)[:LONGEST]
