"""An installation in which every table holds rows, and 200 and more questions to its public side.

`python -m tests.wire.ops.backup.systems fill` fills the environment's installation, `questions FILE` writes what to ask of it, and
`ask FILE ANSWERS` asks. Two files of answers say whether a restored installation answers as the one that was backed up.
"""

import datetime as dt
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import django
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import models

Question = tuple[str, str, dict[str, Any]]
"""Path, the method of MCP or "" for GET, and its parameters."""

NAME: Final = "Ada Quillfeather"
"""A name that the small corpus leaves out."""
MOMENT: Final = dt.datetime(2026, 1, 15, 10, 20, 30, 123456, tzinfo=dt.UTC)
VERSION: Final = ("wirestate", "version")
VALUES: Final[dict[str, Any]] = {
    "BinaryField": b"\x00\xff\\.\n\t",
    "BooleanField": True,
    "CharField": "a\tb\\N",
    "DateField": MOMENT.date(),
    "DateTimeField": MOMENT,
    "DurationField": dt.timedelta(minutes=7),
    "FloatField": 0.1,
    "JSONField": {"ü": 3},
    "TextField": "ü\n\\.\r",
    "URLField": "https://publisher.example/",
}


def fill() -> None:
    """Fill the five systems through their own code, and every table that is empty then with a made-up row."""
    from mcpserver.gateway import auth
    from tests import claims, publishers
    from tests.factories import publish_sample
    from tests.mcpserver.gateway.stage import Stage, close_thread, trend, tweet
    from tests.wire.archives import rich_wire
    from tests.wire.corpora.timeline.corpora import changed
    from wire.corpora.timeline import omitted_names
    from wire.corpora.timeline.load import load_directory

    rich_wire()
    publish_sample()

    chef = publishers.publisher()
    publishers.store(chef, publishers.cake(), *(publishers.draft(f"Soup {n}", f"https://yoursite.com/soup-{n}") for n in range(8)))
    publishers.store(chef, publishers.cake(author="Another Chef"))
    call_command("publishers", "index", "wire", verbosity=0)

    claims.load(*claims.german(), claims.LEAD, claims.TURBINES)
    call_command("linkfactchecks", verbosity=0)

    with tempfile.TemporaryDirectory() as scratch:
        name = omitted_names.hash_name(NAME).model_dump()
        load_directory(changed(Path(scratch), corpus=lambda content: content.update(left_out_names=[name])))
    call_command("timeline", "sync", verbosity=0)

    auth.create_agent("alpha", ["twitter://", "market://"], 50, {"twitter_id": "7"})
    stage = Stage()
    stage.upstream.script = {"news_global_trends": [[trend(1), trend(2)]], "twitter_mentions_recent": [[tweet(1)]]}
    for uri in ("news://global/trends", "twitter://mentions/recent"):
        stage.ask(uri)
    stage.close()
    close_thread()

    while [model for model in list_models() if not model._base_manager.exists() and _add_row(model)]:
        pass
    empty = [model._meta.label for model in list_models() if not model._base_manager.exists()]
    assert not empty, empty


def list_models() -> list[type[models.Model]]:
    return apps.get_models(include_auto_created=True)


def _add_row(model: type[models.Model]) -> bool:
    """Whether the rows that it refers to are there."""
    values: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        if isinstance(field, models.ForeignKey):
            values[field.name] = field.related_model._base_manager.first()
            if values[field.name] is None and not field.null:
                return False
        elif not isinstance(field, models.AutoField):
            value = field.choices[0][0] if field.choices else VALUES.get(field.get_internal_type(), 7)
            most = getattr(field, "max_length", None)
            values[field.name] = value[:most] if isinstance(value, str) else value
    model._base_manager.create(**values)
    return True


