"""An inverted index in the database: tokens, the numbered documents that hold them, and their weights; the same rows on SQLite and
Postgres, so that both rank alike. A token's postings lie in blocks of BLOCK documents: a document touches one block of each of its
tokens, and a question reads its own tokens' blocks.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Final

import numpy as np
from django.db import connections
from numpy.typing import NDArray

from wire.models import Postings

BLOCK: Final = 8192  # documents
MOST: Final = 255  # the greatest weight

VALUES: Final = ""  # in the place of a token: the documents' values

Numbers = NDArray[np.int64]
Documents = Mapping[int, Mapping[str, int]]  # tokens and weights (1 to MOST) of documents, by their numbers (0, 1, 2, …)

_WORD: Final = np.dtype("<u4")
_VALUE: Final = np.dtype("<i8")


def add(index: str, documents: Documents) -> None:
    """Add documents; none of them may be in the index. For a caller inside a transaction."""
    _merge_documents(index, documents, keep_new=True)


def fill_block(index: str, block: int, documents: Documents) -> None:
    """Add the documents of one block, of which nothing is in the index yet: ten times as fast as `add`. Needs a transaction."""
    words: defaultdict[str, list[int]] = defaultdict(list)
    for number in sorted(documents):
        for token, weight in documents[number].items():
            words[token].append(number % BLOCK << 8 | weight)
    rows = [(index, token, block, np.array(found, _WORD).tobytes()) for token, found in words.items()]
    connection = connections[Postings.objects.db]
    columns = ", ".join(connection.ops.quote_name(name) for name in ("index", "token", "block", "found"))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {Postings._meta.db_table} ({columns}) VALUES (%s, %s, %s, %s)", rows)  # noqa: S608  ours


def rebuild_index(index: str, documents: Iterable[tuple[int, Mapping[str, int]]]) -> None:
    """Make an index anew of its documents, in the order of their numbers; their values stay. Needs a transaction."""
    Postings.objects.filter(index=index).exclude(token=VALUES).delete()
    for block, rows in groupby(documents, key=lambda row: row[0] // BLOCK):
        fill_block(index, block, dict(rows))


def is_block_filled(index: str, block: int) -> bool:
    return Postings.objects.filter(index=index, block=block).exclude(token=VALUES).exists()


def remove(index: str, documents: Documents) -> None:
    """Remove documents, of which all tokens must be given. For a caller inside a transaction."""
    _merge_documents(index, documents, keep_new=False)


def clear_index(index: str) -> None:
    Postings.objects.filter(index=index).delete()


def get_weights(index: str, tokens: Iterable[str]) -> dict[str, tuple[Numbers, NDArray[np.int64]]]:
    """Return, for each of these tokens that any document holds, the documents' numbers, rising, and the weights beside them."""
    blocks: dict[str, list[NDArray[np.int64]]] = defaultdict(list)
    rows = Postings.objects.filter(index=index, token__in=set(tokens)).order_by("token", "block")
    for token, block, found in rows.values_list("token", "block", "found"):
        words = np.frombuffer(bytes(found), dtype=_WORD).astype(np.int64)
        blocks[token].append(((words >> 8) + block * BLOCK) << 8 | words & MOST)
    joined = {token: np.concatenate(parts) for token, parts in blocks.items()}
    return {token: (words >> 8, words & MOST) for token, words in joined.items()}


def set_values(index: str, numbers: Mapping[int, int]) -> None:
    """Give documents a value each (64 bits, signed), such as the time that hits are sorted by. For a caller in a transaction."""
    blocks: dict[int, list[int]] = defaultdict(list)
    for number in numbers:
        blocks[number // BLOCK].append(number)
    rows = Postings.objects.filter(index=index, token=VALUES, block__in=blocks).values_list("block", "found")
    stored = {block: np.frombuffer(bytes(found), dtype=_VALUE) for block, found in rows}
    changed = []
    for block, members in blocks.items():
        places, old = np.array(members) - block * BLOCK, stored.get(block, np.zeros(0, _VALUE))
        held = np.zeros(max(int(places.max()) + 1, len(old)), _VALUE)
        held[: len(old)] = old
        held[places] = [numbers[number] for number in members]
        changed.append(Postings(index=index, token=VALUES, block=block, found=held.tobytes()))
    Postings.objects.bulk_create(changed, update_conflicts=True, update_fields=["found"], unique_fields=["index", "token", "block"])


def get_values(index: str) -> Numbers:
    """Return the value of each document, by its number; 0 for one that was given none."""
    rows = list(Postings.objects.filter(index=index, token=VALUES).order_by("block").values_list("block", "found"))
    held = np.zeros((rows[-1][0] + 1) * BLOCK if rows else 0, dtype=np.int64)
    for block, found in rows:
        part = np.frombuffer(bytes(found), dtype=_VALUE)
        held[block * BLOCK : block * BLOCK + len(part)] = part
    return held


def _merge_documents(index: str, documents: Documents, *, keep_new: bool) -> None:
    """Write the blocks that these documents touch: without them, or with `keep_new` with their new words."""
    touched: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, tokens in documents.items():
        for token, weight in tokens.items():
            touched[token, number // BLOCK].append((number % BLOCK) << 8 | weight)
    rows = Postings.objects.filter(index=index, token__in={token for token, _ in touched})
    rows = rows.filter(block__in={block for _, block in touched})
    stored = {(token, block): (key, found) for key, token, block, found in rows.values_list("pk", "token", "block", "found")}
    changed, emptied = [], []
    for (token, block), new in touched.items():
        key, found = stored.get((token, block), (None, b""))
        words, added = np.frombuffer(bytes(found), dtype=_WORD), np.array(new, dtype=_WORD)
        if len(words) and words[-1] >> 8 >= min(new) >> 8:  # documents mostly come with rising numbers: nothing to take out
            words = words[~np.isin(words >> 8, added >> 8)]
        if keep_new:
            words = np.sort(np.concatenate((words, added)))
        if len(words):
            changed.append(Postings(index=index, token=token, block=block, found=words.tobytes()))
        elif key is not None:
            emptied.append(key)
    Postings.objects.bulk_create(
        changed, update_conflicts=True, update_fields=["found"], unique_fields=["index", "token", "block"], batch_size=500
    )
    Postings.objects.filter(pk__in=emptied).delete()
