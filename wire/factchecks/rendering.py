"""Fact-checks as Markdown, to the letter as servers of this kind write it. Pure."""

import re
from typing import Final

from wire.factchecks.schemas import ClaimCategoriesOut, ClaimOut, FoundClaimsOut

EXCERPT: Final = 500  # characters of a fact that are quoted
_POSES: Final = re.compile(r"(?m)^(?=[ \t]*(?:[#>*+=`~|_-]|\d+[.)]))")


def excerpt_of(content: str) -> str:
    """The first 500 UTF-16 units, which is how the form counts, and "..." if it is longer."""
    units = content.encode("utf-16-le")
    return content if len(units) <= 2 * EXCERPT else units[: 2 * EXCERPT].decode("utf-16-le", "ignore") + "..."


def search(found: FoundClaimsOut) -> str:
    if not found.claims:
        return f'No fact-checks found for query: "{found.query}"'
    head = f'## Fact-check results for: "{found.query}"\n\nFound: {found.total} fact-checks'
    blocks = []
    for place, claim in enumerate(found.claims, 1):
        lines = [
            f"**{place}. {_line(claim.synopsis or claim.short_id or claim.id)}**",
            f"- Rating: {claim.rating_label or 'unknown'}",
        ]
        lines += [f"- {_line(claim.summary)}"] if claim.summary else []
        lines += [f"- Source: {claim.url}"] if claim.url else []
        lines += [f"- Categories: {', '.join(claim.categories)}"] if claim.categories else []
        block = "\n".join(lines)
        blocks.append(f"{block}\n\n*Relevant excerpt:*\n> {_quoted(claim.excerpt.text)}" if claim.excerpt else block)
    return f"{head}\n\n" + "\n\n---\n\n".join(blocks)


def claim(found: ClaimOut) -> str:
    title = _line(found.synopsis or found.short_id or found.id)
    head = [f"## Fact-check: {title}", f"**ID:** {found.short_id or found.id}", f"**Rating:** {found.rating_label or 'unknown'}"]
    head.append(f"**Status:** {found.status}{_why(found)}")
    parts = ["\n".join(head)]
    parts += [f"**Summary:**\n{found.summary}"] if found.summary else []
    parts += [f"**Assessment:**\n{found.statement}"] if found.statement else []
    tail = [f"**Source:** {found.url}"] if found.url else []
    tail += [f"**Categories:** {', '.join(found.categories)}"] if found.categories else []
    return "\n\n".join([*parts, "\n".join(tail)] if tail else parts)


def categories(found: ClaimCategoriesOut) -> str:
    if not found.categories:
        return "No categories found"
    return "\n".join(["## Available categories", "", *(f"- {one.category}: {one.count} fact-checks" for one in found.categories)])


def _why(found: ClaimOut) -> str:
    if found.withdrawn_at is not None:
        return f" on {found.withdrawn_at:%Y-%m-%d}. {found.withdrawn_reason or ''}".rstrip()
    return f" by {found.superseded_by}" if found.superseded_by else ""


def _line(text: str) -> str:
    """As it is, unless a further line of it could pose as another entry: then on one line."""
    return " ".join(text.split()) if _POSES.search(text.partition("\n")[2]) else text


def _quoted(text: str) -> str:
    """The form quotes only the first line. A further line that Markdown would take for structure is quoted as well."""
    first, line_break, others = text.partition("\n")
    return f"{first}{line_break}{_POSES.sub('> ', others)}"
