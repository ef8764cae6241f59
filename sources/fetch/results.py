"""Requests, their results, and the state of hosts between runs. Plain values; nothing here touches the network."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Final

from config.url_secrets import mask_addresses

LONGEST_WAIT: Final = dt.timedelta(days=7)  # no server's Retry-After silences a feed for longer


@dataclass(frozen=True, slots=True)
class Ask:
    """A feed to fetch. `key` is the caller's own; `etag` and `last_modified` are those of the last answer, as they came.

    `within` are the hosts, with those below them, that it may be redirected to; all public ones, if it is empty. `avoid` says of a
    path, with its query, whether no redirect may lead there. `is_page` asks for a web page and not for a feed, `accept` for
    other content, as an Accept header names it (RFC 9110 §12.5.1).
    """

    key: int
    url: str
    etag: str = ""
    last_modified: str = ""
    within: tuple[str, ...] = ()
    avoid: Callable[[str], bool] | None = None
    is_page: bool = False
    accept: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer with content: `body` is inflated and of any type, `url` is where it was found after redirects, and so is `moved_to`
    if all of them were permanent (301, 308; RFC 9110 §15.4), else empty.
    """

    body: bytes
    content_type: str
    etag: str
    last_modified: str
    url: str
    moved_to: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """304: what the caller has is current. The validators are the new ones, or those that were sent if none came."""

    etag: str
    last_modified: str
    url: str
    moved_to: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing came of it. `code` is stable (a 410 is `gone`); `message`, public and with addresses masked, tells an editor what
    happened and what to do. `retry_after` is the wait that the server asked for (RFC 9110 §10.2.3), at most `LONGEST_WAIT`.
    """

    code: str
    message: str
    retry_after: dt.timedelta | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", mask_addresses(self.message))


Outcome = Fetched | Unchanged | Failed


class NotFetched(Exception):
    """Ends a request from wherever it is noticed; `failed` is what the caller gets."""

    def __init__(self, code: str, message: str, *, retry_after: dt.timedelta | None = None) -> None:
        self.failed = Failed(code, message, retry_after)
        super().__init__(self.failed.message)


@dataclass(slots=True)
class HostNote:
    """State of a host; the caller keeps it between runs. `robots` is the text of its robots.txt (None: never read), asked for at
    `robots_at`; if that failed, older rules stay in force. Nobody asks the host anything before `not_before`.
    """

    robots: str | None = None
    robots_at: dt.datetime | None = None
    robots_failed: bool = False
    not_before: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Behaviour towards servers, and limits on what they send. Times in seconds, sizes in bytes.

    `allow` opens networks that are not public. `deadline` is for one feed, redirects included, without waiting for its turn and
    robots.txt, which `patience` includes (None: no such bound). `max_body` bounds what comes and what it inflates to.
    """

    user_agent: str
    allow: tuple[IPv4Network | IPv6Network, ...] = ()
    gap: float = 1.0
    concurrency: int = 24
    deadline: float = 30.0
    patience: float | None = None
    connect_timeout: float = 10.0
    read_timeout: float = 15.0
    max_body: int = 5 << 20
    max_redirects: int = 5
