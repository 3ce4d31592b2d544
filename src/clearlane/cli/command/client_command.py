"""Run vendor commands over the client library: find the service, and report calls that fail.

These commands need the base install alone. Address and credentials come from a sandbox's data directory, or from
options and the environment; a password or an API key never from the command line.
"""

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from clearlane.cli.command.output import show_error, show_json, show_table
from clearlane.cli.command.table import TableColumn

if TYPE_CHECKING:
    from clearlane.client import Account, ClearlaneError, Client

SUCCESS, NOT_ACCEPTED, MISUSED, UNAVAILABLE = 0, 1, 2, 3
STANDARD = "-"
MALFORMED = "JSON is malformed: "
"""What the library's sentence begins with, which ours says already."""
OVER_SERVICE = "over_service"
"""Attribute of commands that call the service; help lists them apart."""
# A person waits: an unavailable service is reported after two seconds, not after ten.
ATTEMPTS_MAX = 3
PASSWORD_VARIABLE = "CLEARLANE_CLIENT_PASSWORD"  # noqa: S105  (the name of it)
API_KEY_VARIABLE = "CLEARLANE_CLIENT_API_KEY"

Work = TypeVar("Work", bound=Callable[..., None])

Data = Annotated[
    Path | None,
    typer.Option(help="Data directory of a sandbox on this machine; by default CLEARLANE_DATA."),
]
Url = Annotated[
    str, typer.Option(help="Base address of the service.", envvar="CLEARLANE_CLIENT_URL")
]
Key = Annotated[
    str,
    typer.Option(
        help=f"Vendor key. The password: {PASSWORD_VARIABLE}, or prompted for.",
        envvar="CLEARLANE_CLIENT_KEY",
    ),
]
Site = Annotated[str, typer.Option(help="Vendor site id.", envvar="CLEARLANE_CLIENT_SITE")]
CaFile = Annotated[
    str,
    typer.Option(
        "--ca-file", help="Certificate authority to trust.", envvar="CLEARLANE_CLIENT_CA_FILE"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]

COMMON_OPTIONS: dict[str, tuple[Any, Any]] = {
    "data": (Data, None),
    "url": (Url, ""),
    "key": (Key, ""),
    "site": (Site, ""),
    "ca_file": (CaFile, ""),
    "as_json": (AsJson, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """Options that name the service and the account."""

    data: Path | None = None
    url: str = ""
    key: str = ""
    site: str = ""
    ca_file: str = ""
    as_json: bool = False

    def account(self, *, site_required: bool = True) -> "Account":
        """Return the account: of a named data directory, of the options, or of a sandbox on this machine.

        Commands over Clearlane's own API need no site; the others refuse their calls without one.
        """
        from clearlane.client import Account, from_sandbox

        api_key = os.environ.get(API_KEY_VARIABLE, "")
        if self.data is None and self.url:
            return Account(
                base_url=self.url,
                key=self.key,
                password=_password(self.key, is_needed=not api_key),
                api_key=api_key,
                site=self.site if site_required else self.site or None,
                ca_file=self.ca_file or None,
            )
        found = from_sandbox(self.data)
        if self.key and self.key != found.key:
            found = replace(found, key=self.key, password=_password(self.key))
        return replace(
            found,
            api_key=api_key,
            site=self.site or found.site,
            ca_file=self.ca_file or found.ca_file,
        )


@dataclass(frozen=True, slots=True)
class ClientSession:
    """The client and output format of a vendor command."""

    client: "Client"
    as_json: bool
    site: str | None = None
    """The site that was named, which lists are narrowed to; None for all sites of the vendor."""

    def show_list(
        self,
        columns: Sequence[str | TableColumn],
        found: Iterable[Any],
        cells: Callable[[Any], Sequence[object]],
        *,
        noun: str,
        hint: str = "",
    ) -> None:
        """Print a list that the service gave: its objects as they came for programs, or a table of their cells."""
        if self.as_json:
            show_json([dict(one.raw) for one in found])
        else:
            show_table(columns, map(cells, found), noun=noun, hint=hint)


def vendor_command(app: typer.Typer, name: str | None = None) -> Callable[[Work], Work]:
    """Register a function that takes a :class:`ClientSession` as a command with the common options."""

    def register(work: Work) -> Work:
        def called(options: ServiceOptions, given: dict[str, Any]) -> None:
            with client_session(options) as session:
                work(session, **given)

        command = with_common_options(work, called)
        setattr(command, OVER_SERVICE, True)
        app.command(name)(command)
        return work

    return register


def with_common_options(
    work: Callable[..., None], call: Callable[[ServiceOptions, dict[str, Any]], None]
) -> Callable[..., None]:
    """Return a command with the parameters of ``work``, less its first, and the common options."""

    def command(**given: Any) -> None:
        options = ServiceOptions(**{name: given.pop(name) for name in COMMON_OPTIONS})
        call(options, given)

    return declare_options(command, work, COMMON_OPTIONS)


def declare_options(
    command: Callable[..., None],
    work: Callable[..., object],
    added: Mapping[str, tuple[Any, Any]],
    last: Sequence[str] = (),
) -> Callable[..., None]:
    """Let typer read the parameters of ``work``, less its first, and those added, as options of a command.

    Help lists those of ``last`` last, in this order.
    """
    _, *own = inspect.signature(work).parameters.values()
    parameters = [one.replace(kind=one.KEYWORD_ONLY) for one in own] + [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
        )
        for name, (annotation, default) in added.items()
    ]
    parameters.sort(key=lambda one: last.index(one.name) if one.name in last else -1)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what inspect reads first
    command.__name__, command.__doc__ = work.__name__, work.__doc__
    return command


@contextmanager
def client_session(options: ServiceOptions) -> Iterator[ClientSession]:
    """Yield a client for a command; an error ends it with a message and an exit status."""
    from clearlane.client import ClearlaneError, Client, Retry

    try:
        account = options.account(site_required=False)
    except (ValueError, OSError) as fault:
        usage_error(
            f"{fault}\nOr name another service: --url, --key, --site and {PASSWORD_VARIABLE}."
            if isinstance(fault, FileNotFoundError)
            else str(fault)
        )
    try:
        with Client(account, retry=Retry(attempts_max=ATTEMPTS_MAX)) as client:
            yield ClientSession(client, options.as_json, options.site or None)
    except ClearlaneError as fault:
        _exit_with_error(fault, as_json=options.as_json)
    except BrokenPipeError:  # the reader of our output has ended; ``main`` handles it
        raise
    except OSError as fault:  # the authority's file, before anything was sent
        usage_error(f"{fault.filename or account.ca_file or 'A file'}: {fault.strerror or fault}")


def read_json(file: str) -> Any:
    """Return the JSON of a file, or of standard input."""
    import msgspec

    try:
        text = sys.stdin.buffer.read() if file == STANDARD else Path(file).read_bytes()
        return msgspec.json.Decoder(float_hook=Decimal).decode(text)
    except OSError as fault:
        usage_error(f"{file} cannot be read: {fault.strerror}.")
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        usage_error(f"{file_named(file)} is not JSON: {str(fault).removeprefix(MALFORMED)}.")


def file_named(file: str) -> str:
    """Return what a file is called in a sentence."""
    return "Standard input" if file == STANDARD else file


def usage_error(sentence: str) -> NoReturn:
    """Print a message and end the command with the status of wrong usage."""
    show_error(sentence)
    raise typer.Exit(MISUSED)


def confirm(question: str, *, yes: bool) -> None:
    """Ask at a terminal before something that cannot be undone or that others feel; elsewhere ``--yes`` is needed."""
    if yes:
        return
    if not sys.stdin.isatty():
        usage_error(f"Nothing was done. Give --yes to confirm: {question}")
    typer.confirm(question, abort=True, err=True)


def exit_with(*, fine: bool) -> None:
    """End the command with status 0 or 1."""
    raise typer.Exit(SUCCESS if fine else NOT_ACCEPTED)


def _password(key: str, *, is_needed: bool = True) -> str:
    """Return the password from the environment, or ask for it at the terminal if it is needed."""
    given = os.environ.get(PASSWORD_VARIABLE, "")
    if given or not is_needed:
        return given
    if not key or not sys.stdin.isatty():
        raise ValueError(
            f"The password is missing: set {PASSWORD_VARIABLE}, or {API_KEY_VARIABLE} for commands that take an API key."
        )
    return str(typer.prompt(f"Password of {key}", hide_input=True, err=True))


def exit_status_of(fault: "ClearlaneError") -> int:
    """Return the exit status of a failed call."""
    from clearlane import client

    for kind, code in (
        (client.InvalidRequest, MISUSED),
        (client.NotFound, NOT_ACCEPTED),
        (client.StillWaiting, NOT_ACCEPTED),
    ):
        if isinstance(fault, kind):
            return code
    return UNAVAILABLE


def advice(fault: "ClearlaneError") -> str:
    """Return what to do about a failed call; empty if there is no advice."""
    from clearlane import client

    for kind, sentence in (
        (
            client.BadCredentials,
            f"Check the vendor key and its password ({PASSWORD_VARIABLE}), or the API key ({API_KEY_VARIABLE}).",
        ),
        (
            client.BaaMissing,
            "The client must accept the agreement first; the operator then records it: "
            "clearlane site baa-accept SITE.",
        ),
        (client.CertificateRefused, "Name the authority's file: --ca-file."),
        (client.NotReached, "Check the address, and that the service runs: clearlane doctor."),
        (client.AnswerLost, "It is not known whether the service accepted it: clearlane doctor."),
        (client.NotImported, "Nothing was stored: send the same file again."),
    ):
        if isinstance(fault, kind):
            return sentence
    return ""


def _exit_with_error(fault: "ClearlaneError", *, as_json: bool) -> NoReturn:
    from clearlane.client import InvalidRequest

    faults = fault.faults if isinstance(fault, InvalidRequest) else {}
    if as_json:
        error: dict[str, Any] = {"Error": type(fault).__name__, "Message": fault.message}
        error |= {"Status": fault.status, "RequestId": fault.request_id, "ModelState": faults}
        show_json(error)
    else:
        detail = getattr(fault, "detail", "")
        message = " ".join(filter(None, (fault.message, detail, advice(fault))))
        show_error(message)
        rows = [(field, sentence) for field, sentences in faults.items() for sentence in sentences]
        # The detail of a problem names the first faults already.
        if any(sentence not in message for _, sentence in rows):
            show_table(("field", TableColumn("what is wrong", wrap=True)), rows)
    raise typer.Exit(exit_status_of(fault))
