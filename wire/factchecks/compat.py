"""checkbot-rag's own REST, /api/v1, for programs that were written for it: behind FACTCHECKS_COMPAT.

Its shapes are kept: camelCase in searches, snake_case in claims, `{"error": …}` for errors. Two things differ, as everywhere
here: only
what is published is answered, and a search without a language detects it. Files are loaded by command or at the desk, never by a
server's path, which would let anybody probe files; so POST /import is refused, and its jobs are read only.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from config.errors import WireError
from config.http.responses import json_answer
from config.tokens import bearer_in
from wire.factchecks import keys, queries, showing
from wire.factchecks.languages import CODES
from wire.factchecks.models import Claim, LoadJob
from wire.factchecks.schemas import FoundClaimOut

MOST: Final = 50
PER_PAGE: Final = 20
PRIVATE: Final = "private, no-store"


class Bad(Exception):
    """What a request says that cannot be used."""


def view(*methods: str) -> Callable[[Callable[..., Any]], Callable[..., HttpResponse]]:
    def decorate(run: Callable[..., Any]) -> Callable[..., HttpResponse]:
        @csrf_exempt
        @wraps(run)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not settings.FACTCHECKS_COMPAT:
                return _error("Not found", 404)
            if request.method not in methods:
                return _error("Method not allowed", 405)
            try:
                keys.expect(bearer_in(request.headers.get("authorization")), keys.in_force("api"))
                return json_answer(run(request, *args, **kwargs), PRIVATE)
            except Bad as error:
                return _error("Invalid request", 400, str(error))
            except WireError as error:
                return _error(error.message, int(error.status), error.hint)

        return wrapped

    return decorate


def _error(message: str, status: int, details: str = "") -> HttpResponse:
    response = json_answer({"error": message, **({"details": details} if details else {})}, PRIVATE)
    response.status_code = status
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


@view("POST")
def search(request: HttpRequest) -> Any:
    try:
        asked = orjson.loads(request.body)
    except ValueError:
        raise Bad("The body is no JSON.") from None
    if not isinstance(asked, dict) or not isinstance(asked.get("query"), str) or not asked["query"].strip():
        raise Bad("query is required.")
    language = asked.get("language") or None
    if language not in (None, "auto", *CODES):
        raise Bad(f"language is one of {', '.join(CODES)}.")
    categories = asked.get("categories")
    if categories is not None and not (isinstance(categories, list) and all(isinstance(one, str) for one in categories)):
        raise Bad("categories is a list of texts.")
    halves: list[queries.Half] = [
        *(["words"] if asked.get("enableFts", True) else []),  # type: ignore[list-item]
        *(["meaning"] if asked.get("enableVec", True) else []),  # type: ignore[list-item]
    ]
    found = queries.search(
        asked["query"][:2_000],
        _whole(asked.get("limit", 10), 1, MOST, "limit"),
        categories,
        asked.get("ratingLabel") or None,
        None if language == "auto" else language,
        asked.get("status") or None,
        halves=halves,
    )
    kind = asked.get("chunkType", "all")
    if kind not in ("all", "overview", "fact_detail"):
        raise Bad("chunkType is all, overview or fact_detail.")
    stored = {one.external_id: one for one in Claim.objects.filter(external_id__in=[hit.id for hit in found.claims])}
    claims = [_hit(hit, stored[hit.id], kind) for hit in found.claims if hit.id in stored]
    return {"query": found.query, "totalResults": found.total, "claims": claims}


def _hit(hit: FoundClaimOut, claim: Claim, kind: str) -> dict[str, Any]:
    return {
        "externalId": hit.id,
        "shortId": hit.short_id,
        "synopsis": hit.synopsis,
        "ratingLabel": hit.rating_label,
        "ratingSummary": hit.summary,
        "ratingStatement": claim.rating_statement or None,
        "categories": hit.categories,
        "publishingUrl": hit.url,
        "publishingDate": hit.published_at,
        "status": hit.status,
        "internal": claim.internal,
        "language": hit.language,
        "bestScore": hit.words,
        "chunks": [one for one in _chunks(claim, hit) if kind == "all" or one["chunkType"].endswith(kind)],
    }


def _chunks(claim: Claim, hit: FoundClaimOut | None = None) -> list[dict[str, Any]]:
    found = []
    for place, chunk in enumerate(claim.chunks()):
        told: dict[str, Any] = {
            "chunkId": f"{claim.external_id}:{place}",
            "claimId": claim.external_id,
            "externalId": claim.external_id,
            "shortId": claim.short_id or None,
            "chunkType": chunk.kind,
            "factIndex": chunk.fact_index,
            "content": chunk.content,
            "metadata": {"status": claim.status, "ratingLabel": claim.rating_label or None},
        }
        if hit is not None:
            told |= {"rrfScore": hit.words, "vecScore": hit.similarity, "ftsScore": hit.words}
        found.append(told)
    return found


@view("GET")
def claims(request: HttpRequest) -> Any:
    page, limit = (
        _whole(request.GET.get(name, default), 1, most, name)
        for name, default, most in (("page", 1, 10**6), ("limit", PER_PAGE, 100))
    )
    rows = queries.listed(request.GET.get("ratingLabel"), request.GET.get("category"), request.GET.get("status"))
    total = rows.count()
    found = [_claim(one) for one in rows.newest_first()[(page - 1) * limit : page * limit]]
    return {"data": found, "total": total, "page": page, "limit": limit, "pages": -(-total // limit)}


@view("GET")
def claim(_request: HttpRequest, claim_id: str) -> Any:
    found = queries.claim_of(claim_id)
    chunks = [
        {"id": one["chunkId"], "chunk_type": one["chunkType"], "fact_index": one["factIndex"], "content": one["content"]}
        for one in _chunks(found)
    ]
    return {**_claim(found), "chunks": chunks}


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "id": claim.external_id,
        "external_id": claim.external_id,
        "short_id": claim.short_id or None,
        "synopsis": claim.synopsis or None,
        "rating_label": claim.rating_label or None,
        "rating_summary": claim.rating_summary or None,
        "rating_statement": claim.rating_statement or None,
        "categories": [one["name"] for one in claim.categories],
        "publishing_url": claim.publishing_url or None,
        "publishing_date": claim.published_at,
        "status": showing.status(claim),
        "internal": claim.internal,
        "language": claim.language or None,
    }


@view("GET")
def categories(_request: HttpRequest) -> Any:
    return [{"category": one.category, "count": one.count} for one in queries.list_categories().categories]


@view("GET")
def rating_labels(_request: HttpRequest) -> Any:
    return [{"rating_label": one.rating_label, "count": one.count} for one in queries.list_rating_labels().rating_labels]


@view("GET")
def stats(_request: HttpRequest) -> Any:
    return queries.stats().model_dump(mode="json")


@view("GET", "POST")
def imports(_request: HttpRequest) -> Any:
    raise Bad("Load files with manage.py loadfactchecks or at the desk; a path of the server is never read for a request.")


@view("GET")
def jobs(_request: HttpRequest) -> Any:
    return [_job(one) for one in LoadJob.objects.all()[:20]]


@view("GET")
def job(_request: HttpRequest, job_id: int) -> Any:
    found = LoadJob.objects.filter(pk=job_id).first()
    if found is None:
        raise Bad("There is no such job.")
    return _job(found)


def _job(one: LoadJob) -> dict[str, Any]:
    names = ("status", "total", "processed", "skipped", "errors", "created_at", "finished_at")
    return {"id": one.pk, **{name: getattr(one, name) for name in names}}


@view("GET")
def health(_request: HttpRequest) -> Any:
    Claim.objects.exists()  # or the answer is 503
    return {"status": "ok", "db": "ok"}


def _whole(value: Any, least: int, most: int, name: str) -> int:
    try:
        number = int(value) if not isinstance(value, bool) and float(value).is_integer() else least - 1
    except (TypeError, ValueError, OverflowError):
        number = least - 1
    if not least <= number <= most:
        raise Bad(f"{name} is a whole number from {least} to {most}.")
    return number


urlpatterns = [
    path("search", search),
    path("claims", claims),
    path("claims/<path:claim_id>", claim),
    path("categories", categories),
    path("rating-labels", rating_labels),
    path("stats", stats),
    path("import", imports),
    path("import/jobs", jobs),
    path("import/jobs/<int:job_id>", job),
    path("health", health),
]
