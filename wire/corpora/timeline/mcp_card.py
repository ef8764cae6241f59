"""Addresses of the pages, and what directories of servers say of corpora."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.errors import NotFound
from config.http.responses import error_answer
from wire.corpora.common.directory import find_member, list_served
from wire.corpora.common.server_card import answer_card, describe_server
from wire.corpora.timeline import pages
from wire.corpora.timeline.directory import LISTED, CorpusMember, roll
from wire.corpora.timeline.errors import UnknownCorpus


@require_safe
def server_card(_request: HttpRequest, slug: str) -> HttpResponse:
    try:
        return answer_card(_describe(find_member(roll(), slug, UnknownCorpus("There is no such corpus.", LISTED))))
    except NotFound as error:
        return error_answer(error)


def cards() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield how the card of each corpus's server differs from the wire's, and what a list of servers says beside it."""
    for member in list_served(roll()):
        card = f"{settings.WIRE_SITE_URL}/mcp/timeline/{member.slug}/server-card"
        yield _describe(member), {"server_card": card, "licence": member.licence}


def _describe(member: CorpusMember) -> dict[str, Any]:
    return describe_server(
        f"timeline-{member.slug}",
        member.name,
        f"{member.name}: dated reports with evidence grades, claims, motifs, threads and events.",
        f"{settings.WIRE_SITE_URL}/timeline/{member.slug}/",
        member.mcp,
        {"licence": member.licence, "authentication": "none"},
    )


urlpatterns = [
    path("timeline/", pages.corpora, name="timeline-corpora"),
    path("timeline/<str:slug>/", pages.archive, name="timeline"),
    path("timeline/<str:slug>/events", pages.timeline, name="timeline-events"),
    path("timeline/<str:slug>/motifs", pages.motifs, name="timeline-motifs"),
    path("timeline/<str:slug>/threads", pages.threads, name="timeline-threads"),
    path("timeline/<str:slug>/catalog", pages.catalog, name="timeline-catalog"),
    path("timeline/<str:slug>/report/<str:report_id>", pages.report, name="timeline-report"),
    path("timeline/<str:slug>/releases", pages.releases, name="timeline-releases"),
    path("sitemap-timeline.xml", pages.sitemap, name="timeline-sitemap"),
    path("mcp/timeline/<str:slug>/server-card", server_card, name="timeline-server-card"),
]
