"""Routes in the database: sealed, audited, announced, changed, removed, and seen in the payer directory.

Also tests `store/delivery/routes` and `payers/route_change`.
"""

import json
from dataclasses import replace

import pytest
from sqlalchemy import select

from clearlane.payers.hops import HOP, HopPayer
from clearlane.payers.model import Payer
from clearlane.payers.route_change import RouteEdit, read_change
from clearlane.payers.routes import RouteSecrets
from clearlane.pipeline.route_connections import RouteConnections
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, OperationRefused, SystemScope
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches
from clearlane.store.delivery.batches import BatchFile
from clearlane.store.delivery.payers import import_payers, load_payers
from clearlane.store.delivery.routes import (
    RouteWithSecrets,
    add_route,
    change_route,
    count_waiting,
    list_hop_payers,
    list_routes,
    load_route,
    load_routes,
    remove_route,
    route_history,
    set_active,
    set_hop_payers,
)
from clearlane.store.vault.vault import InvalidSeal, Vault
from tests.connect.invented import route
from tests.connect.sftp_server import HOST_KEY
from tests.databases import START

pytestmark = pytest.mark.one_database

NORA = Actor("operator", "nora")
ALL = SystemScope("a test")
AUDIT = Statement(
    select(schema.audit.c.action, schema.audit.c.ids, schema.audit.c.detail).order_by(
        schema.audit.c.seq
    )
)
REVISIONS = Statement(select(schema.revisions.c.name, schema.revisions.c.revision))
ROWS = Statement(select(schema.routes.c.facts, schema.routes.c.secrets))
HUSH = RouteSecrets(password="hush-hush")


@pytest.fixture
async def vault(database, place, clock):
    made = Vault(database, place.keys(), clock)
    await made.load()
    return made


def sftp(**changes):
    options = {
        "host": "sftp.example", "username": "u", "host_key": HOST_KEY.get_fingerprint(), "inbox": "out", "outbox": "in",
    }  # fmt: skip
    return route("sftp", HUSH, **(options | changes))[0]


def folder(**changes):
    return route("folder", inbox="/srv/in", outbox="/srv/out", **changes)[0]


async def add(database, vault, made, secrets=HUSH):
    held = secrets if made.kind == "sftp" else RouteSecrets()
    return await add_route(database, vault, made, held, now=START, actor=NORA)


async def rows(database, statement):
    async with database.read(ALL) as tx:
        return await tx.rows(statement)


async def has_route(database, id="MDW10"):
    return (await load_payers(database, sandbox=False)).find(id, "Medical").has_route


@pytest.fixture
async def payers(database):
    known = [
        Payer("Medical", "Meadow Mutual", "MM010", "MDW10"),
        Payer("Medical", "Harbor Health Plan", "HHP20", "HHP20"),
    ]
    await import_payers(database, list(enumerate(known, 2)), drop_others=False, actor=NORA)


@pytest.mark.both_databases
async def test_a_route_comes_back_as_it_was_with_its_secrets(database, vault):
    made = sftp(port=2222)
    done = await add(database, vault, made)
    stored = await load_route(database, vault, done.route.id)
    assert stored.route == done.route
    assert (stored.route.options, stored.route.created_at) == (made.options, START)
    assert stored.secrets == HUSH
    assert await list_routes(database) == [(done.route, True)]


async def test_secrets_lie_sealed_and_bound_to_their_row(database, vault, place, clock):
    one = await add(database, vault, sftp())
    ((facts, sealed),) = await rows(database, ROWS)
    assert b"hush" not in sealed
    assert "hush" not in facts
    with pytest.raises(InvalidSeal):
        vault.open(0, "routes", one.route.id + 1, sealed)
    with pytest.raises(InvalidSeal):
        vault.open(1, "routes", one.route.id, sealed)
    another_node = Vault(database, place.keys(), clock)
    await another_node.load()
    assert (await load_route(database, another_node, one.route.id)).secrets == HUSH


@pytest.mark.both_databases
async def test_every_change_is_audited_and_announced(database, vault):
    id = (await add(database, vault, folder())).route.id
    await set_active(database, id, active=False, actor=NORA)
    again = await set_active(database, id, active=False, actor=NORA)
    assert again.revision is None
    await set_active(database, id, active=True, actor=NORA)
    entries = await rows(database, AUDIT)
    assert [action for action, _, _ in entries] == ["route.add", "route.disable", "route.enable"]
    assert {(json.loads(ids)[0], detail) for _, ids, detail in entries} == {
        (str(id), "Medical MDW10 folder")
    }
    revisions = dict(await rows(database, REVISIONS))
    assert (revisions["routes"], revisions["payers"]) == (3, 3)


