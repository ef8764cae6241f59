"""Describes corpora: all of them, statistics of one, and the manifest with its rules for agents."""

from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.db.models import F

from wire.corpora.timeline.corpus_config import CorpusFile, parse_corpus
from wire.corpora.timeline.models import Corpus, CorpusRelease, Motif, Thread
from wire.corpora.timeline.queries.scope import get_scope
from wire.corpora.timeline.row_schemas import GRADES
from wire.corpora.timeline.schemas import CorporaOut, CorpusOut, ManifestOut, StatsOut

# Names of the files of a dump, as /api/timeline/{corpus}/files/{name}.json gives them.
FILES = ("corpus", "sources", "motifs", "events", "reports", "mandela-items", "story-threads", "release")
LISTED: Final = f"All corpora are listed at {settings.WIRE_SITE_URL}/api/timeline/corpora.json."


def list_members() -> Mapping[str, CorpusFile]:
    """Return every corpus by its slug, as its newest release describes it."""
    newest = CorpusRelease.objects.filter(number=F("corpus__release")).select_related("corpus").order_by("corpus__slug")
    return {release.corpus.slug: parse_corpus(release.written) for release in newest}


def list_corpora() -> CorporaOut:
    slugs = Corpus.objects.exclude(release=0).order_by("slug").values_list("slug", flat=True)
    return CorporaOut(corpora=[get_corpus(slug) for slug in slugs])


def get_corpus(slug: str) -> CorpusOut:
    scope = get_scope(slug)
    return CorpusOut(
        slug=slug,
        **scope.settings.model_dump(include={"name", "about", "licence", "attribution"}),
        release=scope.number,
        released_at=scope.release.timestamp,
        sha256=scope.release.sha256,
        reports=scope.counts["totals"]["reports"],
        page=f"{settings.WIRE_SITE_URL}/timeline/{slug}/",
        mcp=f"{settings.WIRE_MCP_URL}/timeline/{slug}",
    )


def stats(slug: str, as_of: int | None = None) -> StatsOut:
    scope = get_scope(slug, as_of)
    counts = scope.counts
    frequency = counts.pop("motif_counts")
    counts.pop("motif_pairs")
    rows = [row.row for row in scope.rows(Motif).in_order()]
    ids = sorted((row["id"] for row in rows), key=lambda motif: -frequency.get(motif, 0))
    return StatsOut(
        **scope.answered,
        corpus_version=scope.settings.version,
        released_at=scope.release.timestamp,
        motif_frequency={motif: frequency.get(motif, 0) for motif in ids},
        motif_frequency_curated={row["id"]: row["freq"] for row in rows if row.get("freq") is not None},
        **counts,
    )


def agent_manifest(slug: str, as_of: int | None = None) -> ManifestOut:
    """Return the corpus's own rules, and where it is. Raises: NotFound."""
    scope = get_scope(slug, as_of)
    said, mcp = scope.settings, f"{settings.WIRE_MCP_URL}/timeline/{slug}"
    calls = ["timeline_stats {}", "timeline_motif_map {}"]
    if motif := scope.rows(Motif).in_order().first():
        calls.append(f'timeline_search_reports {{ "query": "{motif.key.replace("-", " ")}" }}')
    if thread := scope.rows(Thread).in_order().first():
        calls.append(f'timeline_compare_sources {{ "topic": "{thread.row["title"]}" }}')
    return ManifestOut(
        **scope.answered,
        **said.model_dump(include={"name", "version", "contribute", "licence", "attribution"}),
        what_this_is=said.about,
        what_it_never_claims=said.never_claims,
        language_rules=scope.language_rules,
        evidence_grades=dict(GRADES),
        layer_rules={layer.id: layer.rule for layer in said.vocabularies.layers},
        recommended_first_calls=calls,
        install={"url": mcp, "mcp_config": {"mcpServers": {f"timeline-{slug}": {"type": "http", "url": mcp}}}},
        raw_endpoints=[f"{settings.WIRE_SITE_URL}/api/timeline/{slug}/files/{name}.json" for name in FILES],
        citation_policy=said.phrases.citation,
        release_sha256=scope.release.sha256,
        corpora=list(Corpus.objects.exclude(release=0).exclude(slug=slug).values_list("slug", flat=True)),
    )
