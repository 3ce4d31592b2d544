"""Routes as an operator writes them: what passes, and every fault at once."""

import pytest

from clearlane.payers.routes import (
    KIND_SECRETS,
    LOGINS,
    OPTIONS,
    OPTIONS_OF,
    PAYLOAD_TYPES,
    SECRETS,
    Kind,
    Secrets,
    read_route,
)
from tests.connect.invented import route
from tests.connect.sftp_server import HOST_KEY

PIN = HOST_KEY.get_fingerprint()  # a new one each time: no test may be named after it
PARTIES = {"sender_id": "CLEARLANE", "receiver_id": "MEADOW"}
GOOD = {
    Kind.FOLDER: (Secrets(), {"outbox": "/srv/out", "inbox": "/srv/in"}),
    Kind.SFTP: (
        Secrets(password="x"),
        {"host": "sftp.example", "username": "u", "host_key": PIN, "outbox": "in", "inbox": "out"},
    ),
    Kind.CORE: (Secrets(password="x"), {"url": "https://core.example/b", "username": "u"}),
    Kind.CORE_REALTIME: (Secrets(client_certificate="pem"), {"url": "https://core.example/rt"}),
}


def faults(kind, secrets=None, position=1, **changes):
    held, options = GOOD[kind]
    given = {
        name: text for name, text in {**PARTIES, **options, **changes}.items() if text is not None
    }
    made, findings = read_route(
        payer_id="MDW10", type="Medical", kind=kind, position=position,
        options=given.items(), secrets=held if secrets is None else secrets,
    )  # fmt: skip
    assert (made is None) == bool(findings)
    return [finding.location for finding in findings]


@pytest.mark.parametrize("kind", Kind)
def test_a_good_route_of_each_kind_passes(kind):
    assert faults(kind) == []


@pytest.mark.parametrize("kind", Kind)
def test_every_required_option_is_missed_by_name(kind):
    required = {row.name for row in OPTIONS_OF[kind].values() if row.required}
    assert set(faults(kind, **dict.fromkeys(required))) == required


def test_what_was_left_out_has_the_default_of_its_row():
    made, _ = route("folder", outbox="/a", inbox="/b")
    assert made.text("sender_qualifier") == "ZZ"
    assert made.number("claims_max") == 5_000
    assert made.switch("uploads_stay") is False
    assert made.text("group_sender") == ""
    assert made.carries_files


