"""Hash trees give the roots of RFC 6962, and a path leads to the root of its own leaf alone."""

import hashlib

import pytest

from clearlane.proofs.merkle import leaf_hash, leaf_path, node_hash, root_of_path, tree_root

# The leaves and roots that implementations of Certificate Transparency compare themselves with.
LEAVES = [
    bytes.fromhex(one)
    for one in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


def defined(leaves):
    """The root as RFC 6962 defines it, by halves."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(defined(leaves[:half]), defined(leaves[half:]))


def test_the_roots_are_those_of_the_rfc():
    hashes = [leaf_hash(one) for one in LEAVES]
    assert [tree_root(hashes[:count]).hex() for count in range(9)] == list(ROOTS)
    many = [leaf_hash(str(number).encode()) for number in range(70)]
    for count in range(71):
        assert tree_root(many[:count]) == defined(many[:count])


def test_a_path_leads_to_the_root_from_its_own_leaf_alone():
    hashes = [leaf_hash(str(number).encode()) for number in range(23)]
    for count in range(1, 24):
        leaves = hashes[:count]
        root = tree_root(leaves)
        for position in range(count):
            path = leaf_path(leaves, position)
            assert root_of_path(leaves[position], position, count, path) == root
            others = [at for at in range(count) if at != position]
            assert all(root_of_path(leaves[position], at, count, path) != root for at in others)
            assert root_of_path(leaves[position], position, count, [*path, root]) is None
            assert root_of_path(leaves[position], position + count, count, path) is None
            if path:
                assert root_of_path(leaves[position], position, count, path[:-1]) is None
    with pytest.raises(IndexError):
        leaf_path(hashes, 23)
