"""Write and read the envelope of CAQH CORE C2.2.0 in both its forms: SOAP and MIME.

Bytes in, values out. An answer is untrusted: no document type, no entities, few elements and attributes, few
parts, and every length limited. Reading a large one takes a while: call ``read`` in a thread. Knows no network and no
route.
"""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from xml.sax.saxutils import escape

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, XMLParser

ENVELOPE_ELEMENTS_MAX = 500
ENVELOPE_ATTRIBUTES_MAX = 64
ENVELOPE_TAG_BYTES_MAX = 64 * 1024
"""Bytes that hold no whole tag and no text: one long tag or comment, which the parser reads in one go."""
XML_CHUNK_BYTES = 16 * 1024
ENVELOPE_PARTS_MAX = 64
ENVELOPE_PART_HEADER_BYTES_MAX = 8 * 1024

RULE_VERSION = "2.2.0"
SUCCESS = "Success"
BOUNDARY = "clearlane-7f3b1c5e9a2d4860"

SOAP = "http://www.w3.org/2003/05/soap-envelope"
CORE = "http://www.caqh.org/SOAP/WSDL/CORERule2.2.0.xsd"
WSS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
PASSWORD_TEXT = f"{WSS}username-token-profile-1.0#PasswordText"
XOP = "http://www.w3.org/2004/08/xop/include"


class EnvelopeForm(StrEnum):
    """The two forms of the envelope."""

    SOAP = "soap"
    MIME = "mime"


class UnreadableEnvelope(ValueError):
    """An answer that is not a CORE envelope. The message gives the reason and does not quote it."""


@dataclass(frozen=True, slots=True)
class CoreOperation:
    """A CORE operation: its element in the SOAP body, and its mode."""

    element: str
    batch: bool
    action: str
    generic: str
    """The action name for payers that offer the generic batch actions."""


REALTIME = CoreOperation(
    "COREEnvelopeRealTimeRequest", False, "RealTimeTransaction", "RealTimeTransaction"
)
SUBMIT = CoreOperation(
    "COREEnvelopeBatchSubmission",
    True,
    "BatchSubmitTransaction",
    "GenericBatchSubmissionTransaction",
)
GET_ACKNOWLEDGEMENT = CoreOperation(
    "COREEnvelopeBatchSubmissionAckRetrievalRequest",
    True,
    "BatchSubmitAckRetrievalTransaction",
    "GenericBatchRetrievalTransaction",
)
GET_RESULTS = CoreOperation(
    "COREEnvelopeBatchResultsRetrievalRequest",
    True,
    "BatchResultsRetrievalTransaction",
    "GenericBatchRetrievalTransaction",
)
ACKNOWLEDGE = CoreOperation(
    "COREEnvelopeBatchResultsAckSubmission",
    True,
    "BatchResultsAckSubmitTransaction",
    "GenericBatchReceiptConfirmationTransaction",
)


@dataclass(frozen=True, slots=True)
class CoreEnvelope:
    """The fields of a request or an answer. Its repr leaves out the payload."""

    payload_type: str
    payload_id: str
    sender_id: str
    receiver_id: str
    time_stamp: str
    payload: bytes | None = field(default=None, repr=False)
    error_code: str = ""
    error_message: str = field(default="", repr=False)
    fault: bool = False
    """Whether it came as a SOAP fault, without CORE fields."""


@dataclass(frozen=True, slots=True, repr=False)
class CoreLogin:
    """Values of the fields UserName and Password."""

    username: str
    password: str


def write(
    form: EnvelopeForm,
    operation: CoreOperation,
    envelope: CoreEnvelope,
    login: CoreLogin | None,
    *,
    generic: bool = False,
    inline: bool = False,
) -> tuple[str, bytes]:
    """Return the content type and the body of a request."""
    if form is EnvelopeForm.MIME:
        return _mime(operation, envelope, login)
    return _soap(operation, envelope, login, generic=generic, inline=inline)


def read(content_type: str, body: bytes) -> CoreEnvelope:
    """Return the envelope of an answer in either form; raise :class:`UnreadableEnvelope` when it is none."""
    kind, parameters = _content_type(content_type)
    if kind == "multipart/form-data":
        return _from_fields(_form_fields(_parts(parameters, body)))
    if kind == "multipart/related":
        parts = _parts(parameters, body)
        root = _root(parts, parameters.get("start", ""))
        return _from_xml(root.content, {part.id: part.content for part in parts if part.id})
    if kind.endswith(("/xml", "+xml")):
        return _from_xml(body, {})
    raise UnreadableEnvelope("The answer is neither SOAP nor MIME.")


