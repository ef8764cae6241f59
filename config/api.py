"""The REST door: one NinjaAPI, one handler for every kind of error."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from ninja import NinjaAPI
from ninja.errors import ValidationError
from ninja.openapi.docs import DocsBase
from ninja.operation import Operation

from config.database.routing import build_nul_error
from config.errors import InvalidArgument, NotFound, UnknownParameter, WireError
from config.http.responses import error_response
from config.plugins import list_plugins
from config.server_info import TITLE, VERSION
from wire.api.figures import router as figures_router
from wire.api.proofs import router as trust_router
from wire.api.rest import router as wire_router
from wire.text.untrusted_text import describe_unknown


class Docs(DocsBase):
    """The OpenAPI description as a page of the site, readable without a script."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **_kwargs: Any) -> HttpResponse:
        schema = api.get_openapi_schema()
        operations = [(path, methods["get"]) for path, methods in sorted(schema["paths"].items())]
        groups: dict[str, list[tuple[str, Any]]] = {}
        for path, operation in operations:
            groups.setdefault(operation["tags"][0], []).append((path, operation))
            parameters = operation.get("parameters", [])
            needs = any(parameter.get("required") for parameter in parameters) or 404 in operation["responses"]
            operation["example"] = None if needs else path
            for parameter in parameters:
                parameter["accepts"] = _describe_parameter(parameter["schema"], schema["components"]["schemas"])
        return render(
            request, "api_docs.html", {"schema": schema, "groups": sorted(groups.items(), key=lambda group: -len(group[1]))}
        )


def _describe_parameter(schema: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    """Describe what a parameter takes: "integer, 1 to 50, default 10"; of an enumeration its values."""
    parts = [*schema.get("anyOf", ()), *schema.get("allOf", ())]
    whole = {**next((part for part in parts if part.get("type") != "null"), {}), **schema}
    whole = {**named.get(str(whole.get("$ref", "")).rpartition("/")[2], {}), **whole}
    phrases = [" · ".join(whole["enum"]) if "enum" in whole else str(whole.get("format", whole["type"]))]
    if "minimum" in whole:
        phrases.append(f"{whole['minimum']} to {whole['maximum']}")
    if "maxLength" in whole:
        phrases.append(f"at most {whole['maxLength']} characters")
    if whole.get("default") is not None:
        phrases.append(f"default {whole['default']}")
    return ", ".join(phrases)


class WireAPI(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Generated clients depend on this id, so it does not follow the names of modules."""
        package = operation.view_func.__module__.partition(".")[0]
        return f"{'sources' if package == 'mcpserver' else package}_api_{operation.view_func.__name__}"


api = WireAPI(
    docs=Docs(),
    title=TITLE,
    version=VERSION,
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
api.add_router("", figures_router, tags=["wire"])
api.add_router("", trust_router, tags=["proofs"])
for _plugin in list_plugins():
    if _plugin.router is not None:
        api.add_router(f"/{_plugin.label}", _plugin.router, tags=[_plugin.tag])


@api.exception_handler(WireError)
def handle_wire_error(_request: HttpRequest, error: WireError) -> HttpResponse:
    return error_response(error)


@api.exception_handler(ValidationError)
def handle_invalid_argument(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    problems = [f"{row['loc'][-1]}: {row['msg'].removeprefix('Value error, ')}" for row in error.errors]
    return error_response(InvalidArgument("; ".join(problems) + ".", "The accepted values are described in /api/openapi.json."))


@api.exception_handler(DataError)
def handle_nul_text(_request: HttpRequest, error: DataError) -> HttpResponse:
    """Return a text with NUL, of which PostgreSQL can be asked nothing. Raises: the error, if it is another."""
    return error_response(build_nul_error(error))


@api.exception_handler(Http404)
def handle_not_found(_request: HttpRequest, _error: Http404) -> HttpResponse:
    return error_response(NotFound("There is no such address.", "All addresses are described in /api/openapi.json."))


def get_path_parameters(path: str) -> frozenset[str]:
    """Return the names of the parameters that a REST address takes; none for an address that there is not."""
    fixed, patterns = _compile_path_patterns()
    if path in fixed:
        return fixed[path]
    return next((names for pattern, names in patterns if pattern.fullmatch(path)), frozenset())


@lru_cache(maxsize=1)
def _compile_path_patterns() -> tuple[dict[str, frozenset[str]], list[tuple[re.Pattern[str], frozenset[str]]]]:
    found = {
        path: frozenset(one["name"] for one in methods["get"].get("parameters", ()) if one["in"] == "query")
        for path, methods in api.get_openapi_schema()["paths"].items()
    }
    patterns = [
        # A parameter called any_… may hold slashes, as short ids of fact-checks do.
        (re.compile(re.sub(r"\\{[^}]+\\}", "[^/]+", re.sub(r"\\{any_[^}]+\\}", ".+", re.escape(path)))), names)
        for path, names in found.items()
        if "{" in path
    ]
    return {path: names for path, names in found.items() if "{" not in path}, patterns


class OnlyKnownParameters(MiddlewareMixin):
    """Middleware that refuses query parameters which an address of REST does not take; what is no address is not found."""

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        if not request.path.startswith("/api/"):
            return None
        known = get_path_parameters(request.path)
        strange = [name for name in request.GET if name not in known]
        if strange:
            takes = f"This address takes {', '.join(sorted(known))}." if known else "This address takes none."
            return error_response(UnknownParameter(describe_unknown(strange, "parameter"), takes))
        return None
