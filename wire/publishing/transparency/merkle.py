"""Merkle trees as RFC 9162 has them (section 2.1), over SHA-256. Pure. A tree that grows keeps the roots of its perfect subtrees,
each by its level (2**level leaves) and its index in that level.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import reduce

Place = tuple[int, int]  # level and index of a perfect subtree: it covers the leaves from index * 2**level, 2**level of them


def hash_leaf(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def hash_node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def compute_root(leaves: Sequence[bytes]) -> bytes:
    level = list(leaves)
    while len(level) > 1:
        level = _hash_pairs(level)
    return level[0] if level else hashlib.sha256().digest()


def compute_audit_path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the audit path of a leaf, from the leaf up (RFC 9162, 2.1.3.1)."""
    found, level = [], list(leaves)
    while len(level) > 1:
        found += level[index ^ 1 : (index ^ 1) + 1]  # none beside the last of an odd number
        level, index = _hash_pairs(level), index >> 1
    return found


def _hash_pairs(level: list[bytes]) -> list[bytes]:
    paired = [hash_node(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
    return paired + level[len(paired) * 2 :]


def list_completed_subtrees(size: int) -> list[Place]:
    """Return the perfect subtrees above the leaves that the leaf number `size` completes, lowest first."""
    places, level, index = [], 0, size - 1
    while index & 1:
        level, index = level + 1, index >> 1
        places.append((level, index))
    return places


def get_children(place: Place) -> tuple[Place, Place]:
    level, index = place
    return (level - 1, 2 * index), (level - 1, 2 * index + 1)


def get_subtrees(begin: int, end: int) -> list[Place]:
    """Return the perfect subtrees that these leaves consist of, left to right; `begin` is where one of RFC 9162's splits begins."""
    places = []
    while begin < end:
        level = (end - begin).bit_length() - 1
        places.append((level, begin >> level))
        begin += 1 << level
    return places


def join_subtrees(places: Sequence[Place], nodes: Callable[[Place], bytes]) -> bytes:
    """Return the root over perfect subtrees of falling size."""
    return reduce(lambda right, left: hash_node(left, right), [nodes(place) for place in places][::-1])


def list_inclusion_steps(index: int, size: int) -> list[list[Place]]:
    """Return the steps of the audit path of a leaf in a tree of `size`, from the leaf up, each by its perfect subtrees."""
    return _descend_to_leaf(index, size, lambda begin, end: end - begin <= 1)[0][::-1]


def list_consistency_steps(first: int, second: int) -> list[list[Place]]:
    """Return the steps of the consistency proof between two sizes (RFC 9162, 2.1.4.1); 0 < first <= second."""
    steps, begin, end = _descend_to_leaf(first - 1, second, lambda _begin, end: end == first)
    return [*([get_subtrees(begin, end)] if begin else []), *steps[::-1]]


def _descend_to_leaf(index: int, size: int, is_done: Callable[[int, int], bool]) -> tuple[list[list[Place]], int, int]:
    """Return the subtrees beside the way from the root to a leaf, and where that ends, as a range of leaves."""
    steps: list[list[Place]] = []
    begin, end = 0, size
    while not is_done(begin, end):
        split = begin + (1 << ((end - begin - 1).bit_length() - 1))
        if index < split:
            steps.append(get_subtrees(split, end))
            end = split
        else:
            steps.append(get_subtrees(begin, split))
            begin = split
    return steps, begin, end


def is_consistent(first: int, second: int, proof: Sequence[bytes], old: bytes, new: bytes) -> bool:
    """Return whether the tree of `second` leaves begins with that of `first` (RFC 9162, 2.1.4.2)."""
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
            ours, theirs = hash_node(step, ours), hash_node(step, theirs)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            theirs = hash_node(theirs, step)
        index, last = index >> 1, last >> 1
    return last == 0 and ours == old and theirs == new