def checksum(payload: bytes) -> str:
    """Return the SHA-1 in hexadecimal that the rule prescribes. It finds accidents; TLS stops attackers."""
    return hashlib.sha1(payload, usedforsecurity=False).hexdigest()


def fields_of(operation: CoreOperation, envelope: CoreEnvelope) -> list[tuple[str, str]]:
    """Return the fields before the payload, in the order of the rule."""
    payload = envelope.payload
    length = "" if payload is None else str(len(payload))
    whole = "" if payload is None else checksum(payload)
    listed = [
        ("PayloadType", envelope.payload_type),
        ("ProcessingMode", "Batch" if operation.batch else "RealTime"),
        ("PayloadID", envelope.payload_id),
        ("PayloadLength", length if operation.batch else ""),
        ("TimeStamp", envelope.time_stamp),
        ("SenderID", envelope.sender_id),
        ("ReceiverID", envelope.receiver_id),
        ("CORERuleVersion", RULE_VERSION),
        ("CheckSum", whole if operation.batch else ""),
    ]
    return [(name, value) for name, value in listed if value]


# ---- writing ----------------------------------------------------------------------------------


def _mime(
    operation: CoreOperation, envelope: CoreEnvelope, login: CoreLogin | None
) -> tuple[str, bytes]:
    rows = fields_of(operation, envelope)
    if login:
        at = [name for name, _ in rows].index("SenderID")
        rows[at:at] = [("UserName", login.username), ("Password", login.password)]
    boundary = _boundary(envelope.payload or b"")
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in rows
    ]
    if envelope.payload is not None:
        parts += [
            f'--{boundary}\r\nContent-Disposition: form-data; name="Payload"\r\n\r\n'.encode(),
            envelope.payload,
            b"\r\n",
        ]
    parts.append(f"--{boundary}--\r\n".encode())
    return f"multipart/form-data; boundary={boundary}", b"".join(parts)


def _soap(
    operation: CoreOperation,
    envelope: CoreEnvelope,
    login: CoreLogin | None,
    *,
    generic: bool,
    inline: bool,
) -> tuple[str, bytes]:
    attached = operation.batch and not inline and envelope.payload is not None
    action = operation.generic if generic else operation.action
    body = _soap_text(operation, envelope, login, attached=attached).encode()
    if not attached:
        return f'application/soap+xml; charset=UTF-8; action="{action}"', body
    payload = envelope.payload or b""
    boundary = _boundary(payload)
    root = f'application/xop+xml; charset=UTF-8; type="application/soap+xml"; action="{action}"'
    message = b"".join(
        (
            f"--{boundary}\r\nContent-Type: {root}\r\nContent-Transfer-Encoding: binary\r\n".encode(),
            b"Content-ID: <envelope@core>\r\n\r\n",
            body,
            f"\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\n".encode(),
            b"Content-Transfer-Encoding: binary\r\nContent-ID: <payload@core>\r\n\r\n",
            payload,
            f"\r\n--{boundary}--\r\n".encode(),
        )
    )
    kind = (
        f'multipart/related; type="application/xop+xml"; boundary="{boundary}"; '
        f'start="<envelope@core>"; start-info="application/soap+xml"; action="{action}"'
    )
    return kind, message


def _soap_text(
    operation: CoreOperation, envelope: CoreEnvelope, login: CoreLogin | None, *, attached: bool
) -> str:
    rows = "".join(
        f"<{name}>{escape(value)}</{name}>" for name, value in fields_of(operation, envelope)
    )
    payload = ""
    if envelope.payload is not None:
        payload = f"<Payload>{_payload_text(operation, envelope.payload, attached)}</Payload>"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<soap:Envelope xmlns:soap="{SOAP}">'
        f"<soap:Header>{_security(login)}</soap:Header>"
        f'<soap:Body><core:{operation.element} xmlns:core="{CORE}">{rows}{payload}'
        f"</core:{operation.element}></soap:Body></soap:Envelope>"
    )


def _payload_text(operation: CoreOperation, payload: bytes, attached: bool) -> str:  # noqa: FBT001
    if attached:
        return f'<xop:Include xmlns:xop="{XOP}" href="cid:payload@core"/>'
    if operation.batch:
        return base64.b64encode(payload).decode()
    return _character_data(payload)


# Characters that XML 1.0 cannot carry.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def _character_data(payload: bytes) -> str:
    text = payload.decode("latin-1")
    if _UNWRITABLE.search(text):
        raise UnreadableEnvelope(
            "The payload holds characters that XML cannot carry; use the MIME form."
        )
    if "\r" in text:  # a reader turns a bare carriage return into a line feed, unless it is spelled
        return escape(text, {"\r": "&#13;"})
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"


