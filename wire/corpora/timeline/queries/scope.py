"""The release of a corpus that a query reads, filters as a caller gives them, and cursors that stay with a release."""

import re
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import orjson
from django.core.validators import slug_re

from config.errors import InvalidArgument
from wire.corpora.common.cursors import ListCursor
from wire.corpora.timeline.corpus_config import CorpusFile, parse_corpus
from wire.corpora.timeline.errors import UnknownCorpus, UnknownMotif, UnknownRelease
from wire.corpora.timeline.models import Corpus, CorpusRelease, Motif, Report, Row, RowQuerySet, SourceFamily
from wire.corpora.timeline.search import Filters, Release, parse_query
from wire.schemas.params import read_date
from wire.search.cursor import build_cursor_error
from wire.text.plain_text import plain_text

LISTED: Final = 20
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
        return parse_corpus(self.release.written)

    @property
    def key(self) -> Release:
        return Release(self.corpus.pk, self.number, self.release.sha256 + self.release.signature[:8])

    @property
    def answered(self) -> dict[str, Any]:
        """The fields that every answer begins with."""
        return {"corpus": self.corpus.slug, "release": self.number}

    @property
    def language_rules(self) -> list[str]:
        return self.settings.language_rules(has_omitted_source=_has_omitted_source(self.key))

    @property
    def counts(self) -> Any:
        return orjson.loads(self.release.counts)

    def rows(self, model: type[Row]) -> RowQuerySet:
        return model.objects.in_release(self.corpus.pk, self.number)

    def get_rows(self, model: type[Row], ids: Sequence[str]) -> dict[str, Any]:
        return {one.key: one.row for one in self.rows(model).filter(key__in=set(ids))}

    def list_rows(self, model: type[Row], ids: Sequence[str]) -> list[Any]:
        """Return what these rows say, in this order, without those that there are not."""
        found = self.get_rows(model, ids)
        return [found[key] for key in ids if key in found]


@lru_cache(maxsize=64)
def _has_omitted_source(release: Release) -> bool:
    rows = (model.objects.in_release(release.corpus, release.number) for model in (SourceFamily, Report))
    return any(some.filter(body__contains='"author_policy":"omitted"').exists() for some in rows)


def get_scope(slug: str, as_of: int | None = None) -> Scope:
    """Raises: UnknownCorpus, UnknownRelease."""
    corpus = Corpus.objects.filter(slug=slug).first() if slug_re.match(slug) else None
    if corpus is None or not corpus.release:
        known = ", ".join(Corpus.objects.exclude(release=0).values_list("slug", flat=True)[:MOST_NAMES])
        raise UnknownCorpus(f"There is no corpus {quote(slug)}.", f"Corpora: {known or 'none so far'}.")
    number = corpus.release if as_of is None else as_of
    release = corpus.releases.filter(number=number).first() if 0 < number < 2**31 else None
    if release is None:
        raise UnknownRelease(
            f"{slug} has no release {number}.", f"Its newest is {corpus.release}; omit as_of to get it, or name an earlier one."
        )
    return Scope(corpus, release)


def quote(text: str) -> str:
    """Quote a caller's word as an error may repeat it: one line, not long."""
    return f"'{plain_text(text, 40)}'"


def expect_motifs(scope: Scope, motifs: Sequence[str], tail: str = " — or call timeline_motif_map first.") -> None:
    """Raises: UnknownMotif, which names those that come close."""
    known = set(scope.rows(Motif).filter(key__in=motifs).values_list("key", flat=True)) if motifs else set()
    for motif in motifs:
        if motif not in known:
            close = " or ".join(f"'{one}'" for one in _find_similar_motifs(scope, motif.lower()))
            raise UnknownMotif(
                f"No motif named {quote(motif)}.", f"Try {close}{tail or '.'}" if close else "This corpus has no motifs."
            )


