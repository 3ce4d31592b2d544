"""`clearlane keys`: show, create and rotate the master key."""

from typing import TYPE_CHECKING

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.output import show_change, show_json
from clearlane.cli.command.storage_command import (
    Data,
    DryRun,
    Store,
    Yes,
    confirm,
    exit_on_refusal,
    load_settings,
    master_keys,
    refuse,
    with_store,
)

if TYPE_CHECKING:
    from clearlane.settings import Settings
    from clearlane.store.vault.key_rotation import RotationResult

app = typer.Typer(
    no_args_is_help=True, help="The master key: show, create, rotate.", add_completion=False
)


@app.command()
def show(as_json: AsJson = False, data: Data = None) -> None:
    """List the ids of the master keys and how many keys each of them wraps.

    Example: clearlane keys show --data .data
    """
    from clearlane.store.vault.key_rotation import count_wrapped_keys

    async def work(store: Store) -> tuple[tuple[str, ...], dict[str, int]]:
        return store.keys.ids, await count_wrapped_keys(store.database)

    settings = load_settings(data)
    source = settings.key_source
    with exit_on_refusal():
        key_ids = master_keys(settings).ids
    if not key_ids:
        refuse(f"There is no master key in {source}. For a new installation: clearlane keys create")
    started = settings.on_postgresql or settings.sqlite_file.exists()
    ids, wrapped = with_store(data, work) if started else (key_ids, {})
    if as_json:
        keys = [{"id": id, "wraps": wrapped.get(id, 0)} for id in ids]
        show_json({"source": source, "keys": keys})
        return
    typer.echo(f"Master keys from {source}, the one that wraps first:")
    for id in ids:
        typer.echo(f"  {id}  wraps {wrapped.get(id, 0)} keys")


@app.command()
def create(as_json: AsJson = False, data: Data = None) -> None:
    """Create the key file of a new installation.

    Example: clearlane keys create --data /var/lib/clearlane
    """
    from clearlane.store.vault.keys import new_master_key, write_key_file

    settings = load_settings(data)
    if not settings.has_key_file:
        refuse(f"{settings.key_source} is set, so no key file is used.")
    key = new_master_key()
    with exit_on_refusal():
        try:
            write_key_file(settings.key_file, [key], over=False)
        except FileExistsError:
            refuse(f"{settings.key_file} exists already. To change the key: clearlane keys rotate")
    show_change(
        f"The master key {key.id} was created in {settings.key_file}.\n"
        "Keep a copy in a safe place: without it the data cannot be read, and no backup holds it.",
        as_json=as_json,
        master_id=key.id,
        file=str(settings.key_file),
    )


@app.command()
def rotate(
    dry_run: DryRun = False, yes: Yes = False, as_json: AsJson = False, data: Data = None
) -> None:
    """Change the master key while nodes serve. The old key is kept beside the key file.

    Example: clearlane keys rotate --yes --data /var/lib/clearlane
    """
    from clearlane.store.vault.key_rotation import count_wrapped_keys
    from clearlane.store.vault.key_rotation import rotate as rotated

    async def count(store: Store) -> int:
        return sum((await count_wrapped_keys(store.database)).values())

    if dry_run:
        counted = with_store(data, count)
        message = f"{counted} keys would be re-wrapped."
        show_change(message, as_json=as_json, dry_run=True, rewrapped=counted)
        return
    confirm("Every node needs the new master key from now on, and so do new backups.", yes=yes)
    done = with_store(data, lambda store: rotated(store.database, store.keys, store.actor))
    show_change(
        "\n".join(_rotation_lines(load_settings(data), done)),
        as_json=as_json,
        master_id=done.master_id,
        rewrapped=done.rewrapped,
        old=list(done.dropped),
        kept=[str(file) for file in done.kept],
    )


def _rotation_lines(settings: "Settings", done: "RotationResult") -> list[str]:
    lines = [f"{done.rewrapped} keys were re-wrapped; everything is wrapped with {done.master_id}."]
    if not settings.has_key_file:
        old = ", ".join(done.dropped) or "none"
        return [*lines, f"Keys that can be taken out of {settings.key_source} now: {old}."]
    lines.append(f"{settings.key_file} holds the new key alone: keep a copy in a safe place.")
    kept = ", ".join(map(str, done.kept)) or "no file"
    return [
        *lines,
        f"The old key is kept in {kept}: backups made before need it. Delete it with the last of them.",
    ]
