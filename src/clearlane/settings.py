"""Every setting of an installation, with its default and help text.

The fields of :class:`Settings` are the settings. A value comes from the command line, from ``CLEARLANE_<NAME>`` in the
environment, from a credential of systemd, from ``clearlane.toml``, or from the default, in that order. A secret may be in a
file that ``CLEARLANE_<NAME>_FILE`` names. Knows no other package than the kernel.
"""

import os
import string
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from clearlane.kernel import limits
from clearlane.kernel.formats import is_phone

# NM103 of the submitter may be longer, but many payers' systems cut it.
SUBMITTER_NAME_CHARACTERS_MAX = 35
SUBMITTER_WANTED = " must be set in production: payers read it in every file (1000A)."
# A hundred calls a second of one vendor: one call carries 5,000 claims, so only a program that runs wild comes here.
VENDOR_CALLS_PER_MINUTE_MAX = 6_000

# Some 200 claims: a process of its own is ready after a second, in which the service has answered such a file.
LARGE_FILE_BYTES = 128 * 1024

PREFIX = "CLEARLANE_"
FILE_NAME = "clearlane.toml"
IN_FILE = "_file"
"""What is added to the name of a secret setting to name the file that holds it."""
CREDENTIALS = "CREDENTIALS_DIRECTORY"
"""Where systemd puts the credentials of a unit (``LoadCredential=``)."""
CREDENTIAL_PREFIX = "clearlane."
SECRET_BYTES_MAX = 64 * 1024
# Names the settings file, so it is not a setting itself.
CONFIG = PREFIX + "CONFIG"
# Read by tests, by clients and by receivers of webhooks, not by the service.
FOREIGN_PREFIXES = ("CLEARLANE_TEST_", "CLEARLANE_CLIENT_", "CLEARLANE_WEBHOOK_SECRET")


class InvalidSettings(Exception):
    """One or more settings are invalid. The text names each and what would be valid."""


@dataclass(frozen=True, slots=True)
class SettingFault:
    """What is wrong with one setting, or with one name that is no setting."""

    source: str
    """The variable, the key of the settings file or the credential that is wrong."""
    message: str
    """What is wrong with it, after its name, and what would pass. It quotes no secret."""
    names: tuple[str, ...] = ()
    """The settings that it is about; empty for a name that is no setting."""

    def __str__(self) -> str:
        return f"{self.source}{self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingInfo:
    """A setting's help text and how its value is read."""

    help: str
    read: Callable[[str], Any]
    secret: bool = False


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _networks(text: str) -> tuple[str, ...]:
    words = _words(text)
    for word in words:
        try:
            ip_network(word, strict=False)
        except ValueError:
            raise ValueError(
                "addresses or networks such as 10.0.0.0/8, separated by commas"
            ) from None
    return words


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return number

    return read


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.strip().lower() not in words:
            raise ValueError(" or ".join(words))
        return text.strip().lower()

    return read


def _submitter(text: str) -> str:
    name = text.strip().upper()
    if not name or len(name) > SUBMITTER_NAME_CHARACTERS_MAX or not name.isascii():
        raise ValueError(f"a name of at most {SUBMITTER_NAME_CHARACTERS_MAX} characters")
    return name


def _phone(text: str) -> str:
    digits = "".join(sign for sign in text if sign not in " ()-.")
    if not is_phone(digits):
        raise ValueError("a telephone number of ten digits")
    return digits


def _web_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"https", "http"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if text and (not usable or parts.query or parts.fragment or set(text) & set(string.whitespace)):
        raise ValueError("a base URL such as https://claims.example.org")
    return text


def _database(text: str) -> str:
    if text and not text.startswith(("postgresql://", "postgres://", "sqlite:///")):
        raise ValueError(
            "postgresql://user@host/name, sqlite:///path, or empty for DATA/clearlane.db"
        )
    return text


