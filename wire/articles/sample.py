"""The sample publisher: an almanac of articles written for this project, which is found on the sample wire and on no other.

It is indexed as any publisher is, except that its feed, sitemap and pages are files: its host, under .example, will never exist.
"""

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
from wire.articles import storing
from wire.articles.models import LicenceKind, Publisher, Source
from wire.models import WireState

SLUG: Final = "almanac"
NAME: Final = "The Pumpwick Almanac"
SITE: Final = "https://almanac.example"
FILES: Final = Path(settings.BASE_DIR) / "fixtures" / "articles" / "sample"


def is_sample(publisher: Publisher) -> bool:
    """Whether this is the almanac of the sample wire. Elsewhere its slug is like any other."""
    return publisher.slug == SLUG and WireState.objects.filter(is_sample=True).exists()


def found() -> Publisher:
    """The almanac's row, made if it is not there. One that was removed stays so.

    Raises: InvalidArgument on a wire of real news.
    """
    with transaction.atomic():
        if not WireState.lock().is_sample:
            raise InvalidArgument(
                "This is no sample wire, and invented articles are never served beside real ones.",
                "Use another WIRE_DATA_DIR, and loadsample there first.",
            )
        facts = {
            "name": NAME,
            "homepage": f"{SITE}/",
            "domains": [urlsplit(SITE).netloc],
            "consent_note": "Written for this project.",
            "consented_on": dt.date(2026, 1, 1),
            "left_out": ["/editors/"],
            "licence_kind": LicenceKind.CC,
            "licence": "CC BY 4.0",
        }
        publisher, is_new = Publisher.objects.get_or_create(slug=SLUG, defaults=facts)
        if is_new:
            for kind, path in ((Source.Kind.FEED, "/feed.xml"), (Source.Kind.SITEMAP, "/sitemap.xml")):
                publisher.sources.create(kind=kind, url=f"{SITE}{path}")
            storing.announce()
    return publisher


def fetch_all(
    asks: Iterable[fetch.Ask], _policy: fetch.Policy, _hosts: MutableMapping[str, fetch.HostNote]
) -> Generator[tuple[fetch.Ask, fetch.Outcome], None, None]:
    """What `fetch.fetch_all` would give if the almanac's host answered."""
    for ask in asks:
        file = file_of(urlsplit(ask.url).path)
        if file is None:
            yield ask, fetch.Failed("http_404", "There is no such file of the sample publisher.")
        else:
            yield ask, fetch.Fetched(file.read_bytes(), type_of(file), "", "", ask.url, "")


def file_of(path: str) -> Path | None:
    """The file of an address: `/notes/a` is in notes/a.html. None where there is none, and outside of the folder."""
    plain = (FILES / path.lstrip("/")).resolve()
    for file in (plain, plain.with_name(f"{plain.name}.html")):
        if file.is_relative_to(FILES) and file.is_file():
            return file
    return None


def type_of(file: Path) -> str:
    """As a server would send it."""
    kind = "application/rss+xml" if file.name == "feed.xml" else mimetypes.guess_type(file.name)[0] or "text/plain"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
