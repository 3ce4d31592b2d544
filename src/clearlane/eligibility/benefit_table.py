"""The benefits of a response as table rows: coverage, copay, deductible and out-of-pocket maximum.

A row is a service type in a network at a level of coverage. Coverage that a payer gives without network or level
applies to all rows of the service. Of total, used and remaining the third is computed from the other two.

Returns data; the caller prints it. Knows the response; knows no 271.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from clearlane.eligibility import services
from clearlane.eligibility.response import (
    BenefitJson,
    BenefitResponseJson,
    DependentJson,
    ErrorJson,
    PayeeJson,
    PayerJson,
    SubscriberJson,
)
from clearlane.x12 import codes


@dataclass(slots=True)
class Accumulator:
    """An amount that claims accumulate towards: a deductible or an out-of-pocket maximum."""

    total: Decimal | None = None
    used: Decimal | None = None
    remaining: Decimal | None = None


@dataclass(slots=True)
class BenefitRow:
    """The benefits of one service type in one network at one level of coverage."""

    service: str
    """In words."""
    network: str
    """In, Out, Any, or empty if the payer does not give it."""
    level: str
    coverage: str = ""
    copay: Decimal | None = None
    coinsurance: Decimal | None = None
    """The patient's share: 0.2 is twenty per cent."""
    deductible: Accumulator = field(default_factory=Accumulator)
    out_of_pocket: Accumulator = field(default_factory=Accumulator)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PatientTable:
    """One patient's benefits."""

    payer: str
    patient: str
    member_id: str
    plans: tuple[str, ...]
    rows: tuple[BenefitRow, ...]
    errors: tuple[ErrorJson, ...]
    """The payer's errors at every level."""
    notes: tuple[str, ...]
    """The payer's free-text messages (MSG), without repetitions."""


NETWORKS = {"Yes": "In", "No": "Out", "NotApplicable": "Any"}
COVERAGE_TYPES = frozenset({
    "ActiveCoverage", "ActiveFullRiskCapitation", "ActiveServicesCapitated",
    "ActiveServicesCapitatedToPrimaryCarePhysician", "ActivePendingInvestigation", "Inactive",
    "InactivePendingEligibilityUpdate", "InactivePendingInvestigation", "NonCovered",
})  # fmt: skip
ACCUMULATORS = {"Deductible": "deductible", "OutOfPocketStopLoss": "out_of_pocket"}
# The part of an accumulator that an amount is, by its time period; every other period gives the total.
ACCUMULATOR_PARTS = {
    "Remaining": "remaining",
    "LifetimeRemaining": "remaining",
    "YearToDate": "used",
}
COST_SHARES = {"CoPayment": ("copay", "BenefitAmount"),
          "CoInsurance": ("coinsurance", "PatientResponsibilityPercentage")}  # fmt: skip


def patient_tables(responses: Iterable[BenefitResponseJson]) -> Iterator[PatientTable]:
    """Yield a table for each patient of some responses; one without rows for a refused inquiry."""
    for response in responses:
        envelope_errors = tuple(response.EnvelopeErrors or ())
        for payer in response.Payers:
            yield from _payer_tables(payer, envelope_errors)


def _payer_tables(
    payer: PayerJson, envelope_errors: tuple[ErrorJson, ...]
) -> Iterator[PatientTable]:
    errors = (*envelope_errors, *(payer.Errors or ()))
    if not payer.Payees:
        yield _build_table(payer, None, None, errors)
    for payee in payer.Payees:
        yield from _payee_tables(payer, payee, (*errors, *(payee.Errors or ())))


def _payee_tables(
    payer: PayerJson, payee: PayeeJson, errors: tuple[ErrorJson, ...]
) -> Iterator[PatientTable]:
    if not payee.Subscribers:
        yield _build_table(payer, None, None, errors)
    for subscriber in payee.Subscribers:
        subscriber_errors = (*errors, *(subscriber.Errors or ()))
        if subscriber.Benefits or not subscriber.Dependents:
            yield _build_table(payer, subscriber, subscriber, subscriber_errors)
        for dependent in subscriber.Dependents or ():
            yield _build_table(
                payer, subscriber, dependent, (*subscriber_errors, *(dependent.Errors or ()))
            )