def list_questions() -> list[Question]:
    """Addresses of the site and of REST, and calls of the tools of all MCP servers, about what this installation holds."""
    from mcpserver.gateway.models import RequestLog
    from wire.corpora.articles.models import Article, Publisher
    from wire.corpora.factchecks.models import Claim
    from wire.corpora.timeline.models import Corpus, CorpusRelease, Report
    from wire.models import Event, Snapshot, Story
    from wire.text.choices import Category, Topic

    stories = sorted(Story.objects.published().values_list("chatbotnews_id", flat=True))[::12]
    days = sorted({f"{day}" for day in Snapshot.objects.values_list("wire_date", flat=True)})
    revisions = [f"{day}.json?revision={number}" for day, number in Snapshot.objects.values_list("wire_date", "revision")]
    events = sorted(Event.objects.values_list("event_id", flat=True))[::12]
    claims = sorted(Claim.objects.values_list("short_id", flat=True))
    slugs = sorted(Publisher.objects.live().values_list("slug", flat=True))
    articles = list(Article.objects.order_by("publisher", "number").values_list("publisher__slug", "url"))
    corpora = sorted(Corpus.objects.filter(pk__in=CorpusRelease.objects.values("corpus")).values_list("slug", flat=True))
    reports = list(Report.objects.order_by("pk").values_list("corpus__slug", "key"))[::3][:40]
    requests = list(RequestLog.objects.order_by("pk").values_list("request_id", flat=True))
    draft = quote(f"{NAME} says that it is proven.")

    paths = ["/", "/archive", "/topics", "/sources", "/corrections", "/provenance", "/articles", "/timeline/", "/factchecks"]
    paths += [
        "/llms.txt",
        "/llms-full.txt",
        "/sitemap.xml",
        "/sitemap-articles.xml",
        "/sitemap-factchecks.xml",
        "/sitemap-timeline.xml",
    ]
    paths += ["/names", "/api/entities.json"]
    paths += ["/.well-known/wire-keys.json", "/.well-known/wire-checkpoint", "/.well-known/mcp.json"]
    paths += ["/api/today.json", "/api/archive.json", "/api/sources.json", "/api/events.json", "/api/log/leaves.json"]
    paths += ["/api/articles/publishers.json", "/api/timeline/corpora.json", "/api/changes.json?since=1970-01-01&limit=100"]
    paths += [f"/api/factchecks/{name}.json" for name in ("claims", "categories", "rating-labels", "stats")]
    paths += [f"/api/search.json?query={word}" for word in ("quince", "robot", "openai", "moon", "agents")]
    paths += [f"/api/categories/{name}.json" for name in Category.values] + [f"/api/topics/{name}.json" for name in Topic.values]
    paths += [f"/api/factchecks/search.json?query={word}" for word in ("blei", "leitungswasser", "diesel")]
    for day in days:
        paths += [f"/day/{day}", f"/archive/{day}.ndjson", f"/api/provenance/{day}.json", f"/api/editor-take/{day}.json"]
    paths += [f"/api/archive/{name}" for name in revisions]
    for story in stories:
        paths += [f"/story/{story}", f"/api/stories/{story}.json", f"/api/citations/{story}.json", f"/api/proofs/{story}.json"]
        paths += [f"/api/factchecks/story/{story}.json", f"/api/ninjs/stories/{story}.json"]
    paths += [address.format(event) for event in events for address in ("/event/{}", "/api/events/{}.json", "/api/compare/{}.json")]
    paths += [f"/api/factchecks/{place}/{quote(claim)}.json" for claim in claims for place in ("claims", "citations")]
    for slug in slugs:
        paths += [f"/articles/{slug}", f"/api/articles/{slug}.json", f"/api/articles/{slug}/recent.json"]
        paths += [f"/articles/{slug}/{name}" for name in ("llms.txt", "ai.txt", "license.xml", "asked.csv")]
        paths += [f"/api/articles/{slug}/search.json?query=cake"]
    paths += [f"/api/articles/{slug}/article.json?url={quote(url, safe='')}" for slug, url in articles]
    for slug in corpora:
        names = ("reports", "catalog", "motifs", "threads", "events", "stats", "manifest")
        paths += [f"/timeline/{slug}/", f"/timeline/{slug}/releases", f"/api/timeline/{slug}.json"]
        paths += [f"/api/timeline/{slug}/{name}.json" for name in names]
        paths += [f"/api/timeline/{slug}/files/{name}.json" for name in ("reports", "events", "motifs", "sources", "corpus")]
        paths += [f"/api/timeline/{slug}/wording.json?draft={draft}"]
    paths += [f"/api/timeline/{slug}/reports/{report}.json" for slug, report in reports]

    calls: list[tuple[str, str, dict[str, Any]]] = []
    for story in stories:
        calls += [("/mcp", tool, {"story_id": story}) for tool in ("get_story", "get_consensus", "get_citation")]
    calls += [("/mcp", "get_event", {"event_id": event}) for event in events]
    calls += [("/mcp", "search_wire", {"query": word}) for word in ("quince", "openai")]
    calls += [("/mcp", "list_sources", {}), ("/mcp", "list_events", {"date": days[-1]})]
    calls += [("/mcp/factchecks", "get_factcheck", {"id": claim}) for claim in claims]
    calls += [
        ("/mcp/factchecks", "search_factchecks", {"query": "Blei im Leitungswasser"}),
        ("/mcp/factchecks", "list_categories", {}),
    ]
    calls += [(f"/mcp/articles/{slug}", "search-content", {"query": "cake"}) for slug in slugs]
    calls += [(f"/mcp/articles/{slug}", "get-article", {"url": url}) for slug, url in articles]
    for slug in corpora:
        calls += [
            (f"/mcp/timeline/{slug}", f"timeline_{name}", {}) for name in ("search_reports", "stats", "events", "agent_manifest")
        ]
        calls += [(f"/mcp/timeline/{slug}", "timeline_check_wording", {"draft": f"{NAME} says that it is proven."})]
    calls += [("/mcp/timeline", "timeline_get_report", {"corpus": slug, "id": report}) for slug, report in reports]
    calls += [("/mcp/gateway", "gateway_read", {"uri": uri}) for uri in ("twitter://mentions/recent", "market://x")]
    calls += [("/mcp/gateway", "gateway_explain", {"request_id": request}) for request in requests]

    servers = ["/mcp", "/mcp/factchecks", "/mcp/timeline", "/mcp/gateway", *(f"/mcp/articles/{slug}" for slug in slugs)]
    lists: list[Question] = [(server, method, {}) for server in servers for method in ("server/discover", "tools/list")]
    return [
        *((path, "", {}) for path in paths),
        *lists,
        *((server, "tools/call", {"name": tool, "arguments": arguments}) for server, tool, arguments in calls),
    ]


