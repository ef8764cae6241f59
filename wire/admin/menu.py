"""The sidebar of the editors' desk."""

from collections.abc import Callable
from typing import Any, Final

from django.apps import apps
from django.http import HttpRequest
from django.urls import reverse_lazy

from wire.admin.queues import PARAMETER, QUEUES, Queue

_REPLACING: Final = "/publication/replace/"


def _may(permission: str) -> Callable[[HttpRequest], bool]:
    return lambda request: request.user.has_perm(permission)


def _list(title: str, icon: str, model: str) -> dict[str, Any]:
    """A list of the admin, shown to those who may see it. `icon` names a Material symbol."""
    app, name = model.split(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{name}_changelist"),
        "permission": _may(f"{app}.view_{name}"),
        "active": lambda request: (
            _REPLACING not in request.path and PARAMETER not in request.GET and f"/{app}/{name}/" in request.path
        ),
    }


def _queue(queue: Queue, request: HttpRequest) -> dict[str, Any]:
    """A queue, shown to those who may see its list. Nothing is counted for anybody else."""
    number = queue.count() if request.user.has_perm(queue.permission) else 0
    return {
        "title": queue.title,
        "icon": queue.icon,
        "link": queue.url,
        "permission": _may(queue.permission),
        "active": lambda request: request.GET.get(PARAMETER) == queue.name,
        "badge": number,
        "badge_variant": "info",
    }


_NEWS: Final = [
    {"title": "Dashboard", "icon": "dashboard", "link": reverse_lazy("admin:index")},
    _list("Stories", "article", "wire.story"),
    _list("Events", "hub", "wire.event"),
    _list("Editor's takes", "edit_note", "wire.editortake"),
    _list("Lexicon", "dictionary", "wire.lexiconterm"),
]
_ROSTER: Final = [
    _list("Publications", "newspaper", "sources.publication"),
    _list("Feeds", "rss_feed", "sources.feed"),
    _list("Roster history", "lock_clock", "sources.rosterrevision"),
    {
        "title": "Replace a publication",
        "icon": "swap_horiz",
        "link": reverse_lazy("admin:sources_publication_replace"),
        "permission": _may("sources.add_rosterrevision"),
    },
]
_PUBLISHERS: Final = [
    _list("Publishers", "domain", "articles.publisher"),
    _list("Their sources", "rss_feed", "articles.source"),
    _list("Their articles", "description", "articles.article"),
    _list("Payments", "payments", "articles.payment"),
]
_FACTCHECKS: Final = [
    _list("Fact-checks", "fact_check", "factchecks.claim"),
    _list("Rating labels", "label", "factchecks.ratingname"),
    _list("Links with stories", "link", "factchecks.storylink"),
    _list("Loads", "upload_file", "factchecks.loadjob"),
    _list("Keys", "vpn_key", "factchecks.apikey"),
]
_TIMELINES: Final = [
    _list("Corpora", "timeline", "timeline.corpus"),
    _list("Reports", "summarize", "timeline.report"),
    _list("Threads", "linked_services", "timeline.thread"),
    _list("Timeline events", "event", "timeline.timelineevent"),
    _list("Motifs", "tag", "timeline.motif"),
    _list("Catalogue", "book", "timeline.catalogitem"),
    _list("Source families", "source", "timeline.sourcefamily"),
    _list("Releases", "verified", "timeline.corpusrelease"),
]
_GATEWAY: Final = [
    _list("Agents", "smart_toy", "gateway.agent"),
    _list("Upstreams", "dns", "gateway.upstreamstate"),
    _list("Overrides", "tune", "gateway.override"),
    _list("Requests", "swap_vert", "gateway.requestlog"),
    _list("Calls by hour", "bar_chart", "gateway.callcount"),
    _list("Heartbeats", "favorite", "gateway.heartbeat"),
]
_OF_APPS: Final = (
    ("wire.articles", "Publisher content", _PUBLISHERS),
    ("wire.factchecks", "Fact-checks", _FACTCHECKS),
    ("wire.timeline", "Timelines", _TIMELINES),
    ("sources.gateway", "Resource gateway", _GATEWAY),
)
"""What apps of their own add, where they are installed."""
_RECORD: Final = [
    _list("Snapshots", "inventory_2", "wire.snapshot"),
    _list("Signing keys", "key", "wire.signingkey"),
    _list("Usage", "monitoring", "wire.usagecount"),
    _list("History", "history", "admin.logentry"),
]
_PEOPLE: Final = [_list("Users", "person", "auth.user"), _list("Groups", "group", "auth.group")]


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar of the desk, as unfold's SIDEBAR setting wants it; queues with how many rows wait in each."""
    return [
        {"title": "News", "items": _NEWS},
        {"title": "To look at", "separator": True, "items": [_queue(queue, request) for queue in QUEUES]},
        {"title": "Roster", "separator": True, "items": _ROSTER},
        *({"title": title, "separator": True, "items": items} for app, title, items in _OF_APPS if apps.is_installed(app)),
        {"title": "Record", "separator": True, "items": _RECORD},
        {"title": "People", "separator": True, "items": _PEOPLE},
    ]
