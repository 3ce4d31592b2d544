"""The benefits of an answer as table rows: coverage, copay, deductible and out-of-pocket maximum.

A row is a service type in a network at a level of coverage. Coverage that a payer gives without network or level
applies to all rows of the service. If a payer gives two of total, used and remaining, the third is computed.

Returns data; the caller prints it. Knows answers with the codes of X12; knows no API.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from clearlane.eligibility.benefit_answer import BenefitAnswer, patient_share
from clearlane.eligibility.coverage import Coverage, read_coverage
from clearlane.inquiry.inquiry_result import AnswerError
from clearlane.kernel.formats import last_first
from clearlane.x12 import codes
from clearlane.x12.views.benefits import BenefitView, MemberView, RefusalView
from clearlane.x12.views.shared_types import DateView, ReferenceView


@dataclass(slots=True)
class Accumulator:
    """An amount that claims accumulate toward: a deductible or an out-of-pocket maximum."""

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


@dataclass(frozen=True, slots=True)
class PayerError:
    """An error that a payer reports: code, message, and what to do, in words."""

    code: str
    message: str
    action: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PatientTable:
    """One patient's benefits."""

    payer: str
    patient: str
    member_id: str
    plans: tuple[str, ...]
    rows: tuple[BenefitRow, ...]
    errors: tuple[PayerError, ...]
    """The payer's errors at every level."""
    notes: tuple[str, ...]
    """The payer's free-text messages (MSG), without repetitions."""
    coverage: Coverage


NETWORKS = {"Y": "In", "N": "Out", "W": "Any"}
"""By EB12."""
COVERAGE_CODES = frozenset({"1", "2", "3", "4", "5", "6", "7", "8", "I"})
"""EB01 of active, inactive and not covered."""
ACCUMULATORS = {"C": "deductible", "G": "out_of_pocket"}
# The part of an accumulator that an amount is, by its time period (EB06): remaining, remaining in a lifetime, year to
# date. Every other period gives the total.
ACCUMULATOR_PARTS = {"29": "remaining", "33": "remaining", "24": "used"}
COPAY, COINSURANCE = "B", "A"


def patient_tables(answers: Iterable[BenefitAnswer]) -> Iterator[PatientTable]:
    """Yield a table for each patient of some answers; one without rows for a refused inquiry."""
    for answer in answers:
        errors = [*map(_envelope_error, answer.envelope_errors)]
        errors += map(_refusal, answer.transaction_refusals)
        for level in (answer.source, answer.receiver, answer.subscriber):
            errors += map(_refusal, level.refusals if level else ())
        subscriber, dependent = answer.subscriber, answer.dependent
        if dependent is None or (subscriber and subscriber.benefits):
            yield _patient_table(answer, subscriber, errors)
        if dependent is not None:
            errors += map(_refusal, dependent.refusals)
            yield _patient_table(answer, dependent, errors)


def build_table(
    benefits: Sequence[BenefitView],
    errors: Iterable[PayerError],
    *,
    payer: str,
    patient: str,
    member_id: str,
    references: Iterable[ReferenceView] = (),
    dates: Sequence[DateView] = (),
) -> PatientTable:
    """Return the table of one patient's benefits; references and dates are the patient's own."""
    refused = tuple(errors)
    refusals = (_refusal(one) for benefit in benefits for one in benefit.refusals)
    return PatientTable(
        payer=payer,
        patient=patient,
        member_id=member_id,
        plans=tuple(dict.fromkeys(benefit.plan for benefit in benefits if benefit.plan)),
        rows=tuple(benefit_rows(benefits)),
        errors=(*refused, *refusals),
        notes=tuple(dict.fromkeys(note for benefit in benefits for note in benefit.messages)),
        coverage=read_coverage(benefits, references, dates, is_refused=bool(refused)),
    )


def _patient_table(
    answer: BenefitAnswer, patient: MemberView | None, errors: Iterable[PayerError]
) -> PatientTable:
    payer = answer.source.party if answer.source else None
    person = patient.party if patient else None
    subscriber = answer.subscriber.party if answer.subscriber else None
    return build_table(
        patient.benefits if patient else (),
        errors,
        payer=(payer.name or payer.id) if payer else "",
        patient=last_first(person.name, person.first) if person else "",
        member_id=subscriber.id if subscriber else "",
        references=person.references if person else (),
        dates=patient.dates if patient else (),
    )


def _envelope_error(error: AnswerError) -> PayerError:
    return PayerError(error.code, error.message)


def _refusal(refusal: RefusalView) -> PayerError:
    return PayerError(refusal.reason, refusal.reason_words, refusal.follow_up_words)


def benefit_rows(benefits: Iterable[BenefitView]) -> list[BenefitRow]:
    """Return the rows of a patient's benefits, in the payer's order."""
    rows: dict[tuple[str, str, str], BenefitRow] = {}
    coverage: dict[str, str] = {}
    for benefit in benefits:
        for service in benefit.service_types or ("",):
            if benefit.benefit in COVERAGE_CODES:
                # The first one counts: payers list a plan's coverage before its exceptions.
                coverage.setdefault(service, benefit.benefit)
                rows.setdefault((service, "", ""), _new_row(service, "", ""))
            elif benefit.benefit in {*ACCUMULATORS, COPAY, COINSURANCE}:
                _add_amount(rows, service, benefit)
    for (service, _, _), row in rows.items():
        row.coverage = _describe("benefits", coverage.get(service, ""))
    counts = Counter(service for service, _, _ in rows)
    return [
        _complete(row)
        for (service, network, level), row in rows.items()
        if network or level or counts[service] == 1 or _has_amounts(row)
    ]


def _add_amount(
    rows: dict[tuple[str, str, str], BenefitRow], service: str, benefit: BenefitView
) -> None:
    network, level = NETWORKS.get(benefit.in_network, ""), benefit.level
    row = rows.setdefault((service, network, level), _new_row(service, network, level))
    if benefit.benefit == COPAY:
        row.copay = benefit.amount if row.copay is None else row.copay
    elif benefit.benefit == COINSURANCE:
        row.coinsurance = patient_share(benefit) if row.coinsurance is None else row.coinsurance
    else:
        accumulator: Accumulator = getattr(row, ACCUMULATORS[benefit.benefit])
        part = ACCUMULATOR_PARTS.get(benefit.period, "total")
        if getattr(accumulator, part) is None:
            setattr(accumulator, part, benefit.amount)


def _new_row(service: str, network: str, level: str) -> BenefitRow:
    return BenefitRow(
        _describe("service_types", service), network, _describe("coverage_levels", level)
    )


def _describe(list: str, code: str) -> str:
    """Return the meaning of a code; the code itself if no list has it."""
    return codes.load(list).get(code, code)


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
    """Return whether a row holds more than the coverage that other rows of its service repeat."""
    amounts = (*_amounts(row.deductible), *_amounts(row.out_of_pocket))
    return any(amount is not None for amount in (row.copay, row.coinsurance, *amounts))


def _amounts(accumulator: Accumulator) -> tuple[Decimal | None, ...]:
    return accumulator.total, accumulator.used, accumulator.remaining
