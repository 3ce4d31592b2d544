"""``clearlane payment``: checks and transfers from payers, what they say of each claim, and what matches none."""

import re
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from clearlane.cli.command.chosen_site import find_site
from clearlane.cli.command.filter_options import filter_options, read_options
from clearlane.cli.command.list_options import refuse_both
from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    run_in_installation,
)
from clearlane.cli.command.output import show_limited, show_message, show_text
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import MISUSED, Data, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.cli.payment.payment_output import claim_payment_lines, payment_lines
from clearlane.kernel.ids import Scope
from clearlane.kernel.list_filter import FilterType, ListFilter
from clearlane.payments import as_json as as_json_objects
from clearlane.payments import wording
from clearlane.payments.deposit import DepositState
from clearlane.payments.payment import ClaimPayment, Payment
from clearlane.payments.payment_csv import payment_csv_by_page
from clearlane.pipeline.query import payments
from clearlane.pipeline.query.payment_list import list_payments
from clearlane.pipeline.query.payments import PaymentDetails
from clearlane.store.payments.payment_query import (
    FILTERS,
    PAYMENTS_PER_PAGE,
    PaymentQuery,
)
from clearlane.wiring import Installation

app = typer.Typer(
    no_args_is_help=True,
    help="Payments (835): list, show, export, assign, deposit, settle, payee, pdf.",
    add_completion=False,
)

PaymentId = Annotated[str, typer.Argument(metavar="PAYMENT_ID", help="As `payment list` shows it.")]
NO_PAYMENT = "There is no payment {id}. `clearlane payment list` shows them."
_CLAIM_PAYMENT = re.compile(r"(?:[A-Z0-9]+-)?([1-9][0-9]{0,8})", re.ASCII)


@app.command("list")
@filter_options(FILTERS.values())
@in_installation()
async def list_(
    installation: Installation,
    where: dict[str, Any],
    *,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of rows (default: all).")
    ] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="CSV for a spreadsheet, with every fact.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List payments, newest first.

    posted: recorded, nothing to do. needs_review: it does not balance, has claims that match none of ours, or resembles
    another payment. duplicate: it came before and does not count.

    Example: clearlane payment list --unmatched --from 2026-12-01 --data .data
    """
    refuse_both(as_csv=as_csv, as_json=as_json)
    listed = [one async for one in _all_payments(installation, where, limit and limit + 1)]
    whole = sum(one.amount or 0 for one in listed[:limit] if not one.duplicate_of)
    row_of = as_json_objects.own_payment_object if as_json else _flat_row
    rows = [row_of(one) for one in listed]
    if not as_json:
        rows = [
            {**row, "deposited": _deposited(one)} for row, one in zip(rows, listed, strict=True)
        ]
    show_limited(
        COLUMNS,
        rows,
        limit=limit,
        names=_flat_row(Payment()),
        as_csv=as_csv,
        as_json=as_json,
        noun="payment",
        hint="They come in 835 files of payers; options that narrow the list may be too narrow.",
        total=f"{wording.money(whole)} in all",
    )


@app.command()
@in_installation()
async def show(
    installation: Installation,
    payment_id: PaymentId,
    candidates: Annotated[
        bool,
        typer.Option(
            "--candidates", help="Also show claims that an unmatched one may mean. Audited."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a payment as a person reads it: the equation, its claims, and what was changed as a whole. Audited.

    Example: clearlane payment show P0KT2F8QJ3M5N7R9V1W --data .data
    """
    details = await _load(installation, payment_id)
    pages = payments.claim_payment_pages(
        installation.database, installation.vault, details.claim_payments_of
    )
    if as_json:
        async for piece in _json_pieces(details, pages):
            typer.echo(piece, nl=False)
        return
    _echo(payment_lines(details.payment, details.adjustments, ()))
    async for page in pages:
        for one in page:
            _echo(["", *claim_payment_lines(one)])
            if candidates and not one.claim_number:
                await _show_candidates(installation, payment_id, one.number)