def _security(login: CoreLogin | None) -> str:
    if login is None:
        return ""
    return (
        f'<wsse:Security soap:mustUnderstand="true" xmlns:wsse="{WSS}wssecurity-secext-1.0.xsd">'
        f"<wsse:UsernameToken><wsse:Username>{escape(login.username)}</wsse:Username>"
        f'<wsse:Password Type="{PASSWORD_TEXT}">{escape(login.password)}</wsse:Password>'
        "</wsse:UsernameToken></wsse:Security>"
    )


def _boundary(payload: bytes) -> str:
    """Return a boundary that does not occur in the payload."""
    boundary = BOUNDARY
    while boundary.encode() in payload:
        boundary = hashlib.sha256(boundary.encode() + payload).hexdigest()
    return boundary


# ---- reading ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    headers: dict[str, str]
    content: bytes = field(repr=False)

    @property
    def id(self) -> str:
        return self.headers.get("content-id", "").strip().removeprefix("<").removesuffix(">")


def _content_type(text: str) -> tuple[str, dict[str, str]]:
    kind, _, rest = text.partition(";")
    found = re.findall(r';?\s*([\w-]+)\s*=\s*(?:"([^"]*)"|([^;\s]*))', rest[:2_000])
    return kind.strip().lower(), {name.lower(): quoted or bare for name, quoted, bare in found}


def _parts(parameters: dict[str, str], body: bytes) -> list[_Part]:
    boundary = parameters.get("boundary", "")
    if not re.fullmatch(r"[ -~]{1,200}", boundary):
        raise UnreadableEnvelope("The answer is in parts, but does not say where they end.")
    delimiter = b"\r\n--" + boundary.encode()
    # The first delimiter may open the body; the last has two more hyphens.
    pieces = (b"\r\n" + body).split(delimiter, ENVELOPE_PARTS_MAX + 1)
    if len(pieces) > ENVELOPE_PARTS_MAX + 1:
        raise UnreadableEnvelope("The answer has too many parts.")
    if len(pieces) < 3 or not pieces[-1].startswith(b"--"):
        raise UnreadableEnvelope("The answer is cut off: its last part is missing.")
    return [_part(piece) for piece in pieces[1:-1]]


def _part(piece: bytes) -> _Part:
    head, found, content = piece.partition(b"\r\n\r\n")
    if not found or len(head) > ENVELOPE_PART_HEADER_BYTES_MAX:
        raise UnreadableEnvelope("A part of the answer has no end of its headers.")
    lines = head.decode("latin-1").replace("\r\n\t", " ").replace("\r\n ", " ").split("\r\n")
    headers = {name.strip().lower(): value for name, _, value in (x.partition(":") for x in lines)}
    coding = headers.get("content-transfer-encoding", "").strip().lower()
    if coding == "base64":
        content = _unbase64(content)
    elif coding not in {"", "7bit", "8bit", "binary"}:
        raise UnreadableEnvelope("A part of the answer is encoded in a way that CORE does not use.")
    return _Part(headers, content)


