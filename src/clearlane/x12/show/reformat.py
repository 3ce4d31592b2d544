"""Rewrite a file in other separators, with or without line ends.

Bytes in, bytes out, while reading. Data that contains one of the new separators would be split apart, so it is refused
(``SeparatorConflictError``) and never written. Knows segments; knows no guide.
"""

from collections.abc import Iterator

from clearlane.x12.delimiters import CANONICAL, Delimiters
from clearlane.x12.reader.lexer import InterchangeHeader, Lexer, SegmentChunk, Token
from clearlane.x12.reader.reader import Source, iter_chunks

SEPARATORS = "*:^~"


class SeparatorConflictError(ValueError):
    """A file that cannot be written in these separators. The message names no value of the file."""


def reformat(source: Source, target: Delimiters = CANONICAL) -> Iterator[bytes]:
    """Yield the file piece by piece; raise SeparatorConflictError if data or target separators conflict."""
    _check_separators(target)
    lexer = Lexer()
    writer = _Writer(target)
    for chunk in iter_chunks(source):
        for token in lexer.feed(chunk):
            yield writer.write(token)
    for token in lexer.finish():
        yield writer.write(token)


def _check_separators(target: Delimiters) -> None:
    used = [target.element, target.component, target.repetition, target.terminator]
    if any(len(one) != 1 for one in used) or len(set(used)) != len(used):
        raise SeparatorConflictError("the four separators must be four different characters")
    if any(one.isalnum() or one == " " or ord(one) > 255 for one in used):
        raise SeparatorConflictError("a separator must be neither a letter, a digit nor a blank")


class _Writer:
    """A writer of the tokens of a lexer in other separators."""

    def __init__(self, target: Delimiters) -> None:
        self._target = target
        self._used = target.element + target.component + target.repetition + target.terminator
        self._table: dict[int, int] = {}
        self._clashes = ""
        self._segment_count = 0

    def write(self, token: Token) -> bytes:
        match token:
            case InterchangeHeader(delimiters, segment):
                self._set_source(delimiters)
                return self._segments([segment])
            case SegmentChunk(_, segments):
                return self._segments(segments)
            case _:
                return b""

    def _set_source(self, found: Delimiters) -> None:
        """Compute the table from canonical text of this interchange to the target's separators."""
        # A version without repetitions has three separators; its ``^`` is data.
        kept = SEPARATORS if found.repetition else SEPARATORS.replace("^", "")
        new = dict(zip(SEPARATORS, self._used, strict=True))
        data = {chr(a): chr(b) for a, b in found.from_canonical().items() if chr(a) not in kept}
        self._table = {ord(a): ord(b) for a, b in data.items()}
        self._table |= {ord(c): ord(new[c]) for c in kept}
        # Every character whose data form would be a separator of the target.
        self._clashes = "".join(
            c
            for c in map(chr, range(256))
            if c not in kept and data.get(c, c) in {new[k] for k in SEPARATORS}
        )

    def _segments(self, segments: list[list[str]]) -> bytes:
        ending = self._target.terminator + self._target.line_ending
        out = []
        for segment in segments:
            self._segment_count += 1
            text = "*".join(segment)
            if any(c in text for c in self._clashes):
                raise SeparatorConflictError(
                    f"segment {self._segment_count} of the file holds a new separator in its data"
                )
            out.append(text.translate(self._table) + ending)
        return "".join(out).encode("latin-1")
