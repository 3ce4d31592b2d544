"""Sender and receiver of an inbox file: nothing of a stranger's file, or of one for somebody else, is booked."""

import pytest

from clearlane.claims.responses.identify import identify
from clearlane.connect.connections import PayerRoute
from clearlane.payers.routes import RouteKind, RouteSecrets, read_route
from clearlane.pipeline.inbound import receive
from clearlane.pipeline.inbound.check_addresses import check_addresses
from clearlane.pipeline.operator import inbox_admin
from clearlane.pipeline.route_connections import payer_route
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.delivery import inbox
from clearlane.store.delivery.file_query import FileQuery, find_inbox_files
from clearlane.store.delivery.payers import import_payers
from clearlane.store.delivery.routes import RouteWithSecrets, add_route, load_route
from tests.claims.answers import paid, payment
from tests.databases import START
from tests.pipeline.flowing import PAYER, Flow, invented_payer

NORA = Actor("operator", "nora")
ACCOUNT = "QUILL77"
REMIT = payment(paid(ACCOUNT, "1", "100", "80", "CAS*CO*45*20"))


def readdressed(content=REMIT, **ids):
    """The file with other ids: isa05 to isa08, gs02, gs03."""
    rows = content.decode().split("~")
    for at, row in enumerate(rows):
        elements = row.strip().split("*")
        for name, value in ids.items():
            segment, number = name[:-2].upper(), int(name[-2:])
            if elements[0] == segment:
                elements[number] = f"{value:15}" if name in {"isa06", "isa08"} else value
        rows[at] = "*".join(elements)
    return "~".join(rows).encode()


def own_ids(content=REMIT):
    [isa] = [each for each in identify(content).addresses if not each.is_group]
    return isa


def route_for(**changes):
    isa = own_ids()
    ids = {
        "sender_id": isa.receiver.strip(), "sender_qualifier": isa.receiver_qualifier,
        "receiver_id": isa.sender.strip(), "receiver_qualifier": isa.sender_qualifier,
    }  # fmt: skip
    return PayerRoute(route_id=1, payer_id=PAYER, type="Medical", kind="memory", **ids | changes)


