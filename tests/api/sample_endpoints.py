"""Endpoints that V3 does not have, to test the shared checks. Run as a program, it serves faulty ones."""

import sys
import tempfile
from pathlib import Path

from starlette.responses import StreamingResponse

from clearlane.api.frame.endpoint import BodyUse, Endpoint, EndpointFamily, Parameter
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.http.body import decode
from clearlane.api.http.http_responses import JSON, json_response
from clearlane.api.http.stream import stream_array
from clearlane.api.v3 import responses
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.store.database.group_commit import CommitOutcomeUnknown, DatabaseUnavailable

MARKER = "ZQMARKERZQ"


async def echo(call):
    """Return what the handler received."""
    return json_response(
        200,
        {
            "vendor": call.vendor.key,
            "site": call.site.vendor_site_id,
            "parameters": call.parameters,
            "request_id": call.request_id,
            "actor": [call.actor.kind, call.actor.name, call.actor.request_id],
        },
    )


async def read_document(call):
    """Read a document, as claim submission does."""
    document = decode(await call.body.read_document(), dict[str, int], call.errors)
    call.ignored_fields += [name for name in document if name != "Known"]
    return json_response(200, document)


async def suspended_document(call):
    return json_response(200, {"ClaimResults": [], "DocumentLevelErrors": [{"Type": "System"}]})


async def suspended_refused(call):
    return await responses.refuse_suspended(call)


def read_number(text, endpoint):
    if text is None:
        raise RequestRefusal(responses.no_action(endpoint.family))
    if not text.isdecimal():
        raise RequestRefusal(responses.bad_parameter("number", text, "a whole number"))
    return int(text)


NUMBER = Parameter(name="number", help="A number.", read=read_number, schema={"type": "integer"})


def endpoint(name, handler, **columns):
    columns = {
        "family": EndpointFamily.CLAIMS,
        "touches_phi": True,
        "suspended_handler": None,
        **columns,
    }
    return Endpoint(
        name=name,
        path=f"/api/v3/test/{name}",
        summary=name,
        handler=handler,
        response_type=dict,
        errors=V3_ERRORS,
        **columns,
    )


def raising(fault):
    async def handler(call):
        raise fault

    return handler


async def broken_stream(call):
    async def rows():
        yield b"["
        raise ValueError(MARKER)

    return StreamingResponse(rows(), headers={"Content-Type": JSON})


async def streamed_rows(call):
    async def pages():
        for at in range(3):
            yield b"%d" % at

    return await stream_array(pages(), JSON)


async def no_result(call):
    return responses.no_result("The claims could not be imported.")


async def retried_group(call):
    try:
        raise KeyError(MARKER)
    except KeyError as inner:
        raise RuntimeError(f"{MARKER} again") from inner


GOOD = (
    endpoint("phi", echo),
    endpoint("open", echo, touches_phi=False),
    endpoint(
        "document", read_document, body_use=BodyUse.JSON, suspended_handler=suspended_document
    ),
    endpoint("refusing", echo, suspended_handler=suspended_refused),
    endpoint("careless", echo),
    endpoint("numbered", echo, parameters=(NUMBER,), bad_credentials_status=404, touches_phi=False),
    endpoint("nothing", no_result),
    endpoint("rows", streamed_rows),
)
FAULTY = (
    endpoint("unavailable", raising(DatabaseUnavailable(MARKER))),
    endpoint("unknown", raising(CommitOutcomeUnknown(MARKER))),
    endpoint("late", raising(TimeoutError(MARKER))),
    endpoint("cut", raising(ConnectionResetError(MARKER))),
    endpoint("wrong", raising(ValueError(MARKER))),
    endpoint("chained", retried_group),
    endpoint("stream", broken_stream),
)


if __name__ == "__main__":
    import logging

    from clearlane.api.operations import logs
    from tests.api.local_server import start_local_server
    from tests.api.raw_connection import RawConnection, basic, request

    writer = logs.configure("info")
    local_server = start_local_server(Path(tempfile.mkdtemp()), endpoints=FAULTY)
    with local_server.client() as client:
        for one in FAULTY[:-1]:
            answer = client.post(one.path, params={"vendorSiteId": "ACME-1"}, json={MARKER: MARKER})
            print(one.name, answer.status_code, answer.headers.get("retry-after"), answer.text)
    from tests.api.local_server import PASSWORD

    with RawConnection(local_server.server.port, local_server.ca_file) as wire_:
        wire_.send(
            request(FAULTY[-1].path, query="vendorSiteId=ACME-1", auth=basic("ACME", PASSWORD))
        )
        answered = wire_.receive()
        assert answered is not None
        print("stream", answered.status, wire_.closed() or wire_.rest)
    logging.getLogger("some.library").error("could not store %s", MARKER)
    try:
        raise ValueError(MARKER)
    except ValueError:
        logging.getLogger("some.library").exception("failed\n%s", MARKER)
    local_server.loop.call_soon_threadsafe(
        logs.log_loop_fault, local_server.loop, {"message": MARKER, "exception": ValueError(MARKER)}
    )
    print("metrics", MARKER in local_server.metrics.text().decode())
    local_server.stop()
    writer.flush()
    sys.stdout.flush()
