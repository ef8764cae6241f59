"""Sessions of handshake revisions, for servers whose clients expect them: signed, expiring tokens that hold no state.

Any process verifies a token by its signature; nothing is kept of a session but that it was ended before its time. Rules: MCP
2025-03-26
… 2025-11-25, "Session Management".
"""

import hashlib
import secrets
import time
from typing import Final, Protocol

from django.core.signing import BadSignature, TimestampSigner, b62_decode

HEADER: Final = b"mcp-session-id"
LONGEST: Final = 200  # characters of a session id


class Ended(Protocol):
    """A table of sessions that were ended, until they would have expired. Both are called in a query's thread."""

    def __contains__(self, session: str) -> bool: ...

    def add(self, session: str, seconds_left: float) -> None: ...


class Sessions:
    """The sessions of one server. A request without one is answered as everywhere else here: no question needs a session."""

    def __init__(self, server: str, ended: Ended, seconds: int = 86_400) -> None:
        self._signer = TimestampSigner(sep=".", salt=f"mcp session {server}")
        self.ended = ended
        self.seconds = seconds

    def make_id(self) -> str:
        """Return a new session id: visible ASCII, as the protocol wants it."""
        return self._signer.sign(secrets.token_urlsafe(18))

    def count_seconds_left(self, session: str) -> float:
        """Seconds until it expires; 0 for one that expired or is none of ours."""
        if len(session) > LONGEST or not session.isascii():
            return 0.0
        try:
            self._signer.unsign(session, max_age=self.seconds)
            begun = b62_decode(session.rsplit(".", 2)[1])
        except (BadSignature, ValueError, IndexError):
            return 0.0
        return max(0.0, begun + self.seconds - time.time())

    def is_alive(self, session: str) -> bool:
        """Tell whether it is one of ours, and neither expired nor ended. Asks the table, so from a query's thread."""
        return self.count_seconds_left(session) > 0 and hash_session_id(session) not in self.ended

    def end_session(self, session: str) -> bool:
        """Return whether it lived until now."""
        if not self.is_alive(session):
            return False
        self.ended.add(hash_session_id(session), self.count_seconds_left(session))
        return True


def hash_session_id(session: str) -> str:
    """Return what a table keeps of a session: enough to know it again, too little to use it."""
    return hashlib.sha256(session.encode()).hexdigest()
