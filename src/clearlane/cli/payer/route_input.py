"""Read the options and secrets of a route from a command line, files and a terminal.

Secrets are never given on a command line, because every user of the machine could read them there.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.storage_command import MISUSED, refuse
from clearlane.kernel import limits
from clearlane.payers.routes import SECRET_NAMES, RouteSecrets

STANDARD = "-"

Option = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="See `clearlane route options KIND`."),
]
OptionFile = Annotated[
    list[str] | None,
    typer.Option("--option-file", metavar="NAME=PATH", help="An option from a file."),
]
Secret = Annotated[
    list[str] | None,
    typer.Option("--secret", metavar="NAME", help="Ask for a secret on the terminal."),
]
SecretFile = Annotated[
    list[str] | None,
    typer.Option("--secret-file", metavar="NAME=PATH", help="A secret from a file, or from -."),
]
AllowInternal = Annotated[
    bool, typer.Option("--allow-internal", help="The address may be of an internal network.")
]
Untested = Annotated[
    bool, typer.Option("--untested", help="Do it even if the connection was not tested.")
]


def read_options(
    given: Iterable[str] | None, files: Iterable[str] | None, *, allow_internal: bool
) -> list[tuple[str, str]]:
    """Return names and texts of the options that a command was given."""
    options = [*_pairs("--option", given), *_from_files("--option-file", files)]
    return [*options, ("allow_internal", "yes")] if allow_internal else options


def _pairs(flag: str, given: Iterable[str] | None) -> list[tuple[str, str]]:
    pairs = []
    for text in given or ():
        name, found, value = text.partition("=")
        if not found or not name:
            refuse(f"{flag} {name}: give NAME=VALUE.", MISUSED)
        pairs.append((name.strip(), value))
    return pairs


def _from_files(flag: str, given: Iterable[str] | None) -> list[tuple[str, str]]:
    return [(name, _content(flag, name, path)) for name, path in _pairs(flag, given)]


def _content(flag: str, name: str, path: str) -> str:
    most = limits.ROUTE_OPTION_CHARACTERS_MAX
    try:
        if path == STANDARD:
            text = sys.stdin.read(most + 1)
        else:
            with Path(path).open(encoding="utf-8") as file:
                text = file.read(most + 1)
    except (OSError, UnicodeDecodeError):
        refuse(f"{flag} {name}: the file {path} cannot be read.", MISUSED)
    if len(text) > most:
        refuse(f"{flag} {name}: the file has more than {most} characters.", MISUSED)
    return text


def read_secrets(prompted: Iterable[str] | None, files: Iterable[str] | None) -> RouteSecrets:
    """Return the secrets that a command was given, asking for those without a file."""
    secrets: dict[str, str] = {}
    for name, text in _from_files("--secret-file", files):
        # A line end at the end of the file is not part of a password.
        secrets[_secret_name(name, secrets)] = (
            text.rstrip("\r\n") if name.startswith("pass") else text
        )
    for text in prompted or ():
        # A value on the command line is exposed already; it is refused, so that another one is chosen.
        name, separator, _ = text.partition("=")
        if separator:
            refuse(f"--secret {name}: give the name alone; the secret is prompted for.", MISUSED)
        known = _secret_name(name, secrets)
        secrets[known] = typer.prompt(known, hide_input=True, err=True)
    return RouteSecrets(**secrets)


def _secret_name(name: str, secrets: dict[str, str]) -> str:
    if name not in SECRET_NAMES:
        refuse(f"There is no secret {name}. The secrets are {', '.join(SECRET_NAMES)}.", MISUSED)
    if name in secrets:
        refuse(f"The secret {name} is given twice.", MISUSED)
    return name
