"""CAQH CORE against a service of our own: fields, order, faults of every layer, and attacks.

Also tests `connect/caqh_core_http`.
"""

import threading
import time
from datetime import UTC, datetime

import pytest

from clearlane.connect import caqh_core_envelope
from clearlane.connect.caqh_core import CoreMailbox, CoreRealtime, role_of, safe_message
from clearlane.connect.caqh_core_http import CoreConnection
from clearlane.connect.factory import check_route, open_mailbox, open_realtime
from clearlane.connect.port import Denied, Presence, RealtimeResult, Unreachable
from clearlane.payers.routes import PAYLOAD_TYPES, RouteSecrets
from tests.connect import core_server as there
from tests.connect.invented import interchange, route
from tests.connect.sftp_server import black_hole
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS

CLOCK = ManualClock(datetime(2024, 3, 5, 12, 0, tzinfo=UTC))
CLAIMS = interchange()
QUESTION = interchange("005010X279A1", "270")
FORMS = ("soap", "mime")
LOGIN = RouteSecrets(password=there.PASSWORD)


@pytest.fixture(scope="module")
async def service():
    async with there.core_payer() as started:
        yield started


@pytest.fixture
def payer(service):
    fresh = there.CorePayer(port=service.port)
    for name in fresh.__dataclass_fields__:
        setattr(service, name, getattr(fresh, name))
    return service


@pytest.fixture(params=FORMS)
def form(request):
    return request.param


def settled(kind, port, secrets=LOGIN, **options):
    given = {
        "url": f"https://127.0.0.1:{port}/core", "authority": there.AUTHORITY_PEM,
        "allow_internal": "yes", "seconds_max": PATIENCE_SECONDS,
    }  # fmt: skip
    if secrets.password is not None:
        given["username"] = there.USER
    return route(kind, secrets, **(given | options))


class Opened:
    """Closes what it opened when the test is over."""

    def __init__(self):
        self.connections = []

    def mailbox(self, port, secrets=LOGIN, lookup=None, **options):
        more = {"lookup": lookup} if lookup else {}
        made = open_mailbox(*settled("core", port, secrets, **options), clock=CLOCK, **more)
        self.connections.append(made)
        return made

    def realtime(self, port, secrets=LOGIN, lookup=None, **options):
        more = {"lookup": lookup} if lookup else {}
        made = settled("core-realtime", port, secrets, **options)
        self.connections.append(opened := open_realtime(*made, clock=CLOCK, **more))
        return opened


@pytest.fixture
async def opened():
    made = Opened()
    yield made
    for connection in made.connections:
        await connection.close()


async def ask(connection, seconds=PATIENCE_SECONDS, payload=QUESTION):
    return await connection.ask(payload, payload_type="270", seconds=seconds)


async def test_a_batch_has_the_fields_of_the_rule_in_their_order(payer, opened, form):
    await opened.mailbox(payer.port, form=form).put("A1.837", CLAIMS)
    (seen,) = payer.seen
    login = ["UserName", "Password"] if form == "mime" else []
    assert seen.names == [
        "PayloadType", "ProcessingMode", "PayloadID", "PayloadLength", "TimeStamp", *login,
        "SenderID", "ReceiverID", "CORERuleVersion", "CheckSum", "Payload",
    ]  # fmt: skip
    assert seen.login == (there.USER, there.PASSWORD)
    assert seen.fields["PayloadType"] == "X12_837_Request_005010X222A1"
    assert (seen.fields["ProcessingMode"], seen.fields["TimeStamp"]) == (
        "Batch",
        "2024-03-05T12:00:00Z",
    )
    assert (seen.fields["SenderID"], seen.fields["ReceiverID"]) == ("CLEARLANE", "MEADOW")
    assert seen.payload == CLAIMS
    if form == "soap":
        assert (seen.action, seen.element) == (
            "BatchSubmitTransaction",
            "COREEnvelopeBatchSubmission",
        )


async def test_a_question_has_the_fields_of_the_rule_in_their_order(payer, opened, form):
    reply = await ask(opened.realtime(payer.port, form=form))
    assert (reply.result, reply.payload, reply.payload_type) == (
        RealtimeResult.ANSWERED,
        payer.answer[1],
        payer.answer[0],
    )
    (seen,) = payer.seen
    login = ["UserName", "Password"] if form == "mime" else []
    assert seen.names == [
        "PayloadType", "ProcessingMode", "PayloadID", "TimeStamp", *login,
        "SenderID", "ReceiverID", "CORERuleVersion", "Payload",
    ]  # fmt: skip
    assert seen.payload == QUESTION
    assert seen.fields["PayloadType"] == "X12_270_Request_005010X279A1"
    if form == "soap":
        assert (seen.action, seen.element) == ("RealTimeTransaction", "COREEnvelopeRealTimeRequest")


