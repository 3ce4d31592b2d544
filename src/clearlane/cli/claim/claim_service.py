"""``clearlane claim`` over Clearlane's own API: hold, release, cancel, void, resubmit, ask, correct, send anyway, show, print, prove, check."""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearlane.claims.printing.sheet_type import SheetType
from clearlane.cli.claim.claim_ids import ClaimId, choose_claim_number
from clearlane.cli.command.client_command import (
    ClientSession,
    ServiceOptions,
    Yes,
    client_session,
    confirm,
    exit_with,
    read_json,
    usage_error,
)
from clearlane.cli.command.output import cell_text, show_json, show_table, show_text
from clearlane.cli.command.private_file import private_file
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.claim_label import STOPPED_LABELS

if TYPE_CHECKING:
    from clearlane.client import (
        ClaimDetails,
        ClaimFindingInfo,
        ClaimInfo,
        ClaimInquiry,
        CorrectionResult,
        PayerInfo,
        SecondaryInfo,
    )

WITHOUT_ANSWER = frozenset({"failed", "refused", "search_failed", "try_later", "other_claim"})
"""Results of a question that say nothing about the claim."""
CLAIM_NUMBER = re.compile(r"C[0-9A-Z]{18}")
EVIDENCE_SUFFIX = ".json"
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")
]
CLAIMS_OF_ONE_ID_MAX = 200
"""How many claims under one vendor's claim id are looked through for the newest of each site."""


def hold(session: ClientSession, claim_id: ClaimId) -> None:
    """Keep a claim back until it is released; only before a batch takes it.

    Examples: clearlane claim hold SAMPLE-1; clearlane claim hold C193N353RW88KF7KA1W
    """
    _show_state(session, session.client.claims.hold(named_claim_number(session, claim_id)))


def release(session: ClientSession, claim_id: ClaimId) -> None:
    """Let a held claim be sent.

    Example: clearlane claim release C193N353RW88KF7KA1W
    """
    _show_state(session, session.client.claims.release(named_claim_number(session, claim_id)))


def cancel(session: ClientSession, claim_id: ClaimId, yes: Yes = False) -> None:
    """Take a claim back before a batch takes it: it is not sent, and its claim id is free.

    Example: clearlane claim cancel C193N353RW88KF7KA1W
    """
    number = named_claim_number(session, claim_id)
    confirm(f"Claim {number} is never sent; to bill its services, a new claim is needed.", yes=yes)
    _show_state(session, session.client.claims.cancel(number))


