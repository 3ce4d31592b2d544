"""Read what another clearinghouse, or a payer through it, said of claims that came here in shadow files.

    for statement in read_statements(open_file): ...

Takes 999, 277CA, 277 and 835 files as they are, and TA1s. A statement names a claim by what its sender wrote (CLM01,
REF*D9, charge, days, patient), or a set by its control numbers. Of the rest only codes are kept.

Pure: knows no claim and no database.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from clearlane.claims.responses import acks
from clearlane.claims.responses.ack_messages import (
    AckMessage,
    ClaimStatusReport,
    GroupAck,
    InterchangeAck,
    LevelRejection,
)
from clearlane.claims.responses.facts import StatusVerdict
from clearlane.claims.responses.statuses import CLAIM_LOOPS
from clearlane.payments import read_835
from clearlane.payments.read_835 import ClaimPaymentLoop
from clearlane.x12 import tree
from clearlane.x12.delimiters import ISA_CHARACTERS
from clearlane.x12.reader import reader
from clearlane.x12.views import verdicts
from clearlane.x12.views.binding import parse_day

ACCEPTED, REJECTED = StatusVerdict.ACCEPTED.value, StatusVerdict.REJECTED.value
STATEMENT_GROUPS = frozenset({b"FA", b"HN", b"HP"})
"""GS01 of 999, of 277CA and 277, and of 835."""
START_BYTES = 400
"""The first bytes of a file, in which its first interchange and group begin."""
CODES_MAX = 20
SERVICE_DAYS = "472"
_CODE = re.compile(r"[A-Z0-9]{1,10}(?:-[A-Z0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherStatement:
    """One statement about a claim or a set."""

    type: str
    """TA1, 999, 277CA, 277 or 835."""
    verdict: str
    """That of a status, or the label of a claim payment."""
    codes: str = ""
    """The codes that give the reason, separated by spaces."""
    day: date
    account: str = ""
    """CLM01 of the claim; empty if it is about sets."""
    trace: str = ""
    """REF*D9: the sender's number, or one of the other clearinghouse."""
    batch: str = ""
    """BHT03 of the sender's set."""
    charge: int | None = None
    last_name: str = ""
    first_day: date | None = None
    billing_npi: str = ""
    interchange: str = ""
    """ISA13 of the sender's interchange, for a TA1."""
    group: str = ""
    """GS06 of the sender's group."""
    set: str = ""
    """ST02 of the sender's set; empty for all of the group."""

    def __repr__(self) -> str:
        """Name the type alone: what it holds may be about a patient."""
        return f"OtherStatement({self.type})"


def holds_statements(start: bytes) -> bool:
    """Return whether a file, by its first bytes, holds acknowledgements, statuses or remittances."""
    text = start.removeprefix(BOM_UTF8).lstrip()
    if not text.startswith(b"ISA") or len(text) <= ISA_CHARACTERS:
        return False
    separator, terminator = text[3:4], text[ISA_CHARACTERS - 1 : ISA_CHARACTERS]
    second = text[ISA_CHARACTERS:].lstrip().split(terminator, 1)[0].split(separator)
    tag, group = (*second, b"")[:2]
    return tag == b"TA1" or (tag == b"GS" and group in STATEMENT_GROUPS)


def read_statements(open_file: Callable[[], reader.Source]) -> Iterator[OtherStatement]:
    """Yield the statements of a file, in its order; remittances after all others, for which it is read again."""
    for message in acks.read(open_file()):
        yield from _of_message(message)
    for one in read_835.read(open_file()):
        if isinstance(one, ClaimPaymentLoop):
            yield _of_payment(one)


