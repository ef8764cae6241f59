"""Find out what a new publisher's site has, from one address of it: feeds, sitemaps, name and language. Stores nothing."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urljoin

from django.utils.text import slugify

from config.errors import InvalidArgument
from sources import fetch
from sources.feed_health import HostNotes
from sources.fetch.url import WebAddress
from sources.parse import InvalidFeed, parse_feed, parse_page, parse_sitemap
from sources.parse.charsets import decode_text
from sources.parse.xml_tree import tokenize_markup
from wire.corpora.articles.indexer import MAX_DOCUMENT
from wire.corpora.articles.models import Source, is_public_suffix
from wire.ingest import feed_entries
from wire.text.plain_text import plain_text

FEED_TYPES: Final = {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
_SITEMAP: Final = re.compile(r"^\s*sitemap\s*:\s*(\S+)", re.I | re.M)
_PARTS: Final = re.compile(r"\s[|\-–—·•»:]\s")


@dataclass(slots=True)
class SiteProfile:
    """`domain` is the host, without www, that all addresses are on; `sources` those that answered as feed or sitemap."""

    homepage: str
    domain: str
    name: str = ""
    language: str = ""
    sources: list[tuple[Source.Type, str]] = field(default_factory=list)

    @property
    def slug(self) -> str:
        from tld import get_tld  # reads a list that few processes need

        known: Any = get_tld(self.homepage, as_object=True, fail_silently=True)
        return slugify(known.domain if known else self.domain.replace(".", "-").replace(":", "-"))[:40]


def explore_site(url: str) -> SiteProfile:
    """Ask a site, a few addresses at most; `url` is its home page, a feed or a sitemap. Raises: InvalidArgument if it cannot be."""
    hosts = HostNotes()
    try:
        asked = WebAddress.parse(url).authority.removeprefix("www.")
    except ValueError as error:
        raise InvalidArgument(f"{url[:200]} cannot be fetched: {error}.", "Give the address of a home page: https://…") from error
    (start,) = _fetch_urls([url], (), hosts)
    if not isinstance(start, fetch.Fetched):
        why, code = (start.message, start.code) if isinstance(start, fetch.Failed) else ("nothing came", "")
        hint = feed_entries.ALLOW_LOOPBACK if code == "private_address" else "Check whether it opens in a browser."
        raise InvalidArgument(f"{url[:200]} does not answer: {why}", hint)
    if not _is_on_domain(start.url, asked):  # somebody agreed for the site that was named, and for no other
        raise InvalidArgument(f"{url[:200]} leads to {start.url[:200]}.", "Give that address if it is the publisher's.")
    site = _describe_site(start)
    site.sources = list(_detect_sources(site, [(start.url, start)]))
    root = site.homepage
    (robots,) = _fetch_urls([urljoin(root, "robots.txt")], (site.domain,), hosts)
    listed = _SITEMAP.findall(decode_text(robots.body, robots.content_type)) if isinstance(robots, fetch.Fetched) else []
    for kind, declared, usual in (  # and where sites have them that do not say so
        (Source.Type.FEED, list(_list_feeds(start)), ("/feed", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml")),
        (Source.Type.SITEMAP, listed, ("/sitemap.xml", "/sitemap_index.xml")),
    ):
        for addresses in (declared, [urljoin(root, path) for path in usual]):
            if any(known == kind for known, _ in site.sources):
                break
            own = [one for one in dict.fromkeys(addresses) if _is_on_domain(one, site.domain)][:5]
            answers = zip(own, _fetch_urls(own, (site.domain,), hosts), strict=True)
            site.sources += [source for source in _detect_sources(site, answers) if source not in site.sources]
    site.name = site.name or site.domain
    return site


def _fetch_urls(urls: Iterable[str], within: tuple[str, ...], hosts: HostNotes) -> list[fetch.Outcome]:
    policy = replace(feed_entries.get_fetch_policy(), max_body=MAX_DOCUMENT)
    time.sleep(policy.gap if hosts else 0)  # as between the requests of one run
    asks = [fetch.Ask(number, url, within=within, is_page=True) for number, url in enumerate(urls)]
    outcomes = {ask.key: outcome for ask, outcome in fetch.fetch_all(asks, policy, hosts)}
    return [outcomes[ask.key] for ask in asks]


def _describe_site(start: fetch.Fetched) -> SiteProfile:
    host = WebAddress.parse(start.url).authority
    bare = host.removeprefix("www.")
    site = SiteProfile(urljoin(start.url, "/"), host if is_public_suffix(bare) else bare)
    if page := parse_page(start.body, content_type=start.content_type, url=start.url):
        # A title is often the name and a motto; the shorter part is rather the name.
        site.name = plain_text(page.publisher, 120) or min(_PARTS.split(plain_text(page.title, 120)), key=len)
        site.language = page.language
    return site


def _list_feeds(page: fetch.Fetched) -> Iterator[str]:
    """Yield the feeds that a page declares, but for those of its comments."""
    for kind, name, attributes in tokenize_markup(decode_text(page.body, page.content_type), ("script", "style")):
        if kind != "end" and name.lower() == "link" and isinstance(attributes, dict):
            link = {key.lower(): value for key, value in attributes.items()}
            about = f"{link.get('href')} {link.get('title')}".lower()
            if link.get("type", "").lower() in FEED_TYPES and link.get("href") and "comment" not in about:
                yield urljoin(page.url, link["href"])


def _is_on_domain(url: str, domain: str) -> bool:
    try:
        host = WebAddress.parse(url).authority
    except ValueError:
        return False
    return host == domain or host.endswith(f".{domain}")


def _detect_sources(site: SiteProfile, answers: Iterable[tuple[str, fetch.Outcome]]) -> Iterator[tuple[Source.Type, str]]:
    """Yield those of the answers that are a feed or a sitemap with something in it; name the site after a feed if need be."""
    for url, answer in answers:
        if not isinstance(answer, fetch.Fetched):
            continue
        try:
            sitemap = parse_sitemap(answer.body, content_type=answer.content_type, url=answer.url)
            if sitemap.entries or sitemap.children:
                yield Source.Type.SITEMAP, url
        except InvalidFeed:
            try:
                feed = parse_feed(answer.body, content_type=answer.content_type, url=answer.url)
            except InvalidFeed:
                continue
            if feed.entries:
                site.name = site.name or plain_text(feed.title, 120)
                site.language = site.language or next((entry.language for entry in feed.entries if entry.language), "")
                yield Source.Type.FEED, url
