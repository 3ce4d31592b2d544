"""`clearlane keys`: show, create and rotate the master key."""

import typer

from clearlane.cli.client_command import AsJson
from clearlane.cli.output import show_json
from clearlane.cli.storage_command import (
    Data,
    Store,
    exit_on_refusal,
    load_settings,
    master_keys,
    refuse,
    with_store,
)

app = typer.Typer(
    no_args_is_help=True, help="The master key: show, create, rotate.", add_completion=False
)


@app.command()
def show(as_json: AsJson = False, data: Data = None) -> None:
    """List the ids of the master keys and how many keys each of them wraps.

    Example: clearlane keys show --data .data
    """
    from clearlane.store.key_rotation import count_wrapped_keys

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
def create(data: Data = None) -> None:
    """Create the key file of a new installation.

    Example: clearlane keys create --data /var/lib/clearlane
    """
    from clearlane.store.keys import new_master_key, write_key_file

    settings = load_settings(data)
    if not settings.has_key_file:
        refuse(f"{settings.key_source} is set, so no key file is used.")
    key = new_master_key()
    with exit_on_refusal():
        try:
            write_key_file(settings.key_file, [key], over=False)
        except FileExistsError:
            refuse(f"{settings.key_file} exists already. To change the key: clearlane keys rotate")
    typer.echo(f"The master key {key.id} was created in {settings.key_file}.")
    typer.echo(
        "Keep a copy in a safe place: without it the data cannot be read, and no backup holds it."
    )


@app.command()
def rotate(data: Data = None) -> None:
    """Change the master key while nodes serve.

    Example: clearlane keys rotate --data /var/lib/clearlane
    """
    from clearlane.store.key_rotation import RotationResult
    from clearlane.store.key_rotation import rotate as rotated

    async def work(store: Store) -> RotationResult:
        return await rotated(store.database, store.keys, store.actor)

    done = with_store(data, work)
    settings = load_settings(data)
    typer.echo(
        f"{done.rewrapped} keys were re-wrapped; everything is wrapped with {done.master_id}."
    )
    if not settings.has_key_file:
        old = ", ".join(done.dropped) or "none"
        typer.echo(f"Keys that can be taken out of {settings.key_source} now: {old}.")
        return
    typer.echo(f"{settings.key_file} holds the new key alone: keep a copy in a safe place.")
    typer.echo("Backups made before need the old key: keep its copy as long as you keep them.")
