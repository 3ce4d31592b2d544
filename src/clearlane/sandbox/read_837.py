"""Read an 837 as a payer does, from the file alone.

    async for interchange in read(content): ...

Every claim is read as far as possible, whatever is wrong with its set: the engine's findings decide afterward
whether the set is accepted. Knows the loops of an 837; does not know its writer.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from msgspec.structs import replace

from clearlane.kernel import formats
from clearlane.kernel.limits import CLAIMS_AT_ONCE
from clearlane.sandbox.model import (
    ZERO,
    Claim,
    Parties,
    Person,
    Provider,
    ServiceLine,
    SetHeader,
    Stay,
)
from clearlane.x12 import tree
from clearlane.x12.checker.ack import BUSINESS_UNITS, GroupVerdict, SetVerdict, counted_sets
from clearlane.x12.reader import reader
from clearlane.x12.tree import Loop, get_element, split_components
from clearlane.x12.writer.encode import clean

SERVICES = {"837P": "SV1", "837D": "SV3", "837I": "SV2"}
KINDS = frozenset(SERVICES)
PROCEDURE = {"837P": 1, "837D": 1, "837I": 2}
CHARGE = {"837P": 2, "837D": 2, "837I": 3}
UNITS = {"837P": 4, "837D": 6, "837I": 5}
INSTITUTIONAL = "837I"
REVENUE_LIST = "NU"
"""What an 835 calls the list of revenue codes, for a line without a procedure."""
STATEMENT, SERVICE, ADMISSION = "434", "472", "435"
GROUP_LIST, VALUE_LIST, COVERED_DAYS = "DR", "BE", "80"
"""Code lists of HI01-1, and the value code of the covered days."""
ENTITY, LAST, FIRST, MIDDLE, SUFFIX, IDENTIFIER = 2, 3, 4, 5, 7, 9
UNIT_NAME = BUSINESS_UNITS["837"][0]


@dataclass(slots=True)
class SetRead:
    """A set: its header, its claims, and the engine's findings."""

    head: SetHeader
    verdict: SetVerdict
    claims: list[Claim] = field(default_factory=list)


@dataclass(slots=True)
class GroupRead:
    """A group with its sets."""

    verdict: GroupVerdict
    sets: list[SetRead] = field(default_factory=list)


@dataclass(slots=True)
class InterchangeRead:
    """An interchange with its groups."""

    source: tree.Interchange
    parties: Parties
    wants_ta1: bool
    groups: list[GroupRead] = field(default_factory=list)
    providers: list[Provider] = field(default_factory=list)

    def claims(self) -> Iterator[Claim]:
        """Yield every claim, accepted or not."""
        for group in self.groups:
            for one in group.sets:
                yield from one.claims


async def read(content: bytes) -> AsyncIterator[InterchangeRead]:
    """Yield the interchanges of a file, letting other tasks run in between."""
    reading = _Reading()
    units = 0
    for event in reader.read(content):
        match event:
            case reader.InterchangeOpened(interchange):
                reading.open(interchange)
            case reader.UnitClosed():
                reading.unit(event)
                units += 1
                if not units % CLAIMS_AT_ONCE:
                    await asyncio.sleep(0)
            case reader.SetClosed(closed):
                reading.set(closed)
            case reader.GroupClosed(closed):
                reading.group(closed)
            case reader.InterchangeClosed():
                yield reading.interchange
            case _:
                pass


