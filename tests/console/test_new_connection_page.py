"""Add a connection in the console, against a real SFTP server: key, host key, test step by step, save, use, remove.

Also tests `console/operator/route_settings`, `connect/ssh_login` and `pipeline/operator/new_route`.
"""

import re
from html import unescape

import asyncssh
import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.connect.port import Denied, Unreachable
from clearlane.connect.ssh_login import make_key_pair, public_key_of, read_host_key
from clearlane.payers.routes import RouteKind
from clearlane.store.audit import audit
from clearlane.store.delivery.routes import list_routes, load_route
from tests.connect import core_server
from tests.connect import sftp_server as there
from tests.console.sandbox_console import open_sandbox_console

pytestmark = pytest.mark.one_database

NEW = "/payers/new?kind=sftp&to=Medical:TST01"
PATH = "/payers/medical/TST01"


@pytest.fixture
async def sandbox(tmp_path):
    async with open_sandbox_console(tmp_path / "data") as made:
        yield made


@pytest.fixture
async def operator(sandbox):
    return await sandbox.person(ConsoleRole.OPERATOR)


@pytest.fixture
async def payer(tmp_path):
    async with there.sftp_payer(tmp_path) as started:
        yield started


def typed_in(position="1", **given):
    """The fields of the form."""
    return {"position": position} | {f"route-{name}": text for name, text in given.items()}


def settings(payer, **changed):
    given = {
        "host": "127.0.0.1", "port": str(payer.port), "username": there.USER, "inbox": "/out", "outbox": "/in",
        "allow_internal": "yes", "sender_id": "US", "receiver_id": "MEADOW",
    } | changed  # fmt: skip
    return typed_in(**given)


def kept(answer):
    """What a page of settings carries into its next form besides what one types."""
    page = answer.body.decode()
    names = ("sealed", "fetched", "fetched_from", "route-host_key")
    found = {one: re.search(rf'name="{one}"[^>]* value="([^"]*)"', page) for one in names}
    return {name: unescape(match[1]) for name, match in found.items() if match}


async def stored(sandbox):
    return [one for one, _ in await list_routes(sandbox.installation.database)]


async def actions(sandbox):
    rows = audit.read_between(sandbox.installation.database, audit.BEFORE_ALL, 1 << 62)
    return [row["action"] async for row in rows if str(row["action"]).startswith("route.")]


async def test_payer_and_kind_are_chosen_first(operator):
    page = await operator.text("/payers/new")
    for words in (
        "SFTP",
        "Folder",
        "CAQH CORE, real time",
        "step 1 of 2",
        "upstream clearinghouse",
    ):
        assert words in page, words
    assert 'value="Medical:TST01"' in await operator.text("/payers/find?q=sandbox+medical")
    assert "No payer of the directory" in await operator.text("/payers/find?q=zzzzqqqq")
    assert not (await operator.text("/payers/find?q=")).strip()
    for query, words in (
        ("kind=sftp", "Choose a payer from those that fit"),
        ("kind=odd&to=Medical:TST01", "Choose how the payer is reached."),
        ("kind=sftp&to=Medical:NOBODY", "There is no medical payer NOBODY."),
        ("kind=sftp&to=Odd:TST01", "Choose a payer from those that fit"),
        ("kind=sftp&q=sandbox", 'name="to" value='),
        ("kind=sftp&hop=x", "A hop has an id of 2 to 15 capital letters"),
        ("kind=sftp&hop=tst01", "is the id of a payer"),
        ("kind=core-realtime&hop=EASTER", "There is no hop EASTER yet."),
    ):
        assert words in await operator.text(f"/payers/new?{query}"), query
    for query in ("kind=core&q=TST02", "kind=core&to=Dental:TST02"):
        assert "step 2 of 2" in await operator.text(f"/payers/new?{query}")
    assert "Connect EASTER" in await operator.text("/payers/new?kind=sftp&hop=easter")
    answer = await operator.ask("/payers/new?kind=sftp", form={"do": "test"})
    assert answer.status_code == 400


