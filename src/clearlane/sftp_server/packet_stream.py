"""The bytes of an SFTP session on their way to asyncssh, which reads a packet more strictly than OpenSSH's server.

The SFTP library of rclone and other programs in Go ends the last block of a file with bytes that do not belong to it:
the packet is longer than what it says that it holds. OpenSSH ignores them, asyncssh refuses the packet.
"""

from collections.abc import Callable
from typing import Any

from asyncssh.constants import FXP_WRITE
from asyncssh.stream import SSHServerStreamSession

from clearlane.sftp_server.site_files import SiteFiles

SFTP_VERSION = 3
"""What OpenSSH's and nearly all other clients speak."""

LENGTH_BYTES = 4
TYPE_AT = 4
HANDLE_LENGTH_AT = 9
HANDLE_BYTES = 4
"""The length of the handles that asyncssh gives to clients."""
DATA_LENGTH_AT = HANDLE_LENGTH_AT + LENGTH_BYTES + HANDLE_BYTES + 8
HEAD_BYTES = DATA_LENGTH_AT + LENGTH_BYTES
"""A packet up to its data: length, type, id, handle, offset, length of the data."""


class WriteTrimmer:
    """Removes what follows the data of a packet that writes. Bytes in, bytes out, whatever the chunking."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._keep = 0
        self._drop = 0

    def feed(self, data: bytes) -> bytes:
        """Return the bytes to pass on."""
        found = bytearray()
        at = 0
        while at < len(data):
            if self._keep:
                piece = data[at : at + self._keep]
                found += piece
                self._keep -= len(piece)
            elif self._drop:
                piece = data[at : at + self._drop]
                self._drop -= len(piece)
            else:
                piece = data[at : at + self._head_size() - len(self._head)]
                self._head += piece
                if len(self._head) == self._head_size():
                    found += self._begin_packet()
            at += len(piece)
        return bytes(found)

    def _head_size(self) -> int:
        """Return how many bytes of the packet are needed before it can be passed on."""
        if len(self._head) < LENGTH_BYTES:
            return LENGTH_BYTES
        return min(LENGTH_BYTES + self._number(0), HEAD_BYTES)

    def _begin_packet(self) -> bytes:
        """Return the head of a packet with its true length; the rest follows."""
        length = self._number(0)
        kept = length
        if (
            len(self._head) == HEAD_BYTES
            and self._head[TYPE_AT] == FXP_WRITE
            and self._number(HANDLE_LENGTH_AT) == HANDLE_BYTES
        ):
            kept = min(length, HEAD_BYTES - LENGTH_BYTES + self._number(DATA_LENGTH_AT))
        head = kept.to_bytes(LENGTH_BYTES, "big") + bytes(self._head[LENGTH_BYTES:])
        self._keep = LENGTH_BYTES + kept - len(head)
        self._drop = length - kept
        self._head.clear()
        return head

    def _number(self, at: int) -> int:
        return int.from_bytes(self._head[at : at + LENGTH_BYTES], "big")


class SftpStream(SSHServerStreamSession[bytes]):
    """A channel on which a client speaks SFTP, and nothing else."""

    def __init__(self, make_files: Callable[[Any], SiteFiles]) -> None:
        super().__init__(None, make_files, SFTP_VERSION)
        self._trimmer = WriteTrimmer()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Take what came, as asyncssh wants it."""
        trimmed = self._trimmer.feed(data)
        if trimmed:
            super().data_received(trimmed, datatype)
