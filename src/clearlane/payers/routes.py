"""Routes, which are how payers are reached: the table of their options, and how these are read.

A route and its secrets are separate values. Knows no connection, no file and no database.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import urlsplit

from clearlane.kernel import limits
from clearlane.kernel.clock import time_zones
from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.kernel.formats import upper_first
from clearlane.kernel.redacted_repr import redact_repr
from clearlane.payers import name_patterns
from clearlane.payers.send_windows import read_send_windows

ROUTE_POSITIONS_MAX = 9

OptionValue = str | int | bool


class RouteKind(StrEnum):
    """The kind of connection that a route uses."""

    FOLDER = "folder"
    SFTP = "sftp"
    CORE = "core"
    """CAQH CORE, batches."""
    CORE_REALTIME = "core-realtime"
    """CAQH CORE, one real-time inquiry and its response."""


ELIGIBILITY_INQUIRY, STATUS_INQUIRY = "270", "276"
INQUIRIES = (ELIGIBILITY_INQUIRY, STATUS_INQUIRY)
"""The inquiries that a route may carry, by their transaction sets."""
AS_SENT, CAPITAL = "as_sent", "capital"
"""How letters of claims from files go out."""
FILE_KINDS = frozenset({RouteKind.FOLDER, RouteKind.SFTP, RouteKind.CORE})
"""Kinds that carry files, and so claims."""


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSecrets:
    """The credentials of a route. Stored in the vault, and never shown by repr."""

    password: str | None = None
    private_key: str | None = None
    """An SSH key in its PEM or OpenSSH form."""
    passphrase: str | None = None
    client_certificate: str | None = None
    """X.509 certificates and their key, PEM."""

    def filled(self) -> dict[str, str]:
        """Return the secrets that are given, by name."""
        values = ((item.name, getattr(self, item.name)) for item in fields(self))
        return {name: value for name, value in values if value is not None}


SECRET_NAMES = tuple(item.name for item in fields(RouteSecrets))


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route to one payer for one type of claims. Lower positions are tried first."""

    payer_id: str
    type: str
    kind: RouteKind
    position: int = 1
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """The options the operator gave. Others have the default in ``OPTIONS``."""
    id: int = 0
    active: bool = True
    created_at: datetime | None = None
    removed_at: datetime | None = None
    """A removed route is kept without its secrets, for the batches and files that name it."""

    @property
    def payer_key(self) -> tuple[str, str]:
        """The key of the payer it reaches: type and id in folded case."""
        return self.type, self.payer_id.casefold()

    @property
    def carries_files(self) -> bool:
        """Whether the route carries files, and so claims."""
        return self.kind in FILE_KINDS

    def text(self, name: str) -> str:
        """Return an option that is text."""
        return str(self._option_value(name))

    def number(self, name: str) -> int:
        """Return an option that is a whole number."""
        return int(self._option_value(name))

    def flag(self, name: str) -> bool:
        """Return an option that is yes or no."""
        return bool(self._option_value(name))

    def payload_type(self, role: str) -> str:
        """Return this payer's CORE payload type for a role."""
        return str(self.options.get(PAYLOAD_PREFIX + role, PAYLOAD_TYPES[role]))

    def _option_value(self, name: str) -> OptionValue:
        found = self.options.get(name, OPTIONS_BY_KIND[self.kind][name].default)
        return "" if found is None else found


@dataclass(frozen=True, slots=True)
class RouteOption:
    """An option of routes: its name, description, reader, and the kinds of route that have it."""

    name: str
    description: str
    read: Callable[[str], OptionValue]
    kinds: frozenset[RouteKind] = frozenset(RouteKind)
    default: OptionValue | None = None
    required: bool = False
    choices: tuple[str, ...] = ()
    """The only values, if there are few."""

    @property
    def title(self) -> str:
        """The name as a label of a form."""
        words = self.name.removeprefix(PAYLOAD_PREFIX).replace("_", " ").replace("url", "URL")
        prefix = "Payload type: " if self.name.startswith(PAYLOAD_PREFIX) else ""
        return f"{prefix}{words}" if prefix else upper_first(words)


