"""Ed25519 keys in files that only their owner reads, each made on first use."""

import base64
import hashlib
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from config import keyring


def load_or_create_key(file: Path) -> Ed25519PrivateKey:
    """Return the key in `file`; made if there is none. Raises: OSError, TypeError, ValueError for what is no such key."""
    keyring.load_or_create_file(file, generate_pem)
    return read_key(file)


def read_key(file: Path) -> Ed25519PrivateKey:
    key = serialization.load_pem_private_key(file.read_bytes(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise TypeError(f"{file} holds no Ed25519 key; move it away, and a new key is made.")
    return key


def generate_pem() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def compute_key_id(private: Ed25519PrivateKey) -> str:
    return hashlib.sha256(private.public_key().public_bytes_raw()).hexdigest()[:16]


def encode_public_key(private: Ed25519PrivateKey) -> str:
    return base64.b64encode(private.public_key().public_bytes_raw()).decode()