# What is changed in the file, what the route knows beside, foreign receivers and unknown senders.
CASES = {
    "as agreed": ({}, {}, 0, 0),
    "another receiver": ({"isa08": "SOMEBODY"}, {}, 1, 0),
    "another sort of receiver": ({"isa07": "30"}, {}, 1, 0),
    "another receiver of the group": ({"gs03": "SOMEBODY"}, {}, 1, 0),
    "another sender": ({"isa06": "STRANGER"}, {}, 0, 1),
    "another sort of sender": ({"isa05": "30"}, {}, 0, 1),
    "another sender of the group": ({"gs02": "STRANGER"}, {}, 0, 1),
    "a remembered sender": ({"isa06": "STRANGER"}, {"senders": "ZZ:STRANGER"}, 0, 0),
    "a remembered sender, in the group too": (
        {"isa06": "STRANGER", "gs02": "STRANGER"}, {"senders": "ZZ:STRANGER"}, 0, 0,
    ),
    "a remembered sender of the group": ({"gs02": "STRANGER"}, {"senders": "ZZ:X|GS:STRANGER"}, 0, 0),
    "small letters": ({"gs02": "stranger"}, {"senders": "GS:STRANGER"}, 0, 0),
    "the agreed group": ({"gs02": "GROUP1", "gs03": "GROUP2"}, {"group_receiver": "GROUP1", "group_sender": "GROUP2"}, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize(("ids", "known", "receivers", "senders"), CASES.values(), ids=CASES.keys())
def test_the_addresses_of_a_file_are_compared_with_its_route(ids, known, receivers, senders):
    found = check_addresses(identify(readdressed(**ids)).addresses, route_for(**known))
    assert (len(found.receivers), len(found.senders)) == (receivers, senders)


@pytest.fixture
async def flow(place, clock):
    database = await place.open(clock)
    yield await Flow.open(place, database, clock)
    await database.close()


async def test_a_file_for_another_receiver_is_quarantined_and_books_nothing(flow):
    [claim_number], _ = await flow.sent(F26_PatientAcctNumber=ACCOUNT)
    assert await flow.arrive(readdressed(isa08="SOMEBODY")) == [inbox.QUARANTINED]
    [file] = await flow.files()
    assert "for another receiver, ZZ:SOMEBODY" in file.reason
    assert (await flow.status(claim_number)).state == "sent"


async def test_a_file_of_an_unknown_sender_waits_until_an_operator_accepts_it(flow):
    [claim_number], _ = await flow.sent(F26_PatientAcctNumber=ACCOUNT)
    strange = readdressed(isa06="STRANGER")
    assert await flow.arrive(strange) == [inbox.UNKNOWN_SENDER]
    assert (await flow.status(claim_number)).state == "sent"
    async with flow.database.read(inbox.SCOPE) as tx:
        query = FileQuery(where={"state": inbox.UNKNOWN_SENDER}, limit=10)
        [file] = await find_inbox_files(tx, query)
    assert f"clearlane inbox accept {file.id} --remember" in file.reason
    again = await inbox_admin.replay(flow.context, file.id, actor=NORA)
    assert again.state == inbox.UNKNOWN_SENDER
    accepted, _ = await inbox_admin.accept(flow.context, file.id, remember=False, actor=NORA)
    assert accepted.state == inbox.APPLIED
    assert (await flow.status(claim_number)).state == "complete"
    with pytest.raises(OperationRefused, match="no sender to accept"):
        await inbox_admin.accept(flow.context, file.id, remember=False, actor=NORA)


def test_accept_with_remember_adds_the_sender_to_the_route(clearlane, within):
    """The other files that wait for the same reason are applied, and later ones at once."""

    async def leave(flow):
        await import_payers(
            flow.database, [(2, invented_payer(PAYER))], drop_others=False, actor=NORA
        )
        options = {
            "sender_id": route_for().sender_id, "receiver_id": route_for().receiver_id,
            "inbox": "/srv/in", "outbox": "/srv/out",
        }  # fmt: skip
        route, _ = read_route(
            payer_id=PAYER, type="Medical", kind=RouteKind.FOLDER, position=1,
            options=options.items(), secrets=RouteSecrets(),
        )  # fmt: skip
        done = await add_route(
            flow.database, flow.vault, route, RouteSecrets(), now=START, actor=NORA
        )
        known = payer_route(RouteWithSecrets(done.route, RouteSecrets()))
        ids = []
        for at in range(2):
            content = readdressed(isa06="STRANGER", isa13=f"{at:09}", iea02=f"{at:09}")
            ids.append((await receive.receive(flow.context, known, f"f{at}", content)).id)
        return ids, done.route.id

    ids, route_id = within(leave)
    for id in ids:
        clearlane(f"inbox replay {id}")
    listed = clearlane("inbox list --json")
    assert {row["state"] for row in listed} == {inbox.UNKNOWN_SENDER}
    assert clearlane(f"inbox accept {ids[0]} --remember --json")["state"] == inbox.PARKED
    assert {row["state"] for row in clearlane("inbox list --json")} == {inbox.PARKED}

    async def stored(flow):
        return (await load_route(flow.database, flow.vault, route_id)).route.options["senders"]

    assert within(stored) == "ZZ:STRANGER"


@pytest.mark.parametrize(
    ("text", "passes"),
    [("ZZ:MEADOW|GS:M1", True), ("zz:meadow", True), ("MEADOW", False), ("", False)],
)
def test_the_senders_of_a_route_are_read(text, passes):
    given = {
        "sender_id": "US",
        "receiver_id": "THEM",
        "inbox": "/i",
        "outbox": "/o",
        "senders": text,
    }
    route, findings = read_route(
        payer_id=PAYER, type="Medical", kind=RouteKind.FOLDER, position=1,
        options=given.items(), secrets=RouteSecrets(),
    )  # fmt: skip
    assert (route is not None) is passes
    assert passes or findings[0].location == "senders"
