"""Write an interchange of inquiries, one in each set, with the trace number by which its answer is known.

    write_traced_sets(inquiries, envelope, guide, set_texts)        # pieces of a file, or of a message in real time

Knows no transaction: the texts of a set are its own.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from clearlane.x12.grammar import Guide
from clearlane.x12.writer.writer import Envelope, clean, wrap_sets

T = TypeVar("T")


def write_traced_sets(
    inquiries: Iterable[tuple[T, str]],
    envelope: Envelope,
    guide: Guide,
    set_texts: Callable[[T, Envelope, str], Iterable[str]],
) -> Iterator[bytes]:
    """Yield an interchange with inquiries, each with its trace number, piece by piece.

    ``set_texts`` returns what comes between ST and SE. Raises ValueError for a trace number that cannot be written.
    """
    foreign = envelope.delimiters.blank_foreign()

    def bodies() -> Iterator[Iterable[str]]:
        for inquiry, trace in inquiries:
            if not trace or clean(trace)[0] != trace:
                raise ValueError("a trace number must be capital letters, digits or signs")
            texts = set_texts(inquiry, envelope, trace)
            # Texts are free of the usual separators; a payer may require others.
            yield [text.translate(foreign) for text in texts] if foreign else texts

    return wrap_sets(envelope, guide, bodies())