class _Reading:
    """State of reading a file."""

    interchange: InterchangeRead

    def __init__(self) -> None:
        self._sets: list[SetRead] = []
        self._claims: list[Claim] = []
        self._heads = 0
        self._providers: dict[int, tuple[Loop, int]] = {}

    def open(self, source: tree.Interchange) -> None:
        self.interchange = InterchangeRead(
            source, parties_of(source), get_element(source.header, 14) == "1"
        )
        self._heads = 0
        self._providers = {}

    def unit(self, unit: reader.UnitClosed) -> None:
        if unit.set.guide is not None and unit.set.guide.kind in KINDS:
            provider = self._provider(unit.parent("2000A"))
            self._claims.append(claim_of(unit, self._heads, provider))

    def set(self, set: tree.TransactionSet) -> None:
        transaction, control, version = (get_element(set.header, at) for at in (1, 2, 3))
        units = [
            (claim.first, claim.last, UNIT_NAME, claim.account)
            for claim in self._claims
            if claim.account and clean(claim.account)[0] == claim.account
        ]
        verdict = SetVerdict(transaction, control, version, set.findings, units)
        self._sets.append(SetRead(_head(set.root), verdict, self._claims))
        self._claims = []
        self._heads += 1

    def group(self, group: tree.FunctionalGroup) -> None:
        functional, control, version = (get_element(group.header, at) for at in (1, 6, 8))
        verdicts = [one.verdict for one in self._sets]
        verdict = GroupVerdict(
            functional, control, version, verdicts, group.findings, counted_sets(group)
        )
        self.interchange.groups.append(GroupRead(verdict, self._sets))
        sender, receiver = (party(get_element(group.header, at)) for at in (2, 3))
        self.interchange.parties = replace(
            self.interchange.parties, application_sender=sender, application_receiver=receiver
        )
        self._sets = []

    def _provider(self, level: Loop | None) -> int:
        """Return the index of a billing provider; each level is read once."""
        if level is None:
            level = Loop(reader.UNKNOWN_ROOT)
        known = self._providers.get(id(level))
        if known is None or known[0] is not level:
            self.interchange.providers.append(_billing(level))
            known = self._providers[id(level)] = (level, len(self.interchange.providers) - 1)
        return known[1]


def parties_of(source: tree.Interchange) -> Parties:
    """Return sender and receiver as a response can name them."""
    isa = source.header
    qualifiers = [text if len(text) == 2 else "ZZ" for text in (_clean(isa[5]), _clean(isa[7]))]
    return Parties(
        sender=party(isa[6]),
        sender_qualifier=qualifiers[0],
        receiver=party(isa[8]),
        receiver_qualifier=qualifiers[1],
        application_sender="",
        application_receiver="",
        usage=isa[15] if isa[15] in {"P", "T"} else "T",
    )


def claim_of(unit: reader.UnitClosed, set: int, provider: int) -> Claim:
    """Return a claim with its billing provider, subscriber and patient levels."""
    loop = unit.loop
    assert unit.set.guide is not None, "only sets of a known guide have units"
    kind = unit.set.guide.kind
    level = unit.parent("2000B") or Loop(loop.node)
    own = unit.parent("2000C")
    clm = loop.segment("CLM") or ["CLM"]
    place, _, frequency = [*split_components(get_element(clm, 5)), "", "", ""][:3]
    names = own.loop("2010CA") if own is not None else level.loop("2010BA")
    payer = level.loop("2010BB")
    days = _days(loop, STATEMENT if kind == INSTITUTIONAL else SERVICE)
    return Claim(
        kind=kind,
        account=identifier(get_element(clm, 1)),
        number=identifier(loop.value("REF", 2, "D9")),
        charge=_money(get_element(clm, 2)),
        place=_clean(place),
        frequency=_clean(frequency) or "1",
        original=identifier(loop.value("REF", 2, "F8")),
        predetermination=get_element(clm, 19) == "PB",
        subscriber=_person(level.loop("2010BA")),
        patient=_person(names) if own is not None else None,
        birth=formats.parse_x12_date(names.value("DMG", 2)) if names else None,
        payer=_clean(payer.value("NM1", IDENTIFIER)) if payer else "",
        order=level.value("SBR", 1),
        filing=_clean(level.value("SBR", 9)),
        group=_clean(level.value("SBR", 3)),
        paid_by_others=sum((_money(one.value("AMT", 2, "D")) for one in loop.loops("2320")), ZERO),
        rendering=_rendering(loop.loop("2310B")),
        lines=tuple(_line(one, kind, days) for one in loop.loops("2400")),
        set=set,
        provider=provider,
        stay=_stay(loop) if kind == INSTITUTIONAL else None,
        first=loop.position,
        last=loop.position + loop.size() - 1,
    )


def _stay(loop: Loop) -> Stay:
    """Return what a bill states of the care: the admission, the group, and the covered days."""
    codes: dict[tuple[str, str], list[str]] = {}
    for segment in loop.segments("HI"):
        for text in segment[1:]:
            parts = [*split_components(text), "", "", "", "", ""]
            listed = parts[0]
            codes.setdefault((listed, "" if listed == GROUP_LIST else parts[1]), parts)
    group = codes.get((GROUP_LIST, ""), ["", ""])[1]
    days = codes.get((VALUE_LIST, COVERED_DAYS), ["0"] * 5)[4]
    return Stay(
        admitted=formats.parse_x12_date(loop.value("DTP", 3, ADMISSION)[:8]),
        group=_clean(group),
        covered_days=_money(days),
    )


