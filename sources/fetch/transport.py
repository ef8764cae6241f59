"""The only way to the internet: a request over a fresh connection to a checked address, and every failure put into words.

Names are resolved here and only checked addresses are dialled, so a name that answers differently the second time (DNS
rebinding) gains nothing. TLS still verifies the name. No proxy, no cookie, no pool: nothing is carried from one to the next.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpcore2

from sources.fetch.results import NotFetched, Policy
from sources.fetch.url import WebAddress, may_dial

Resolver = Callable[[str, int], Sequence[str]]


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Return the IP addresses of a name in the order of RFC 6724. Blocks. Raises: OSError, UnicodeError."""
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Network:
    """Sends the requests of one run. `resolver` may block; it runs in threads of its own."""

    def __init__(self, policy: Policy, resolver: Resolver = system_resolver, tls: ssl.SSLContext | None = None) -> None:
        self._policy = policy
        self._tls = tls
        self._dialler = Dialler(policy, resolver)

    @asynccontextmanager
    async def request(self, url: WebAddress, headers: Mapping[str, str]) -> AsyncIterator[httpcore2.Response]:
        """Yield the answer to one GET, its body unread. Raises: NotFetched for all that network and server do, in the block too."""
        if url.scheme == "https" and self._tls is None:
            self._tls = httpcore2.default_ssl_context()  # 20 ms, and not every run needs it
        origin = httpcore2.Origin(url.scheme.encode(), url.host.encode(), url.port)
        target = httpcore2.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)
        connect, read = self._policy.connect_timeout, self._policy.read_timeout
        timeouts = {"timeout": {"connect": connect, "read": read, "write": read}}
        sent = [("Host", url.authority), *headers.items()]
        with _translate_errors(url.host):
            async with (
                httpcore2.AsyncHTTPConnection(origin, self._tls, network_backend=self._dialler) as connection,
                connection.stream("GET", target, headers=sent, extensions=timeouts) as response,
            ):
                yield response

    def close(self) -> None:
        self._dialler.names.shutdown(wait=False, cancel_futures=True)


class Dialler(httpcore2.AsyncNetworkBackend):
    """Dials checked addresses only, for whatever speaks HTTP on top of it."""

    def __init__(self, policy: Policy, resolver: Resolver) -> None:
        self.names = ThreadPoolExecutor(policy.concurrency, thread_name_prefix="resolve")
        self._allow = policy.allow
        self._resolver = resolver
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Return a connection to one of the host's addresses; none is dialled if any of them may not be."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + (timeout or 0)
        try:
            async with asyncio.timeout_at(ends):
                addresses = await self._resolve(host, port)
        except TimeoutError as error:
            raise NotFetched("dns", f"The name {host} could not be looked up in time; try again later.") from error
        for address in addresses:
            if not may_dial(address, self._allow):
                raise NotFetched("private_address", f"{host} leads to {address}, which is not a public address; not contacted.")
        tried = addresses[:4]  # addresses of one name that are tried
        for left, address in zip(range(len(tried), 0, -1), tried, strict=True):
            try:
                share = (ends - loop.time()) / left
                return await self._inner.connect_tcp(str(address), port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if left == 1:
                    raise
        raise NotFetched("dns", f"The host name {host} has no IP address; check the URL, or try again later.")

    async def _resolve(self, host: str, port: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
        try:
            return [ipaddress.ip_address(host)]
        except ValueError:  # a name, or a spelling such as 127.1 that only the system's resolver reads
            pass
        try:
            found = await asyncio.get_running_loop().run_in_executor(self.names, self._resolver, host, port)
        except (OSError, UnicodeError) as error:
            raise NotFetched("dns", f"The name {host} is unknown; check the address, or try again later.") from error
        return [ipaddress.ip_address(address) for address in dict.fromkeys(found)]


@contextmanager
def _translate_errors(host: str) -> Iterator[None]:
    """Turn whatever a network and a server can cause into NotFetched. What is left is a fault of ours and passes."""
    try:
        yield
    except NotFetched:
        raise
    except httpcore2.TimeoutException as error:
        raise NotFetched("timeout", f"{host} did not answer in time; try again later.") from error
    except (httpcore2.ConnectError, ssl.SSLError) as error:
        cause: Any = error.args[0] if error.args and isinstance(error.args[0], ssl.SSLError) else error
        if isinstance(cause, ssl.SSLError):
            reason = getattr(cause, "verify_message", "") or cause.reason or "the handshake failed"
            raise NotFetched("tls", f"No secure connection to {host}: {reason}; the publisher has to fix it.") from error
        raise NotFetched("connect", f"No connection to {host}; check the address, or try again later.") from error
    except (httpcore2.NetworkError, OSError) as error:
        raise NotFetched("broken_answer", f"The connection to {host} broke off; try again later.") from error
    except (httpcore2.ProtocolError, httpcore2.ConnectionNotAvailable) as error:
        raise NotFetched("broken_answer", f"What {host} sent is not a complete HTTP response; try again later.") from error