def ask(questions: list[Question]) -> dict[str, str]:
    """The status and the bytes of each answer, by what was asked."""
    from tests.mcpserver.asgi import message, request, rpc_headers

    found = {}
    for number, (path, method, params) in enumerate(questions):
        if method:
            asked = message(method, params) | {"id": number}
            answer = request("POST", path, json.dumps(asked).encode(), rpc_headers(asked))
        else:
            answer = request("GET", path)
        found[json.dumps([path, method, params])] = f"{answer.status} {answer.body.decode('utf-8', 'backslashreplace')}"
    return found


def list_rows() -> dict[str, list[str]]:
    """Every row of every table, in an order of its own; without the wire's version, which restoring raises."""
    found = {}
    for model in list_models():
        columns = [field.attname for field in model._meta.concrete_fields if (model._meta.model_name, field.name) != VERSION]
        rows = model._base_manager.values_list(*columns)
        found[model._meta.db_table] = sorted(repr([_plain(value) for value in row]) for row in rows.iterator())
    return found


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def main(what: str, *files: str) -> None:
    django.setup()
    settings.WIRE_RATE_LIMIT = "off"
    if what == "fill":
        fill()
    elif what == "rows":
        Path(files[0]).write_text(json.dumps(list_rows()))
    elif what == "questions":
        Path(files[0]).write_text(json.dumps(list_questions()))
    else:
        Path(files[1]).write_text(json.dumps(ask(json.loads(Path(files[0]).read_text()))))


if __name__ == "__main__":
    main(*sys.argv[1:])
