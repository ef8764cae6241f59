"""The sample publisher served on loopback, and indexed as any other: by the command, over HTTP, with its robots.txt."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import Any, Final

import pytest
from django.core.management import call_command
from django.db import transaction

from tests.feedserver import FeedServer
from wire.corpora.articles import sample
from wire.ingest import feed_entries

ARTICLES: Final = 40
SLUG: Final = sample.SLUG


def serve(server: FeedServer) -> None:
    """Every file at its address, with links that lead to this server."""
    for file in sample.FILES.rglob("*"):
        if file.suffix in {".xml", ".txt", ".html"}:
            name = file.relative_to(sample.FILES).as_posix().removesuffix(".html")
            body = file.read_text(encoding="utf-8").replace(sample.SITE, server.url(""))
            server.route(f"/{name}", body=body.encode(), content_type=sample.guess_content_type(file))


def index(server: FeedServer) -> str:
    """Serve it, have it for a publisher, and index it; what the command said."""
    serve(server)
    where = ("--homepage", server.url("/"), "--domain", f"127.0.0.1:{server.port}")
    sources = ("--feed", server.url("/feed.xml"), "--sitemap", server.url("/sitemap.xml"))
    consent = ("--consent-note", "Written for this project.", "--consented-on", "2026-01-01")
    terms = ("--licence", "CC BY 4.0", "--licence-kind", "cc")
    publishers("add", SLUG, sample.NAME, *where, *sources, *consent, *terms)
    return publishers("index", SLUG)


def publishers(*arguments: str) -> str:
    """What the command said, both to those who read its output and to those who read its errors."""
    out = io.StringIO()
    call_command("publishers", *arguments, stdout=out, stderr=out)
    return out.getvalue()


@contextmanager
def loopback_asked() -> Iterator[None]:
    """Pages of this machine may be asked, and without the pause that a publisher's server is given."""
    with pytest.MonkeyPatch.context() as patch:
        quick = replace(feed_entries.get_fetch_policy(), allow=(ip_network("127.0.0.0/8"),), gap=0.0)
        patch.setattr(feed_entries, "get_fetch_policy", lambda: quick)
        yield


@contextmanager
def undone() -> Iterator[None]:
    """What is written meanwhile is there for every test of a module, and for none of another."""
    outer: Any = transaction.atomic()
    outer._from_testcase = True  # as Django marks its own, so that code that commits may run within
    with outer:
        yield
        transaction.set_rollback(True)
