"""The stored lexicon: shipped by fixtures/taxonomy.json, tuned by editors, read by the classifier."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Max, Min

from wire.ingest.classify import Lexicon, Term
from wire.models import LexiconTerm, Story, WireState
from wire.text.choices import Category

TAXONOMY_FILE = Path(settings.BASE_DIR) / "fixtures" / "taxonomy.json"
FACTS: Final = ("kind", "target", "term", "weight")
Kind = LexiconTerm.Kind
Origin = LexiconTerm.Origin
Row = tuple[str, str, str, float]  # kind, target, term, weight
LOOKED_AT: Final = 500  # newest stories
SHOWN: Final = 50
SECTIONS: Final = {Kind.CATEGORY: "categories", Kind.TOPIC: "topics", Kind.RELEVANCE: "relevance", Kind.MAKER: "makers"}


def load_lexicon(*, with_term: LexiconTerm | None = None) -> Lexicon:
    """Return the lexicon as stored; `with_term` as if that were saved."""
    stored = LexiconTerm.objects.order_by("pk")
    if with_term is not None:
        others = stored.exclude(pk=with_term.pk).values_list(*FACTS)
        return _build_lexicon((*others, (with_term.kind, with_term.target, with_term.term, with_term.weight)))
    # Shipped terms are many, and only ever come and go: what an editor changes is no longer shipped.
    state = stored.filter(origin=Origin.SHIPPED).aggregate(n=Count("pk"), first=Min("pk"), last=Max("pk"))
    return _load_current(tuple(state.values()), tuple(stored.exclude(origin=Origin.SHIPPED).values_list(*FACTS)))


@lru_cache(maxsize=2)
def _load_current(_state: tuple[int | None, ...], edited: tuple[Row, ...]) -> Lexicon:
    return _build_lexicon((*LexiconTerm.objects.filter(origin=Origin.SHIPPED).order_by("pk").values_list(*FACTS), *edited))


def load_shipped_lexicon(file: Path = TAXONOMY_FILE) -> Lexicon:
    return _build_lexicon(tuple(_list_rows(json.loads(file.read_text(encoding="utf-8")))))


# Building is ten times the work of reading the terms, and tests empty and fill the database all the time.
@lru_cache(maxsize=2)
def _build_lexicon(rows: tuple[Row, ...]) -> Lexicon:
    return Lexicon(*([Term(target, term, weight) for kind, target, term, weight in rows if kind == wanted] for wanted in Kind))


@transaction.atomic
def sync_shipped_terms(file: Path = TAXONOMY_FILE) -> None:
    """Bring the shipped terms up to date with the file, unless they are. What an editor set is never touched."""
    document = file.read_bytes()
    digest, state = hashlib.sha256(document).hexdigest(), WireState.objects.filter(pk=1)
    if state.filter(lexicon_sha256=digest).exists():
        return
    shipped = {(kind, target, term): weight for kind, target, term, weight in _list_rows(json.loads(document))}
    stored = {(kind, target, term): rest for kind, target, term, *rest in LexiconTerm.objects.values_list(*FACTS, "pk", "origin")}
    stale = {key: pk for key, (weight, pk, origin) in stored.items() if origin == Origin.SHIPPED and shipped.get(key) != weight}
    LexiconTerm.objects.filter(pk__in=stale.values()).delete()
    new = [(*key, weight, Origin.SHIPPED.value) for key, weight in shipped.items() if key not in stored or key in stale]
    into = f"{LexiconTerm._meta.db_table} (kind, target, term, weight, origin)"
    with connection.cursor() as cursor:  # in a quarter of bulk_create's time, which tests and first starts pay
        cursor.executemany(f"INSERT INTO {into} VALUES (%s, %s, %s, %s, %s)", new)  # noqa: S608  our own table's name
    state.update(lexicon_sha256=digest)


def _list_rows(document: dict[str, Any]) -> list[Row]:
    return [
        (kind, target, term, float(weight))
        for kind, section in SECTIONS.items()
        for target, terms in document[section].items()
        for term, weight in terms.items()
    ]


class TermPreview(NamedTuple):
    """Effect of a term on the newest live stories: those it would change, each with (what, old, new), and how many it does not."""

    changes: list[tuple[Story, list[tuple[str, str, str]]]]
    looked_at: int
    found: int  # stories that have the term, but for those whose class an editor or a feed sets
    too_light: int  # of these, those that other terms decide against it


def preview_changes(term: LexiconTerm) -> TermPreview:
    """Return what would change if `term` were saved, without what editors set."""
    both, alone = (load_lexicon(), load_lexicon(with_term=term)), Lexicon([Term(term.target, term.term, 1.0)], [], [])
    what_kind = {Kind.CATEGORY: "category", Kind.RELEVANCE: "about AI"}.get(Kind(term.kind), "topics")
    category = Category(term.target).label if term.kind == Kind.CATEGORY else ""
    target = category or ("yes" if term.kind == Kind.RELEVANCE else term.target)
    stories = list(Story.objects.live().select_related("current", "publication", "feed").newest_first()[:LOOKED_AT])
    changes, found, too_light = [], 0, 0
    for story in stories:
        assert story.current is not None, "live stories are published"  # noqa: S101
        text = story.current.headline, story.current.summary_medium
        values: dict[str, list[str]] = {}
        if not story.editor_category:
            values["category"] = [str(terms.category(*text).label) for terms in both]
        if story.editor_topics is None:
            values["topics"] = [", ".join(map(str, terms.topics(*text, story.publication.name))) or "none" for terms in both]
        if not (story.feed and story.feed.ai_only):  # everything of such a feed is let in
            values["about AI"] = ["yes" if terms.is_about_ai(*text) else "no" for terms in both]
        if differing := [(what, old, new) for what, (old, new) in values.items() if old != new]:
            changes.append((story, differing))
        is_found = story.publication.name == term.term if term.kind == Kind.MAKER else bool(alone.category_weights(*text))
        if is_found and what_kind in values:
            found += 1
            too_light += (target in values[what_kind][1].split(", ")) != (term.weight > 0)
    return TermPreview(changes, len(stories), found, too_light)