def _build_table(
    payer: PayerJson,
    subscriber: SubscriberJson | None,
    patient: SubscriberJson | DependentJson | None,
    errors: tuple[ErrorJson, ...],
) -> PatientTable:
    benefits = patient.Benefits if patient else ()
    plans = dict.fromkeys(
        benefit.PlanCoverageDescription for benefit in benefits if benefit.PlanCoverageDescription
    )
    names = (patient.FirstName, patient.CommonName) if patient else ()
    benefit_errors = tuple(error for benefit in benefits for error in benefit.Errors or ())
    return PatientTable(
        payer=payer.CommonName or payer.PayerId or "",
        patient=" ".join(name for name in names if name),
        member_id=(subscriber.MemberId if subscriber else "") or "",
        plans=tuple(plans),
        rows=tuple(benefit_rows(benefits)),
        errors=(*errors, *benefit_errors),
        notes=tuple(dict.fromkeys(note for benefit in benefits for note in benefit.Messages or ())),
    )


def benefit_rows(benefits: Iterable[BenefitJson]) -> list[BenefitRow]:
    """Return the rows of a patient's benefits, in the payer's order."""
    rows: dict[tuple[str, str, str], BenefitRow] = {}
    coverage: dict[str, str] = {}
    for benefit in benefits:
        for service in benefit.TypesOfService or ("",):
            if benefit.Type in COVERAGE_TYPES:
                # The first one counts: payers list a plan's coverage before its exceptions.
                coverage.setdefault(service, benefit.Type or "")
                rows.setdefault((service, "", ""), _new_row(service, "", ""))
            elif benefit.Type in ACCUMULATORS or benefit.Type in COST_SHARES:
                _add_amount(rows, service, benefit)
    for (service, _, _), row in rows.items():
        row.coverage = describe_name("benefits", coverage.get(service, ""))
    counts = Counter(service for service, _, _ in rows)
    return [
        _complete(row)
        for (service, network, level), row in rows.items()
        if network or level or counts[service] == 1 or _has_amounts(row)
    ]


def describe_name(list: str, name: str) -> str:
    """Return the description of a code by its V3 name; the name itself if no list has it."""
    code = services.code(list, name) if name else None
    return codes.load(list).get(code, name) if code else name


def _add_amount(
    rows: dict[tuple[str, str, str], BenefitRow], service: str, benefit: BenefitJson
) -> None:
    network = NETWORKS.get(benefit.PlanInNetwork or "", "")
    level = benefit.LevelOfCoverage or ""
    row = rows.setdefault((service, network, level), _new_row(service, network, level))
    kind = benefit.Type or ""
    if kind in COST_SHARES:
        name, source = COST_SHARES[kind]
        if getattr(row, name) is None:
            setattr(row, name, getattr(benefit, source))
        return
    accumulator: Accumulator = getattr(row, ACCUMULATORS[kind])
    part = ACCUMULATOR_PARTS.get(benefit.BenefitTimePeriod or "", "total")
    if getattr(accumulator, part) is None:
        setattr(accumulator, part, benefit.BenefitAmount)


def _new_row(service: str, network: str, level: str) -> BenefitRow:
    return BenefitRow(
        describe_name("service_types", service), network, describe_name("coverage_levels", level)
    )


def _complete(row: BenefitRow) -> BenefitRow:
    """Compute the third of total, used and remaining in each accumulator of a row."""
    for accumulator in (row.deductible, row.out_of_pocket):
        total, used, remaining = accumulator.total, accumulator.used, accumulator.remaining
        if total is not None and used is None and remaining is not None:
            accumulator.used = total - remaining
        elif total is not None and remaining is None and used is not None:
            accumulator.remaining = total - used
        elif total is None and used is not None and remaining is not None:
            accumulator.total = used + remaining
    return row


def _has_amounts(row: BenefitRow) -> bool:
    """Whether a row holds more than the coverage that other rows of its service repeat."""
    amounts = (*_amounts(row.deductible), *_amounts(row.out_of_pocket))
    return any(amount is not None for amount in (row.copay, row.coinsurance, *amounts))


def _amounts(accumulator: Accumulator) -> tuple[Decimal | None, ...]:
    return accumulator.total, accumulator.used, accumulator.remaining