async def test_a_route_sets_its_own_words(payer, opened, form):
    options = {
        "form": form, "core_sender": "Fernhill", "core_receiver": "Harbor 7",
        "payload.837P": "X12_837_Own", "payload.get-835": "X12_005010_Request_Batch_Results_835",
        "pickups": "835",
    }  # fmt: skip
    box = opened.mailbox(payer.port, **options)
    payer.mail = [("X12_005010_Request_Batch_Results_835", "9", b"ISA*remit~")]
    await box.put("A1.837", CLAIMS)
    assert [file.size for file in await box.waiting()] == [10]
    assert payer.seen[0].fields["PayloadType"] == "X12_837_Own"
    assert payer.seen[0].fields["SenderID"] == "Fernhill"
    assert payer.seen[0].fields["ReceiverID"] == "Harbor 7"


ACTIONS = {
    "core": ["BatchSubmitTransaction", "BatchSubmitAckRetrievalTransaction", "BatchResultsRetrievalTransaction"],
    "generic": ["GenericBatchSubmissionTransaction", "GenericBatchRetrievalTransaction", "GenericBatchRetrievalTransaction"],
}  # fmt: skip


@pytest.mark.parametrize("style", ACTIONS)
async def test_actions_are_named_as_the_payer_names_them(payer, opened, style):
    box = opened.mailbox(payer.port, actions=style, pickups="999,835")
    await box.put("A1.837", CLAIMS)
    assert await box.waiting() == []
    assert [seen.action for seen in payer.seen] == ACTIONS[style]


async def test_a_repeated_batch_carries_the_same_id_and_another_name_another(payer, opened, form):
    box = opened.mailbox(payer.port, form=form)
    for name in ("A1.837", "A1.837", "A2.837"):
        await box.put(name, CLAIMS)
    first, again, other = (seen.fields["PayloadID"] for seen in payer.seen)
    assert first == again != other


@pytest.mark.parametrize(
    ("version", "role"),
    [
        ("005010X222A1", "837P"),
        ("005010X223A2", "837I"),
        ("005010X224A2", "837D"),
        ("005010X279A1", "270"),
    ],
)
def test_the_payload_type_follows_the_content(version, role):
    assert role_of(interchange(version)) == role
    assert role_of(interchange(version).replace(b"~", b"~\r\n").replace(b"*", b"|")) == role


@pytest.mark.parametrize("content", [b"", b"ISA", b"<html>", interchange("004010X098")])
def test_a_file_of_no_known_sort_is_not_sent(content):
    with pytest.raises(Denied, match="no payload type"):
        role_of(content)


async def test_real_time_text_survives_xml(payer, opened):
    odd = QUESTION.replace(b"~", b"~\r\n").replace(b"ROSA", b"R]]>&<\xc9")
    assert (await ask(opened.realtime(payer.port), payload=odd)).result is RealtimeResult.ANSWERED
    plain = QUESTION.replace(b"~", b"~\n").replace(b"ROSA", b"R]]>&<\xc9")
    assert (await ask(opened.realtime(payer.port), payload=plain)).result is RealtimeResult.ANSWERED
    assert [seen.payload for seen in payer.seen] == [odd, plain]


async def test_what_xml_cannot_carry_goes_as_mime(payer, opened):
    control = QUESTION.replace(b"~", b"\x1c")
    with pytest.raises(Denied, match="use the MIME form"):
        await ask(opened.realtime(payer.port), payload=control)
    assert (
        await ask(opened.realtime(payer.port, form="mime"), payload=control)
    ).result is RealtimeResult.ANSWERED


@pytest.mark.parametrize("kind", ["X12_999_Response_005010X231A1", "X12_TA1_Response_00501X231A1"])
async def test_an_acknowledgement_instead_of_an_answer_is_recognized_by_its_payload_type(
    payer, opened, form, kind
):
    payer.answer = (kind, b"ISA*not accepted~")
    reply = await ask(opened.realtime(payer.port, form=form))
    assert (reply.result, reply.payload_type, reply.payload) == (
        RealtimeResult.ANSWERED,
        kind,
        b"ISA*not accepted~",
    )


