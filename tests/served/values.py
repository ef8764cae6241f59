"""Finds values for parameters in answers that came before, and asks with each of them."""

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final
from urllib.parse import quote

MOST: Final = 12
"""How many values of one kind, such as ids of stories, are asked for: spread over all that were seen."""
OWNERS: Final = ("corpus", "publisher")
"""Parameters whose values own what is seen below them."""
KEYS: Final[Mapping[str, str]] = {
    "story_id": "rare.chatbotnews_id chatbotnews_id", "event_id": "storyline_id event_id", "any_id": "claims.id claims.short_id",
    "source": "original_publisher", "sources": "original_publisher", "publication_name": "original_publisher",
    "publisher": "publishers.slug", "corpus": "corpora.slug", "report_id": "reports.id", "thread_id": "threads.id",
    "motif": "nodes.id", "motifs": "nodes.id", "family": "nodes.family", "layer": "events.layer", "name": "files",
    "phenomenon_types": "phenomenon_type", "source_types": "source_type", "topic": "threads.title reports.title",
    "category": "categories.category items.category", "categories": "categories.category", "status": "items.status claims.status",
    "query": "stories.headline articles.title reports.title", "headline": "stories.headline", "event": "events.headline",
    "claim": "stories.headline claims.synopsis", "text": "layered_ready bibtex", "draft": "claims.text avoid",
    "url": "articles.url", "uri": "resources.uri", "request_id": "provenance.request_id", "kinds": "changes.kind",
    "day": "wire_date", "date": "wire_date", "since": "wire_date", "until": "wire_date", "date_start": "date_observed",
    "date_end": "date_observed", "published_since": "published_at", "as_of": "generated_at", "slug": "", "section": "", "field": "",
}  # fmt: skip
"""Where in answers values of a parameter stand: names of fields, some behind the name of what they are a field of."""
ALIASES: Final = {
    **{("fetch", "id"): "story_id", ("wire://story/{id}", "id"): "story_id", ("wire://event/{id}", "id"): "event_id"},
    **{("get_factcheck", "id"): "any_id", ("factcheck://{id}", "id"): "any_id", ("search_factchecks", "query"): "synopsis"},
    **{("timeline_get_report", "id"): "report_id", ("timeline_story_threads", "id"): "thread_id"},
    **{("wire://today/{category}", "category"): "section", ("wire://today/{category}/brief", "category"): "section"},
    **{("news://category/{category}/trends", "category"): "field", ("/api/factchecks/search.json", "query"): "synopsis"},
}
"""By tool, template or address, and by name of a parameter: the name that it has elsewhere."""
GIVEN: Final[Mapping[str, Any]] = {
    **{"as_of": 1, "revision": 1, "first": 1, "window_days": "30", "focus": "agents"},
    **{
        "slug": "openai",
        "section": "funding",
        "field": "technology",
        "uri": "news://global/trends",
        "region": "US",
        "asset": "bitcoin",
        "user_id": "1",
    },
}
ANY: Final = "openai"

Schema = Mapping[str, Any]
Ask = Callable[[dict[str, Any]], Awaitable[Any]]
Parameter = tuple[Schema, bool]
"""Its schema, and whether it is required."""


class Values:
    """What answers named: by owner and field, in the order in which it was seen."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))

    def see(self, value: Any, owner: str = "", field: str = "") -> None:
        """Remember every text of an answer, by its field. Stories that something is special about are asked for first."""
        if isinstance(value, dict):
            if value.get("status") in ("withdrawn", "corrected") or value.get("merged_into") or value.get("untrusted_instructions"):
                self.see(value.get("chatbotnews_id"), owner, "rare.chatbotnews_id")
            for name, inner in value.items():
                self.see(inner, owner, name)
                if isinstance(inner, str):
                    self.see(inner, owner, f"{field}.{name}")
        elif isinstance(value, list):
            for inner in value:
                self.see(inner, owner, field)
        elif isinstance(value, str) and value:
            self._seen[owner][field][value] = None
            if found := re.search(r"/files/([\w-]+)\.json$", value):
                self._seen[owner]["files"][found[1]] = None

    def is_owner(self, name: str) -> bool:
        return name != "" and name in self._seen

    def find(self, name: str, owner: str = "") -> list[str]:
        """Return texts for a parameter, at least one: some of each kind, spread over all that were seen of it."""
        seen = self._seen["" if name in OWNERS else owner]
        kinds = [list(seen.get(key, ())) for key in KEYS.get(name, name).split()]
        spread = [kind[:: max(1, -(-len(kind) // MOST))] for kind in kinds]
        given = [GIVEN[name]] if isinstance(GIVEN.get(name), str) else []
        return list(dict.fromkeys([*given, *(one for row in zip_longest(*spread) for one in row if one)])) or [ANY]

    def choose(self, name: str, schema: Schema, named: Schema, where: str, owner: str) -> list[Any]:
        """Return values that a parameter takes, at least one. `named` are schemas that its own refers to."""
        schema = resolved(schema, named)
        if "enum" in schema:
            return list(schema["enum"])[:MOST]
        match schema.get("type"):
            case "array":
                return [[one] for one in self.choose(name, schema["items"], named, where, owner)[:2]]
            case "boolean":
                return [not schema.get("default", False)]
            case "integer" | "number":
                return [GIVEN.get(name, schema.get("minimum", 1) + 1)]
        return self.find(ALIASES.get((where, name), name), owner)

    def fill(
        self, names: Sequence[str], schemas: Mapping[str, Schema], named: Schema, where: str, owner: str = ""
    ) -> Iterator[dict[str, str]]:
        """Yield values for all parameters of a path."""
        if not names:
            yield {}
            return
        for value in self.choose(names[0], schemas[names[0]], named, where, owner):
            for more in self.fill(names[1:], schemas, named, where, value if names[0] in OWNERS else owner):
                yield {names[0]: value, **more}

    def fill_template(self, template: str) -> list[str]:
        """Return addresses of resources that a template stands for."""
        name = re.findall(r"{(\w+)}", template)[0]
        return [template.replace(f"{{{name}}}", quote(value)) for value in self.find(ALIASES.get((template, name), name))]

    async def vary(self, ask: Ask, parameters: Mapping[str, Parameter], named: Schema, where: str, owner: str) -> dict[str, Any]:
        """Ask with what is required alone, with other values of it, and with each optional parameter. Return one value of each."""
        values = {name: self.choose(name, schema, named, where, owner) for name, (schema, _) in parameters.items()}
        base = {name: values[name][0] for name, (_, is_required) in parameters.items() if is_required}
        first = await ask(base)
        for name, (schema, is_required) in parameters.items():
            if name == "cursor":
                page = {**base, "limit": 1} if "limit" in parameters else base
                if cursor := (first if page == base else await ask(page)).get("next_cursor"):
                    await ask({**page, "cursor": cursor})
                continue
            most = MOST if is_required or "enum" in resolved(schema, named) else 2
            for value in values[name][int(is_required) : most]:
                await ask({**base, name: value})
        return {name: found[0] for name, found in values.items() if name != "cursor"}


def resolved(schema: Schema, named: Schema) -> Schema:
    """Return a schema with what it refers to, and without the choice of null."""
    parts = [part for part in (*schema.get("anyOf", ()), *schema.get("allOf", ())) if part.get("type") != "null"]
    whole = {**schema, **(parts[0] if parts else {})}
    reference = whole.pop("$ref", None)
    return {**resolved(named[reference.rpartition("/")[2]], named), **whole} if reference else whole