class InvalidOptionError(ValueError):
    """A value that cannot be used. The text states what would pass."""


def read_route(
    *,
    payer_id: str,
    type: str,
    kind: RouteKind,
    position: int,
    options: Iterable[tuple[str, str]],
    secrets: RouteSecrets,
) -> tuple[Route | None, list[Finding]]:
    """Read a route from an operator's input; return it, or every finding."""
    values: dict[str, OptionValue] = {}
    findings: list[Finding] = []
    for name, text in options:
        if name in values:
            findings.append(make_shape_finding("RTE004", name, "The option is given twice."))
            continue
        try:
            values[name] = _option(name, kind).read(_bounded(text))
        except InvalidOptionError as wanted:
            findings.append(make_shape_finding("RTE002", name, f"This cannot be used: {wanted}."))
            values[name] = ""
    if not 1 <= position <= ROUTE_POSITIONS_MAX:
        most = ROUTE_POSITIONS_MAX
        findings.append(
            make_shape_finding("RTE002", "position", f"Give a number from 1 to {most}.")
        )
    findings += (
        make_shape_finding("RTE001", option.name, f"The option is required: {option.description}")
        for option in OPTIONS_BY_KIND[kind].values()
        if option.required and option.name not in values
    )
    findings += _secret_findings(kind, values, secrets)
    findings += _combination_findings(kind, values)
    if findings:
        return None, findings
    return Route(payer_id=payer_id, type=type, kind=kind, position=position, options=values), []


def _option(name: str, kind: RouteKind) -> RouteOption:
    if name in SECRET_NAMES:
        raise InvalidOptionError(
            f"it is a secret, so give --secret {name} or --secret-file {name}=PATH"
        )
    option = OPTIONS_BY_KIND[kind].get(name)
    if option is None:
        known = ", ".join(OPTIONS_BY_KIND[kind])
        raise InvalidOptionError(
            f"a route of kind {kind} has no such option. The options are {known}"
        )
    return option


def _bounded(text: str) -> str:
    if len(text) > limits.ROUTE_OPTION_CHARACTERS_MAX:
        raise InvalidOptionError(f"give at most {limits.ROUTE_OPTION_CHARACTERS_MAX} characters")
    return text.strip()


def _secret_findings(
    kind: RouteKind, values: Mapping[str, OptionValue], secrets: RouteSecrets
) -> Iterable[Finding]:
    given, takes = secrets.filled().keys(), KIND_SECRETS[kind]
    for name in sorted(given - takes):
        yield make_shape_finding("RTE003", name, f"A route of kind {kind} takes no such secret.")
    for name in sorted(given & takes):
        if not secrets.filled()[name].strip():
            yield make_shape_finding("RTE003", name, "The secret is empty.")
    logins = LOGINS[kind]
    if logins and not given & logins:
        yield make_shape_finding(
            "RTE003", " or ".join(sorted(logins)), "One of these secrets is required."
        )
    if "passphrase" in given and "private_key" not in given:
        yield make_shape_finding(
            "RTE003", "passphrase", "It opens a private_key, which is not given."
        )
    if kind in CORE_KINDS and ("password" in given) != bool(values.get("username")):
        yield make_shape_finding("RTE003", "username", "A username and a password come together.")


def _combination_findings(kind: RouteKind, values: Mapping[str, OptionValue]) -> Iterable[Finding]:
    """Yield findings about options that exclude each other."""
    if (
        kind is RouteKind.FOLDER
        and values.get("inbox")
        and values.get("inbox") == values.get("outbox")
    ):
        yield make_shape_finding("RTE005", "inbox", "The inbox and the outbox are two directories.")
    if values.get("send_windows") and not values.get("time_zone"):
        yield make_shape_finding("RTE005", "time_zone", "It is required with send_windows.")
    if kind is RouteKind.SFTP and values.get("inbox", ".") == values.get("outbox", "."):
        yield make_shape_finding("RTE005", "inbox", "The inbox and the outbox are two directories.")


