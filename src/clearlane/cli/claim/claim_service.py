"""``clearlane claim`` over Clearlane's own API: hold, release, cancel, correct, send anyway, show, and check by the service."""

import re
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from clearlane.cli.command.table import TableColumn

if TYPE_CHECKING:
    from clearlane.client import (
        ClaimDetails,
        ClaimFindingInfo,
        ClaimInfo,
        CorrectionResult,
        PayerInfo,
    )

CLAIM_NUMBER = re.compile(r"C[0-9A-Z]{18}")
CLAIMS_OF_ONE_ID_MAX = 200
"""How many claims under one vendor's claim id are looked through for the newest of each site."""


def hold(session: ClientSession, claim_id: ClaimId) -> None:
    """Keep a claim back until it is released; only before a batch takes it.

    Examples: clearlane claim hold SAMPLE-1; clearlane claim hold C193N353RW88KF7KA1W
    """
    _show_state(session, session.client.claims.hold(_claim_number(session, claim_id)))


def release(session: ClientSession, claim_id: ClaimId) -> None:
    """Let a held claim be sent.

    Example: clearlane claim release C193N353RW88KF7KA1W
    """
    _show_state(session, session.client.claims.release(_claim_number(session, claim_id)))


def cancel(session: ClientSession, claim_id: ClaimId, yes: Yes = False) -> None:
    """Take a claim back before a batch takes it: it is not sent, and its claim id is free.

    Example: clearlane claim cancel C193N353RW88KF7KA1W
    """
    number = _claim_number(session, claim_id)
    confirm(f"Claim {number} is never sent; to bill its services, a new claim is needed.", yes=yes)
    _show_state(session, session.client.claims.cancel(number))


def correct(
    session: ClientSession,
    claim_id: ClaimId,
    fields: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIELD=VALUE]...", help="Fields that change; FIELD= removes one."),
    ] = None,
    file: Annotated[
        str, typer.Option("--file", help="JSON object of fields, for lists; - for standard input.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")
    ] = False,
) -> None:
    """Correct a claim: it goes out as a new claim, a replacement or a void, as its payer needs it.

    Of a claim that came in an 837 file, name elements as findings name them: "2300/CLM02 (segment 20)=100.00".

    Example: clearlane claim correct C193N353RW88KF7KA1W F01A_InsuredId=W123 --dry-run
    """
    changed = _changed_fields(fields or [], file)
    number = _claim_number(session, claim_id)
    _show_correction(session, session.client.claims.correct(number, changed, dry_run=dry_run))


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
    if not because.strip():
        usage_error("--because: Give the reason; it is kept with the claim.")
    number = _claim_number(session, claim_id)
    _show_correction(session, session.client.claims.send_anyway(number, user=user, reason=because))


def _show_correction(session: ClientSession, result: "CorrectionResult") -> None:
    if session.as_json:
        show_json(result.raw)
        return
    if result.claim_number:
        show_text(f"{result.claim_number} takes over from {result.predecessor}.")
    show_text(f"Sent as: {result.sent_as}. {result.reason}".rstrip())
    _show_findings(result.findings)
    if result.x12:
        typer.echo(result.x12.rstrip())


def show_over_service(claim_id: str, options: ServiceOptions) -> None:
    """Print a claim and its history, asked of the service."""
    with client_session(options) as session:
        claim = session.client.claims.get(_claim_number(session, claim_id))
        (show_json(claim.raw) if session.as_json else _print_claim(claim))


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


def _claim_number(session: ClientSession, given: str) -> str:
    """Return the number of the claim that was named by its number or by the vendor's claim id.

    Under an id that is each site's newest accepted claim; if none was accepted, its newest.
    """
    wanted = given.strip()
    if not wanted:
        choose_claim_number(wanted, (), usage_error)
    claims = session.client.claims.find(vendor_claim_id=wanted, site=session.site)
    found = list(islice(claims, CLAIMS_OF_ONE_ID_MAX))
    found.sort(key=lambda claim: claim.state == "not_accepted")
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
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            usage_error(f"{pair}: give a field as FIELD=VALUE.")
        changed[name] = value or None
    if not changed:
        usage_error("Name the fields that change, as FIELD=VALUE or with --file.")
    return changed


def _show_state(session: ClientSession, claim: "ClaimInfo") -> None:
    if session.as_json:
        show_json(claim.raw)
    else:
        typer.echo(f"{claim.claim_number} is {claim.state}.")


def _show_findings(findings: "tuple[ClaimFindingInfo, ...]") -> None:
    for one in findings:
        show_text(f"{one.severity} {one.rule} {one.field}: {one.message}", "  ", indent=4)


def show_amounts(*amounts: float | Decimal | None) -> None:
    """Print the amounts of a claim; those that are not known before a payer decided are left out."""
    known = zip(("total", "payer", "patient", "adjustments"), amounts, strict=True)
    typer.echo("  " + "  ".join(f"{name} {one:.2f}" for name, one in known if one is not None))


def _print_claim(claim: "ClaimDetails") -> None:
    show_text(
        f"{claim.claim_number} ({claim.vendor_claim_id}): {claim.kind}, payer {claim.payer_id}, "
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


VENDOR_COMMANDS = (hold, release, cancel, correct, send_anyway)
