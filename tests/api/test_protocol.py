"""Connection limits: the head, the body and idle time are limited, and every refusal has one shape."""

import json
import re
import socket
import ssl
import time

import pytest

from clearlane.api.frame.endpoint import ApiLimits
from clearlane.api.v3.endpoints import ENDPOINTS
from tests.api.local_server import PASSWORD, start_local_server
from tests.api.raw_connection import RawConnection, basic, request
from tests.api.sample_endpoints import GOOD
from tests.patience import PATIENCE_SECONDS, wait_until

AUTH = basic("ACME", PASSWORD)
QUERY = "vendorSiteId=ACME-1&type=medical"
SHORT_SECONDS, LONG_SECONDS, LINGER_SECONDS = 2, 600, 0.3


def limits_of(seconds):
    return ApiLimits(header_seconds_max=seconds, body_seconds_max=seconds, body_bytes_max=200_000)


@pytest.fixture(scope="module")
def open_server(tmp_path_factory):
    """Start servers, and stop them at the end."""
    servers = []

    def start(seconds, linger):
        directory = tmp_path_factory.mktemp("local_server")
        limits = limits_of(seconds)
        servers.append(
            start_local_server(
                directory,
                endpoints=(*ENDPOINTS, *GOOD),
                limits=limits,
                linger_seconds_max=linger,
                connections_max=20,
            )
        )
        return servers[-1]

    yield start
    for local_server in servers:
        local_server.stop()


@pytest.fixture(scope="module")
def local_server(open_server):
    """A server that waits for callers and soon disconnects those it has refused."""
    return open_server(LONG_SECONDS, LINGER_SECONDS)


@pytest.fixture(scope="module")
def patient(open_server):
    """A server that waits for callers and drains everything they send."""
    return open_server(LONG_SECONDS, LONG_SECONDS)


@pytest.fixture(scope="module")
def hasty(open_server):
    """Closes silent connections after a short time."""
    return open_server(SHORT_SECONDS, LINGER_SECONDS)


@pytest.fixture
def connection(local_server):
    with connect(local_server) as connection:
        yield connection


@pytest.fixture
def patient_connection(patient):
    with connect(patient) as connection:
        yield connection


def connect(local_server):
    return RawConnection(local_server.server.port, local_server.ca_file)


def check_shape(answer, status):
    assert answer.status == status
    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-request-id"])
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert json.loads(answer.body)["Message"]
    assert "date" in answer.headers
    assert "server" not in answer.headers


def good(**changes):
    return request(**{"query": QUERY, "auth": AUTH, **changes})


def document(**changes):
    """A call that reads a document."""
    return request("/api/v3/test/document", **{"query": QUERY, "auth": AUTH, **changes})


def test_a_good_call_passes_and_keeps_the_connection(connection):
    for _ in range(3):
        connection.send(good())
        assert connection.receive().status == 200


@pytest.mark.safe_default(13)
@pytest.mark.parametrize("version", [b"HTTP/2.0", b"HTTP/2", b"HTTP/9.9", b"HTTP/1.2"])
def test_another_version_of_http_is_a_505(connection, version):
    line, rest = good().split(b"\r\n", 1)
    connection.send(line.replace(b"HTTP/1.1", version) + b"\r\n" + rest)
    answer = connection.receive()
    check_shape(answer, 505)
    assert json.loads(answer.body)["Message"] == "The service speaks HTTP/1.1 and HTTP/1.0."


@pytest.mark.safe_default(13)
def test_the_preface_of_http_2_is_a_505_and_the_end(connection):
    connection.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    check_shape(connection.receive(), 505)
    assert connection.closed()


def test_pipelined_calls_are_answered_in_order(connection):
    connection.send(good() + request("/nowhere") + good())
    assert [connection.receive().status for _ in range(3)] == [200, 404, 200]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"HTTP/1.1\r\n", 400),
        (b"HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400),
        (b"HTTP/1.1\r\nHost: a\r\nHOST: b\r\n", 400),
        (b"HTTP/1.1\r\nHost: a\r\n", 404),
        (b"HTTP/1.0\r\n", 404),
        (b"HTTP/1.0\r\nHost: a\r\nHost: b\r\n", 400),
    ],
)
def test_a_request_has_one_host(connection, head, status):
    connection.send(b"GET /nothing " + head + b"\r\n")
    answer = connection.receive()
    assert answer.status == status
    if status == 400:
        assert b"exactly one Host header" in answer.body