# ---- how values are read ----------------------------------------------------------------------


def _match(pattern: str, wanted: str) -> Callable[[str], str]:
    compiled = re.compile(pattern, re.ASCII)

    def read(text: str) -> str:
        if not compiled.fullmatch(text):
            raise InvalidOptionError(f"give {wanted}")
        return text

    return read


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise InvalidOptionError(f"give {' or '.join(words)}")
        return text.lower()

    return read


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"\d{1,12}", text, re.ASCII) or not least <= int(text) <= most:
            raise InvalidOptionError(f"give a whole number from {least} to {most}")
        return int(text)

    return read


def _flag(text: str) -> bool:
    if text.lower() not in {"yes", "no", "true", "false"}:
        raise InvalidOptionError("give yes or no")
    return text.lower() in {"yes", "true"}


def _directory(text: str) -> str:
    if not PurePosixPath(text).is_absolute() or not text.isprintable():
        raise InvalidOptionError("give an absolute path of a directory")
    return str(PurePosixPath(text))


def _remote_directory(text: str) -> str:
    if not text or not text.isprintable():
        raise InvalidOptionError("give the path of a directory there")
    return str(PurePosixPath(text))


def _url(text: str) -> str:
    wanted = InvalidOptionError("give an https address without user, password or fragment")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise wanted from None
    if parts.scheme != "https" or not parts.hostname or parts.fragment or port == 0:
        raise wanted
    if parts.username or parts.password or not re.fullmatch(r"[!-~]+", text, re.ASCII):
        raise wanted
    return text


def _host_keys(text: str) -> str:
    """Read pinned host keys: fingerprints, or public keys as ssh-keyscan prints them, one or more."""
    pins = [pin.strip() for pin in re.split(r"[,\n]", text) if pin.strip()]
    if not pins or not all(map(_is_pin, pins)):
        raise InvalidOptionError(
            "give a fingerprint such as SHA256:..., or a public key such as ssh-ed25519 AAAA...; "
            "several are separated by commas"
        )
    return ",".join(pins)


def _is_pin(pin: str) -> bool:
    if pin.startswith("SHA256:"):
        return re.fullmatch(r"SHA256:[A-Za-z0-9+/]{43}", pin, re.ASCII) is not None
    words = pin.split(" ")
    if len(words) < 2 or not re.fullmatch(r"[a-z0-9@.-]{3,60}", words[0], re.ASCII):
        return False
    try:
        blob = base64.b64decode(words[1], validate=True)
    except (binascii.Error, ValueError):
        return False
    name = words[0].encode()
    return blob.startswith(len(name).to_bytes(4, "big") + name)


def _pem(text: str) -> str:
    if "-----BEGIN CERTIFICATE-----" not in text or "PRIVATE KEY" in text:
        raise InvalidOptionError("give certificates in PEM form, and no key")
    return text


def _pickups(text: str) -> str:
    known = [
        role.removeprefix(PICKUP_PREFIX) for role in PAYLOAD_TYPES if role.startswith(PICKUP_PREFIX)
    ]
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not set(words) <= set(known):
        raise InvalidOptionError(f"give some of {', '.join(known)}, separated by commas")
    return ",".join(dict.fromkeys(words))


def _inquiries(text: str) -> str:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words or not set(words) <= set(INQUIRIES):
        raise InvalidOptionError(f"give {' or '.join(INQUIRIES)}, or both separated by a comma")
    return ",".join(dict.fromkeys(words))


def sender_text(qualifier: str, id: str) -> str:
    """Return an address of a sender or receiver as routes store it, such as ``ZZ:MEADOW``."""
    return f"{qualifier.strip().upper()}:{id.strip().upper()}"