# How the service behaves: the outcome of a question with its code, and what a batch raises.
TROUBLE = {
    "http 401": (RealtimeResult.HTTP, "401", Denied),
    "http 500": (RealtimeResult.HTTP, "500", Unreachable),
    "http 503": (RealtimeResult.HTTP, "503", Unreachable),
    "redirect": (RealtimeResult.HTTP, "302", Denied),
    "code:PayloadTypeIllegal": (RealtimeResult.ENVELOPE, "PayloadTypeIllegal", Denied),
    "code:UnAuthorized": (RealtimeResult.ENVELOPE, "UnAuthorized", Denied),
    "code:ServerBusy": (RealtimeResult.BUSY, "ServerBusy", Unreachable),
    "code:ROSA ARDEN": (RealtimeResult.ENVELOPE, "unreadable", Denied),
    "fault": (RealtimeResult.ENVELOPE, "Sender", Denied),
    "their fault": (RealtimeResult.ENVELOPE, "Receiver", Unreachable),
    "quoting": (RealtimeResult.ENVELOPE, "PayloadIllegal", Denied),
    "html": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "empty": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "not xml": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "other xml": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "bomb": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "external": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "dtd": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "elements": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "deep": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "attributes": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "long tag": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "encoding": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "gzip": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "no boundary": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "cut off": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "many parts": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "not attached": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
    "not base64": (RealtimeResult.ENVELOPE, "Garbled", Unreachable),
}


@pytest.mark.parametrize("mood", TROUBLE)
async def test_each_failure_has_its_outcome_and_shows_no_payload(payer, opened, form, mood):
    outcome, code, raised = TROUBLE[mood]
    payer.mood = mood
    reply = await ask(opened.realtime(payer.port, form=form))
    assert (reply.result, reply.code, reply.payload) == (outcome, code, b"")
    box = opened.mailbox(payer.port, form=form)
    with pytest.raises(raised) as put:
        await box.put("A1.837", CLAIMS)
    with pytest.raises(raised) as waited:
        await box.waiting()
    said = f"{reply!r} {put.value} {waited.value}"
    assert str(put.value).endswith(".")
    assert "ARDEN" not in said
    assert "PASSWORD" not in said.upper()


async def test_a_busy_service_has_taken_nothing_and_a_garbled_one_may_have(payer, opened):
    box = opened.mailbox(payer.port)
    for mood, arrival in (
        ("http 503", "ABSENT"),
        ("code:ServerBusy", "ABSENT"),
        ("html", "UNKNOWN"),
        ("http 500", "UNKNOWN"),
    ):
        payer.mood = mood
        with pytest.raises(Unreachable) as fault:
            await box.put("A1.837", CLAIMS)
        assert fault.value.arrival is Presence[arrival], mood


async def test_a_batch_taken_with_http_202_alone_is_taken(payer, opened, form):
    payer.mood = "accepted"
    await opened.mailbox(payer.port, form=form).put("A1.837", CLAIMS)
    (seen,) = payer.seen  # once, whole, and nothing more is asked
    assert (seen.form, seen.payload, seen.fields["ProcessingMode"]) == (form, CLAIMS, "Batch")


async def test_an_answer_without_payload_is_no_answer(payer, opened, form):
    payer.mood = "no payload"
    reply = await ask(opened.realtime(payer.port, form=form))
    assert (reply.result, reply.code) == (RealtimeResult.ENVELOPE, "NoPayload")


async def test_a_damaged_file_is_not_taken_for_a_file(payer, opened, form):
    payer.mood = "damaged"
    with pytest.raises(Unreachable, match="checksum differs"):
        await opened.mailbox(payer.port, form=form, pickups="835").waiting()


@pytest.mark.safe_default(13)
async def test_an_answer_is_read_beside_the_event_loop_and_its_attributes_are_limited(
    payer, opened, monkeypatch
):
    threads = set()

    def read_here(content_type, body):
        threads.add(threading.current_thread())
        return read(content_type, body)

    read = caqh_core_envelope.read
    monkeypatch.setattr(caqh_core_envelope, "read", read_here)
    assert (await ask(opened.realtime(payer.port))).result is RealtimeResult.ANSWERED
    await opened.mailbox(payer.port).put("A1.837", CLAIMS)
    assert threads
    assert threading.current_thread() not in threads
    for mood, words in (
        ("attributes", "more than 64 attributes"),
        ("long tag", "more than 65536 bytes"),
    ):
        payer.mood = mood
        reply = await ask(opened.realtime(payer.port))
        assert (reply.result, reply.code) == (RealtimeResult.ENVELOPE, "Garbled")
        assert words in reply.message
        with pytest.raises(Unreachable, match=words):
            await opened.mailbox(payer.port).waiting()