def _form_fields(parts: list[_Part]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for part in parts:
        named = re.search(r'\bname="?([\w.-]{1,60})"?', part.headers.get("content-disposition", ""))
        if named:
            found.setdefault(named.group(1), part.content)
    return found


def _root(parts: list[_Part], start: str) -> _Part:
    wanted = start.strip().removeprefix("<").removesuffix(">")
    named = (part for part in parts if wanted and part.id == wanted)
    return next(named, parts[0])


class _Elements:
    """Parser target that collects the texts of a small XML document by local element name."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.include = ""
        self.has_progressed = False
        """Whether a tag or text was found; the caller that feeds the parser resets it."""
        self._open: list[list[str]] = []
        self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.has_progressed = True
        self._count += 1
        if self._count > ENVELOPE_ELEMENTS_MAX:
            raise UnreadableEnvelope("The answer has too many elements.")
        if len(attributes) > ENVELOPE_ATTRIBUTES_MAX:
            raise UnreadableEnvelope(
                f"An element of the answer has more than {ENVELOPE_ATTRIBUTES_MAX} attributes."
            )
        if _local(tag) == "Include":
            self.include = attributes.get("href", "")
        self._open.append([])

    def data(self, text: str) -> None:
        self.has_progressed = True
        if self._open:
            self._open[-1].append(text)

    def end(self, tag: str) -> None:
        self.has_progressed = True
        self.texts.setdefault(_local(tag), "".join(self._open.pop()))

    def close(self) -> "_Elements":
        return self


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _from_xml(body: bytes, attachments: dict[str, bytes]) -> CoreEnvelope:
    elements = _elements(body)
    texts = elements.texts
    if "Fault" in texts:
        return _fault(texts)
    if "PayloadType" not in texts and "ErrorCode" not in texts:
        raise UnreadableEnvelope("The answer is XML, but no CORE envelope.")
    fields = {name: text.strip().encode() for name, text in texts.items() if name != "Payload"}
    if "Payload" in texts:
        fields["Payload"] = _xml_payload(elements, attachments)
    return _from_fields(fields)


def _elements(body: bytes) -> _Elements:
    found = _Elements()
    parser: Any = XMLParser(target=found, forbid_dtd=True)
    try:
        _feed(parser, found, body)
        parser.close()
    except DefusedXmlException:
        raise UnreadableEnvelope(
            "The answer holds XML that is not allowed: a document type or an entity."
        ) from None
    except (ParseError, UnicodeError, LookupError, ValueError) as fault:
        if isinstance(fault, UnreadableEnvelope):
            raise
        raise UnreadableEnvelope("The answer is not well-formed XML.") from None
    return found


def _feed(parser: Any, found: _Elements, body: bytes) -> None:
    """Feed a document in chunks, between which other threads run; refuse a tag that does not end."""
    waiting = 0
    for at in range(0, len(body), XML_CHUNK_BYTES):
        found.has_progressed = False
        parser.feed(body[at : at + XML_CHUNK_BYTES])
        waiting = 0 if found.has_progressed else waiting + XML_CHUNK_BYTES
        if waiting > ENVELOPE_TAG_BYTES_MAX:
            raise UnreadableEnvelope(
                f"The answer has a tag or comment of more than {ENVELOPE_TAG_BYTES_MAX} bytes."
            )


def _xml_payload(elements: _Elements, attachments: dict[str, bytes]) -> bytes:
    """Return the payload: attached, or as text, which is base64 in batches and plain X12 in real time."""
    if elements.include:
        attached = attachments.get(elements.include.removeprefix("cid:").replace("%40", "@"))
        if attached is None:
            raise UnreadableEnvelope("The answer refers to a payload that is not attached.")
        return attached
    text = elements.texts["Payload"]
    if elements.texts.get("ProcessingMode", "").strip() == "Batch" and text.strip()[:3] != "ISA":
        return _unbase64(text.encode("utf-8"))
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8")


def _fault(texts: dict[str, str]) -> CoreEnvelope:
    code = texts.get("Value") or texts.get("faultcode") or "Fault"
    message = texts.get("Text") or texts.get("faultstring") or ""
    return CoreEnvelope(
        payload_type="",
        payload_id="",
        sender_id="",
        receiver_id="",
        time_stamp="",
        error_code=code.strip().rpartition(":")[2] or "Fault",
        error_message=message,
        fault=True,
    )


def _from_fields(fields: dict[str, bytes]) -> CoreEnvelope:
    payload = fields.pop("Payload", None)
    texts = {name: value.strip().decode("utf-8", "replace") for name, value in fields.items()}
    if "PayloadType" not in texts and "ErrorCode" not in texts:
        raise UnreadableEnvelope("The answer has no PayloadType and no ErrorCode.")
    _require_whole(payload, texts)
    return CoreEnvelope(
        payload_type=texts.get("PayloadType", ""),
        payload_id=texts.get("PayloadID", ""),
        sender_id=texts.get("SenderID", ""),
        receiver_id=texts.get("ReceiverID", ""),
        time_stamp=texts.get("TimeStamp", ""),
        payload=payload or None,
        error_code=texts.get("ErrorCode", ""),
        error_message=texts.get("ErrorMessage", ""),
    )


def _require_whole(payload: bytes | None, texts: dict[str, str]) -> None:
    """Raise if the payload differs from the checksum or length that the envelope states."""
    wanted, length = texts.get("CheckSum", ""), texts.get("PayloadLength", "")
    if payload and wanted and wanted.lower() != checksum(payload):
        raise UnreadableEnvelope("The payload came damaged: its checksum differs.")
    if payload and re.fullmatch(r"[1-9]\d{0,11}", length) and int(length) != len(payload):
        raise UnreadableEnvelope("The payload came damaged: its length differs.")


def _unbase64(content: bytes) -> bytes:
    try:
        return base64.b64decode(b"".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise UnreadableEnvelope("The payload is not base64.") from None
