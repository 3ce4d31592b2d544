"""``clearlane enrollment``: enrollments of providers with payers, and their states."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.chosen_site import chosen_sites
from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.export_file import (
    STANDARD,
    AsJsonFormat,
    ExportFile,
    OfFormat,
    choose_format,
    write_export,
)
from clearlane.cli.command.kind_options import PayerTypeOption
from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    run_in_installation,
    show_json,
    show_table,
)
from clearlane.cli.command.output import counted
from clearlane.cli.command.storage_command import MISUSED, Data, Yes, confirm, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.cli.enrollment.enrollment_output import (
    WRITERS,
    EnrollmentFacts,
    Facts,
    move_facts,
    show_detail,
    show_enrollments,
)
from clearlane.enrollment.lifecycle import EnrollmentEvent, EnrollmentState, current_states
from clearlane.kernel.limits import REASON_CHARACTERS_MAX
from clearlane.payers.enrolled_transactions import (
    TRANSACTION_WORDS,
    EnrolledTransaction,
    enrolled_transactions,
)
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.pipeline.enrollment.list_enrollments import list_provider_enrollments
from clearlane.pipeline.operator.enrollment_admin import (
    EnrolledWith,
    EnrollmentChange,
    EnrollmentDetails,
    apply_event,
    list_enrollments,
    load_enrollment,
)
from clearlane.store.enrollments import StoredEnrollment
from clearlane.wiring import Installation

ENROLLMENTS_LISTED = 200

app = typer.Typer(help="Providers to be enrolled with payers.", add_completion=False)


Id = Annotated[str, typer.Argument(metavar="ID", help="The enrollment's id.")]
OfState = Annotated[
    EnrollmentState | None,
    typer.Option("--state", case_sensitive=False, help="Only those in this state."),
]
WithPayer = Annotated[str, typer.Option("--payer", help="The state with this payer.")]
OfType = Annotated[
    PayerTypeOption | None, typer.Option("--type", case_sensitive=False, help="Type of the payers.")
]
OfSite = Annotated[str, typer.Option("--site", help="Only those of this vendorSiteId.")]
Payers = Annotated[
    list[str] | None,
    typer.Option(
        "--payer", help="A payer; repeat for several (default: all that require enrollment)."
    ),
]
OfTransaction = Annotated[
    EnrolledTransaction | None,
    typer.Option("--transaction", case_sensitive=False, help="The state for this transaction."),
]
Transactions = Annotated[
    list[EnrolledTransaction] | None,
    typer.Option(
        "--transaction",
        case_sensitive=False,
        help="What it is for; repeat for several (default: claims).",
    ),
]
Reason = Annotated[str, typer.Option("--reason", help="Reason, stored with the enrollment.")]

TOLD = "The vendor gets an event."
APPROVED = {
    True: "Claims of the provider of {id} are sent to {payers} from {since}.",
    False: "The provider of {id} is enrolled with {payers} from {since}.",
}
"""What an approval means, by whether it is for claims."""
ENDED = {
    True: "Claims of the provider of {id} for {payers} are not accepted from now on.",
    False: "The provider of {id} is not enrolled with {payers} from now on.",
}


@app.command("list")
def list_(
    state: OfState = None,
    payer: WithPayer = "",
    type: OfType = None,
    transaction: OfTransaction = None,
    site: OfSite = "",
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number of enrollments, the newest first.")
    ] = (ENROLLMENTS_LISTED),
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """List the enrollments, the newest first.

    Example: clearlane enrollment list --state submitted --payer HHP2M
    """
    chosen = _Chosen(state, payer, type, transaction, site)
    rows = run_in_installation(
        data,
        lambda installation: _browse(
            installation, chosen, "enrollment.list", limit, EnrollmentFacts.facts
        ),
    )
    if as_json:
        show_json(rows)
    else:
        show_enrollments(rows)


@app.command()
@in_installation()
async def show(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Show everything known about an enrollment; --json has it with each payer as v1 does, too.

    Example: clearlane enrollment show E1RT2Q5X9Z7K3M8P4W6
    """
    details, events = await load_enrollment(
        installation.database, installation.vault, id.strip().upper(), actor=operator()
    )
    found = EnrollmentFacts(installation).detail(details, events)
    if not as_json:
        show_detail(found)
        return
    [site] = [one for one in installation.accounts.sites if one.id == details.row.scope.site]
    listed = await list_provider_enrollments(installation.work_context, site, actor=operator())
    own = [one.as_json() for one in listed if one.enrollment_id == details.row.id]
    show_json({**found, "enrollments": own})