def void(
    session: ClientSession,
    claim_id: ClaimId,
    because: Annotated[str, typer.Option(help="The reason, kept sealed with the void.")],
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Cancel a claim that the payer has: a void (frequency 8) asks it to take back what it paid.

    A claim that was not sent yet is canceled with `clearlane claim cancel`.

    Examples: clearlane claim void SAMPLE-1 --because "billed twice" --dry-run;
    clearlane claim void C193N353RW88KF7KA1W --because "billed twice"
    """
    reason = _reason(because)
    number = named_claim_number(session, claim_id)
    if not dry_run:
        confirm(
            f"The payer of claim {number} takes back what it paid and closes the claim. A void cannot be undone.",
            yes=yes,
        )
    _show_correction(session, session.client.claims.void(number, reason=reason, dry_run=dry_run))


def resubmit(
    session: ClientSession,
    claim_id: ClaimId,
    because: Annotated[str, typer.Option(help="The reason, kept sealed with the claim.")] = "",
    dry_run: DryRun = False,
) -> None:
    """Send a claim again as it is, if the payer rejected it or never answered.

    Do so once what was wrong is resolved elsewhere, such as by an enrollment; otherwise correct the claim.

    Examples: clearlane claim resubmit SAMPLE-1 --dry-run;
    clearlane claim resubmit C193N353RW88KF7KA1W --because "enrolled now"
    """
    number = named_claim_number(session, claim_id)
    claims = session.client.claims
    _show_correction(session, claims.resubmit(number, reason=because.strip(), dry_run=dry_run))


def ask(session: ClientSession, claim_id: ClaimId) -> None:
    """Ask the payer about a claim that was sent (276), and show its answer (277).

    A payer that answers in real time is waited for, 55 seconds at most; otherwise the question goes out with the next file.

    Exit status: 0 the payer answered or will, 1 it gave no answer about the claim.

    Examples: clearlane claim ask SAMPLE-1; clearlane claim ask C193N353RW88KF7KA1W --json
    """
    asked = session.client.claims.ask(named_claim_number(session, claim_id))
    (show_json(asked.raw) if session.as_json else _show_inquiry(asked))
    exit_with(fine=asked.result not in WITHOUT_ANSWER)


def correct(
    session: ClientSession,
    claim_id: ClaimId,
    fields: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIELD=VALUE", help="Fields that change; FIELD= removes one."),
    ] = None,
    file: Annotated[
        str, typer.Option("--file", help="JSON object of fields, for lists; - for standard input.")
    ] = "",
    dry_run: DryRun = False,
) -> None:
    """Correct a claim: it goes out as a new claim, a replacement or a void, as its payer needs it.

    Name fields as findings do, without regard to case: F24_ClaimLines[0].F24F_Charges=150.00, and with =
    alone to remove one. Of a claim that came in an 837 file, name elements as findings name them: "2300/CLM02 (segment 20)=100.00", or
    2300/CLM02=100.00 if the claim has one such element.

    Examples: clearlane claim correct C193N353RW88KF7KA1W F01A_InsuredId=W123 --dry-run;
    clearlane claim correct SAMPLE-1 "F24_ClaimLines[0].F24F_Charges=150.00"
    """
    changed = _changed_fields(fields or [], file)
    number = named_claim_number(session, claim_id)
    _show_correction(session, session.client.claims.correct(number, changed, dry_run=dry_run))


def secondary(
    session: ClientSession,
    claim_id: ClaimId,
    insurance: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIELD=VALUE",
            help="What is known of the next insurance, such as payer_id=HHP20 member_id=W123.",
        ),
    ] = None,
    send: Annotated[bool, typer.Option("--send", help="Send the claim to the next payer.")] = False,
    although_forwarded: Annotated[
        bool,
        typer.Option(
            "--although-forwarded", help="Send it although the payer before forwarded the claim."
        ),
    ] = False,
    settled: Annotated[
        bool,
        typer.Option(
            "--settled",
            help="Record that what was sent is corrected or refunded, after the payer before changed its decision.",
        ),
    ] = False,
    correct: Annotated[
        bool,
        typer.Option(
            "--correct",
            help="Show what was sent with the decision in force, after the payer before changed it; with --send, send it.",
        ),
    ] = False,
) -> None:
    """Show the claim for the next payer, and what must be known before it can be sent; with --send, send it.

    It carries what the payer before paid and adjusted, by group and reason, of the claim and of its lines.

    clearlane claim list --tab next_payer lists the claims whose next payer is to be billed.

    Examples: clearlane claim secondary C193N353RW88KF7KA1W;
    clearlane claim secondary C193N353RW88KF7KA1W member_id=W123 --send
    """
    number = named_claim_number(session, claim_id)
    given: dict[str, Any] = _pairs(insurance or [])
    claims = session.client.claims
    found = claims.secondary(number)
    if settled:
        found = claims.bill_next_payer(number, {"settled": True})
    elif correct:
        found = claims.bill_next_payer(number, {"correct": True}, dry_run=not send)
    elif send:
        given |= {"although_forwarded": True} if although_forwarded else {}
        found = claims.bill_next_payer(number, given)
    elif given or found.state == "ready":
        found = claims.bill_next_payer(number, given, dry_run=True)
    if session.as_json:
        show_json(found.raw)
    else:
        _show_secondary(found)


def _show_secondary(found: "SecondaryInfo") -> None:
    if found.secondary_claim:
        show_text(f"{found.secondary_claim} bills the payer after that of {found.claim_number}.")
    else:
        show_text(f"The claim after {found.claim_number}: {found.state.replace('_', ' ')}.")
    if found.sent_as:
        show_text(f"With the decision in force. It goes out as a {found.sent_as} claim.")
    if found.forwarded_to:
        show_text(f"The payer forwarded the claim to {found.forwarded_to}.")
    if found.state == "to_correct" and not found.sent_as:
        show_text(
            "The payer before changed its decision afterward: --correct shows that claim with the decision in force, and "
            "--correct --send sends it. If it was corrected otherwise, or what was paid for it refunded, use --settled."
        )
    for sentence in found.not_by_itself:
        show_text(f"Not sent by itself: {sentence}", "  ", indent=4)
    for one in found.questions:
        show_text(f"{one.field}: {one.question}", "  ", indent=4)
    for link in found.chain:
        show_text(
            f"{link.place}: {link.claim_number}, payer {link.payer_id}: {link.label}, charge {link.charge:.2f}, "
            f"paid {link.paid:.2f}, patient {link.patient:.2f}",
            "  ",
            indent=4,
        )
    if found.patient_balance is not None:
        show_text(f"The patient owes {found.patient_balance:.2f}.")
    _show_findings(found.findings)
    if found.x12:
        typer.echo(found.x12.rstrip())


def send_anyway(
    session: ClientSession,
    claim_id: ClaimId,
    user: Annotated[
        str,
        typer.Option(help="The console user of the vendor who decides it, a biller or support."),
    ],
    because: Annotated[str, typer.Option(help="The reason, kept sealed with the claim.")],
) -> None:
    """Send a claim that was not accepted, in spite of our rules; never in spite of the X12 guide.

    Example: clearlane claim send-anyway SAMPLE-1 --user nora --because "the payer asked for it"
    """
    reason = _reason(because)
    number = named_claim_number(session, claim_id)
    _show_correction(session, session.client.claims.send_anyway(number, user=user, reason=reason))


def _reason(because: str) -> str:
    if not because.strip():
        usage_error("--because: Give the reason; it is kept with the claim.")
    return because.strip()


def _show_correction(session: ClientSession, result: "CorrectionResult") -> None:
    if session.as_json:
        show_json(result.raw)
        return
    if result.claim_number:
        show_text(f"{result.claim_number} takes over from {result.predecessor}.")
    # Each sentence once: what it takes over from is said above, and a finding may be the reason again.
    reason = result.reason.removeprefix(f"It takes over from {result.predecessor}. ")
    show_text(f"Sent as: {result.sent_as}. {reason}".rstrip())
    _show_findings(tuple(one for one in result.findings if one.message not in result.reason))
    if result.x12:
        typer.echo(result.x12.rstrip())


def show_over_service(claim_id: str, options: ServiceOptions) -> None:
    """Print a claim and its history, asked of the service."""
    with client_session(options) as session:
        claim = session.client.claims.get(named_claim_number(session, claim_id))
        (show_json(claim.raw) if session.as_json else _print_claim(claim))


def write_proof_over_service(claim_id: str, out: Path, options: ServiceOptions) -> None:
    """Write the proof that a claim was filed, asked of the service."""
    with client_session(options) as session:
        number = named_claim_number(session, claim_id)
        claims = session.client.claims
        content = claims.evidence(number) if is_evidence(out) else claims.proof(number)
    save_proof(out, content)


def write_form_over_service(
    claim_id: str, out: Path, sheet: SheetType, options: ServiceOptions
) -> None:
    """Write a claim on paper, asked of the service."""
    with client_session(options) as session:
        number = named_claim_number(session, claim_id)
        claims = session.client.claims
        form = claims.form(number)
        content = claims.form_pdf(number, sheet=sheet.value)
    left_out = [left_out_words(one.box, one.line, one.holds, one.why) for one in form.left_out]
    save_form(out, content, form.form, left_out)


def save_form(out: Path, content: bytes, form: str, left_out: Sequence[str]) -> None:
    """Write a claim on paper, and say what the form does not show of it."""
    with private_file(out) as file:
        file.write(content)
    typer.echo(f"Wrote {out} ({form}). Print it at 100 percent.")
    if left_out:
        show_text("The form does not show all of the claim:")
    for sentence in left_out:
        show_text(sentence, "  ", indent=4)


def left_out_words(box: str, line: int | None, holds: str, why: str) -> str:
    """Return a sentence about what a form does not show."""
    return f"Box {box}{f', line {line}' if line else ''} ({holds}): {why}"


def is_evidence(out: Path) -> bool:
    """Return whether a proof is to be written as its evidence alone, by the name of the file."""
    return out.suffix.lower() == EVIDENCE_SUFFIX


def save_proof(out: Path, content: bytes) -> None:
    """Write a proof, and say how to check it."""
    with private_file(out) as file:
        file.write(content)
    typer.echo(f"Wrote {out}. Check it with: clearlane proof verify {out}")


def check_over_service(file: str, options: ServiceOptions) -> None:
    """Print every finding that the service has about a document; nothing is stored."""
    document = read_json(file)
    with client_session(options) as session:
        result = session.client.claims.validate(document)
        if session.as_json:
            show_json(result.raw)
        else:
            for claim in result.claims:
                verdict = "would be accepted" if claim.accepted else "would not be accepted"
                show_text(f"{claim.vendor_claim_id or '(no id)'}: {verdict}")
                _show_findings(claim.findings)
        exit_with(fine=result.accepted == len(result.claims))


def search_payers_over_service(
    words: str, type: str | None, limit: int, options: ServiceOptions
) -> None:
    """Print the payers that match words best, asked of the service."""
    with client_session(options) as session:
        found = list(islice(session.client.payer_directory.search(words, type=type), limit))
        if session.as_json:
            show_json([payer.raw for payer in found])
        else:
            _show_payers(found)
        exit_with(fine=bool(found))


def named_claim_number(session: ClientSession, given: str) -> str:
    """Return the number of the claim that was named by its number or by the vendor's claim id.

    Under an id that is each site's newest accepted claim; if none was accepted, its newest. Claims for a next payer, which have the id
    of the claim before, are named by their number.
    """
    wanted = given.strip()
    if not wanted:
        choose_claim_number(wanted, (), usage_error)
    claims = session.client.claims.find(vendor_claim_id=wanted, site=session.site)
    found = list(islice(claims, CLAIMS_OF_ONE_ID_MAX))
    found.sort(key=lambda claim: (bool(claim.prior_payer_claim), claim.state in STOPPED_LABELS))
    newest: dict[str, str] = {}
    for claim in found:
        newest.setdefault(claim.site, claim.claim_number)
    if not newest and CLAIM_NUMBER.fullmatch(wanted):
        return wanted
    return choose_claim_number(wanted, list(newest.values()), usage_error)


def _changed_fields(pairs: list[str], file: str) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if file:
        content = read_json(file)
        if not isinstance(content, dict):
            usage_error(f"{file} holds no JSON object of fields.")
        changed |= content
    changed |= {name: value or None for name, value in _pairs(pairs).items()}
    if not changed:
        usage_error("Name the fields that change, as FIELD=VALUE or with --file.")
    return changed


def _pairs(pairs: list[str]) -> dict[str, str]:
    """Return the values of fields that are given as FIELD=VALUE."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            usage_error(f"{pair}: give a field as FIELD=VALUE.")
        found[name] = value
    return found


def _show_state(session: ClientSession, claim: "ClaimInfo") -> None:
    if session.as_json:
        show_json(claim.raw)
    else:
        typer.echo(f"{claim.claim_number} is {claim.state}.")


def _show_inquiry(asked: "ClaimInquiry") -> None:
    show_text(f"{asked.claim_number}: {asked.message}", indent=2)
    known = {
        "payer's number": asked.payer_control_number,
        "paid": None if asked.paid is None else f"{asked.paid:.2f}",
        "check": asked.check_number,
        "of": asked.payment_date,
    }
    if stated := [f"{name} {value}" for name, value in known.items() if value]:
        typer.echo("  " + "  ".join(stated))
    for one in asked.statuses:
        where = f" line {one.line}" if one.line else ""
        show_text(f"{one.code}{where}: {one.message} {one.todo}".rstrip(), "  ", indent=4)


def _show_findings(findings: "tuple[ClaimFindingInfo, ...]") -> None:
    for one in findings:
        show_text(f"{one.severity} {one.rule} {one.field}: {one.message}", "  ", indent=4)


def show_amounts(*amounts: float | Decimal | None) -> None:
    """Print the amounts of a claim; those that are not known before a payer decided are left out."""
    known = zip(("total", "payer", "patient", "adjustments"), amounts, strict=True)
    typer.echo("  " + "  ".join(f"{name} {one:.2f}" for name, one in known if one is not None))


def _print_claim(claim: "ClaimDetails") -> None:
    show_text(
        f"{claim.claim_number} ({claim.vendor_claim_id}): {claim.kind}, payer {claim.payer_id or 'unknown'}, "
        f"{', '.join(dict.fromkeys((claim.label, claim.state)))}",
        indent=2,
    )
    show_amounts(claim.charge, claim.paid, claim.patient, claim.adjustments)
    if claim.predecessor:
        typer.echo(f"  takes over from {claim.predecessor}")
    if claim.successor:
        typer.echo(f"  sent again as {claim.successor}")
    if claim.prior_payer_claim:
        typer.echo(f"  secondary of {claim.prior_payer_claim}")
    for number in claim.also_billed_as:
        typer.echo(f"  also billed to another payer as {number}")
    for entry in claim.history:
        typer.echo()
        show_text(entry.event, f"{cell_text(entry.happened_at)}  ")
        notes = [entry.file and f"file {entry.file}", *entry.sentences]
        notes += [entry.document_id and f"document {entry.document_id}"]
        for note in filter(None, notes):
            show_text(note, "    ")
        _show_findings(entry.findings)


def _show_payers(payers: "list[PayerInfo]") -> None:
    rows = [
        (one.payer_id, one.type, one.name, "yes" if one.accepts_claims else "no", one.era,
         "yes" if one.eligibility else "no")
        for one in payers
    ]  # fmt: skip
    columns = ("payer id", "type", TableColumn("name", wrap=True), "claims", "era", "eligibility")
    show_table(columns, rows, noun="payer")


VENDOR_COMMANDS = (hold, release, cancel, void, resubmit, ask, correct, secondary, send_anyway)
