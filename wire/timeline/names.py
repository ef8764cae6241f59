"""Names that a corpus leaves out: known by their HMAC alone, so that no list of names tells which they are.

The key is this installation's own (`WIRE_DATA_DIR/keys/timeline_names`), never dumped. With an unkeyed hash, whoever has a list of
names could try them all.
"""

import hmac
import secrets
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from config import keyring
from wire.stories.tokens import words
from wire.timeline.corpusfile import LeftOutName


def left_out(name: str) -> LeftOutName:
    """What corpus.json says of a name. Raises: ValueError for one without a word, or of more than six."""
    parts = words(name)
    if not 1 <= len(parts) <= 6:
        raise ValueError("A name has one to six words.")
    return LeftOutName(words=len(parts), hmac=_digest(_key(), " ".join(parts)))


def found_in(texts: Iterable[str], names: Sequence[LeftOutName]) -> Iterator[str]:
    """Each run of words in these texts that is a left-out name, as it is folded."""
    if not names:
        return
    key, digests = _key(), {name.hmac for name in names}
    lengths = sorted({name.words for name in names})
    for text in texts:
        parts = words(text)
        for length in lengths:
            for at in range(len(parts) - length + 1):
                run = " ".join(parts[at : at + length])
                if _digest(key, run) in digests:
                    yield run


@lru_cache(maxsize=100_000)
def _digest(key: bytes, run: str) -> str:
    return hmac.digest(key, run.encode(), "sha256").hex()


def _key() -> bytes:
    return keyring.stored(Path(settings.WIRE_DATA_DIR) / "keys" / "timeline_names", lambda: secrets.token_hex(32).encode())