async def test_a_payer_has_a_route_while_an_active_one_for_files_exists(database, vault, payers):
    assert not await has_route(database)
    id = (await add(database, vault, folder())).route.id
    assert await has_route(database)
    assert not await has_route(database, "HHP20")
    await set_active(database, id, active=False, actor=NORA)
    assert not await has_route(database)
    realtime, secrets = route("core-realtime", HUSH, url="https://core.example/", username="u")
    await add_route(database, vault, realtime, secrets, now=START, actor=NORA)
    assert not await has_route(database), "claims cannot go where only questions are answered"
    assert (await load_payers(database, sandbox=True)).find("MDW10", "Medical").has_route


@pytest.mark.both_databases
async def test_routes_are_found_in_their_order_and_only_while_active(database, vault):
    second = await add(database, vault, folder(position=2))
    first = await add(database, vault, sftp())
    await add(database, vault, folder(payer_id="HHP20"))
    realtime, secrets = route("core-realtime", HUSH, url="https://core.example/", username="u")
    asked = await add_route(database, vault, realtime, secrets, now=START, actor=NORA)
    found = await load_routes(database, vault)
    assert [c.route.id for c in found.file_routes("Medical", "mdw10")] == [
        first.route.id,
        second.route.id,
    ]
    assert [c.route.id for c in found.realtime_routes("Medical", "MDW10")] == [asked.route.id]
    assert found.file_routes("Dental", "MDW10") == []
    assert len(found.all_file_routes()) == 3
    assert found.file_routes("Medical", "MDW10")[0].secrets == HUSH
    await set_active(database, first.route.id, active=False, actor=NORA)
    left = await load_routes(database, vault)
    assert [c.route.id for c in left.file_routes("Medical", "MDW10")] == [second.route.id]


@pytest.mark.both_databases
async def test_a_position_holds_one_active_route(database, vault):
    first = await add(database, vault, folder())
    with pytest.raises(OperationRefused, match=f"taken by route {first.route.id}"):
        await add(database, vault, sftp())
    await set_active(database, first.route.id, active=False, actor=NORA)
    await add(database, vault, sftp())
    with pytest.raises(OperationRefused, match="taken by route"):
        await set_active(database, first.route.id, active=True, actor=NORA)


async def test_an_unknown_route_is_named(database, vault):
    for call in (
        load_route(database, vault, 99),
        set_active(database, 99, active=True, actor=NORA),
    ):
        with pytest.raises(OperationRefused, match="There is no route 99"):
            await call


async def change(database, vault, id, **edit):
    before = await load_route(database, vault, id)
    made, secrets, findings = read_change(before.route, before.secrets, RouteEdit(**edit))
    assert made, findings
    after = RouteWithSecrets(made, secrets)
    return await change_route(database, vault, before, after, actor=NORA)


async def test_a_changed_route_keeps_the_rest_and_its_secrets(database, vault):
    id = (await add(database, vault, sftp(port=2222))).route.id
    await change(database, vault, id, options=[("window_seconds", "300")])
    stored = await load_route(database, vault, id)
    assert (stored.route.number("window_seconds"), stored.route.number("port")) == (300, 2222)
    assert stored.secrets == HUSH
    await change(database, vault, id, secrets=RouteSecrets(password="other"))
    assert (await load_route(database, vault, id)).secrets == RouteSecrets(password="other")
    assert (await change(database, vault, id, options=[("port", "2222")])).revision is None
    entries = [entry for entry in await rows(database, AUDIT) if entry[0] == "route.change"]
    assert [detail for _, _, detail in entries] == [
        "Medical MDW10 sftp: window_seconds from default to 300",
        "Medical MDW10 sftp: password new",
    ]
    history = await route_history(database, id)
    assert [(one.action, one.actor) for one in history] == [
        (action, "operator:nora") for action in ("route.add", "route.change", "route.change")
    ]


@pytest.mark.both_databases
async def test_a_change_of_what_was_changed_meanwhile_is_refused(database, vault):
    id = (await add(database, vault, sftp())).route.id
    before = await load_route(database, vault, id)
    await change(database, vault, id, secrets=RouteSecrets(password="other"))
    after = RouteWithSecrets(replace(before.route, position=2), before.secrets)
    with pytest.raises(OperationRefused, match="Someone else changed route"):
        await change_route(database, vault, before, after, actor=NORA)


