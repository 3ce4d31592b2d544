"""Answer a sender's 270 in real time: the payers' 271 in the sender's terms, or a 999 or TA1 if it cannot be read.

A file that the envelope or the checker refuses asks no one. A patient whose payer has not answered in CORE's 20 seconds is
answered with AAA 42, since the guide has a place for that and the other patients' answers must not be lost with an HTTP
error; the late answer is stored like any other. Knows no HTTP.
"""

import asyncio
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from clearlane.accounts.model import Site
from clearlane.eligibility import write_271
from clearlane.eligibility.benefit_answer import BenefitAnswer, BenefitResult
from clearlane.eligibility.build_inquiry import choose_payer
from clearlane.eligibility.model import Inquiry
from clearlane.eligibility.read_270 import SentPatient, build_inquiry, read_patients
from clearlane.eligibility.write_271 import Refusal
from clearlane.inquiry.inquiry_result import CONNECTION, ValidationResult
from clearlane.kernel.finding import Severity
from clearlane.pipeline.inquiry.ask import (
    IMMEDIATE_INQUIRIES_MAX,
    ask,
    await_answers,
    inquiry_runner,
)
from clearlane.pipeline.inquiry.eligibility_request import PayerFinder
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.realtime_inquiry import CONTROL_MAX
from clearlane.pipeline.inquiry.request_answers import RequestAnswers
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, write_audit
from clearlane.x12 import tree
from clearlane.x12.checker.ack import acknowledge, answer_envelope
from clearlane.x12.delimiters import CANONICAL
from clearlane.x12.reader.reader import parse
from clearlane.x12.writer.writer import Envelope

READ_AT_ONCE_BYTES = 16 * 1024
ANSWER_SECONDS_MAX = 19
"""CORE's 20 seconds are for the whole round trip: one is left for the way."""
ANSWER_WAIT = timedelta(seconds=ANSWER_SECONDS_MAX)
REASONS = {
    write_271.PAYER_UNKNOWN: "There is no payer with this id.",
    write_271.PAYER_NOT_ASKED: "The payer takes no inquiries in real time.",
    write_271.TOO_MANY_PATIENTS: f"Real time takes {IMMEDIATE_INQUIRIES_MAX} patients at most.",
}


class NotRealtime(Exception):
    """A file that is not answered in real time; the text says what would pass."""


@dataclass(frozen=True, slots=True, repr=False)
class X12Answer:
    """What a sender gets back."""

    type: Literal["TA1", "999", "271"]
    content: bytes


async def answer_270(
    context: WorkContext,
    content: bytes,
    *,
    site: Site,
    actor: Actor,
    now: datetime,
    stopping: asyncio.Event,
) -> X12Answer:
    """Return the answer to a 270. Raise :class:`NotRealtime` for a file that is not one 270."""
    control = zlib.crc32(actor.request_id.encode()) % (CONTROL_MAX - 1) + 1
    if len(content) <= READ_AT_ONCE_BYTES:
        found, numbers = _read_file(content, control, now)
    else:
        found, numbers = await asyncio.to_thread(_read_file, content, control, now)
    if isinstance(found, X12Answer):
        detail = f"{found.type}; {numbers}"
        async with asyncio.timeout(context.limits.write_seconds_max):
            await write_audit(
                context.database, site.scope, "eligibility.not_accepted", detail=detail, actor=actor
            )
        return found
    patients = read_patients(found)
    plan = _plan(context, patients)
    id = await ask(
        context,
        ELIGIBILITY,
        list(plan.inquiries.values()),
        [_result(patient, plan) for patient in patients if patient.path in plan.refusals],
        site=site,
        actor=actor,
        now=now,
        note=numbers,
        wait=ANSWER_WAIT,
    )
    answers = await await_answers(
        context, ELIGIBILITY, id, site=site, now=now, stopping=stopping, wait=ANSWER_WAIT
    )
    results = await _results_by_path(answers)
    chains = [_levels(patient, plan, results.get(patient.path)) for patient in patients]
    envelope = _envelope(found.group, control, context.clock.now())
    reference = found.root.value("BHT", 3)
    return X12Answer("271", write_271.write_answer(envelope, reference, chains))


def _envelope(group: tree.FunctionalGroup, control: int, moment: datetime) -> Envelope:
    """Return the envelope of the answer to a group, in the sender's separators."""
    envelope = answer_envelope(group.interchange.header, control, moment, gs=group.header)
    delimiters = group.interchange.delimiters
    return replace(envelope, delimiters=delimiters if delimiters.repetition else CANONICAL)


