"""The release of a corpus that a query reads, filters as a caller gives them, and cursors that stay with a release."""

import datetime as dt
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
from django.core.validators import slug_re

from config.errors import InvalidArgument
from wire.corpora.common.cursors import ListCursor
from wire.corpora.timeline.corpus_config import CorpusFile, parse_corpus_file
from wire.corpora.timeline.errors import UnknownCorpus, UnknownMotif, UnknownRelease
from wire.corpora.timeline.models import Corpus, CorpusRelease, Motif, Report, RowQuerySet
from wire.corpora.timeline.search import Filters, Release, terms
from wire.schemas.params import read_date
from wire.search.cursor import invalid
from wire.text.plain_text import plain_text

LISTED: Final = 20
MAX_QUOTED: Final = 40  # characters of a caller's word that an error repeats
MOST_NAMES: Final = 20  # ids that a hint lists


@dataclass(frozen=True, slots=True)
class Scope:
    """A release of a corpus, with the corpus.json of that time."""

    corpus: Corpus
    release: CorpusRelease

    @property
    def number(self) -> int:
        return self.release.number

    @property
    def settings(self) -> CorpusFile:
        return _parse_written(self.release.written)

    @property
    def key(self) -> Release:
        return Release(self.corpus.pk, self.number, self.release.sha256 + self.release.signature[:8])

    @property
    def answered(self) -> dict[str, Any]:
        """The fields that every answer begins with."""
        return {"corpus": self.corpus.slug, "release": self.number}

    @property
    def counts(self) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads(self.release.counts)
        return found

    def rows(self, model: Any) -> RowQuerySet:
        found: RowQuerySet = model.objects.in_release(self.corpus.pk, self.number)
        return found


@lru_cache(maxsize=64)
def _parse_written(written: str) -> CorpusFile:
    return parse_corpus_file(orjson.loads(written))


def scope_of(slug: str, as_of: int | None = None) -> Scope:
    """Raises: UnknownCorpus, UnknownRelease."""
    corpus = Corpus.objects.filter(slug=slug).first() if slug_re.match(slug) else None
    if corpus is None or not corpus.release:
        known = ", ".join(Corpus.objects.exclude(release=0).values_list("slug", flat=True)[:MOST_NAMES])
        raise UnknownCorpus(f"There is no corpus {quote(slug)}.", f"Corpora: {known or 'none so far'}.")
    number = corpus.release if as_of is None else as_of
    release = corpus.releases.filter(number=number).first() if 0 < number < 2**31 else None
    if release is None:
        raise UnknownRelease(
            f"{slug} has no release {number}.", f"Its newest is {corpus.release}; leave as_of out for it, or name an earlier one."
        )
    return Scope(corpus, release)


def quote(text: str) -> str:
    """Quote a caller's word as an error may repeat it: one line, not long."""
    return f"'{plain_text(text, MAX_QUOTED)}'"


def expect_motifs(scope: Scope, motifs: Iterable[str], tail: str = " — or call timeline_motif_map first.") -> None:
    """Raises: UnknownMotif, which names those that come close."""
    wanted = list(motifs)
    known = set(scope.rows(Motif).filter(key__in=wanted).values_list("key", flat=True)) if wanted else set()
    for motif in wanted:
        if motif not in known:
            close = " or ".join(f"'{one}'" for one in _closest(scope, motif))
            raise UnknownMotif(
                f"No motif named {quote(motif)}.", f"Try {close}{tail or '.'}" if close else "This corpus has no motifs."
            )


def _closest(scope: Scope, motif: str, most: int = 3) -> list[str]:
    """Return motifs whose name or alias is a part of the word, or has it as a part; without any the first of all."""
    word, scored = motif.lower(), []
    parts = [part for part in "".join(c if c.isascii() and c.isalpha() else " " for c in word).split() if part]
    rows = [row.row for row in scope.rows(Motif).in_order()]
    for row in rows:
        score = 3 * (row["id"] in word or word in row["id"])
        score += 2 * any(alias.lower() in word or word in alias.lower() for alias in row["aliases"])
        score += sum(part in row["id"] for part in parts)
        if score:
            scored.append((-score, row["id"]))
    best = [name for _, name in sorted(scored, key=lambda one: one[0])] or [row["id"] for row in rows]
    return best[:most]


