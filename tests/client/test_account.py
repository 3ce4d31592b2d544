"""Where a client finds its address and credentials."""

import json
from dataclasses import replace

import pytest

from clearlane.client import (
    AsyncClient,
    Client,
    InvalidRequest,
    calls,
    from_environment,
    from_sandbox,
    v1_calls,
)

FACTS = {
    "base_url": "https://127.0.0.1:8443",
    "ca_file": None,
    "vendor_key": "SANDBOX",
    "vendor_password": "never-shown",
    "vendor_site_id": "S1",
    "operations_url": "http://127.0.0.1:9",
}


@pytest.fixture
def data(tmp_path):
    (tmp_path / "sandbox.json").write_text(json.dumps(FACTS))
    return tmp_path


def test_a_sandbox_is_found_by_its_data_directory(data, monkeypatch):
    assert from_sandbox(data).key == "SANDBOX"
    monkeypatch.setenv("CLEARLANE_DATA", str(data))
    assert from_sandbox().site == "S1"
    assert Client.from_sandbox().account == AsyncClient.from_sandbox(str(data)).account


def test_a_moved_directory_brings_its_own_authority(data):
    file = data / "tls" / "ca.pem"
    file.parent.mkdir()
    file.write_text("x")
    (data / "sandbox.json").write_text(json.dumps({**FACTS, "ca_file": "/gone/tls/ca.pem"}))
    assert from_sandbox(data).ca_file == str(file)


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({**FACTS, "vendor_password": None})])
def test_a_file_that_cannot_be_used_is_reported(data, text):
    (data / "sandbox.json").write_text(text)
    with pytest.raises(ValueError, match=r"sandbox\.json"):
        from_sandbox(data)


def test_a_missing_sandbox_is_reported_with_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="clearlane serve"):
        from_sandbox(tmp_path)


def test_the_environment_names_an_account():
    environ = {
        "CLEARLANE_CLIENT_URL": "https://claims.example.org",
        "CLEARLANE_CLIENT_KEY": "ACME",
        "CLEARLANE_CLIENT_PASSWORD": "never-shown",
        "CLEARLANE_CLIENT_SITE": "S1",
    }
    account = from_environment(environ)
    assert (account.key, account.password, account.ca_file) == ("ACME", "never-shown", None)
    with pytest.raises(ValueError, match="CLEARLANE_CLIENT_SITE"):
        from_environment({**environ, "CLEARLANE_CLIENT_SITE": ""})


def test_an_api_key_is_sent_with_calls_of_clearlanes_own_api_alone():
    url = "https://claims.example.org"
    account = from_environment(
        {"CLEARLANE_CLIENT_URL": url, "CLEARLANE_CLIENT_API_KEY": "clearlane_a_secret"}
    )
    assert "secret" not in repr(account)
    assert account == Client(url, api_key="clearlane_a_secret").account
    listed = account.request(v1_calls.text("GetClaimX12", "claims/C1/x12"))
    assert listed.headers["Authorization"] == "Bearer clearlane_a_secret"
    with pytest.raises(InvalidRequest, match="site"):
        account.request(calls.payers(calls.PayerList.LIVE, "medical"))
    with pytest.raises(InvalidRequest, match="CLEARLANE_CLIENT_PASSWORD"):
        replace(account, site="S1").request(calls.payers(calls.PayerList.LIVE, "medical"))
    both = replace(account, site="S1", key="ACME", password="x")
    sent = both.request(calls.payers(calls.PayerList.LIVE, "medical"))
    assert sent.headers["Authorization"].startswith("Basic ")
    assert (
        both.request(v1_calls.text("GetClaimX12", "claims/C1/x12"))
        .headers["Authorization"]
        .startswith("Bearer ")
    )
