"""The HTTP client under the SDK's: it dials checked addresses only, bounds what it reads, and tells statuses apart."""

import asyncio
import base64
import json
import ssl
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import cache
from ipaddress import ip_network
from typing import Any, Final
from urllib.parse import quote

import httpcore2
import httpx2
from mcp.client.streamable_http import streamable_http_client

from config.env import Networks
from mcpserver.upstreams.client_interface import INVALID, UNAUTHORIZED, UNREACHABLE, UpstreamError
from mcpserver.upstreams.config import OAuth, read_secrets
from mcpserver.upstreams.error_mapping import from_status
from sources.fetch.client import read_retry_after
from sources.fetch.results import NotFetched, Policy
from sources.fetch.transport import Dialler, system_resolver

MAX_BODY: Final = 2_000_000  # bytes of one answer
MAX_CONNECTIONS: Final = 20
CONNECT: Final = 5.0  # seconds
READ: Final = 70.0  # the gateway's own timeouts are shorter
TOKEN_MARGIN: Final = 30.0  # seconds before its end, from which on a token is not used any more
PLAIN: Final = {"accept-encoding": "identity"}
TIMEOUT: Final = httpx2.Timeout(CONNECT, read=READ, pool=None)
# Failures of the requests in this context. The SDK turns what a transport raises into general errors, and hands requests over with
# the context of who sent them.
faults: Final[ContextVar[list[UpstreamError] | None]] = ContextVar("faults", default=None)


@cache  # to read the system's certificates takes 20 ms and more
def _load_tls() -> ssl.SSLContext:
    return httpcore2.default_ssl_context()


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """A transport that adds its failures to `faults`, and a token where the upstream has client credentials."""

    def __init__(self, name: str, networks: Sequence[str], allow: Networks, oauth: OAuth | None = None) -> None:
        super().__init__(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), trust_env=False)  # of a pool that is replaced below
        allowed = (*allow, *(ip_network(network) for network in networks))
        dialler = Dialler(Policy(user_agent="", allow=allowed), system_resolver)
        self._pool = httpcore2.AsyncConnectionPool(_load_tls(), max_connections=MAX_CONNECTIONS, network_backend=dialler)
        self._name = name
        self._oauth = oauth
        self._token = ""
        self._token_ends = 0.0  # of the monotonic clock
        self._token_lock = asyncio.Lock()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._oauth is None:
            return await self._send(request)
        token = request.headers["authorization"] = f"Bearer {await self._get_token(self._oauth, '')}"
        response = await self._send(request)
        if response.status_code == 401:  # revoked before its end: asked for anew, once
            await response.aclose()
            if noted := faults.get():
                noted.pop()
            request.headers["authorization"] = f"Bearer {await self._get_token(self._oauth, token.removeprefix('Bearer '))}"
            response = await self._send(request)
        return response

    # Not the SDK's provider: it locks out all other requests while one waits for its answer.
    async def _get_token(self, oauth: OAuth, refused: str) -> str:
        """Return a token that was not refused, of the authorization server where none is at hand. Raises: TransportError."""
        async with self._token_lock:
            if self._token != refused and time.monotonic() < self._token_ends:
                return self._token
            form = {"grant_type": "client_credentials", "scope": oauth.scope, "resource": oauth.resource}
            user, password = quote(oauth.client_id, safe=""), quote(read_secrets({"": oauth.client_secret})[""], safe="")
            basic = base64.b64encode(f"{user}:{password}".encode()).decode()
            request = httpx2.Request(
                "POST",
                oauth.token_url,
                data={name: value for name, value in form.items() if value},
                headers={**PLAIN, "accept": "application/json", "authorization": f"Basic {basic}"},
                extensions={"timeout": TIMEOUT.as_dict()},
            )
            response = await self._send(request)
            try:
                answer = json.loads(await response.aread())
                self._token, lifetime = str(answer["access_token"]), float(answer.get("expires_in", 300))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                if response.status_code < 500:
                    detail = f"{self._name}: the authorization server gives no token ({response.status_code})."
                    note_fault(UpstreamError(UNAUTHORIZED, detail))
                raise httpx2.ReadError("no token") from error
            finally:
                await response.aclose()
            self._token_ends = time.monotonic() + max(0.0, lifetime - TOKEN_MARGIN)
            return self._token

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await super().handle_async_request(request)
        except NotFetched as error:
            note_fault(UpstreamError(UNREACHABLE, f"{self._name}: {error}"))
            raise httpx2.ConnectError(str(error)) from error
        except httpx2.TransportError as error:
            note_fault(UpstreamError(UNREACHABLE, f"{self._name} cannot be reached: {type(error).__name__}."))
            raise
        if response.status_code in (401, 403, 429) or response.status_code >= 500:
            note_fault(from_status(self._name, response.status_code, _read_retry_after(response.headers)))
        if response.status_code in (400, 404) and "mcp-session-id" in request.headers:
            note_fault(UpstreamError(UNREACHABLE, f"{self._name} does not know the session.", is_of_call=True))
        if response.headers.get("content-encoding", "identity") != "identity":  # it could grow beyond any bound
            note_fault(UpstreamError(INVALID, f"{self._name} sends a compressed answer, which was not asked for."))
            await response.aclose()
            raise httpx2.ReadError("compressed")
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101
        response.stream = _BoundedStream(response.stream)
        return response


def note_fault(error: UpstreamError) -> None:
    if (noted := faults.get()) is not None:
        noted.append(error)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > MAX_BODY:
                note_fault(UpstreamError(INVALID, f"The answer is larger than {MAX_BODY:,} bytes."))
                raise httpx2.ReadError("too large")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def open_streams(address: str, transport: GuardedTransport, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    client = httpx2.AsyncClient(transport=transport, headers={**headers, **PLAIN}, timeout=TIMEOUT, trust_env=False)
    async with client, streamable_http_client(address, http_client=client) as streams:
        yield streams


def _read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return Retry-After; else a reset as X's API has it, seconds since 1970."""
    if (wait := read_retry_after(headers.get("retry-after", ""))) is not None:
        return wait.total_seconds()
    reset = headers.get("x-rate-limit-reset", "")
    return max(0.0, float(reset) - time.time()) if reset.isdigit() else None
