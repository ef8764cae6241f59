"""Pages of timeline corpora, for people, and the cards of their MCP servers. None needs a script.

All are cached, since they depend on what is released and on the UTC date alone.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final, get_args
from urllib.parse import quote, urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.errors import InvalidArgument, WireError
from config.http.responses import error_response
from sources.models import utc_today
from wire.corpora.common.page_cache_rules import build_page_matcher
from wire.corpora.common.server_card import describe_server, render_card
from wire.corpora.timeline import chart_layout, queries, wire_sync
from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.errors import UnknownCorpus
from wire.corpora.timeline.models import Report
from wire.corpora.timeline.queries.scope import get_scope
from wire.corpora.timeline.row_schemas import FRAMES, GRADES, OFFICIAL, Stance
from wire.site.pages import page, public_page
from wire.site.well_known import render_xml

PER_PAGE: Final = 20
EVENTS: Final = chart_layout.FEW
PARTS: Final = {"events": "events", "motifs": "motifs", "threads": "story_threads", "catalog": "mandela_items"}
"""Pages of what a corpus may hold none of, each with the name of its count."""
MOST_IN_SITEMAP: Final = 50_000  # sitemaps.org
MOTIFS: Final = 60
LISTS: Final = {"motif": "motifs", "phenomenon_type": "phenomenon_types", "source_type": "source_types"}
FILTERS: Final = (
    *("query", "motif", "phenomenon_type", "source_type", "stance", "evidence_grade", "date_start", "date_end", "cursor"),
)

parameters_of = build_page_matcher(
    (r"/timeline/",),
    (r"/timeline/[^/]+/(events)?", *FILTERS, "layer", "period"),
    (r"/timeline/[^/]+/(threads|catalog|motifs)", "query", "cursor"),
    (r"/timeline/[^/]+/(releases|report/[^/]+)",),
    (r"/mcp/timeline/[^/]+/server-card|/sitemap-timeline\.xml",),
)


@public_page
def corpora(request: HttpRequest) -> HttpResponse:
    return page(request, "timeline/corpora.html", {"corpora": queries.list_corpora().corpora})


def corpus_page(name: str) -> Callable[[Callable[..., dict[str, Any]]], Callable[..., HttpResponse]]:
    """Make a view of a template's own context; errors are answered with a page that says what to do."""

    def decorate(build_context: Callable[..., dict[str, Any]]) -> Callable[..., HttpResponse]:
        @require_safe
        @wraps(build_context)
        def view(request: HttpRequest, slug: str, **parts: str) -> HttpResponse:
            try:
                context, scope = build_context(request, slug, **parts), get_scope(slug)
                counts = scope.counts
                shared = {
                    "corpus": queries.get_corpus(slug),
                    "words": scope.settings.vocabularies,
                    "labels": scope.settings.labels,
                    "lanes": scope.settings.lanes,
                    "totals": counts["totals"],
                    "stances": [stance for stance in get_args(Stance) if stance in counts["reports_by_stance"]],
                    "grades": [grade for grade in GRADES if grade in counts["reports_by_evidence_grade"]],
                }
            except WireError as error:
                return page(request, "timeline/refused.html", {"error": error}, "no-store", status=error.status)
            if "found" in context:
                chosen, cursor = context["chosen"], context["found"].next_cursor
                shared["next"] = f"?{urlencode(chosen | {'cursor': cursor})}" if cursor else None
            return page(request, f"timeline/{name}.html", shared | context)

        return view

    return decorate


@corpus_page("archive")
def archive(request: HttpRequest, slug: str) -> dict[str, Any]:
    chosen, asked = _read_parameters(request, *FILTERS)
    return {"found": queries.search_reports(slug, **asked, limit=PER_PAGE), "chosen": chosen}


@corpus_page("report")
def report(_request: HttpRequest, slug: str, report_id: str) -> dict[str, Any]:
    return {"report": queries.get_report(slug, report_id)}


