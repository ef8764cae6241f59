"""Parsing of any feed's bytes into entries. Pure: nothing is fetched, nothing is stored, and no input costs more than its size."""

from sources.parse.feed_document import parse_feed, parse_sitemap
from sources.parse.feed_items import build_search_url
from sources.parse.page_metadata import parse_page
from sources.parse.results import MAX_ITEMS, InvalidFeed, Kind, Parsed, Sitemap

__all__ = ["MAX_ITEMS", "InvalidFeed", "Kind", "Parsed", "Sitemap", "build_search_url", "parse_feed", "parse_page", "parse_sitemap"]
