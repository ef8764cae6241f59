"""An article's page: how it is asked for, and what came of that in words for its publisher and for an agent."""

from dataclasses import dataclass, replace
from typing import Final

from sources import fetch
from wire.articles.models import Publisher
from wire.intake import feeds

_MISSING: Final = {"http_404", "gone"}
_LATER: Final = {"not_yet", "http_429"}  # they say nothing of the page
_WORDS: Final = {
    "http_404": "There is no page at this address (404).",
    "gone": "The publisher removed the page for good (410).",
    "http_401": "The publisher's server asks for a login (401).",
    "http_402": "The publisher's server asks for payment (402) before it gives the page.",
    "http_403": "The publisher's server refuses to give us the page (403).",
    "http_429": "The publisher's server asks for fewer requests (429).",
    "too_large": "The page is larger than 5 MB and was not read.",
    "too_large_inflated": "The page is larger than 5 MB and was not read.",
    "too_slow": "The publisher's server did not send the page in time.",
    "timeout": "The publisher's server did not send the page in time.",
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
    """Why there is no article, in a sentence. `code` is stable.

    `is_missing`: the server says that there is no such page. `is_later`: it wants to be left alone, whatever page is asked.
    """

    code: str
    message: str
    is_missing: bool = False
    is_later: bool = False


def policy() -> fetch.Policy:
    """How this installation reads publishers' pages."""
    return feeds.policy()


def ask(publisher: Publisher, key: int, url: str) -> fetch.Ask:
    """For a page, which may redirect to the publisher's own hosts only."""
    return fetch.Ask(key, url, within=tuple(publisher.domains), is_page=True)


def unread(outcome: fetch.Outcome) -> Unread | None:
    """Why a page could not be fetched; None if it was."""
    if isinstance(outcome, fetch.Fetched):
        return None
    if isinstance(outcome, fetch.Unchanged):  # which no page was asked for
        return Unread("broken_answer", _WORDS["broken_answer"])
    code = outcome.code
    message = _WORDS.get(code, outcome.message)
    if code.startswith("http_") and code not in _WORDS:
        message = f"The publisher's server answers {code.removeprefix('http_')} instead of the page."
    return Unread(code, message, code in _MISSING, code in _LATER)


def patient(how: fetch.Policy, seconds: float) -> fetch.Policy:
    """The same way of asking, with an end to all of it."""
    return replace(how, patience=seconds, deadline=seconds)
