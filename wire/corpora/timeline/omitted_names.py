"""Names that a corpus leaves out: known by their HMAC alone, so that the corpus's file does not show which they are.

The key is this installation's own (`WIRE_DATA_DIR/keys/timeline_names`), never dumped. With an unkeyed hash, whoever has the file
and a list of names could try them all; with this one they have to ask the server, whose check of wording answers.
"""

import hmac
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings

from config import keyring
from wire.corpora.timeline.corpus_config import LeftOutName
from wire.text.tokens import words


def describe_name(name: str) -> LeftOutName:
    """Return what corpus.json says of a name. Raises: ValueError for one without a word, or of more than six."""
    parts = words(name)
    if not 1 <= len(parts) <= 6:
        raise ValueError("A name has one to six words.")
    return LeftOutName(words=len(parts), hmac=_digest(_key(), " ".join(parts)))


def find_runs(parts: Sequence[str], names: Sequence[LeftOutName]) -> Iterator[tuple[int, int]]:
    """Find the left-out names among these folded words: the place of each, and its number of words."""
    if not names or not key_file().exists():  # a new key would know no name, and the doctor would not see that the old one is gone
        return
    key, digests = _key(), {name.hmac for name in names}
    lengths = sorted({name.words for name in names})
    for at in range(len(parts)):
        for length in lengths:
            if at + length <= len(parts) and _digest(key, " ".join(parts[at : at + length])) in digests:
                yield at, length


def _digest(key: bytes, run: str) -> str:
    return hmac.digest(key, run.encode(), "sha256").hex()


def key_file() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "keys" / "timeline_names"


def _key() -> bytes:
    return keyring.load_or_create(key_file(), lambda: secrets.token_hex(32).encode())
