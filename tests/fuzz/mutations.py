"""Bytes made of good inputs by edits, for Hypothesis: each edit cuts, repeats, moves or puts in a piece.

Edits are drawn one by one, so that Hypothesis can leave out those that a failure does not need.
"""

from hypothesis import strategies as st

from tests.fuzz.targets import FuzzTarget

EDITS_MAX = 12
PIECE_BYTES_MAX = 120
PLACES = 1 << 20
"""A place is drawn as a fraction of the input, in so many steps."""


@st.composite
def inputs(draw, target: FuzzTarget) -> bytes:
    """Bytes near a good input, and now and then any bytes."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=400))
    data = draw(st.sampled_from(target.seeds()))
    for _ in range(draw(st.integers(0, EDITS_MAX))):
        data = draw(edits(target.words))(data)
    return data


@st.composite
def edits(draw, words: tuple[bytes, ...]):
    """One edit of bytes."""
    at, to = draw(st.integers(0, PLACES)), draw(st.integers(0, PLACES))
    size = draw(st.integers(0, PIECE_BYTES_MAX))
    piece = draw(st.sampled_from(words) | st.binary(max_size=4))
    kind = draw(st.sampled_from(["put in", "replace", "cut", "repeat", "move", "end"]))

    def edit(data: bytes) -> bytes:
        start, goal = at * len(data) // PLACES, to * len(data) // PLACES
        end = min(start + size, len(data))
        match kind:
            case "put in":
                return data[:start] + piece + data[start:]
            case "replace":
                return data[:start] + piece + data[start + len(piece) :]
            case "cut":
                return data[:start] + data[end:]
            case "repeat":
                return data[:end] + data[start:end] + data[end:]
            case "move":
                rest = data[:start] + data[end:]
                return rest[:goal] + data[start:end] + rest[goal:]
            case _:
                return data[:start]

    return edit
