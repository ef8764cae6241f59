"""Who asks: anybody, or an agent that is known by its key."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from config.errors import Forbidden, Unauthorized
from config.tokens import new_token, token_hash
from sources.gateway.models import Agent

PREFIX: Final = "gwa"
REMEMBERED: Final = 5.0  # seconds; for so long a key that was just revoked may still open something
MOST: Final = 1_000  # keys that are remembered, right ones and wrong ones
PUBLIC: Final = ("news://",)
ASK: Final = "An operator makes one with `manage.py gateway agent NAME --grant twitter://`."


@dataclass(frozen=True)
class Caller:
    """Whoever asks. `share`: per cent of each upstream's limit."""

    name: str = ""
    grants: tuple[str, ...] = PUBLIC
    share: int = 100
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_anonymous(self) -> bool:
        return not self.name

    def may_read(self, uri: str) -> bool:
        return uri.startswith(PUBLIC) or uri.startswith(self.grants)

    def check(self, uri: str) -> None:
        """Raises: Unauthorized for what needs a key; Forbidden for what this agent was not granted."""
        if self.may_read(uri):
            return
        scheme = uri.partition("://")[0]
        if self.is_anonymous:
            raise Unauthorized(f"{scheme}:// is read with a key only.", f"Send it as `Authorization: Bearer …`. {ASK}")
        raise Forbidden(
            f"The agent {self.name} was not granted {scheme}://.", f"It may read {', '.join(sorted({*PUBLIC, *self.grants}))}."
        )


ANYBODY: Final = Caller()
_known: dict[str, tuple[float, Caller | None]] = {}


def remembered(token: str | None) -> Caller | None:
    """The caller of this key if it was looked up just now; no query. Raises: Unauthorized."""
    if token is None:
        return ANYBODY
    found = _known.get(token_hash(token))
    if found is None or time.monotonic() - found[0] > REMEMBERED:
        return None
    return _checked(found[1])


def of_token(token: str | None) -> Caller:
    """Whoever bears this key; None is anybody. A query, unless it was looked up just now. Raises: Unauthorized."""
    if (known := remembered(token)) is not None:
        return known
    sha256 = token_hash(token or "")
    row = Agent.objects.filter(token_sha256=sha256, revoked_at=None).first() if token else None
    found = Caller(row.name, tuple(row.grants), row.share, row.attributes) if row is not None else None
    if len(_known) >= MOST:
        _known.clear()
    _known[sha256] = (time.monotonic(), found)
    return _checked(found)


def forget() -> None:
    """Look every key up anew, after one was made or revoked."""
    _known.clear()


def make(name: str, grants: list[str], share: int = 100, attributes: Mapping[str, str] | None = None) -> str:
    """A new agent, or a new key and new grants for an old one. Returns the key, stored nowhere. Raises: ValidationError."""
    token = new_token(PREFIX)
    row = Agent.objects.filter(name=name).first() or Agent(name=name)
    row.grants, row.share, row.revoked_at = grants, share, None
    row.attributes = dict(row.attributes, **(attributes or {}))
    row.token_sha256 = token_hash(token)
    row.full_clean(exclude=["token_sha256"])
    row.save()
    forget()
    return token


def _checked(found: Caller | None) -> Caller:
    if found is None:
        raise Unauthorized("This key is unknown or was revoked.", f"Send a valid key, or none to read news://. {ASK}")
    return found
