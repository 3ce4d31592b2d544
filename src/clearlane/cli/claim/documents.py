"""``clearlane documents``: payer documents about claims, over the service."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from clearlane.cli.command.client_command import (
    ClientSession,
    exit_with,
    usage_error,
    vendor_command,
)
from clearlane.cli.command.output import printable, show_error, show_json

app = typer.Typer(
    help="Payer documents about claims.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)

X12 = "X12Document"


@app.callback()
def documents() -> None:
    """Payer documents about claims."""


@vendor_command(app)
def get(
    session: ClientSession,
    ids: Annotated[
        list[str], typer.Argument(metavar="ID", help="RelatedDocumentId of status records.")
    ],
    x12: Annotated[bool, typer.Option("--x12", help="Only the X12, as the payer sent it.")] = False,
) -> None:
    """Show payer documents by their ids, each with all remittances of its claim: original, reversal, correction.

    Exit status 1 if one of them does not exist.

    Examples: clearlane documents get ID; clearlane documents get ID --x12 | clearlane x12 describe -
    """
    if x12 and session.as_json:
        usage_error("Give --x12 or --json.")
    found = session.client.payer_documents(ids)
    items = list(found)
    if session.as_json:
        show_json(found.raw)
    for item in items if not session.as_json else ():
        if x12:
            typer.echo(str(item.get(X12) or "").replace("~", "~\n").replace("\n\n", "\n"), nl=False)
        else:
            typer.echo("\n".join(_lines(item)) + "\n")
    missing = set(ids) - {str(item.get("DocumentId")) for item in items}
    for id in sorted(missing):
        show_error(
            f"There is no document {id}. `clearlane claim show CLAIM` names those of a claim."
        )
    exit_with(fine=not missing)


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield any object as indented lines, without empty values."""
    pad = "  " * depth
    for name, content in value.items():
        if content in (None, "", [], {}) or name == X12:
            continue
        if isinstance(content, dict):
            yield f"{pad}{name}"
            yield from _lines(content, depth + 1)
        elif isinstance(content, list) and isinstance(content[0], dict):
            for number, each in enumerate(content, 1):
                yield f"{pad}{name} {number}"
                yield from _lines(each, depth + 1)
        else:
            shown = ", ".join(map(str, content)) if isinstance(content, list) else str(content)
            yield pad + printable(f"{name}: {shown}")
