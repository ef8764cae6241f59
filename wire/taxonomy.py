"""The lexicon's home: shipped by fixtures/taxonomy.json, tuned by editors, read by the classifier."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from wire.classify import Lexicon, Term
from wire.models import LexiconTerm

TAXONOMY_FILE = Path(settings.BASE_DIR) / "fixtures" / "taxonomy.json"
Kind = LexiconTerm.Kind
Origin = LexiconTerm.Origin


def lexicon(*, with_term: LexiconTerm | None = None) -> Lexicon:
    """The lexicon as stored; `with_term` as if that were saved."""
    stored = LexiconTerm.objects.order_by("pk")
    if with_term is None:
        return _made(tuple(stored.values_list("kind", "target", "term", "weight")))
    others = stored.exclude(pk=with_term.pk).values_list("kind", "target", "term", "weight")
    return _made((*others, (with_term.kind, with_term.target, with_term.term, with_term.weight)))


def shipped(file: Path = TAXONOMY_FILE) -> Lexicon:
    """The lexicon as the file has it, without a database."""
    return _made(tuple(_rows(json.loads(file.read_text(encoding="utf-8")))))


@lru_cache(maxsize=4)
def _made(rows: tuple[tuple[str, str, str, float], ...]) -> Lexicon:
    """Made once for the same terms: that takes longer than reading them."""
    return Lexicon(*([Term(target, term, weight) for kind, target, term, weight in rows if kind == wanted] for wanted in Kind))


@transaction.atomic
def sync(file: Path = TAXONOMY_FILE) -> None:
    """Bring the shipped terms up to date with the file. What an editor set is never touched."""
    shipped = {(kind, target, term): weight for kind, target, term, weight in _rows(json.loads(file.read_text(encoding="utf-8")))}
    stored = {(t.kind, t.target, t.term): t for t in LexiconTerm.objects.all()}
    stale = [t.pk for key, t in stored.items() if t.origin == Origin.SHIPPED and shipped.get(key) != t.weight]
    LexiconTerm.objects.filter(pk__in=stale).delete()
    keep = {key for key, t in stored.items() if t.pk not in set(stale)}
    LexiconTerm.objects.bulk_create(
        LexiconTerm(kind=kind, target=target, term=term, weight=weight, origin=Origin.SHIPPED)
        for (kind, target, term), weight in shipped.items()
        if (kind, target, term) not in keep
    )


def _rows(document: dict[str, Any]) -> list[tuple[str, str, str, float]]:
    return [
        (kind, target, term, float(weight))
        for kind, section in ((Kind.CATEGORY, "categories"), (Kind.TOPIC, "topics"), (Kind.RELEVANCE, "relevance"))
        for target, terms in document[section].items()
        for term, weight in terms.items()
    ]
