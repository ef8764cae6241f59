"""Fact-checks as Markdown, to the letter as servers of this kind write it. Pure."""

from typing import Final

from wire.corpora.factchecks.schemas import ClaimCategoriesOut, ClaimOut, FoundClaimOut, FoundClaimsOut
from wire.text.untrusted_text import fold_line, quote_structure, quote_text

EXCERPT: Final = 500  # characters of a fact that are quoted


def cut_excerpt(content: str) -> str:
    """The first 500 UTF-16 units, which is how the form counts, and "..." if it is longer."""
    units = content.encode("utf-16-le")
    return content if len(units) <= 2 * EXCERPT else units[: 2 * EXCERPT].decode("utf-16-le", "ignore") + "..."


def render_results(found: FoundClaimsOut) -> str:
    query = fold_line(found.query)
    if not found.claims:
        return f'No fact-checks found for query: "{query}"'
    head = f'## Fact-check results for: "{query}"\n\nFound: {found.total} fact-checks'
    blocks = []
    for place, claim in enumerate(found.claims, 1):
        lines = [f"**{place}. {_get_title(claim)}**", f"- Rating: {fold_line(claim.rating_label or 'unknown')}"]
        lines += [f"- {fold_line(claim.summary)}"] if claim.summary else []
        lines += [f"- Source: {fold_line(claim.url)}"] if claim.url else []
        lines += [f"- Categories: {', '.join(map(fold_line, claim.categories))}"] if claim.categories else []
        block = "\n".join(lines)
        # The form quotes only the first line of an excerpt.
        excerpt = claim.excerpt and quote_structure(claim.excerpt.text, labelled=False)
        blocks.append(f"{block}\n\n*Relevant excerpt:*\n> {excerpt}" if excerpt else block)
    return f"{head}\n\n" + "\n\n---\n\n".join(blocks)


def render_claim(found: ClaimOut) -> str:
    why = f" by {fold_line(found.superseded_by)}" if found.superseded_by else ""
    if found.withdrawn_at is not None:
        why = f" on {found.withdrawn_at:%Y-%m-%d}. {fold_line(found.withdrawn_reason or '')}".rstrip()
    head = [
        f"## Fact-check: {_get_title(found)}",
        f"**ID:** {fold_line(found.short_id or found.id)}",
        f"**Rating:** {fold_line(found.rating_label or 'unknown')}",
        f"**Status:** {fold_line(found.status)}{why}",
    ]
    parts = ["\n".join(head)]
    parts += [f"**Summary:**\n{quote_text(found.summary)}"] if found.summary else []
    parts += [f"**Assessment:**\n{quote_text(found.statement)}"] if found.statement else []
    tail = [f"**Source:** {fold_line(found.url)}"] if found.url else []
    tail += [f"**Categories:** {', '.join(map(fold_line, found.categories))}"] if found.categories else []
    return "\n\n".join([*parts, "\n".join(tail)] if tail else parts)


def render_categories(found: ClaimCategoriesOut) -> str:
    if not found.categories:
        return "No categories found"
    lines = (f"- {fold_line(one.category)}: {one.count} fact-checks" for one in found.categories)
    return "\n".join(["## Available categories", "", *lines])


def _get_title(claim: FoundClaimOut | ClaimOut) -> str:
    return fold_line(claim.synopsis or claim.short_id or claim.id)
