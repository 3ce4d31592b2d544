"""Changes of a route: read from an operator's input, and compared option by option.

Payer, type and kind stay: another of these is another route. Knows no connection, no file and no database.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.payers.routes import SECRET_NAMES, OptionValue, Route, RouteSecrets, read_route

PLACE_OPTIONS = frozenset({"host", "port", "username", "outbox", "url"})
"""Options that say where files go. They stay while a file may be there: it is looked for where it was sent."""

CONNECTION_OPTIONS = PLACE_OPTIONS | {
    "allow_internal", "authority", "form", "host_key", "inbox", "seconds_max", *SECRET_NAMES,
}  # fmt: skip
"""Options and secrets by which a connection succeeds or fails, so that a change of one is tested."""

POSITION = "position"
SEALED, NONE = "sealed", ""
VALUE_CHARACTERS_SHOWN_MAX = 80


@dataclass(frozen=True, slots=True)
class RouteDifference:
    """One thing that a change makes different. For a secret it says only that it differs."""

    name: str
    before: str
    after: str

    @property
    def sentence(self) -> str:
        """The difference in words, such as ``window_seconds from 60 to 300``."""
        if self.before == self.after:
            return f"{self.name} new"
        return f"{self.name} from {self.before or 'default'} to {self.after or 'default'}"


@dataclass(frozen=True, slots=True)
class RouteEdit:
    """What an operator wants changed. Names in ``unset`` are options that get their default, and secrets to forget."""

    options: Sequence[tuple[str, str]] = ()
    unset: Sequence[str] = ()
    position: int | None = None
    secrets: RouteSecrets = field(default_factory=RouteSecrets)


def read_change(
    route: Route, secrets: RouteSecrets, edit: RouteEdit
) -> tuple[Route | None, RouteSecrets, list[Finding]]:
    """Read a changed route; return it with all its secrets, or every finding."""
    given = {name for name, _ in edit.options} | edit.secrets.filled().keys()
    stored = route.options.keys() | secrets.filled().keys()
    findings = [
        make_shape_finding("RTE006", name, "It is both given and unset.")
        for name in edit.unset
        if name in given
    ]
    findings += (
        make_shape_finding("RTE006", name, "There is nothing to unset: the route does not have it.")
        for name in edit.unset
        if name not in stored
    )
    kept = [
        (name, _text(value))
        for name, value in route.options.items()
        if name not in given and name not in edit.unset
    ]
    merged = RouteSecrets(
        **{name: value for name, value in secrets.filled().items() if name not in edit.unset}
        | edit.secrets.filled()
    )
    made, more = read_route(
        payer_id=route.payer_id,
        type=route.type,
        kind=route.kind,
        position=route.position if edit.position is None else edit.position,
        options=[*kept, *edit.options],
        secrets=merged,
    )
    if made is None or findings:
        return None, merged, [*findings, *more]
    changed = replace(route, options=made.options, position=made.position)
    return changed, merged, []


def differences(
    before: Route, after: Route, secrets_before: RouteSecrets, secrets_after: RouteSecrets
) -> list[RouteDifference]:
    """Return what differs between two states of a route, in a lasting order."""
    found = list(_unequal(before.options, after.options))
    if before.position != after.position:
        found.append(RouteDifference(POSITION, str(before.position), str(after.position)))
    for item in fields(RouteSecrets):
        old, new = getattr(secrets_before, item.name), getattr(secrets_after, item.name)
        if old != new:
            found.append(
                RouteDifference(item.name, SEALED if old else NONE, SEALED if new else NONE)
            )
    return found


def moves(changes: Iterable[RouteDifference]) -> list[str]:
    """Return the names of changed options that say where files go."""
    return [change.name for change in changes if change.name in PLACE_OPTIONS]


def concerns_connection(changes: Iterable[RouteDifference]) -> bool:
    """Return whether a change may let the connection succeed or fail."""
    return any(change.name in CONNECTION_OPTIONS for change in changes)


def _unequal(
    before: Mapping[str, OptionValue], after: Mapping[str, OptionValue]
) -> Iterable[RouteDifference]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield RouteDifference(name, _shown(before.get(name)), _shown(after.get(name)))


def _shown(value: OptionValue | None) -> str:
    text = NONE if value is None else " ".join(_text(value).split())
    cut = len(text) > VALUE_CHARACTERS_SHOWN_MAX
    return f"{text[:VALUE_CHARACTERS_SHOWN_MAX]}..." if cut else text


def _text(value: OptionValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
