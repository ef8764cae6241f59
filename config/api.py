"""The REST door: one NinjaAPI, one handler for every kind of error."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.errors import ValidationError
from ninja.openapi.docs import DocsBase

from config.answers import error_answer
from config.errors import InvalidArgument, NotFound, WireError
from sources.api import router as sources_router
from wire.api import router as wire_router


class Docs(DocsBase):
    """The OpenAPI description as a page of the site, readable without a script."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **_kwargs: Any) -> HttpResponse:
        schema = api.get_openapi_schema()
        operations = [(path, methods["get"]) for path, methods in sorted(schema["paths"].items())]
        for _, operation in operations:
            operation["required"] = any(parameter.get("required") for parameter in operation.get("parameters", ()))
        return render(request, "api_docs.html", {"schema": schema, "operations": operations})


api = NinjaAPI(
    docs=Docs(),
    title="ChatbotNews.ai wire",
    version="1.0.0",
    description=(
        "AI-industry news from exactly 24 publications, every story with ready-made citations. Public, read-only, no key. "
        "Cite in the layered format: According to {publisher}, as summarized by ChatbotNews.ai, … "
        "Editorial output is CC BY 4.0; articles stay under their publishers' copyright."
    ),
    openapi_url="/openapi.json",
    docs_url="/docs",
    servers=[{"url": settings.WIRE_SITE_URL}],
)
api.add_router("", wire_router, tags=["wire"])
api.add_router("", sources_router, tags=["roster"])


@api.exception_handler(WireError)
def wire_error(_request: HttpRequest, error: WireError) -> HttpResponse:
    return error_answer(error)


@api.exception_handler(ValidationError)
def invalid_argument(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Every argument that cannot be used, by name."""
    problems = [f"{row['loc'][-1]}: {row['msg'].removeprefix('Value error, ')}" for row in error.errors]
    return error_answer(InvalidArgument("; ".join(problems) + ".", "The accepted values are described in /api/openapi.json."))


@api.exception_handler(Http404)
def not_found(_request: HttpRequest, _error: Http404) -> HttpResponse:
    return error_answer(NotFound("There is no such address.", "All addresses are described in /api/openapi.json."))