def _line(loop: Loop, kind: str, days: tuple[date | None, date | None]) -> ServiceLine:
    """Read a service line. A branch for each part that a kind of claim does not have, or a sender may leave out."""
    service = loop.segment(SERVICES[kind]) or [SERVICES[kind]]
    found = loop.find(service)
    procedure = split_components(get_element(service, PROCEDURE[kind]))
    whose, code, *modifiers = [*procedure, "", ""][:6]
    revenue = _clean(get_element(service, 1)) if kind == INSTITUTIONAL else ""
    if revenue and not code:
        whose, code = REVENUE_LIST, revenue
    first, last = _days(loop)
    decisions = [one.value("SVD", 2) for one in loop.loops("2430")]
    left = [owed for one in loop.loops("2430") if (owed := one.value("AMT", 2, "EAF"))]
    return ServiceLine(
        kind=_clean(whose),
        code=_clean(code),
        modifiers=tuple(_clean(one) for one in modifiers if one),
        charge=_money(get_element(service, CHARGE[kind])),
        units=_money(get_element(service, UNITS[kind])) or Decimal(1),
        first=first or days[0],
        last=last or days[1],
        control=identifier(loop.value("REF", 2, "6R")),
        revenue=revenue,
        teeth=tuple(_clean(get_element(too, 2)) for too in loop.segments("TOO")),
        paid_by_others=sum(map(_money, decisions), ZERO) if decisions else None,
        left_by_others=_money(left[-1]) if left else None,
        position=found[0] if found else loop.position,
    )


def _head(root: Loop) -> SetHeader:
    submitter = root.loop("1000A")
    return SetHeader(
        reference=identifier(root.value("BHT", 3)),
        submitter=_clean(submitter.value("NM1", LAST)) if submitter else "",
        submitter_id=identifier(submitter.value("NM1", IDENTIFIER)) if submitter else "",
    )


def _billing(level: Loop) -> Provider:
    loop = level.loop("2010AA") or Loop(level.node)
    texts = {at: _clean(loop.value("NM1", at)) for at in (ENTITY, LAST, FIRST, MIDDLE, IDENTIFIER)}
    return Provider(
        entity=texts[ENTITY] if texts[ENTITY] in {"1", "2"} else "2",
        name=texts[LAST],
        first=texts[FIRST],
        middle=texts[MIDDLE],
        npi=texts[IDENTIFIER],
        tax=_clean(loop.value("REF", 2, "EI") or loop.value("REF", 2, "SY")),
        street=_clean(loop.value("N3", 1)),
        city=_clean(loop.value("N4", 1)),
        state=_clean(loop.value("N4", 2)),
        zip=_clean(loop.value("N4", 3)),
    )


def _person(loop: Loop | None) -> Person:
    if loop is None:
        return Person(last="")
    nm1 = loop.segment("NM1") or ["NM1"]
    return Person(
        last=_clean(get_element(nm1, LAST)),
        first=_clean(get_element(nm1, FIRST)),
        middle=_clean(get_element(nm1, MIDDLE)),
        suffix=_clean(get_element(nm1, SUFFIX)),
        id=identifier(get_element(nm1, IDENTIFIER)),
        entity="2" if get_element(nm1, ENTITY) == "2" else "1",
    )


def _rendering(loop: Loop | None) -> Person | None:
    """Return the rendering provider, if it has an NPI."""
    found = _person(loop) if loop is not None and loop.value("NM1", 1) == "82" else None
    return found if found and found.id else None


def _days(loop: Loop, qualifier: str = SERVICE) -> tuple[date | None, date | None]:
    """Return the first and last day of a DTP."""
    dtp = loop.segment("DTP", qualifier)
    if dtp is None:
        return None, None
    first, _, last = get_element(dtp, 3).partition("-")
    day = formats.parse_x12_date(first)
    return day, formats.parse_x12_date(last) if last else day


def _money(text: str) -> Decimal:
    return formats.parse_money(text) or ZERO


def _clean(text: str) -> str:
    """Return a text as a response can carry it."""
    return clean(text)[0]


def identifier(text: str) -> str:
    """Return an id unchanged, as far as the separators of a response allow."""
    text = text.strip()
    capital = text.upper()
    return text if text.isascii() and clean(capital)[0] == capital else clean(text)[0]


def party(text: str) -> str:
    """Return a sender or receiver as an envelope can name it."""
    found = _clean(text)[:15].strip()
    return found if len(found) > 1 else "UNKNOWN"
