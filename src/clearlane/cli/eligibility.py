"""``clearlane eligibility check`` and ``show``: a patient's benefits as a table, and what became of a request.

``check`` asks the running service as a vendor would; ``show`` looks into the installation's database.
"""

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from clearlane.cli.client_command import Caller, ends_with, vendor_command
from clearlane.cli.output import printable, show_facts, show_json, show_table
from clearlane.cli.storage_command import Data, operator, refuse
from clearlane.eligibility.answer import EligibilityResponse
from clearlane.eligibility.benefit_table import PatientTable, Purse, Row, tables, words

if TYPE_CHECKING:
    from clearlane.pipeline.eligibility.eligibility_results import Recalled

app = typer.Typer(
    help="Benefits of patients, asked of payers.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

DAY = "%Y-%m-%d"
COMPLETE = "ResultsComplete"
SANDBOX_NPI = "1234567893"
HEADER = (
    "service", "network", "level", "coverage", "copay", "coinsurance",
    "deductible", "used", "remaining", "out of pocket", "used", "remaining",
)  # fmt: skip

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


class Relationship(StrEnum):
    """How a dependent is related to the subscriber."""

    SPOUSE = "Spouse"
    CHILD = "Child"
    OTHER = "Other"


@vendor_command(app)
def check(
    caller: Caller,
    payer: Annotated[str, typer.Option(help="Payer id.")],
    member: Annotated[str, typer.Option(help="Member id of the subscriber.")],
    first: Annotated[str, typer.Option(help="First name of the subscriber.")],
    last: Annotated[str, typer.Option(help="Last name of the subscriber.")],
    birth: Annotated[datetime, typer.Option(formats=[DAY], help="Birth date of the subscriber.")],
    npi: Annotated[str, typer.Option(help="NPI of the provider who asks.")] = SANDBOX_NPI,
    provider: Annotated[str, typer.Option(help="Name of that provider.")] = "FERNHILL PRACTICE",
    gender: Annotated[str, typer.Option(help="Male or Female.")] = "",
    service: Annotated[
        list[str] | None,
        typer.Option(help="Service type asked about, by name or code; give it again for more."),
    ] = None,
    dependent_first: Annotated[
        str, typer.Option(help="First name, to ask about a dependent.")
    ] = "",
    dependent_last: Annotated[
        str, typer.Option(help="Last name; the subscriber's without it.")
    ] = "",
    dependent_birth: Annotated[
        datetime | None, typer.Option(formats=[DAY], help="Birth date of the dependent.")
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
                "BirthDate": f"{dependent_birth:{DAY}}" if dependent_birth else None,
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
        birth_date=birth.date(),
        gender=gender,
        benefits=() if dependents else service or (),
        dependents=dependents,
        test=_is_test(caller, payer),
    )
    answer = caller.client.submit_eligibility(request)
    told = msgspec.convert(answer.raw, EligibilityResponse)
    if caller.as_json:
        show_json(answer.raw)
    else:
        _show(told)
    ends_with(fine=told.Status == COMPLETE and not _refused(told))


@app.command()
def show(
    request_id: Annotated[int, typer.Argument(help="The RequestId of the submission.")],
    data: Data = None,
    as_json: AsJson = False,
    x12: Annotated[bool, typer.Option("--x12", help="The payers' files instead.")] = False,
) -> None:
    """Show what became of a request: who was asked, who answered, and the benefits.

    Example: clearlane eligibility show 886431985664123 --x12
    """
    from clearlane.cli.operator_command import serve
    from clearlane.pipeline.eligibility.eligibility_results import recall
    from clearlane.wiring import House

    async def work(house: House) -> "Recalled":
        found = await recall(house.database, house.vault, request_id, actor=operator())
        if found is None:
            refuse(f"There is no eligibility request {request_id}.")
        return found

    found = serve(data, work)
    if x12:
        for inquiry in found.inquiries:
            sys.stdout.buffer.write(_lines(inquiry.x12))
        sys.stdout.flush()
    elif as_json:
        show_json(msgspec.json.decode(found.body, type=dict[str, Any]))
    else:
        _show_inquiries(found)
        _show(msgspec.json.decode(found.body, type=EligibilityResponse))


def _is_test(caller: Caller, payer: str) -> bool:
    """Whether the payer is one of the sandbox's."""
    from clearlane.client import Kind

    listed = [one for kind in Kind for one in caller.client.test_payers(kind)]
    names = {name.casefold() for one in listed for name in (one.PayerId, one.SvcPayerId)}
    return payer.casefold() in names


def _refused(told: EligibilityResponse) -> bool:
    return bool(told.ErrorResponses) or any(
        table.errors and not table.rows for table in tables(told.Responses)
    )


def _show_inquiries(found: "Recalled") -> None:
    from clearlane.kernel.clock import moment

    show_table(
        ("patient", "payer", "state", "answer", "attempts", "next"),
        (
            (
                inquiry.question.number,
                inquiry.question.payer_id,
                inquiry.state,
                inquiry.answer,
                inquiry.question.attempts,
                f"{moment(inquiry.next_at):%Y-%m-%d %H:%M:%S}Z" if inquiry.state == "Open" else "",
            )
            for inquiry in found.inquiries
        ),
    )
    typer.echo()


def _show(told: EligibilityResponse) -> None:
    typer.echo(f"Request {told.RequestId}: {told.Status}")
    for result in told.ValidationResults:
        typer.echo(printable(f"Not asked: {result.Location}: {result.Message}"))
    for error in told.ErrorResponses:
        words = "; ".join(f"{one.Message} ({one.Code})" for one in error.Errors)
        typer.echo(printable(f"{error.Type}: {words}"))
    for table in tables(told.Responses):
        _show_patient(table)


def _show_patient(table: PatientTable) -> None:
    typer.echo()
    facts = [("patient", table.patient), ("member", table.member_id), ("payer", table.payer)]
    facts += [("plan", plan) for plan in table.plans]
    facts += [("refused", words) for words in _troubles(table)]
    facts += [("note", note) for note in table.notes]
    show_facts(facts)
    if table.rows:
        typer.echo()
        show_table(HEADER, map(_cells, table.rows))


def _troubles(table: PatientTable) -> Iterator[str]:
    for error in table.errors:
        action = words("follow_up_actions", error.FollowUpAction or "")
        more = f" {action}." if action else ""
        yield f"{error.Code} {error.Message}.{more}"


def _cells(row: Row) -> tuple[object, ...]:
    share = "" if row.coinsurance is None else f"{row.coinsurance:.0%}"
    return (
        row.service, row.network, row.level, row.coverage, _amount(row.copay), share,
        *_purse(row.deductible), *_purse(row.out_of_pocket),
    )  # fmt: skip


def _purse(purse: Purse) -> Iterable[str]:
    return map(_amount, (purse.total, purse.used, purse.remaining))


def _amount(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount:,.2f}"


def _lines(x12: bytes) -> bytes:
    """A file with a segment a line; one with line ends of its own stays as it is."""
    end = x12[105:106]
    return x12 if b"\n" in x12[:200] else x12.replace(end, end + b"\n")
