"""Settings: one table, three sources, clear refusals."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clearlane.settings import InvalidSettings, Settings, all_settings, environment_variable, load

EXAMPLES = {
    "mode": "production",
    "data": "elsewhere",
    "database_url": "postgresql://app@db/clearlane",
    "database_direct_url": "postgresql://app@server/clearlane",
    "public_url": "https://claims.example.org/edi",
    "timestamp_url": "http://time.example.org/stamps",
    "otlp_endpoint": "http://collector.example.org:4318",
    "trusted_proxies": "10.0.0.0/8, 192.0.2.7",
    "log_level": "warning",
    "log_format": "json",
    "eligibility_x12": "on",
    "reading_process": "off",
    "submission_process": "off",
    "event_vendor_claim_id": "off",
    "tls_suites": "all",
    "submitter_name": "Fernhill Exchange",
    "submitter_phone": "(206) 555-0100",
    "vendor_calls_per_minute": "600",
    "sftp_port": "2222",
    "sftp_older_port": "2223",
    "sftp_passwords": "on",
}
# What a setting cannot be given without.
BESIDE = {"database_direct_url": {"CLEARLANE_DATABASE_URL": "postgresql://app@pooler/clearlane"}}
BAD = {
    "database_direct_url": "sqlite:///x/y.db",
    "submitter_name": " ",
    "submitter_phone": "911",
    "vendor_calls_per_minute": "-1",
    "mode": "live",
    "tls_suites": "some",
    "database_url": "mysql://db",
    "port": "70000",
    "public_url": "claims.example.org",
    "dead_node_seconds": "1",
    "trusted_proxies": "proxy.example",
    "body_bytes_max": "lots",
    "log_level": "loud",
    "sftp_port": "ssh",
    "sftp_passwords": "some",
}


@pytest.mark.parametrize("name", [name for name, _, _ in all_settings()])
def test_every_setting_is_read_from_environment_and_file(name, tmp_path):
    default = getattr(Settings(), name)
    text = EXAMPLES.get(name, str(default + 1) if isinstance(default, int) else "/some/where")
    beside = BESIDE.get(name, {})
    from_environment = getattr(load(beside | {environment_variable(name): text}), name)
    file = tmp_path / "clearlane.toml"
    file.write_text(f'{name} = "{text}"\n')
    assert getattr(load(beside, file=file), name) == from_environment != default


@pytest.mark.parametrize(("name", "text"), BAD.items())
def test_a_bad_value_is_refused_by_name_and_says_what_would_pass(name, text):
    with pytest.raises(
        InvalidSettings, match=rf"{environment_variable(name)} cannot be used: give "
    ):
        load({environment_variable(name): text})


def test_every_fault_is_reported_at_once(tmp_path):
    file = tmp_path / "clearlane.toml"
    file.write_text("prot = 1\n[table]\nx = 1\n")
    with pytest.raises(InvalidSettings) as refused:
        load({"CLEARLANE_PORT": "x", "CLEARLANE_HOTS": "y"}, file=file)
    message = str(refused.value)
    assert all(word in message for word in ("CLEARLANE_PORT", "CLEARLANE_HOTS", "prot", "[table]"))


def test_a_misspelled_name_leads_to_the_setting(tmp_path):
    file = tmp_path / "clearlane.toml"
    file.write_text("prot = 1\n")
    with pytest.raises(InvalidSettings, match=r"prot: there is no such setting\. Perhaps port\."):
        load({}, file=file)
    with pytest.raises(InvalidSettings, match=r"Perhaps CLEARLANE_HOST\."):
        load({"CLEARLANE_HOTS": "x"})


def test_secrets_are_read_from_files_and_from_credentials_of_systemd(tmp_path):
    url, file = "postgresql://app:very-secret@db/clearlane", tmp_path / "url"
    file.write_text(f"{url}\n")
    assert load({"CLEARLANE_DATABASE_URL_FILE": str(file)}).database_url == url
    toml = tmp_path / "clearlane.toml"
    toml.write_text(f'database_url_file = "{file}"\n')
    assert load({}, file=toml).database_url == url
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / "clearlane.database_url").write_text("postgresql://of@credential/x")
    (credentials / "of-another-program").write_text("x")
    directory = {"CREDENTIALS_DIRECTORY": str(credentials)}
    assert load(directory, file=toml).database_url == "postgresql://of@credential/x"
    assert load(directory | {"CLEARLANE_DATABASE_URL_FILE": str(file)}).database_url == url
    # The file of the master key keeps its own rules; a credential with the key itself is the key.
    (credentials / "clearlane.master_key").write_text("key\n")
    both = load(directory | {"CLEARLANE_MASTER_KEY_FILE": "k"})
    assert (both.master_key, both.key_file) == ("key", Path("k"))


@pytest.mark.parametrize(
    ("content", "wanted"),
    [(None, "No such file"), (b" \n", "is empty"), (b"\xff", "is not a text"), (b"x" * 65_537, "has more than 65,536 bytes"), (b"mysql://very-secret", "give postgresql://user@host/name")],
)  # fmt: skip
def test_a_file_that_holds_no_secret_is_refused_by_the_name_of_its_variable(
    content, wanted, tmp_path
):
    file = tmp_path / "url"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(
        InvalidSettings, match="CLEARLANE_DATABASE_URL_FILE cannot be used"
    ) as reported:
        load({"CLEARLANE_DATABASE_URL_FILE": str(file)})
    assert wanted in str(reported.value)
    assert "very-secret" not in str(reported.value)


def test_a_secret_is_given_once_and_credentials_have_names_of_settings(tmp_path):
    (tmp_path / "clearlane.databse_url").write_text("x")
    with pytest.raises(InvalidSettings) as reported:
        load(
            {
                "CLEARLANE_DATABASE_URL": "sqlite:///x/y.db",
                "CLEARLANE_DATABASE_URL_FILE": "z",
                "CREDENTIALS_DIRECTORY": str(tmp_path),
                "CLEARLANE_PORT_FILE": "z",
            }
        )
    assert str(reported.value).splitlines() == [
        "CLEARLANE_DATABASE_URL_FILE: CLEARLANE_DATABASE_URL is given as well. Give one.",
        "The credential clearlane.databse_url: there is no such setting. Perhaps database_url. `clearlane settings` lists them all.",
        "CLEARLANE_PORT_FILE: there is no such setting. Perhaps CLEARLANE_PORT. `clearlane settings` lists them all.",
    ]


def test_what_clients_and_receivers_read_from_the_environment_is_no_setting():
    names = ("CLEARLANE_CLIENT_URL", "CLEARLANE_WEBHOOK_SECRET", "CLEARLANE_TEST_KILLS")
    assert load(dict.fromkeys(names, "x")) == load({})


def test_a_file_that_is_no_toml_is_refused(tmp_path):
    file = tmp_path / "clearlane.toml"
    file.write_text("= nonsense")
    with pytest.raises(InvalidSettings, match=r"clearlane\.toml: cannot be read"):
        load({}, file=file)


def test_environment_wins_over_file_and_the_command_line_over_both(tmp_path):
    file = tmp_path / "clearlane.toml"
    file.write_text('port = 1\nhost = "a"\ntrusted_proxies = ["10.0.0.1", "10.0.0.2"]\n')
    read = load({"CLEARLANE_PORT": "2", "CLEARLANE_HOST": "b"}, {"port": 3, "host": None}, file)
    assert (read.port, read.host, read.trusted_proxies) == (3, "b", ("10.0.0.1", "10.0.0.2"))


def test_the_file_can_be_elsewhere(tmp_path):
    file = tmp_path / "other.toml"
    file.write_text("port = 77\n")
    assert load({"CLEARLANE_CONFIG": str(file), "CLEARLANE_TEST_DATABASE_URL": "x"}).port == 77


def test_a_named_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidSettings, match=r"CLEARLANE_CONFIG cannot be used: .*nowhere\.toml"):
        load({"CLEARLANE_CONFIG": str(tmp_path / "nowhere.toml")})


@pytest.mark.parametrize(
    "text", ["https://", "https://a:port", "https://a b", "ftp://a", "https://a?b"]
)
def test_a_public_url_that_nobody_could_call_is_refused(text):
    with pytest.raises(InvalidSettings, match="CLEARLANE_PUBLIC_URL cannot be used"):
        load({"CLEARLANE_PUBLIC_URL": text})


def test_a_node_is_not_called_dead_before_its_second_heartbeat():
    with pytest.raises(InvalidSettings, match="CLEARLANE_DEAD_NODE_SECONDS cannot be used"):
        load({"CLEARLANE_HEARTBEAT_SECONDS": "10", "CLEARLANE_DEAD_NODE_SECONDS": "19"})
    assert load({"CLEARLANE_HEARTBEAT_SECONDS": "10", "CLEARLANE_DEAD_NODE_SECONDS": "20"})


@pytest.mark.parametrize(
    ("given", "operations"),
    [
        ({}, 8444),
        ({"CLEARLANE_PORT": "9443"}, 9444),
        ({"CLEARLANE_PORT": "0"}, 0),
        ({"CLEARLANE_PORT": "65535"}, 0),
        ({"CLEARLANE_PORT": "9443", "CLEARLANE_OPERATIONS_PORT": "8444"}, 8444),
    ],
)
def test_the_operations_port_follows_the_port(given, operations):
    assert load(given).operations_port == operations


def test_a_direct_address_is_refused_without_a_pooler():
    direct = {"CLEARLANE_DATABASE_DIRECT_URL": "postgresql://app@server/clearlane"}
    pooled = direct | {"CLEARLANE_DATABASE_URL": "postgresql://app@pooler/clearlane"}
    assert load(pooled).session_url == load(direct | pooled).database_direct_url
    for beside in ({}, {"CLEARLANE_DATABASE_URL": "sqlite:///x/y.db"}):
        with pytest.raises(
            InvalidSettings, match="give the pooler's address as CLEARLANE_DATABASE_URL"
        ):
            load(direct | beside)


def test_derived_paths():
    settings = load({"CLEARLANE_DATA": "there"})
    assert settings.sqlite_file == Path("there/clearlane.db")
    assert settings.key_file == Path("there/master.key")
    assert load({"CLEARLANE_DATABASE_URL": "sqlite:///x/y.db"}).sqlite_file == Path("x/y.db")
    assert load({"CLEARLANE_MASTER_KEY_FILE": "k"}).key_file == Path("k")


def run_settings(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "clearlane", "settings", *arguments],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin", **environment},
        check=False,
    )


def test_the_command_shows_every_setting_and_hides_secrets():
    shown = run_settings("--json", CLEARLANE_MASTER_KEY="very secret", CLEARLANE_PORT="9000")
    values = json.loads(shown.stdout)
    assert set(values) == {name for name, _, _ in all_settings()}
    assert values["port"] == 9000
    assert "very secret" not in shown.stdout


def test_the_command_cuts_no_name_short():
    shown = run_settings(CLEARLANE_MASTER_KEY_FILE="/a/long/path/" + "x" * 90).stdout
    assert all(f" {environment_variable(name)} " in shown for name, _, _ in all_settings())
    assert "x" * 90 in shown


def test_the_command_stops_at_a_bad_setting():
    refused = run_settings(CLEARLANE_PROT="9000")
    assert refused.returncode == 2
    assert "CLEARLANE_PROT: there is no such setting" in refused.stderr


def test_the_check_names_every_fault_and_what_would_pass(tmp_path):
    (tmp_path / "url").write_text("mysql://very-secret")
    found = run_settings(
        "check",
        "--json",
        CLEARLANE_MODE="production",
        CLEARLANE_PROT="9000",
        CLEARLANE_PORT="x",
        CLEARLANE_LOG_LEVEL="loud",
        CLEARLANE_DATABASE_URL_FILE=str(tmp_path / "url"),
        CLEARLANE_DATABASE_DIRECT_URL="postgresql://app@server/clearlane",
        CLEARLANE_DEAD_NODE_SECONDS="3",
        CLEARLANE_TLS_KEY=str(tmp_path / "nowhere.pem"),
        CLEARLANE_PLAIN_PORT="8444",
        CLEARLANE_SFTP_PORT="8444",
        CLEARLANE_SUBMITTER_NAME=" ",
    )
    assert found.returncode == 1
    reported = json.loads(found.stdout)
    assert not reported["valid"]
    assert sorted(one["name"].removeprefix("CLEARLANE_") for one in reported["faults"]) == [
        "DATABASE_URL_FILE", "DEAD_NODE_SECONDS", "LOG_LEVEL", "PLAIN_PORT", "PORT", "PROT", "SFTP_PORT",
        "SUBMITTER_NAME", "SUBMITTER_PHONE", "TLS_CERTIFICATE and CLEARLANE_TLS_KEY", "TLS_KEY",
    ]  # fmt: skip
    assert "very-secret" not in found.stdout
    plain = run_settings("check", CLEARLANE_PORT="x")
    assert (plain.returncode, plain.stdout) == (
        1, "CLEARLANE_PORT cannot be used: give a whole number from 0 to 65535.\n1 fault.\n",
    )  # fmt: skip
    assert run_settings("check").stdout == "The settings are valid.\n"
    assert json.loads(run_settings("show", "--json").stdout)["port"] == 8443