async def test_a_huge_answer_is_cut_off(payer, opened):
    payer.mood = "huge"
    with pytest.raises(Unreachable, match="larger than"):
        await opened.mailbox(payer.port, bytes_max=100_000).put("A1.837", CLAIMS)
    with pytest.raises(Unreachable, match="larger than"):
        await ask(opened.realtime(payer.port))


async def test_a_slow_service_is_a_timeout(payer, opened, form):
    payer.seconds = 600
    began = time.monotonic()
    assert (
        await ask(opened.realtime(payer.port, form=form), seconds=0.3)
    ).result is RealtimeResult.TIMEOUT
    with pytest.raises(Unreachable, match="did not answer in 2 seconds") as slow:
        await opened.mailbox(payer.port, form=form, seconds_max=2).put("A1.837", CLAIMS)
    assert slow.value.arrival is Presence.UNKNOWN
    assert time.monotonic() - began < payer.seconds


async def test_a_black_hole_is_a_timeout(opened):
    async with black_hole() as port:
        assert (
            await ask(opened.realtime(port, seconds_max=1), seconds=1)
        ).result is RealtimeResult.TIMEOUT
        with pytest.raises(Unreachable):
            await opened.mailbox(port, seconds_max=1).waiting()


async def test_a_service_that_is_away_is_unreachable_and_nothing_has_arrived(opened):
    async with there.core_payer() as payer:
        port = payer.port
    with pytest.raises(Unreachable, match="cannot be reached") as away:
        await opened.mailbox(port).put("A1.837", CLAIMS)
    assert away.value.arrival is Presence.ABSENT
    with pytest.raises(Unreachable, match="cannot be reached"):
        await ask(opened.realtime(port))


async def test_a_wrong_password_is_for_a_person(payer, opened, form):
    with pytest.raises(Denied, match="UnAuthorized"):
        await opened.mailbox(payer.port, RouteSecrets(password="wrong"), form=form).put(
            "A1.837", CLAIMS
        )


async def test_a_certificate_of_no_trusted_authority_is_refused(opened):
    async with there.core_payer(authority=there.STRANGER) as payer:
        with pytest.raises(Denied, match="no trusted authority"):
            await opened.mailbox(payer.port).put("A1.837", CLAIMS)
        with pytest.raises(Denied, match="no trusted authority"):
            await ask(opened.realtime(payer.port))
        made, secrets = settled("core", payer.port)
        checks = await check_route(made, secrets, clock=CLOCK)
        assert [(check.name, check.passed) for check in checks] == [
            ("address", True),
            ("certificate", False),
        ]
        assert payer.seen == []


def at_home(*answers):
    """A name server that gives these answers one after the other, the last one for ever."""
    given = list(answers)

    async def lookup(host, port):
        assert host == "payer.example"
        return given.pop(0) if len(given) > 1 else given[0]

    return lookup


async def test_the_certificate_is_for_the_name_while_the_connection_is_to_the_judged_address(
    payer, opened
):
    url = f"https://payer.example:{payer.port}/core"
    connection = opened.realtime(payer.port, lookup=at_home(["127.0.0.1"]), url=url)
    assert (await ask(connection)).result is RealtimeResult.ANSWERED


async def test_a_name_that_later_resolves_to_an_internal_address_is_refused_then(payer, opened):
    """Each request goes to an address checked for it; an earlier good answer allows nothing."""
    url, turned = f"https://payer.example:{payer.port}/core", at_home(["8.8.8.8"], ["127.0.0.1"])
    assert await turned("payer.example", 443) == ["8.8.8.8"]
    with pytest.raises(Denied, match="internal network"):
        await ask(opened.realtime(payer.port, lookup=turned, url=url, allow_internal="no"))
    assert payer.seen == []


async def test_a_name_the_certificate_does_not_carry_is_refused(opened):
    async with there.core_payer(name="other.example") as payer:
        url = f"https://payer.example:{payer.port}/core"
        with pytest.raises(Denied, match="no trusted authority"):
            await ask(opened.realtime(payer.port, lookup=at_home(["127.0.0.1"]), url=url))


