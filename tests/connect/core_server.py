"""A CAQH CORE C2.2.0 service of our own making: it reads requests with the standard library alone.

It shares no code with the client, so that both would have to make the same mistake. ``mood`` makes it
misbehave in one named way.
"""

import asyncio
import base64
import contextlib
import gzip
import hashlib
import ssl
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Any

import trustme
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

NAMESPACE = "http://www.caqh.org/SOAP/WSDL/CORERule2.2.0.xsd"
USER, PASSWORD = "clearlane", "meadow gate & <latch>"

AUTHORITY, STRANGER = trustme.CA(), trustme.CA()
AUTHORITY_PEM = AUTHORITY.cert_pem.bytes().decode()

BATCH_ORDER = [
    "PayloadType", "ProcessingMode", "PayloadID", "PayloadLength", "TimeStamp", "UserName",
    "Password", "SenderID", "ReceiverID", "CORERuleVersion", "CheckSum", "Payload",
]  # fmt: skip
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><x>&i;</x>"
)
EXTERNAL = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>'


@dataclass
class Seen:
    """One request as the service understood it."""

    form: str
    action: str
    names: list[str]
    fields: dict[str, str]
    payload: bytes | None = None
    login: tuple[str | None, ...] = ("", "")
    element: str = ""


@dataclass
class CorePayer:
    """What the service knows, and how it behaves."""

    port: int = 0
    mood: str = "well"
    seen: list[Seen] = field(default_factory=list)
    batches: dict[str, bytes] = field(default_factory=dict)
    mail: list[tuple[str, str, bytes]] = field(default_factory=list)  # asked type, id, content
    keeps_mail: bool = False
    inline: bool = False
    answer: Iterable[Any] = ("X12_271_Response_005010X279A1", b"ISA*the answer~")
    seconds: float = 0

    async def serve(self, request):
        body = await request.body()
        seen = understood(request.headers["content-type"], body)
        self.seen.append(seen)
        await asyncio.sleep(self.seconds)
        odd = ODD.get(self.mood)
        if odd:
            return odd(seen)
        fault = faults(seen)
        if fault or self.mood.startswith("code:"):
            return say(seen, error=fault or self.mood.removeprefix("code:"), words="No, sorry")
        if seen.fields["ProcessingMode"] == "RealTime":
            kind, payload = self.answer
            return say(seen, kind=kind, payload=payload)
        return self.batch(seen)

    def batch(self, seen):
        kind, id = seen.fields["PayloadType"], seen.fields["PayloadID"]
        if "Results" in kind or "Retrieval" in kind or kind.startswith("X12_835_Request"):
            for row in self.mail:
                if row[0] == kind:
                    if not self.keeps_mail:
                        self.mail.remove(row)
                    return say(
                        seen, kind="X12_Response", payload=row[2], id=row[1], inline=self.inline
                    )
            return say(seen, kind="X12_005010_Response_NoBatchResultsFile")
        if "ConfirmReceipt" in kind:
            self.mail = [row for row in self.mail if row[1] != id]
            return say(seen, kind="X12_Response_ConfirmReceiptReceived")
        if self.batches.setdefault(id, seen.payload) != seen.payload:
            return say(seen, error="PayloadIDIllegal", words="taken")
        return say(seen, kind="X12_BatchReceiptConfirmation")


def faults(seen):
    """The error code of the rule for the first thing that is wrong with a request."""
    if seen.login not in {(USER, PASSWORD), ("", "")}:
        return "UnAuthorized"
    order = [name for name in BATCH_ORDER if name in seen.names]
    if seen.names != order:
        return "NotInOrder"
    for name in ("PayloadType", "PayloadID", "TimeStamp", "SenderID", "ReceiverID"):
        if not seen.fields.get(name):
            return f"{name}Required"
    if seen.fields["CORERuleVersion"] != "2.2.0":
        return "VersionMismatch"
    if seen.payload is not None and seen.fields["ProcessingMode"] == "Batch":
        if seen.fields.get("CheckSum") != hashlib.sha1(seen.payload).hexdigest():
            return "ChecksumMismatched"
        if seen.fields.get("PayloadLength") != str(len(seen.payload)):
            return "PayloadLengthIllegal"
    return ""


def parameter(message: Message, name: str) -> str:
    """Return a parameter of the content type; empty if it has none of this name."""
    value = message.get_param(name, "")
    assert isinstance(value, str)
    return value


