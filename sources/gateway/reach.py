"""What the gateway wants of whoever talks to upstreams. It knows no protocol: an answer is a value, a failure has a code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from django.utils.module_loading import import_string

RATE_LIMITED: Final = "rate_limited"  # 429
UNAUTHORIZED: Final = "unauthorized"  # 401, 403
SERVER_ERROR: Final = "server_error"  # 5xx, and errors of the protocol
TIMEOUT: Final = "timeout"
UNREACHABLE: Final = "unreachable"  # no connection, or it died in the middle of an answer
INVALID: Final = "upstream_invalid"  # an answer that cannot be read, or does not fit its schema
REFUSED: Final = "refused"  # the upstream calls the question wrong
UNSUPPORTED: Final = "unsupported"  # the upstream cannot know such a thing
UNCONFIGURED: Final = "unconfigured"
LIMITED_HERE: Final = "limited_here"  # our own limit
CIRCUIT_OPEN: Final = "circuit_open"
NOT_GRANTED: Final = "not_granted"
SKIPPED: Final = "skipped"
INTERNAL: Final = "internal_error"

RETRIED: Final = frozenset((RATE_LIMITED, SERVER_ERROR, UNREACHABLE, TIMEOUT))
"""Failures after which another attempt may do better."""
OPENS: Final = frozenset((SERVER_ERROR, UNREACHABLE, TIMEOUT, UNAUTHORIZED))
"""Failures that say something of the upstream and not of the question: they open its circuit."""
LEAVES_ALONE: Final = frozenset((UNREACHABLE, TIMEOUT, UNAUTHORIZED, CIRCUIT_OPEN, UNCONFIGURED))
"""Failures after which a chain asks the same upstream for nothing else."""
TELLS_OPS: Final = frozenset((UNAUTHORIZED, INVALID))


class UpstreamError(Exception):
    """An upstream did not give what was asked of it. `detail` is for people and models: one plain sentence, no text of a stranger's
    beyond a few words. `retry_after`: seconds, if the upstream told.
    """

    def __init__(self, code: str, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Call:
    """One question to one upstream."""

    upstream: str
    resource: str
    uri: str
    """The canonical address, for upstreams that know it."""
    params: Mapping[str, Any]
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reached:
    """What an upstream answered: JSON values, texts cleaned. `untrusted`: some text speaks to the model that reads it."""

    data: Any
    untrusted: bool = False
    marker: str = ""
    """What the answer was made of, if that can be told; an entry of another marker is not fresh."""
    note: str = ""


class Reach(Protocol):
    """Who talks to upstreams."""

    def cannot(self, call: Call) -> UpstreamError | None:
        """Why this question need not be asked at all: nothing is counted for it."""

    def marker(self, upstream: str) -> str:
        """What an answer of this upstream would be made of now; "" where nobody can tell. Cheap."""

    async def ask(self, call: Call) -> Reached:
        """Raises: UpstreamError."""

    async def close(self) -> None:
        """Let go of every connection and end every process."""


class Nobody:
    """Where there is nobody who could ask: what is cached goes on being served."""

    def cannot(self, call: Call) -> UpstreamError | None:
        return UpstreamError(UNCONFIGURED, f"This installation has no client for {call.upstream}.")

    def marker(self, _upstream: str) -> str:
        return ""

    async def ask(self, call: Call) -> Reached:
        raise UpstreamError(UNCONFIGURED, f"This installation has no client for {call.upstream}.")

    async def close(self) -> None:
        return


def made(path: str, policy: Any) -> Reach:
    """The Reach at a dotted path, over this policy; Nobody for ""."""
    if not path:
        return Nobody()
    reach: Reach = import_string(path)(policy)
    return reach
