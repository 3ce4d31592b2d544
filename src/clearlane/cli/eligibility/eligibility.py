"""``clearlane eligibility check`` and ``show``: a patient's benefits as a table, and a stored request.

``check`` calls the running service as a vendor would; ``show`` reads the installation's database.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearlane.cli.command.client_command import ClientSession, exit_with, vendor_command
from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.output import show_facts, show_json, show_table, show_text
from clearlane.cli.command.storage_command import Data, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.cli.eligibility.eligibility_answer import response_tables
from clearlane.cli.eligibility.eligibility_listing import list_questions
from clearlane.eligibility import services
from clearlane.eligibility.benefit_answer import BenefitAnswer
from clearlane.eligibility.benefit_sheet import BenefitSheet, make_sheet
from clearlane.eligibility.benefit_table import PatientTable, patient_tables
from clearlane.eligibility.model import Inquiry

if TYPE_CHECKING:
    from clearlane.client import EligibilityAnswer
    from clearlane.kernel.ids import VendorId
    from clearlane.pipeline.inquiry.request_answers import InquiryRequestDetails
    from clearlane.wiring import Installation

app = typer.Typer(
    help="Eligibility and benefits of patients.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

COMPLETE = "ResultsComplete"
SANDBOX_NPI = "1234567893"
# Which column goes first if a terminal is narrow; others stay.
DROPS = {
    "Level": 5, "Deductible": 4, "Deductible used": 7, "Out of pocket": 6, "Out of pocket used": 7,
    "Out of pocket left": 1,
}  # fmt: skip
WORDS = frozenset({"Network", "Level"})
"""Columns of words; all others are figures."""

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


class Relationship(StrEnum):
    """How a dependent is related to the subscriber."""

    SPOUSE = "Spouse"
    CHILD = "Child"
    OTHER = "Other"


@vendor_command(app)
def check(
    session: ClientSession,
    payer: Annotated[str, typer.Option(help="Payer id.")],
    member: Annotated[str, typer.Option(help="Member id of the subscriber.")],
    first: Annotated[str, typer.Option(help="First name of the subscriber.")],
    last: Annotated[str, typer.Option(help="Last name of the subscriber.")],
    birth: Annotated[
        date,
        day_option(help="Birth date of the subscriber."),
    ],
    npi: Annotated[str, typer.Option(help="NPI of the provider who asks.")] = SANDBOX_NPI,
    provider: Annotated[str, typer.Option(help="Name of that provider.")] = "FERNHILL PRACTICE",
    gender: Annotated[str, typer.Option(help="Male or Female.")] = "",
    service: Annotated[
        list[str] | None,
        typer.Option(help="Service type asked about, by name or code; repeat for several."),
    ] = None,
    dependent_first: Annotated[
        str, typer.Option(help="First name, to ask about a dependent.")
    ] = "",
    dependent_last: Annotated[
        str, typer.Option(help="Last name (default: the subscriber's).")
    ] = "",
    dependent_birth: Annotated[
        date | None,
        day_option(help="Birth date of the dependent."),
    ] = None,
    relationship: Annotated[
        Relationship, typer.Option(help="Of the dependent.")
    ] = Relationship.CHILD,
) -> None:
    """Ask a payer about one patient's benefits and print them as a table.

    Exit status: 0 the payer answered, 1 it refused, did not answer in time or could not be asked, 2 and 3 as
    for every call of the service.

    Example: clearlane eligibility check --payer TST01 --member 2001 --first ROSA --last ARDEN --birth 1980-01-01
    """
    from clearlane.client import eligibility_request

    dependents: list[Any] = []
    if dependent_first:
        dependents = [
            {
                "CommonName": dependent_last or last,
                "FirstName": dependent_first,
                "BirthDate": dependent_birth.isoformat() if dependent_birth else None,
                "Relationship": relationship.value,
                "RequestedBenefits": [{"Type": service}] if service else [],
            }
        ]
    request = eligibility_request(
        payer_id=payer,
        npi=npi,
        provider=provider,
        member_id=member,
        last_name=last,
        first_name=first,
        birth_date=birth,
        gender=gender,
        benefits=() if dependents else service or (),
        dependents=dependents,
        test=_is_test(session, payer),
    )
    answer = session.client.submit_eligibility(request)
    tables = list(response_tables(answer.raw))
    if session.as_json:
        show_json(answer.raw)
    else:
        codes = [services.code("service_types", one) or one for one in service or ()]
        _show_response(answer, tables, codes)
    refused = answer.ErrorResponses or any(one.errors and not one.rows for one in tables)
    exit_with(fine=answer.Status == COMPLETE and not refused)


app.command("list")(list_questions)


@app.command()
def pdf(
    eligibility_request_id: Annotated[
        int, typer.Argument(metavar="REQUEST_ID", help="The RequestId of the submission.")
    ],
    out: Annotated[Path, typer.Option(help="The file to write; only you may read it.")],
    data: Data = None,
    vendor: Annotated[
        str, typer.Option(help="Vendor key, if two vendors have a request of this number.")
    ] = "",
) -> None:
    """Write the benefits of a stored request as a PDF file.

    Example: clearlane eligibility pdf 412345678 --out benefits.pdf
    """
    from clearlane.cli.command.operator_command import run_in_installation
    from clearlane.cli.command.private_file import private_file
    from clearlane.pipeline.inquiry.benefits_file import benefits_heading
    from clearlane.pipeline.query.pdf_process import PdfRefused, make_pdf_content
    from clearlane.wiring import Installation

    async def work(installation: Installation) -> bytes:
        found = await _load(installation, eligibility_request_id, vendor)
        sheets = [
            make_sheet(table, services)
            for one, services in _answered(found)
            for table in patient_tables([one] if one else ())
        ]
        heading = benefits_heading(eligibility_request_id, sheets, list(_faults(found)))
        return await make_pdf_content(heading, at=installation.clock.now())

    try:
        content = run_in_installation(data, work)
    except PdfRefused as why:
        refuse(str(why))
    with private_file(out) as file:
        file.write(content)
    typer.echo(f"Wrote {out}.")


@app.command()
def show(
    eligibility_request_id: Annotated[
        int, typer.Argument(metavar="REQUEST_ID", help="The RequestId of the submission.")
    ],
    data: Data = None,
    vendor: Annotated[
        str, typer.Option(help="Vendor key, if two vendors have a request of this number.")
    ] = "",
    as_json: AsJson = False,
    x12: Annotated[bool, typer.Option("--x12", help="The payers' files instead.")] = False,
) -> None:
    """Show a stored request: its inquiries, the payers' answers, and the benefits.

    Example: clearlane eligibility show 412345678 --x12
    """
    from clearlane.cli.command.operator_command import run_in_installation
    from clearlane.wiring import Installation

    async def work(installation: Installation) -> "InquiryRequestDetails[BenefitAnswer]":
        return await _load(installation, eligibility_request_id, vendor)

    async def work_in_json(installation: Installation) -> dict[str, Any]:
        return await _load_json(installation, eligibility_request_id, vendor)

    if as_json and not x12:
        show_json(run_in_installation(data, work_in_json))
        return
    found = run_in_installation(data, work)
    if x12:
        for inquiry in found.inquiries:
            sys.stdout.buffer.write(_lines(inquiry.result.x12))
        sys.stdout.flush()
    else:
        _show_inquiries(found)
        _show_request(found)


async def _load(
    installation: "Installation", number: int, vendor: str
) -> "InquiryRequestDetails[BenefitAnswer]":
    from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
    from clearlane.pipeline.inquiry.request_answers import load_request

    id, _ = await _find_request(installation, number, vendor)
    found = await load_request(
        installation.database, installation.vault, ELIGIBILITY, id, actor=operator()
    )
    if found is None:
        refuse(f"There is no eligibility request {number}.")
    return found


async def _load_json(installation: "Installation", number: int, vendor: str) -> dict[str, Any]:
    """Return a request as v1 has it, and how far the question to each payer is."""
    from clearlane.accounts.model import vendor_scopes
    from clearlane.pipeline.inquiry.eligibility_details import find_details

    _, owner = await _find_request(installation, number, vendor)
    sites = [one for one in installation.accounts.sites if one.vendor_id == owner]
    [scope] = vendor_scopes(sites)
    found = await find_details(installation.work_context, scope, number, actor=operator())
    if found is None:
        refuse(f"There is no eligibility request {number}.")
    asked = await _load(installation, number, vendor)
    return {**found, "inquiries": _inquiry_json(asked)}


async def _find_request(
    installation: "Installation", number: int, vendor_key: str
) -> tuple[int, "VendorId"]:
    """Return id and vendor of the request with this number: of the vendor, or the only one."""
    from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
    from clearlane.pipeline.inquiry.request_answers import find_numbered

    keys = {one.id: one.key for one in installation.accounts.vendors}
    found = await find_numbered(installation.database, ELIGIBILITY, number)
    if vendor_key:
        found = [one for one in found if keys[one[1]].casefold() == vendor_key.casefold()]
    if not found:
        refuse(f"There is no eligibility request {number}.")
    if len(found) > 1:
        named = ", ".join(sorted(keys[vendor_id] for _, vendor_id in found))
        refuse(f"Several vendors have a request {number}: name one with --vendor ({named}).")
    return found[0]


def _is_test(session: ClientSession, payer: str) -> bool:
    """Return whether the payer is a test payer of the sandbox."""
    from clearlane.client import ClaimKind

    listed = [one for kind in ClaimKind for one in session.client.test_payers(kind)]
    names = {name.casefold() for one in listed for name in (one.PayerId, one.SvcPayerId)}
    return payer.casefold() in names


def _show_inquiries(found: "InquiryRequestDetails[BenefitAnswer]") -> None:
    from clearlane.kernel.clock import from_micros

    show_table(
        ("patient", "payer", "state", "answer", TableColumn("attempts", drop=1), "next"),
        (
            (
                inquiry.pending.number,
                inquiry.pending.payer_id,
                inquiry.state,
                inquiry.answer,
                inquiry.pending.attempts,
                from_micros(inquiry.next_at) if inquiry.state == "Open" else "",
            )
            for inquiry in found.inquiries
        ),
    )
    typer.echo()


def _show_response(
    answer: "EligibilityAnswer", tables: Iterable[PatientTable], asked: Sequence[str]
) -> None:
    """Print what the service answered; ``asked`` are the service types asked about, by code."""
    typer.echo(f"Request {answer.RequestId}: {answer.Status}")
    for result in answer.ValidationResults:
        show_text(f"Not asked: {result['Location']}: {result['Message']}", indent=2)
    for error in answer.ErrorResponses:
        words = "; ".join(f"{one['Message']} ({one['Code']})" for one in error["Errors"])
        show_text(f"{error['Type']}: {words}", indent=2)
    for table in tables:
        _show_patient(table, asked)


def _show_request(found: "InquiryRequestDetails[BenefitAnswer]") -> None:
    """Print what is stored."""
    typer.echo(f"Request {found.request_number}: {found.status}")
    for result in found.results:
        show_text(f"Not asked: {result.location}: {result.message}", indent=2)
    results = [inquiry.result for inquiry in found.inquiries]
    for error in (result.error for result in results if result.error):
        words = "; ".join(f"{one.message} ({one.code})" for one in error.errors)
        show_text(f"{error.kind}: {words}", indent=2)
        for said in (one.payer_text for one in error.errors if one.payer_text):
            show_text(f"The payer's service said: {said}", indent=4)
    for answer, codes in _answered(found):
        for table in patient_tables([answer] if answer else ()):
            _show_patient(table, codes)


def _answered(
    found: "InquiryRequestDetails[BenefitAnswer]",
) -> Iterator[tuple[BenefitAnswer | None, Sequence[str]]]:
    """Yield the answer to each inquiry, and the service types it asked about."""
    for one in found.inquiries:
        inquiry = one.pending.inquiry
        yield one.result.answer, inquiry.services if isinstance(inquiry, Inquiry) else ()


def _faults(found: "InquiryRequestDetails[BenefitAnswer]") -> Iterator[str]:
    """Yield why a payer was not asked, or gave no answer."""
    yield from (one.message for one in found.results)
    for error in (one.result.error for one in found.inquiries if one.result.error):
        yield from (one.message for one in error.errors)


def _inquiry_json(found: "InquiryRequestDetails[BenefitAnswer]") -> list[dict[str, Any]]:
    """Return how far the question to each payer is; what came for it is in v1's model."""
    return [
        {
            "number": inquiry.pending.number,
            "payer_id": inquiry.pending.payer_id,
            "state": inquiry.state,
            "attempts": inquiry.pending.attempts,
        }
        for inquiry in found.inquiries
    ]


