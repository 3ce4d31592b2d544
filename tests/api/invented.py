"""Calls that the interface does not have, to show what every call shares. Run, it serves faulty ones."""

import sys
import tempfile
from pathlib import Path

from starlette.responses import StreamingResponse

from clearlane.api.body import decode
from clearlane.api.endpoint import Content, Family, Parameter, Row
from clearlane.api.errors import Refusal
from clearlane.api.v3 import wire
from clearlane.store.group_commit import OutcomeUnknown, Unavailable

MARKER = "ZQMARKERZQ"


async def told(call):
    """What the handler was handed."""
    return wire.answer(
        200,
        {
            "vendor": call.vendor.key,
            "site": call.site.vendor_site_id,
            "parameters": call.parameters,
            "request_id": call.request_id,
            "actor": [call.actor.kind, call.actor.name, call.actor.request_id],
        },
    )


async def documented(call):
    """Reads a document, as claims do."""
    document = decode(await call.body.document(), dict[str, int])
    call.ignored += [name for name in document if name != "Known"]
    return wire.answer(200, document)


async def suspended_document(call):
    return wire.answer(200, {"ClaimResults": [], "DocumentLevelErrors": [{"Type": "System"}]})


async def suspended_refused(call):
    return wire.suspended()


def read_number(text, row):
    if text is None:
        raise Refusal(wire.no_action(row.family))
    if not text.isdecimal():
        raise Refusal(wire.bad_parameter("number", text, "a whole number"))
    return int(text)


NUMBER = Parameter(name="number", help="A number.", read=read_number, schema={"type": "integer"})


def row(name, handler, **columns):
    columns = {"family": Family.CLAIMS, "touches_phi": True, "suspended": None, **columns}
    return Row(
        name=name,
        path=f"/api/v3/test/{name}",
        summary=name,
        handler=handler,
        answer=dict,
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

    return StreamingResponse(rows(), headers={"Content-Type": wire.JSON})


async def no_result(call):
    return wire.no_result("The claims could not be imported.")


async def retried_group(call):
    try:
        raise KeyError(MARKER)
    except KeyError as inner:
        raise RuntimeError(f"{MARKER} again") from inner


GOOD = (
    row("phi", told),
    row("open", told, touches_phi=False),
    row("document", documented, content=Content.JSON, suspended=suspended_document),
    row("refusing", told, suspended=suspended_refused),
    row("careless", told, content=Content.IGNORED),
    row("numbered", told, parameters=(NUMBER,), family=Family.PROXY_LOGIN, touches_phi=False),
    row("nothing", no_result),
)
FAULTY = (
    row("unavailable", raising(Unavailable(MARKER))),
    row("unknown", raising(OutcomeUnknown(MARKER))),
    row("late", raising(TimeoutError(MARKER))),
    row("cut", raising(ConnectionResetError(MARKER))),
    row("wrong", raising(ValueError(MARKER))),
    row("chained", retried_group),
    row("stream", broken_stream),
)


if __name__ == "__main__":
    import logging

    from clearlane.api import logs
    from tests.api.standing import stand
    from tests.api.wires import Wire, basic, request

    writer = logs.configure("info")
    standing = stand(Path(tempfile.mkdtemp()), rows=FAULTY)
    with standing.client() as client:
        for one in FAULTY[:-1]:
            answer = client.post(one.path, params={"vendorSiteId": "ACME-1"}, json={MARKER: MARKER})
            print(one.name, answer.status_code, answer.headers.get("retry-after"), answer.text)
    from tests.api.standing import PASSWORD

    with Wire(standing.door.port, standing.ca_file) as wire_:
        wire_.say(
            request(FAULTY[-1].path, query="vendorSiteId=ACME-1", auth=basic("ACME", PASSWORD))
        )
        print("stream", wire_.hear().status, wire_.closed() or wire_.rest)
    logging.getLogger("some.library").error("could not store %s", MARKER)
    try:
        raise ValueError(MARKER)
    except ValueError:
        logging.getLogger("some.library").exception("failed\n%s", MARKER)
    standing.loop.call_soon_threadsafe(
        logs.on_loop_fault, standing.loop, {"message": MARKER, "exception": ValueError(MARKER)}
    )
    print("metrics", MARKER in standing.metrics.text().decode())
    standing.stop()
    writer.flush()
    sys.stdout.flush()