def _postgresql(text: str) -> str:
    if text and not text.startswith(("postgresql://", "postgres://")):
        raise ValueError("postgresql://user@host/name, or empty without a pooler")
    return text


def _optional_whole(least: int, most: int) -> Callable[[str], str]:
    """Return a reader of a whole number that may be left empty."""
    read = _whole(least, most)
    return lambda text: str(read(text)) if text.strip() else ""


def setting(
    default: Any, help: str, *, read: Callable[[str], Any] = str, secret: bool = False
) -> Any:
    """Return the dataclass field of a setting."""
    return field(
        default=default, metadata={"info": SettingInfo(help=help, read=read, secret=secret)}
    )


PORT = _whole(0, limits.PORT_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The effective settings of one process."""

    mode: str = setting(
        "sandbox",
        "`sandbox` (test payers, generated credentials, schema moved forward at start) or `production`.",
        read=_one_of("sandbox", "production"),
    )
    data: Path = setting(
        Path(".data"),
        "Directory of the database, keys, certificates and anchors of this node.",
        read=_path,
    )
    database_url: str = setting(
        "",
        "PostgreSQL as `postgresql://...`, with `?sslmode=verify-full` for TLS with a checked certificate; empty for the SQLite file in the "
        "data directory.",
        read=_database,
        secret=True,
    )
    database_direct_url: str = setting(
        "",
        "The server's own address (`postgresql://...`) if `database_url` leads through a pooler such as pgbouncer; for "
        "notifications, the durable engine and upgrades.",
        read=_postgresql,
        secret=True,
    )
    anchor_copy: str = setting(
        "",
        "Second place of the audit chain's anchor: a file on another machine or volume (each node its own), or `syslog`.",
    )
    timestamp_url: str = setting(
        "",
        "Address of a time-stamping authority (RFC 3161) that stamps the checkpoints of filings; empty for none. It learns "
        "hashes alone.",
        read=_web_address,
    )
    otlp_endpoint: str = setting(
        "",
        "Address of an OpenTelemetry collector (OTLP over http), such as `http://127.0.0.1:4318`, that gets traces of claims; empty "
        "for none. It learns ids and counts alone. Needs the extra `clearlane[otel]`.",
        read=_web_address,
    )
    host: str = setting("127.0.0.1", "Address that the API server listens on.")
    port: int = setting(8443, "Port of the API server (https); 0 picks a free one.", read=PORT)
    public_url: str = setting(
        "",
        "Base URL that callers use, when a proxy or another name is in front of the node.",
        read=_web_address,
    )
    operations_host: str = setting(
        "127.0.0.1", "Address of /healthz, /readyz and /metrics (plain http)."
    )
    operations_port: int = setting(
        8444,
        "Port of the operations address; 0 picks a free one. If it is not given it is the API's plus one.",
        read=PORT,
    )
    worker_operations_port: int = setting(
        8445,
        "Port of a worker's operations address, on `operations_host`; 0 picks a free one.",
        read=PORT,
    )
    tls_certificate: str = setting("", "Certificate chain (PEM) to serve; empty uses the local CA.")
    tls_key: str = setting("", "Private key (PEM) of the certificate.")
    tls_suites: str = setting(
        "aead",
        "Suites of TLS 1.2: `aead` for forward secrecy and authenticated encryption only, `all` also for old clients.",
        read=_one_of("aead", "all"),
    )
    plain_port: int = setting(
        0, "Port of a plain http listener behind a TLS-terminating proxy; 0 for none.", read=PORT
    )
    sftp_port: str = setting(
        "",
        "Port of the SFTP server for files of sites; 0 picks a free one, empty for no SFTP server.",
        read=_optional_whole(0, limits.PORT_MAX),
    )
    sftp_host: str = setting(
        "", "Address that the SFTP server listens on; empty for the one of the API server."
    )
    sftp_older_port: str = setting(
        "",
        "Second port of the SFTP server, for accounts whose software needs older algorithms (SHA-1, CBC); empty for none.",
        read=_optional_whole(0, limits.PORT_MAX),
    )
    sftp_passwords: str = setting(
        "off",
        "`on` lets SFTP accounts that have a password and a list of networks sign in with it; others need a key.",
        read=_one_of("on", "off"),
    )
    sftp_connections_max: int = setting(
        500, "SFTP connections that a node accepts at the same time.", read=_whole(1, 10_000)
    )
    sftp_waiting_per_address_max: int = setting(
        250,
        "SFTP connections of one address that may be open at a node before they have signed in.",
        read=_whole(1, 10_000),
    )
    sftp_failures_per_address_max: int = setting(
        100,
        "Failed SFTP sign-ins of one address in ten minutes, after which a node refuses its connections until older "
        "ones are forgotten; 0 for no limit.",
        read=_whole(0, 100_000),
    )
    trusted_proxies: tuple[str, ...] = setting(
        (),
        "Addresses or networks of proxies whose `X-Forwarded-Proto` and `X-Forwarded-For` count.",
        read=_networks,
    )
    master_key: str = setting(
        "",
        "Master key(s) of the vault, newest first, separated by commas; empty reads the key file.",
        secret=True,
    )
    master_key_command: str = setting(
        "",
        "Command that prints the master key(s), newest first, run without a shell at every start; "
        "empty reads the key file.",
    )
    master_key_file: str = setting(
        "", "File of the master key (mode 0600); empty for `master.key` in the data directory."
    )
    body_bytes_max: int = setting(
        limits.BODY_BYTES_MAX, "Largest request body in bytes.", read=_whole(1_024, 1 << 30)
    )
    claims_per_document_max: int = setting(
        limits.CLAIMS_PER_DOCUMENT_MAX,
        "Maximum number of claims in one document.",
        read=_whole(1, 100_000),
    )
    vendor_calls_per_minute: str = setting(
        "",
        "Calls per minute of a vendor that has no limit of its own (`clearlane vendor limit`); 0 for no limit. Empty: "
        f"{VENDOR_CALLS_PER_MINUTE_MAX} in production, no limit in a sandbox. Counted by each node.",
        read=_optional_whole(0, 1_000_000),
    )
    documents_per_call_max: int = setting(
        limits.DOCUMENTS_PER_CALL_MAX,
        "Maximum number of ids in one call for payer documents.",
        read=_whole(1, 1_000_000),
    )
    header_bytes_max: int = setting(
        limits.HEADER_BYTES_MAX,
        "Largest request line and headers in bytes.",
        read=_whole(1_024, 1 << 20),
    )
    header_seconds_max: int = setting(
        limits.HEADER_SECONDS_MAX, "Seconds a client has to send the headers.", read=_whole(1, 600)
    )
    body_seconds_max: int = setting(
        limits.BODY_SECONDS_MAX, "Seconds a client has to send the body.", read=_whole(1, 3_600)
    )
    stop_seconds_max: int = setting(
        limits.STOP_SECONDS_MAX,
        "Seconds running calls have to finish when the server stops.",
        read=_whole(0, 600),
    )
    write_seconds_max: int = setting(
        limits.WRITE_SECONDS_MAX,
        "Seconds a call waits for its durable write before it is given up.",
        read=_whole(1, 300),
    )
    database_connections: int = setting(
        10, "Connections a node opens to PostgreSQL for reads and other work.", read=_whole(2, 500)
    )
    heartbeat_seconds: int = setting(
        3, "Seconds between two heartbeats of a node.", read=_whole(1, 60)
    )
    dead_node_seconds: int = setting(
        10, "Seconds of silence after which a node's work is taken over.", read=_whole(2, 3_600)
    )
    takeovers_max: int = setting(
        5, "Takeovers after which a piece of work is parked for a person.", read=_whole(1, 100)
    )
    finished_work_days: int = setting(
        7, "Days the durable engine keeps finished work.", read=_whole(0, 365)
    )
    sandbox_window_seconds: int = setting(
        limits.SANDBOX_WINDOW_SECONDS,
        "Seconds a sandbox gathers claims before it sends them. More leave time to hold, correct or cancel one.",
        read=_whole(0, 86_400),
    )
    settle_seconds: int = setting(
        limits.SETTLE_SECONDS,
        "Seconds for which a payer's file must be unchanged before it is taken at first sight, and before it is removed at the payer. `0` takes files at first sight and removes them in the next visit: only if every payer's files appear whole. A route's `settle_seconds` comes first.",
        read=_whole(0, 86_400),
    )
    eligibility_days: int = setting(
        limits.ELIGIBILITY_KEPT_DAYS,
        "Days that eligibility requests and their responses are kept.",
        read=_whole(1, 3_650),
    )
    claim_silence_days: int = setting(
        limits.CLAIM_SILENCE_DAYS_MAX,
        "Days without a word from the payer after which a claim counts as unanswered and may be sent again under its id; a route's `answer_days` comes first.",
        read=_whole(1, 3_650),
    )
    crossover_days: int = setting(
        limits.CROSSOVER_DAYS_MAX,
        "Days that a payer has to answer a claim that the payer before forwarded to it; then it is asked, and the claim for it is drafted.",
        read=_whole(1, 3_650),
    )
    not_accepted_days: int = setting(
        limits.NOT_ACCEPTED_KEPT_DAYS,
        "Days that claims which were not accepted are kept.",
        read=_whole(1, 3_650),
    )
    file_days: int = setting(
        limits.FILES_KEPT_DAYS,
        "Days that files which sites send and fetch are kept.",
        read=_whole(1, 3_650),
    )
    large_file_bytes: int = setting(
        LARGE_FILE_BYTES,
        "Size from which a file of a site is processed by a process of its own, so that calls do not wait for it.",
        read=_whole(0, 1024 * 1024 * 1024),
    )
    reading_process: str = setting(
        "on",
        "`off` reads files of payers only in the service; else a large one may be read by a process beside it, which is started for it and ends after a minute without one.",
        read=_one_of("on", "off"),
    )
    submission_process: str = setting(
        "on",
        "`off` accepts claims only in the service; else documents that come while others are being read may go to a process beside it, which is started when many come and needs memory of its own.",
        read=_one_of("on", "off"),
    )
    eligibility_x12: str = setting(
        "off",
        "`on` puts the raw 271 into `X12Document` of eligibility responses.",
        read=_one_of("on", "off"),
    )
    event_days: int = setting(
        limits.EVENTS_KEPT_DAYS,
        "Days that events are kept in the feed, and that the log of webhooks shows.",
        read=_whole(1, 3_650),
    )
    event_vendor_claim_id: str = setting(
        "on",
        "`off` leaves the vendor's claim id, an identifier under HIPAA, out of events and webhooks.",
        read=_one_of("on", "off"),
    )
    submitter_name: str = setting(
        "CLEARLANE", "Name of the submitter in files to payers (1000A).", read=_submitter
    )
    submitter_phone: str = setting(
        "8005550100",
        "Telephone number for payers' questions about a file: ten digits.",
        read=_phone,
    )
    log_level: str = setting(
        "info",
        "Least severe log lines written. While nodes run: `clearlane log-level`, or SIGUSR1 (debug lines too) and SIGUSR2 (back) "
        "to one node.",
        read=_one_of("debug", "info", "warning", "error"),
    )
    log_format: str = setting(
        "auto",
        "Log lines as `json`, or as `text` for people; `auto` is text at a terminal and JSON elsewhere.",
        read=_one_of("auto", "json", "text"),
    )

    @property
    def sandbox(self) -> bool:
        """Whether this installation is a sandbox."""
        return self.mode == "sandbox"

    @property
    def calls_per_minute_max(self) -> int:
        """Calls a minute of a vendor without a limit of its own; 0 for no limit."""
        if self.vendor_calls_per_minute:
            return int(self.vendor_calls_per_minute)
        return 0 if self.sandbox else VENDOR_CALLS_PER_MINUTE_MAX

    @property
    def key_source(self) -> str:
        """Where the master key comes from."""
        if self.master_key:
            return PREFIX + "MASTER_KEY"
        return PREFIX + "MASTER_KEY_COMMAND" if self.master_key_command else str(self.key_file)

    @property
    def has_key_file(self) -> bool:
        """Whether the master key is in a file, which commands write."""
        return not self.master_key and not self.master_key_command

    @property
    def key_file(self) -> Path:
        """The file of the master key, read when the environment has none."""
        return (
            Path(self.master_key_file).expanduser()
            if self.master_key_file
            else self.data / "master.key"
        )

    @property
    def on_postgresql(self) -> bool:
        """Whether the database is PostgreSQL."""
        return self.database_url.startswith("postgres")

    @property
    def session_url(self) -> str:
        """The address of the database for what needs a session of its own, never a pooler's."""
        return self.database_direct_url or self.database_url

    @property
    def sqlite_file(self) -> Path:
        """The SQLite database."""
        if self.database_url.startswith("sqlite:///"):
            return Path(self.database_url.removeprefix("sqlite:///"))
        return self.data / "clearlane.db"


def to_json(settings: Settings) -> bytes:
    """Return settings for another process of the same installation; they may hold the master key."""
    import msgspec  # commands need not wait for it

    return msgspec.json.encode(settings, enc_hook=str)


def from_json(content: bytes) -> Settings:
    """Return the settings that ``to_json`` encoded."""
    import msgspec

    return msgspec.json.decode(content, type=Settings, dec_hook=lambda kind, text: kind(text))


def all_settings() -> Iterator[tuple[str, Any, SettingInfo]]:
    """Yield name, default and info of every setting, in the order of the reference page."""
    for item in fields(Settings):
        yield item.name, item.default, item.metadata["info"]


def environment_variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + name.upper()


def load(
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    file: Path | None = None,
) -> Settings:
    """Read the settings; one :class:`InvalidSettings` names every invalid and unknown one."""
    settings, faults = read_settings(environ, overrides, file)
    if faults:
        raise InvalidSettings("\n".join(map(str, faults)))
    return settings


def read_settings(
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    file: Path | None = None,
) -> tuple[Settings, list[SettingFault]]:
    """Return the settings, with the default for each that is invalid, and every fault."""
    environ = os.environ if environ is None else environ
    known = {name: info for name, _, info in all_settings()}
    faults: list[SettingFault] = []
    values: dict[str, Any] = {}
    for name, (text, source) in _sources(environ, file, faults).items():
        if name not in known:
            faults.append(SettingFault(source, _no_such_setting(name, source, known)))
            continue
        try:
            values[name] = known[name].read(text)
        except ValueError as wanted:
            faults.append(SettingFault(source, f" cannot be used: give {wanted}.", (name,)))
    values |= {name: value for name, value in overrides.items() if value is not None}
    settings = Settings(**_with_operations_port(values))
    return settings, [*faults, *_beside(faults, _conflicts(settings))]


def check_settings(
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    file: Path | None = None,
) -> list[SettingFault]:
    """Return every fault for which the service would not start with these settings."""
    settings, faults = read_settings(environ, overrides, file)
    more = _beside(faults, [*serving_faults(settings), *_machine_faults(settings)])
    return [*faults, *more]


def _beside(found: list[SettingFault], more: Iterable[SettingFault]) -> list[SettingFault]:
    """Return the further faults of settings that are valid by themselves: a default would be blamed for the others."""
    invalid = {name for fault in found for name in fault.names}
    return [fault for fault in more if invalid.isdisjoint(fault.names)]


def serving_faults(settings: Settings) -> list[SettingFault]:
    """Return what keeps the service from starting with these settings, though each is valid."""
    faults = [
        SettingFault(environment_variable(name), SUBMITTER_WANTED, (name,))
        for name in _submitter_left(settings)
    ]
    if bool(settings.tls_certificate) != bool(settings.tls_key):
        pair = ("tls_certificate", "tls_key")
        faults.append(
            SettingFault(_variables_named(pair), " go together: give both.", pair),
        )
    return faults


def _machine_faults(settings: Settings) -> list[SettingFault]:
    """Return what the service would stumble over on this machine: files that are not there, ports that are given twice."""
    faults = [
        SettingFault(
            environment_variable(name), f" cannot be used: there is no file {path}.", (name,)
        )
        for name in ("tls_certificate", "tls_key")
        if (path := getattr(settings, name)) and not Path(path).expanduser().is_file()
    ]
    taken: dict[tuple[str, int], str] = {}
    for name, host, port in _listeners(settings):
        other = taken.setdefault((host, port), name)
        if other != name:
            sentence = f" cannot be used: {port} is the port of {environment_variable(other)}. Give another one."
            faults.append(SettingFault(environment_variable(name), sentence, (name, other)))
    return faults


def _listeners(settings: Settings) -> Iterator[tuple[str, str, int]]:
    """Yield setting, host and port of each listener of a node that has a port of its own."""
    sftp_host = settings.sftp_host or settings.host
    for name, host, port in (
        ("port", settings.host, settings.port),
        ("operations_port", settings.operations_host, settings.operations_port),
        ("plain_port", settings.host, settings.plain_port),
        ("sftp_port", sftp_host, int(settings.sftp_port or 0)),
        ("sftp_older_port", sftp_host, int(settings.sftp_older_port or 0)),
    ):
        if port:
            yield name, host, port


def _conflicts(settings: Settings) -> Iterator[SettingFault]:
    """Yield the settings that contradict another one, with what would pass."""
    if settings.dead_node_seconds < 2 * settings.heartbeat_seconds:
        yield SettingFault(
            environment_variable("dead_node_seconds"),
            f" cannot be used: a node that beats every {settings.heartbeat_seconds} seconds would seem dead. Give at "
            f"least twice {environment_variable('heartbeat_seconds')}.",
            ("dead_node_seconds", "heartbeat_seconds"),
        )
    if settings.database_direct_url and not settings.on_postgresql:
        yield SettingFault(
            environment_variable("database_direct_url"),
            f" cannot be used: give the pooler's address as {environment_variable('database_url')}.",
            ("database_direct_url", "database_url"),
        )


def _no_such_setting(name: str, source: str, known: Iterable[str]) -> str:
    """Return that there is no such setting, with the one that was probably meant, written as the source writes it."""
    meant = get_close_matches(name, list(known), n=1)
    spelled = [environment_variable(one) if source.startswith(PREFIX) else one for one in meant]
    hint = "".join(f" Perhaps {one}." for one in spelled)
    return f": there is no such setting.{hint} `clearlane settings` lists them all."


def _default(name: str) -> Any:
    return next(default for known, default, _ in all_settings() if known == name)


def _with_operations_port(values: dict[str, Any]) -> dict[str, Any]:
    """Let the operations port follow the API's, so that one more node needs one more setting."""
    default = _default("port")
    port = values.get("port", default)
    if "operations_port" in values or port == default:
        return values
    return values | {"operations_port": port + 1 if 0 < port < limits.PORT_MAX else 0}


def require_submitter(settings: Settings) -> None:
    """Refuse to work in production under the default submitter, which no payer knows and no one can call."""
    left = _submitter_left(settings)
    if left:
        raise InvalidSettings(_variables_named(left) + SUBMITTER_WANTED)


def _submitter_left(settings: Settings) -> list[str]:
    """Return the settings of the submitter that production wants and that are left at their defaults."""
    names = ("submitter_name", "submitter_phone")
    left = [name for name in names if getattr(settings, name) == _default(name)]
    return [] if settings.sandbox else left


def _variables_named(names: Iterable[str]) -> str:
    return " and ".join(map(environment_variable, names))


def _sources(
    environ: Mapping[str, str], file: Path | None, faults: list[SettingFault]
) -> dict[str, tuple[str, str]]:
    """Return text and source of every setting given; what is read later overrides what was read before."""
    named = environ.get(CONFIG)
    if named is not None and file is None and not Path(named).is_file():
        faults.append(SettingFault(CONFIG, f" cannot be used: there is no file {named}."))
        named = None
    found: dict[str, tuple[str, str]] = {}
    for entries in (
        _file_entries(file or Path(named or FILE_NAME), faults),
        _credentials(environ.get(CREDENTIALS, ""), faults),
        _variables(environ),
    ):
        found |= _with_secret_files(dict(entries), faults)
    return found


def _variables(environ: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, str]]]:
    for variable_name, text in environ.items():
        if not variable_name.startswith(PREFIX) or variable_name.startswith(FOREIGN_PREFIXES):
            continue
        if variable_name != CONFIG:
            yield variable_name.removeprefix(PREFIX).lower(), (text, variable_name)


