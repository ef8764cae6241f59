"""Any feed's bytes in, entries out. Pure: nothing is fetched, nothing is stored, and no input costs more than its size.

`documents` says what the bytes are and hands them on; `markup` reads XML within limits; `feeds`, `sitemaps` and `jsonfeed` know the
formats; `page` reads an article's metadata; `googlenews` what is special to Google's searches. `article` makes Markdown of a page
or of a feed's full content, through `markdown`, and `extractor` reads pages in processes that can be ended.
Imports nothing of the other rooms of sources but `entries` and `hosts`.
"""

from sources.parse.documents import parse, parse_sitemap
from sources.parse.googlenews import search_url
from sources.parse.page import parse_page
from sources.parse.parsed import MAX_ITEMS, InvalidFeed, Kind, Parsed, Sitemap

__all__ = ["MAX_ITEMS", "InvalidFeed", "Kind", "Parsed", "Sitemap", "parse", "parse_page", "parse_sitemap", "search_url"]