def test_two_content_lengths_are_refused(connection):
    connection.send(
        good(length=5).replace(b"\r\n\r\n", b"\r\nContent-Length: 6\r\n\r\n") + b"{}    "
    )
    check_shape(connection.receive(), 400)
    assert connection.closed()


def test_two_equal_content_lengths_are_refused(connection):
    connection.send(good(length=2).replace(b"\r\n\r\n", b"\r\nContent-Length: 2\r\n\r\n") + b"{}")
    check_shape(connection.receive(), 400)


@pytest.mark.parametrize("length", ["-1", "5x", "0x5", "1 1", "", "99999999999999999999999"])
def test_a_content_length_that_is_no_number_is_refused(connection, length):
    connection.send(good(length=length) + b"{}")
    check_shape(connection.receive(), 400)


def test_a_length_beside_chunks_is_refused(connection):
    connection.send(request("/", "Transfer-Encoding: chunked", length=2) + b"2\r\n{}\r\n0\r\n\r\n")
    check_shape(connection.receive(), 400)


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\x16\x03\x01\x00\xa5\x01",
        b"HELLO\r\n\r\n",
        b"POST / HTTP/1.1\r\nbad header\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\x00b\r\n\r\n",
        b"POST \xff\xfe HTTP/1.1\r\n\r\n",
        b"GET http:// HTTP/1.1\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_rubbish_is_answered_with_a_400_and_the_end(connection, rubbish):
    connection.send(rubbish)
    check_shape(connection.receive(), 400)
    assert connection.closed()


def test_a_head_that_is_too_large_is_refused_whole(connection):
    connection.send(request("/x", "X-Big: " + "a" * 33_000))
    check_shape(connection.receive(), 431)
    assert connection.closed()


def test_a_request_line_that_is_too_large_is_refused(connection):
    connection.send(request("/x", query="q=" + "a" * 33_000))
    check_shape(connection.receive(), 431)


def test_many_small_headers_are_refused(connection):
    connection.send(request("/x", *(f"X-{at}: {at}" for at in range(4_000))))
    check_shape(connection.receive(), 431)


def test_a_head_that_never_ends_is_refused_in_spite_of_its_pace(patient_connection):
    patient_connection.send(b"POST /x HTTP/1.1\r\nX-Big: ")
    for _ in range(40):
        time.sleep(0.005)
        patient_connection.send(b"a" * 1_024)
    check_shape(patient_connection.receive(), 431)


def test_empty_lines_before_a_request_are_counted_too(patient_connection):
    for _ in range(40):
        patient_connection.send(b"\r\n" * 512)
    check_shape(patient_connection.receive(), 431)


def test_a_head_just_within_the_limit_passes(connection):
    connection.send(good()[:-2] + b"X-Big: " + b"a" * 31_000 + b"\r\n\r\n")
    assert connection.receive().status == 200


def test_a_slow_head_is_cut_off(hasty):
    began = time.perf_counter()
    with connect(hasty) as connection:
        for character in b"POST /x HTTP/1.1\r\nX-Slow: as slow as this\r\n":
            connection.send(bytes([character]))
            time.sleep(0.1)
            if time.perf_counter() - began > SHORT_SECONDS:
                break
        check_shape(connection.receive(), 408)
        assert connection.closed()


def test_a_silent_connection_is_cut_off(hasty):
    began = time.perf_counter()
    with connect(hasty) as connection:
        check_shape(connection.receive(), 408)
    assert time.perf_counter() - began > SHORT_SECONDS * 0.9


def test_a_slow_head_after_a_good_call_is_cut_off(hasty):
    with connect(hasty) as connection:
        connection.send(good())
        assert connection.receive().status == 200
        connection.send(b"POST /x")
        check_shape(connection.receive(), 408)


def test_a_body_that_does_not_come_is_cut_off(hasty):
    began = time.perf_counter()
    with connect(hasty) as connection:
        connection.send(document(length=100) + b'{"a":')
        check_shape(connection.receive(), 408)
        assert time.perf_counter() - began > SHORT_SECONDS * 0.9
        assert connection.closed()


def test_a_length_beyond_the_limit_is_refused_before_the_body(connection):
    connection.send(document(length=10**12))
    check_shape(connection.receive(), 413)


def test_a_body_beyond_its_declared_length_is_a_broken_document_and_then_rubbish(connection):
    connection.send(document(body=b'{"a": 1, "b": 2}', length=5))
    check_shape(connection.receive(), 400)
    connection.closed()


