"""Merkle trees as RFC 9162 has them (section 2.1), over SHA-256. Pure.

A tree of a few hundred leaves is made at once from its leaf hashes. One that grows keeps the roots of its perfect subtrees, each by
its level (2**level leaves) and its index in that level: `needed` names those from which a root or a proof of any size is made.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

Place = tuple[int, int]
"""Level and index of a perfect subtree: it covers the leaves from index * 2**level, 2**level of them."""
Nodes = Callable[[Place], bytes]

EMPTY: Final = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over leaf hashes."""
    if not leaves:
        return EMPTY
    level = list(leaves)
    while len(level) > 1:
        paired = [node_hash(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = paired + level[len(paired) * 2 :]
    return level[0]


def path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The audit path of a leaf, from the leaf up (RFC 9162, 2.1.3.1)."""
    found, level = [], list(leaves)
    while len(level) > 1:
        beside = index ^ 1
        if beside < len(level):
            found.append(level[beside])
        paired = [node_hash(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level, index = paired + level[len(paired) * 2 :], index >> 1
    return found


def completed(size: int) -> list[Place]:
    """The perfect subtrees above the leaves that are complete once the tree has `size` leaves and were not before, lowest first."""
    places, level, index = [], 0, size - 1
    while index & 1:
        level, index = level + 1, index >> 1
        places.append((level, index))
    return places


def children(place: Place) -> tuple[Place, Place]:
    level, index = place
    return (level - 1, 2 * index), (level - 1, 2 * index + 1)


def subtree(begin: int, end: int) -> list[Place]:
    """The perfect subtrees that these leaves consist of, left to right; `begin` is where one of RFC 9162's splits begins."""
    places = []
    while begin < end:
        level = (end - begin).bit_length() - 1
        places.append((level, begin >> level))
        begin += 1 << level
    return places


def joined(places: Sequence[Place], nodes: Nodes) -> bytes:
    """The root over perfect subtrees of falling size."""
    hashes = [nodes(place) for place in places]
    found = hashes.pop()
    while hashes:
        found = node_hash(hashes.pop(), found)
    return found


def inclusion(index: int, size: int) -> list[list[Place]]:
    """Of what the audit path of a leaf in a tree of `size` consists, from the leaf up: each step by its perfect subtrees."""
    steps: list[list[Place]] = []
    begin, end = 0, size
    while end - begin > 1:
        split = begin + (1 << ((end - begin - 1).bit_length() - 1))
        if index < split:
            steps.append(subtree(split, end))
            end = split
        else:
            steps.append(subtree(begin, split))
            begin = split
    return steps[::-1]


def consistency(first: int, second: int) -> list[list[Place]]:
    """Of what the consistency proof between two sizes consists (RFC 9162, 2.1.4.1); 0 < first <= second."""
    if first == second:
        return []
    steps: list[list[Place]] = []
    begin, end, is_whole = 0, second, True
    while first != end:
        split = begin + (1 << ((end - begin - 1).bit_length() - 1))
        if first <= split:
            steps.append(subtree(split, end))
            end = split
        else:
            steps.append(subtree(begin, split))
            begin, is_whole = split, False
    if not is_whole:
        steps.append(subtree(begin, end))
    return steps[::-1]


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], tree: bytes) -> bool:
    """Whether the leaf is in the tree of that root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    last, found = size - 1, leaf
    for step in proof:
        if last == 0:
            return False
        if index & 1 or index == last:
            found = node_hash(step, found)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            found = node_hash(found, step)
        index, last = index >> 1, last >> 1
    return last == 0 and found == tree


def is_consistent(first: int, second: int, proof: Sequence[bytes], old: bytes, new: bytes) -> bool:
    """Whether the tree of `second` leaves begins with that of `first` (RFC 9162, 2.1.4.2)."""
    if first == second or not 0 < first < second:
        return first == second > 0 and not proof and old == new
    steps = [old, *proof] if first & (first - 1) == 0 else list(proof)
    if not steps:
        return False
    index, last = first - 1, second - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    ours = theirs = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            ours, theirs = node_hash(step, ours), node_hash(step, theirs)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            theirs = node_hash(theirs, step)
        index, last = index >> 1, last >> 1
    return last == 0 and ours == old and theirs == new