def _find_similar_motifs(scope: Scope, word: str) -> list[str]:
    """Return at most three motifs whose name or alias is a part of the word, or has it as a part; without any the first of all."""
    parts = re.findall("[a-z]+", word)
    rows = [row.row for row in scope.rows(Motif).in_order()]
    scores = {}
    for row in rows:
        score = 3 * (row["id"] in word or word in row["id"])
        score += 2 * any(alias.lower() in word or word in alias.lower() for alias in row["aliases"])
        scores[row["id"]] = score + sum(part in row["id"] for part in parts)
    best = sorted((name for name, score in scores.items() if score), key=lambda name: -scores[name])
    return (best or list(scores))[:3]


def to_filters(scope: Scope, **given: Any) -> Filters:
    """Check filters against the corpus. Raises: InvalidArgument, which names what is accepted; UnknownMotif."""
    found = {name: value for name, value in given.items() if value}
    words = scope.settings.vocabularies
    expect_motifs(scope, found.get("motifs", ()))
    expect_words("phenomenon_types", found.get("phenomenon_types"), words.phenomenon_types)
    expect_words("source_types", found.get("source_types"), words.source_types)
    for name in {"date_start", "date_end"} & found.keys():
        try:
            found[name] = read_date(found[name])
        except ValueError:
            message = f"{name}: {quote(found[name])} is not an ISO 8601 date."
            raise InvalidArgument(message, "Give YYYY-MM-DD, such as 2026-06-29; both ends are included.") from None
    filters = Filters(**found)
    if filters.date_start and filters.date_end and filters.date_start > filters.date_end:
        raise InvalidArgument(
            f"date_start {filters.date_start} is after date_end {filters.date_end}, so nothing could match.",
            "Swap them, or leave one out.",
        )
    parse_query(filters.query)
    return filters


def expect_words(name: str, values: str | Sequence[str] | None, accepted: Sequence[str]) -> None:
    for value in [values] if isinstance(values, str) else values or ():
        if value not in accepted:
            raise InvalidArgument(f"{name}: {quote(value)} is not in this corpus.", f"Accepted: {', '.join(accepted)}.")


def narrow_rows(rows: RowQuerySet, filters: Filters, **wanted: Any) -> RowQuerySet:
    """Leave the rows with the words and motifs of the filters, and with these values of columns, where there are any."""
    for stem in parse_query(filters.query).stems:
        rows = rows.filter(words__contains=f" {stem} ")
    for motif in filters.motifs:
        rows = rows.filter(motifs__contains=f"|{motif}|")
    return rows.filter(**{name: value for name, value in wanted.items() if value})


class Walk:
    """A page of a list: its release, the filters as given, and cursors, which stay with that release and those filters."""

    def __init__(
        self,
        kind: str,
        slug: str,
        *question: Any,
        size: int = 1,
        limit: int = LISTED,
        cursor: str | None = None,
        as_of: int | None = None,
        **given: Any,
    ) -> None:
        named = [[name, sorted(set(value)) if isinstance(value, list | tuple) else value] for name, value in given.items() if value]
        self._cursors = ListCursor(kind, slug, *question, *sorted(named))
        self._is_narrowed = bool(named) or any(question)
        self.limit, self.given = limit, given
        self.before: list[int] | None = None
        if cursor is not None:
            number, *self.before = self._cursors.decode_position(cursor, 1 + size)
            if as_of is not None and as_of != number:
                raise build_cursor_error()
            as_of = number
        self.scope = get_scope(slug, as_of)

    def build_head(self, total: int, shown: Sized, last: Sequence[int] | None) -> dict[str, Any]:
        """Return the fields that every list begins with. `last`: the position of the last row, if more follow."""
        following = self.cursor(*last) if last else None
        found = {**self.scope.answered, "total": total, "returned": len(shown), "next_cursor": following}
        if not total and self._is_narrowed:
            found["hint"] = "Nothing matched. Drop a filter or a word: all words must occur, and all filters must match."
        return found

    def cursor(self, *position: int) -> str:
        return self._cursors.encode_position(self.scope.number, *position)
