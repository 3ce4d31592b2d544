"""Post a report in words of a hop: show it at the claims that it names.

    result = await post_report(context, file, content)      # None if the file is no such report

Upstream clearinghouses write a report of their own beside each file that they answer. No two write the same, so a report
is stored and shown, and no status is read from it. A claim is named by its number with us (``REF*D9``), which no other
text looks like. Of a line that names several claims only the fact is kept: each claim's page may be another client's.
A text that names no claim of the hop waits for a person: it may be anything.
"""

import re
from collections.abc import Sequence
from functools import partial

from clearlane.claims.responses.facts import ClaimKey, Fact, FactKind
from clearlane.claims.responses.identify import REPORT, is_text
from clearlane.kernel.clock import from_micros
from clearlane.pipeline import record_facts
from clearlane.pipeline.inbound.file_payers import FilePayers
from clearlane.pipeline.record_facts import ClaimFact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.delivery import inbox
from clearlane.store.delivery.inbox import InboxFile, InboxResult

CLAIMS_NAMED_MAX = 5_000
CLAIMS_AT_ONCE = 250
"""How many claims one transaction is about."""
NOTE_LINES_MAX = 5
LINE_CHARACTERS_MAX = 300
NO_CLAIM = "The text names no claim that was sent to a payer of the hop. Read it, then discard it."

# A claim number of ours (kernel.ids), not inside a longer word.
_CLAIM_NUMBER = re.compile(r"(?<![0-9A-Z])C[0-9A-Z]{18}(?![0-9A-Z])", re.ASCII)


async def post_report(context: WorkContext, file: InboxFile, content: bytes) -> InboxResult | None:
    """Record a report of a hop on the claims that it names; return its result, None if the file is no report."""
    payers = FilePayers(context, file)
    if not payers.is_of_hop or not is_text(content):
        return None
    notes = _notes(content.decode("utf-8", errors="replace"))
    now = context.clock.now()
    async with context.database.read(inbox.SCOPE) as tx:
        found = await payers.match_numbers(tx, list(notes))
    claim_facts = [
        ClaimFact(
            one.claim_number,
            one.vendor_id,
            one.site_id,
            Fact(
                kind=FactKind.REPORT,
                at=from_micros(file.received_at).replace(tzinfo=None),
                claim=ClaimKey(claim_number=one.claim_number),
                serial=file.id,
                source=REPORT,
                note=notes[one.claim_number],
            ),
            None,
            file.id,
        )
        for one in found
    ]
    await record_facts.ensure_keys(context.vault, claim_facts)

    if not claim_facts:
        return InboxResult(state=inbox.QUARANTINED, kinds=REPORT, reason=NO_CLAIM)

    async def job(tx: Tx, page: Sequence[ClaimFact]) -> None:
        await record_facts.record_facts(tx, context.vault, page, now, context.answer_days)

    # What was recorded before a crash counts once when the file is read again.
    for first in range(0, len(claim_facts), CLAIMS_AT_ONCE):
        page = claim_facts[first : first + CLAIMS_AT_ONCE]
        await context.database.write(inbox.SCOPE, partial(job, page=page), actor=context.actor)
    return InboxResult(state=inbox.APPLIED, kinds=REPORT, applied=len(claim_facts))


def _notes(text: str) -> dict[str, str]:
    """Return the lines that name each claim number; an empty text if its lines name others as well."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        numbers = dict.fromkeys(_CLAIM_NUMBER.findall(line.upper()))
        for number in numbers:
            if len(found) >= CLAIMS_NAMED_MAX and number not in found:
                continue
            lines = found.setdefault(number, [])
            if len(numbers) == 1 and len(lines) < NOTE_LINES_MAX:
                lines.append(_shown(line))
    return {number: "\n".join(lines) for number, lines in found.items()}


def _shown(line: str) -> str:
    plain = "".join(mark if mark.isprintable() else "?" for mark in " ".join(line.split()))
    return plain[:LINE_CHARACTERS_MAX]
