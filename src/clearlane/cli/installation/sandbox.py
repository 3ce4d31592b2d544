"""``clearlane sandbox``: the clock of a running sandbox, the modes of its payers, claims of two months, one for tests.

Calls the service over https, as a vendor's program can, so it works with any number of nodes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearlane.cli.command.client_command import (
    AsJson,
    ClientSession,
    Data,
    usage_error,
    vendor_command,
)
from clearlane.cli.command.output import counted, show_change, show_json, show_list, show_table
from clearlane.cli.command.progress import progress
from clearlane.cli.command.table import TableColumn

if TYPE_CHECKING:
    from clearlane.client.testing.sandbox_control import SandboxControl

Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]

PAYER_COLUMNS = (
    TableColumn("payer", "PayerId"),
    TableColumn("type", "Type"),
    TableColumn("mode", "Mode", state=True),
    TableColumn("name", "Name", wrap=True),
)
NO_SANDBOX = "This service is not a sandbox: its clock cannot be changed, and its payers are real."

app = typer.Typer(
    help="A sandbox: its clock, the modes of its payers, two months of claims, tests.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def sandbox() -> None:
    """A sandbox: its clock, the modes of its payers, two months of claims, tests."""


@vendor_command(app)
def clock(
    session: ClientSession,
    freeze: Annotated[bool, typer.Option("--freeze", help="Stop the payers' days.")] = False,
    unfreeze: Annotated[bool, typer.Option("--unfreeze", help="Restart the payers' days.")] = False,
    pace: Annotated[
        float | None, typer.Option(help="Seconds that a day lasts for payers; 2 by default.")
    ] = None,
) -> None:
    """Show the clock; freeze it, restart it, or set its pace.

    Example: clearlane sandbox clock --freeze
    """
    if freeze and unfreeze:
        usage_error("Give --freeze or --unfreeze, not both.")
    change: dict[str, Any] = {}
    if freeze or unfreeze:
        change["Frozen"] = freeze
    if pace is not None:
        change["SecondsPerDay"] = pace
    with _control(session) as control:
        _show_clock(session, control.clock(**change))


@vendor_command(app)
def advance(
    session: ClientSession,
    by: Annotated[str, typer.Argument(help="How far: 14d, 36h, 1d12h.", metavar="TIME")],
) -> None:
    """Advance the clock, for dates and for payers; returns when everything due has been posted.

    Example: clearlane sandbox advance 14d
    """
    with _control(session) as control:
        _show_clock(session, control.advance(by))


@vendor_command(app)
def payer(
    session: ClientSession,
    payer_id: Annotated[
        str, typer.Argument(help="The payer, such as TST01.", metavar="PAYER")
    ] = "",
    mode: Annotated[
        str, typer.Argument(help="up, down, slow or garbage, as the options.", metavar="MODE")
    ] = "",
    up: Annotated[bool, typer.Option("--up", help="It answers.")] = False,
    down: Annotated[bool, typer.Option("--down", help="It cannot be reached.")] = False,
    slow: Annotated[bool, typer.Option("--slow", help="It delays every call.")] = False,
    garbage: Annotated[
        bool, typer.Option("--garbage", help="It leaves web pages in place of answers.")
    ] = False,
) -> None:
    """Show the modes of payers, or set the mode of one.

    Examples: clearlane sandbox payer TST01 down; clearlane sandbox payer --up TST01
    """
    flags = {"up": up, "down": down, "slow": slow, "garbage": garbage}
    if mode and mode not in flags:
        usage_error(f"The mode {mode!r} is unknown. Give one of {', '.join(flags)}.")
    chosen = [name for name, wanted in flags.items() if wanted or name == mode]
    if len(chosen) > 1:
        usage_error(f"Give one mode: {', '.join(flags)}.")
    if bool(chosen) != bool(payer_id):
        usage_error("Give a payer and its mode: clearlane sandbox payer TST01 down.")
    with _control(session) as control:
        found = control.set_mode(payer_id, chosen[0]) if chosen else control.payers()
    if session.as_json:
        show_json(found)
    else:
        show_list(PAYER_COLUMNS, found, noun="payer")


@vendor_command(app)
def seed(
    session: ClientSession,
    claims: Annotated[
        int, typer.Option("--claims", help="How many claims; every scenario has one.", min=1)
    ] = 80,
) -> None:
    """Fill a sandbox with two months of a practice's life.

    Sends claims of every scenario and kind week by week, asks about benefits, lets payers answer, corrects, holds and
    cancels a claim. The clock is two months ahead afterward. Run it again for two months more.

    Example: clearlane sandbox seed --claims 80
    """
    from clearlane.cli.installation.sandbox_seed import CLAIMS_MAX, SandboxSeed, plan_claims
    from clearlane.wiring.sandbox_runtime import claim_scenarios

    if claims > CLAIMS_MAX:
        usage_error(f"Give at most {CLAIMS_MAX:,} claims.")
    with _control(session) as control, progress("Seeding", total=claims) as show:
        now = control.clock()["Now"]
        try:
            planned = plan_claims(claims, list(claim_scenarios()), f"SEED-{now[:10]}")
        except ValueError as why:
            usage_error(str(why))
        seeded = SandboxSeed(session.client, control, show).run(planned)
        clock = control.clock()
    if session.as_json:
        show_json(
            {
                "Submitted": seeded.submitted,
                "Accepted": seeded.accepted,
                "Labels": dict(seeded.labels),
                **clock,
            }
        )
        return
    rows = [(label.replace("_", " "), count) for label, count in seeded.labels.most_common()]
    show_table(("claims are", TableColumn("count", right=True)), rows)
    typer.echo(
        f"{counted(seeded.submitted, 'claim')} sent, {seeded.accepted} accepted; "
        f"{counted(seeded.questions, 'question')} about benefits. It is {clock['Now'][:10]} now."
    )
    typer.echo("Look at them: clearlane console open")


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def run(
    command: Annotated[
        list[str], typer.Argument(help="The command and its arguments.", metavar="COMMAND")
    ],
    data: Annotated[
        Path | None,
        typer.Option(help="Data directory to keep (default: a temporary one, removed afterward)."),
    ] = None,
) -> None:
    """Start a sandbox, run a command beside it, and stop it: for tests in any language.

    The command finds address, key, password, site and certificate in CLEARLANE_CLIENT_URL, _KEY, _PASSWORD, _SITE and
    _CA_FILE. The payers' days are frozen; `clearlane sandbox advance` lets them pass. The exit status is the command's.

    Example: clearlane sandbox run npm test
    """
    import os
    import subprocess

    from clearlane.client.testing import NotStarted, running_sandbox

    try:
        with running_sandbox(data) as sandbox:
            done = subprocess.run(command, check=False, env={**os.environ, **sandbox.environment})
    except NotStarted as fault:
        usage_error(f"The sandbox did not start: {fault}")
    except FileNotFoundError:
        usage_error(f"There is no command {command[0]!r}.")
    raise typer.Exit(done.returncode)


@app.command()
def reset(yes: Yes = False, as_json: AsJson = False, data: Data = None) -> None:
    """Empty a sandbox and set its clock to real time, while it runs.

    Claims, files, payments, inquiries and enrollments are deleted, here and at its payers. Keys, vendors, sites,
    passwords, users, payers, routes and the audit trail stay. Asks first.

    Example: clearlane sandbox reset
    """
    from clearlane.cli.command.operator_command import run_in_installation
    from clearlane.cli.command.storage_command import confirm, load_settings, operator
    from clearlane.wiring import Installation

    settings = load_settings(data)
    if not settings.sandbox:
        usage_error(NO_SANDBOX)
    confirm(f"Everything that was sent in the sandbox {settings.data} will be deleted.", yes=yes)

    async def work(installation: Installation) -> dict[str, int]:
        runtime = installation.sandbox_runtime
        if runtime is None:
            usage_error(NO_SANDBOX)
        return await runtime.reset(operator())

    counts = run_in_installation(data, work)
    claims, batches, files = (counts[name] for name in ("claims", "batches", "inbox"))
    show_change(
        f"The sandbox is empty: {counted(claims, 'claim')}, {counted(batches, 'batch')} and "
        f"{counted(files, 'file')} of payers are deleted. Its clock shows real time.",
        as_json=as_json,
        claims=claims,
        batches=batches,
        files=files,
    )


@contextmanager
def _control(session: ClientSession) -> Iterator["SandboxControl"]:
    """Yield the sandbox API with the account of a command; a production service does not have it."""
    from clearlane.client.errors import NotFound
    from clearlane.client.testing.sandbox_control import SandboxControl

    try:
        yield SandboxControl(session.client.account)
    except NotFound:
        usage_error(NO_SANDBOX)


def _show_clock(session: ClientSession, clock: dict[str, Any]) -> None:
    if session.as_json:
        show_json(clock)
        return
    days, seconds = divmod(clock["AdvancedSeconds"], 86_400)
    hours, minutes = seconds // 3_600, seconds % 3_600 // 60
    pace = "are frozen" if clock["Frozen"] else f"last {clock['SecondsPerDay']:g} seconds"
    ahead = f"{days} day{'' if days == 1 else 's'} {hours:02}:{minutes:02} ahead of real time"
    typer.echo(f"It is {clock['Now']}, {ahead}.")
    typer.echo(f"Payers' days {pace}.")