async def test_a_connection_is_added_with_the_keys_of_both_sides(sandbox, operator, payer):
    """The server's host key is fetched and compared, our key is made, each step is tested, and the route works."""
    page = await operator.text(NEW)
    for words in ("Who we are to this payer (ISA06).", "Fetch the server's host key", "Make a key"):
        assert words in unescape(page), words
    typed = settings(payer)
    answer = await operator.ask(NEW, form={**typed, "do": "host"})
    fingerprint = there.HOST_KEY.get_fingerprint()
    assert kept(answer)["route-host_key"] == fingerprint
    assert b"I compared it with the fingerprint" in answer.body
    typed |= kept(answer)
    answer = await operator.ask(NEW, form={**typed, "do": "key"})
    public = re.search(r"(ssh-ed25519 [\w+/=]+ clearlane)", answer.body.decode())[1]
    assert b"PRIVATE KEY" not in answer.body
    typed |= kept(answer)
    # The key that we fetched ourselves proves nothing before a person has compared it.
    answer = await operator.ask(NEW, form={**typed, "do": "test"})
    assert (answer.status_code, b"the payer gave you, then tick the box" in answer.body) == (
        400,
        True,
    )
    assert not payer.connections
    typed |= {"compared": "yes"}
    answer = await operator.ask(NEW, form={**typed, "do": "add"})
    assert answer.status_code == 409
    for words in ("The connection does not work", "login", "refused the login"):
        assert words in answer.body.decode(), words
    assert await stored(sandbox) == []
    # The payer has not installed our key yet, so the connection is kept and tried again later.
    answer = await operator.ask(NEW, form={**typed, "do": "later"})
    assert answer.headers["location"] == f"/console{PATH}?done=kept"
    [route] = await stored(sandbox)
    assert (route.active, route.options["host_key"]) == (False, fingerprint)
    assert "letters" not in route.options
    page = await operator.text(PATH)
    assert public in page
    # The page names things as the form does, and shows what most connections need first.
    assert f"Route {route.id}: SFTP</h2>" in page
    assert "<dt>Sender id</dt><dd>US</dd>" in page
    settings_shown = page[page.index("Change the settings") :]
    usual, further = settings_shown.split("<h3>Further settings</h3>")
    assert [name in usual for name in ("route-host", "route-password", "route-inbox")] == [True] * 3
    assert "route-window_seconds" in further
    assert "sender_id" not in usual.replace("route-sender_id", "").replace("-sender_id", "")
    assert "Not in use" in page
    answer = await operator.ask(f"{PATH}/use/{route.id}", form={})
    assert (answer.status_code, b"refused the login" in answer.body) == (409, True)
    # It has now, and the route is taken into use.
    mine = (
        await load_route(sandbox.installation.database, sandbox.installation.vault, route.id)
    ).secrets
    accepted, before = asyncssh.import_private_key(mine.private_key), there.CLIENT_KEY
    there.CLIENT_KEY = accepted
    try:
        answer = await operator.ask(f"{PATH}/use/{route.id}", form={})
    finally:
        there.CLIENT_KEY = before
    assert answer.headers["location"] == f"/console{PATH}?done=used"
    assert "In use" in await operator.text(PATH)
    assert await actions(sandbox) == ["route.add", "route.enable"]


async def test_a_password_is_asked_once_and_the_steps_of_the_test_are_shown(
    sandbox, operator, payer
):
    typed = settings(payer, host_key=there.HOST_KEY.get_fingerprint())
    answer = await operator.ask(NEW, form={**typed, "route-password": there.PASSWORD, "do": "test"})
    page = unescape(answer.body.decode())
    assert answer.status_code == 200
    for words in (
        "The connection works; nothing was sent.",
        "logged in to 127.0.0.1",
        "/in is there",
    ):
        assert words in page, words
    assert there.PASSWORD not in page
    assert await stored(sandbox) == []
    answer = await operator.ask(NEW, form={**typed, **kept(answer), "do": "add"})
    assert answer.headers["location"] == f"/console{PATH}?done=added"
    assert "The connection works and is in use." in await operator.text(f"{PATH}?done=added")
    assert 'value="2"' in await operator.text(NEW)
    # A second one of the same position is refused, with what is wrong at its field.
    answer = await operator.ask(NEW, form={**typed, "route-password": there.PASSWORD, "do": "add"})
    assert (answer.status_code, b"is taken by route" in answer.body) == (409, True)


async def test_every_fault_is_at_its_field(operator, payer):
    wrong = settings(payer, window_seconds="soon", position="x", host="a b", host_key="")
    answer = await operator.ask(NEW, form={**wrong, "do": "test"})
    page = unescape(answer.body.decode())
    assert answer.status_code == 400
    for words in (
        "settings are to be fixed: marked below.",
        "give a whole number from 0 to 86400",
        "Give a number from 1 to 9",
        "The option is required: The server's host key",
        "One of these secrets is required.",
    ):
        assert words in page, words
    assert page.count('aria-invalid="true"') == 3
    assert 'value="soon"' in page
    for changed, words in (
        ({"host": ""}, "Give the server's host name first."),
        ({"port": "many"}, "give a whole number from 1 to 65535"),
        ({"allow_internal": "no"}, "internal"),
        ({"port": "1"}, "cannot be reached"),
    ):
        answer = await operator.ask(NEW, form={**settings(payer, **changed), "do": "host"})
        assert answer.status_code in {400, 409}, changed
        assert words in unescape(answer.body.decode()), changed


