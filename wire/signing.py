"""Ed25519 signatures of snapshots. The private key is a file only its owner reads; public keys are in the database."""

import base64
import hashlib
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings
from django.utils import timezone

from config import keyring
from wire.models import SigningKey

ALGORITHM = "Ed25519"


def sign(wire_sha256: str) -> tuple[str, SigningKey]:
    """The signature (base64) over the 64 ASCII hex digits, and the public key it verifies with."""
    private = _private_key()
    raw = private.public_key().public_bytes_raw()
    key, _ = SigningKey.objects.get_or_create(
        key_id=hashlib.sha256(raw).hexdigest()[:16],
        defaults={"public_key": base64.b64encode(raw).decode(), "created_at": timezone.now().replace(microsecond=0)},
    )
    return base64.b64encode(private.sign(wire_sha256.encode())).decode(), key


def is_valid(signature: str, wire_sha256: str, public_key: str) -> bool:
    """Whether `signature` over `wire_sha256` was made by `public_key` (both base64)."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature, validate=True), wire_sha256.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _private_key() -> Ed25519PrivateKey:
    key = serialization.load_pem_private_key(keyring.stored(key_file(), _new_key), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise TypeError(f"{key_file()} holds another kind of key; move it away and a new one is made.")
    return key


def key_file() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "keys" / "ed25519.pem"


def _new_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
