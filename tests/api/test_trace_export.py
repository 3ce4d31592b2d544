"""Traces of claims, as an OpenTelemetry collector gets them: one from the call to the webhook, linked to batches and files.

Also tests `pipeline/claim_traces` and `kernel/traces`.
"""

import gzip
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from clearlane.api.operations import trace_export
from clearlane.kernel.traces import TraceKey, TraceStep
from clearlane.store.database.database import OperationRefused
from tests.api.service_process import ServiceProcess
from tests.api.test_claims import a_document, post, results
from tests.patience import wait_until

pytestmark = pytest.mark.one_database
pytest.importorskip("opentelemetry.sdk")

HOOKS = "/clearlane/v1/webhook_endpoints"
PATIENT = {
    "F02_PatientNameLast": "Qvxlast", "F04_InsuredNameLast": "Qvxlast", "F01A_InsuredId": "QVX3001",
}  # fmt: skip
STEPS = {"claims accepted", "claims batched", "claims sent", "payer answered", "webhook delivered"}


class Collector:
    """An OTLP receiver and a receiver of webhooks."""

    def __init__(self):
        self.spans, self.bodies, self.lock = [], [], threading.Lock()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                collector.take(self)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, request):
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )

        body = request.rfile.read(int(request.headers["Content-Length"]))
        if request.path != "/v1/traces":
            return
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        message = ExportTraceServiceRequest.FromString(body)
        with self.lock:
            self.bodies.append(body)
            for resource in message.resource_spans:
                for scope in resource.scope_spans:
                    self.spans += scope.spans

    def traces(self):
        """Spans by trace."""
        found = defaultdict(list)
        with self.lock:
            for span in self.spans:
                found[span.trace_id].append(span)
        return found

    def trace_of(self, number):
        """The spans of the trace that names a claim."""
        for spans in self.traces().values():
            if any(number in str(span.attributes) for span in spans if not span.parent_span_id):
                return spans
        return []


@pytest.fixture
def collector():
    collector = Collector()
    yield collector
    collector.server.shutdown()
    collector.server.server_close()


def test_one_trace_leads_from_the_call_to_the_webhook(collector, tmp_path):
    service = ServiceProcess(tmp_path / "data", CLEARLANE_OTLP_ENDPOINT=collector.url)
    service.start()
    try:
        facts = service.sandbox
        auth = facts["vendor_key"], facts["vendor_password"]
        of_site = {"vendorSiteId": facts["vendor_site_id"]}
        with service.client(auth) as client:
            hook = client.post(HOOKS, json={"url": f"{collector.url}/hook", "types": ["claim.*"]})
            assert hook.status_code == 201, hook.text
            claims = results(post(client, a_document(claims=2, **PATIENT), params=of_site))
            numbers = [one["RequestId"] for one in claims]
            assert all(one["Status"] == "Accepted" for one in claims), claims
            advance = client.post("/sandbox/advance", json={"By": "20d"}, params=of_site)
            assert advance.status_code == 200, advance.text

            def names():
                return {span.name for span in collector.trace_of(numbers[0])}

            wait_until(lambda: names() >= STEPS)
    finally:
        assert service.stop() == 0
    spans = collector.trace_of(numbers[0])
    assert collector.trace_of(numbers[1]) == spans  # of the same call
    [first] = [span for span in spans if not span.parent_span_id]
    assert first.name == "claims accepted"
    assert {span.parent_span_id for span in spans if span is not first} == {first.span_id}
    assert all(0 < span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)
    traces = collector.traces()
    for name, subject in (
        ("claims batched", "claims batched"),
        ("payer answered", "file received"),
    ):
        step = next(span for span in spans if span.name == name)
        [link] = step.links
        other = traces[link.trace_id]
        [begun] = [span for span in other if not span.parent_span_id]
        assert (begun.name, begun.span_id) == (subject, link.span_id)
        back = {each.span_id for span in other for each in span.links}
        assert first.span_id in back
    sent = b"".join(collector.bodies).lower()
    assert b"clearlane" in sent
    assert not [word for word in (b"qvxlast", b"qvx3001") if word in sent]


def test_a_step_of_one_trace_has_the_same_ids_on_every_node(collector):
    key, batch = TraceKey("call", "1-2-3"), TraceKey("batch", "7")
    assert trace_export._ids(key) == trace_export._ids(TraceKey("call", "1-2-3"))
    assert trace_export._ids(key) != trace_export._ids(batch)


async def test_a_collector_that_is_away_stops_nothing(capfd):
    """Spans are lost; the log says so without addresses."""
    export = trace_export.open_trace_export("http://127.0.0.1:9/secret", node="n", version="1")
    step = TraceStep(name="claims accepted", trace=TraceKey("call", "1"), began=1, ended=2, ids={})
    export.add(step)
    await export.close()
    written = capfd.readouterr()
    assert "secret" not in written.out + written.err


async def test_without_the_extra_the_start_says_what_to_install(monkeypatch):
    monkeypatch.setitem(
        __import__("sys").modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None
    )
    with pytest.raises(OperationRefused, match=r"clearlane\[otel\]"):
        trace_export.open_trace_export("http://127.0.0.1:4318", node="n", version="1")
