"""What an acknowledgement repeats of a claim that came in an 837, as its sender wrote it.

    claim = acknowledged_claim(loop, parents)        # the loop 2300 and the loops around it

Texts are canonical, as the engine reads them. Knows the loops of an 837; knows no verdict.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property

from clearlane.claims.forms.x12_places import first_day, last_day
from clearlane.claims.responses.sender_set import NOT_KNOWN
from clearlane.kernel.formats import is_npi
from clearlane.kernel.redacted_repr import redact_repr
from clearlane.x12.tree import Loop, Segment, get_element, split_components
from clearlane.x12.views.binding import parse_number
from clearlane.x12.writer.encode import clean

NAME_CHARACTERS_MAX = (60, 35, 25, 0, 10)
"""NM103 to NM107; the 277CA has no prefix."""
TRANSACTIONS = {"SV1": "837P", "SV2": "837I", "SV3": "837D"}
SERVICE_DAYS = ("472", "434")
# Elements of the procedure, the charge and the units in the segment of a line.
SERVICES = {"SV1": (1, 2, 4), "SV2": (2, 3, 5), "SV3": (1, 2, 6)}
PROCEDURE_COMPONENTS = 6
"""The SVC of a 277CA has the qualifier, the code and four modifiers."""
TAX_NUMBERS = ("EI", "SY")

Name = tuple[str, ...]
"""NM102 to NM109."""


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgedLine:
    """A service line."""

    position: int
    """Of its first segment in the set, and of its last."""
    last_position: int
    service: tuple[str, ...]
    """The SVC, without its id; empty if the line names no procedure."""
    control: str
    period: tuple[str, str] | None
    """The qualifier and the text of its days."""


@redact_repr
@dataclass(frozen=True, kw_only=True)
class AcknowledgedClaim:
    """A claim."""

    loop: Loop
    """The loop 2300."""

    transaction: str
    """837P, 837D or 837I."""
    first_segment: int
    """The number of the set's ST in the file."""
    provider: Name
    subscriber: Name
    patient: Name
    is_dependent: bool = False
    """Whether the patient is not the subscriber."""
    payees: frozenset[str] = frozenset()
    """NPI and tax id of the billing provider."""
    account: str
    """CLM01."""
    charge: str
    """CLM02."""
    clearinghouse_number: str = ""
    """The sender's REF*D9."""
    bill_type: str = ""
    days: tuple[date, date] | None = None

    @cached_property
    def lines(self) -> tuple[AcknowledgedLine, ...]:
        """The service lines: nothing is said about those of a claim that is accepted."""
        return tuple(_line(line, _service(line)) for line in self.loop.loops("2400"))

    @property
    def amount(self) -> Decimal:
        """The charge as a number; 0 if it is none."""
        return parse_number(self.charge) or Decimal(0)

    def line_at(self, position: int) -> int | None:
        """Return the index of the line that has a segment of the set, or None."""
        for at, line in enumerate(self.lines):
            if line.position <= position <= line.last_position and line.service:
                return at
        return None


class BillingProviders:
    """The billing providers of a set: the claims of one share what is repeated of him."""

    def __init__(self) -> None:
        self._last: tuple[Loop, tuple[Name, frozenset[str]]] | None = None

    def find(self, level: Loop | None) -> tuple[Name, frozenset[str]]:
        """Return the name and the numbers of the provider of a level 2000A."""
        if level is None:
            return _provider(None), frozenset()
        if self._last is None or self._last[0] is not level:
            self._last = level, (_provider(level), _payees(level))
        return self._last[1]


