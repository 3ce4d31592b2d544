"""The benefits of a response as rows for people: coverage, copay, deductible and out-of-pocket maximum.

A row is a service type in a network at a level of coverage. What a payer says of a service without naming network or
level holds for all its rows. Of total, used and remaining the third follows from the other two.

Pure data: printing belongs to whoever shows it. Knows the response; knows no 271.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from clearlane.eligibility import services
from clearlane.eligibility.response import (
    Benefit,
    BenefitResponse,
    Dependent,
    Payee,
    Payer,
    Subscriber,
    Trouble,
)
from clearlane.x12 import codes


@dataclass(slots=True)
class Purse:
    """An amount that is used up: a deductible or an out-of-pocket maximum."""

    total: Decimal | None = None
    used: Decimal | None = None
    remaining: Decimal | None = None


@dataclass(slots=True)
class Row:
    """What holds for one service in one network at one level."""

    service: str
    """In words."""
    network: str
    """In, Out, Any or empty where the payer does not say."""
    level: str
    coverage: str = ""
    copay: Decimal | None = None
    coinsurance: Decimal | None = None
    """The patient's share: 0.2 is twenty per cent."""
    deductible: Purse = field(default_factory=Purse)
    out_of_pocket: Purse = field(default_factory=Purse)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PatientTable:
    """One patient's benefits."""

    payer: str
    patient: str
    member_id: str
    plans: tuple[str, ...]
    rows: tuple[Row, ...]
    errors: tuple[Trouble, ...]
    """Why the payer does not answer, at whatever level it says so."""
    notes: tuple[str, ...]
    """What the payer says in words of its own, each once."""


NETWORKS = {"Yes": "In", "No": "Out", "NotApplicable": "Any"}
COVERAGE = frozenset({
    "ActiveCoverage", "ActiveFullRiskCapitation", "ActiveServicesCapitated",
    "ActiveServicesCapitatedToPrimaryCarePhysician", "ActivePendingInvestigation", "Inactive",
    "InactivePendingEligibilityUpdate", "InactivePendingInvestigation", "NonCovered",
})  # fmt: skip
PURSES = {"Deductible": "deductible", "OutOfPocketStopLoss": "out_of_pocket"}
# What an amount is by its period; every other period is the total.
PARTS = {"Remaining": "remaining", "LifetimeRemaining": "remaining", "YearToDate": "used"}
SHARES = {"CoPayment": ("copay", "BenefitAmount"),
          "CoInsurance": ("coinsurance", "PatientResponsibilityPercentage")}  # fmt: skip


def tables(responses: Iterable[BenefitResponse]) -> Iterator[PatientTable]:
    """A table for each patient of some responses; for a refused inquiry one without rows."""
    for response in responses:
        above = tuple(response.EnvelopeErrors or ())
        for payer in response.Payers:
            yield from _of_payer(payer, above)


def _of_payer(payer: Payer, above: tuple[Trouble, ...]) -> Iterator[PatientTable]:
    errors = (*above, *(payer.Errors or ()))
    if not payer.Payees:
        yield _table(payer, None, None, errors)
    for payee in payer.Payees:
        yield from _of_payee(payer, payee, (*errors, *(payee.Errors or ())))


def _of_payee(payer: Payer, payee: Payee, errors: tuple[Trouble, ...]) -> Iterator[PatientTable]:
    if not payee.Subscribers:
        yield _table(payer, None, None, errors)
    for subscriber in payee.Subscribers:
        told = (*errors, *(subscriber.Errors or ()))
        if subscriber.Benefits or not subscriber.Dependents:
            yield _table(payer, subscriber, subscriber, told)
        for dependent in subscriber.Dependents or ():
            yield _table(payer, subscriber, dependent, (*told, *(dependent.Errors or ())))


def _table(
    payer: Payer,
    subscriber: Subscriber | None,
    patient: Subscriber | Dependent | None,
    errors: tuple[Trouble, ...],
) -> PatientTable:
    benefits = patient.Benefits if patient else ()
    plans = dict.fromkeys(
        one.PlanCoverageDescription for one in benefits if one.PlanCoverageDescription
    )
    names = (patient.FirstName, patient.CommonName) if patient else ()
    own = tuple(trouble for one in benefits for trouble in one.Errors or ())
    return PatientTable(
        payer=payer.CommonName or payer.PayerId or "",
        patient=" ".join(name for name in names if name),
        member_id=(subscriber.MemberId if subscriber else "") or "",
        plans=tuple(plans),
        rows=tuple(rows(benefits)),
        errors=(*errors, *own),
        notes=tuple(dict.fromkeys(note for one in benefits for note in one.Messages or ())),
    )


def rows(benefits: Iterable[Benefit]) -> list[Row]:
    """The rows of a patient's benefits, in the order in which the payer speaks of them."""
    found: dict[tuple[str, str, str], Row] = {}
    coverage: dict[str, str] = {}
    for benefit in benefits:
        for service in benefit.TypesOfService or ("",):
            if benefit.Type in COVERAGE:
                # The first word stands: payers tell a plan's coverage before its exceptions.
                coverage.setdefault(service, benefit.Type or "")
                found.setdefault((service, "", ""), _row(service, "", ""))
            elif benefit.Type in PURSES or benefit.Type in SHARES:
                _add(found, service, benefit)
    for (service, _, _), row in found.items():
        row.coverage = words("benefits", coverage.get(service, ""))
    counts = Counter(service for service, _, _ in found)
    return [
        _complete(row)
        for (service, network, level), row in found.items()
        if network or level or counts[service] == 1 or _has_amounts(row)
    ]


def words(list: str, name: str) -> str:
    """The words of an interface name; the name itself where no list knows it."""
    code = services.code(list, name) if name else None
    return codes.load(list).get(code, name) if code else name


def _add(found: dict[tuple[str, str, str], Row], service: str, benefit: Benefit) -> None:
    network = NETWORKS.get(benefit.PlanInNetwork or "", "")
    level = benefit.LevelOfCoverage or ""
    row = found.setdefault((service, network, level), _row(service, network, level))
    kind = benefit.Type or ""
    if kind in SHARES:
        name, source = SHARES[kind]
        if getattr(row, name) is None:
            setattr(row, name, getattr(benefit, source))
        return
    purse: Purse = getattr(row, PURSES[kind])
    part = PARTS.get(benefit.BenefitTimePeriod or "", "total")
    if getattr(purse, part) is None:
        setattr(purse, part, benefit.BenefitAmount)


def _row(service: str, network: str, level: str) -> Row:
    return Row(words("service_types", service), network, words("coverage_levels", level))


def _complete(row: Row) -> Row:
    """Work out the third of total, used and remaining."""
    for purse in (row.deductible, row.out_of_pocket):
        total, used, remaining = purse.total, purse.used, purse.remaining
        if total is not None and used is None and remaining is not None:
            purse.used = total - remaining
        elif total is not None and remaining is None and used is not None:
            purse.remaining = total - used
        elif total is None and used is not None and remaining is not None:
            purse.total = used + remaining
    return row


def _has_amounts(row: Row) -> bool:
    """Whether a row says more than the coverage that other rows of its service say too."""
    purses = (*_amounts(row.deductible), *_amounts(row.out_of_pocket))
    return any(amount is not None for amount in (row.copay, row.coinsurance, *purses))


def _amounts(purse: Purse) -> tuple[Decimal | None, ...]:
    return purse.total, purse.used, purse.remaining
