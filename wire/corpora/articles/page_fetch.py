"""Pages of articles: how they are asked for, and outcomes in words for their publisher and for an agent."""

from dataclasses import dataclass
from typing import Final

from sources import fetch
from sources.parse.article import InvalidArticle
from wire.corpora.articles.models import Publisher
from wire.ingest import feed_entries

_MISSING: Final = {"http_404", "gone"}
_LATER: Final = {"not_yet", "http_429"}  # they say nothing of the page
_WORDS: Final = {
    "http_404": "There is no page at this address (404).",
    "gone": "The publisher removed the page for good (410).",
    "http_401": "The publisher's server asks for a login (401).",
    "http_402": "The publisher's server asks for payment (402) before it gives the page.",
    "http_403": "The publisher's server refuses to give us the page (403).",
    "http_429": "The publisher's server asks for fewer requests (429).",
    **dict.fromkeys(("too_large", "too_large_inflated"), "The page is larger than 5 MB and was not read."),
    **dict.fromkeys(("too_slow", "timeout"), "The publisher's server did not send the page in time."),
    "private_address": "The address leads into a private network; it was not asked.",
    "not_yet": "The publisher's server is left alone for some minutes, as it asked or because it failed several times.",
    "robots": "The publisher's robots.txt forbids the page to us, or could not be read.",
    "redirect_loop": "The address redirects in a circle, or too often.",
    "bad_redirect": "The address redirects to where nobody can follow.",
    "dns": "The publisher's server was not found.",
    "connect": "The publisher's server accepts no connection.",
    "broken_answer": "The publisher's server broke off before its answer was complete.",
}


@dataclass(frozen=True, slots=True)
class Unread:
    """The reason why there is no article, in a sentence. `code` is stable.

    `is_missing`: the server, or the page itself, says that there is no such page. `is_later`: the server wants to be left alone,
    whatever page is asked.
    """

    code: str
    message: str
    is_missing: bool = False
    is_later: bool = False


def policy() -> fetch.Policy:
    return feed_entries.policy()


def ask(publisher: Publisher, key: int, url: str) -> fetch.Ask:
    """Return the request for a page, which may redirect to the publisher's own hosts only, and to no path that is left out."""
    return fetch.Ask(key, url, within=publisher.own_domains, avoid=publisher.leaves_out, is_page=True)


def unread(outcome: fetch.Unchanged | fetch.Failed) -> Unread:
    """Return why a page could not be fetched."""
    if isinstance(outcome, fetch.Unchanged):  # which no page was asked for
        return Unread("broken_answer", _WORDS["broken_answer"])
    code = outcome.code
    message = _WORDS.get(code, outcome.message)
    if code.startswith("http_") and code not in _WORDS:
        message = f"The publisher's server answers {code.removeprefix('http_')} instead of the page."
    return Unread(code, message, code in _MISSING, code in _LATER)


def unreadable(error: InvalidArticle) -> Unread:
    """Return why a page that came is no article; one that says that it does not exist counts as missing, whatever its status."""
    return Unread(error.code, str(error), is_missing=error.code == "not_found_page")
