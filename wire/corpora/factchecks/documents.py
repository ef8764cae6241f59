"""Fact-checks in the search over all systems."""

from citations.format.corpus_citations import build_factcheck_title
from config.errors import Forbidden, Withdrawn
from config.plugins import DocumentKind
from wire.corpora.factchecks import api_keys, queries, rendering
from wire.corpora.factchecks.schemas import ClaimOut, FoundClaimOut
from wire.schemas.documents import DocumentHit, DocumentOut, DocumentsOut, build_document
from wire.text.provenance_manifest import to_rfc3339
from wire.text.untrusted_text import fold_line

NAME = "factcheck"


def search_documents(query: str, limit: int) -> DocumentsOut:
    """Raises: InvalidArgument for a query without a word; Forbidden where fact-checks take a key."""
    _expect_open()
    found = queries.search_claims(query, limit)
    return DocumentsOut(
        results=[_to_hit(claim, claim.citation) for claim in found.claims], degraded=[NAME] if found.degraded else []
    )


def fetch_document(claim_id: str) -> DocumentOut:
    """Raises: NotFound; Withdrawn; Forbidden where fact-checks take a key."""
    _expect_open()
    claim = queries.get_claim(claim_id)
    if claim.withdrawn_at is not None:
        raise Withdrawn(f"{NAME}:{claim_id} was withdrawn and must not be cited.", "search finds others.")
    hit = _to_hit(claim, claim.citations["layered"])
    return build_document(
        hit, rendering.render_claim(claim), rating_label=claim.rating_label, original_url=claim.url, status=claim.status
    )


def _expect_open() -> None:
    """Raises: Forbidden. One rule for every surface, as for the fact-checks beside a story: only REST's own addresses take keys."""
    if api_keys.read_key_rule("api").is_required:
        raise Forbidden(
            "Fact-checks of this installation need a key.", "Ask /api/factchecks/search.json or /mcp/factchecks with one."
        )


def _to_hit(claim: FoundClaimOut | ClaimOut, citation: str) -> DocumentHit:
    own_id = claim.short_id or claim.id
    return DocumentHit(
        kind=NAME,
        id=f"{NAME}:{own_id}",
        title=fold_line(build_factcheck_title(claim.synopsis or own_id, claim.rating_label)),  # never a false claim as a fact
        url=claim.permalink,
        source=claim.publisher,
        published_at=to_rfc3339(claim.published_at) if claim.published_at else None,
        citation=citation,
        untrusted_instructions=claim.untrusted_instructions,
    )


KIND = DocumentKind(name=NAME, title="Fact-checks", id_form="2025/11/20-2", search=search_documents, fetch=fetch_document)
