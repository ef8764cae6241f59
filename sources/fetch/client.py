"""Conditional GETs: turns of hosts, robots.txt, redirects, and the meaning of the answer."""

import asyncio
import datetime as dt
import logging
import re
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final, Literal

from config.url_secrets import mask_address
from sources.fetch import robots
from sources.fetch.body import build_too_large_error, read_body
from sources.fetch.results import LONGEST_WAIT, Ask, Failed, Fetched, HostNote, NotFetched, Outcome, Policy, Unchanged
from sources.fetch.transport import Network
from sources.fetch.url import WebAddress

ACCEPT: Final = "application/atom+xml, application/rss+xml, application/rdf+xml, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.1"
Kind = Literal["feed", "page", "robots"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Response:
    """A final answer. Header names are in lower case; the body is read only of a 200."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: WebAddress


@dataclass(slots=True)
class Lane:
    """Access to one host in this run: one request at a time, `gap` seconds from the end of one to the start of the next."""

    gap: float
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended: float = float("-inf")
    reading_robots: asyncio.Lock = field(default_factory=asyncio.Lock)
    rules: robots.Rules | Failed | None = None


@asynccontextmanager
async def _limit_time(timeout: asyncio.Timeout, host: str) -> AsyncIterator[None]:
    try:
        async with timeout:
            yield
    except TimeoutError as error:
        if not timeout.expired():
            raise
        raise NotFetched("too_slow", f"{host} took too long to answer; try again later.") from error


class Client:
    """Fetches in one event loop. `hosts` is the caller's and updated in place."""

    def __init__(self, policy: Policy, hosts: MutableMapping[str, HostNote], network: Network) -> None:
        self._policy = policy
        self._hosts = hosts
        self._network = network
        self._lanes: dict[str, Lane] = {}
        self._token = robots.get_agent_token(policy)

    async def get(self, ask: Ask) -> Outcome:
        """Return the outcome of one ask; never raises for what the network does, and a fault of ours costs only this ask."""
        try:
            url = WebAddress.parse(ask.url)
        except ValueError as error:
            return Failed("bad_url", f"The address cannot be fetched: {error}; correct it.")
        # RFC 9110 §13.1: the validators of the last answer, where they can be headers.
        validators = {"If-None-Match": _keep_valid_header(ask.etag), "If-Modified-Since": _keep_valid_header(ask.last_modified)}
        headers = {name: value for name, value in validators.items() if value}
        if accept := ask.accept or ("text/html, application/xhtml+xml, */*;q=0.1" if ask.is_page else ""):
            headers["Accept"] = accept
        try:
            async with _limit_time(asyncio.timeout(self._policy.patience), url.host):
                answer, moved_to = await self._follow_redirects(url, headers, self._policy.max_redirects, ask)
            return _build_outcome(ask, answer, moved_to)
        except NotFetched as end:
            return end.failed
        except Exception:
            logger.exception("Fetching %s failed on our side.", mask_address(ask.url))
            return Failed("internal_error", "Something failed on our side; it was logged.")

    async def get_body(self, url: WebAddress) -> bytes:
        """Return the body at an address that an operator gave, from its own server, robots.txt unasked. Raises: NotFetched."""
        ask = Ask(0, str(url), within=(url.authority,), is_page=True)
        async with _limit_time(asyncio.timeout(self._policy.patience), url.host):
            answer, _ = await self._follow_redirects(url, {"Accept": "*/*"}, self._policy.max_redirects, ask, obeys_robots=False)
        if answer.status != 200:
            raise NotFetched(f"http_{answer.status}", f"{url} answers {answer.status}.")
        return answer.body

    async def _follow_redirects(
        self, url: WebAddress, headers: Mapping[str, str], most: int, ask: Ask | None = None, *, obeys_robots: bool = True
    ) -> tuple[Response, str]:
        """Return the final answer, each target checked like the first; and its address, if all redirects were permanent, or ""."""
        kind: Kind = "robots" if ask is None else "page" if ask.is_page else "feed"
        left = self._policy.deadline  # seconds, for all requests together; waiting for a turn costs none of them
        seen = {url}
        moved_to, permanent = "", True
        while True:
            if kind != "robots" and obeys_robots:  # a robots.txt obeys no other
                await self._obey_robots_txt(url)
            answer, left = await self._send_request(url, headers, left, kind)
            if answer.status not in {301, 302, 303, 307, 308}:
                return answer, moved_to
            target = _parse_redirect(url, answer.headers)
            permanent = permanent and answer.status in {301, 308}
            moved_to = str(target) if permanent else ""
            if target in seen or len(seen) > most:
                message = f"The address redirects in a circle, or more than {most} times; look for the feed's final address."
                raise NotFetched("redirect_loop", message)
            host = target.authority
            if ask and ask.within and not any(host == own or host.endswith(f".{own}") for own in ask.within):
                message = f"The address redirects to {host}, which is not the publisher's; nothing was fetched."
                raise NotFetched("foreign_redirect", message)
            if ask and ask.avoid and ask.avoid(target.target):
                message = "The address redirects to a path that is left out of this publisher's index. It was not fetched."
                raise NotFetched("left_out_redirect", message)
            seen.add(target)
            url = target

    async def _send_request(self, url: WebAddress, asked: Mapping[str, str], left: float, kind: Kind) -> tuple[Response, float]:
        """Send one request in its turn; return the answer, and the seconds that are left. Raises: NotFetched."""
        # A robots.txt is read only up to its cap; a longer feed is refused, one that breaks off is not: the items that came whole
        # are taken, while half a page would be half an article.
        is_robots = kind == "robots"
        cap, accept = (robots.MAX_SIZE, "text/plain") if is_robots else (self._policy.max_body, ACCEPT)
        sent = {"User-Agent": self._policy.user_agent, "Accept": accept, "Accept-Encoding": "gzip, deflate", **asked}
        loop = asyncio.get_running_loop()
        async with self._take_host_turn(url.authority):
            ends = loop.time() + left
            async with _limit_time(asyncio.timeout_at(ends), url.host), self._network.request(url, sent) as response:
                headers = _decode_headers(response.headers)
                body = b""
                if response.status == 200:
                    length = headers.get("content-length", "")
                    if not is_robots and length.isdecimal() and int(length[:20]) > cap:
                        raise build_too_large_error(cap)
                    encoding = headers.get("content-encoding", "")
                    body = await read_body(response.aiter_stream(), encoding, cap, cut=is_robots, may_break_off=kind == "feed")
                elif response.status in {429, 503} and (wait := read_retry_after(headers.get("retry-after", ""))):
                    self._hosts.setdefault(url.authority, HostNote()).not_before = _now() + wait
            return Response(response.status, headers, body, url), ends - loop.time()

    @asynccontextmanager
    async def _take_host_turn(self, authority: str) -> AsyncIterator[None]:
        """Make this the host's only request of the moment. Raises: NotFetched not_yet if it asked to be left alone."""
        lane = self._lanes.setdefault(authority, Lane(self._policy.gap))
        async with lane.turn:
            self._refuse_early(authority)
            if (pause := lane.ended + lane.gap - _clock()) > 0:
                await asyncio.sleep(pause)
            try:
                yield
            finally:
                lane.ended = _clock()

    def _refuse_early(self, authority: str) -> None:
        note = self._hosts.get(authority)
        if note is None or note.not_before is None:
            return
        left = note.not_before - _now()
        if dt.timedelta(0) < left <= LONGEST_WAIT:  # what was agreed on with a clock that was ahead binds nobody
            message = f"{authority} asked not to be contacted until {note.not_before:%Y-%m-%d %H:%M} UTC; no request was sent."
            raise NotFetched("not_yet", message, retry_after=left)

    async def _obey_robots_txt(self, url: WebAddress) -> None:
        self._refuse_early(url.authority)
        lane = self._lanes.setdefault(url.authority, Lane(self._policy.gap))
        async with lane.reading_robots:
            if lane.rules is None:
                lane.rules = await self._load_rules(url)
        if isinstance(lane.rules, Failed):
            raise NotFetched(lane.rules.code, lane.rules.message, retry_after=lane.rules.retry_after)
        lane.gap = max(self._policy.gap, lane.rules.delay)
        if not lane.rules.allow(str(url)):
            message = f"The robots.txt of {url.host} forbids this address; ask the publisher, or use another feed."
            raise NotFetched("robots", message)

    async def _load_rules(self, url: WebAddress) -> robots.Rules | Failed:
        """Return the host's rules: the stored ones if they are fresh, or if asking for them fails (RFC 9309 §2.3.1.4, §2.4)."""
        note = self._hosts.setdefault(url.authority, HostNote())
        fresh = note.robots_at is not None and not note.robots_failed and abs(_now() - note.robots_at) < dt.timedelta(days=1)
        if note.robots is None or not fresh:
            end = await self._fetch_robots_txt(url._replace(target="/robots.txt"), note)
            note.robots_at, note.robots_failed = _now(), end is not None
            if end and note.robots is None:
                if end.code in {"private_address", "dns", "connect", "tls"}:  # these say more than that robots.txt is missing
                    return end
                why = f"The robots.txt of {url.host} could not be read, so nothing may be fetched there: {end.message}"
                return Failed("robots", why, end.retry_after)
        return robots.Rules(note.robots or "", self._token)

    async def _fetch_robots_txt(self, url: WebAddress, note: HostNote) -> Failed | None:
        """Note a robots.txt; return why nobody can tell what the host wants: 429, 5xx, no answer (RFC 9309 §2.3.1)."""
        try:
            answer, _ = await self._follow_redirects(url, {}, 5)
        except NotFetched as end:
            if end.failed.code != "redirect_loop":
                return end.failed
            note.robots = ""  # RFC 9309 §2.3.1.2: as if there were none
            return None
        if answer.status == 429 or not 200 <= answer.status < 500:
            message = f"the server answered {answer.status}; it is tried again later."
            return Failed("robots", message, read_retry_after(answer.headers.get("retry-after", "")))
        note.robots = answer.body.decode("utf-8-sig", "replace").replace("\0", "")
        return None


def _parse_redirect(url: WebAddress, headers: Mapping[str, str]) -> WebAddress:
    try:
        target = url.join(headers["location"])
    except (KeyError, ValueError) as error:
        reason = "without saying where" if isinstance(error, KeyError) else f"to an address that cannot be used: {error}"
        raise NotFetched("bad_redirect", f"The address redirects {reason}; look for the feed's new address.") from error
    if (url.scheme, target.scheme) == ("https", "http"):  # anybody on the way could put words into the publisher's mouth
        message = f"The address redirects from https to http ({target.authority}); the publisher has to fix it."
        raise NotFetched("insecure_redirect", message)
    return target


def _build_outcome(ask: Ask, answer: Response, moved_to: str) -> Outcome:
    etag, last_modified = (_keep_valid_header(answer.headers.get(name, "")) for name in ("etag", "last-modified"))
    match answer.status:
        case 200:
            content_type = answer.headers.get("content-type", "")
            return Fetched(answer.body, content_type, etag, last_modified, str(answer.url), moved_to)
        case 304 if _keep_valid_header(ask.etag) or _keep_valid_header(ask.last_modified):
            return Unchanged(etag or ask.etag, last_modified or ask.last_modified, str(answer.url), moved_to)
        case 304:
            return Failed("broken_answer", "The server says that nothing changed (304), though the request had no condition.")
        case 410:
            return Failed("gone", "The publisher has removed this feed for good (410); look for another one.")
        case 404:
            message = "There is no feed at this address (404); look for its new address."
        case 401 | 402 | 403 | 406 | 451:
            message = f"The server refuses us the feed ({answer.status}); ask the publisher, or use another feed."
        case 429:
            message = "The server asks for fewer requests (429); it is tried again later."
        case status if status >= 500:
            message = f"The publisher's server reported an error ({status}); it is tried again later."
        case status:
            message = f"The server answers {status} instead of a feed; check the address."
    return Failed(f"http_{answer.status}", message, read_retry_after(answer.headers.get("retry-after", "")))


def _keep_valid_header(value: str) -> str:
    return value if re.fullmatch(r"[\x20-\x7e]{1,512}", value) else ""  # it is sent back as it came, so it must make a header


def read_retry_after(value: str) -> dt.timedelta | None:
    """Return the wait of RFC 9110 §10.2.3, in seconds or until an HTTP date: not negative, at most `LONGEST_WAIT`, else None."""
    if re.fullmatch(r"\s*[0-9]+\s*", value):
        return min(dt.timedelta(seconds=int(value.strip()[:9])), LONGEST_WAIT)
    try:
        date = parsedate_to_datetime(value)
        wait = (date if date.tzinfo else date.replace(tzinfo=dt.UTC)) - _now()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(dt.timedelta(0), min(wait, LONGEST_WAIT))


def _decode_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name in lower case; several of one name joined by commas (RFC 9110 §5.3)."""
    headers: dict[str, str] = {}
    for name_bytes, value_bytes in raw:
        name = name_bytes.decode("latin-1").lower()
        try:
            value = value_bytes.decode("utf-8")
        except UnicodeDecodeError:
            value = value_bytes.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _clock() -> float:
    return asyncio.get_running_loop().time()
