"""Hash trees in the form of RFC 6962, section 2.1: root, path of a leaf, and the root that a path leads to.

A leaf and a node are hashed with different first bytes, so that no leaf can be passed off as a node. Knows hashes alone.
"""

import hashlib
from collections.abc import Sequence

HASH_BYTES = 32
LEAF, NODE = b"\0", b"\1"


def leaf_hash(content: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(LEAF + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node over its two children."""
    return hashlib.sha256(NODE + left + right).digest()


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over hashes of leaves."""
    if not leaves:
        return hashlib.sha256().digest()
    level = list(leaves)
    while len(level) > 1:
        level = _next_level(level)
    return level[0]


def leaf_path(leaves: Sequence[bytes], position: int) -> list[bytes]:
    """Return what leads from a leaf to the root: the hash beside it on each level that has one, the lowest first."""
    if not 0 <= position < len(leaves):
        raise IndexError("there is no leaf at this position")
    path, level = [], list(leaves)
    while len(level) > 1:
        beside = position ^ 1
        if beside < len(level):
            path.append(level[beside])
        level, position = _next_level(level), position // 2
    return path


def root_of_path(leaf: bytes, position: int, count: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that a path leads to in a tree of ``count`` leaves; None if it is not the path of any leaf there."""
    if not 0 <= position < count:
        return None
    found, left = leaf, list(path)
    while count > 1:
        if position ^ 1 < count:
            if not left:
                return None
            beside = left.pop(0)
            found = node_hash(beside, found) if position & 1 else node_hash(found, beside)
        position, count = position // 2, (count + 1) // 2
    return None if left else found


def _next_level(level: Sequence[bytes]) -> list[bytes]:
    """Return the level above; a hash without a neighbor moves up as it is, which gives the trees of RFC 6962."""
    above = [node_hash(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
    return [*above, level[-1]] if len(level) % 2 else above
