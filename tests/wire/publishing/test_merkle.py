"""Merkle trees of RFC 9162: roots, proofs, and that no other proof passes."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.proofs.inclusion import is_included
from wire.publishing.transparency import merkle

# The test vectors that certificate-transparency implementations share.
LEAVES = [
    bytes.fromhex(leaf)
    for leaf in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def hash_leaves(number: int) -> list[bytes]:
    return [merkle.hash_leaf(str(at).encode()) for at in range(number)]


class StoredTree:
    """Perfect subtrees, as a log keeps them."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.nodes = dict[merkle.Place, bytes]()
        for size, leaf in enumerate(leaves, start=1):
            self.nodes[0, size - 1] = leaf
            for place in merkle.list_completed_subtrees(size):
                left, right = merkle.get_children(place)
                self.nodes[place] = merkle.hash_node(self.nodes[left], self.nodes[right])

    def hashes(self, steps: list[list[merkle.Place]]) -> list[bytes]:
        return [merkle.join_subtrees(step, self.nodes.__getitem__) for step in steps]

    def root(self, size: int) -> bytes:
        return merkle.join_subtrees(merkle.get_subtrees(0, size), self.nodes.__getitem__)


@pytest.mark.parametrize("size", ROOTS)
def test_roots_are_those_of_the_shared_vectors(size: int) -> None:
    assert merkle.compute_root([merkle.hash_leaf(leaf) for leaf in LEAVES[:size]]).hex() == ROOTS[size]


def test_an_empty_tree_has_the_hash_of_nothing() -> None:
    assert merkle.compute_root([]) == hashlib.sha256().digest()


def test_every_leaf_of_every_small_tree_is_proved_and_no_other_is() -> None:
    for size in range(1, 40):
        leaves = hash_leaves(size)
        stored, tree = StoredTree(leaves), merkle.compute_root(leaves)
        assert stored.root(size) == tree
        for index in range(size):
            proof = merkle.compute_audit_path(leaves, index)
            assert stored.hashes(merkle.list_inclusion_steps(index, size)) == proof
            assert is_included(leaves[index], index, size, proof, tree)
            assert not is_included(merkle.hash_leaf(b"other"), index, size, proof, tree)
            assert not is_included(leaves[index], index, size, [*proof, tree], tree)
            assert not is_included(leaves[index], size, size, proof, tree)
            if proof:
                assert not is_included(leaves[index], index, size, proof[:-1], tree)


def test_every_small_tree_is_proved_to_begin_with_every_smaller_one() -> None:
    stored = StoredTree(hash_leaves(40))
    for second in range(1, 41):
        for first in range(1, second + 1):
            proof = stored.hashes(merkle.list_consistency_steps(first, second))
            old, new = stored.root(first), stored.root(second)
            assert merkle.is_consistent(first, second, proof, old, new), (first, second)
            forged = StoredTree([merkle.hash_leaf(b"forged"), *hash_leaves(40)[1:]]).root(first)
            assert not merkle.is_consistent(first, second, proof, forged, new)
            if proof:
                assert not merkle.is_consistent(first, second, proof[:-1], old, new)


@given(st.integers(1, 10**12), st.data())
def test_a_proof_is_short_however_large_the_log(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    assert len(merkle.list_inclusion_steps(index, size)) <= size.bit_length()
    first = data.draw(st.integers(1, size))
    assert len(merkle.list_consistency_steps(first, size)) <= size.bit_length() + 1
