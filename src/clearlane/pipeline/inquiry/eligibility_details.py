"""A question about a patient's insurance, and what the payer answered, as programs see it over the service and on its machine."""

from decimal import Decimal

from clearlane.eligibility.benefit_answer import BenefitAnswer
from clearlane.eligibility.benefit_table import (
    Accumulator,
    BenefitRow,
    PatientTable,
    patient_tables,
)
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.payments.as_json import day_text
from clearlane.pipeline.inquiry.eligibility_list import (
    STATES,
    VERDICT_NAMES,
    NumberedInquiry,
    list_numbered,
    listed_object,
)
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.request_answers import RequestAnswers, read_numbered_answers
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor
from clearlane.x12.reader.lexer import decode_part


async def find_details(
    context: WorkContext, scope: Scope | VendorScope, number: int, *, actor: Actor
) -> dict[str, object] | None:
    """Return the question with a number and its answers; None if the scope has none."""
    rows = await list_numbered(context, scope, before=number + 1, limit=1, actor=actor)
    if not rows or rows[0].request_number != number:
        return None
    answers = await read_numbered_answers(
        context, ELIGIBILITY, number, site=rows[0].site, actor=actor
    )
    return None if answers is None else await details_object(rows[0], answers)


async def details_object(
    listed: NumberedInquiry, answers: RequestAnswers[BenefitAnswer]
) -> dict[str, object]:
    """Return a question with its answers."""
    results = [one async for page in answers.answered for one in page]
    refused = [one async for page in answers.refused for one in page]
    errors = [error.message for one in refused if one.error for error in one.error.errors]
    tables = patient_tables(one.answer for one in results if one.answer is not None)
    return listed_object(listed) | {
        "state": STATES[answers.status],
        "answers": [_benefits(table) for table in tables],
        "problems": [*(one.message for one in answers.results), *errors],
        "x12": [decode_part(one.x12) for one in (*results, *refused) if one.x12],
    }


def _benefits(table: PatientTable) -> dict[str, object]:
    coverage = table.coverage
    return {
        "payer_name": table.payer,
        "patient_name": table.patient,
        "member_id": table.member_id,
        "verdict": VERDICT_NAMES[coverage.verdict],
        "plans": list(table.plans),
        "group_number": coverage.group or None,
        "covered_from": day_text(coverage.begins),
        "covered_to": day_text(coverage.ends),
        "primary_care": coverage.primary_care or None,
        "benefits": [_row(row) for row in table.rows],
        "notes": list(table.notes),
        "errors": [
            {"code": one.code, "message": one.message, "action": one.action or None}
            for one in table.errors
        ],
    }


def _row(row: BenefitRow) -> dict[str, object]:
    return {
        "service": row.service,
        "network": row.network or None,
        "level": row.level or None,
        "coverage": row.coverage or None,
        "copay": _amount(row.copay),
        "coinsurance": None if row.coinsurance is None else f"{row.coinsurance.normalize():f}",
        "deductible": _accumulator(row.deductible),
        "out_of_pocket": _accumulator(row.out_of_pocket),
    }


def _accumulator(one: Accumulator) -> dict[str, str | None]:
    return {
        "total": _amount(one.total),
        "used": _amount(one.used),
        "remaining": _amount(one.remaining),
    }


def _amount(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:.2f}"