def understood(content_type, body):
    message = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    action = parameter(message, "action")
    if message.get_content_type() == "multipart/form-data":
        names, raw = [], {}
        boundary = b"--" + parameter(message, "boundary").encode()
        for piece in body.split(boundary)[1:-1]:
            head, _, content = piece.partition(b"\r\n\r\n")
            name = head.split(b'name="')[1].split(b'"')[0].decode()
            names.append(name)
            raw[name] = content[:-2]
        payload = raw.pop("Payload", None)
        fields = {name: value.decode() for name, value in raw.items()}
        login = (fields.get("UserName", ""), fields.get("Password", ""))
        return Seen("mime", action, names, fields, payload, login)
    attached = {}
    if message.get_content_type() == "multipart/related":
        boundary = b"--" + parameter(message, "boundary").encode()
        for piece in body.split(boundary)[1:-1]:
            head, _, content = piece.partition(b"\r\n\r\n")
            attached[head.split(b"Content-ID: <")[1].split(b">")[0].decode()] = content[:-2]
        body = attached["envelope@core"]
    return soap_understood(body, action, attached)


def soap_understood(body, action, attached):
    root = ET.fromstring(body)
    soap = "{http://www.w3.org/2003/05/soap-envelope}"
    found = root.find(f"{soap}Body")
    assert found is not None
    element = found[0]
    assert element.tag.startswith(f"{{{NAMESPACE}}}")
    login: tuple[str | None, ...] = ("", "")
    for token in root.iter():
        if token.tag.endswith("}UsernameToken"):
            login = tuple(child.text for child in token)
    payload = None
    for child in element:
        if child.tag == "Payload":
            if len(child):
                payload = attached[child[0].attrib["href"].removeprefix("cid:")]
            else:
                text = child.text
                assert text is not None
                payload = base64.b64decode(text) if "Batch" in action else text.encode("latin-1")
    names = [child.tag for child in element]
    fields = {child.tag: child.text or "" for child in element if child.tag != "Payload"}
    return Seen("soap", action, names, fields, payload, login, element.tag.split("}")[1])


def say(
    seen,
    *,
    kind="CoreEnvelopeError",
    payload=None,
    id=None,
    error="Success",
    words="None",
    inline=False,
    checksum=None,
):
    """An answer in the form of the question."""
    batch = seen.fields.get("ProcessingMode") == "Batch"
    rows = [
        ("PayloadType", kind), ("ProcessingMode", "Batch" if batch else "RealTime"),
        ("PayloadID", id or seen.fields.get("PayloadID", "x")), ("TimeStamp", "2024-03-05T12:00:00Z"),
        ("SenderID", "MEADOW"), ("ReceiverID", "CLEARLANE"), ("CORERuleVersion", "2.2.0"),
    ]  # fmt: skip
    if batch and payload is not None:
        rows.insert(3, ("PayloadLength", str(len(payload))))
        rows.append(("CheckSum", checksum or hashlib.sha1(payload).hexdigest()))
    after = [("ErrorCode", error), ("ErrorMessage", words)]
    if seen.form == "mime":
        return mime(rows, payload, after)
    return soap(rows, payload, after, attach=batch and not inline, batch=batch)


def mime(rows, payload, after):
    parts = [
        *((n, v.encode()) for n, v in (*rows, *after)),
        *([("Payload", payload)] if payload is not None else []),
    ]
    body = b"".join(
        b'--XbCY\r\nContent-Disposition: form-data; name="'
        + n.encode()
        + b'"\r\n\r\n'
        + v
        + b"\r\n"
        for n, v in parts
    )
    return Response(body + b"--XbCY--\r\n", media_type="multipart/form-data; boundary=XbCY")


def soap(rows, payload, after, *, attach, batch):
    root = ET.Element("{http://www.w3.org/2003/05/soap-envelope}Envelope")
    body = ET.SubElement(root, "{http://www.w3.org/2003/05/soap-envelope}Body")
    envelope = ET.SubElement(body, f"{{{NAMESPACE}}}COREEnvelopeResponse")
    for name, value in rows:
        ET.SubElement(envelope, name).text = value
    if payload is not None:
        held = ET.SubElement(envelope, "Payload")
        if attach:
            include = ET.SubElement(held, "{http://www.w3.org/2004/08/xop/include}Include")
            include.set("href", "cid:file%40payer")
        else:
            held.text = base64.b64encode(payload).decode() if batch else payload.decode("latin-1")
    for name, value in after:
        ET.SubElement(envelope, name).text = value
    text = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    if payload is None or not attach:
        return Response(text, media_type="application/soap+xml; charset=utf-8")
    content = (
        b"--edge\r\nContent-Type: application/xop+xml\r\nContent-ID: <root@payer>\r\n\r\n"
        + text
        + b"\r\n--edge\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary\r\n"
        b"Content-ID: <file@payer>\r\n\r\n" + payload + b"\r\n--edge--\r\n"
    )
    kind = 'multipart/related; type="application/xop+xml"; start="<root@payer>"; boundary="edge"'
    return Response(content, headers={"content-type": kind})