def _senders(text: str) -> str:
    found = [each.strip().upper() for each in text.split(SENDER_SEPARATOR) if each.strip()]
    if not found or not all(map(_SENDER.fullmatch, found)):
        raise InvalidOptionError(
            "give addresses such as ZZ:MEADOW, or GS:MEADOW for GS02, separated by |"
        )
    return SENDER_SEPARATOR.join(dict.fromkeys(found))


def _read_with(read: Callable[[str], str]) -> Callable[[str], str]:
    """Return the reader of an option, from one that raises ValueError with what would pass."""

    def read_option(text: str) -> str:
        try:
            return read(text)
        except ValueError as wanted:
            raise InvalidOptionError(f"give {wanted}") from None

    return read_option


def _send_windows(text: str) -> str:
    read_send_windows(text)
    return text.lower()


def _time_zone(text: str) -> str:
    if text not in time_zones():
        raise InvalidOptionError("give an IANA name such as America/Chicago or UTC")
    return text


# ---- the tables -------------------------------------------------------------------------------

SENDER_SEPARATOR = "|"
"""Separates addresses; no id may hold it."""
GROUP_SENDER = "GS"
"""Stands for the qualifier of GS02, which has none."""
_SENDER = re.compile(r"[0-9A-Z]{2}:[!-)+-9;-\]_-{}][ -)+-9;-\]_-{}]{0,14}", re.ASCII)
PICKUP_PREFIX = "get-"
PAYLOAD_PREFIX = "payload."

# The CORE payload types by role. A role with "get-" requests files of that type. The CORE rule fixes
# those of eligibility, status and acknowledgements; for the others payers differ, so a route can
# set each with the option payload.<role>. "X231A1" after 00501 is as the rule has it.
PAYLOAD_TYPES: Mapping[str, str] = MappingProxyType({
    "837P": "X12_837_Request_005010X222A1",
    "837I": "X12_837_Request_005010X223A1_2",
    "837D": "X12_837_Request_005010X224A1_2",
    "270": "X12_270_Request_005010X279A1",
    "276": "X12_276_Request_005010X212",
    "999": "X12_999_SubmissionRequest_005010X231A1",
    "receipt": "X12_005010_Request_ConfirmReceipt",
    "get-999": "X12_999_RetrievalRequest_005010X231A1",
    "get-TA1": "X12_TA1_RetrievalRequest_00501X231A1",
    "get-271": "X12_005010_Request_Batch_Results_271",
    "get-277": "X12_005010_Request_Batch_Results_277",
    "get-277CA": "X12_005010_Request_Batch_Results_277CA",
    "get-835": "X12_835_Request_005010X221A1",
})  # fmt: skip

FOLDER, SFTP = frozenset({RouteKind.FOLDER}), frozenset({RouteKind.SFTP})
CORE, CORE_KINDS = frozenset({RouteKind.CORE}), frozenset({RouteKind.CORE, RouteKind.CORE_REALTIME})
REMOTE = frozenset({RouteKind.SFTP, RouteKind.CORE, RouteKind.CORE_REALTIME})

# Which secrets a kind takes, and which of them it cannot do without.
KIND_SECRETS: Mapping[RouteKind, frozenset[str]] = {
    RouteKind.FOLDER: frozenset(),
    RouteKind.SFTP: frozenset({"password", "private_key", "passphrase"}),
    RouteKind.CORE: frozenset({"password", "client_certificate"}),
    RouteKind.CORE_REALTIME: frozenset({"password", "client_certificate"}),
}
LOGINS: Mapping[RouteKind, frozenset[str]] = {
    RouteKind.FOLDER: frozenset(),
    RouteKind.SFTP: frozenset({"password", "private_key"}),
    RouteKind.CORE: frozenset({"password", "client_certificate"}),
    RouteKind.CORE_REALTIME: frozenset({"password", "client_certificate"}),
}

