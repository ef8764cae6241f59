"""Who may ask: anybody, until a key is handed out; from then on whoever bears one that is in force."""

from hmac import compare_digest
from typing import Final, Literal

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config.errors import Unauthorized
from config.tokens import new_token, token_hash
from wire.factchecks import storing
from wire.factchecks.models import ApiKey

PREFIX: Final = "fck"
Surface = Literal["mcp", "api"]


def hand_out(name: str) -> str:
    """A new key, told this once. From now on everybody needs one."""
    token = new_token(PREFIX)
    with transaction.atomic():
        ApiKey.objects.create(name=name, token_sha256=token_hash(token))
        storing.announce()  # answers that were cached for everybody go
    return token


def revoke(key: ApiKey) -> None:
    with transaction.atomic():
        ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now())
        storing.announce()


def in_force(surface: Surface) -> tuple[str, ...]:
    """Hashes of the keys that open a surface: those of the table open both, one of the environment its own."""
    own = settings.FACTCHECKS_MCP_KEY if surface == "mcp" else settings.FACTCHECKS_API_KEY
    stored = ApiKey.objects.filter(revoked_at=None).values_list("token_sha256", flat=True)
    return (*stored, *([token_hash(own)] if own else []))


def expect(token: str | None, hashes: tuple[str, ...]) -> None:
    """Raises: Unauthorized, where keys are needed and this is none. Every key is compared, each in constant time."""
    if not hashes:
        return
    given = token_hash(token or "")
    if not sum(compare_digest(given, one) for one in hashes):  # not any(), which would stop at the first
        raise Unauthorized("This server needs a key." if not token else "This key is not in force.")