@pytest.mark.both_databases
async def test_a_position_that_is_taken_is_refused_on_a_change_too(database, vault):
    await add(database, vault, folder())
    id = (await add(database, vault, folder(position=2))).route.id
    with pytest.raises(OperationRefused, match="Position 1"):
        await change(database, vault, id, position=1)
    await change(database, vault, id, position=3)


async def test_a_removed_route_has_no_secrets_and_is_not_used(database, vault, payers):
    id = (await add(database, vault, sftp())).route.id
    await remove_route(database, id, now=START, actor=NORA)
    [(kept, has_secrets)] = await list_routes(database, with_removed=True)
    assert (kept.removed_at, kept.active, has_secrets) == (START, False, False)
    assert await list_routes(database) == []
    assert not await has_route(database)
    for refused in (
        load_route(database, vault, id),
        set_active(database, id, active=True, actor=NORA),
        remove_route(database, id, now=START, actor=NORA),
    ):
        with pytest.raises(OperationRefused, match="was removed on 2024-03-05"):
            await refused


@pytest.mark.both_databases
async def test_where_files_go_stays_while_one_is_being_sent(database, vault):
    id = (await add(database, vault, sftp())).route.id
    file = BatchFile(route_id=id, control=1, name="a.x12", digest="", content=b"", bytes=0)

    async def send(tx):
        batch_id = await batches.create(
            tx, file, destination=("Medical", "MDW10"), kind="", members=(), now=0
        )
        batch = await batches.lock(tx, batch_id)
        await batches.begin_attempt(tx, batch, holder="work", lease_until=1)

    await database.write(batches.SCOPE, send, actor=NORA)
    with pytest.raises(OperationRefused, match=r"host cannot be changed.*mark-delivered 1"):
        await change(database, vault, id, options=[("host", "other.example")])
    await change(database, vault, id, options=[("window_seconds", "5")])
    assert await count_waiting(database, id) == 1


@pytest.mark.usefixtures("payers")
async def test_a_hop_serves_the_payers_of_its_map_after_their_own_routes(database, vault, clock):
    made = replace(folder(payer_id="NORTHGATE", receiver_name="Northgate"), type=HOP)
    id = (await add(database, vault, made)).route.id
    meadow, harbor = HopPayer("Medical", "MDW10", "60054"), HopPayer("Medical", "HHP20", "60055")
    assert not await has_route(database)
    await set_hop_payers(database, id, [meadow, harbor], actor=NORA)
    direct = (await add(database, vault, folder())).route.id
    connections = RouteConnections(await load_routes(database, vault), clock)
    found = connections.mailbox_routes("Medical", "MDW10")
    assert [(one.route_id, one.hop, one.hop_payer_id, one.receiver_name) for one in found] == [
        (direct, "", "", ""),
        (id, "NORTHGATE", "60054", "Northgate"),
    ]
    (own,) = connections.mailbox_routes(HOP, "NORTHGATE")
    assert (own.payer_id, own.type) == ("NORTHGATE", HOP)
    assert [one.route_id for one in connections.all_mailbox_routes()] == [direct, id]
    # A new map: what is not in it gets nothing more, and is still known.
    same = meadow._replace(payer_id=harbor.payer_id)
    with pytest.raises(OperationRefused, match="cannot both have the id"):
        await set_hop_payers(database, id, [same], actor=NORA)
    changed = harbor._replace(hop_payer_id="60056")
    done = await set_hop_payers(database, id, [changed], drop_others=True, actor=NORA)
    assert done.revision
    assert (await set_hop_payers(database, id, [changed], actor=NORA)).revision is None
    assert await list_hop_payers(database, id) == [changed, meadow._replace(active=False)]
    await remove_route(database, direct, now=START, actor=NORA)
    assert (await has_route(database, "HHP20"), await has_route(database)) == (True, False)
    # The route is disabled: nothing is sent over the hop, and what comes back is still about its payers.
    await set_active(database, id, active=False, actor=NORA)
    connections = RouteConnections(await load_routes(database, vault), clock)
    assert (connections.hops(), connections.mailbox_routes("Medical", "HHP20")) == ([], [])
    assert connections.find_hop("NORTHGATE").knows("MDW10")
    assert connections.find_hop("NOBODY") is None
    with pytest.raises(OperationRefused, match="only a hop has a map"):
        await set_hop_payers(
            database, (await add(database, vault, folder())).route.id, [meadow], actor=NORA
        )
    assert [one.detail for one in await route_history(database, id)] == [
        "Hop NORTHGATE folder",
        "Hop NORTHGATE folder: 2 payers of the map",
        "Hop NORTHGATE folder: 2 payers of the map",
        "Hop NORTHGATE folder",
    ]
