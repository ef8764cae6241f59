"""The check of an audit path that a reader of a proof makes."""

from collections.abc import Sequence

from wire.publishing.transparency import merkle


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], tree: bytes) -> bool:
    """Return whether the leaf is in the tree of that root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    last, found = size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if index & 1 or index == last:
            found = merkle.hash_node(step, found)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            found = merkle.hash_node(found, step)
        index, last = index >> 1, last >> 1
    return last == 0 and found == tree