def _credentials(
    directory: str, faults: list[SettingFault]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the credentials of this unit that are settings: files named ``clearlane.`` and a setting."""
    if not directory:
        return
    for file in sorted(Path(directory).glob(f"{CREDENTIAL_PREFIX}*")):
        source = f"The credential {file.name}"
        text = _secret(file, source, faults)
        if text is not None:
            yield file.name.removeprefix(CREDENTIAL_PREFIX), (text, source)


def _with_secret_files(
    entries: dict[str, tuple[str, str]], faults: list[SettingFault]
) -> dict[str, tuple[str, str]]:
    """Return the entries of one source, with the content of files in place of the names of files that hold secrets."""
    settings = {name: info for name, _, info in all_settings()}
    found = dict(entries)
    for name, info in settings.items():
        named = name + IN_FILE
        if not info.secret or named in settings or named not in found:
            continue
        path, source = found.pop(named)
        if name in found:
            faults.append(SettingFault(source, f": {found[name][1]} is given as well. Give one."))
            continue
        text = _secret(_path(path), source, faults)
        if text is not None:
            found[name] = (text, source)
    return found


def _secret(file: Path, source: str, faults: list[SettingFault]) -> str | None:
    """Return the content of a file without the end of its line; None with a fault if it cannot be used."""
    wrong = ""
    text = ""
    try:
        with file.open("rb") as opened:
            content = opened.read(SECRET_BYTES_MAX + 1)
        text = content.decode().strip()
        if len(content) > SECRET_BYTES_MAX:
            wrong = f"{file} has more than {SECRET_BYTES_MAX:,} bytes."
        elif not text:
            wrong = f"{file} is empty."
    except OSError as fault:
        wrong = f"{file}: {fault.strerror}."
    except UnicodeDecodeError:
        wrong = f"{file} is not a text."
    if wrong:
        faults.append(SettingFault(source, f" cannot be used: {wrong}"))
        return None
    return text


def _file_entries(file: Path, faults: list[SettingFault]) -> Iterator[tuple[str, tuple[str, str]]]:
    if not file.exists():
        return
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as fault:
        faults.append(SettingFault(str(file), f": cannot be read as TOML: {fault}"))
        return
    for name, value in content.items():
        if isinstance(value, dict):
            faults.append(
                SettingFault(str(file), f": [{name}] is a table; settings belong at the top level.")
            )
            continue
        words = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        yield name, (words, f"{file}: {name}")