def test_chunks_beyond_the_limit_are_refused_as_they_come(patient_connection):
    patient_connection.send(document(length="none")[:-2] + b"Transfer-Encoding: chunked\r\n\r\n")
    check_shape(patient_connection.exchange((b"2710\r\n" + b" " * 10_000 + b"\r\n") * 60), 413)


@pytest.mark.parametrize("chunk", [b"zz\r\n", b"-1\r\n", b"5\r\nabcdefgh\r\n"])
def test_broken_chunks_are_refused(connection, chunk):
    connection.send(document(length="none")[:-2] + b"Transfer-Encoding: chunked\r\n\r\n" + chunk)
    check_shape(connection.receive(), 400)
    assert connection.closed()


def test_endless_trailers_are_refused(patient_connection):
    head = document(length="none")[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"
    patient_connection.send(head + b"2\r\n{}\r\n0\r\n")
    for _ in range(300):
        patient_connection.send(b"X-Trailer: " + b"a" * 1_000 + b"\r\n")
    check_shape(patient_connection.receive(), 400)


def test_a_chunked_body_with_trailers_passes(connection):
    connection.send(document(length="none")[:-2] + b"Transfer-Encoding: chunked\r\n\r\n")
    connection.send(b'8\r\n{"a": 1}\r\n0\r\nX-T: 1\r\n\r\n')
    answer = connection.receive()
    assert (answer.status, answer.headers["x-ignored-fields"]) == (200, "a")
    connection.send(good())
    assert connection.receive().status == 200


def test_rubbish_behind_a_good_call_does_not_spoil_its_answer(connection):
    connection.send(good() + b"HELLO\r\n\r\n")
    assert connection.receive().status == 200
    connection.closed()


def test_an_early_refusal_reaches_a_caller_that_is_still_sending(patient):
    for _ in range(5):
        with connect(patient) as connection:
            connection.send(request(query=QUERY, length=5_000_000))
            assert connection.exchange(b" " * 5_000_000).status == 401


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_an_early_refusal_reaches_a_caller_that_closes(patient, version):
    for _ in range(5):
        with connect(patient) as connection:
            head = request("/", "Connection: close", query=QUERY, length=3_000_000)
            connection.send(head.replace(b"HTTP/1.1", version.encode()))
            assert connection.exchange(b" " * 3_000_000).status == 404


def test_a_caller_that_keeps_sending_after_its_answer_is_cut_off(connection):
    connection.send(request(length=10**9))
    assert connection.receive().status == 401
    with pytest.raises((ConnectionError, ssl.SSLError)):
        wait_until(lambda: connection.socket.sendall(b" " * 1_000))


def test_a_body_that_was_not_wanted_is_drained_and_the_connection_kept(connection):
    connection.send(request(body=b"x" * 50_000))
    assert connection.receive().status == 401
    connection.send(good())
    assert connection.receive().status == 200


def test_continue_is_sent_only_when_the_body_is_wanted(connection):
    connection.send(document(length=2)[:-2] + b"Expect: 100-continue\r\n\r\n")
    assert connection.receive().status == 100
    connection.send(b"{}")
    assert connection.receive().status == 200
    connection.send(request("/", "Expect: 100-continue", length=2))
    assert connection.receive().status == 404


def test_an_upgrade_is_not_made(connection):
    connection.send(good()[:-2] + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert connection.receive().status == 200


def test_a_plain_request_on_the_tls_port_gets_nothing(local_server):
    with socket.create_connection(
        ("127.0.0.1", local_server.server.port), timeout=PATIENCE_SECONDS
    ) as plain:
        plain.sendall(good())
        received = b""
        try:
            while chunk := plain.recv(4_096):
                received += chunk
        except ConnectionError:
            pass
    assert b"HTTP" not in received


def test_old_tls_is_not_spoken(local_server):
    context = ssl.create_default_context(cafile=local_server.ca_file)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with (
        socket.create_connection(
            ("127.0.0.1", local_server.server.port), timeout=PATIENCE_SECONDS
        ) as plain,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        context.wrap_socket(plain, server_hostname="localhost")


def test_more_connections_than_allowed_get_a_503(local_server):
    held = [connect(local_server) for _ in range(20)]
    try:
        with connect(local_server) as late:
            late.send(good())
            answer = late.receive()
            check_shape(answer, 503)
    finally:
        for connection in held:
            connection.socket.close()
