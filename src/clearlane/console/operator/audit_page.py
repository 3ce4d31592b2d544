"""The audit trail: who did and saw what, by person, claim and action, and whether the chain is whole. For operators."""

from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.store.audit import audit
from clearlane.store.audit.audit_search import (
    NEWEST,
    AuditRow,
    AuditSearch,
    search_trail,
    trail_length,
)
from clearlane.store.database.database import write_audit

pages = PageRows(roles=OPERATORS, menu="/audit")

ROWS_SHOWN = 50
IDS_SHOWN = 6
TEXT_CHARACTERS_MAX = 80
CONSOLE_WORDS = {
    "console.claim": "Claim opened",
    "console.claim_pdf": "Claim as PDF",
    "console.claims": "Claims listed",
    "console.claims_csv": "Claims as CSV",
    "console.correct": "Correction opened",
    "console.fix_cause": "Cause of a group opened",
    "console.search": "Claims searched",
}
"""What people look at in the console."""
VERB_WORDS = {
    "accept": "accepted", "add": "added", "billed_change": "billed otherwise", "delete": "deleted", "discard": "put aside",
    "draft": "draft kept", "draft_dropped": "draft discarded", "end_sessions": "sessions ended", "enter": "entered",
    "export": "exported", "import": "imported", "list": "listed", "mailed": "sent by file", "note": "note added",
    "park": "stopped", "pause": "paused", "read": "looked at", "release": "released", "replay": "replayed",
    "resend": "sent again", "resent": "sent again", "resume": "resumed", "rotate": "secret renewed", "search": "searched",
    "send_anyway": "sent anyway",
    "shown": "looked at", "sending": "being sent", "sign_in": "signed in", "sign_in_link": "one-time address made",
    "sign_out": "signed out", "submit": "submitted", "test": "tested", "try_now": "tried at once", "url": "address made",
    "way_chosen": "way of sending chosen",
}  # fmt: skip
"""What the last part of an action is called; another one is shown as it is."""
ROWS_VERIFIED_MAX = 200_000
"""A longer chain is verified by the operator's command, which may take minutes."""


@pages.page("/audit")
async def show_audit(request: PageRequest) -> Response:
    """Show rows of the trail, newest first. The search itself is a row of it."""
    wanted = _wanted(request)
    before = read_number(request.query("before")) or NEWEST
    # Before its own row is written: a search does not find itself.
    found = await search_trail(request.context.database, wanted, before=before, limit=ROWS_SHOWN)

    await write_audit(
        request.context.database,
        audit.TRAIL,
        "audit.search",
        ids=[wanted.id] if wanted.id else [],
        detail=_words(wanted),
        actor=request.actor,
    )
    return request.render(
        "audit.html",
        "Audit",
        wanted=wanted,
        rows=[(row, request.stored_moment(row.at), _owner(request, row)) for row in found.rows],
        action_words=action_words,
        ids_shown=IDS_SHOWN,
        is_first=before == NEWEST,
        length=await trail_length(request.context.database),
        chain=await _chain(request) if request.query("verify") else None,
        verify=request.url("/audit", verify="yes"),
        first=request.url("/audit", person=wanted.person, id=wanted.id, action=wanted.action),
        older=request.url(
            "/audit",
            person=wanted.person,
            id=wanted.id,
            action=wanted.action,
            before=found.next_before,
        )
        if found.next_before
        else "",
        anchor_fault=request.context.database.anchor_fault,
    )


def _wanted(request: PageRequest) -> AuditSearch:
    person, id, action = (
        request.query(name).strip()[:TEXT_CHARACTERS_MAX] for name in ("person", "id", "action")
    )
    return AuditSearch(person, id, action)


def _words(wanted: AuditSearch) -> str:
    named = (("person", wanted.person), ("action", wanted.action))
    return ", ".join(f"{name} {text}" for name, text in named if text)


async def _chain(request: PageRequest) -> tuple[str, str]:
    """Return the label and the sentence about the chain."""
    database = request.context.database
    if await trail_length(database) > ROWS_VERIFIED_MAX:
        return "late", "The chain is too long to be verified here: clearlane audit verify"
    result = await audit.verify(database, request.context.vault.audit_key, database.anchor)
    if result.fault:
        return "act", result.fault
    return "good", f"The chain is whole: {page_text.count(result.rows, 'row')} verified."


def _owner(request: PageRequest, row: AuditRow) -> str:
    site = request.site_of(row.vendor_id or 0, row.site_id or 0)
    return site.name if site else ""


def action_words(action: str) -> str:
    """Return an action of the trail as people say it: ``claim.read`` is ``Claim looked at``."""
    if action in CONSOLE_WORDS:
        return CONSOLE_WORDS[action]
    *nouns, verb = action.split(".")
    words = (
        " ".join((*nouns, VERB_WORDS.get(verb, verb))).replace("_", " ").removeprefix("console ")
    )
    return words[:1].upper() + words[1:]