def _of_message(message: AckMessage) -> Iterator[OtherStatement]:
    if isinstance(message, ClaimStatusReport):
        yield _of_claim(message)
    elif isinstance(message, LevelRejection):
        yield OtherStatement(
            type=message.fact.source,
            verdict=message.fact.verdict.value,
            codes=_status_codes(message),
            day=message.fact.day or message.fact.at.date(),
            batch=message.reference.number,
            billing_npi=message.provider,
        )
    elif isinstance(message, InterchangeAck):
        accepted = message.verdict.verdict in acks.ACCEPTED
        yield OtherStatement(
            type="TA1",
            verdict=ACCEPTED if accepted else REJECTED,
            codes=_join([("TA105", message.verdict.note)]),
            day=message.at.date(),
            interchange=message.verdict.control,
        )
    else:
        yield from _of_group(message)


def _of_group(message: GroupAck) -> Iterator[OtherStatement]:
    """Yield the verdict on each set that a 999 names; on all of the group if it names none."""
    group = message.verdict
    about = [(one.control, one.verdict, _set_codes(one)) for one in group.sets]
    if not about:
        own = [("AK9", group.verdict), *(("AK9", code) for code in group.codes)]
        about = [("", group.verdict, iter(own))]
    for set, verdict, codes in about:
        yield OtherStatement(
            type="999",
            verdict=ACCEPTED if verdict in acks.ACCEPTED else REJECTED,
            codes=_join(codes),
            day=message.at.date(),
            group=group.control,
            set=set,
        )


def _set_codes(one: verdicts.SetVerdictView) -> Iterator[tuple[str, ...]]:
    yield "IK5", one.verdict
    for error in one.errors:
        yield "IK3", error.segment, error.error
        for element in error.elements:
            place = element.place.element if element.place else ""
            yield "IK4", error.segment, place, element.error


def _of_claim(report: ClaimStatusReport) -> OtherStatement:
    fact, unit = report.fact, report.unit
    loops = unit.loop.descendants(*CLAIM_LOOPS)
    loop = next((one for one in loops if one.position == fact.where.position), None)
    names = (unit.loop.loop("2100D"), unit.loop.loop("2100E"))
    return OtherStatement(
        type=fact.source,
        verdict=fact.verdict.value,
        codes=_status_codes(report),
        day=fact.day or fact.at.date(),
        account=fact.claim.account_number,
        trace=fact.claim.claim_number,
        batch=report.batch_number,
        charge=fact.charged,
        last_name=next((one.value("NM1", 3) for one in names if one is not None), ""),
        first_day=_first_day(loop) if loop is not None else None,
    )


def _of_payment(paid: ClaimPaymentLoop) -> OtherStatement:
    fact, segments = paid.claim_payment, paid.unit.loop.all_segments()
    reasons = [
        (f"{tree.get_element(segment, 1)}-{reason}",)
        for segment in segments
        if segment[0] == "CAS"
        for reason in segment[2::3]
    ]
    return OtherStatement(
        type="835",
        verdict=fact.label.value,
        codes=_join([("CLP02", fact.status_code), *reasons]),
        day=fact.day,
        account=fact.account_number,
        trace=fact.claim_number,
        charge=abs(fact.charged),
        last_name=paid.unit.loop.value("NM1", 3, "QC"),
        first_day=fact.service_from,
        billing_npi=fact.payment.payee_npi,
    )


def _status_codes(message: ClaimStatusReport | LevelRejection) -> str:
    return _join((one.category, one.status, one.entity) for one in message.fact.codes)


def _first_day(claim: tree.Loop) -> date | None:
    """Return the first day of service that a status names, of the claim or of its lines."""
    texts = [
        tree.get_element(segment, 3)[:8]
        for segment in claim.all_segments()
        if segment[0] == "DTP" and tree.get_element(segment, 1) == SERVICE_DAYS
    ]
    return min((day for text in texts if (day := parse_day(text))), default=None)


def _join(codes: "Iterator[tuple[str, ...]] | list[tuple[str, ...]]") -> str:
    """Return codes as one text, each once. Its writer may have put anything in their place: then it is a question mark."""
    found = dict.fromkeys(
        ":".join(part if _CODE.fullmatch(part) else "?" for part in parts if part)
        for parts in codes
    )
    return " ".join([*filter(None, found)][:CODES_MAX])
