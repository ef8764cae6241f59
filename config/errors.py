"""Errors by meaning. One handler maps these for REST, one seam for MCP; the texts are the same in both.

Every message says what happened, every hint what to do next: a person and a language model both act on them.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar


class WireError(Exception):
    """Base of all errors that a caller may see.

    `code` is stable and part of the contract; `status` is the HTTP status; `hint` says what to do next.
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_dict(self) -> dict[str, str]:
        """`{"error", "message", "hint"}`, the one error shape of every door."""
        return {"error": self.code, "message": self.message, "hint": self.hint}


class NotFound(WireError):
    """The thing asked for does not exist; the hint says where valid ones are listed."""

    code = "not_found"
    status = HTTPStatus.NOT_FOUND


class InvalidArgument(WireError):
    """An argument cannot be used as given; the message names it and the accepted values."""

    code = "invalid_argument"
    status = HTTPStatus.UNPROCESSABLE_ENTITY


class BadRequest(WireError):
    """The request itself cannot be read, whatever it asks."""

    code = "bad_request"
    status = HTTPStatus.BAD_REQUEST

    def __init__(self) -> None:
        super().__init__("The request cannot be read.", "Compare it with /api/openapi.json.")


class UnknownParameter(WireError):
    """A query parameter that the address does not take: left out of the question, it would answer another one."""

    code = "unknown_parameter"
    status = HTTPStatus.BAD_REQUEST


class MethodNotAllowed(WireError):
    """The wire is only ever read."""

    code = "method_not_allowed"
    status = HTTPStatus.METHOD_NOT_ALLOWED

    def __init__(self) -> None:
        super().__init__("The wire is read-only.", "Use GET, HEAD or OPTIONS.")


class NotInRoster(InvalidArgument):
    """A publication name outside the 24; the message names the closest one."""

    code = "not_in_roster"


class Withdrawn(WireError):
    """The story was withdrawn: it still answers with its status, but is not to be cited."""

    code = "story_withdrawn"
    status = HTTPStatus.GONE


class NothingPublished(WireError):
    """The wire has no snapshot yet."""

    code = "nothing_published"
    status = HTTPStatus.SERVICE_UNAVAILABLE


class UpstreamFailed(WireError):
    """Somebody else's server did not give what was asked of it; the message says what it did."""

    code = "upstream_failed"
    status = HTTPStatus.BAD_GATEWAY


class Unauthorized(WireError):
    """The question needs a key, and none that is in force was sent."""

    code = "unauthorized"
    status = HTTPStatus.UNAUTHORIZED
    challenge: ClassVar[str] = 'Bearer realm="wire"'

    def __init__(
        self, message: str, hint: str = "Send Authorization: Bearer <key>; whoever runs the server hands keys out."
    ) -> None:
        super().__init__(message, hint)


class PaymentRequired(WireError):
    """The question costs money: `terms` say how much and to whom, as x402's PaymentRequired."""

    code = "payment_required"
    status = HTTPStatus.PAYMENT_REQUIRED

    def __init__(self, message: str, hint: str, terms: Mapping[str, Any]) -> None:
        super().__init__(message, hint)
        self.terms = terms


class Forbidden(WireError):
    """The key is known, and not for this."""

    code = "forbidden"
    status = HTTPStatus.FORBIDDEN


class Unavailable(WireError):
    """The database cannot be read, and this answer is not cached."""

    code = "unavailable"
    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after: ClassVar[int] = 5  # seconds

    def __init__(self) -> None:
        super().__init__(
            "The wire cannot be read at the moment: its database does not answer.",
            f"Ask again in {self.retry_after} seconds. Cached answers are still served, marked as stale.",
        )


class Damaged(WireError):
    """A record's bytes are not what was written. The log names it for the operator."""

    code = "damaged"


class RosterLocked(WireError):
    """A change that would leave the roster with other than 24 publications."""

    code = "roster_locked"
    status = HTTPStatus.CONFLICT


class Busy(WireError):
    """Another process is doing what may only be done by one at a time."""

    code = "busy"
    status = HTTPStatus.CONFLICT


class InternalError(WireError):
    """A fault of ours. What went wrong is in the log, never in the answer."""

    def __init__(self) -> None:
        super().__init__("Something failed on our side; it was logged.", "Try again in a moment.")
