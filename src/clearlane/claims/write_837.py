"""Claims to an 837: levels, sets and envelope around what the tables of both kinds say.

    pieces = write_claims(ClaimKind.MEDICAL, outgoing, envelope, submitter, receiver)

Claims of one billing provider stand under one billing level; a set holds at most 5,000 claims, an
interchange as many sets as it takes. ``CLM01`` is the patient's account number where the caller says that it is
free, else our claim number; ``REF*D9`` is always ours; every line has a ``REF*6R``.

Knows the tables and the levels of an 837; knows no clock, no control number and no payer's cable.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from clearlane.claims import cob, placements_837d, placements_837p
from clearlane.claims.claim_context import Case, LineCase, Outgoing
from clearlane.claims.fields import PAPERS, Claim, ClaimKind, kind_of, lines_of
from clearlane.claims.placement import Scope
from clearlane.kernel import limits
from clearlane.x12 import grammar
from clearlane.x12.writer import Envelope, clean, seal, segment

__all__ = [
    "TABLES", "Envelope", "Outgoing", "Party", "Tables", "account_of", "given_controls",
    "write_claims",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """Who sends or receives: 1000A with a way to reach somebody, 1000B without."""

    name: str
    id: str
    contact: str = ""
    """Whom to ask for, where that is not the party itself."""
    phone: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one kind of claim."""

    guide: grammar.Guide
    billing: Scope[Case]
    subscriber: Scope[Case]
    patient: Scope[Case]
    claim: Scope[Case]
    other: Scope[Case]
    line: Scope[LineCase]
    not_sent: Mapping[str, str]
    account: str
    """The field of the patient's account number."""
    line_control: str
    place: str
    """Under which name the claim's place of service is written."""

    @property
    def scopes(self) -> tuple[Scope[Any], ...]:
        """All tables, from the billing provider down to the line."""
        return (self.billing, self.subscriber, self.patient, self.claim, self.other, self.line)


def _tables(room: Any, place: str) -> Tables:
    return Tables(
        room.GUIDE, room.BILLING, room.SUBSCRIBER, room.PATIENT, room.CLAIM, room.OTHER, room.LINE,
        room.NOT_SENT, room.ACCOUNT, room.LINE_CONTROL, place,
    )  # fmt: skip


TABLES: Mapping[ClaimKind, Tables] = {
    ClaimKind.MEDICAL: _tables(placements_837p, "2300/CLM/05-1"),
    ClaimKind.DENTAL: _tables(placements_837d, "F38_PlaceOfTreatment"),
}


def write_claims(
    kind: ClaimKind,
    claims: Sequence[Outgoing],
    envelope: Envelope,
    submitter: Party,
    receiver: Party,
) -> Iterator[bytes]:
    """An interchange with these claims, piece by piece.

    Raises ValueError for an envelope that cannot be written, for a claim of the other kind, and for no claim.
    """
    if not claims:
        raise ValueError("an interchange needs at least one claim")
    if any(not isinstance(out.claim, PAPERS[kind].claim) for out in claims):
        raise ValueError(f"every claim must be a {kind} claim")
    tables = TABLES[kind]
    foreign = {code: " " for code in envelope.delimiters.canonical() if chr(code) not in "*:^~"}

    def bodies() -> Iterator[Iterable[str]]:
        for number, part in enumerate(_parts(claims, limits.CLAIMS_PER_SET_MAX), 1):
            texts = [*_header(envelope, number, submitter, receiver), *_levels(tables, part)]
            # The claims' texts are clean for the usual separators; a payer may want others.
            yield [text.translate(foreign) for text in texts] if foreign else texts

    return seal(envelope, tables.guide, bodies())


def account_of(claim: Claim) -> str | None:
    """The patient's account number where it can be CLM01: given, and of at most 20 characters."""
    return _account(TABLES[kind_of(claim)], claim)


def given_controls(claim: Claim) -> list[str]:
    """The line control numbers that the caller chose (``REF*6R``), each once."""
    name = TABLES[kind_of(claim)].line_control
    found = (line.__dict__.get(name) for line in lines_of(claim))
    return list(dict.fromkeys(control for control in found if control))


def case_of(tables: Tables, out: Outgoing) -> Case:
    """A claim with what the tables ask about it."""
    return Case(out, tables.line.higher)