def acknowledged_claim(
    claim: Loop,
    parents: Iterable[Loop],
    first_segment: int = 1,
    providers: BillingProviders | None = None,
) -> AcknowledgedClaim:
    """Return a claim by its loop 2300 and the loops around it; ``providers`` are those of its set so far."""
    around = {loop.node.id: loop for loop in parents}
    charge = claim.value("CLM", 2)
    services = map(_service, claim.loops("2400"))
    transaction = next((TRANSACTIONS[one[0]] for one in services if one), "837P")
    facility, _, frequency = (*split_components(claim.value("CLM", 5)), "", "")[:3]
    subscriber = _named(around.get("2000B"), "2010BA")
    patient = _named(around.get("2000C"), "2010CA")
    member = get_element(subscriber, 9) if len(get_element(subscriber, 9)) > 1 else NOT_KNOWN
    insured = _name(subscriber)
    provider, payees = (providers or BillingProviders()).find(around.get("2000A"))
    return AcknowledgedClaim(
        loop=claim,
        transaction=transaction,
        first_segment=first_segment,
        provider=provider,
        subscriber=(*insured, "MI", member),
        patient=(*(_name(patient) if patient else insured), "MI", member),
        is_dependent=bool(patient),
        payees=payees,
        # An acknowledgement needs both, also of a claim that has neither.
        account=claim.value("CLM", 1) or NOT_KNOWN,
        charge=charge if parse_number(charge) is not None else "0",
        clearinghouse_number=claim.value("REF", 2, "D9"),
        bill_type=facility + frequency if transaction == "837I" else "",
        days=_days(claim),
    )


def _provider(level: Loop | None) -> Name:
    billing = level.loop("2010AA") if level else None
    name = _named(level, "2010AA")
    qualifier, number = get_element(name, 8), get_element(name, 9)
    if qualifier == "XX" and not is_npi(number):
        number = ""  # a wrong NPI would make the acknowledgement wrong as well
    if billing is not None and not number:
        qualifier, number = "FI", billing.value("REF", 2, *TAX_NUMBERS)
    return (*_name(name), qualifier or "FI", number or NOT_KNOWN)


def _payees(level: Loop | None) -> frozenset[str]:
    billing = level.loop("2010AA") if level else None
    if billing is None:
        return frozenset()
    numbers = [
        billing.value("NM1", 9),
        *(one[2] for one in billing.segments("REF", *TAX_NUMBERS) if len(one) > 2),
    ]
    return frozenset(filter(None, numbers))


def _named(level: Loop | None, id: str) -> Segment:
    """Return the NM1 of a loop in a level; empty if there is none."""
    loop = level.loop(id) if level else None
    return (loop and loop.segment("NM1")) or []


def _name(nm1: Segment) -> tuple[str, ...]:
    """Return NM102 to NM107 as an acknowledgement may have them."""
    texts = [
        clean(get_element(nm1, at))[0][:most].rstrip()
        for at, most in enumerate(NAME_CHARACTERS_MAX, 3)
    ]
    return (get_element(nm1, 2) or "1", texts[0] or NOT_KNOWN, *texts[1:])


def _service(line: Loop) -> Segment | None:
    return next((segment for id in SERVICES if (segment := line.segment(id))), None)


def _line(loop: Loop, service: Segment | None) -> AcknowledgedLine:
    days = loop.segment("DTP", "472")
    return AcknowledgedLine(
        position=loop.position,
        last_position=loop.position + loop.size() - 1,
        service=_svc(service) if service else (),
        control=loop.value("REF", 2, "6R"),
        period=(get_element(days, 2), get_element(days, 3)) if days else None,
    )


def _svc(service: Segment) -> tuple[str, ...]:
    """Return SVC01 to SVC07; nothing if there is no procedure or no charge that is a number."""
    procedure, charge, units = (get_element(service, at) for at in SERVICES[service[0]])
    revenue = get_element(service, 1) if service[0] == "SV2" else ""
    if not procedure and revenue:
        procedure, revenue = f"NU:{revenue}", ""
    parts = split_components(procedure)[:PROCEDURE_COMPONENTS]
    if parse_number(charge) is None or len(parts) < 2 or not all(parts[:2]):
        return ()
    if parse_number(units) is None:
        units = ""  # faulty units would make the acknowledgement wrong as well
    return (":".join(parts).rstrip(":"), charge, "", revenue, "", "", units)


def _days(claim: Loop) -> tuple[date, date] | None:
    """Return the first and last day of service: those of the claim, else those of its lines."""
    own = [get_element(one, 3) for one in claim.segments("DTP", *SERVICE_DAYS)]
    texts = own or [line.value("DTP", 3, "472") for line in claim.loops("2400")]
    first = [day for text in texts if (day := first_day(text))]
    last = [day for text in texts if (day := last_day(text))]
    return (min(first), max(last)) if first and last else None