@app.command()
def start(
    id: Id,
    payer: Payers = None,
    type: OfType = None,
    transaction: Transactions = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Record that an enrollment was forwarded to payers.

    Example: clearlane enrollment start E1RT2Q5X9Z7K3M8P4W6 --payer HHP2M
    """
    _move(data, id, EnrollmentEvent.START, _Wanted(payer, type, transaction), as_json=as_json)


@app.command()
def approve(
    id: Id,
    payer: Payers = None,
    type: OfType = None,
    transaction: Transactions = None,
    live_from: Annotated[
        date | None,
        day_option("--from", help="First day on which it counts (default: today)."),
    ] = None,
    reason: Reason = "",
    yes: Yes = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Record that payers have approved an enrollment: claims of the provider may go to them.

    Example: clearlane enrollment approve E1RT2Q5X9Z7K3M8P4W6 --payer HHP2M
    """
    wanted = _Wanted(payer, type, transaction)
    since = f"{live_from} on" if live_from else "now on"
    confirm(
        f"{APPROVED[wanted.for_claims].format(id=id, payers=wanted.named, since=since)} {TOLD}",
        yes=yes,
    )
    _move(data, id, EnrollmentEvent.APPROVE, wanted, reason, live_from, as_json=as_json)


@app.command("refuse")
def refuse_(
    id: Id,
    payer: Payers = None,
    type: OfType = None,
    transaction: Transactions = None,
    reason: Reason = "",
    yes: Yes = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Record that payers have refused an enrollment. One that they had approved is ended.

    Example: clearlane enrollment refuse E1RT2Q5X9Z7K3M8P4W6 --payer HHP2M --reason "TIN not on file"
    """
    wanted = _Wanted(payer, type, transaction)
    confirm(f"{ENDED[wanted.for_claims].format(id=id, payers=wanted.named)} {TOLD}", yes=yes)
    _move(data, id, EnrollmentEvent.REFUSE, wanted, reason, as_json=as_json)


@app.command()
def end(
    id: Id,
    payer: Payers = None,
    type: OfType = None,
    transaction: Transactions = None,
    reason: Reason = "",
    yes: Yes = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Record that payers have ended an enrollment that they had approved.

    Example: clearlane enrollment end E1RT2Q5X9Z7K3M8P4W6 --payer HHP2M --reason "Left the network"
    """
    wanted = _Wanted(payer, type, transaction)
    confirm(f"{ENDED[wanted.for_claims].format(id=id, payers=wanted.named)} {TOLD}", yes=yes)
    _move(data, id, EnrollmentEvent.END, wanted, reason, as_json=as_json)


@app.command()
def export(
    file: ExportFile = STANDARD,
    format: OfFormat = None,
    state: OfState = None,
    payer: WithPayer = "",
    type: OfType = None,
    transaction: OfTransaction = None,
    site: OfSite = "",
    as_json: AsJsonFormat = False,
    data: Data = None,
) -> None:
    """Write enrollments with all their fields, including tax ids. Cells never start a formula.

    Example: clearlane enrollment export new.csv --state submitted
    """
    chosen = _Chosen(state, payer, type, transaction, site)
    rows = run_in_installation(
        data,
        lambda installation: _browse(
            installation, chosen, "enrollment.export", None, EnrollmentFacts.with_fields
        ),
    )
    # For its owner alone: a tax id may be a person's social security number.
    write_export(
        file,
        WRITERS[choose_format(file, format, as_json=as_json)](rows),
        f"{counted(len(rows), 'enrollment')} written to {file}.",
        private=True,
    )


# --- which enrollments, and which payers ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The filter of a list or export."""

    state: EnrollmentState | None
    payer: str
    type: PayerTypeOption | None
    transaction: EnrolledTransaction | None
    site: str

    def among(self, installation: Installation) -> Callable[[StoredEnrollment], bool]:
        """Return a function that checks whether an enrollment passes the filter."""
        keys = (
            {each.key for each in _payers(installation, [self.payer], self.type)}
            if self.payer
            else None
        )
        chosen_sites(installation, self.site)  # refuses one that there is not
        sites = {each.id: each.vendor_site_id for each in installation.accounts.sites}

        def fits(row: StoredEnrollment) -> bool:
            states = current_states(
                EnrollmentState(each.state)
                for each in row.payer_states
                if (keys is None or each.payer in keys)
                and self.transaction in {None, each.transaction}
            )
            in_state = self.state is None or self.state in states
            return in_state and self.site in {"", sites.get(row.scope.site)}

        return fits


def _payers(
    installation: Installation, ids: Iterable[str], type: PayerTypeOption | None
) -> list[Payer]:
    """Return the payers of these ids; a payer of both types is two."""
    types = [type.capitalize()] if type else PAYER_TYPES
    found: list[Payer] = []
    for id in ids:
        own = [payer for each in types if (payer := installation.payers.find(id, each))]
        if not own:
            of = f"{type} " if type else ""
            refuse(f"There is no {of}payer {id}. `clearlane payer search` finds them.", MISUSED)
        found += own
    return list({payer.key: payer for payer in found}.values())


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The payers and transactions that a command is about."""

    payers: list[str] | None
    type: PayerTypeOption | None
    given_transactions: Sequence[EnrolledTransaction] | None

    @property
    def transactions(self) -> Sequence[EnrolledTransaction]:
        """What it is for."""
        return list(dict.fromkeys(self.given_transactions or [EnrolledTransaction.CLAIMS]))

    @property
    def for_claims(self) -> bool:
        """Whether claims are among them."""
        return EnrolledTransaction.CLAIMS in self.transactions

    @property
    def named(self) -> str:
        """The payers, and the transactions other than claims, for people."""
        payers = ", ".join(self.payers) if self.payers else "all payers that require enrollment"
        others = [TRANSACTION_WORDS[one] for one in self.transactions]
        return payers if others == ["claims"] else f"{payers} ({', '.join(others)})"

    def find(self, installation: Installation) -> list[EnrolledWith]:
        """Return each payer with each transaction; by default all that require enrollment for it."""
        if self.payers:
            payers = _payers(installation, self.payers, self.type)
            return [EnrolledWith(payer, one) for payer in payers for one in self.transactions]
        found = [
            EnrolledWith(payer, one)
            for payer in installation.payers.all
            for one in self.transactions
            if one in enrolled_transactions(payer)
            and (self.type is None or payer.type == self.type.capitalize())
        ]
        if not found:
            refuse("No payer requires enrollment. Name the payer with --payer.")
        return found


# --- work ---------------------------------------------------------------------------------------------


async def _browse(
    installation: Installation,
    chosen: _Chosen,
    action: str,
    limit: int | None,
    to_facts: Callable[[EnrollmentFacts, EnrollmentDetails], Facts],
) -> list[Facts]:
    found = await list_enrollments(
        installation.database,
        installation.vault,
        chosen.among(installation),
        action=action,
        limit=limit,
        actor=operator(),
    )
    presenter = EnrollmentFacts(installation)
    return [to_facts(presenter, each) for each in found]


def _move(
    data: Path | None,
    id: str,
    event: EnrollmentEvent,
    wanted: _Wanted,
    reason: str = "",
    live_from: date | None = None,
    *,
    as_json: bool,
) -> None:
    id = id.strip().upper()
    if len(reason) > REASON_CHARACTERS_MAX:
        refuse(f"--reason: {REASON_CHARACTERS_MAX} characters at most.", MISUSED)

    async def work(installation: Installation) -> list[EnrollmentChange]:
        return await apply_event(
            installation.database,
            installation.vault,
            id,
            event,
            wanted.find(installation),
            reason=reason.strip(),
            live_from=live_from,
            now=installation.clock.now(),
            actor=operator(),
            sites=installation.accounts.sites,
            simulated=installation.work_context.simulated_enrollments,
        )

    moves = run_in_installation(data, work)
    if as_json:
        show_json([move_facts(each) for each in moves])
    elif moves:
        rows = [list(move_facts(each).values()) for each in moves]
        name = TableColumn("name", wrap=True)
        day = TableColumn("live from", drop=1)
        show_table(["payer", "type", "for", name, "before", "now", day], rows)
    else:
        typer.echo(f"{id}: no change was needed.")
