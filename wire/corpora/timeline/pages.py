"""Pages of timeline corpora, for people: archive, timeline, motifs, threads, catalogue, releases. None needs a script."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final
from urllib.parse import quote, urlencode

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.errors import WireError
from wire.corpora.timeline import chart_layout, queries, wire_sync
from wire.corpora.timeline.cache_rules import FILTERS
from wire.corpora.timeline.directory import roll
from wire.corpora.timeline.models import Report
from wire.corpora.timeline.queries.scope import scope_of
from wire.corpora.timeline.vocabulary import FRAMES, GRADES, OFFICIAL
from wire.site.pages import page, public
from wire.site.well_known import xml

PER_PAGE: Final = 20
EVENTS: Final = 60
MOST_IN_SITEMAP: Final = 50_000  # sitemaps.org
MOTIFS: Final = 60
STANCES: Final = ("belief", "neutral", "skeptical", "official", "mixed")


def of_corpus(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Make a view of a corpus answer errors with a page that says what to do."""

    @require_safe
    @wraps(view)
    def answer_with_errors(request: HttpRequest, slug: str, **parts: str) -> HttpResponse:
        try:
            return view(request, slug, **parts)
        except WireError as error:
            return page(request, "timeline/refused.html", {"error": error}, "no-store", status=error.status)

    return answer_with_errors


@public
def corpora(request: HttpRequest) -> HttpResponse:
    return page(request, "timeline/corpora.html", {"corpora": queries.list_corpora().corpora})


@of_corpus
def archive(request: HttpRequest, slug: str) -> HttpResponse:
    chosen, filters = _read_filters(request)
    found = queries.search_reports(slug, **filters, limit=PER_PAGE, cursor=chosen.get("cursor"))
    context = _about(slug) | {"found": found, "chosen": chosen, "next": _next(chosen, found.next_cursor)}
    return page(request, "timeline/archive.html", context)


@of_corpus
def report(request: HttpRequest, slug: str, report_id: str) -> HttpResponse:
    return page(request, "timeline/report.html", _about(slug) | {"report": queries.get_report(slug, report_id)})


@of_corpus
def timeline(request: HttpRequest, slug: str) -> HttpResponse:
    chosen, filters = _read_filters(request)
    layer = request.GET.get("layer") or None
    found = queries.events(slug, layer=layer, limit=EVENTS, cursor=chosen.get("cursor"), **filters)
    about = _about(slug)
    lane_of = about["words"].lanes()
    chosen |= {"layer": layer} if layer else {}
    context = about | {
        "found": found,
        "rows": [(event, lane_of.get(event.layer) == OFFICIAL) for event in found.events],
        "picture": chart_layout.lanes(found.events, lane_of),
        "chosen": chosen,
        "next": _next(chosen, found.next_cursor),
    }
    return page(request, "timeline/events.html", context)


@of_corpus
def motifs(request: HttpRequest, slug: str) -> HttpResponse:
    chosen = {"cursor": cursor} if (cursor := request.GET.get("cursor")) else {}
    found = queries.motif_map(slug, limit=MOTIFS, cursor=chosen.get("cursor"), query=request.GET.get("query") or None)
    context = _about(slug) | {
        "found": found,
        "picture": chart_layout.graph(found.nodes, found.edges),
        "names": {node.id: node.label for node in found.nodes},
        "next": _next(chosen, found.next_cursor),
    }
    return page(request, "timeline/motifs.html", context)


@of_corpus
def threads(request: HttpRequest, slug: str) -> HttpResponse:
    query, cursor = request.GET.get("query") or None, request.GET.get("cursor") or None
    found = queries.story_threads(slug, query=query, limit=PER_PAGE, cursor=cursor)
    rows = [(thread, [(name, getattr(thread.frames, name)) for name in FRAMES]) for thread in found.threads]
    chosen = {"query": query} if query else {}
    context = _about(slug) | {"found": found, "rows": rows, "chosen": chosen, "next": _next(chosen, found.next_cursor)}
    return page(request, "timeline/threads.html", context)


@of_corpus
def catalog(request: HttpRequest, slug: str) -> HttpResponse:
    query, cursor = request.GET.get("query") or None, request.GET.get("cursor") or None
    found = queries.mandela_catalog(slug, query=query, limit=PER_PAGE, cursor=cursor)
    chosen = {"query": query} if query else {}
    context = _about(slug) | {"found": found, "chosen": chosen, "next": _next(chosen, found.next_cursor)}
    return page(request, "timeline/catalog.html", context)


@of_corpus
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    scope = scope_of(slug)
    rows = scope.corpus.releases.values("number", "released_at", "note", "sha256", "key_id")[:100]
    return page(request, "timeline/releases.html", _about(slug) | {"releases": rows, "files": queries.FILES})


@public
def sitemap(request: HttpRequest) -> HttpResponse:
    """List pages of every corpus, and of its reports; those of the wire's own are its stories, which have pages already."""
    pages = ["/timeline/"]
    for slug in roll():
        pages += [f"/timeline/{slug}/{name}" for name in ("", "events", "motifs", "threads", "catalog", "releases")]
        if slug != wire_sync.SLUG:
            reports = scope_of(slug).rows(Report).order_by("pk").values_list("key", flat=True)
            pages += [f"/timeline/{slug}/report/{quote(key, safe='')}" for key in reports[:MOST_IN_SITEMAP]]
    return xml(request, "sitemap.xml", {"pages": [(path, None) for path in pages[:MOST_IN_SITEMAP]]})


def _about(slug: str) -> dict[str, Any]:
    scope = scope_of(slug)
    corpus = queries.get_corpus(slug)
    return {"corpus": corpus, "words": scope.settings.vocabularies, "stances": STANCES, "grades": list(GRADES)}


def _read_filters(request: HttpRequest) -> tuple[dict[str, str], dict[str, Any]]:
    chosen = {name: value for name in FILTERS if (value := request.GET.get(name, "").strip())}
    lists = {"motif": "motifs", "phenomenon_type": "phenomenon_types", "source_type": "source_types"}
    return chosen, {
        lists.get(name, name): [value] if name in lists else value for name, value in chosen.items() if name != "cursor"
    }


def _next(chosen: dict[str, Any], cursor: str | None) -> str | None:
    return f"?{urlencode(chosen | {'cursor': cursor})}" if cursor else None