_ID = _match(
    r"[!-)+-9;-\]_-{}](?:[ -)+-9;-\]_-{}]{0,13}[!-)+-9;-\]_-{}])?",
    "1 to 15 plain characters, none of them * : ^ | ~",
)
_NAME = _match(r"[!-~](?:[ -~]{0,126}[!-~])?", "1 to 128 printable ASCII characters")
_QUALIFIER = _match(r"[0-9A-Z]{2}", "two digits or capital letters, such as ZZ or 30")
_HOST = _match(r"[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?", "a host name or an address")
_PAYLOAD_TYPE = _match(r"[A-Za-z0-9_.-]{1,100}", "1 to 100 letters, digits, _ . or -")


OPTIONS: tuple[RouteOption, ...] = (
    RouteOption("sender_id", "Who we are to this payer (ISA06).", _ID, required=True),
    RouteOption("sender_qualifier", "What sort of id that is (ISA05).", _QUALIFIER, default="ZZ"),
    RouteOption("receiver_id", "Who the payer is (ISA08).", _ID, required=True),
    RouteOption("receiver_qualifier", "What sort of id that is (ISA07).", _QUALIFIER, default="ZZ"),
    RouteOption("group_sender", "GS02, if it is not the sender_id.", _ID),
    RouteOption("group_receiver", "GS03, if it is not the receiver_id.", _ID),
    RouteOption("receiver_name", "Name of the receiver (1000B NM103), if it is not the payer's; of a hop, its name.", _NAME, kinds=FILE_KINDS),
    RouteOption("senders", "Other addresses that the payer sends from: ISA05:ISA06 or GS:GS02, separated by |.", _senders),
    RouteOption("usage", "P for production, T for test (ISA15).", _match("[PT]", "P or T"), default="P", choices=("P", "T")),
    RouteOption("window_seconds", "How long claims are gathered.", _whole(0, 86_400), default=limits.ROUTE_WINDOW_SECONDS, kinds=FILE_KINDS),
    RouteOption("claims_max", "Most claims in one file.", _whole(1, limits.CLAIMS_PER_SET_MAX), default=limits.CLAIMS_PER_SET_MAX, kinds=FILE_KINDS),
    RouteOption("poll_seconds", "How often to look for files for us.", _whole(1, 86_400), default=limits.ROUTE_POLL_SECONDS, kinds=FILE_KINDS),
    RouteOption("takeover_seconds", "How long a route fails before the next one takes over.", _whole(1, 30 * 86_400), default=limits.ROUTE_TAKEOVER_SECONDS, kinds=FILE_KINDS),
    RouteOption("letters", "The letters of claims from files: as_sent, or capital for a payer that takes no small ones.", _match("as_sent|capital", "as_sent or capital"), default=AS_SENT, kinds=FILE_KINDS, choices=(AS_SENT, CAPITAL)),
    RouteOption("answer_days", "Within how many days the payer usually answers a claim; claim_silence_days of the settings if left out.", _whole(1, 3_650), kinds=FILE_KINDS),
    RouteOption("inquiries", "Which inquiries the payer answers on this route: 270, 276 or both, separated by commas; on a route to a hop none if left out.", _inquiries, default=ELIGIBILITY_INQUIRY),
    RouteOption("status_after_days", "Days after its sending before the payer is asked about a claim (276) without a person.", _whole(0, 365), default=limits.STATUS_AFTER_DAYS),
    RouteOption("status_every_days", "Days between two such questions about one claim.", _whole(1, 365), default=limits.STATUS_EVERY_DAYS),
    RouteOption("send_windows", "When files are sent, such as mon-fri 06:00-20:00, sat 08:00-12:00; at any time if left out.", _read_with(_send_windows), kinds=FILE_KINDS),
    RouteOption("time_zone", "The time zone of the send_windows, such as America/Chicago.", _time_zone, kinds=FILE_KINDS),
    RouteOption("file_name", f"The names of sent files, made from {', '.join(f'{{{name}}}' for name in name_patterns.PLACEHOLDERS)}.", _read_with(name_patterns.read_outgoing), default=name_patterns.OUTGOING_DEFAULT, kinds=FILE_KINDS),
    RouteOption("inbox_names", "Which files are collected, such as *.835|*.999; others stay where they are.", _read_with(name_patterns.read_incoming), default=name_patterns.INCOMING_DEFAULT, kinds=FOLDER | SFTP),
    RouteOption("settle_seconds", "How long a file for us must be unchanged before it counts as whole; 0 if the payer's files appear whole; settle_seconds of the settings if left out.", _whole(0, 86_400), kinds=FOLDER | SFTP),
    RouteOption("bytes_max", "The largest file sent or taken.", _whole(1_024, limits.PAYLOAD_BYTES_MAX), default=limits.TRANSFER_BYTES_MAX),
    RouteOption("seconds_max", "How long the other side may be silent.", _whole(1, 600), default=limits.SILENCE_SECONDS_MAX),
    RouteOption("outbox", "Directory for files to the payer.", _directory, required=True, kinds=FOLDER),
    RouteOption("inbox", "Directory with files from the payer.", _directory, required=True, kinds=FOLDER),
    RouteOption("host", "Name or address of the payer's server.", _HOST, required=True, kinds=SFTP),
    RouteOption("port", "Port of its SSH service.", _whole(1, 65_535), default=22, kinds=SFTP),
    RouteOption("username", "Our login there, from the payer.", _NAME, required=True, kinds=SFTP),
    RouteOption("host_key", "The server's host key or its SHA256 fingerprint, from the payer.", _host_keys, required=True, kinds=SFTP),
    RouteOption("outbox", "Directory there for our files.", _remote_directory, required=True, kinds=SFTP),
    RouteOption("inbox", "Directory there with files for us.", _remote_directory, required=True, kinds=SFTP),
    RouteOption("uploads_stay", "Whether the payer leaves our files in place, so that a missing one never arrived.", _flag, default=False, kinds=FOLDER | SFTP),
    RouteOption("url", "The https address of the service.", _url, required=True, kinds=CORE_KINDS),
    RouteOption("allow_internal", "Whether the address may be in an internal network.", _flag, default=False, kinds=REMOTE),
    RouteOption("form", "soap or mime.", _one_of("soap", "mime"), default="soap", kinds=CORE_KINDS, choices=("soap", "mime")),
    RouteOption("username", "The login, with the secret password.", _NAME, kinds=CORE_KINDS),
    RouteOption("core_sender", "SenderID of the envelope, if it is not the sender_id.", _NAME, kinds=CORE_KINDS),
    RouteOption("core_receiver", "ReceiverID of the envelope, if it is not the receiver_id.", _NAME, kinds=CORE_KINDS),
    RouteOption("authority", "Certificates (PEM) that vouch for the service, beside those of this machine.", _pem, kinds=CORE_KINDS),
    RouteOption("attachment", "How SOAP carries a batch: mtom or inline.", _one_of("mtom", "inline"), default="mtom", kinds=CORE, choices=("mtom", "inline")),
    RouteOption("actions", "Names of the SOAP actions: core or generic.", _one_of("core", "generic"), default="core", kinds=CORE, choices=("core", "generic")),
    RouteOption("pickups", "Which files are asked for.", _pickups, default="999,277CA,835", kinds=CORE),
    RouteOption("acknowledge", "How receipt of a file is confirmed to the payer: none or receipt.", _one_of("none", "receipt"), default="none", kinds=CORE, choices=("none", "receipt")),
    *(
        RouteOption(PAYLOAD_PREFIX + role, f"Payload type of {role}.", _PAYLOAD_TYPE, default=default, kinds=CORE_KINDS)
        for role, default in PAYLOAD_TYPES.items()
    ),
)  # fmt: skip
OPTIONS_BY_KIND: Mapping[RouteKind, Mapping[str, RouteOption]] = {
    kind: {option.name: option for option in OPTIONS if kind in option.kinds} for kind in RouteKind
}
