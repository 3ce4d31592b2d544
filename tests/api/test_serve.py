"""`clearlane serve`: start, stop, refusals, certificates, operations.

Also tests `api/http/server`, `api/service`, `wiring/opening`, `wiring/installation`, `wiring/node`, `wiring/faces`,
`wiring/sandbox_runtime` and `pipeline/work_context`.
"""

import json
import os
import signal
import socket
import ssl
import stat
import subprocess

import httpx
import pytest
import trustme

from clearlane import settings
from tests.api.raw_connection import RawConnection, basic, request
from tests.api.service_process import ServiceProcess
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.prepared_process import PreparedProcess

PATH = "/api/v3/payers/get_list"
# A call that reads its body.
DOCUMENTS = "/api/v3/claims/responses/get_by_doc_id"


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def started(data):
    """Start services and stop those that still run at the end."""
    running = []

    def start(*arguments, **environment):
        serving = ServiceProcess(data, **environment).start(*arguments)
        running.append(serving)
        return serving

    yield start
    for serving in running:
        if serving.process.poll() is None:
            serving.stop()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """One service for the tests that leave it as it was."""
    serving = ServiceProcess(tmp_path_factory.mktemp("running") / "data").start()
    yield serving
    assert serving.stop() == 0


def ask(serving, **options):
    facts = serving.sandbox
    query = {"vendorSiteId": facts["vendor_site_id"], "type": "medical"}
    with serving.client((facts["vendor_key"], facts["vendor_password"])) as client:
        return client.post(PATH, params=query, **options)


def refused(*arguments, **environment):
    """Start a service that must not start: its exit code and what it says."""
    serving = PreparedProcess(
        "clearlane", "serve", *arguments, env={"PATH": os.environ["PATH"], **environment}, text=True
    )
    _, faults = serving.communicate()
    assert "Traceback" not in faults
    return serving.returncode, faults


