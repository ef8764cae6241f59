"""Which files of ours one call enters: `python -m benchmarks.files_entered [--list]`.

An uncached `search_wire` call through the ASGI application of a small wire, and one new feed item to its stored, then published
story. A file is entered if a function of it is called; to be imported is not enough. It tells how far a reader of the code walks.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final
from unittest import mock

from benchmarks import archive, report
from benchmarks.report import ROOT

PACKAGES: Final = ("citations", "config", "mcpserver", "sources", "wire")
META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "reader", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS: Final = {
    "host": "localhost:8000",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "search_wire",
}
FEED: Final = """<rss version="2.0"><channel><title>Feed</title><item><title>Maker ships a chip for its data centres</title>
<link>https://publisher.example/chip</link><guid>chip-1</guid><pubDate>{when}</pubDate>
<description>The chip is for its own data centres, the maker says. It ships in May.</description></item></channel></rss>"""
_recorders: Final[list[set[CodeType]]] = [set()]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files_entered", description="Which files of ours one call enters.")
    parser.add_argument("--list", action="store_true", help="name the files")
    listed = parser.parse_args().list
    with tempfile.TemporaryDirectory() as data:
        settings = {
            "WIRE_DATA_DIR": data,
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "WIRE_INGEST": "off",
            "WIRE_FETCH_ALLOW": "127.0.0.0/8",
        }
        os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", **settings}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        archive.write(Path(data) / "archive.ndjson", 5, 10)
        call_command("loadwire", Path(data) / "archive.ndjson", verbosity=0)
        watch_threads()
        entered = {"an uncached search_wire call": ask_search()}
        entered["a feed item to its stored story"], entered["that story's publication"] = ingest_item()
    rows = [(name, f"{len({code.co_filename for code in codes})}", f"{len(codes)}") for name, codes in entered.items()]
    print(report.table(("one call", "files entered", "functions"), rows))
    if listed:
        for name, codes in entered.items():
            print(f"\n{name}:", *sorted({str(Path(code.co_filename).relative_to(ROOT)) for code in codes}), sep="\n  ")
    return 0


def ask_search() -> set[CodeType]:
    """Return the code that an MCP call enters, after one that warmed what is prepared once."""
    from config.asgi import application

    async def ask(query: str) -> bytes:
        parameters = {"name": "search_wire", "arguments": {"query": query}, "_meta": META}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}).encode()
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "scheme": "http",
        }
        headers = [(name.encode(), value.encode()) for name, value in {**HEADERS, "content-length": str(len(body))}.items()]
        scope |= {"headers": headers, "client": ("127.0.0.1", 5000), "server": ("localhost", 8000), "asgi": {"version": "3.0"}}
        scope |= {"query_string": b"", "http_version": "1.1", "root_path": "", "state": {}}
        received: list[bytes] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            received.append(message.get("body", b""))

        await application(scope, receive, send)
        return b"".join(received)

    async def ask_twice() -> set[CodeType]:
        await ask("model")
        with record_entered() as codes:
            answer = await ask("data centre")
        if b'"matched"' not in answer:
            raise SystemExit(f"search_wire answered: {answer[:300].decode()}")
        return codes

    return asyncio.run(ask_twice())


def ingest_item() -> tuple[set[CodeType], set[CodeType]]:
    """Return the code that one feed with one new item enters until its story is stored, and the code that publishes it."""
    from django.utils import timezone

    from sources.models import Feed, Publication
    from tests.feedserver import FeedServer
    from wire.ingest import run
    from wire.models import Story
    from wire.publishing.publish import publish_pending

    Feed.objects.all().delete()
    stories = Story.objects.filter(original_url__contains="publisher.example")
    with FeedServer() as server:
        server.route("/feed.xml", body=FEED.format(when=f"{timezone.now():%a, %d %b %Y %H:%M:%S} GMT").encode())
        publication = Publication.objects.active().get(seat=1)
        feed = Feed.objects.create(publication=publication, feed_type="rss", url=server.url("/feed.xml"), ai_only=True)
        with record_entered() as storing, mock.patch("wire.ingest.run.publish_pending", return_value=[]):
            run.run_ingest([feed])
    with record_entered() as publishing:
        publish_pending()
    if not stories.filter(current__isnull=False).exists():
        raise SystemExit("The item became no story.")
    return storing, publishing


@contextmanager
def record_entered() -> Iterator[set[CodeType]]:
    """Record the code objects of ours that any thread enters meanwhile, if it began after `watch_threads`."""
    codes = _recorders[0] = set[CodeType]()
    yield codes
    _recorders[0] = set()


def watch_threads() -> None:
    roots = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(roots):
            _recorders[0].add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)


if __name__ == "__main__":
    sys.exit(main())