def filters_of(
    scope: Scope,
    query: str | None = None,
    motifs: Sequence[str] | None = None,
    phenomenon_types: Sequence[str] | None = None,
    source_types: Sequence[str] | None = None,
    stance: str | None = None,
    evidence_grade: str | None = None,
    date_start: str | None = None,
    date_end: str | None = None,
) -> Filters:
    """Check filters against the corpus. Raises: InvalidArgument, which names what is accepted; UnknownMotif."""
    words = scope.settings.vocabularies
    expect_motifs(scope, motifs or ())
    expect_words("phenomenon_types", phenomenon_types, words.phenomenon_types)
    expect_words("source_types", source_types, words.source_types)
    start, end = _day("date_start", date_start), _day("date_end", date_end)
    if start and end and start > end:
        raise InvalidArgument(
            f"date_start {start} is after date_end {end}, so nothing could match.", "Exchange them, or leave one out."
        )
    terms(query or "")
    return Filters(
        query=query or "",
        motifs=tuple(motifs or ()),
        phenomenon_types=tuple(phenomenon_types or ()),
        source_types=tuple(source_types or ()),
        stance=stance,
        evidence_grade=evidence_grade,
        date_start=start,
        date_end=end,
    )


def expect_words(name: str, values: Sequence[str] | None, accepted: Sequence[str]) -> None:
    for value in values or ():
        if value not in accepted:
            raise InvalidArgument(f"{name}: {quote(value)} is not of this corpus.", f"Accepted: {', '.join(accepted)}.")


def _day(name: str, text: str | None) -> dt.date | None:
    try:
        return read_date(text) if text else None
    except ValueError:
        raise InvalidArgument(
            f"{name}: {quote(text or '')} is no ISO 8601 date.", "Give YYYY-MM-DD, such as 2026-06-29; both ends are included."
        ) from None


def linked_reports(scope: Scope, filters: Filters, *, with_dates: bool) -> RowQuerySet | None:
    """Select the reports that the filters about reports leave; None if there are no such filters."""
    wanted = {
        "phenomenon_type__in": filters.phenomenon_types,
        "source_type__in": filters.source_types,
        "stance": filters.stance,
        "evidence_grade": filters.evidence_grade,
        "date_observed__gte": filters.date_start if with_dates else None,
        "date_observed__lte": filters.date_end if with_dates else None,
    }
    given = {name: value for name, value in wanted.items() if value}
    return scope.rows(Report).filter(**given) if given else None


def filter_rows(rows: RowQuerySet, filters: Filters) -> RowQuerySet:
    for stem in terms(filters.query).stems:
        rows = rows.filter(words__contains=f" {stem} ")
    for motif in filters.motifs:
        rows = rows.filter(motifs__contains=f"|{motif}|")
    return rows


class Walk:
    """A list's cursors: they belong to one list with its filters, and stay with the release that the first page was of."""

    def __init__(
        self, kind: str, slug: str, as_of: int | None, question: Sequence[Any], cursor: str | None, size: int = 1, **given: Any
    ) -> None:
        named = [[name, sorted(set(value)) if isinstance(value, list | tuple) else value] for name, value in given.items() if value]
        self._cursors = ListCursor(kind, slug, *question, *sorted(named))
        self.before: list[int] | None = None
        self.as_of = as_of
        if cursor is not None:
            number, *before = self._cursors.read(cursor, 1 + size)
            if as_of is not None and as_of != number:
                raise invalid()
            self.as_of, self.before = number, before

    def page(self, scope: Scope, total: int, shown: Sized, last: Sequence[int] | None, *, is_narrowed: bool) -> dict[str, Any]:
        """Return the fields that every list begins with. `last`: the place of the last row, if more follow."""
        found = {
            **scope.answered,
            "total": total,
            "returned": len(shown),
            "next_cursor": self.cursor(scope, *last) if last else None,
        }
        if not total and is_narrowed:
            found["hint"] = "Nothing matched. Drop a filter or a word: all words must occur, and filters add up."
        return found

    def cursor(self, scope: Scope, *place: int) -> str:
        return self._cursors.write(scope.number, *place)
