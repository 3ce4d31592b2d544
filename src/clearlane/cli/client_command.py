"""The client's door: how a vendor's command finds the service, and how a call that fails ends.

The commands of this door need the base install alone. Where the service is and who calls it comes from a
sandbox's data directory, or from options and the environment; a password never from the command line.
"""

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from clearlane.cli.output import printable, show_json, show_table

if TYPE_CHECKING:
    from clearlane.client import Account, ClearlaneError, Client

FINE, NOT_ACCEPTED, MISUSED, UNAVAILABLE = 0, 1, 2, 3
STANDARD = "-"
# A person waits: a service that is away is told of after two seconds, not after ten.
ATTEMPTS_MAX = 3
PASSWORD_VARIABLE = "CLEARLANE_CLIENT_PASSWORD"  # noqa: S105  (the name of it)

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
        help=f"Vendor key. The password: {PASSWORD_VARIABLE}, or asked for.",
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

COMMON: dict[str, tuple[Any, Any]] = {
    "data": (Data, None),
    "url": (Url, ""),
    "key": (Key, ""),
    "site": (Site, ""),
    "ca_file": (CaFile, ""),
    "as_json": (AsJson, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What was said about the service and the caller."""

    data: Path | None = None
    url: str = ""
    key: str = ""
    site: str = ""
    ca_file: str = ""
    as_json: bool = False

    def account(self) -> "Account":
        """The account to call with: of a named data directory, of the options, or of a sandbox nearby."""
        from clearlane.client import Account, from_sandbox

        if self.data is None and self.url:
            return Account(
                base_url=self.url,
                key=self.key,
                password=_password(self.key),
                site=self.site,
                ca_file=self.ca_file or None,
            )
        found = from_sandbox(self.data)
        if self.key and self.key != found.key:
            found = replace(found, key=self.key, password=_password(self.key))
        return replace(found, site=self.site or found.site, ca_file=self.ca_file or found.ca_file)


@dataclass(frozen=True, slots=True)
class Caller:
    """What a vendor's command works with."""

    client: "Client"
    as_json: bool


def vendor_command(app: typer.Typer, name: str | None = None) -> Callable[[Work], Work]:
    """Make a command of a function that is handed a :class:`Caller`, with the options all of them have."""

    def register(work: Work) -> Work:
        def called(caller: Where, given: dict[str, Any]) -> None:
            with calling(caller) as desk:
                work(desk, **given)

        app.command(name)(with_common_options(work, called))
        return work

    return register


def with_common_options(
    work: Callable[..., None], call: Callable[[Where, dict[str, Any]], None]
) -> Callable[..., None]:
    """A function with the parameters of another, less its first, and the options of this door."""

    def command(**given: Any) -> None:
        where = Where(**{name: given.pop(name) for name in COMMON})
        call(where, given)

    _, *own = inspect.signature(work).parameters.values()
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    for option, (annotation, default) in COMMON.items():
        parameters.append(
            inspect.Parameter(
                option, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
            )
        )
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__name__, command.__doc__ = work.__name__, work.__doc__
    return command


@contextmanager
def calling(where: Where) -> Iterator[Caller]:
    """A client for the time of a command; what goes wrong is a sentence and an exit status."""
    from clearlane.client import ClearlaneError, Client, Retry

    try:
        account = where.account()
    except (ValueError, OSError) as fault:
        misuse(
            f"{fault}\nOr name another service: --url, --key, --site and {PASSWORD_VARIABLE}."
            if isinstance(fault, FileNotFoundError)
            else str(fault)
        )
    try:
        with Client(account, retry=Retry(attempts_max=ATTEMPTS_MAX)) as client:
            yield Caller(client, where.as_json)
    except ClearlaneError as fault:
        _end(fault, as_json=where.as_json)
    except BrokenPipeError:  # whoever reads our output has seen enough
        raise
    except OSError as fault:  # the authority's file, before anything was sent
        misuse(f"{fault.filename or account.ca_file or 'A file'}: {fault.strerror or fault}")


def read_json(file: str) -> Any:
    """The JSON of a file, or of standard input."""
    import msgspec

    try:
        text = sys.stdin.buffer.read() if file == STANDARD else Path(file).read_bytes()
        return msgspec.json.Decoder(float_hook=Decimal).decode(text)
    except OSError as fault:
        misuse(f"{file} cannot be read: {fault.strerror}.")
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        misuse(f"{file} is no JSON: {fault}.")


def misuse(sentence: str) -> NoReturn:
    """End the command, because it cannot work with what it was given."""
    typer.echo(sentence, err=True)
    raise typer.Exit(MISUSED)


def ends_with(*, fine: bool) -> None:
    """End the command with 0 or 1."""
    raise typer.Exit(FINE if fine else NOT_ACCEPTED)


def _password(key: str) -> str:
    """From the environment, or from the person at the terminal."""
    given = os.environ.get(PASSWORD_VARIABLE, "")
    if given or not key or not sys.stdin.isatty():
        if not given:
            raise ValueError(f"The password is missing: set {PASSWORD_VARIABLE}.")
        return given
    return str(typer.prompt(f"Password of {key}", hide_input=True, err=True))


def exit_of(fault: "ClearlaneError") -> int:
    """The exit status of a call that failed."""
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
    """What to do about a call that failed, where something can be said."""
    from clearlane import client

    for kind, sentence in (
        (client.BadCredentials, f"Check the vendor key and its password ({PASSWORD_VARIABLE})."),
        (
            client.BaaMissing,
            "The client must accept the agreement first; its operator then notes it: "
            "clearlane site baa-accept SITE.",
        ),
        (client.CertificateRefused, "Name the authority's file: --ca-file."),
        (client.NotReached, "Check the address, and that the service runs: clearlane doctor."),
        (client.AnswerLost, "It is not known whether the service took it: clearlane doctor."),
        (client.NotImported, "Nothing was stored: send the same file again."),
    ):
        if isinstance(fault, kind):
            return sentence
    return ""


def _end(fault: "ClearlaneError", *, as_json: bool) -> NoReturn:
    from clearlane.client import InvalidRequest

    faults = fault.faults if isinstance(fault, InvalidRequest) else {}
    if as_json:
        told: dict[str, Any] = {"Error": type(fault).__name__, "Message": fault.message}
        told |= {"Status": fault.status, "RequestId": fault.request_id, "ModelState": faults}
        show_json(told)
    else:
        detail = getattr(fault, "detail", "")
        said = " ".join(filter(None, (fault.message, detail, advice(fault))))
        typer.echo(printable(said), err=True)
        if faults:
            rows = [(field, sentence) for field, said in faults.items() for sentence in said]
            show_table(("field", "what is wrong"), rows)
    raise typer.Exit(exit_of(fault))
