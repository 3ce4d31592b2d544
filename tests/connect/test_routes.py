"""Routes as an operator writes them: what passes, and every fault at once."""

import pytest

from clearlane.payers.routes import (
    KIND_SECRETS,
    LOGINS,
    OPTIONS,
    OPTIONS_BY_KIND,
    PAYLOAD_TYPES,
    SECRET_NAMES,
    RouteKind,
    RouteSecrets,
    read_route,
)
from tests.cases import every_case
from tests.connect.invented import route
from tests.connect.sftp_server import HOST_KEY

PIN = HOST_KEY.get_fingerprint()  # a new one each time: no test may be named after it
PARTIES = {"sender_id": "CLEARLANE", "receiver_id": "MEADOW"}
GOOD = {
    RouteKind.FOLDER: (RouteSecrets(), {"outbox": "/srv/out", "inbox": "/srv/in"}),
    RouteKind.SFTP: (
        RouteSecrets(password="x"),
        {"host": "sftp.example", "username": "u", "host_key": PIN, "outbox": "in", "inbox": "out"},
    ),
    RouteKind.CORE: (
        RouteSecrets(password="x"),
        {"url": "https://core.example/b", "username": "u"},
    ),
    RouteKind.CORE_REALTIME: (
        RouteSecrets(client_certificate="pem"),
        {"url": "https://core.example/rt"},
    ),
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


@pytest.mark.parametrize("kind", RouteKind)
def test_a_good_route_of_each_kind_passes(kind):
    assert faults(kind) == []


@pytest.mark.parametrize("kind", RouteKind)
def test_every_required_option_is_missed_by_name(kind):
    required = {row.name for row in OPTIONS_BY_KIND[kind].values() if row.required}
    assert set(faults(kind, **dict.fromkeys(required))) == required


def test_what_was_left_out_has_the_default_of_its_row():
    made, _ = route("folder", outbox="/a", inbox="/b")
    assert made.text("sender_qualifier") == "ZZ"
    assert made.number("claims_max") == 5_000
    assert made.flag("uploads_stay") is False
    assert made.text("group_sender") == ""
    assert made.carries_files


BAD = [
    (RouteKind.FOLDER, "outbox", "relative/path"), (RouteKind.FOLDER, "inbox", ""),
    (RouteKind.FOLDER, "sender_id", "SIXTEEN CHARACTER"), (RouteKind.FOLDER, "sender_id", "A*B"),
    (RouteKind.FOLDER, "receiver_qualifier", "zz"), (RouteKind.FOLDER, "usage", "X"),
    (RouteKind.FOLDER, "claims_max", "0"), (RouteKind.FOLDER, "claims_max", "5001"),
    (RouteKind.FOLDER, "window_seconds", "-1"), (RouteKind.FOLDER, "window_seconds", "9" * 5_000),
    (RouteKind.FOLDER, "nonsense", "x"), (RouteKind.FOLDER, "host", "sftp.example"), (RouteKind.FOLDER, "password", "x"),
    (RouteKind.SFTP, "host", "user@host"), (RouteKind.SFTP, "host", ""), (RouteKind.SFTP, "host", "a b"),
    (RouteKind.SFTP, "port", "0"), (RouteKind.SFTP, "port", "65536"), (RouteKind.SFTP, "port", "٣"),
    (RouteKind.SFTP, "host_key", "any"), (RouteKind.SFTP, "host_key", "MD5:aa:bb"), (RouteKind.SFTP, "host_key", "SHA256:short"),
    (RouteKind.SFTP, "host_key", "ssh-ed25519 nonsense"), (RouteKind.SFTP, "host_key", "ssh-ed25519 AAAA"),
    (RouteKind.SFTP, "host_key", f"{PIN},any"), (RouteKind.SFTP, "allow_internal", "maybe"), (RouteKind.SFTP, "password", "x"),
    (RouteKind.CORE, "url", "http://core.example/"), (RouteKind.CORE, "url", "https://"), (RouteKind.CORE, "url", "https://u:p@core.example/"),
    (RouteKind.CORE, "url", "https://core.example:x/"), (RouteKind.CORE, "url", "https://[::1"), (RouteKind.CORE, "url", "ftp://core.example"),
    (RouteKind.CORE, "url", "https://core.example/#part"), (RouteKind.CORE, "url", "https://core.example/a b"),
    (RouteKind.CORE, "form", "rest"), (RouteKind.CORE, "pickups", "835,nothing"), (RouteKind.CORE, "payload.837P", "two words"),
    (RouteKind.CORE, "payload.nothing", "X12"), (RouteKind.CORE, "authority", "no pem"), (RouteKind.CORE, "authority", "x" * 20_000),
    (RouteKind.CORE_REALTIME, "pickups", "835"), (RouteKind.CORE_REALTIME, "claims_max", "5"),
]  # fmt: skip


@every_case(
    ("kind", "name", "text"),
    BAD,
    ids=[f"{kind}-{name}-{at}" for at, (kind, name, _) in enumerate(BAD)],
)
def test_a_bad_option_is_refused_by_name(kind, name, text):
    assert faults(kind, **{name: text}) == [name]


def test_every_fault_is_reported_at_once():
    found = faults(
        RouteKind.SFTP,
        secrets=RouteSecrets(),
        position=10,
        host="",
        port="x",
        usage="Q",
        outbox=None,
    )
    assert found == ["host", "port", "usage", "position", "outbox", "password or private_key"]


SECRET_FAULTS = [
    (RouteKind.FOLDER, RouteSecrets(password="x"), {}, ["password"]),
    (RouteKind.SFTP, RouteSecrets(), {}, ["password or private_key"]),
    (RouteKind.SFTP, RouteSecrets(password="  "), {}, ["password"]),
    (RouteKind.SFTP, RouteSecrets(password="x", passphrase="y"), {}, ["passphrase"]),
    (
        RouteKind.SFTP,
        RouteSecrets(password="x", client_certificate="y"),
        {},
        ["client_certificate"],
    ),
    (RouteKind.CORE, RouteSecrets(), {"username": None}, ["client_certificate or password"]),
    (RouteKind.CORE, RouteSecrets(password="x"), {"username": None}, ["username"]),
    (RouteKind.CORE, RouteSecrets(client_certificate="x"), {}, ["username"]),
    (RouteKind.FOLDER, RouteSecrets(), {"inbox": "/srv/out/"}, ["inbox"]),
    (RouteKind.FOLDER, RouteSecrets(), {"send_windows": "mon 06:00-20:00"}, ["time_zone"]),
    (RouteKind.SFTP, RouteSecrets(password="x"), {"inbox": "in"}, ["inbox"]),
]


@pytest.mark.parametrize(("kind", "secrets", "changes", "expected"), SECRET_FAULTS)
def test_secrets_and_options_must_fit_together(kind, secrets, changes, expected):
    assert faults(kind, secrets, **changes) == expected


def test_an_option_given_twice_is_refused():
    _, findings = read_route(
        payer_id="MDW10", type="Medical", kind=RouteKind.FOLDER, position=1, secrets=RouteSecrets(),
        options=[*PARTIES.items(), ("outbox", "/a"), ("outbox", "/b"), ("inbox", "/c")],
    )  # fmt: skip
    assert [(f.location, f.message) for f in findings] == [("outbox", "The option is given twice.")]


def test_a_refusal_never_repeats_what_was_given():
    _, findings = read_route(
        payer_id="MDW10", type="Medical", kind=RouteKind.SFTP, position=1,
        options=[("password", "hush-hush")], secrets=RouteSecrets(passphrase="hush-hush"),
    )  # fmt: skip
    assert "hush-hush" not in repr(findings)


def test_secrets_never_print():
    secrets = RouteSecrets(password="hush-hush", private_key="hush-hush")
    assert repr(secrets) == str(secrets) == "RouteSecrets(password, private_key)"


def test_the_tables_agree():
    for kind in RouteKind:
        assert LOGINS[kind] <= KIND_SECRETS[kind] <= set(SECRET_NAMES)
        rows = [row for row in OPTIONS if kind in row.kinds]
        assert len(rows) == len(OPTIONS_BY_KIND[kind]), "an option stands twice in one kind"
        assert not set(OPTIONS_BY_KIND[kind]) & set(SECRET_NAMES)
    for row in OPTIONS:
        if row.default is not None and not isinstance(row.default, bool):
            assert row.read(str(row.default)) == row.default, row.name
        assert not (row.required and row.default is not None), row.name
    assert {f"payload.{role}" for role in PAYLOAD_TYPES} <= set(OPTIONS_BY_KIND[RouteKind.CORE])
