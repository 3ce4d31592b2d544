"""``clearlane sandbox``: control the clock of a running sandbox, and the modes of its payers.

Calls the service over https, as a vendor's program can, so it works with any number of nodes.
"""

from base64 import b64encode
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
import typer

from clearlane.cli.command.client_command import (
    AsJson,
    ClientSession,
    Data,
    usage_error,
    vendor_command,
)
from clearlane.cli.command.output import counted, show_change, show_json, show_list
from clearlane.cli.command.table import TableColumn

Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]

SECONDS_MAX = 3_600
"""How long an advance may take: it ends when everything due is posted."""
PAYER_COLUMNS = (
    TableColumn("payer", "PayerId"),
    TableColumn("type", "Type"),
    TableColumn("mode", "Mode", state=True),
    TableColumn("name", "Name", wrap=True),
)
NO_SANDBOX = "This service is not a sandbox: its clock cannot be changed, and its payers are real."

app = typer.Typer(
    help="The clock of a sandbox, and the modes of its payers.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def sandbox() -> None:
    """The clock of a sandbox, and the modes of its payers."""


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
    _show_clock(session, _call(session, "clock", change))


@vendor_command(app)
def advance(
    session: ClientSession,
    by: Annotated[str, typer.Argument(help="How far: 14d, 36h, 1d12h.", metavar="TIME")],
) -> None:
    """Advance the clock, for dates and for payers; returns when everything due has been posted.

    Example: clearlane sandbox advance 14d
    """
    _show_clock(session, _call(session, "advance", {"By": by}))


@vendor_command(app)
def payer(
    session: ClientSession,
    payer_id: Annotated[
        str, typer.Argument(help="The payer, such as TST01.", metavar="[PAYER]")
    ] = "",
    up: Annotated[bool, typer.Option("--up", help="It answers.")] = False,
    down: Annotated[bool, typer.Option("--down", help="It cannot be reached.")] = False,
    slow: Annotated[bool, typer.Option("--slow", help="It delays every call.")] = False,
    garbage: Annotated[
        bool, typer.Option("--garbage", help="It leaves web pages in place of answers.")
    ] = False,
) -> None:
    """Show the modes of payers, or set the mode of one.

    Example: clearlane sandbox payer --down TST01
    """
    flags = {"up": up, "down": down, "slow": slow, "garbage": garbage}
    chosen = [mode for mode, wanted in flags.items() if wanted]
    if len(chosen) > 1:
        usage_error("Give one of --up, --down, --slow and --garbage.")
    if bool(chosen) != bool(payer_id):
        usage_error("Give a payer and its mode: clearlane sandbox payer --down TST01.")
    change = {"PayerId": payer_id, "Mode": chosen[0]} if chosen else None
    found = _call(session, "payers", change)
    if session.as_json:
        show_json(found)
    else:
        show_list(PAYER_COLUMNS, found, noun="payer")


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


def _call(session: ClientSession, path: str, body: dict[str, Any] | None) -> Any:
    """Call the sandbox API, which the client library does not have; raise its errors."""
    import httpx

    from clearlane.client.errors import AnswerLost, NotFound, NotReached, error_from_response
    from clearlane.client.https import tls_context
    from clearlane.client.transport import Response

    account = session.client.account
    url = (
        f"{account.base_url.rstrip('/')}/sandbox/{path}?{urlencode({'vendorSiteId': account.site})}"
    )
    pair = b64encode(f"{account.key}:{account.password}".encode()).decode()
    try:
        with httpx.Client(verify=tls_context(account.ca_file), timeout=SECONDS_MAX) as client:
            answer = client.request(
                "GET" if body is None else "POST",
                url,
                headers={"Authorization": f"Basic {pair}", "Content-Type": "application/json"},
                content=None if body is None else msgspec.json.encode(body),
            )
    except (httpx.ConnectError, httpx.ConnectTimeout):
        # The library's message may contain the whole address with its query.
        raise NotReached(
            f"The service cannot be reached at {account.base_url}.", call=path
        ) from None
    except httpx.HTTPError:
        raise AnswerLost("The answer did not arrive.", call=path) from None
    if answer.status_code != 200:
        fault = error_from_response(
            path, Response(answer.status_code, dict(answer.headers), answer.content)
        )
        if isinstance(fault, NotFound):
            usage_error(NO_SANDBOX)
        raise fault
    return msgspec.json.decode(answer.content)


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