async def test_an_internal_address_is_refused_unless_the_route_allows_it(payer, opened):
    with pytest.raises(Denied, match="internal network"):
        await ask(opened.realtime(payer.port, allow_internal="no"))
    url = f"https://payer.example:{payer.port}/core"
    for address in ("127.0.0.1", "169.254.169.254", "10.0.0.8", "::1"):
        connection = opened.mailbox(
            payer.port, lookup=at_home([address]), url=url, allow_internal="no"
        )
        with pytest.raises(Denied, match="internal network"):
            await connection.put("A1.837", CLAIMS)
    assert payer.seen == []


async def test_a_client_certificate_opens_what_asks_for_one(opened):
    pem = (
        there.AUTHORITY.issue_cert("clearlane.example")
        .private_key_and_cert_chain_pem.bytes()
        .decode()
    )
    stranger = (
        there.STRANGER.issue_cert("clearlane.example")
        .private_key_and_cert_chain_pem.bytes()
        .decode()
    )
    async with there.core_payer(clients=True) as payer:
        good = opened.realtime(payer.port, RouteSecrets(client_certificate=pem))
        assert (await ask(good)).result is RealtimeResult.ANSWERED
        assert payer.seen[0].login == ("", "")
        for secrets in (LOGIN, RouteSecrets(client_certificate=stranger)):
            with pytest.raises((Denied, Unreachable)):
                await ask(opened.realtime(payer.port, secrets))
        with pytest.raises(Denied, match="cannot be read"):
            await ask(opened.realtime(payer.port, RouteSecrets(client_certificate="nonsense")))
        assert len(payer.seen) == 1


async def test_a_payer_that_gives_one_file_after_the_other_is_asked_until_it_has_none(
    payer, opened, form
):
    kinds = {"999": "get-999", "277CA": "get-277CA", "835": "get-835"}
    payer.mail = [
        (PAYLOAD_TYPES[role], f"{name}-{n}", f"ISA*{name}*{n}~".encode())
        for name, role in kinds.items() for n in range(3)
    ]  # fmt: skip
    box = opened.mailbox(payer.port, form=form)
    files = await box.waiting()
    assert len(files) == 9
    assert min([await box.take(file.name) for file in files]) == b"ISA*277CA*0~"
    assert payer.mail == []


async def test_a_payer_that_gives_the_same_file_for_ever_does_not_hold_us(payer, opened):
    payer.keeps_mail = True
    payer.mail = [("X12_835_Request_005010X221A1", "one", b"ISA*remit~")]
    box = opened.mailbox(payer.port, pickups="835")
    (file,) = await box.waiting()
    assert await box.take(file.name) == b"ISA*remit~"
    await box.drop(file.name)
    assert await box.waiting() == []


async def test_one_sort_of_file_that_is_refused_does_not_hold_up_the_others(payer, opened):
    payer.mail = [("X12_835_Request_005010X221A1", "one", b"ISA*remit~")]
    usual = payer.batch

    def batch(seen):
        if "999" in seen.fields["PayloadType"]:
            return there.say(seen, error="PayloadTypeIllegal")
        return usual(seen)

    payer.batch = batch
    try:
        box = opened.mailbox(payer.port, pickups="999,835")
        assert len(await box.waiting()) == 1
        (file,) = await box.waiting()
        await box.drop(file.name)
        with pytest.raises(Denied, match="PayloadTypeIllegal"):
            await box.waiting()
    finally:
        del payer.batch


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Member ARDEN is unknown", "(withheld: it quotes the request)"),
        ("member arden is unknown", "(withheld: it quotes the request)"),
        ("id M0 is unknown; born 20240305", "(withheld: it quotes the request)"),
        ("The \n envelope\x00 is too old", "The envelope is too old"),
        ("x" * 5_000, "x" * 200),
    ],
)
def test_messages_of_the_envelope_are_short_and_never_quote_the_request(message, expected):
    assert safe_message(message, QUESTION) == expected


async def test_a_trial_shakes_hands_and_sends_nothing(payer):
    for kind in ("core", "core-realtime"):
        checks = await check_route(*settled(kind, payer.port), clock=CLOCK)
        assert [(check.name, check.passed) for check in checks] == [
            ("address", True),
            ("certificate", True),
        ]
        assert "TLS" in checks[1].message
    assert payer.seen == []


def test_nothing_prints_a_payload_or_a_password(payer):
    made, secrets = settled("core", 1)
    connection = CoreConnection(made, secrets, CLOCK)
    shown = f"{secrets!r} {connection!r} {CoreMailbox(connection)!r} {CoreRealtime(connection)!r} {connection.envelope('x', payload=CLAIMS)!r}"
    assert there.PASSWORD not in shown
    assert "ARDEN" not in shown
