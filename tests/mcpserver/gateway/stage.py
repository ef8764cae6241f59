"""A gateway over scripted upstreams and a clock of its own; the tables are the real ones."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connections

from mcpserver.gateway.auth import Caller
from mcpserver.gateway.process_context import ProcessContext
from mcpserver.gateway.request import parse_request
from mcpserver.gateway.resolver import WAIT, Resolver
from mcpserver.gateway.resource_policy import Policy, load_policy
from mcpserver.gateway.response import GatewayResponse
from mcpserver.upstreams.client_interface import UpstreamAnswer, UpstreamCall, UpstreamError
from tests.mcpserver.gateway.clock import VirtualLoop, run

ALL = Caller("alpha", ("twitter://", "market://", "weaviate://", "blockchain://", "openclaw://"), attributes={"twitter_id": "7"})
OTHER = Caller("beta", ALL.grants, attributes={"twitter_id": "8"})
HANG = object()


def tweet(number: int = 1, text: str = "Hello") -> dict[str, Any]:
    return {"id": str(number), "text": text, "author_id": "1", "created_at": "2026-11-24T00:00:00Z"}


def trend(number: int = 1, **values: Any) -> dict[str, Any]:
    found = {"id": f"t{number}", "topic": "A trend", "source": "s", "engagement_score": 1.0, "timestamp": "2026-11-24T00:00:00Z"}
    return found | {"metadata": {}} | values


def coin(number: int = 1) -> dict[str, Any]:
    return {"trend": trend(number), "price_change": 1.5, "volume_change": 2, "sentiment_score": 0.5}


def payment(number: int = 1, status: str = "confirmed", amount: Any = "0.1") -> dict[str, Any]:
    return {
        "tx_id": f"x{number}", "from": "0x1", "to": "0x2", "amount": amount, "currency": "USDC",
        "timestamp": f"2026-11-24T00:00:{number:02d}Z", "status": status,
    }  # fmt: skip


def failure(code: str, retry_after: float | None = None) -> UpstreamError:
    return UpstreamError(code, f"It says {code}.", retry_after)


class Scripted:
    """Answers by resource: each in turn, the last one for ever. A value, an UpstreamError, HANG, or (seconds, any of these)."""

    def __init__(self) -> None:
        self.script: dict[str, list[Any]] = {}
        self.calls: list[tuple[float, UpstreamCall]] = []
        self.refused: dict[str, UpstreamError] = {}
        self.markers: dict[str, str] = defaultdict(str)
        self.untrusted = False

    def explain_refusal(self, call: UpstreamCall) -> UpstreamError | None:
        return self.refused.get(call.resource)

    def marker(self, upstream: str) -> str:
        return self.markers[upstream]

    async def ask(self, call: UpstreamCall) -> UpstreamAnswer:
        self.calls.append((asyncio.get_running_loop().time(), call))
        answers = self.script.get(call.resource, [failure("server_error")])
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(found, tuple):
            await asyncio.sleep(found[0])
            found = found[1]
        if callable(found):
            found = found(call)
        if found is HANG:
            await asyncio.sleep(10_000)
        if isinstance(found, UpstreamError):
            raise found
        return UpstreamAnswer(found, self.untrusted, self.markers[call.upstream])

    async def close(self) -> None:
        return

    def times(self, resource: str = "") -> list[float]:
        return [round(at, 3) for at, call in self.calls if not resource or call.resource == resource]


class Stage:
    def __init__(self, change: Callable[[Policy], Policy] = lambda policy: policy) -> None:
        self.loop = VirtualLoop()
        self.upstream = Scripted()
        self.policy = change(load_policy())
        self.gateway = self.another()

    def another(self) -> Resolver:
        """A gateway as another process has it: nothing but the tables is shared."""
        return Resolver(self.policy, self.upstream, self.build_host())

    def build_host(self) -> ProcessContext:
        return ProcessContext(run_inline, run_inline, self.loop.now, self.loop.now)

    def use(self, policy: Policy) -> None:
        """Begin anew with another policy."""
        self.policy = policy
        self.gateway = self.another()

    def ask(self, uri: str, caller: Caller = ALL, wait: float = WAIT, gateway: Resolver | None = None) -> GatewayResponse:
        return run(self.loop, self.asking(uri, caller, wait, gateway))

    async def asking(self, uri: str, caller: Caller = ALL, wait: float = WAIT, gateway: Resolver | None = None) -> GatewayResponse:
        gateway = gateway or self.gateway
        return await gateway.resolve(parse_request(gateway.policy, uri, caller, internal=True), wait)

    def wait(self, seconds: float) -> None:
        run(self.loop, asyncio.sleep(seconds))

    @property
    def now(self) -> float:
        return round(self.loop.time(), 3)

    def close(self) -> None:
        run(self.loop, self.gateway.close())
        self.loop.close()
        asyncio.set_event_loop(None)


_thread = ThreadPoolExecutor(1, thread_name_prefix="gateway-test")


async def run_inline(work: Callable[[], Any]) -> Any:
    """In a thread, since Django lets no loop ask a table; while it works, no time passes."""
    return _thread.submit(work).result()


def close_thread() -> None:
    _thread.submit(connections.close_all).result()


def codes(answer: GatewayResponse) -> list[str | None]:
    return [one.error for one in answer.attempts]