async def test_what_a_removal_would_stop_is_said_first(sandbox, operator, tmp_path):
    for name in ("out", "in"):
        (tmp_path / name).mkdir()
    folder = "/payers/new?kind=folder&to=Medical:TST01"
    typed = typed_in(
        outbox=str(tmp_path / "out"),
        inbox=str(tmp_path / "in"),
        sender_id="US",
        receiver_id="MEADOW",
    )
    for position in ("1", "2"):
        answer = await operator.ask(folder, form={**typed, "position": position, "do": "add"})
        assert answer.headers["location"].endswith("?done=added")
    first, second = [one.id for one in await stored(sandbox)]
    page = await operator.text(f"{PATH}/remove/{first}")
    for words in ("no longer collected", f"Claims go over route {second} from now on."):
        assert words in page, words
    answer = await operator.ask(f"{PATH}/remove/{first}", form={})
    assert answer.headers["location"] == "/console/payers?done=removed"
    page = await operator.text(f"{PATH}/remove/{second}")
    assert "has no other route: claims to it are accepted, and wait until it has one." in page
    assert re.search(r"\d+ claims?, \$[\d,.]+: waiting to be sent\.", page)
    assert re.search(r"\d+ questions?: asked, and not answered\.", page)
    answer = await operator.ask(f"{PATH}/stop/{second}", form={})
    assert answer.headers["location"] == f"/console{PATH}?done=stopped"
    page = await operator.text(f"{PATH}/remove/{second}")
    assert "It is not in use, so nothing stops." in page
    assert [(one.id, one.active) for one in await stored(sandbox)] == [(second, False)]
    assert (await operator.ask(f"{PATH}/remove/99")).status_code == 404
    assert await actions(sandbox) == ["route.add", "route.add", "route.remove", "route.disable"]


async def test_a_route_in_real_time_is_listed_too(sandbox, operator):
    core = "/payers/new?kind=core-realtime&to=Dental:TST02"
    typed = typed_in(
        url="https://core.example.org/", username="us", password="harbor", sender_id="US",
        receiver_id="MEADOW", form="mime",
    )  # fmt: skip
    answer = await operator.ask(core, form={**typed, "do": "later"})
    assert answer.headers["location"] == "/console/payers/dental/TST02?done=kept"
    assert "core-realtime" in await operator.text("/payers/dental/TST02")
    [route] = await stored(sandbox)
    assert (route.kind, route.options["form"]) == (RouteKind.CORE_REALTIME, "mime")
    change = f"/payers/dental/TST02/change/{route.id}"
    answer = await operator.ask(change, form={"route-usage": "T", "route-form": "mime"})
    assert answer.headers["location"].endswith("?done=changed")
    assert (await stored(sandbox))[0].options["usage"] == "T"
    page = await operator.text(f"/payers/dental/TST02/remove/{route.id}")
    assert "nothing stops" in page


@pytest.mark.parametrize("kind", ["core", "core-realtime"])
async def test_a_core_connection_is_tested_against_its_service_and_used(sandbox, operator, kind):
    page = f"/payers/new?kind={kind}&to=Medical:TST01"
    async with core_server.core_payer() as service:
        typed = typed_in(
            url=f"https://127.0.0.1:{service.port}/core", username=core_server.USER,
            authority=core_server.AUTHORITY_PEM, allow_internal="yes", sender_id="US", receiver_id="MEADOW",
        )  # fmt: skip
        given = {**typed, "route-password": core_server.PASSWORD}
        answer = await operator.ask(page, form={**given, "do": "test"})
        said = unescape(answer.body.decode())
        for words in (
            "The connection works; nothing was sent.",
            "is trusted",
            "login goes with each message",
        ):
            assert words in said
        stranger = {**given, "route-authority": core_server.STRANGER.cert_pem.bytes().decode()}
        refused = await operator.ask(page, form={**stranger, "do": "test"})
        assert b"a certificate of no trusted authority" in refused.body
        assert await stored(sandbox) == []
        answer = await operator.ask(page, form={**typed, **kept(answer), "do": "add"})
        assert answer.headers["location"] == f"/console{PATH}?done=added"
    [route] = await stored(sandbox)
    assert (route.kind.value, route.options["username"]) == (kind, core_server.USER)


async def test_a_server_that_is_none_shows_no_host_key():
    async with there.black_hole() as port:
        with pytest.raises((Denied, Unreachable)):
            await read_host_key("127.0.0.1", port, allow_internal=False)
    with pytest.raises(Unreachable, match="cannot be reached, or is no SSH server"):
        await read_host_key("127.0.0.1", 1, allow_internal=True)


def test_a_key_pair_shows_its_public_half_alone():
    pair = make_key_pair()
    assert public_key_of(pair.private_key) == pair.public_key
    assert "PRIVATE" not in repr(pair)
    locked = there.CLIENT_KEY.export_private_key("pkcs8-pem", passphrase="birch").decode()
    assert (public_key_of(locked), public_key_of("nonsense"), public_key_of("")) == ("", "", "")
