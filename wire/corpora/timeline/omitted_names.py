"""Names that a corpus leaves out: known by their HMAC alone, so that the corpus's file does not show which they are.

The key is this installation's own (`WIRE_DATA_DIR/keys/timeline_names`), never dumped. With an unkeyed hash, whoever has the file
and a list of names could try them all; with this one they have to ask the server, whose check of wording answers.
"""

import hmac
import secrets
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from django.conf import settings

from config import keyring
from wire.corpora.timeline.corpus_config import LeftOutName
from wire.text.tokens import words


def hash_name(name: str) -> LeftOutName:
    """Return what corpus.json says of a name, its words in any order, some as initials. Raises: ValueError unless 1 to 6 words."""
    parts = words(name)
    if not 1 <= len(parts) <= 6:
        raise ValueError("A name has one to six words.")
    key, full = _load_key(), sorted(parts)
    shortened = {
        tuple(sorted(some)) for some in product(*((part, part[0]) for part in parts)) if any(len(part) > 1 for part in some)
    }
    initials = sorted(_hash_words(key, some) for some in shortened - {tuple(full)})
    return LeftOutName(words=len(parts), hmac=_hash_words(key, full), initials=initials)


def find_names(parts: Sequence[str], names: Sequence[LeftOutName]) -> Iterator[tuple[int, int]]:
    """Find the left-out names among these folded words: the place of each, and its number of words."""
    if not names or not key_file().exists():  # a new key would know no name, and the doctor would not see that the old one is gone
        return
    key, digests = _load_key(), {digest for name in names for digest in (name.hmac, *name.initials)}
    lengths = sorted({name.words for name in names})
    for at in range(len(parts)):
        for length in lengths:
            run = parts[at : at + length]
            # HMACs of earlier versions are of the words as they stood.
            if len(run) == length and not digests.isdisjoint((_hash_words(key, sorted(run)), _hash_words(key, run))):
                yield at, length


def _hash_words(key: bytes, run: Sequence[str]) -> str:
    return hmac.digest(key, " ".join(run).encode(), "sha256").hex()


def key_file() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "keys" / "timeline_names"


def _load_key() -> bytes:
    return keyring.load_or_create_file(key_file(), lambda: secrets.token_hex(32).encode())
