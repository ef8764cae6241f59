"""The sidebar of the editors' desk."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse, reverse_lazy

from config.plugins import Plugin, list_plugins
from wire.admin.review_queues import PARAMETER, count_queues
from wire.text.lexicons import load_lexicon


def _require_permission(permission: str) -> Callable[[HttpRequest], bool]:
    return lambda request: request.user.has_perm(permission)


def _build_list_item(title: str, icon: str, model: str) -> dict[str, Any]:
    """Return a list of the admin, shown to those who may see it. `icon` names a Material symbol."""
    app, name = model.split(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{name}_changelist"),
        "permission": _require_permission(f"{app}.view_{name}"),
        "active": lambda request: (
            "/publication/replace/" not in request.path and PARAMETER not in request.GET and f"/{app}/{name}/" in request.path
        ),
    }


_LISTS: Final = {section: [_build_list_item(*one) for one in lists] for section, lists in load_lexicon("menu").items()}
_REPLACE: Final = {
    "title": "Replace a publication",
    "icon": "swap_horiz",
    "link": reverse_lazy("admin:sources_publication_replace"),
    "permission": _require_permission("sources.add_rosterrevision"),
}


def find_list_title(model: type[Model]) -> str | None:
    """Return what the menu calls the list of a model."""
    return find_list_titles().get(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"))


@cache
def find_list_titles() -> dict[str, str]:
    """Return the titles of the menu's lists by their addresses."""
    lists = (*_LISTS.values(), *map(_build_plugin_items, list_plugins()))
    return {str(one["link"]): one["title"] for some in lists for one in some}


def _build_plugin_items(plugin: Plugin) -> list[dict[str, Any]]:
    return [_build_list_item(item.title, item.icon, item.model) for item in plugin.menu]


def build_sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar of the desk, as unfold's SIDEBAR setting wants it; queues with how many rows wait in each."""
    queues = [
        {
            "title": queue.title,
            "icon": queue.icon,
            "link": queue.url,
            "active": request.GET.get(PARAMETER) == queue.name,
            "badge": number,
            "badge_variant": "info",
        }
        for queue, number in count_queues(request.user)
    ]
    return [
        {
            "title": "News",
            "items": [{"title": "Dashboard", "icon": "dashboard", "link": reverse_lazy("admin:index")}, *_LISTS["news"]],
        },
        {"title": "To review", "separator": True, "items": queues},
        {"title": "Roster", "separator": True, "items": [*_LISTS["roster"], _REPLACE]},
        *({"title": plugin.title, "separator": True, "items": _build_plugin_items(plugin)} for plugin in list_plugins()),
        {"title": "Record", "separator": True, "items": _LISTS["record"]},
        {"title": "People", "separator": True, "items": _LISTS["people"]},
    ]