@app.command()
def export(
    payment_id: PaymentId,
    x12: Annotated[bool, typer.Option("--x12", help="The 835 as received. The default.")] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="One row per service line, for a spreadsheet.")
    ] = False,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option(help="The file to write (default: standard output).")
    ] = None,
    data: Data = None,
) -> None:
    """Export a payment: its transaction set as received, a table, or JSON. Audited.

    Examples: clearlane payment export ID --x12 --out payment.835; clearlane payment export ID --csv --out payment.csv
    """
    if x12 + as_csv + as_json > 1:
        refuse("Give one of --x12, --csv and --json.", MISUSED)

    async def work(installation: Installation) -> None:
        if not as_csv and not as_json:
            content = await payments.read_x12(
                installation.database, installation.vault, payment_id, actor=operator()
            )
            if content is None:
                refuse(NO_PAYMENT.format(id=payment_id))
            _output(out, content)
            return
        details = await _load(installation, payment_id)
        pages = payments.claim_payment_pages(
            installation.database, installation.vault, details.claim_payments_of
        )
        by_page = payment_csv_by_page(details.payment, details.adjustments, pages)
        await _output_pieces(out, by_page if as_csv else _json_pieces(details, pages))

    with progress("Writing the payment"):
        run_in_installation(data, work)
    if out is not None:
        typer.echo(f"Wrote {out}.", err=True)


@app.command()
@in_installation(uses="pipeline.operator.payment_admin")
async def assign(
    installation: Installation,
    payment_id: PaymentId,
    claim_payment: Annotated[
        str, typer.Argument(metavar="CLAIM_PAYMENT", help="Its id, or its number in the payment.")
    ],
    claim_number: Annotated[
        str | None, typer.Argument(metavar="CLAIM_NUMBER", help="Our number of the claim.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take an assignment back.")] = False,
) -> None:
    """Assign what a payment says about an unknown claim to a claim that was sent to this payer. Audited.

    Examples: clearlane payment assign ID 3 C0KT2F8QJ3M5N7R9V1W; clearlane payment assign ID 3 --undo
    """
    number = _claim_payment_number(claim_payment)
    if undo == (claim_number is not None):
        refuse("Give the claim's number, or --undo to take an assignment back.", MISUSED)

    from clearlane.pipeline.operator import payment_admin

    context = installation.work_context
    if claim_number is None:
        claim = await payment_admin.undo_assignment(context, payment_id, number, actor=operator())
        done = f"is no longer assigned to {claim}"
    else:
        await payment_admin.assign(context, payment_id, number, claim_number, actor=operator())
        done = f"is assigned to {claim_number}"
    typer.echo(f"Claim {number} of payment {payment_id} {done}.")


@app.command()
@in_installation(uses="pipeline.operator.payment_deposit")
async def deposit(
    installation: Installation,
    payment_id: PaymentId,
    day: Annotated[
        str,
        typer.Option(
            "--day", metavar="YYYY-MM-DD", help="The day of the deposit (default: today)."
        ),
    ] = "",
    amount: Annotated[
        str, typer.Option("--amount", metavar="AMOUNT", help="Default: what the payer stated.")
    ] = "",
    reference: Annotated[
        str, typer.Option("--reference", help="Of the deposit, as the bank has it.")
    ] = "",
    site: Annotated[
        str, typer.Option("--site", help="The site whose part it is (default: all).")
    ] = "",
    undo: Annotated[bool, typer.Option("--undo", help="It was not deposited.")] = False,
) -> None:
    """Record that a site deposited its part of a payment, or undo that. Audited.

    Example: clearlane payment deposit P0KT2F8QJ3M5N7R9V1W --day 2026-12-03 --amount 699.10 --reference "slip 7"
    """
    from clearlane.pipeline.operator import payment_deposit

    context, today = installation.work_context, installation.clock.now().date()
    scopes = _scopes_of(installation, site)
    if undo:
        closing = payment_deposit.PaymentClosing.DEPOSIT
        await payment_deposit.reopen_payment(
            context, payment_id, closing, actor=operator(), scopes=scopes
        )
        show_message(f"Payment {payment_id} is not deposited.")
        return
    given = read_options(
        _DEPOSIT_OPTIONS, {"day": day or today.isoformat(), "amount": amount or None}
    )
    if fault := payment_deposit.day_fault(given["day"], today + timedelta(days=1)):
        refuse(f"--day: {fault}", MISUSED)
    new = payment_deposit.NewDeposit(day=given["day"], amount=given["amount"], reference=reference)
    await payment_deposit.deposit_payment(context, payment_id, new, actor=operator(), scopes=scopes)
    details = await _load(installation, payment_id)
    done = details.payment.deposit
    difference = done.difference or 0
    side = "more" if difference > 0 else "less"
    amount_apart = wording.money(abs(difference))
    differs = f", {amount_apart} {side} than the payer stated" if difference else ""
    show_message(f"Payment {payment_id}: {wording.money(done.amount or 0)} is deposited{differs}.")


