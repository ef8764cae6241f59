"""Keys that open fact-checks, and sessions of the MCP server that ended.

FACTCHECKS_KEYS decides whether a key is needed, not the number of keys in force: revoking the last one closes the server.
"""

import datetime as dt
from hmac import compare_digest
from typing import Final, Literal, NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config.errors import Unauthorized
from config.tokens import generate_token, hash_token
from wire.corpora.factchecks import store
from wire.corpora.factchecks.models import ApiKey, EndedSession

PREFIX: Final = "fck"
Surface = Literal["mcp", "api"]


class KeyRule(NamedTuple):
    is_required: bool
    hashes: tuple[str, ...]


def issue_key(name: str) -> str:
    """Store a new key and return it; it cannot be shown again. Under `auto`, everybody needs a key from now on."""
    token = generate_token(PREFIX)
    with transaction.atomic():
        ApiKey.objects.create(name=name, token_sha256=hash_token(token))
        store.invalidate_caches()  # answers that were cached for everybody go
    return token


def revoke_key(key: ApiKey) -> None:
    with transaction.atomic():
        ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now())
        store.invalidate_caches()


def read_key_rule(surface: Surface) -> KeyRule:
    """Return the keys in force; MCP's key of the environment opens REST too, unless REST has its own or the mode is `mcp`."""
    own = (settings.FACTCHECKS_API_KEY if surface == "api" else "") or settings.FACTCHECKS_MCP_KEY
    stored = list(ApiKey.objects.values_list("token_sha256", "revoked_at"))
    hashes = (*(digest for digest, revoked_at in stored if revoked_at is None), *([hash_token(own)] if own else []))
    required = {"auto": bool(stored or own), "required": True, "off": False, "mcp": surface == "mcp"}
    return KeyRule(required[settings.FACTCHECKS_KEYS], hashes)


def expect_valid_key(token: str | None, rule: KeyRule) -> None:
    """Raises: Unauthorized, where keys are needed and this is none. Every key is compared, each in constant time."""
    if not rule.is_required:
        return
    given = hash_token(token or "")
    if not sum(compare_digest(given, digest) for digest in rule.hashes):  # not any(), which would stop at the first
        raise Unauthorized("This server needs a key." if not token else "This key is not valid.")


class EndedSessions:
    """Sessions that clients ended before they expired, in a table, so that every worker knows."""

    def __contains__(self, session: str) -> bool:
        return EndedSession.objects.filter(pk=session).exists()

    def add(self, session: str, seconds_left: float) -> None:
        """Store the session, and delete those that have expired by now."""
        now = timezone.now()
        EndedSession.objects.filter(expires_at__lt=now).delete()
        EndedSession.objects.get_or_create(pk=session, defaults={"expires_at": now + dt.timedelta(seconds=seconds_left)})
