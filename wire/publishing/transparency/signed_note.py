"""Checkpoints as signed notes: C2SP signed-note, tlog-checkpoint and tlog-cosignature (c2sp.org, v1). Pure. A checkpoint's text is
three lines: origin, number of leaves, root in base64.
"""

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ED25519: Final = b"\x01"
COSIGNATURE: Final = b"\x04"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A log's size and root, and the note's signature lines, each a name and bytes."""

    origin: str
    size: int
    root: bytes
    signatures: tuple[tuple[str, bytes], ...] = ()

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def compute_key_id(name: str, public: bytes, kind: bytes = ED25519) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + kind + public).digest()[:4]


def format_signature(name: str, identity: bytes, signature: bytes) -> str:
    return f"\u2014 {name} {base64.b64encode(identity + signature).decode()}\n"


def parse_checkpoint(note: str) -> Checkpoint:
    """Raises: ValueError for what is no checkpoint."""
    text, separator, signed = note.partition("\n\n")
    origin, size, root, *more = text.split("\n")
    if not separator or not origin or not size.isdecimal() or len(size) > 18 or (size != "0" and size[0] == "0"):
        raise ValueError("not a checkpoint: origin, size and root are missing")
    found = []
    for row in signed.rstrip("\n").split("\n"):
        dash, name, encoded = row.split(" ")
        if dash != "\u2014":
            raise ValueError("not a checkpoint: a signature line begins with an em dash")
        found.append((name, base64.b64decode(encoded, validate=True)))
    digest = base64.b64decode(root, validate=True)
    if len(digest) != 32 or more:
        raise ValueError("not a checkpoint of this kind: three lines, the third a SHA-256")
    return Checkpoint(origin, int(size), digest, tuple(found))


def is_signed_by_log(checkpoint: Checkpoint, public: bytes) -> bool:
    """Return whether the log's own key signed it, under the log's origin as name."""
    wanted = compute_key_id(checkpoint.origin, public)
    return any(
        name == checkpoint.origin and signed[:4] == wanted and is_valid_signature(public, signed[4:], checkpoint.text.encode())
        for name, signed in checkpoint.signatures
    )


def build_cosigned_text(checkpoint: Checkpoint, timestamp: int) -> bytes:
    """Return what a witness signs: when it saw that this tree holds all that it saw before."""
    return f"cosignature/v1\ntime {timestamp}\n{checkpoint.text}".encode()


def is_valid_signature(public: bytes, signature: bytes, signed: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True
