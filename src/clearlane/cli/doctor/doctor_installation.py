"""Checks of ``clearlane doctor`` on the machine of an installation: settings, database, nodes, routes."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from clearlane.cli.doctor.doctor_checks import DoctorCheck, DoctorVerdict, judge
from clearlane.cli.doctor.doctor_production import production_checks
from clearlane.cli.doctor.installation_measures import measure_installation
from clearlane.cli.doctor.sftp_summary import sftp_summary
from clearlane.cli.installation.serve import LOCAL_URL_ADVICE, LOCAL_URL_WARNING, has_local_url_only
from clearlane.payers.hops import Hop
from clearlane.pipeline.query.installation.conditions import CONDITIONS, raised_conditions
from clearlane.pipeline.query.installation.measures import Measures
from clearlane.settings import InvalidSettings, Settings, load
from clearlane.store.database import migrate
from clearlane.store.database.database import StoreFault
from clearlane.store.delivery.routes import list_routes
from clearlane.store.installation.nodes import Node
from clearlane.wiring import open_installation

PUBLIC_URL = DoctorCheck("public url", DoctorVerdict.WARNING, LOCAL_URL_WARNING, LOCAL_URL_ADVICE)


def installation_checks(data: Path | None) -> Iterator[DoctorCheck]:
    """Yield the checks of the installation, if there is one on this machine."""
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
    state = await migrate.schema_status(url=settings.session_url, sqlite_file=settings.sqlite_file)
    if not state.is_usable:
        return [
            DoctorCheck(
                "database",
                DoctorVerdict.FAULT,
                "The schema is not the one of this version.",
                state.sentence,
            )
        ]
    async with open_installation(settings, role="command") as installation:
        measures = await measure_installation(installation)
        active = sum(route.active for route, _ in await list_routes(installation.database))
        sftp, sftp_advice = await sftp_summary(installation)
    through = " through a pooler" if settings.database_direct_url else ""
    kind = f"PostgreSQL{through}" if settings.on_postgresql else str(settings.sqlite_file)
    return [
        *([PUBLIC_URL] if has_local_url_only(settings) else []),
        judge("database", f"{kind}. {state.sentence}"),
        _nodes(measures.nodes),
        _routes(active, sandbox=settings.sandbox),
        *map(_hop, installation.connections.hops()),
        *([judge("sftp", sftp, sftp_advice)] if sftp else []),
        *_conditions(measures),
    ]


# The doctor also runs before the first start, when a missing node is not a fault.
ONLY_A_WARNING = frozenset({"no-node"})


def _conditions(measures: Measures) -> Iterator[DoctorCheck]:
    """Yield a check for each condition that is raised, or one that says that none is."""
    raised = [
        each for each in raised_conditions(measures) if each.condition.name not in ONLY_A_WARNING
    ]
    for each in raised:
        verdict = DoctorVerdict(each.condition.severity.value)
        yield DoctorCheck(each.condition.name, verdict, each.sentence, each.condition.do)
    if not raised:
        yield judge("conditions", f"None of {len(CONDITIONS)} is raised.")


def _nodes(nodes: Sequence[Node]) -> DoctorCheck:
    if not nodes:
        return judge("nodes", "None is running.", "Start one: clearlane serve.")
    return judge("nodes", ", ".join(f"{node.role} on {node.host}" for node in nodes))


def _hop(hop: Hop) -> DoctorCheck:
    """Say how many payers a hop serves; one without payers is sent nothing."""
    name, served = f"hop {hop.id}", len(hop.served)
    if not served:
        return judge(
            name, "Its map is empty.", f"Give it payers: clearlane hop import {hop.id} FILE"
        )
    return judge(name, f"Serves {served} payers. To see them: clearlane hop show {hop.id}")


def _routes(active: int, *, sandbox: bool) -> DoctorCheck:
    if sandbox:
        return judge("routes", "A sandbox sends everything to its own test payers.")
    if not active:
        return judge("routes", "None is active.", "Add one: clearlane route add.")
    return judge("routes", f"{active} active. To test one: clearlane route test ID.")
