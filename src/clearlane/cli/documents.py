"""``clearlane documents``: what payers wrote about claims, asked of the service."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from clearlane.cli.client_command import Caller, ends_with, misuse, vendor_command
from clearlane.cli.output import printable, show_json

app = typer.Typer(
    help="What payers wrote about claims.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)

X12 = "X12Document"


@app.callback()
def documents() -> None:
    """What payers wrote about claims."""


@vendor_command(app)
def get(
    caller: Caller,
    ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="RelatedDocumentId of status records.")
    ],
    x12: Annotated[bool, typer.Option("--x12", help="Only the X12, as the payer sent it.")] = False,
) -> None:
    """Show payer documents by their ids. Exit status 1 where one of them is not there.

    Examples: clearlane documents get ID; clearlane documents get ID --x12 | clearlane x12 describe -
    """
    if x12 and caller.as_json:
        misuse("Give --x12 or --json.")
    found = caller.client.payer_documents(ids)
    items = list(found)
    if caller.as_json:
        show_json(found.raw)
    for item in items if not caller.as_json else ():
        if x12:
            typer.echo(str(item.get(X12) or "").replace("~", "~\n").replace("\n\n", "\n"), nl=False)
        else:
            typer.echo("\n".join(_lines(item)) + "\n")
    missing = set(ids) - {str(item.get("DocumentId")) for item in items}
    for id in sorted(missing):
        typer.echo(f"There is no document {id}.", err=True)
    ends_with(fine=not missing)


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    """An object as indented lines, whatever its shape; what is absent is left out."""
    pad = "  " * depth
    for name, held in value.items():
        if held in (None, "", [], {}) or name == X12:
            continue
        if isinstance(held, dict):
            yield f"{pad}{name}"
            yield from _lines(held, depth + 1)
        elif isinstance(held, list) and isinstance(held[0], dict):
            for number, each in enumerate(held, 1):
                yield f"{pad}{name} {number}"
                yield from _lines(each, depth + 1)
        else:
            shown = ", ".join(map(str, held)) if isinstance(held, list) else str(held)
            yield pad + printable(f"{name}: {shown}")
