"""Which process has a data directory, so that the next one knows that the one before is dead.

    holder = DirectoryHolder.take(data)
    holder.before            # the node whose leases can be taken at once; empty if that may be alive
    holder.record(node)

A node has a new id at every start. The operating system lets go of a lock when its process ends, however it ends: who gets
the lock of a directory knows that the node whose id is in the file is gone. Other nodes wait for the end of a lease.
"""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

LOCK_NAME = "webhooks.node"
NODE_CHARACTERS_MAX = 200


@dataclass(slots=True)
class DirectoryHolder:
    """The lock of a data directory, if this process has it."""

    before: str = ""
    """The node that had it before and is dead."""
    _descriptor: int | None = None

    @classmethod
    def take(cls, data: Path) -> "DirectoryHolder":
        """Take the lock if no living process has it."""
        descriptor = os.open(data / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return cls()
        return cls(os.read(descriptor, NODE_CHARACTERS_MAX).decode(errors="replace"), descriptor)

    def record(self, node: str) -> None:
        """Write down the node that has the directory now."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, node.encode()[:NODE_CHARACTERS_MAX], 0)

    def close(self) -> None:
        """Let go of the directory."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
