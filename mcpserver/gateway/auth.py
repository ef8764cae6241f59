"""Callers: anybody, or an agent that is known by its key."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from config.errors import Forbidden, Unauthorized
from config.tokens import generate_token, hash_token
from mcpserver.gateway.models import Agent

PREFIX: Final = "gwa"
CACHE_SECONDS: Final = 5.0  # for so long a key that was just revoked may still open something
PUBLIC: Final = ("news://",)
ASK: Final = "An operator makes one with `manage.py gateway agent NAME --grant {scheme}://`."


@dataclass(frozen=True)
class Caller:
    """An agent, or anybody. `share`: per cent of each upstream's limit."""

    name: str = ""
    grants: tuple[str, ...] = PUBLIC
    share: int = 100
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_anonymous(self) -> bool:
        return not self.name

    def may_read(self, uri: str) -> bool:
        return uri.startswith(PUBLIC) or uri.startswith(self.grants)

    def expect_grant(self, uri: str) -> None:
        """Raises: Unauthorized for what needs a key; Forbidden for what this agent was not granted."""
        if self.may_read(uri):
            return
        scheme = uri.partition("://")[0]
        if self.is_anonymous:
            raise Unauthorized(
                f"{scheme}:// can be read only with a key.", f"Send it as `Authorization: Bearer …`. {ASK.format(scheme=scheme)}"
            )
        raise Forbidden(
            f"The agent {self.name} was not granted {scheme}://.", f"It may read {', '.join(sorted({*PUBLIC, *self.grants}))}."
        )


ANYBODY: Final = Caller()
_cache: Final[dict[str, tuple[float, Caller]]] = {}


def get_cached_caller(token: str | None) -> Caller | None:
    """Return the caller of a key that was looked up just now, without a query. Without a key it is anybody."""
    if token is None:
        return ANYBODY
    looked_up_at, caller = _cache.get(hash_token(token), (float("-inf"), None))
    return caller if time.monotonic() - looked_up_at <= CACHE_SECONDS else None


def find_caller(token: str | None) -> Caller:
    if (cached := get_cached_caller(token)) is not None:
        return cached
    token_sha256 = hash_token(token or "")
    agent = Agent.objects.filter(token_sha256=token_sha256, revoked_at=None).first() if token else None
    if agent is None:
        how = f"Send a valid key, or none to read news://. {ASK.format(scheme='SCHEME')}"
        raise Unauthorized("This key is unknown or was revoked.", how)
    if len(_cache) >= 1_000:  # keys
        _cache.clear()
    _cache[token_sha256] = time.monotonic(), to_caller(agent)
    return to_caller(agent)


def to_caller(agent: Agent) -> Caller:
    return Caller(agent.name, tuple(agent.grants), agent.share, agent.attributes)


def clear_caller_cache() -> None:
    _cache.clear()


def create_agent(name: str, grants: list[str], share: int = 100, attributes: Mapping[str, str] | None = None) -> str:
    """Make an agent, or a new key and new grants for one. Return the key, which is stored nowhere. Raises: ValidationError."""
    agent = Agent.objects.filter(name=name).first() or Agent(name=name)
    agent.grants, agent.share = grants, share
    agent.attributes = {**agent.attributes, **(attributes or {})}
    agent.full_clean(exclude=["token_sha256"])
    return issue_key(agent)


def issue_key(agent: Agent) -> str:
    token = generate_token(PREFIX)
    agent.token_sha256, agent.revoked_at = hash_token(token), None
    agent.save()
    clear_caller_cache()
    return token


def revoke_keys(agents: QuerySet[Agent]) -> int:
    """Have the keys of these agents open nothing any more; return how many did until now."""
    revoked = agents.filter(revoked_at=None).update(revoked_at=timezone.now())
    clear_caller_cache()
    return revoked
