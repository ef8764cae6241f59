"""The sample publisher: an almanac of articles written for this project, on the sample wire alone. Its site is files."""

import datetime as dt
import mimetypes
from collections.abc import Generator, Iterable, MutableMapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from config.errors import InvalidArgument
from sources import fetch
from wire.corpora.articles import store
from wire.corpora.articles.models import LicenceKind, Publisher, Source
from wire.models import WireState

SLUG: Final = "almanac"
NAME: Final = "The Pumpwick Almanac"
SITE: Final = "https://almanac.example"
FILES: Final = Path(settings.BASE_DIR) / "fixtures" / "articles" / "sample"


def is_sample_publisher(publisher: Publisher) -> bool:
    """Return whether this is the almanac of the sample wire; elsewhere its slug is like any other."""
    return publisher.slug == SLUG and WireState.objects.filter(is_sample=True).exists()


def create_almanac() -> Publisher:
    """Return the almanac's row, created if there is none; a removed one stays so. Raises: InvalidArgument on a real wire."""
    facts = {
        **{"name": NAME, "homepage": f"{SITE}/", "domains": [urlsplit(SITE).netloc], "left_out": ["/editors/"]},
        **{"consent_note": "Written for this project.", "consented_on": dt.date(2026, 1, 1)},
        **{"licence_kind": LicenceKind.CC, "licence": "CC BY 4.0"},
    }
    with transaction.atomic():
        if not WireState.lock().is_sample:
            message = "This is not a sample wire, and invented articles are never served beside real ones."
            raise InvalidArgument(message, "Use another WIRE_DATA_DIR, and run loadsample there first.")
        publisher, is_new = Publisher.objects.get_or_create(slug=SLUG, defaults=facts)
        if is_new:
            for kind, path in ((Source.Type.FEED, "/feed.xml"), (Source.Type.SITEMAP, "/sitemap.xml")):
                publisher.sources.create(kind=kind, url=f"{SITE}{path}")
            store.invalidate_caches()
    return publisher


def fetch_all(
    asks: Iterable[fetch.Ask], _policy: fetch.Policy, _hosts: MutableMapping[str, fetch.HostNote]
) -> Generator[tuple[fetch.Ask, fetch.Outcome], None, None]:
    """Answer from files, as `fetch.fetch_all` would if the almanac's host existed: `/notes/a` is notes/a.html."""
    for ask in asks:
        plain = (FILES / urlsplit(ask.url).path.lstrip("/")).resolve()
        files = (file for file in (plain, plain.with_name(f"{plain.name}.html")) if file.is_relative_to(FILES) and file.is_file())
        if file := next(files, None):
            yield ask, fetch.Fetched(file.read_bytes(), guess_content_type(file), "", "", ask.url, "")
        else:
            yield ask, fetch.Failed("http_404", "There is no such file of the sample publisher.")


def guess_content_type(file: Path) -> str:
    kind = "application/rss+xml" if file.name == "feed.xml" else mimetypes.guess_type(file.name)[0] or "text/plain"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
