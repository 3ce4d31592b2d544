"""What follows the data of a packet is left out, whatever the chunking; every other byte is passed on."""

from hypothesis import given
from hypothesis import strategies as some

from clearlane.sftp_server.packet_stream import WriteTrimmer

WRITE, READ = 6, 5


def packet(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def write(data: bytes, more: bytes = b"", handle: bytes = b"\0\0\0\1") -> bytes:
    head = bytes([WRITE]) + bytes(4) + len(handle).to_bytes(4, "big") + handle + bytes(8)
    return packet(head + len(data).to_bytes(4, "big") + data + more)


PACKETS = some.one_of(
    some.binary(max_size=60).map(lambda body: (packet(bytes([READ]) + body),) * 2),
    some.tuples(some.binary(max_size=60), some.binary(max_size=60)).map(
        lambda pair: (write(*pair), write(pair[0]))
    ),
    # Handles of another length are not ours, and packets may end anywhere.
    some.binary(max_size=60).map(lambda more: (write(b"x", more, b"handle"),) * 2),
    some.binary(max_size=24).map(lambda body: (packet(bytes([WRITE]) + body),) * 2),
)


@given(some.lists(PACKETS, max_size=6), some.integers(1, 40))
def test_only_bytes_after_the_data_of_a_write_are_left_out(packets, size):
    sent = b"".join(before for before, _ in packets)
    trimmer = WriteTrimmer()
    found = b"".join(trimmer.feed(sent[at : at + size]) for at in range(0, len(sent), size))
    assert found == b"".join(after for _, after in packets)
