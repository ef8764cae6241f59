"""The sidebar of the editors' desk."""

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse_lazy

from config.plugins import list_plugins
from wire.admin.queues import PARAMETER, QUEUES

_REPLACING: Final = "/publication/replace/"


def _may(permission: str) -> Callable[[HttpRequest], bool]:
    return lambda request: request.user.has_perm(permission)


def _list(title: str, icon: str, model: str) -> dict[str, Any]:
    """Return a list of the admin, shown to those who may see it. `icon` names a Material symbol."""
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


_NEWS: Final = [
    {"title": "Dashboard", "icon": "dashboard", "link": reverse_lazy("admin:index")},
    _list("Stories", "article", "wire.story"),
    _list("Events", "hub", "wire.event"),
    _list("Editor's takes", "edit_note", "wire.editortake"),
    _list("Lexicon", "dictionary", "wire.lexiconterm"),
    _list("Names", "badge", "wire.entity"),
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
_RECORD: Final = [
    _list("Snapshots", "inventory_2", "wire.snapshot"),
    _list("Signing keys", "key", "wire.signingkey"),
    _list("Usage", "monitoring", "wire.usagecount"),
    _list("History", "history", "admin.logentry"),
]
_PEOPLE: Final = [_list("Users", "person", "auth.user"), _list("Groups", "group", "auth.group")]


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar of the desk, as unfold's SIDEBAR setting wants it; queues with how many rows wait in each."""
    queues = [
        {
            "title": queue.title,
            "icon": queue.icon,
            "link": queue.url,
            "active": request.GET.get(PARAMETER) == queue.name,
            "badge": queue.count(),
            "badge_variant": "info",
        }
        for queue in QUEUES
        if request.user.has_perm(queue.permission)
    ]
    return [
        {"title": "News", "items": _NEWS},
        {"title": "To look at", "separator": True, "items": queues},
        {"title": "Roster", "separator": True, "items": _ROSTER},
        *(
            {"title": plugin.title, "separator": True, "items": [_list(item.title, item.icon, item.model) for item in plugin.menu]}
            for plugin in list_plugins()
        ),
        {"title": "Record", "separator": True, "items": _RECORD},
        {"title": "People", "separator": True, "items": _PEOPLE},
    ]