@corpus_page("events")
def timeline(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Show how many events the parts of a period have, and its events; by default the newest that is not ahead, of a filter all."""
    chosen, asked = _read_parameters(request, *FILTERS, "layer", "period")
    period, cursor = asked.pop("period", ""), asked.pop("cursor", None)
    counts = queries.count_events(slug, **asked)
    try:
        zoom = chart_layout.zoom_to_period(counts, period or (chart_layout.ALL if asked else ""), utc_today())
    except ValueError as error:
        raise InvalidArgument("period is not a year, month or day.", "Give 2026, 2026-03, 2026-03-14 or all.") from error
    dates = {"date_start": str(zoom.first), "date_end": str(zoom.last)} if zoom.first else {}
    found = queries.events(slug, **asked | dates, newest_first=True, limit=EVENTS, cursor=cursor)
    lane_of = get_scope(slug).settings.vocabularies.lanes()
    rows = [(event, lane_of[event.layer] == OFFICIAL) for event in found.events]
    kept = urlencode({name: value for name, value in chosen.items() if name not in ("period", "cursor")})
    return {"found": found, "rows": rows, "zoom": zoom, "kept": kept, "chosen": chosen | {"period": zoom.period}}


@corpus_page("motifs")
def motifs(request: HttpRequest, slug: str) -> dict[str, Any]:
    chosen, asked = _read_parameters(request, "query", "cursor")
    found = queries.motif_map(slug, **asked, limit=MOTIFS)
    context = {"found": found, "picture": chart_layout.lay_out_arcs(found.nodes, found.edges), "chosen": chosen}
    context["has_curated"] = any(one.curated_freq is not None for one in found.nodes)
    context["has_weights"] = any(one.curated_weight is not None for one in found.edges)
    return context


@corpus_page("threads")
def threads(request: HttpRequest, slug: str) -> dict[str, Any]:
    chosen, asked = _read_parameters(request, "query", "cursor")
    found = queries.story_threads(slug, **asked, limit=PER_PAGE)
    rows = [(thread, [(name, text) for name in FRAMES if (text := getattr(thread.frames, name))]) for thread in found.threads]
    return {"found": found, "rows": rows, "chosen": chosen}


@corpus_page("catalog")
def catalog(request: HttpRequest, slug: str) -> dict[str, Any]:
    chosen, asked = _read_parameters(request, "query", "cursor")
    return {"found": queries.mandela_catalog(slug, **asked, limit=PER_PAGE), "chosen": chosen}


@corpus_page("releases")
def releases(_request: HttpRequest, slug: str) -> dict[str, Any]:
    rows = get_scope(slug).corpus.releases.values("number", "released_at", "note", "sha256")[:100]
    return {"releases": rows, "files": queries.FILES}


@public_page
def sitemap(request: HttpRequest) -> HttpResponse:
    """List pages of every corpus, and of its reports; those of the wire's own are its stories, which have pages already."""
    pages = ["/timeline/"]
    for slug in queries.list_members():
        totals = get_scope(slug).counts["totals"]
        parts = [name for name, counted in PARTS.items() if totals.get(counted)]
        pages += [f"/timeline/{slug}/{name}" for name in ("", *parts, "releases")]
        if slug != wire_sync.SLUG:
            reports = get_scope(slug).rows(Report).order_by("pk").values_list("key", flat=True)
            pages += [f"/timeline/{slug}/report/{quote(key, safe='')}" for key in reports[:MOST_IN_SITEMAP]]
    return render_xml(request, "sitemap.xml", {"pages": [(path, None) for path in pages[:MOST_IN_SITEMAP]]})


@require_safe
def server_card(_request: HttpRequest, slug: str) -> HttpResponse:
    if member := queries.list_members().get(slug):
        return render_card(_describe_server(member))
    return error_response(UnknownCorpus("There is no such corpus.", queries.LISTED))


def list_cards() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield how the card of each corpus's server differs from the wire's, and what a list of servers says beside it."""
    for member in queries.list_members().values():
        card = f"{settings.WIRE_SITE_URL}/mcp/timeline/{member.slug}/server-card"
        yield _describe_server(member), {"server_card": card, "licence": member.licence}


def _describe_server(member: CorpusFile) -> dict[str, Any]:
    return describe_server(
        f"timeline-{member.slug}",
        member.name,
        f"{member.name}: dated reports with evidence grades, claims, motifs, threads and events.",
        f"{settings.WIRE_SITE_URL}/timeline/{member.slug}/",
        f"{settings.WIRE_MCP_URL}/timeline/{member.slug}",
        {"licence": member.licence, "authentication": "none"},
    )


def _read_parameters(request: HttpRequest, *names: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the parameters that are filled in, and the arguments of a query that they are."""
    chosen = {name: value for name in names if (value := request.GET.get(name, "").strip())}
    return chosen, {LISTS.get(name, name): [value] if name in LISTS else value for name, value in chosen.items()}


urlpatterns = [
    path("timeline/", corpora, name="timeline-corpora"),
    path("timeline/<str:slug>/", archive, name="timeline"),
    path("timeline/<str:slug>/events", timeline, name="timeline-events"),
    path("timeline/<str:slug>/motifs", motifs, name="timeline-motifs"),
    path("timeline/<str:slug>/threads", threads, name="timeline-threads"),
    path("timeline/<str:slug>/catalog", catalog, name="timeline-catalog"),
    path("timeline/<str:slug>/report/<str:report_id>", report, name="timeline-report"),
    path("timeline/<str:slug>/releases", releases, name="timeline-releases"),
    path("sitemap-timeline.xml", sitemap, name="timeline-sitemap"),
    path("mcp/timeline/<str:slug>/server-card", server_card, name="timeline-server-card"),
]
