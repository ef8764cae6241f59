"""Addresses of the pages, and what directories of servers say of corpora."""

from collections.abc import Iterator
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from config.http.responses import BRIEFLY, error_answer, json_answer
from wire.site import directives
from wire.timeline import site
from wire.timeline.errors import UnknownCorpus
from wire.timeline.members import LISTED, Member, roll


@require_safe
def server_card(_request: HttpRequest, slug: str) -> HttpResponse:
    """Who a corpus's server is; any site's script may read it."""
    member = roll().get(slug)
    if not isinstance(member, Member):
        return error_answer(UnknownCorpus("There is no such corpus.", LISTED))
    wires = orjson.loads(directives.server_card().encode())
    response = json_answer(wires | _card(member, wires), BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"
    return response


def cards() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Of each corpus's server, how its card differs from the wire's, and what a list of servers says beside it."""
    wires = orjson.loads(directives.server_card().encode())
    for member in roll().values():
        if isinstance(member, Member):
            card = f"{settings.WIRE_SITE_URL}/mcp/timeline/{member.slug}/server-card"
            yield _card(member, wires), {"server_card": card, "licence": member.licence}


def _card(member: Member, wires: dict[str, Any]) -> dict[str, Any]:
    (remote,) = wires["remotes"]
    return {
        "name": f"ai.chatbotnews/timeline-{member.slug}",
        "title": member.name,
        "description": f"{member.name}: dated reports with evidence grades, claims, motifs, threads and events.",
        "websiteUrl": f"{settings.WIRE_SITE_URL}/timeline/{member.slug}/",
        "remotes": [remote | {"url": member.mcp}],
        "_meta": {"ai.chatbotnews/terms": {"licence": member.licence, "authentication": "none"}},
    }


urlpatterns = [
    path("timeline/", site.corpora, name="timeline-corpora"),
    path("timeline/<str:slug>/", site.archive, name="timeline"),
    path("timeline/<str:slug>/events", site.timeline, name="timeline-events"),
    path("timeline/<str:slug>/motifs", site.motifs, name="timeline-motifs"),
    path("timeline/<str:slug>/threads", site.threads, name="timeline-threads"),
    path("timeline/<str:slug>/catalog", site.catalog, name="timeline-catalog"),
    path("timeline/<str:slug>/report/<str:report_id>", site.report, name="timeline-report"),
    path("timeline/<str:slug>/releases", site.releases, name="timeline-releases"),
    path("sitemap-timeline.xml", site.sitemap, name="timeline-sitemap"),
    path("mcp/timeline/<str:slug>/server-card", server_card, name="timeline-server-card"),
]
