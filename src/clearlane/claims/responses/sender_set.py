"""What the answers to a sender's set repeat of it: his addresses, his control numbers, his batch number, his name.

    sender = sender_set_of(set)                       # when the reader has its heading
    sender.batch_number                               # BHT03
    answer_envelope(sender, control=17, moment=now)   # sender and receiver exchanged

It is stored sealed with the set, so that what a payer says weeks later still comes back in the sender's own numbers.
Texts are canonical, as the engine reads them; ``write_answer`` translates them back to the sender's separators.

Knows the envelope and the heading of an 837; knows no claim and no clock.
"""

import re
from collections.abc import Iterable
from datetime import datetime

import msgspec

from clearlane.kernel.redacted_repr import shows
from clearlane.x12 import grammar, tree
from clearlane.x12.checker import ack
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader.set_slices import HeaderValues
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope, build_isa, wrap_sets

NOT_KNOWN = "NOT KNOWN"
NAME_CHARACTERS_MAX = 60
SECRETS = (2, 4)
"""Elements of the ISA that may hold a password."""
NOT_CARRIED = re.compile(r"[^ -~]")
NO_SEPARATOR = " "
"""Stands for a repetition separator that the sender does not have."""


@shows()
class SenderSet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The envelope and the heading of a set as its sender wrote them; each segment with its id."""

    isa: tuple[str, ...]
    gs: tuple[str, ...]
    st: tuple[str, ...]
    bht: tuple[str, ...] = ()
    submitter: tuple[str, ...] = ()
    """NM1*41."""
    receiver: tuple[str, ...] = ()
    """NM1*40."""
    separators: str = "*:^~"
    """Between elements, components and repetitions, and after segments."""

    @property
    def usage(self) -> str:
        """ISA15: P for production, T for test."""
        return _element(self.isa, 15)

    @property
    def interchange_control(self) -> str:
        """ISA13."""
        return _element(self.isa, 13)

    @property
    def group_control(self) -> str:
        """GS06."""
        return _element(self.gs, 6)

    @property
    def version(self) -> str:
        """GS08."""
        return _element(self.gs, 8)

    @property
    def set_control(self) -> str:
        """ST02."""
        return _element(self.st, 2)

    @property
    def batch_number(self) -> str:
        """BHT03."""
        return _element(self.bht, 3)

    @property
    def delimiters(self) -> Delimiters:
        """The separators of the sender's file."""
        element, component, repetition, terminator = tuple(self.separators)
        return Delimiters(element, component, repetition.strip(NO_SEPARATOR), terminator)


def sender_set_of(set: tree.TransactionSet) -> SenderSet:
    """Return what answers repeat of a set; the reader must have read its heading."""
    interchange, root = set.group.interchange, set.root
    isa = [" " * len(text) if at in SECRETS else text for at, text in enumerate(interchange.header)]
    used = interchange.delimiters
    separators = (used.element, used.component, used.repetition or NO_SEPARATOR, used.terminator)
    return SenderSet(
        isa=tuple(isa),
        gs=tuple(set.group.header),
        st=tuple(set.header),
        bht=tuple(root.segment("BHT") or ()),
        submitter=_name(root, "1000A"),
        receiver=_name(root, "1000B"),
        separators="".join(separators),
    )


def answer_envelope(sender: SenderSet, control: int, moment: datetime) -> Envelope:
    """Return the envelope of an answer to a set."""
    return ack.answer_envelope(list(sender.isa), control, moment, gs=list(sender.gs))


def values_for_sender(sender: SenderSet, control: int, moment: datetime) -> HeaderValues:
    """Return what the headers of a payer's file say when it is handed on to a sender: from us to him, with our number.

    Separators, version and usage stay those of the file; a password of the payer's stays here.
    """
    envelope = answer_envelope(sender, control, moment)
    isa = build_isa(envelope)
    return HeaderValues(
        isa={at: isa[at] for at in (*range(1, 11), 13, 14)},
        gs={
            2: envelope.application_sender or envelope.sender,
            3: envelope.application_receiver or envelope.receiver,
            4: f"{moment:%Y%m%d}",
            5: f"{moment:%H%M}",
            6: str(control),
        },
    )


def write_answer(
    sender: SenderSet, envelope: Envelope, guide: grammar.Guide, body: Iterable[str]
) -> bytes:
    """Return an interchange with one set, in the sender's separators; ``body`` comes between ST and SE.

    What was read from the sender's file gets the very characters back that he wrote, but for those beyond ASCII and control
    characters, which no acknowledgement can carry.
    """
    texts = (NOT_CARRIED.sub("?", one) for one in body)
    pieces = wrap_sets(envelope, guide, [texts])
    if table := sender.delimiters.from_canonical():
        pieces = (one.decode().translate(table).encode() for one in pieces)
    return b"".join(pieces)


def _name(root: tree.Loop, id: str) -> tuple[str, ...]:
    loop = root.loop(id)
    return tuple((loop and loop.segment("NM1")) or ())


def _element(segment: tuple[str, ...], number: int) -> str:
    return segment[number].strip() if len(segment) > number else ""


def submitter_name(sender: SenderSet) -> tuple[str, ...]:
    """Return NM102 to NM109 of the sender."""
    nm1 = [*sender.submitter, *[""] * 10]
    last, first, middle, _, suffix = (clean(text)[0] for text in nm1[3:8])
    entity = nm1[2] if nm1[2] in {"1", "2"} else "2"
    name = last[:NAME_CHARACTERS_MAX].rstrip() or NOT_KNOWN
    id = nm1[9].strip()
    return (entity, name, first, middle, "", suffix, "46", id if len(id) > 1 else NOT_KNOWN)