def test_a_first_start_prints_everything_a_first_call_needs(running):
    serving, data = running, running.data
    facts = serving.sandbox
    assert facts.keys() == {
        "base_url", "ca_file", "vendor_key", "vendor_password", "vendor_site_id", "operations_url",
    }  # fmt: skip
    assert facts["base_url"] == serving.base_url
    assert stat.S_IMODE((data / "sandbox.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    reported = "".join(serving.output_lines)
    command = next(line.strip() for line in serving.output_lines if line.startswith("  curl"))
    done = subprocess.run(["sh", "-c", f"{command} -s"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)
    assert facts["operations_url"] in reported
    assert "SIGTERM" in reported


def test_a_second_start_keeps_data_and_credentials(started, data):
    first = started()
    facts, port = first.sandbox, first.port
    authority = first.ca_file.read_bytes()
    assert first.stop() == 0
    second = started("--port", str(port))
    assert second.sandbox | {"operations_url": ""} == facts | {"operations_url": ""}
    assert second.ca_file.read_bytes() == authority
    assert ask(second).status_code == 200
    assert second.stop(signal.SIGINT) == 0
    (data / "sandbox.json").unlink()
    third = started()
    assert third.sandbox["vendor_password"] != facts["vendor_password"]
    assert ask(third).status_code == 200


def test_a_password_an_operator_changed_is_not_brought_back(started, data):
    serving = started()
    serving.command("vendor", "rotate", serving.sandbox["vendor_key"], "--overlap", "0", "--yes")
    assert ask(serving).status_code == 401
    serving.stop()
    again = started()
    assert again.sandbox["vendor_password"] is None
    assert "changed by an operator" in "".join(again.output_lines)


def test_a_port_in_use_is_a_sentence(data):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = str(held.getsockname()[1])
        code, reported = refused("--data", str(data), "--port", port)
        assert (code, f"127.0.0.1:{port} is in use" in reported) == (2, True)
        assert "choose another port by --port or CLEARLANE_PORT" in reported
        assert not data.exists()
        code, reported = refused("--data", str(data), "--port", "0", "--ops-port", port)
        assert (code, "operations address" in reported) == (2, True)
        assert "by --ops-port or CLEARLANE_OPERATIONS_PORT" in reported
        code, reported = refused("--data", str(data), "--port", "0", CLEARLANE_PLAIN_PORT=port)
        assert (code, "another port by CLEARLANE_PLAIN_PORT" in reported) == (2, True)
        assert not data.exists()


def test_bad_settings_are_a_sentence(data):
    code, reported = refused("--data", str(data), CLEARLANE_PORT="many")
    assert (code, "CLEARLANE_PORT cannot be used" in reported) == (2, True)
    code, reported = refused("--data", str(data), CLEARLANE_TLS_KEY="only.key", CLEARLANE_PORT="0")
    assert (code, "go together" in reported) == (2, True)
    code, reported = refused("--data", str(data), "--port", "99999")
    assert (code, "--port" in reported, "65535" in reported) == (2, True, True)


def test_a_second_service_on_the_same_data_is_refused(running):
    code, reported = refused("--data", str(running.data), "--port", "0")
    assert code == 2
    assert reported.strip()
    assert ask(running).status_code == 200


def test_production_does_not_serve_on_an_empty_schema(data):
    production = {"CLEARLANE_MODE": "production", "CLEARLANE_SUBMITTER_NAME": "FERNHILL BILLING"}
    code, reported = refused("--data", str(data), "--port", "0", **production)
    assert (code, "CLEARLANE_SUBMITTER_PHONE must be set" in reported) == (2, True)
    production["CLEARLANE_SUBMITTER_PHONE"] = "5125550142"
    code, reported = refused("--data", str(data), "--port", "0", **production)
    assert (code, "clearlane db upgrade" in reported) == (2, True)


def begin_a_call(connection, query, auth):
    """A call that runs and waits for the rest of its body: an empty list."""
    connection.send(request(DOCUMENTS, "Expect: 100-continue", query=query, auth=auth, length=10))
    assert connection.receive().status == 100
    connection.send(b"[   ")


def is_stopping(serving):
    ready = operator(serving, "GET", "/readyz")
    return (ready.status_code, ready.json().get("parts")) == (503, {"service": "stopping"})


def is_closed(serving):
    try:
        socket.create_connection(("127.0.0.1", serving.port), timeout=PATIENCE_SECONDS).close()
    except OSError:
        return True
    return False


def operator(serving, method, path):
    """Ask the operations address."""
    url = serving.sandbox["operations_url"] + path
    return httpx.request(method, url, timeout=PATIENCE_SECONDS)


def test_a_stop_finishes_the_running_call_and_refuses_new_ones(started):
    serving = started()
    facts = serving.sandbox
    auth = basic(facts["vendor_key"], facts["vendor_password"])
    query = f"vendorSiteId={facts['vendor_site_id']}&type=medical"
    with (
        RawConnection(serving.port, serving.ca_file) as connection,
        RawConnection(serving.port, serving.ca_file) as idle,
    ):
        idle.send(request(query=query, auth=auth))
        assert idle.receive().status == 200
        begin_a_call(connection, query, auth)
        serving.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_stopping(serving))
        wait_until(lambda: is_closed(serving))
        connection.send(b"     ]")
        answer = connection.receive()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
    assert serving.wait_for_exit() == 0


def test_a_stop_does_not_wait_for_ever(started):
    serving = started(CLEARLANE_STOP_SECONDS_MAX="1")
    facts = serving.sandbox
    auth = basic(facts["vendor_key"], facts["vendor_password"])
    query = f"vendorSiteId={facts['vendor_site_id']}&type=medical"
    with RawConnection(serving.port, serving.ca_file) as connection:
        begin_a_call(connection, query, auth)
        serving.process.send_signal(signal.SIGTERM)
        answer = connection.receive()
        assert (answer.status, answer.headers["retry-after"] > "0") == (503, True)
        assert serving.wait_for_exit() == 0


def test_a_second_signal_does_not_wait_at_all(started):
    serving = started(CLEARLANE_STOP_SECONDS_MAX="600")
    facts = serving.sandbox
    auth = basic(facts["vendor_key"], facts["vendor_password"])
    query = f"vendorSiteId={facts['vendor_site_id']}&type=medical"
    with RawConnection(serving.port, serving.ca_file) as connection:
        begin_a_call(connection, query, auth)
        serving.process.send_signal(signal.SIGINT)
        wait_until(lambda: is_stopping(serving))
        assert serving.process.poll() is None
        serving.process.send_signal(signal.SIGINT)
        assert serving.wait_for_exit() == 0


def test_an_unread_log_does_not_stop_the_service(data):
    serving = ServiceProcess(data)
    serving._read_log = lambda: None
    serving.start()
    try:
        for _ in range(5):
            with serving.client() as client:
                for _ in range(200):
                    assert client.get("/nothing").status_code == 404
    finally:
        assert serving.stop() == 0


def serial(serving):
    context = ssl.create_default_context(cafile=serving.ca_file)
    with (
        socket.create_connection(("127.0.0.1", serving.port), timeout=PATIENCE_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped,
    ):
        return wrapped.getpeercert()["serialNumber"]


def test_a_certificate_is_reloaded_on_sighup_and_when_it_changes(running):
    from datetime import UTC, datetime

    from clearlane.api.http.certificates import ensure_local_pair

    serving, data = running, running.data
    shown = serial(serving)
    for wait in ("sighup", "look"):
        (data / "tls" / "server.pem").unlink()
        ensure_local_pair(data / "tls", ["127.0.0.1"], datetime.now(UTC))
        if wait == "sighup":
            serving.process.send_signal(signal.SIGHUP)
        wait_until(lambda: serial(serving) != shown)
        shown = serial(serving)
    assert ask(serving).status_code == 200


def test_an_operators_own_certificate_is_served_or_refused(started, data, tmp_path):
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    certificate, key = tmp_path / "own.pem", tmp_path / "own.key"
    for blob, file in ((issued.cert_chain_pems[0], certificate), (issued.private_key_pem, key)):
        blob.write_to_path(file)
    own = {"CLEARLANE_TLS_CERTIFICATE": str(certificate), "CLEARLANE_TLS_KEY": str(key)}
    serving = started(**own)
    assert serving.sandbox["ca_file"] is None
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    context = ssl.create_default_context(cafile=tmp_path / "authority.pem")
    url = serving.base_url + "/openapi.json"
    assert httpx.get(url, verify=context, timeout=PATIENCE_SECONDS).status_code == 200
    serving.stop()
    key.write_text("spoilt")
    code, reported = refused("--data", str(data), "--port", "0", **own)
    assert (code, "holds no unencrypted private key" in reported) == (2, True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@pytest.mark.parametrize("proxies", ["", "127.0.0.0/8"])
def test_the_plain_listener_serves_only_what_a_trusted_proxy_encrypted(started, proxies):
    port = free_port()
    serving = started(CLEARLANE_PLAIN_PORT=str(port), CLEARLANE_TRUSTED_PROXIES=proxies)
    facts = serving.sandbox
    auth = (facts["vendor_key"], facts["vendor_password"])
    query = {"vendorSiteId": facts["vendor_site_id"], "type": "medical"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_SECONDS) as client:
        encrypted = {"X-Forwarded-Proto": "https"}
        good = client.post(PATH, params=query, auth=auth, headers=encrypted)
        assert good.status_code == (200 if proxies else 403)
        for answer in (
            client.post(PATH, params=query, auth=auth),
            client.get("/nothing"),
            client.get("/openapi.json"),
            client.post(PATH, headers={"X-Forwarded-Proto": "http"}),
        ):
            assert (answer.status_code, answer.json()) == (403, {"Message": "HTTPS is required."})
            assert answer.headers["x-request-id"]
    assert ask(serving).status_code == 200


def test_the_operations_address_answers_operators(running):
    ask(running)
    assert operator(running, "GET", "/healthz").json() == {"status": "alive"}
    assert operator(running, "GET", "/readyz").json()["status"] == "ready"
    metrics = operator(running, "GET", "/metrics")
    assert 'clearlane_requests_total{endpoint="GetPayers",status="200"}' in metrics.text
    assert "clearlane_measured 1.0" in metrics.text
    assert 'clearlane_nodes{role="serve"} 1.0' in metrics.text
    assert "clearlane_engine_backlog_oldest_seconds" in metrics.text
    assert "clearlane_certificate_remaining_seconds" in metrics.text
    assert "process_resident_memory_bytes" in metrics.text
    assert operator(running, "GET", "/nothing").status_code == 404
    assert operator(running, "POST", "/healthz").status_code == 405
    assert operator(running, "HEAD", "/readyz").status_code == 200
    assert operator(running, "POST", PATH).status_code == 404


@pytest.mark.safe_default(13)
def test_a_vendor_without_a_limit_has_that_of_the_installation(started):
    # 1 a minute: no pause between two calls, however long, gives a third one back.
    serving = started(CLEARLANE_VENDOR_CALLS_PER_MINUTE="1")
    for account, passed in (
        (serving.add_vendor("LARGE", "--limit", "1000"), 3),
        (serving.add_vendor("USUAL"), 1),
    ):
        site = serving.add_site(account, f"{account.key}-1", "--baa-accepted")
        query = {"vendorSiteId": site, "type": "medical"}
        with serving.client(account.auth) as client:
            answers = [client.post("/api/v3/payers/get_list", params=query) for _ in range(3)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert len(refused) == 3 - passed
        assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in refused)
        assert all("limit of 1 calls" in answer.json()["Message"] for answer in refused)


@pytest.mark.safe_default(13)
def test_production_limits_the_calls_of_a_vendor_and_a_sandbox_does_not():
    found = [
        settings.load({"CLEARLANE_MODE": mode}).calls_per_minute_max
        for mode in ("production", "sandbox")
    ]
    assert found == [6_000, 0]