def claim_texts(tables: Tables, case: Case, hl: int, parent: int) -> tuple[list[str], int]:
    """The scopes of one claim below its billing level, and the number of the next level."""
    out = case.out
    own = case.own_patient
    texts = [
        tables.subscriber.text(case, hl=str(hl), parent=str(parent), child="0" if own else "1")
    ]
    if not own:
        texts.append(tables.patient.text(case, hl=str(hl + 1), parent=str(hl)))
        hl += 1
    values = tables.claim.values(case)
    values["number"] = (
        _account(tables, out.claim) if out.account_as_number else None
    ) or out.number
    values["trace"] = out.number
    texts.append(tables.claim.placement.text(values))
    if has_other_payer(case):
        texts.append(tables.other.text(case))
    scope = tables.line
    controls = line_controls(tables, case)
    for number, told in enumerate(line_cases(case, values[tables.place])):
        values = scope.values(told)
        values["line"] = str(number + 1)
        values["control"] = controls[number]
        texts.append(scope.placement.text(values))
    return texts, hl + 1


def has_other_payer(case: Case) -> bool:
    """Whether the claim tells of another payer."""
    if case.decision:
        return True
    signs = not _OTHER_PAYER.isdisjoint(case.given)
    return signs and cob.other_insurance(case.out.claim)


def line_cases(case: Case, place: str) -> list[LineCase]:
    """The lines of a claim, each with what it needs to know."""
    decisions = case.decision.lines if case.decision else (None,) * len(case.lines)
    return [
        LineCase(line, shape, case, place, decision)
        for line, shape, decision in zip(case.lines, case.line_shapes, decisions, strict=True)
    ]


def line_controls(tables: Tables, case: Case) -> list[str]:
    """REF*6R of each line: the caller's where given, else made of our number and the line's."""
    name, number = tables.line_control, case.out.number
    given = [line.__dict__.get(name) for line in case.lines]
    if not any(given):
        return [f"{number}-{at}" for at in range(1, len(given) + 1)]
    taken = {control for control in given if control}
    return [control or _control(number, at, taken) for at, control in enumerate(given, 1)]


_OTHER_PAYER = frozenset(
    {*cob.MEDICAL_SIGNS, *cob.DENTAL_SIGNS, "F11D_OtherPlan", "F04_OtherCoverage"}
)


def _account(tables: Tables, claim: Claim) -> str | None:
    account: str | None = claim.__dict__.get(tables.account)
    return account if account and len(account) <= limits.CLAIM_NUMBER_CHARACTERS_MAX else None


def _levels(tables: Tables, claims: Sequence[Outgoing]) -> Iterator[str]:
    """Every billing provider with its subscribers, levels counted through the set."""
    groups: dict[tuple[Any, ...], list[Case]] = {}
    for out in claims:
        case = case_of(tables, out)
        groups.setdefault(tuple(tables.billing.values(case).items()), []).append(case)
    hl = 1
    for cases in groups.values():
        parent = hl
        yield tables.billing.text(cases[0], hl=str(parent))
        hl += 1
        for case in cases:
            texts, hl = claim_texts(tables, case, hl, parent)
            yield from texts


def _header(envelope: Envelope, number: int, submitter: Party, receiver: Party) -> Iterator[str]:
    """BHT, 1000A and 1000B."""
    moment = envelope.moment
    reference = f"{envelope.control:09}{number:04}"
    ways: list[str] = []
    for qualifier, way in (("TE", submitter.phone), ("EM", submitter.email)):
        ways += [qualifier, clean(way)[0]] if way else []
    if not ways:
        raise ValueError("the submitter needs a telephone number or an e-mail address")
    names = [clean(party.name)[0] for party in (submitter, receiver)]
    rows = (
        ("BHT", "0019", "00", reference, moment.date(), f"{moment:%H%M}", "CH"),
        ("NM1", "41", "2", names[0], "", "", "", "", "46", clean(submitter.id)[0]),
        ("PER", "IC", clean(submitter.contact)[0], *ways),
        ("NM1", "40", "2", names[1], "", "", "", "", "46", clean(receiver.id)[0]),
    )
    for row in rows:
        yield "*".join(segment(*row))


def _control(number: str, line: int, taken: set[str]) -> str:
    control = f"{number}-{line}"
    while control in taken:
        control += "X"
    return control


def _parts(claims: Sequence[Outgoing], size: int) -> Iterator[list[Outgoing]]:
    rest = iter(claims)
    while part := list(islice(rest, size)):
        yield part