def _read_file(
    content: bytes, control: int, now: datetime
) -> tuple[tree.TransactionSet | X12Answer, str]:
    """Return the 270 of a file, or its refusal, and its control numbers; raise :class:`NotRealtime` if it is neither."""
    acknowledged = list(acknowledge(content, control=control, moment=now))
    if not acknowledged:
        raise NotRealtime("The body is not X12: it begins with no ISA segment.")
    read = parse(content)
    sets = list(read.sets())
    numbers = _control_numbers(read.interchanges[0], sets)
    rejected = next((one for one in acknowledged if one.accepted == "R"), None)
    if rejected is not None:
        return X12Answer("TA1", rejected.ta1), numbers
    if len(acknowledged) > 1 or len(sets) != 1:
        raise NotRealtime(
            f"Real time takes one interchange with one 270, and this has {len(sets)} sets. Send others as a file."
        )
    if _is_refused(sets[0]) and acknowledged[0].ack_999:
        return X12Answer("999", acknowledged[0].ack_999), numbers
    if sets[0].guide is None or sets[0].guide.kind != ELIGIBILITY.inquiry_set:
        raise NotRealtime("Real time takes a 270. Send other transactions as a file.")
    return sets[0], numbers


def _is_refused(set: tree.TransactionSet) -> bool:
    """Return whether a 999 refuses a set."""
    return any(one.severity is Severity.ERROR for one in (*set.findings, *set.group.findings))


@dataclass(frozen=True, slots=True)
class _Plan:
    """Who is asked about whom, by the paths of patients."""

    inquiries: Mapping[str, Inquiry]
    refusals: Mapping[str, Refusal]


def _plan(context: WorkContext, patients: list[SentPatient]) -> _Plan:
    """Return the inquiries of patients, and why others are not asked about."""
    if len(patients) > IMMEDIATE_INQUIRIES_MAX:
        return _Plan({}, {patient.path: write_271.TOO_MANY_PATIENTS for patient in patients})
    runner = inquiry_runner(context)
    find = PayerFinder(context.payer_access.payers(), runner).find
    inquiries: dict[str, Inquiry] = {}
    refusals: dict[str, Refusal] = {}
    for patient in patients:
        payer = choose_payer(
            patient.payer_id, find, dental=patient.asks_only_dental, test=context.sandbox
        )
        if payer is None or not payer.active:
            refusals[patient.path] = write_271.PAYER_UNKNOWN
        elif not payer.offers_eligibility or not runner.can_reach(payer.type, payer.payer_id):
            refusals[patient.path] = write_271.PAYER_NOT_ASKED
        else:
            inquiries[patient.path] = build_inquiry(patient, payer)
    return _Plan(inquiries, refusals)


def _result(patient: SentPatient, plan: _Plan) -> ValidationResult:
    """Return why a patient is not asked about, as it is stored with the request."""
    refusal = plan.refusals[patient.path]
    return ValidationResult(location=patient.path, code=refusal.reason, message=REASONS[refusal])


async def _results_by_path(answers: RequestAnswers[BenefitAnswer]) -> dict[str, BenefitResult]:
    found: dict[str, BenefitResult] = {}
    for pages in (answers.answered, answers.refused):
        async for page in pages:
            for result in page:
                part = result.answer or result.error
                if part is not None:
                    found[part.path] = result
    return found


def _levels(
    patient: SentPatient, plan: _Plan, result: BenefitResult | None
) -> list[write_271.Level]:
    """Return the answer about a patient."""
    if patient.path in plan.refusals:
        return write_271.refused(patient, plan.refusals[patient.path])
    if result is not None and result.answer is not None:
        return write_271.answered(patient, result.x12, plan.inquiries[patient.path].payer.id)
    of_file = result is not None and result.error is not None and result.error.kind != CONNECTION
    return write_271.refused(patient, write_271.NOT_TAKEN if of_file else write_271.NO_ANSWER)


def _control_numbers(interchange: tree.Interchange, sets: list[tree.TransactionSet]) -> str:
    """Return the sender's control numbers, as CORE wants them kept; what is not a number is left out."""
    named = {"ISA13": interchange.control}
    if sets:
        named |= {"GS06": sets[0].group.control, "ST02": sets[0].control}
    return " ".join(
        f"{name} {text.strip()}" for name, text in named.items() if _CONTROL.fullmatch(text.strip())
    )


_CONTROL = re.compile(r"[0-9A-Za-z]{1,9}", re.ASCII)
