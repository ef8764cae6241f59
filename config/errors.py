"""Errors by meaning. One handler maps these for REST, one seam for MCP; the texts are the same in both.

Every message says what happened, every hint what to do next: a person and a language model both act on them.
"""

import base64
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, ClassVar

import orjson


class WireError(Exception):
    """Base of all errors that a caller may see: a stable `code`, the HTTP `status`, and a `hint` that says what to do next."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR
    headers: Mapping[str, str] = MappingProxyType({})  # of its HTTP answers
    message = hint = ""  # of errors that say the same always

    def __init_subclass__(cls, code: str = "", status: HTTPStatus | None = None) -> None:
        if code:
            cls.code = code
        if status:
            cls.status = status

    def __init__(self, message: str = "", hint: str = "") -> None:
        self.message, self.hint = message or self.message, hint or self.hint
        super().__init__(self.message)

    def as_dict(self) -> dict[str, str]:
        """`{"error", "message", "hint"}`, the one error shape of every door."""
        return {"error": self.code, "message": self.message, "hint": self.hint}


class NotFound(WireError, code="not_found", status=HTTPStatus.NOT_FOUND):
    """The thing asked for does not exist; the hint says where valid ones are listed."""


class InvalidArgument(WireError, code="invalid_argument", status=HTTPStatus.UNPROCESSABLE_ENTITY):
    """An argument cannot be used as given; the message names it and the accepted values."""


class BadRequest(WireError, code="bad_request", status=HTTPStatus.BAD_REQUEST):
    """The request itself cannot be read, whatever it asks."""

    message, hint = "The request cannot be read.", "Compare it with /api/openapi.json."


class UnknownParameter(WireError, code="unknown_parameter", status=HTTPStatus.BAD_REQUEST):
    """A query parameter that the address does not take: left out of the question, it would answer another one."""


class MethodNotAllowed(WireError, code="method_not_allowed", status=HTTPStatus.METHOD_NOT_ALLOWED):
    """The wire is only ever read."""

    message, hint = "The wire is read-only.", "Use GET, HEAD or OPTIONS."


class NotInRoster(InvalidArgument, code="not_in_roster"):
    """A publication name outside the 24; the message names the closest one."""


class Withdrawn(WireError, code="story_withdrawn", status=HTTPStatus.GONE):
    """The story was withdrawn: it still answers with its status, but is not to be cited."""


class NothingPublished(WireError, code="nothing_published", status=HTTPStatus.SERVICE_UNAVAILABLE):
    """The wire has no snapshot yet."""


class UpstreamFailed(WireError, code="upstream_failed", status=HTTPStatus.BAD_GATEWAY):
    """Somebody else's server did not give what was asked of it; the message says what it did."""


class Unauthorized(WireError, code="unauthorized", status=HTTPStatus.UNAUTHORIZED):
    """The question needs a key, and none that is in force was sent."""

    headers = MappingProxyType({"WWW-Authenticate": 'Bearer realm="wire"'})
    hint = "Send Authorization: Bearer <key>; the server's operator hands out keys."


class PaymentRequired(WireError, code="payment_required", status=HTTPStatus.PAYMENT_REQUIRED):
    """The question costs money: `terms` say how much and to whom, as x402's PaymentRequired."""

    def __init__(self, message: str, hint: str, terms: Mapping[str, Any]) -> None:
        super().__init__(message, hint)
        self.terms = terms
        self.headers = {"PAYMENT-REQUIRED": base64.b64encode(orjson.dumps(terms)).decode()}


class Forbidden(WireError, code="forbidden", status=HTTPStatus.FORBIDDEN):
    """The key is known, and not for this."""


class Unavailable(WireError, code="unavailable", status=HTTPStatus.SERVICE_UNAVAILABLE):
    """The database cannot be read, and this answer is not cached."""

    retry_after: ClassVar[int] = 5  # seconds
    headers = MappingProxyType({"Retry-After": str(retry_after)})
    message = "The wire cannot be read at the moment: its database does not answer."
    hint = f"Try again in {retry_after} seconds. Cached answers are still served, marked as stale."


class Damaged(WireError, code="damaged"):
    """A record's bytes are not what was written. The log names it for the operator."""


class RosterLocked(WireError, code="roster_locked", status=HTTPStatus.CONFLICT):
    """A change that would leave the roster with other than 24 publications."""


class Busy(WireError, code="busy", status=HTTPStatus.CONFLICT):
    """Another process is doing what may only be done by one at a time."""


class InternalError(WireError):
    """A fault of ours. What went wrong is in the log, never in the answer."""

    message, hint = "Something failed on our side; it was logged.", "Try again in a moment."
