"""Fetching for a caller that is not asynchronous: many feeds at once, or one address that an operator gave."""

import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Iterable, MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sources.fetch.results import Ask, HostNote, NotFetched, Outcome, Policy

if TYPE_CHECKING:
    import ssl

    from sources.fetch.transport import Resolver

Result = tuple[Ask, Outcome]
PATIENCE: Final = 30.0  # seconds, of `fetch_once`


def fetch_all(
    asks: Iterable[Ask],
    policy: Policy,
    hosts: MutableMapping[str, HostNote],
    *,
    resolver: "Resolver | None" = None,
    tls: "ssl.SSLContext | None" = None,
) -> Generator[Result, None, None]:
    """Yield each ask with its outcome, as it comes; closing the iterator cancels what is under way.

    `hosts` is keyed by `host[:port]` and updated in place, from another thread. A slow caller slows the fetching down instead of
    filling memory. `resolver` and `tls` stand in for the system's, in tests.
    """
    import asyncio

    from sources.fetch.client import Client
    from sources.fetch.transport import Network, system_resolver
    from sources.fetch.url import WebAddress

    by_host: dict[str, list[Ask]] = {}
    for ask in asks:
        try:
            host = WebAddress.parse(ask.url).authority
        except ValueError:  # the client says what is wrong with it
            host = ""
        by_host.setdefault(host, []).append(ask)
    ready: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
    room = asyncio.Semaphore(2)  # outcomes that wait for the caller
    running: asyncio.Task[None] | None = None
    is_closed = False

    async def main() -> None:
        nonlocal running
        running = asyncio.current_task()
        if is_closed:
            return
        slots = asyncio.Semaphore(policy.concurrency)
        with contextlib.closing(Network(policy, resolver or system_resolver, tls)) as network:
            client = Client(policy, hosts, network)

            async def in_turn(asks: list[Ask]) -> None:
                for ask in asks:
                    async with slots:
                        outcome = await client.get(ask)
                        await room.acquire()
                        ready.put((ask, outcome))
                        del outcome

            async with asyncio.TaskGroup() as group:
                for of_one_host in by_host.values():
                    group.create_task(in_turn(of_one_host))

    loop = asyncio.new_event_loop()

    def work() -> None:
        end: BaseException | None = None
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(main())
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # of any kind: it belongs to the caller, who waits for it
            end = error
        ready.put(end)

    def cancel() -> None:
        """Ends the first task, whose groups end the others: one that is cancelled itself before it began is never awaited."""
        nonlocal is_closed
        is_closed = True
        if running is not None:
            running.cancel()

    def in_loop(act: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(act)

    thread = threading.Thread(target=work, name="fetch", daemon=True)
    thread.start()
    try:
        while isinstance(result := ready.get(), tuple):
            yield result
            del result
            in_loop(room.release)
        if result is not None:
            raise result
    finally:
        in_loop(cancel)
        thread.join()


def fetch_once(url: str, policy: Policy) -> bytes:
    """Return the body at another wire's public address, in one request; a redirect to another server is refused.

    Raises: ValueError for what is no web address; OSError for what cannot be had.
    """
    import asyncio

    from sources.fetch.client import Client
    from sources.fetch.transport import Network
    from sources.fetch.url import WebAddress

    address, policy = WebAddress.parse(url), replace(policy, max_body=1 << 20, patience=PATIENCE)

    async def get() -> bytes:
        with contextlib.closing(Network(policy)) as network:
            return await Client(policy, {}, network).get_body(address)

    try:
        return asyncio.run(get())
    except NotFetched as end:
        raise OSError(end.failed.message.removesuffix(".")) from end
