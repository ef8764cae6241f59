"""Collects the ClaimReviews of a publisher's own site, politely, into a file that is loaded like any other.

The file is a data feed with a line for each page that was read, so that a collection that was killed goes on behind the last page;
a page is asked again only when the sitemap says that it changed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urljoin

import orjson
from django.conf import settings
from django.utils import timezone

from config.tokens import hash_token
from sources import fetch
from sources.entries import Entry
from sources.feed_health import HostNotes
from sources.fetch.url import WebAddress
from sources.parse import InvalidFeed, parse_feed, parse_sitemap
from sources.parse.charsets import decode_text
from wire.corpora.factchecks import file_formats
from wire.corpora.factchecks.file_formats import Unreadable
from wire.corpora.factchecks.load_jobs import lock_file
from wire.ingest import feed_entries

MAX_PAGES: Final = 1_000  # of one run; the next goes on
MAX_DOCUMENT: Final = 50 << 20  # bytes of a sitemap (sitemaps.org)
MOST_TROUBLE: Final = 5  # failures in a row after which the server is left alone


@dataclass(slots=True)
class SiteReport:
    """The result of a run. `file` holds what is to be loaded; counts are of pages."""

    file: Path
    read: int = 0
    with_reviews: int = 0
    left: int = 0
    failures: Counter[str] = field(default_factory=Counter)  # by what happened


def parse_address(given: str) -> str | None:
    """Return the address that is meant by one, or by a domain; None for what is neither, such as the name of a file."""
    is_domain = "." in given and "/" not in given.rstrip("/") and not given.lower().endswith((*file_formats.SUFFIXES, ".gz"))
    if not given.lower().startswith(("http://", "https://")) and not is_domain:
        return None
    try:
        return str(WebAddress.parse(given if "://" in given else f"https://{given}"))
    except ValueError:
        return None


def collect_reviews(
    address: str,
    progress: Callable[[SiteReport], None] = lambda _report: None,
    most_pages: int = MAX_PAGES,
    how: fetch.Policy | None = None,
) -> SiteReport:
    """Read the reviews of a document, feed, sitemap or site into a file. Raises: Unreadable, if nothing there leads to pages."""
    run = _Run(WebAddress.parse(address), replace(how or feed_entries.get_fetch_policy(), max_body=MAX_DOCUMENT))
    try:
        return run.collect_reviews(progress, most_pages)
    finally:
        run.hosts.save()


@dataclass(slots=True)
class _Run:
    address: WebAddress
    how: fetch.Policy
    hosts: HostNotes = field(default_factory=HostNotes)

    def collect_reviews(self, progress: Callable[[SiteReport], None], most_pages: int) -> SiteReport:
        url = str(self.address)
        ((_, outcome),) = self._fetch_urls([url], is_page=True)
        if not isinstance(outcome, fetch.Fetched):
            is_private = isinstance(outcome, fetch.Failed) and outcome.code == "private_address"
            hint = f" {feed_entries.ALLOW_LOOPBACK}" if is_private else ""
            raise Unreadable(f"{url} cannot be read: {_describe_failure(outcome)}{hint}")
        directory = settings.WIRE_DATA_DIR / "factchecks"
        directory.mkdir(parents=True, exist_ok=True)
        # A query may hold a token, and names of files are listed at the desk.
        plain, _, query = url.partition("://")[2].partition("?")
        name = re.sub(r"[^\w.-]", "_", plain.rstrip("/"))[:150] + (f"-{hash_token(query)[:8]}" if query else "")
        pages = self._list_pages(outcome)
        if pages is None:
            is_json = outcome.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
            file = directory / f"{name}{'.json' if is_json else '.csv'}"
            file.write_bytes(outcome.body)
            return SiteReport(file)
        file = directory / f"{name}.ndjson"
        file.touch()
        with lock_file(file), file.open("r+b") as spool:
            known = _read_spooled_pages(spool)
            waiting = {page: changed for page, changed in pages.items() if known.get(page) != changed}
            report = SiteReport(file, left=len(waiting))
            self._spool_pages(spool, dict(list(waiting.items())[:most_pages]), report, progress)
        return report

    def _list_pages(self, first: fetch.Fetched) -> dict[str, str] | None:
        """Return the pages to ask, newest first, each with when it changed; None where the first document is a file of claims."""
        try:
            sitemap = parse_sitemap(first.body, content_type=first.content_type, url=first.url)
            entries = [*sitemap.entries, *self._follow_sitemaps(sitemap.children)]
        except InvalidFeed:
            try:
                entries = parse_feed(first.body, content_type=first.content_type, url=first.url).entries
            except InvalidFeed:
                text = decode_text(first.body, first.content_type)
                if text.lstrip()[:1] != "<":
                    return None
                if any(isinstance(one, Mapping) for one in file_formats.find_page_reviews(text)):
                    return {first.url: timezone.now().isoformat()}
                entries = self._list_site_pages(first.url)
        own = [(entry.url, str(entry.changed_at or entry.published_at or "")) for entry in entries if self._is_own_url(entry.url)]
        if not own:
            raise Unreadable(f"{self.address} leads to no page of its own: it has no review, and no sitemap or feed names pages")
        return dict(sorted(own, key=lambda one: one[1], reverse=True))

    def _list_site_pages(self, home: str) -> list[Entry]:
        """Return the pages below the address that the site's sitemaps name: those of its robots.txt, or the usual ones."""
        note = self.hosts.get(self.address.authority)
        lines = (line.partition(":") for line in (note.robots or "").splitlines()) if note else ()
        named = [urljoin(home, value.strip()) for name, _, value in lines if name.strip().lower() == "sitemap"]
        entries = self._follow_sitemaps(named or [urljoin(home, path) for path in ("/sitemap.xml", "/sitemap_index.xml")])
        below = _without_www(home).removesuffix("/")
        return [entry for entry in entries if _without_www(entry.url).startswith(below)]

    def _follow_sitemaps(self, urls: Sequence[str]) -> list[Entry]:
        asked, entries = set[str](), list[Entry]()
        while waiting := [url for url in dict.fromkeys(urls) if url not in asked and self._is_own_url(url)][: 200 - len(asked)]:
            asked |= set(waiting)
            urls = []
            for _, answer in self._fetch_urls(waiting):
                if isinstance(answer, fetch.Fetched):
                    with suppress(InvalidFeed):
                        sitemap = parse_sitemap(answer.body, content_type=answer.content_type, url=answer.url)
                        entries += sitemap.entries
                        urls += sitemap.children
        return entries

    def _spool_pages(
        self, spool: IO[bytes], pages: Mapping[str, str], report: SiteReport, progress: Callable[[SiteReport], None]
    ) -> None:
        trouble = 0
        for ask, outcome in self._fetch_urls(list(pages), is_page=True):
            reviews = list[Mapping[str, Any]]()
            if isinstance(outcome, fetch.Fetched):
                trouble = 0
                try:
                    found = file_formats.find_page_reviews(decode_text(outcome.body, outcome.content_type), ask.url)
                    reviews = [one for one in found if isinstance(one, Mapping)]
                except Unreadable as error:
                    report.failures[f"{error}"] += 1
            elif not (isinstance(outcome, fetch.Failed) and outcome.code in ("http_404", "gone")):
                report.failures[_describe_failure(outcome)] += 1
                trouble += 1
                if trouble == MOST_TROUBLE:
                    return
                continue
            line = {"@type": "DataFeedItem", "url": ask.url, "dateModified": pages[ask.url], "item": reviews}
            spool.write(orjson.dumps(line) + b"\n")
            spool.flush()
            report.read, report.with_reviews, report.left = report.read + 1, report.with_reviews + bool(reviews), report.left - 1
            progress(report)

    def _fetch_urls(self, urls: Sequence[str], *, is_page: bool = False) -> Iterator[tuple[fetch.Ask, fetch.Outcome]]:
        host = self.address.host.removeprefix("www.")
        asks = [fetch.Ask(number, url, within=(host, self.address.authority), is_page=is_page) for number, url in enumerate(urls)]
        with closing(fetch.fetch_all(asks, self.how, self.hosts)) as fetched:
            yield from fetched

    def _is_own_url(self, url: str) -> bool:
        try:
            host, own = WebAddress.parse(url).host, self.address.host.removeprefix("www.")
        except ValueError:
            return False
        return host == own or host.endswith(f".{own}")


def _without_www(url: str) -> str:
    return url.partition("://")[2].removeprefix("www.")


def _read_spooled_pages(spool: IO[bytes]) -> dict[str, str]:
    """Return when each page in the file had changed, and leave the file open behind its last whole line."""
    known, end = dict[str, str](), 0
    for line in spool:
        if not line.endswith(b"\n"):  # the run was killed while it wrote
            break
        entry = orjson.loads(line)
        known[entry["url"]], end = entry["dateModified"], spool.tell()
    spool.seek(end)
    spool.truncate()
    return known


def _describe_failure(outcome: fetch.Outcome) -> str:
    return outcome.message if isinstance(outcome, fetch.Failed) else "the server says that nothing changed"
