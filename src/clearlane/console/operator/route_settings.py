"""The settings of a route as a form has them: each with its label, help, default and what was typed. Shared by pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from clearlane.console.frame.forms import FormFields
from clearlane.kernel.finding import Finding
from clearlane.payers.routes import (
    KIND_SECRETS,
    OPTIONS_BY_KIND,
    PAYLOAD_PREFIX,
    SECRET_NAMES,
    Route,
    RouteKind,
)

KIND_NAMES = {
    RouteKind.SFTP: "SFTP",
    RouteKind.FOLDER: "Folder",
    RouteKind.CORE: "CAQH CORE, files",
    RouteKind.CORE_REALTIME: "CAQH CORE, real time",
}
"""What the kinds of connection are called, the usual one first."""
SECRET_HELP = {
    "password": "Kept sealed, and never shown.",
    "private_key": "An SSH key in the form of OpenSSH or PEM. Kept sealed, and never shown.",
    "passphrase": "Of the private key, if it has one.",
    "client_certificate": "The certificate and its key, PEM. Kept sealed, and never shown.",
}
MULTILINE = frozenset({"private_key", "client_certificate", "authority", "host_key"})
"""Settings of several lines, which a field of one line would join."""
PREFIX = "route-"
"""How the names of these fields begin: an option has the name of the field that holds every form's token."""
USUAL = frozenset({"port", "username", "allow_internal"})
"""Settings that are not folded although there is a default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingTexts:
    """One setting of a route."""

    name: str
    title: str
    description: str
    value: str = field(repr=False)
    """What was typed, else as it is stored; empty for the default."""
    default: str = ""
    choices: tuple[str, ...] = ()
    is_secret: bool = False
    is_required: bool = False
    is_multiline: bool = False
    is_held: bool = False
    """Whether a secret is known, so that an empty field keeps it."""
    fault: str = ""

    @property
    def field_name(self) -> str:
        """The name of its field in a form."""
        return PREFIX + self.name

    @property
    def is_usual(self) -> bool:
        """Whether most connections need it: the others are folded."""
        return self.is_required or self.is_secret or self.name in USUAL or bool(self.fault)


def setting_texts(
    kind: RouteKind,
    values: Mapping[str, str],
    *,
    held: Iterable[str] = (),
    findings: Iterable[Finding] = (),
) -> list[SettingTexts]:
    """Return every setting of a kind of route, payload types last; ``held`` names the secrets that are known."""
    faults = {str(one.location): one.message for one in findings}
    known = frozenset(held)
    options = sorted(
        OPTIONS_BY_KIND[kind].values(), key=lambda one: one.name.startswith(PAYLOAD_PREFIX)
    )
    found = [
        SettingTexts(
            name=one.name,
            title=one.title,
            description=one.description,
            value=values.get(one.name, ""),
            default=setting_text(one.default),
            choices=("no", "yes") if isinstance(one.default, bool) else one.choices,
            is_required=one.required,
            is_multiline=one.name in MULTILINE,
            fault=faults.get(one.name, ""),
        )
        for one in options
    ]
    return found + [
        SettingTexts(
            name=name,
            title=name.replace("_", " ").capitalize(),
            description=SECRET_HELP[name],
            value="",
            is_secret=True,
            is_multiline=name in MULTILINE,
            is_held=name in known,
            fault=faults.get(name, ""),
        )
        for name in SECRET_NAMES
        if name in KIND_SECRETS[kind]
    ]


def typed_settings(form: FormFields) -> dict[str, str]:
    """Return what a form holds of each setting, as it was typed."""
    return {name.removeprefix(PREFIX): text for name, text in form.pairs if name.startswith(PREFIX)}


def other_faults(kind: RouteKind, findings: Iterable[Finding]) -> list[str]:
    """Return the findings that are about no single setting."""
    own = OPTIONS_BY_KIND[kind].keys() | set(SECRET_NAMES)
    return [
        f"{str(one.location).replace('_', ' ').capitalize()}: {one.message}"
        for one in findings
        if str(one.location) not in own
    ]


def stored_values(route: Route) -> dict[str, str]:
    """Return the options of a stored route as texts."""
    return {name: setting_text(value) for name, value in route.options.items()}


def setting_text(value: object) -> str:
    """Return a value of an option as a form has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