@app.command()
@in_installation(uses="pipeline.operator.payment_deposit")
async def settle(
    installation: Installation,
    payment_id: PaymentId,
    because: Annotated[str, typer.Option("--because", help="Why nothing is left to do.")] = "",
    site: Annotated[
        str, typer.Option("--site", help="The site whose part it is (default: all).")
    ] = "",
    undo: Annotated[bool, typer.Option("--undo", help="It is not settled.")] = False,
) -> None:
    """Record why nothing is left to do with a payment that does not balance, or undo that. Audited.

    Example: clearlane payment settle P0KT2F8QJ3M5N7R9V1W --because "The payer corrects it with the next check"
    """
    if undo == bool(because.strip()):
        refuse("Give --because with a reason, or --undo.", MISUSED)

    from clearlane.pipeline.operator import payment_deposit

    context, scopes = installation.work_context, _scopes_of(installation, site)
    if undo:
        closing = payment_deposit.PaymentClosing.SETTLEMENT
        await payment_deposit.reopen_payment(
            context, payment_id, closing, actor=operator(), scopes=scopes
        )
    else:
        await payment_deposit.settle_payment(
            context, payment_id, because, actor=operator(), scopes=scopes
        )
    show_message(f"Payment {payment_id} is {'not settled' if undo else 'settled'}.")


def _scopes_of(installation: Installation, site: str) -> list[Scope] | None:
    """Return the scope of a site by its id; None for every site."""
    return [find_site(installation, site, code=MISUSED).scope] if site else None


_DEPOSIT_OPTIONS = (
    ListFilter("day", FilterType.DAY, "", "", ""),
    ListFilter("amount", FilterType.AMOUNT, "", "", ""),
)


@app.command()
@in_installation(uses="pipeline.operator.payee_admin")
async def payee(
    installation: Installation,
    number: Annotated[str, typer.Argument(metavar="PAYEE", help="Its NPI, or its tax id.")],
    site: Annotated[str, typer.Argument(metavar="SITE", help="The site's id.")],
    cut: Annotated[
        bool,
        typer.Option(
            "--cut", help="Cut payments of claims of several sites, so that each gets its own part."
        ),
    ] = False,
) -> None:
    """Name the site that receives the remittances (835) of a payee as files. Audited.

    Without a name they go to the site whose files bill as the payee, if no other vendor's site does. A payment goes
    whole to the site that is named; with --cut, other sites whose files bill as the payee get the parts with their
    claims, and the named site the rest, with the provider adjustments.

    Examples: clearlane payment payee 1234567893 FERNHILL --data .data; clearlane payment payee 1234567893 FERNHILL --cut
    """
    found = find_site(installation, site, code=MISUSED)

    from clearlane.pipeline.operator.payee_admin import name_payee

    await name_payee(installation.work_context, number, found, is_cut=cut, actor=operator())
    shared = ", and cut if they pay claims of other sites" if cut else ""
    show_message(f"Remittances to {number} are files of {site}{shared}.")


@app.command()
def pdf(
    payment_id: PaymentId,
    out: Annotated[Path, typer.Option(help="The file to write.")],
    data: Data = None,
) -> None:
    """Write a payment with all its claims as a PDF file, like a remittance advice. Audited.

    Example: clearlane payment pdf P0KT2F8QJ3M5N7R9V1W --out payment.pdf --data .data
    """
    from clearlane.cli.payment.pdf_files import write_payment_file

    write_payment_file(payment_id=payment_id, out=out, data=data)


