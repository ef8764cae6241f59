"""Describes corpora: all of them, statistics of one, and the manifest with its rules for agents."""

from typing import Any

from django.conf import settings

from wire.corpora.timeline import answer_phrases
from wire.corpora.timeline.models import Corpus, Motif, Thread
from wire.corpora.timeline.queries.scope import scope_of
from wire.corpora.timeline.schemas import CorporaOut, CorpusOut, ManifestOut, NeedsSourceOut, StatsOut
from wire.corpora.timeline.vocabulary import GRADES

# Names of the files of a dump, as /api/timeline/{corpus}/files/{name}.json gives them.
FILES = ("corpus", "sources", "motifs", "events", "reports", "mandela-items", "story-threads", "release")


def list_corpora() -> CorporaOut:
    slugs = Corpus.objects.exclude(release=0).order_by("slug").values_list("slug", flat=True)
    return CorporaOut(corpora=[get_corpus(slug) for slug in slugs])


def get_corpus(slug: str, as_of: int | None = None) -> CorpusOut:
    scope = scope_of(slug, as_of)
    said: Any = scope.settings
    return CorpusOut(
        slug=scope.corpus.slug,
        name=said.name,
        about=said.about,
        licence=said.licence,
        attribution=said.attribution,
        release=scope.number,
        released_at=scope.release.timestamp,
        sha256=scope.release.sha256,
        reports=scope.counts["totals"]["reports"],
        page=f"{settings.WIRE_SITE_URL}/timeline/{scope.corpus.slug}/",
        mcp=mcp_address(scope.corpus.slug),
    )


def stats(slug: str, as_of: int | None = None) -> StatsOut:
    scope = scope_of(slug, as_of)
    counts = scope.counts
    frequency = counts.pop("motif_counts")
    counts.pop("motif_pairs")
    rows = [row.row for row in scope.rows(Motif).in_order()]
    counted = sorted(((row["id"], frequency.get(row["id"], 0)) for row in rows), key=lambda one: -one[1])
    return StatsOut(
        **scope.answered,
        corpus_version=scope.settings.version,
        released_at=scope.release.timestamp,
        motif_frequency=dict(counted),
        motif_frequency_curated={row["id"]: row["freq"] for row in rows if row.get("freq") is not None},
        needs_source=NeedsSourceOut(**counts.pop("needs_source")),
        **counts,
    )


def agent_manifest(slug: str, as_of: int | None = None) -> ManifestOut:
    """Return the corpus's own rules, and where it is. Raises: NotFound."""
    scope = scope_of(slug, as_of)
    said, mcp = scope.settings, mcp_address(slug)
    motif, thread = scope.rows(Motif).in_order().first(), scope.rows(Thread).in_order().first()
    calls = ["timeline_stats {}", "timeline_motif_map {}"]
    if motif is not None:
        calls.append(f'timeline_search_reports {{ "query": "{motif.key.replace("-", " ")}" }}')
    if thread is not None:
        calls.append(f'timeline_compare_sources {{ "topic": "{thread.row["title"]}" }}')
    others = Corpus.objects.exclude(release=0).exclude(slug=slug).values_list("slug", flat=True)
    return ManifestOut(
        **scope.answered,
        name=said.name,
        version=said.version,
        what_this_is=said.about,
        what_it_never_claims=said.never_claims,
        language_rules=said.language_rules(),
        evidence_grades=dict(GRADES),
        layer_rules={layer.id: layer.rule for layer in said.vocabularies.layers},
        recommended_first_calls=calls,
        install={"url": mcp, "mcp_config": {"mcpServers": {f"timeline-{slug}": {"type": "http", "url": mcp}}}},
        raw_endpoints=[f"{settings.WIRE_SITE_URL}/api/timeline/{slug}/files/{name}.json" for name in FILES],
        citation_policy=answer_phrases.CITATION,
        contribute=said.contribute,
        licence=said.licence,
        attribution=said.attribution,
        release_sha256=scope.release.sha256,
        corpora=list(others),
    )


def mcp_address(slug: str) -> str:
    return f"{settings.WIRE_MCP_URL}/timeline/{slug}"
