"""Plugins: what each app adds to the installation: pages, REST, MCP servers, desk, checks. Hardly anything else names an app.

An app has a `PluginConfig`, or calls `register` in its `AppConfig.ready`, and has a module `plugin` with its `PLUGIN`. That module
is imported when somebody first asks for the plugins, because views and forms take long to load and many commands need none. An
AppConfig with a method `has_content` says there whether somebody put anything in, which the sample wire would hide.
"""

import datetime as dt
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from django.apps import AppConfig, apps
from django.core.management import CommandError, call_command
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from django.urls import URLPattern, URLResolver
    from ninja import Router

_names: set[str] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItem:
    """A list of the desk's menu: its title, a Material symbol, and the model as "app.model"."""

    title: str
    icon: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKind:
    """A kind of documents that the search over all systems finds, each as `{name}:{id of its own}`."""

    name: str  # such as "factcheck"
    title: str  # above its hits on the search page
    id_form: str  # how ids of its own look, for who gives an unknown one
    search: Callable[[str, int], Any]  # so many hits, best first, as `DocumentsOut`. Raises: WireError
    fetch: Callable[[str], Any]  # the document of an id of its own, as `DocumentOut`. Raises: WireError


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Everything that an app may bring. All parts but the first two may be left out."""

    label: str  # the app's label, which its permissions and tables bear
    title: str  # above its lists in the desk's menu

    # The public side
    urlpatterns: "Sequence[URLPattern | URLResolver]" = ()
    router: "Router | None" = None  # REST, at /api/{label}
    tag: str = ""  # heads the router's operations in OpenAPI
    navigation: Sequence[tuple[str, str]] = ()  # title and address of its pages in every page's footer
    sitemaps: Sequence[str] = ()  # paths, named by /sitemap.xml
    directives: str = ""  # the template of its part of llms.txt
    mcp_servers: Mapping[str, str] = field(default_factory=dict)  # path to module, as `mcpserver.servers` explains
    list_server_cards: Callable[[], Iterable[tuple[dict[str, Any], dict[str, Any]]]] = tuple
    """Returns how the card of each server differs from the wire's, and what /.well-known/mcp.json says beside it."""
    get_page_parameters: Callable[[str], frozenset[str] | None] = lambda _path: None  # of pages that may be cached
    is_slow: Callable[[str], bool] = lambda _path: False  # may wait for somebody else's server: in threads of its own, uncached
    knows_keys: bool = False  # REST answers holders of a key otherwise, so their requests pass every cache
    get_rate_limit: Callable[[str], Awaitable[tuple[str, int] | None]] | None = None  # a name and requests a minute
    get_story_extras: Mapping[str, Callable[[str], Sequence[Any]]] = field(default_factory=dict)  # by name: functions of its id
    document_kind: DocumentKind | None = None  # what it adds to the search over all systems, which asks it if it holds anything
    list_metrics: Callable[[], Iterable[str]] = tuple  # returns lines in Prometheus' text format

    # Editors and operators
    menu: Sequence[MenuItem] = ()
    list_queues: Callable[[], Sequence[Any]] = tuple  # lists of rows that may need an editor: `wire.admin.review_queues.Queue`
    edit_permissions: Sequence[str] = ()  # codenames that every editor has; all may see
    publish_permissions: Sequence[str] = ()  # codenames that publishers have besides
    checks: Mapping[str, Callable[[dt.datetime], Iterable[Any]]] = field(default_factory=dict)
    """Checks of the doctor, by name: functions that yield findings (`wire.ops.doctor`)."""
    list_faults: Callable[[], Iterable[str]] = tuple  # a sentence for each row that `verifywire` finds different
    after_publish: str = ""  # the words of a command: behind ingests and loads
    after_ingest: str = ""  # likewise, behind ingests; with the option `stop`, a function that says whether to end early
    sample_command: str = ""  # likewise, of the one that fills the sample wire


def register(app_name: str) -> None:
    _names.add(app_name)


class PluginConfig(AppConfig):
    """An app with a plugin. `create_rows` names a function, which makes the rows that an empty database of the app begins with."""

    create_rows = ""

    def ready(self) -> None:
        register(self.name)
        if self.create_rows:  # Django's own hook for reference data: a migrated database has its rows, also after a flush
            post_migrate.connect(self._create_rows, sender=self, dispatch_uid=self.create_rows)

    def _create_rows(self, **_kwargs: Any) -> None:
        import_string(self.create_rows)()


@lru_cache(maxsize=1)
def list_plugins() -> Sequence[Plugin]:
    """Return the plugins of all apps that registered, in the order of INSTALLED_APPS."""
    return [import_module(f"{app.name}.plugin").PLUGIN for app in apps.get_app_configs() if app.name in _names]


def run_plugin_commands(after: Literal["after_publish", "after_ingest"], stderr: Any, **options: Any) -> None:
    """Let apps bring up to date what they make of the wire; one that cannot says why, and fails nothing."""
    for plugin in list_plugins():
        if words := getattr(plugin, after):
            try:
                call_command(*words.split(), stderr=stderr, **options)
            except CommandError as error:
                stderr.write(str(error))


def get_story_extras(story_id: str) -> dict[str, Sequence[Any]]:
    extras = {name: get(story_id) for plugin in list_plugins() for name, get in plugin.get_story_extras.items()}
    return {name: extra for name, extra in extras.items() if extra}


def list_document_kinds(*, filled: bool = False) -> dict[str, DocumentKind]:
    """Return the kinds of documents that apps bring, by name; with `filled` only those of apps that hold anything."""
    found = {}
    for plugin in list_plugins():
        app: Any = apps.get_app_config(plugin.label)
        if plugin.document_kind and not (filled and hasattr(app, "has_content") and not app.has_content()):
            found[plugin.document_kind.name] = plugin.document_kind
    return found