def xml(text, status=200):
    return Response(text, status, media_type="application/soap+xml")


FAULT = (
    '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><e:Fault><e:Code>'
    "<e:Value>e:{code}</e:Value></e:Code><e:Reason><e:Text>{words}</e:Text></e:Reason></e:Fault>"
    "</e:Body></e:Envelope>"
)


# Every way to misbehave, by name.
def with_tag(attributes):
    """A right answer, but for the attributes of one element."""
    fields = (
        "<PayloadType>X12_271_Response_005010X279A1</PayloadType><Payload>ISA*the answer~</Payload>"
    )
    return xml(f"<x><y {attributes}/>{fields}</x>")


ODD = {
    "html": lambda seen: Response("<html>Please log in</html>", media_type="text/html"),
    "empty": lambda seen: Response(b""),
    "accepted": lambda seen: Response(b"", 202),
    "not xml": lambda seen: xml("<oops"),
    "other xml": lambda seen: xml("<other/>"),
    "bomb": lambda seen: xml(BOMB),
    "external": lambda seen: xml(EXTERNAL),
    "dtd": lambda seen: xml('<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><x/>'),
    "elements": lambda seen: xml("<x>" + "<a/>" * 100_000 + "</x>"),
    "deep": lambda seen: xml("<a>" * 100_000),
    "attributes": lambda seen: with_tag(" ".join(f'a{at}=""' for at in range(1_000))),
    "long tag": lambda seen: with_tag(f'a="{"x" * 1_000_000}"'),
    "encoding": lambda seen: xml('<?xml version="1.0" encoding="utf-99"?><x/>'),
    "huge": lambda seen: xml(b"<x>" + b"a" * 20_000_000),
    "gzip": lambda seen: Response(
        gzip.compress(b"a" * 1_000_000),
        headers={"content-encoding": "gzip", "content-type": "text/xml"},
    ),
    "no boundary": lambda seen: Response(b"x", media_type="multipart/form-data"),
    "cut off": lambda seen: Response(
        b'--b\r\nContent-Disposition: form-data; name="PayloadType"\r\n\r\nX12',
        media_type="multipart/form-data; boundary=b",
    ),
    "many parts": lambda seen: Response(
        b"--b\r\n\r\n\r\n" * 5_000 + b"--b--", media_type="multipart/form-data; boundary=b"
    ),
    "not attached": lambda seen: xml(
        "<x><PayloadType>X12</PayloadType><Payload><Include href='cid:away'/></Payload></x>"
    ),
    "not base64": lambda seen: xml(
        "<x><PayloadType>X12</PayloadType><ProcessingMode>Batch</ProcessingMode><Payload>ROSA ARDEN</Payload></x>"
    ),
    "no payload": lambda seen: say(seen, kind="X12_271_Response_005010X279A1"),
    "redirect": lambda seen: Response(b"", 302, headers={"location": "https://127.0.0.1:9/"}),
    "http 401": lambda seen: Response(b"who?", 401),
    "http 503": lambda seen: Response(b"later", 503),
    "http 500": lambda seen: Response(b"ouch", 500, media_type="text/plain"),
    "fault": lambda seen: xml(FAULT.format(code="Sender", words="bad envelope"), 400),
    "their fault": lambda seen: xml(FAULT.format(code="Receiver", words="out of order"), 500),
    "quoting": lambda seen: say(seen, error="PayloadIllegal", words="no member ARDEN in our plan"),
    "damaged": lambda seen: say(
        seen, kind="X12_Response", payload=b"ISA*damaged~", checksum="0" * 40
    ),
}


class Server(uvicorn.Server):
    def capture_signals(self):
        return contextlib.nullcontext()


@asynccontextmanager
async def core_payer(*, authority=AUTHORITY, name="payer.example", clients=False):
    """The service over TLS, with a certificate for a name and for this machine."""
    payer = CorePayer()
    app = Starlette(routes=[Route("/core", payer.serve, methods=["POST"])])
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="critical", lifespan="off", http="h11"
    )
    config.load()
    config.ssl = context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name, "127.0.0.1").configure_cert(context)
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        AUTHORITY.configure_trust(context)
    server = Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  (the server has no event to wait for)
        await asyncio.sleep(0.01)
    payer.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield payer
    finally:
        server.should_exit = server.force_exit = True
        await task