def _show_patient(table: PatientTable, asked: Sequence[str] = ()) -> None:
    sheet = make_sheet(table, asked)
    typer.echo()
    facts = [("patient", table.patient), ("member", table.member_id), ("payer", table.payer)]
    facts += [("coverage", sheet.verdict.value)]
    facts += [(name.lower(), words) for name, words in sheet.facts]
    facts += [("left", f"{one.name}: {one.text}") for one in sheet.balances]
    facts += [("refused", words) for words in _refusals(table)]
    facts += [("note", note) for note in table.notes]
    show_facts(facts)
    if sheet.groups:
        typer.echo()
        columns = [
            TableColumn(name.lower(), right=name not in WORDS, drop=DROPS.get(name, 0))
            for name in sheet.columns
        ]
        show_table((TableColumn("service", wrap=True), *columns), _rows(sheet), noun="benefit")
    for coverage, names in sheet.without_figures:
        show_text(f"{coverage}: {'; '.join(names)}.", indent=2)


def _rows(sheet: BenefitSheet) -> Iterator[tuple[str, ...]]:
    for group in sheet.groups:
        name = f"{group.service} ({group.coverage.lower()})" if group.coverage else group.service
        for row in group.rows:
            yield (name, *row)


def _refusals(table: PatientTable) -> Iterator[str]:
    for error in table.errors:
        more = f" {error.action}." if error.action else ""
        yield f"{error.code} {error.message}.{more}"


def _lines(x12: bytes) -> bytes:
    """Return a file with one segment a line; a file with line ends stays as it is."""
    end = x12[105:106]
    return x12 if b"\n" in x12[:200] else x12.replace(end, end + b"\n")
