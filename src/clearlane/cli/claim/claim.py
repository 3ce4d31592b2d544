"""``clearlane claim``: check and make claim documents without a server, show stored claims.

``check`` prints what the server would answer. Rules that need the payer directory, enrollments or earlier
claims cannot run offline; they are listed as not checked.
"""

import json
import sys
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from clearlane.claims.kinds import SUBMITTED_KINDS, ClaimKind
from clearlane.claims.printing.sheet_type import SHEET_WORDS, SheetType
from clearlane.cli.claim import claim_client, claim_listing, claim_service
from clearlane.cli.claim.claim_ids import ClaimId
from clearlane.cli.claim.claim_service import (
    check_over_service,
    show_over_service,
    write_form_over_service,
    write_proof_over_service,
)
from clearlane.cli.command.client_command import (
    CaFile,
    Key,
    ServiceOptions,
    Site,
    Url,
    vendor_command,
)
from clearlane.cli.command.client_command import Data as SandboxData
from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.kind_options import KindOption
from clearlane.cli.command.list_options import InstallationData
from clearlane.cli.command.output import show_error
from clearlane.kernel.clock import SystemClock

app = typer.Typer(
    help="Check, make, submit, follow and explain claims.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)

STANDARD = "-"
SAMPLES_MAX = 100_000
UNREADABLE = 2
OfKind = Annotated[
    KindOption | None,
    typer.Option("--kind", help="Kind of claim; by default the document's DocumentType."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Answer as JSON, in the shape of the server's.")
]


@app.callback()
def claim() -> None:
    """Check, make, submit, follow and explain claims."""


@app.command()
def check(
    file: Annotated[str, typer.Argument(help="The document (JSON); - for standard input.")],
    kind: OfKind = None,
    as_json: AsJson = False,
    service: Annotated[
        bool,
        typer.Option("--service", help="Ask a service: payers and earlier claims are checked too."),
    ] = False,
    data: SandboxData = None,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """Print what the server would answer to a document: offline, or with --service by the service itself.

    Exit status: 0 every claim would be accepted, 1 a claim would not be accepted, 2 the file cannot be read.

    Examples: clearlane claim check claims.json; clearlane claim sample | clearlane claim check -;
    clearlane claim check claims.json --service
    """
    if service:
        check_over_service(
            file,
            ServiceOptions(
                data=data, url=url, key=key, site=site, ca_file=ca_file, as_json=as_json
            ),
        )
    try:
        body = sys.stdin.buffer.read() if file == STANDARD else Path(file).read_bytes()
    except OSError as error:
        typer.echo(f"{file}: cannot be read: {error.strerror}", err=True)
        raise typer.Exit(UNREADABLE) from None
    from clearlane.claims.forms import form_of_kind
    from clearlane.cli.claim.claim_check import (
        check_document,
        form_named_in,
        print_json,
        print_table,
    )

    form = form_of_kind(kind) if kind else form_named_in(body)
    verdict = check_document(body, form, SystemClock().now().date())
    (print_json if as_json else print_table)(verdict)
    raise typer.Exit(verdict.status)


@app.command()
def sample(
    kind: Annotated[KindOption, typer.Option("--kind", help="Kind of claim.")] = SUBMITTED_KINDS[0],
    full: Annotated[
        bool, typer.Option("--full", help="Every field instead of the required ones.")
    ] = False,
    scenario: Annotated[
        str,
        typer.Option(
            "--scenario",
            help="The insured's id, which selects a test payer's response, such as 3003.",
        ),
    ] = "",
    claim_id: Annotated[
        str, typer.Option("--id", help="The claim's id (Svc_VendorClaimId); a new one by default.")
    ] = "",
    patient: Annotated[
        str,
        typer.Option(
            "--patient", help='The patient, as "Last, First" (default: chosen by the id).'
        ),
    ] = "",
    day: Annotated[
        date | None,
        day_option("--day", help="The day of service (default: chosen by the id)."),
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            "--count",
            min=1,
            max=SAMPLES_MAX,
            help="How many claims; their ids end with -1, -2 and so on.",
        ),
    ] = 1,
    bill_type: Annotated[
        str,
        typer.Option(
            "--bill-type", help="The type of bill of an institutional claim, such as 111."
        ),
    ] = "",
) -> None:
    """Print a valid document for the sandbox's test payers.

    Patient, insured's number, day and charge follow from the claim's id: the same id gives the same
    claim, and no two claims are duplicates to a payer.

    Examples: clearlane claim sample --kind dental --full; clearlane claim sample --scenario 3003;
    clearlane claim sample --kind institutional --bill-type 111;
    clearlane claim sample --id MANY --count 25 --patient "Arden, Rosa"
    """
    _check_scenario(scenario)
    _check_bill_type(bill_type, kind, full=full)
    now = SystemClock().now()
    # An id of its own each time: tomorrow's sample has another day and would not be the same claim.
    name = claim_id or f"SAMPLE-{now:%Y%m%d%H%M%S%f}"
    ids = [name] if count == 1 else [f"{name}-{number}" for number in range(1, count + 1)]
    from clearlane.claims.forms import form_of_kind
    from clearlane.claims.forms.sample_variation import SampleWish, sample_claim

    wanted = SampleWish(
        full=full,
        scenario=scenario,
        patient=_patient_name(patient),
        day=day,
        bill_type=bill_type,
    )
    form = form_of_kind(kind)
    try:
        claims = [sample_claim(form, one, wanted, today=now.date()) for one in ids]
    except ValueError as fault:
        show_error(str(fault))
        raise typer.Exit(UNREADABLE) from None
    document = {"DocumentType": form.document_type, "Claims": claims}
    typer.echo(json.dumps(document, indent=2))


def _check_bill_type(bill_type: str, kind: str, *, full: bool) -> None:
    """Refuse a type of bill where it would be ignored."""
    if bill_type and (kind != ClaimKind.INSTITUTIONAL or full):
        show_error("Give --bill-type with --kind institutional and without --full.")
        raise typer.Exit(UNREADABLE)


def _patient_name(text: str) -> tuple[str, str] | None:
    if not text:
        return None
    last, comma, first = (part.strip() for part in text.partition(","))
    if not (last and comma and first):
        typer.echo('Give the patient as "Last, First", such as --patient "Arden, Rosa".', err=True)
        raise typer.Exit(UNREADABLE)
    return last, first


def _check_scenario(scenario: str) -> None:
    """Refuse an id that selects no response, and list those that do."""
    if not scenario:
        return
    from clearlane.wiring.sandbox_runtime import claim_scenarios

    known = claim_scenarios()
    if scenario not in known:
        listed = "".join(f"\n  {id}  {title}" for id, title in known.items())
        show_error(f"There is no scenario {scenario}. The scenarios are:{listed}")
        raise typer.Exit(UNREADABLE)


@app.command()
def x12(claim_id: ClaimId, data: InstallationData = None) -> None:
    """Print a stored claim as the interchange a payer would get.

    Example: clearlane claim x12 C193N353RW88KF7KA1W | clearlane x12 describe -
    """
    from clearlane.cli.claim.claim_admin import print_x12

    print_x12(claim=claim_id, data=data)


@app.command()
def explain(claim_id: ClaimId, data: InstallationData = None, as_json: AsJson = False) -> None:
    """Show a stored claim field by field: form box, what was given, what is sent where, findings.

    Example: clearlane claim explain C193N353RW88KF7KA1W
    """
    from clearlane.cli.claim.claim_admin import print_explained

    print_explained(claim=claim_id, data=data, as_json=as_json)


@app.command()
def show(
    claim_id: ClaimId,
    data: InstallationData = None,
    as_json: AsJson = False,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """Show a claim's history: received, checked, sent, each acknowledgement, paid, with amounts.

    A vendor asks the service, with --url and --key or their variables; an operator reads the data directory.

    Examples: clearlane claim show SAMPLE-1; clearlane claim show C193N353RW88KF7KA1W
    """
    if url and data is None:
        show_over_service(
            claim_id,
            ServiceOptions(url=url, key=key, site=site, ca_file=ca_file, as_json=as_json),
        )
        return
    from clearlane.cli.claim.claim_show import print_history

    print_history(claim=claim_id, data=data, as_json=as_json)


@app.command()
def log(claim_id: ClaimId, data: InstallationData = None, as_json: AsJson = False) -> None:
    """Show everything recorded of a claim in order: its history, its files, and who read or changed it by which call.

    Needs the data directory. The id of a call leads to `clearlane call show`.

    Examples: clearlane claim log SAMPLE-1; clearlane claim log C193N353RW88KF7KA1W --json
    """
    from clearlane.cli.claim.claim_log import print_log

    print_log(claim=claim_id, data=data, as_json=as_json)


@app.command()
def pdf(
    claim_id: ClaimId,
    out: Annotated[Path, typer.Option(help="The file to write.")],
    data: InstallationData = None,
) -> None:
    """Write a claim's explanation of benefits as a PDF file: every claim payment, what is in force, what the patient owes.

    Example: clearlane claim pdf C193N353RW88KF7KA1W --out claim.pdf
    """
    from clearlane.cli.payment.pdf_files import write_claim_file

    write_claim_file(claim=claim_id, out=out, data=data)


@app.command()
def form(
    claim_id: ClaimId,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write, a PDF.")],
    sheet: Annotated[
        SheetType,
        typer.Option(help="; ".join(f"{one}: {words}" for one, words in SHEET_WORDS.items()) + "."),
    ] = SheetType.PREPRINTED,
    data: InstallationData = None,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """Write a claim on paper as a PDF file: CMS-1500 (02/12), ADA 2024 or UB-04, by the kind of the claim.

    Names what does not fit the form. A vendor asks the service, with --url and --key or their variables; an operator reads the
    data directory.

    Examples: clearlane claim form SAMPLE-1 -o claim.pdf; clearlane claim form SAMPLE-1 --sheet plain -o sheet.pdf
    """
    if url and data is None:
        options = ServiceOptions(url=url, key=key, site=site, ca_file=ca_file)
        write_form_over_service(claim_id, out, sheet, options)
        return
    from clearlane.cli.claim.form_files import write_form

    write_form(claim=claim_id, out=out, sheet=sheet, data=data)


@app.command()
def proof(
    claim_id: ClaimId,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The file to write: a PDF, or with .json the evidence alone."
        ),
    ],
    data: InstallationData = None,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """Write the proof that a claim was filed: the payer's acknowledgement, what was sent, and the signed evidence.

    A vendor asks the service, with --url and --key or their variables; an operator reads the data directory.

    Examples: clearlane claim proof C193N353RW88KF7KA1W -o proof.pdf; clearlane claim proof SAMPLE-1 -o proof.json
    """
    if url and data is None:
        options = ServiceOptions(url=url, key=key, site=site, ca_file=ca_file)
        write_proof_over_service(claim_id, out, options)
        return
    from clearlane.cli.claim.proof_files import write_proof

    write_proof(claim=claim_id, out=out, data=data)


for _command in (*claim_client.VENDOR_COMMANDS, *claim_service.VENDOR_COMMANDS):
    vendor_command(app)(_command)
app.command("list")(claim_listing.list_claims)
app.command("find")(claim_listing.find_claims)
