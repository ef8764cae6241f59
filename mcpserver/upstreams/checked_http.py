"""The HTTP client under the SDK's: it dials checked addresses only, reads no more than is taken, and tells statuses apart."""

import email.utils
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextvars import ContextVar
from ipaddress import ip_network
from typing import Final

import httpcore2
import httpx2

from config.env import Networks
from mcpserver.upstreams.faults import of_status
from sources.fetch.outcome import NotFetched, Policy
from sources.fetch.transport import Dialler, system_resolver
from sources.gateway.reach import INVALID, UNREACHABLE, UpstreamError

MAX_BODY: Final = 2_000_000  # bytes of one answer
CONNECT: Final = 5.0  # seconds
READ: Final = 70.0  # the gateway's own timeouts are shorter
TIMEOUT: Final = {"timeout": httpx2.Timeout(CONNECT, read=READ).as_dict()}
"""For requests that are sent without the client below."""

faults: Final[ContextVar[list[UpstreamError] | None]] = ContextVar("faults", default=None)
"""What went wrong with the requests of whoever asks: the SDK makes general errors of what a transport raises, and hands requests
over with the context of who sent them.
"""


class Checked(httpx2.AsyncHTTPTransport):
    """Notes its failures in `faults`."""

    def __init__(self, name: str, networks: Sequence[str], allow: Networks) -> None:
        super().__init__(trust_env=False)
        allowed = (*allow, *(ip_network(network) for network in networks))
        dialler = Dialler(Policy(user_agent="", allow=allowed), system_resolver)
        context = httpcore2.default_ssl_context()
        self._pool = httpcore2.AsyncConnectionPool(ssl_context=context, max_connections=20, network_backend=dialler)
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
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101
        response.stream = _Bounded(response.stream)
        return response


def note(error: UpstreamError) -> None:
    found = faults.get()
    if found is not None:
        found.append(error)


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
        headers=dict(headers),
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