BAD = [
    (Kind.FOLDER, "outbox", "relative/path"), (Kind.FOLDER, "inbox", ""),
    (Kind.FOLDER, "sender_id", "SIXTEEN CHARACTER"), (Kind.FOLDER, "sender_id", "A*B"),
    (Kind.FOLDER, "receiver_qualifier", "zz"), (Kind.FOLDER, "usage", "X"),
    (Kind.FOLDER, "claims_max", "0"), (Kind.FOLDER, "claims_max", "5001"),
    (Kind.FOLDER, "window_seconds", "-1"), (Kind.FOLDER, "window_seconds", "9" * 5_000),
    (Kind.FOLDER, "nonsense", "x"), (Kind.FOLDER, "host", "sftp.example"), (Kind.FOLDER, "password", "x"),
    (Kind.SFTP, "host", "user@host"), (Kind.SFTP, "host", ""), (Kind.SFTP, "host", "a b"),
    (Kind.SFTP, "port", "0"), (Kind.SFTP, "port", "65536"), (Kind.SFTP, "port", "٣"),
    (Kind.SFTP, "host_key", "any"), (Kind.SFTP, "host_key", "MD5:aa:bb"), (Kind.SFTP, "host_key", "SHA256:short"),
    (Kind.SFTP, "host_key", "ssh-ed25519 nonsense"), (Kind.SFTP, "host_key", "ssh-ed25519 AAAA"),
    (Kind.SFTP, "host_key", f"{PIN},any"), (Kind.SFTP, "allow_internal", "maybe"), (Kind.SFTP, "password", "x"),
    (Kind.CORE, "url", "http://core.example/"), (Kind.CORE, "url", "https://"), (Kind.CORE, "url", "https://u:p@core.example/"),
    (Kind.CORE, "url", "https://core.example:x/"), (Kind.CORE, "url", "https://[::1"), (Kind.CORE, "url", "ftp://core.example"),
    (Kind.CORE, "url", "https://core.example/#part"), (Kind.CORE, "url", "https://core.example/a b"),
    (Kind.CORE, "form", "rest"), (Kind.CORE, "pickups", "835,nothing"), (Kind.CORE, "payload.837P", "two words"),
    (Kind.CORE, "payload.nothing", "X12"), (Kind.CORE, "authority", "no pem"), (Kind.CORE, "authority", "x" * 20_000),
    (Kind.CORE_REALTIME, "pickups", "835"), (Kind.CORE_REALTIME, "claims_max", "5"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    BAD,
    ids=[f"{kind}-{name}-{at}" for at, (kind, name, _) in enumerate(BAD)],
)
def test_a_bad_option_is_refused_by_name(kind, name, text):
    assert faults(kind, **{name: text}) == [name]


def test_every_fault_is_told_at_once():
    told = faults(
        Kind.SFTP, secrets=Secrets(), position=10, host="", port="x", usage="Q", outbox=None
    )
    assert told == ["host", "port", "usage", "position", "outbox", "password or private_key"]


SECRET_FAULTS = [
    (Kind.FOLDER, Secrets(password="x"), {}, ["password"]),
    (Kind.SFTP, Secrets(), {}, ["password or private_key"]),
    (Kind.SFTP, Secrets(password="  "), {}, ["password"]),
    (Kind.SFTP, Secrets(password="x", passphrase="y"), {}, ["passphrase"]),
    (Kind.SFTP, Secrets(password="x", client_certificate="y"), {}, ["client_certificate"]),
    (Kind.CORE, Secrets(), {"username": None}, ["client_certificate or password"]),
    (Kind.CORE, Secrets(password="x"), {"username": None}, ["username"]),
    (Kind.CORE, Secrets(client_certificate="x"), {}, ["username"]),
    (Kind.FOLDER, Secrets(), {"inbox": "/srv/out/"}, ["inbox"]),
    (Kind.SFTP, Secrets(password="x"), {"inbox": "in"}, ["inbox"]),
]


@pytest.mark.parametrize(("kind", "secrets", "changes", "told"), SECRET_FAULTS)
def test_secrets_and_options_must_fit_together(kind, secrets, changes, told):
    assert faults(kind, secrets, **changes) == told


def test_an_option_given_twice_is_refused():
    _, findings = read_route(
        payer_id="MDW10", type="Medical", kind=Kind.FOLDER, position=1, secrets=Secrets(),
        options=[*PARTIES.items(), ("outbox", "/a"), ("outbox", "/b"), ("inbox", "/c")],
    )  # fmt: skip
    assert [(f.location, f.message) for f in findings] == [("outbox", "The option is given twice.")]


def test_a_refusal_never_repeats_what_was_given():
    _, findings = read_route(
        payer_id="MDW10", type="Medical", kind=Kind.SFTP, position=1,
        options=[("password", "hush-hush")], secrets=Secrets(passphrase="hush-hush"),
    )  # fmt: skip
    assert "hush-hush" not in repr(findings)


def test_secrets_never_print():
    secrets = Secrets(password="hush-hush", private_key="hush-hush")
    assert repr(secrets) == str(secrets) == "Secrets(password, private_key)"


def test_the_tables_agree():
    for kind in Kind:
        assert LOGINS[kind] <= KIND_SECRETS[kind] <= set(SECRETS)
        rows = [row for row in OPTIONS if kind in row.kinds]
        assert len(rows) == len(OPTIONS_OF[kind]), "an option stands twice in one kind"
        assert not set(OPTIONS_OF[kind]) & set(SECRETS)
    for row in OPTIONS:
        if row.default is not None and not isinstance(row.default, bool):
            assert row.read(str(row.default)) == row.default, row.name
        assert not (row.required and row.default is not None), row.name
    assert {f"payload.{role}" for role in PAYLOAD_TYPES} <= set(OPTIONS_OF[Kind.CORE])
