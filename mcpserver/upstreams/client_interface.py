"""The interface between the gateway and its upstream clients: a call, its answer, and failures by code. It knows no SDK."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

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

# Failures after which another attempt may do better.
RETRIED: Final = frozenset((RATE_LIMITED, SERVER_ERROR, UNREACHABLE, TIMEOUT))
# Failures that say something of the upstream and not of the question: they open its circuit.
OPENS_CIRCUIT: Final = frozenset((SERVER_ERROR, UNREACHABLE, TIMEOUT, UNAUTHORIZED))
# Failures after which a chain asks the same upstream for nothing else.
ENDS_CHAIN: Final = frozenset((UNREACHABLE, TIMEOUT, UNAUTHORIZED, CIRCUIT_OPEN, UNCONFIGURED))


class UpstreamError(Exception):
    """A failure of an upstream. `detail`: a sentence of ours. `words`: the upstream's own, for the operator and no agent.

    `retry_after`: seconds, if told. `is_of_call`: the server answered this call with an error, and may answer others.
    """

    def __init__(
        self, code: str, detail: str, retry_after: float | None = None, *, words: str = "", is_of_call: bool = False
    ) -> None:
        # The log's table takes neither NUL nor half a pair of UTF-16.
        detail = detail.encode(errors="replace").decode().replace("\0", "")[:300]
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.retry_after = retry_after
        self.words = words
        self.is_of_call = is_of_call


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    """A question to an upstream; `uri` is its canonical address, for upstreams that know it."""

    upstream: str
    resource: str
    uri: str
    params: Mapping[str, Any]
    attributes: Mapping[str, str] = field(default_factory=dict)
    is_exact: bool = False  # texts stay as they are, since a signature covers them
    answers: str = "json"  # "text", "blob", "contents" and "listing" are made of the answer's contents; all others are JSON


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """JSON values, texts cleaned. `untrusted`: a text addresses the model that reads it. `marker`: the state of the source that the
    data were made of, "" if unknown; an entry with another marker is not fresh. `ttl`: seconds for which the upstream lets it be
    used, None if it says nothing. `is_private`: it lets nobody share it.
    """

    data: Any
    untrusted: bool = False
    marker: str = ""
    note: str = ""
    ttl: float | None = None
    is_private: bool = False


class UpstreamClient(Protocol):
    def explain_refusal(self, call: UpstreamCall) -> UpstreamError | None:
        """Return why this call cannot be made at all, or None. Nothing is counted for it."""

    def marker(self, upstream: str) -> str:
        """Return the marker that an answer would have now; "" if unknown. Cheap."""

    async def ask(self, call: UpstreamCall) -> UpstreamAnswer:
        """Raises: UpstreamError."""

    async def close(self) -> None: ...
