"""Pages of fact-checks, for people and for search engines that read ClaimReview; and the card of their MCP server."""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.errors import InvalidArgument, NotFound
from config.http.responses import BRIEFLY
from wire.corpora.common.server_card import describe_server, render_card
from wire.corpora.factchecks import api_keys, queries
from wire.corpora.factchecks.languages import CODES
from wire.corpora.factchecks.models import Claim
from wire.corpora.factchecks.ratings import Rating
from wire.corpora.factchecks.schemas import ClaimOut
from wire.corpora.factchecks.serializers import build_permalink
from wire.site import metadata
from wire.site.pages import page, public_page
from wire.site.well_known import render_xml

PER_PAGE: Final = 20
MAX_QUERY: Final = 2_000
MOST_IN_SITEMAP: Final = 50_000
_VALUES: Final = dict(zip(("false", "mostly_false", "misleading", "mixed", "mostly_true", "true"), (1, 2, 2, 3, 4, 5), strict=True))


def _are_pages_closed() -> bool:
    """Return whether pages are closed: they show what REST answers, and a browser sends no key."""
    return api_keys.read_key_rule("api").is_required


@require_safe
def factchecks(request: HttpRequest) -> HttpResponse:
    if _are_pages_closed():
        return page(request, "factchecks/closed.html", {}, "no-store", status=403)
    given = {name: request.GET.get(name, "").strip() for name in ("query", "category", "rating_label", "language")}
    cursor = request.GET.get("cursor") or None
    context: dict[str, Any] = {
        **given,
        "is_first": cursor is None,
        "codes": CODES,
        "ratings": [one for one in Rating if one != Rating.UNKNOWN],
        "categories": queries.list_categories().categories[:200],
    }
    try:
        context |= _list_page(given, cursor)
    except InvalidArgument as error:
        return page(request, "factchecks/factchecks.html", context | {"refused": error}, "no-store", status=422)
    return page(request, "factchecks/factchecks.html", context, "no-store" if context.get("degraded") else BRIEFLY)


def _list_page(given: dict[str, str], cursor: str | None) -> dict[str, Any]:
    query, category, label = given["query"], given["category"] or None, given["rating_label"] or None
    if len(query) > MAX_QUERY:
        raise InvalidArgument(f"The query is longer than {MAX_QUERY:,} characters.", "Use fewer words.")
    params = {name: value for name, value in given.items() if value}
    if query:
        code = given["language"] if given["language"] in CODES else None
        found = queries.search_claims(query, PER_PAGE, [category] if category else None, label, code, cursor=cursor)
        more = {"degraded": found.degraded, "language_found": found.language}
    else:
        found, more = queries.list_claims(PER_PAGE, label, category, cursor=cursor), {}  # type: ignore[assignment]
    following = f"?{urlencode(params | {'cursor': found.next_cursor})}" if found.next_cursor else None
    return {"claims": found.claims, "total": found.total, "next": following, **more}


@require_safe
def factcheck(request: HttpRequest, claim_id: str) -> HttpResponse:
    if _are_pages_closed():
        return page(request, "factchecks/closed.html", {}, "no-store", status=403)
    try:
        found = queries.get_claim(claim_id)
    except NotFound as error:
        raise Http404 from error
    context = {
        "claim": found,
        "history": queries.list_revisions(found.id) if found.revision > 1 else None,
        "graph": metadata.render_graph([review] if (review := claim_review(found)) else []),
    }
    return page(request, "factchecks/factcheck.html", context)


@public_page
def sitemap(request: HttpRequest) -> HttpResponse:
    if _are_pages_closed():
        return render_xml(request, "sitemap.xml", {"pages": []})
    newest = Claim.objects.live().newest_first().only("external_id", "short_id", "changed_at")[:MOST_IN_SITEMAP]
    pages = [(build_permalink(claim).removeprefix(settings.WIRE_SITE_URL), claim.changed_at) for claim in newest]
    return render_xml(request, "sitemap.xml", {"pages": [("/factchecks", None), *pages]})


def claim_review(claim: ClaimOut) -> dict[str, Any]:
    """Return schema.org's ClaimReview, as search engines read it; empty for a withdrawn claim."""
    if claim.withdrawn_at is not None or not claim.synopsis:
        return {}
    rating: dict[str, Any] = {"@type": "Rating", "alternateName": claim.rating_label or "not rated"}
    if claim.rating in _VALUES:
        rating |= {"ratingValue": _VALUES[claim.rating], "worstRating": 1, "bestRating": 5}
    item: dict[str, Any] = {"@type": "Claim"}
    if claim.claimant:
        item["author"] = {"@type": "Person", "name": claim.claimant}
    if claim.origins:
        item["appearance"] = [{"@type": "CreativeWork", "url": url} for url in claim.origins]
    review = {
        "@type": "ClaimReview",
        "url": claim.url or claim.permalink,
        "claimReviewed": claim.synopsis,
        "itemReviewed": item,
        "reviewRating": rating,
        "author": {"@type": "Organization", "name": claim.publisher or "unknown"},
        "name": claim.summary,
        "datePublished": claim.published_at.date().isoformat() if claim.published_at else None,
        "inLanguage": claim.language,
        "mainEntityOfPage": claim.permalink,
    }
    return {name: value for name, value in review.items() if value is not None}


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    return render_card(_describe_server())


def list_cards() -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield how the card differs from the wire's, and what the list of servers says beside it."""
    yield _describe_server(), {"server_card": f"{settings.WIRE_SITE_URL}/mcp/factchecks/server-card"}


def _describe_server() -> dict[str, Any]:
    return describe_server(
        "factchecks",
        "Fact-checks",
        "Fact-checked claims, searchable by words and by meaning.",
        f"{settings.WIRE_SITE_URL}/factchecks",
        f"{settings.WIRE_MCP_URL}/factchecks",
        {"authentication": "bearer" if api_keys.read_key_rule("mcp").is_required else "none"},
    )


urlpatterns = [
    path("factchecks", factchecks, name="factchecks"),
    path("factcheck/<path:claim_id>", factcheck, name="factcheck"),
    path("sitemap-factchecks.xml", sitemap, name="sitemap-factchecks"),
    path("mcp/factchecks/server-card", server_card, name="factchecks-server-card"),
]
