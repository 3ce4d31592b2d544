"""The doctor's look from inside, on the machine of an installation: settings, database, nodes, routes."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from clearlane.cli.doctor import Check, Verdict, fine
from clearlane.cli.serve import DO, HERE_ALONE, is_known_here_alone
from clearlane.cli.storage_command import open_store
from clearlane.settings import BadSettings, Settings, load
from clearlane.store import migrate
from clearlane.store.database import StoreFault
from clearlane.store.nodes import NODES, Node, living
from clearlane.store.routes import list_routes

PUBLIC_URL = Check("public url", Verdict.WARNING, HERE_ALONE, DO)


def installation_checks(data: Path | None) -> Iterator[Check]:
    """What an operator can see, where there is an installation."""
    try:
        settings = load(overrides={"data": data})
    except BadSettings as faults:
        yield Check("settings", Verdict.FAULT, "Settings cannot be used.", str(faults))
        return
    if not settings.on_postgresql and not settings.sqlite_file.exists():
        yield Check(
            "installation", Verdict.SKIPPED, f"There is none in {settings.data} on this machine."
        )
        return
    try:
        found = asyncio.run(_look(settings))
    except (StoreFault, OSError) as fault:
        yield Check("database", Verdict.FAULT, "It cannot be opened.", str(fault))
        return
    yield from found


async def _look(settings: Settings) -> list[Check]:
    state = await migrate.state(url=settings.database_url, sqlite_file=settings.sqlite_file)
    if state.standing is not migrate.Standing.CURRENT:
        return [Check("database", Verdict.FAULT, "The schema is not ours.", state.sentence)]
    async with open_store(settings.data) as store:
        async with store.database.read(NODES) as tx:
            nodes = await living(tx)
        active = sum(route.active for route, _ in await list_routes(store.database))
    kind = "PostgreSQL" if settings.on_postgresql else str(settings.sqlite_file)
    return [
        *([PUBLIC_URL] if is_known_here_alone(settings) else []),
        fine("database", f"{kind}. {state.sentence}"),
        _nodes(nodes),
        _routes(active, sandbox=settings.sandbox),
    ]


def _nodes(nodes: list[Node]) -> Check:
    if not nodes:
        return Check("nodes", Verdict.WARNING, "None is running.", "Start one: clearlane serve.")
    return fine("nodes", ", ".join(f"{node.role} on {node.host}" for node in nodes))


def _routes(active: int, *, sandbox: bool) -> Check:
    if sandbox:
        return fine("routes", "A sandbox sends everything to its own test payers.")
    if not active:
        return Check("routes", Verdict.WARNING, "None is active.", "Add one: clearlane route add.")
    return fine("routes", f"{active} active. Each is tried by: clearlane route test ID.")
