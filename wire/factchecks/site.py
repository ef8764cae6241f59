"""Pages of fact-checks, for people and for search engines that read ClaimReview."""

from typing import Any, Final
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.errors import InvalidArgument, NotFound
from config.http.responses import BRIEFLY
from wire.factchecks import keys, queries
from wire.factchecks.languages import CODES
from wire.factchecks.models import Claim
from wire.factchecks.ratings import Rating
from wire.factchecks.schemas import ClaimOut
from wire.factchecks.showing import permalink
from wire.site import metadata
from wire.site.machine import xml
from wire.site.pages import page, public

PER_PAGE: Final = 20
MAX_QUERY: Final = 2_000
MOST_IN_SITEMAP: Final = 50_000
_VALUES: Final = {
    Rating.FALSE: 1,
    Rating.MOSTLY_FALSE: 2,
    Rating.MISLEADING: 2,
    Rating.MIXED: 3,
    Rating.MOSTLY_TRUE: 4,
    Rating.TRUE: 5,
}


def _are_open() -> bool:
    """Whether pages are shown: where it takes a key to ask, it takes one to read, and pages know nobody."""
    return not keys.in_force("api")


@require_safe
def factchecks(request: HttpRequest) -> HttpResponse:
    """A form, and what was found, or the newest."""
    if not _are_open():
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
        context |= _listed(given, cursor)
    except InvalidArgument as error:
        return page(request, "factchecks/factchecks.html", context | {"refused": error}, "no-store", status=422)
    return page(request, "factchecks/factchecks.html", context, "no-store" if context.get("degraded") else BRIEFLY)


@require_safe
def factcheck(request: HttpRequest, claim_id: str) -> HttpResponse:
    """One fact-check, with its facts, its citations and the stories that are about the claim."""
    if not _are_open():
        return page(request, "factchecks/closed.html", {}, "no-store", status=403)
    try:
        found = queries.get_claim(claim_id)
    except NotFound as error:
        raise Http404 from error
    return page(
        request,
        "factchecks/factcheck.html",
        {"claim": found, "graph": metadata.graph([review] if (review := claim_review(found)) else [])},
    )


@public
def sitemap(request: HttpRequest) -> HttpResponse:
    """The page of fact-checks, and those of the newest."""
    rows = (
        Claim.objects.live().newest_first().only("external_id", "short_id", "changed_at")[:MOST_IN_SITEMAP] if _are_open() else []
    )
    home = permalink(Claim(external_id="-")).removesuffix("/factcheck/-")
    pages = [("/factchecks", None), *((permalink(one).removeprefix(home), one.changed_at) for one in rows)]
    return xml(request, "sitemap.xml", {"pages": pages if _are_open() else []})


def claim_review(claim: ClaimOut) -> dict[str, Any]:
    """schema.org's ClaimReview, as search engines read it; nothing for a withdrawn one."""
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
    found = {
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
    return {name: value for name, value in found.items() if value is not None}


def _listed(given: dict[str, str], cursor: str | None) -> dict[str, Any]:
    """A page of hits, or of the newest. Raises: InvalidArgument."""
    query, category, label = given["query"], given["category"] or None, given["rating_label"] or None
    if len(query) > MAX_QUERY:
        raise InvalidArgument(f"The query is longer than {MAX_QUERY:,} characters.", "Ask in fewer words.")
    params = {name: value for name, value in given.items() if value}
    if query:
        code = given["language"] if given["language"] in CODES else None
        found = queries.search(query, PER_PAGE, [category] if category else None, label, code, cursor=cursor)
        more = {"degraded": found.degraded, "language_found": found.language}
    else:
        found, more = queries.list_claims(PER_PAGE, label, category, cursor=cursor), {}  # type: ignore[assignment]
    following = f"?{urlencode(params | {'cursor': found.next_cursor})}" if found.next_cursor else None
    return {"claims": found.claims, "total": found.total, "next": following, **more}
