"""The HTTP client under the SDK's: it dials checked addresses only, reads no more than is taken, and tells statuses apart."""

import asyncio
import email.utils
import ssl
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from ipaddress import ip_network
from typing import Final, Self

import httpcore2
import httpx2

from config.env import Networks
from mcpserver.upstreams.faults import of_status
from sources.fetch.outcome import NotFetched, Policy
from sources.fetch.transport import Dialler, system_resolver
from sources.gateway.reach import INVALID, UNREACHABLE, UpstreamError

MAX_BODY: Final = 2_000_000  # bytes of one answer
MOST: Final = 20  # connections
CONNECT: Final = 5.0  # seconds
READ: Final = 70.0  # the gateway's own timeouts are shorter
PLAIN: Final = {"accept-encoding": "identity"}
TIMEOUT: Final = {"timeout": httpx2.Timeout(CONNECT, read=READ).as_dict()}
"""For requests that are sent without the client below."""

faults: Final[ContextVar[list[UpstreamError] | None]] = ContextVar("faults", default=None)
"""What went wrong with the requests of whoever asks: the SDK makes general errors of what a transport raises, and hands requests
over with the context of who sent them.
"""


class Checked(httpx2.AsyncHTTPTransport):
    """Notes its failures in `faults`."""

    def __init__(self, name: str, networks: Sequence[str], allow: Networks) -> None:
        super().__init__(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), trust_env=False)  # of a pool that is replaced below
        allowed = (*allow, *(ip_network(network) for network in networks))
        dialler = Dialler(Policy(user_agent="", allow=allowed), system_resolver)
        self._pool = _Connections(dialler)  # type: ignore[assignment]  # what it does of a pool is all that is used
        self._name = name

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await super().handle_async_request(request)
        except NotFetched as error:
            note(UpstreamError(UNREACHABLE, f"{self._name}: {error}"))
            raise httpx2.ConnectError(str(error)) from error
        except httpx2.TransportError as error:
            note(UpstreamError(UNREACHABLE, f"{self._name} cannot be reached: {type(error).__name__}."))
            raise
        if response.status_code in (401, 403, 429) or response.status_code >= 500:
            note(of_status(self._name, response.status_code, _after(response.headers)))
        if response.headers.get("content-encoding", "identity") != "identity":  # it could grow beyond any bound
            note(UpstreamError(INVALID, f"{self._name} sends a compressed answer, which nobody asked for."))
            await response.aclose()
            raise httpx2.ReadError("compressed")
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101
        response.stream = _Bounded(response.stream)
        return response


def note(error: UpstreamError) -> None:
    found = faults.get()
    if found is not None:
        found.append(error)


class _Connections:
    """Open connections to one server, the one that was used last first. A pool for many servers looks at each of its connections
    before and after every request.
    """

    def __init__(self, dialler: Dialler) -> None:
        self._dialler = dialler
        self._free: list[httpcore2.AsyncHTTPConnection] = []
        self._places = asyncio.Semaphore(MOST)

    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        await self._places.acquire()
        try:
            connection = await self._open_one(request.url.origin)
            response = await connection.handle_async_request(request)
        except BaseException:
            self._places.release()
            raise
        assert isinstance(response.stream, AsyncIterable)  # noqa: S101
        response.stream = _Lent(response.stream, lambda: self._take_back(connection))
        return response

    async def _open_one(self, origin: httpcore2.Origin) -> httpcore2.AsyncHTTPConnection:
        while self._free:
            connection = self._free.pop()
            if connection.can_handle_request(origin) and not connection.has_expired():
                return connection
            await connection.aclose()
        tls = await asyncio.to_thread(_tls) if origin.scheme == b"https" else None
        return httpcore2.AsyncHTTPConnection(origin, tls, network_backend=self._dialler)

    def _take_back(self, connection: httpcore2.AsyncHTTPConnection) -> None:
        self._places.release()
        if connection.is_idle():  # else its answer was not read to the end, and it is closed
            self._free.append(connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        while self._free:
            await self._free.pop().aclose()


@cache
def _tls() -> ssl.SSLContext:
    """One for all: to read the system's certificates takes 20 ms and more, in which nobody else would be answered."""
    return httpcore2.default_ssl_context()


class _Lent:
    """The body of an answer; who closes it gives the connection back."""

    def __init__(self, stream: AsyncIterable[bytes], give_back: Callable[[], None]) -> None:
        self._stream = stream
        self._give_back: Callable[[], None] | None = give_back

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)

    async def aclose(self) -> None:
        give_back, self._give_back = self._give_back, None
        try:
            if hasattr(self._stream, "aclose"):
                await self._stream.aclose()
        finally:
            if give_back is not None:
                give_back()


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > MAX_BODY:
                note(UpstreamError(INVALID, f"The answer is larger than {MAX_BODY:,} bytes."))
                raise httpx2.ReadError("too large")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def client(transport: Checked, headers: Mapping[str, str]) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=transport,
        headers={**headers, **PLAIN},
        timeout=httpx2.Timeout(CONNECT, read=READ),
        follow_redirects=False,
        trust_env=False,
    )


def _after(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds or as a date (RFC 9110, 10.2.3); else a reset as X's API has it, seconds since 1970."""
    told = headers.get("retry-after", "")
    if told.isdigit():
        return float(told)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(told).timestamp() - time.time())
    except (ValueError, TypeError):
        reset = headers.get("x-rate-limit-reset", "")
        return max(0.0, float(reset) - time.time()) if reset.isdigit() else None
