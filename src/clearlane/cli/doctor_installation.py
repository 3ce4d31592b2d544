"""Checks of ``clearlane doctor`` on the machine of an installation: settings, database, nodes, routes."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from clearlane.cli.doctor_checks import DoctorCheck, DoctorVerdict, fine
from clearlane.cli.doctor_production import production_checks
from clearlane.cli.serve import LOCAL_URL_ADVICE, LOCAL_URL_WARNING, has_local_url_only
from clearlane.cli.storage_command import open_store
from clearlane.settings import InvalidSettings, Settings, load
from clearlane.store import migrate
from clearlane.store.database import StoreFault
from clearlane.store.nodes import SCOPE, Node, live_nodes
from clearlane.store.routes import list_routes

PUBLIC_URL = DoctorCheck("public url", DoctorVerdict.WARNING, LOCAL_URL_WARNING, LOCAL_URL_ADVICE)


def installation_checks(data: Path | None) -> Iterator[DoctorCheck]:
    """Yield the checks of the installation, where there is one on this machine."""
    try:
        settings = load(overrides={"data": data})
    except InvalidSettings as faults:
        yield DoctorCheck("settings", DoctorVerdict.FAULT, "Settings cannot be used.", str(faults))
        return
    if not settings.on_postgresql and not settings.sqlite_file.exists():
        yield DoctorCheck(
            "installation",
            DoctorVerdict.SKIPPED,
            f"There is none in {settings.data} on this machine.",
        )
        return
    yield from production_checks(settings)
    try:
        found = asyncio.run(_inspect(settings))
    except (StoreFault, OSError) as fault:
        yield DoctorCheck("database", DoctorVerdict.FAULT, "It cannot be opened.", str(fault))
        return
    yield from found


async def _inspect(settings: Settings) -> list[DoctorCheck]:
    state = await migrate.schema_status(url=settings.database_url, sqlite_file=settings.sqlite_file)
    if state.state is not migrate.SchemaState.CURRENT:
        return [
            DoctorCheck(
                "database",
                DoctorVerdict.FAULT,
                "The schema is not the one of this version.",
                state.sentence,
            )
        ]
    async with open_store(settings.data) as store:
        async with store.database.read(SCOPE) as tx:
            nodes = await live_nodes(tx)
        active = sum(route.active for route, _ in await list_routes(store.database))
    kind = "PostgreSQL" if settings.on_postgresql else str(settings.sqlite_file)
    return [
        *([PUBLIC_URL] if has_local_url_only(settings) else []),
        fine("database", f"{kind}. {state.sentence}"),
        _nodes(nodes),
        _routes(active, sandbox=settings.sandbox),
    ]


def _nodes(nodes: list[Node]) -> DoctorCheck:
    if not nodes:
        return DoctorCheck(
            "nodes", DoctorVerdict.WARNING, "None is running.", "Start one: clearlane serve."
        )
    clocks = [node.clock_warning for node in nodes if node.clock_warning]
    if clocks:
        return DoctorCheck(
            "nodes", DoctorVerdict.WARNING, " ".join(clocks), "Set the clocks by NTP."
        )
    return fine("nodes", ", ".join(f"{node.role} on {node.host}" for node in nodes))


def _routes(active: int, *, sandbox: bool) -> DoctorCheck:
    if sandbox:
        return fine("routes", "A sandbox sends everything to its own test payers.")
    if not active:
        return DoctorCheck(
            "routes", DoctorVerdict.WARNING, "None is active.", "Add one: clearlane route add."
        )
    return fine("routes", f"{active} active. To test one: clearlane route test ID.")
