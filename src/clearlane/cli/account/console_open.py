"""`clearlane console`: open the console of a sandbox as its operator."""

import os
import sys
import webbrowser

import typer

from clearlane.cli.command.operator_command import AsJson, run_in_installation, show_json
from clearlane.cli.command.output import show_text
from clearlane.cli.command.storage_command import Data, operator, refuse
from clearlane.client import from_sandbox
from clearlane.wiring import Installation

app = typer.Typer(no_args_is_help=True, help="Open the console of a sandbox.", add_completion=False)
DISPLAY_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY")


@app.callback()
def console() -> None:
    """Open the console of a sandbox."""


@app.command("open")
def open_(as_json: AsJson = False, data: Data = None) -> None:
    """Print a one-time address that signs an operator in to a sandbox's console; at a terminal, open it.

    Example: clearlane console open
    """
    from clearlane.pipeline.access import sign_in_link

    async def work(installation: Installation) -> str:
        if not installation.settings.sandbox:
            refuse(
                "One-time addresses of an operator are for sandboxes. "
                "Add a person with `clearlane user add`, and sign in at /console/."
            )
        context, now = installation.work_context, installation.wall.now()
        user = await sign_in_link.ensure_sandbox_operator(context, now=now, actor=operator())
        code = await sign_in_link.create_sign_in_link(context, user, now=now, actor=operator())
        return f"{_base_url(installation).rstrip('/')}{sign_in_link.SIGN_IN_LINK_PATH}{code}"

    url = run_in_installation(data, work)
    if as_json:
        show_json({"url": url})
        return
    typer.echo(url)
    show_text("Valid once, for 10 minutes. The browser asks about the sandbox's own certificate.")
    if _can_open_browser():
        webbrowser.open(url)


def _base_url(installation: Installation) -> str:
    try:
        return from_sandbox(installation.settings.data).base_url
    except (OSError, ValueError) as fault:
        refuse(str(fault))


def _can_open_browser() -> bool:
    """Return whether a person at a terminal has a browser with a window."""
    windows = sys.platform in {"darwin", "win32"} or any(map(os.environ.get, DISPLAY_VARIABLES))
    return sys.stdout.isatty() and windows
