"""What the tests of this folder share: a policy for loopback, and one ask at a time."""

import datetime as dt
from collections.abc import Iterable, Mapping, MutableMapping
from ipaddress import ip_network
from typing import Any

from sources.fetch import Ask, Failed, Fetched, HostNote, Outcome, Policy, Unchanged, fetch_all

AGENT = "ChatbotNewsBot/1.0 (+https://chatbotnews.ai)"
LOOPBACK = (ip_network("127.0.0.0/8"),)


def policy(**changes: Any) -> Policy:
    """Everything on loopback, at once and without patience."""
    return Policy(**{"user_agent": AGENT, "allow": LOOPBACK, "gap": 0.0, "deadline": 5.0, **changes})


def fetch(
    url: str,
    *,
    etag: str = "",
    last_modified: str = "",
    hosts: MutableMapping[str, HostNote] | None = None,
    resolver: Any = None,
    tls: Any = None,
    is_page: bool = False,
    **changes: Any,
) -> Outcome:
    """What comes of one ask."""
    notes = {} if hosts is None else hosts
    ask = Ask(1, url, etag, last_modified, is_page=is_page)
    ((_, outcome),) = fetch_all([ask], policy(**changes), notes, resolver=resolver, tls=tls)
    return outcome


def fetch_each(
    urls: Mapping[str, str], *, hosts: MutableMapping[str, HostNote] | None = None, **changes: Any
) -> dict[str, Outcome]:
    """What comes of all of these asks in one run, by name."""
    names = list(urls)
    asks = [Ask(number, url) for number, url in enumerate(urls.values())]
    return {names[ask.key]: outcome for ask, outcome in fetch_all(asks, policy(**changes), {} if hosts is None else hosts)}


def codes(urls: Mapping[str, str], **changes: Any) -> dict[str, str]:
    """The same: by which code each failed, or "" for what was fetched."""
    return {name: getattr(outcome, "code", "") for name, outcome in fetch_each(urls, **changes).items()}


def every(names: Iterable[str], code: str) -> dict[str, str]:
    """What `codes` tells when all of these end in the same way."""
    return dict.fromkeys(names, code)


def fetched(url: str, **options: Any) -> Fetched:
    outcome = fetch(url, **options)
    assert isinstance(outcome, Fetched), outcome
    return outcome


def unchanged(url: str, **options: Any) -> Unchanged:
    outcome = fetch(url, **options)
    assert isinstance(outcome, Unchanged), outcome
    return outcome


def failed(url: str, **options: Any) -> Failed:
    outcome = fetch(url, **options)
    assert isinstance(outcome, Failed), outcome
    return outcome


def robots_known(*authorities: str, text: str = "") -> dict[str, HostNote]:
    """Notes of hosts whose robots.txt was read just now."""
    return {authority: HostNote(text, dt.datetime.now(dt.UTC)) for authority in authorities}