COLUMNS = (
    TableColumn("payment", "payment_id"),
    TableColumn("label", "label"),
    TableColumn("state", "state", state=True, drop=6),
    TableColumn("paid", "effective_date"),
    TableColumn("payer", "payer_id", drop=1),
    TableColumn("trace", "trace_number", drop=4),
    TableColumn("method", "method", drop=7),
    TableColumn("deposited", "deposited", drop=2),
    TableColumn("claims", "claims", right=True, drop=3),
    TableColumn("unmatched", "unmatched", right=True, drop=5),
    TableColumn("claims paid", "claims_paid", right=True, drop=6),
    TableColumn("adjustments", "adjustments_total", right=True, drop=6),
    TableColumn("amount", "amount", right=True),
    TableColumn("balanced", "balanced", drop=5),
    TableColumn("fetched", "fetched_at", drop=8),
)


def _flat_row(payment: Payment) -> dict[str, Any]:
    """Return a payment for a table or a file: each fact of its deposit is a fact of its own."""
    facts = as_json_objects.own_payment_object(payment)
    del facts["deposit"]
    deposit = as_json_objects.deposit_object(payment.deposit)
    return facts | {f"deposit_{name}": value for name, value in deposit.items()}


def _deposited(payment: Payment) -> str:
    """Return the day on which a payment was deposited, or why it needs none; empty while it is open."""
    state = payment.deposit.state
    if state is DepositState.DEPOSITED:
        return str(payment.deposit.day)
    return "" if state is DepositState.OPEN else state.value


async def _all_payments(
    installation: Installation, where: Mapping[str, object], limit: int | None
) -> AsyncIterator[Payment]:
    before, left = None, limit
    while left is None or left > 0:
        size = PAYMENTS_PER_PAGE if left is None else min(left, PAYMENTS_PER_PAGE)
        query = PaymentQuery(where=where, before=before, limit=size)
        page = await list_payments(installation.database, installation.vault, query)
        for one in page:
            yield one.payment
        if len(page) < size:
            return
        before = page[-1].payment.payment_id
        left = None if left is None else left - len(page)


async def _load(installation: Installation, payment_id: str) -> PaymentDetails:
    found = await payments.load_payment(
        installation.database, installation.vault, payment_id, actor=operator()
    )
    if found is None:
        refuse(NO_PAYMENT.format(id=payment_id))
    return found


# ---- JSON and CSV, written while they are read: a payment may have thousands of claims -----------


async def _json_pieces(
    details: PaymentDetails, pages: AsyncIterator[list[ClaimPayment]]
) -> AsyncIterator[str]:
    head = as_json_objects.own_payment_object(details.payment)
    adjustments = [as_json_objects.adjustment_object(one) for one in details.adjustments]
    # As v1 names them, and as this command always has.
    head["adjustments"] = head["provider_adjustments"] = adjustments
    head["claim_payments_next"] = None
    yield _json(head)[:-1] + ',\n"claim_payments": ['
    separator = "\n"
    async for page in pages:
        for one in page:
            yield separator + _json(as_json_objects.claim_payment_object(one))
            separator = ",\n"
    yield "]}\n"


async def _output_pieces(out: Path | None, pieces: AsyncIterator[str]) -> None:
    if out is None:
        async for piece in pieces:
            typer.echo(piece, nl=False)
        return
    with out.open("w", encoding="utf-8", newline="") as file:
        async for piece in pieces:
            file.write(piece)


def _output(out: Path | None, content: bytes) -> None:
    if out is None:
        sys.stdout.buffer.write(content)
    else:
        out.write_bytes(content)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


# ---- text ----------------------------------------------------------------------------------------


def _echo(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)


async def _show_candidates(installation: Installation, payment_id: str, number: int) -> None:
    from clearlane.pipeline.operator import payment_admin

    for one in await payment_admin.find_candidates(
        installation.work_context, payment_id, number, actor=operator()
    ):
        show_text(
            f"perhaps {one.claim_number}: {', '.join((*one.agrees, *one.differs))}", "  ", indent=4
        )


# ---- options -------------------------------------------------------------------------------------


def _claim_payment_number(text: str) -> int:
    found = _CLAIM_PAYMENT.fullmatch(text.strip())
    if found is None:
        refuse(f"CLAIM_PAYMENT: {text!r} is neither a claim payment id nor a number.", MISUSED)
    return int(found[1])
