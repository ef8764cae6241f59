"""JSON Feed 1.0 and 1.1 (https://jsonfeed.org/version/1.1) as entries."""

import re
from typing import Any, Final

import orjson

from sources.entries import Entry
from sources.parse.dates import read_date
from sources.parse.links import is_web, resolve, web
from sources.parse.markup import as_markup, as_paragraphs
from sources.parse.results import MAX_ITEMS, InvalidFeed, Parsed, too_many

MAX_VALUES: Final = 1_000_000  # objects and lists; counted before any is built
# Escaped backslashes and pairs are passed over, so that the group is what is half of a pair.
_HALF: Final = re.compile(r"\\\\|\\u(?i:d[89ab][0-9a-f]{2})\\u(?i:d[c-f][0-9a-f]{2})|(\\u(?i:d[89a-f][0-9a-f]{2}))")


def read(text: str, url: str) -> Parsed:
    """Return the items of a JSON Feed. Values of a wrong type count as absent. Raises: InvalidFeed."""
    if text.count("{") + text.count("[") > MAX_VALUES:
        raise InvalidFeed("The feed holds far more values than it can need.")
    try:
        feed = orjson.loads(text)
    except ValueError:
        # Half a surrogate pair, as an emoji cut in two leaves it, becomes U+FFFD, so that it costs no more.
        try:
            feed = orjson.loads(_HALF.sub(lambda match: "\\ufffd" if match[1] else match[0], text))
        except ValueError as error:
            raise InvalidFeed(f"The file is not JSON: {error}.") from error
    if not isinstance(feed, dict) or "jsonfeed.org/version/" not in _text(feed, "version"):
        raise InvalidFeed("The file is JSON, but not a JSON Feed.")
    items = [item for item in _list(feed, "items") if isinstance(item, dict)]
    if len(items) > MAX_ITEMS:
        raise too_many()
    base = resolve(url, _text(feed, "home_page_url")) or url
    return Parsed([_entry(item, feed, base) for item in items], _text(feed, "title"), "json")


def _entry(item: dict[str, Any], feed: dict[str, Any], base: str) -> Entry:
    guid = _text(item, "id")
    published, modified = read_date(_text(item, "date_published")), read_date(_text(item, "date_modified"))
    images = (web(base, _text(item, name)) for name in ("image", "banner_image"))
    return Entry(
        publisher=_text(feed, "title"),
        title=as_markup(_text(item, "title")),
        url=resolve(base, _text(item, "url") or _text(item, "external_url")) or (guid if is_web(guid) else ""),
        published_at=published or modified,
        summary=as_markup(_text(item, "summary") or _text(item, "content_text")) or _text(item, "content_html"),
        author=_join_authors(item) or _join_authors(feed),
        guid=guid,
        language=(_text(item, "language") or _text(feed, "language"))[:35],
        image=next(filter(None, images), ""),
        content=_text(item, "content_html") or as_paragraphs(_text(item, "content_text")),
    )


def _join_authors(node: dict[str, Any]) -> str:  # `authors` of version 1.1, `author` of 1.0
    people = [person for person in (*_list(node, "authors"), node.get("author")) if isinstance(person, dict)]
    return ", ".join(dict.fromkeys(filter(None, (_text(person, "name") for person in people))))


def _text(node: dict[str, Any], name: str) -> str:
    value = node.get(name)
    if name == "id" and isinstance(value, int | float):  # "should be coerced to a string"
        return str(value)
    return value.strip() if isinstance(value, str) else ""


def _list(node: dict[str, Any], name: str) -> list[Any]:
    value = node.get(name)
    return value if isinstance(value, list) else []
