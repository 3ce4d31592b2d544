"""``clearlane sandbox``: move the time of a running sandbox, and make its payers behave or misbehave.

Speaks to the service over https, as a vendor's program can, so it works with any number of nodes.
"""

from base64 import b64encode
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
import typer

from clearlane.cli.client_command import Caller, misuse, vendor_command
from clearlane.cli.output import show_json, show_table

SECONDS_MAX = 3_600
"""How long an advance may take: it ends when everything due is posted."""
NO_SANDBOX = (
    "This service is no sandbox: its time is the time of the world, and its payers are real."
)

app = typer.Typer(
    help="The clock of a sandbox, and what its payers are made to do.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def sandbox() -> None:
    """The clock of a sandbox, and what its payers are made to do."""


@vendor_command(app)
def clock(
    caller: Caller,
    freeze: Annotated[bool, typer.Option("--freeze", help="Let payers' days stand still.")] = False,
    unfreeze: Annotated[bool, typer.Option("--unfreeze", help="Let them pass again.")] = False,
    pace: Annotated[
        float | None, typer.Option(help="Seconds that a day lasts for payers; 2 by default.")
    ] = None,
) -> None:
    """Show how time runs; freeze it, let it run, or set its pace.

    Example: clearlane sandbox clock --freeze
    """
    if freeze and unfreeze:
        misuse("Give --freeze or --unfreeze, not both.")
    change: dict[str, Any] = {}
    if freeze or unfreeze:
        change["Frozen"] = freeze
    if pace is not None:
        change["SecondsPerDay"] = pace
    _show_clock(caller, _call(caller, "clock", change))


@vendor_command(app)
def advance(
    caller: Caller,
    by: Annotated[str, typer.Argument(help="How far: 14d, 36h, 1d12h.", metavar="TIME")],
) -> None:
    """Let time pass, for dates and for payers; returns when everything due has been posted.

    Example: clearlane sandbox advance 14d
    """
    _show_clock(caller, _call(caller, "advance", {"By": by}))


@vendor_command(app)
def payer(
    caller: Caller,
    payer_id: Annotated[
        str, typer.Argument(help="The payer, such as TST01.", metavar="[PAYER]")
    ] = "",
    up: Annotated[bool, typer.Option("--up", help="It answers.")] = False,
    down: Annotated[bool, typer.Option("--down", help="It cannot be reached.")] = False,
    slow: Annotated[bool, typer.Option("--slow", help="It lets every call wait.")] = False,
    garbage: Annotated[
        bool, typer.Option("--garbage", help="It leaves web pages in place of answers.")
    ] = False,
) -> None:
    """Show what payers are made to do, or make one of them do something else.

    Example: clearlane sandbox payer --down TST01
    """
    flags = {"up": up, "down": down, "slow": slow, "garbage": garbage}
    chosen = [mode for mode, wanted in flags.items() if wanted]
    if len(chosen) > 1:
        misuse("Give one of --up, --down, --slow and --garbage.")
    if bool(chosen) != bool(payer_id):
        misuse("Name a payer and what it is to do: clearlane sandbox payer --down TST01.")
    change = {"PayerId": payer_id, "Mode": chosen[0]} if chosen else None
    found = _call(caller, "payers", change)
    if caller.as_json:
        show_json(found)
    else:
        names = ("PayerId", "Type", "Mode", "Name")
        header = ("payer", "type", "mode", "name")
        show_table(header, ([one[name] for name in names] for one in found))


def _call(caller: Caller, path: str, body: dict[str, Any] | None) -> Any:
    """One call beside the interface; refusals end the command as those of the interface do."""
    import httpx

    from clearlane.client.errors import AnswerLost, NotFound, NotReached, refusal
    from clearlane.client.https import trusting
    from clearlane.client.transport import Response

    account = caller.client.account
    url = (
        f"{account.base_url.rstrip('/')}/sandbox/{path}?{urlencode({'vendorSiteId': account.site})}"
    )
    pair = b64encode(f"{account.key}:{account.password}".encode()).decode()
    try:
        with httpx.Client(verify=trusting(account.ca_file), timeout=SECONDS_MAX) as line:
            answer = line.request(
                "GET" if body is None else "POST",
                url,
                headers={"Authorization": f"Basic {pair}", "Content-Type": "application/json"},
                content=None if body is None else msgspec.json.encode(body),
            )
    except (httpx.ConnectError, httpx.ConnectTimeout):
        # The library's words may hold the address with all that stands in it.
        raise NotReached(
            f"The service cannot be reached at {account.base_url}.", call=path
        ) from None
    except httpx.HTTPError:
        raise AnswerLost("The answer did not arrive.", call=path) from None
    if answer.status_code != 200:
        fault = refusal(path, Response(answer.status_code, dict(answer.headers), answer.content))
        if isinstance(fault, NotFound):
            misuse(NO_SANDBOX)
        raise fault
    return msgspec.json.decode(answer.content)


def _show_clock(caller: Caller, clock: dict[str, Any]) -> None:
    if caller.as_json:
        show_json(clock)
        return
    days, seconds = divmod(clock["AdvancedSeconds"], 86_400)
    hours, minutes = seconds // 3_600, seconds % 3_600 // 60
    pace = "stand still" if clock["Frozen"] else f"last {clock['SecondsPerDay']:g} seconds"
    ahead = f"{days} day{'' if days == 1 else 's'} {hours:02}:{minutes:02} ahead of the world"
    typer.echo(f"It is {clock['Now']}, {ahead}.")
    typer.echo(f"Payers' days {pace}.")
