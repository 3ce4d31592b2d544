"""Answer a sender's 270 or 276 in real time: the payers' 271 or 277 in the sender's terms, or a 999 or TA1 if it cannot be read.

A file that the envelope or the checker refuses asks no one. An inquiry whose payer has not answered in CORE's 20 seconds is
answered with AAA 42 or STC E2, since the guide has a place for that and the other answers must not be lost with an HTTP
error; the late answer is stored like any other. Knows no HTTP.
"""

import asyncio
import re
import zlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from clearlane.accounts.model import Site
from clearlane.inquiry.sent_inquiry import Refusal
from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CONTROL_NUMBER_MAX
from clearlane.pipeline.inquiry.ask import (
    IMMEDIATE_INQUIRIES_MAX,
    ask,
    await_answers,
)
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_plan import plan_inquiries, refuse_all, results_by_path
from clearlane.pipeline.inquiry.sender_transactions import SENDER_TRANSACTIONS
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
TAKEN = " or ".join(SENDER_TRANSACTIONS)


class NotRealtime(Exception):
    """A file that is not answered in real time; the text says what would pass."""


@dataclass(frozen=True, slots=True, repr=False)
class X12Answer:
    """What a sender gets back."""

    type: str
    """TA1, 999, 271 or 277."""
    content: bytes


@dataclass(frozen=True, slots=True, repr=False)
class _ReadFile:
    """A sender's file: its one set, or its refusal."""

    read: tree.TransactionSet | X12Answer
    numbers: str
    """The sender's control numbers."""
    subject: str
    """The first word of its audit actions."""


async def answer_inquiry(
    context: WorkContext,
    content: bytes,
    *,
    site: Site,
    actor: Actor,
    now: datetime,
    stopping: asyncio.Event,
) -> X12Answer:
    """Return the answer to a 270 or 276. Raise :class:`NotRealtime` for a file that is not one of them."""
    control = zlib.crc32(actor.request_id.encode()) % (CONTROL_NUMBER_MAX - 1) + 1
    if len(content) <= READ_AT_ONCE_BYTES:
        found = _read_file(content, control, now)
    else:
        found = await asyncio.to_thread(_read_file, content, control, now)
    if isinstance(found.read, X12Answer):
        detail = f"{found.read.type}; {found.numbers}"
        async with asyncio.timeout(context.limits.write_seconds_max):
            await write_audit(
                context.database,
                site.scope,
                f"{found.subject}.not_accepted",
                detail=detail,
                actor=actor,
            )
        return found.read
    set = found.read
    sender = SENDER_TRANSACTIONS[_kind(set)]
    transaction = sender.transaction
    sent = sender.read_all(set)
    if len(sent) > IMMEDIATE_INQUIRIES_MAX:
        plan = refuse_all(sender, sent, Refusal.TOO_MANY)
    else:
        plan = await plan_inquiries(sender, context, site, sent, realtime=True)
    asked = list(plan.inquiries.values())
    id = await ask(
        context,
        transaction,
        asked,
        sender.validation_results(plan),
        site=site,
        actor=actor,
        now=now,
        note=found.numbers,
        wait=ANSWER_WAIT,
        also=lambda tx, _: sender.note(tx, site, asked, to_micros(now)),
    )
    answers = await await_answers(
        context, transaction, id, site=site, now=now, stopping=stopping, wait=ANSWER_WAIT
    )
    moment = context.clock.now()
    chains = sender.answer_levels(plan, await results_by_path(answers), moment.date())
    envelope = _envelope(set.group, control, moment)
    answer = sender.write_answer(envelope, set.root.value("BHT", 3), chains)
    return X12Answer(transaction.answer_set, answer)


def _envelope(group: tree.FunctionalGroup, control: int, moment: datetime) -> Envelope:
    """Return the envelope of the answer to a group, in the sender's separators."""
    envelope = answer_envelope(group.interchange.header, control, moment, gs=group.header)
    delimiters = group.interchange.delimiters
    return replace(envelope, delimiters=delimiters if delimiters.repetition else CANONICAL)


def _read_file(content: bytes, control: int, now: datetime) -> _ReadFile:
    """Return the one set of a file, or its refusal; raise :class:`NotRealtime` if it is neither."""
    acknowledged = list(acknowledge(content, control=control, moment=now))
    if not acknowledged:
        raise NotRealtime("The body is not X12: it begins with no ISA segment.")
    read = parse(content)
    sets = list(read.sets())
    numbers = _control_numbers(read.interchanges[0], sets)
    sender = SENDER_TRANSACTIONS.get(_kind(sets[0])) if sets else None
    subject = (sender.transaction if sender else ELIGIBILITY).subject
    rejected = next((one for one in acknowledged if one.accepted == "R"), None)
    if rejected is not None:
        return _ReadFile(X12Answer("TA1", rejected.ta1), numbers, subject)
    if len(acknowledged) > 1 or len(sets) != 1:
        raise NotRealtime(
            f"Real time takes one interchange with one {TAKEN}, and this has {len(sets)} sets. Send others as a file."
        )
    if _is_refused(sets[0]) and acknowledged[0].ack_999:
        return _ReadFile(X12Answer("999", acknowledged[0].ack_999), numbers, subject)
    if sender is None:
        raise NotRealtime(f"Real time takes a {TAKEN}. Send other transactions as a file.")
    return _ReadFile(sets[0], numbers, subject)


def _kind(set: tree.TransactionSet) -> str:
    return set.guide.kind if set.guide else ""


def _is_refused(set: tree.TransactionSet) -> bool:
    """Return whether a 999 refuses a set."""
    return any(one.severity is Severity.ERROR for one in (*set.findings, *set.group.findings))


def _control_numbers(interchange: tree.Interchange, sets: list[tree.TransactionSet]) -> str:
    """Return the sender's control numbers, as CORE wants them kept; what is not a number is left out."""
    named = {"ISA13": interchange.control}
    if sets:
        named |= {"GS06": sets[0].group.control, "ST02": sets[0].control}
    return " ".join(
        f"{name} {text.strip()}" for name, text in named.items() if _CONTROL.fullmatch(text.strip())
    )


_CONTROL = re.compile(r"[0-9A-Za-z]{1,9}", re.ASCII)
