"""Add a connection: choose payer and kind, give the settings, test step by step, and save. For operators.

Secrets that were typed or made come back with the form sealed, so that a test does not ask for them again; nothing is stored
before it is saved.
"""

import asyncio
from dataclasses import dataclass, field, replace

from starlette.responses import Response

from clearlane.connect.port import Denied, Unreachable
from clearlane.connect.ssh_login import make_key_pair, public_key_of, read_host_key
from clearlane.console.frame.act_question import ADDS
from clearlane.console.frame.forms import FormFields
from clearlane.console.frame.kept_form import open_form, seal_form
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.operator.route_settings import (
    KIND_NAMES,
    other_faults,
    setting_text,
    setting_texts,
    typed_settings,
)
from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.payers.hops import HOP
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.payers.routes import (
    KIND_SECRETS,
    OPTIONS_BY_KIND,
    RouteKind,
    RouteSecrets,
)
from clearlane.pipeline.operator import new_route
from clearlane.pipeline.operator.new_route import NewRoute, NewRouteResult
from clearlane.store.database.database import OperationRefused

pages = PageRows(roles=OPERATORS, menu="/payers")

PATH = "/payers/new"
PAYERS_OFFERED_MAX = 12
TYPED_CHARACTERS_MAX = 80
SEALED_FOR = "secrets of a new connection"
SSH_PORT = 22
KINDS = {
    RouteKind.SFTP: "Files in two directories of the payer's server. The usual way for claims.",
    RouteKind.FOLDER: "Files in two directories of this machine or of a mounted disk: another program carries them.",
    RouteKind.CORE: "Files over https, as CAQH CORE has it (SOAP or MIME).",
    RouteKind.CORE_REALTIME: "One question and its answer over https: eligibility (270) or the status of a claim (276). No claims.",
}
"""The kinds of connection in words, the usual one first."""
NO_KIND = "Choose how the payer is reached."
NO_PAYER = "Choose a payer from those that fit, or type its id."
NOT_COMPARED = (
    "Compare it with the fingerprint that the payer gave you, then tick the box below it."
)
WHERE_FIRST = "Give the server's host name first."


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerOffer:
    """A payer of the directory to choose."""

    value: str
    payer: Payer


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionForm:
    """What was typed so far."""

    kind: RouteKind
    destination: tuple[str, str]
    position: str = "1"
    options: dict[str, str] = field(default_factory=dict, repr=False)
    secrets: RouteSecrets = field(default_factory=RouteSecrets)
    fetched_host_key: str = ""
    """The host key that we fetched, which a person has to compare."""
    is_compared: bool = False

    @property
    def to(self) -> str:
        """The destination as an address has it."""
        return ":".join(self.destination)

    @property
    def trusts_what_we_fetched(self) -> bool:
        """Whether the host key is the one that the server showed us, and no person has compared it."""
        fetched = self.fetched_host_key
        return bool(fetched) and fetched == self.options.get("host_key") and not self.is_compared

    @property
    def position_number(self) -> int:
        """The position; 0 if it is no number, which is refused as one that does not exist."""
        return int(self.position) if self.position.isdecimal() and len(self.position) < 3 else 0


@pages.page(PATH)
async def show_new_connection(request: PageRequest) -> Response:
    """Show the first step, or the settings once payer and kind are chosen."""
    form, faults = await _chosen(request)
    if form is None:
        return _first_step(request, faults)
    position = await new_route.free_position(request.context.database, form.destination, form.kind)
    return await _settings(request, replace(form, position=str(position)), NewRouteResult())


@pages.page("/payers/find", menu="")
async def find_payers(request: PageRequest) -> Response:
    """Return the payers that fit what was typed, as a fragment of the form."""
    text = request.query("q")[:TYPED_CHARACTERS_MAX]
    return request.pages.render(
        "connection_payers.html", offers=_offers(request, text), text=text.strip(), chosen=""
    )


@pages.act(PATH, ADDS)
async def act(request: PageRequest) -> Response:
    """Make a key, fetch the host key, test the connection, or save it."""
    form, faults = await _chosen(request)
    if form is None:
        return _first_step(request, faults, 400)
    form = await _read_form(request, form)
    wanted = request.form.get("do")
    if wanted == "key":
        return await _make_key(request, form)
    if wanted == "host":
        return await _fetch_host_key(request, form)
    if form.trusts_what_we_fetched:
        finding = make_shape_finding("RTE002", "host_key", NOT_COMPARED)
        return await _settings(request, form, NewRouteResult(findings=[finding]), 400)
    context, new = request.context.work_context, _new_route(form)
    if wanted == "test":
        result = await new_route.try_new(context, new)
        return await _settings(request, form, result, 400 if result.findings else 200)
    in_use = wanted != "later"
    try:
        result = await new_route.add(context, new, actor=request.actor, in_use=in_use)
    except OperationRefused as why:
        finding = make_shape_finding("RTE002", "position", str(why))
        return await _settings(request, form, NewRouteResult(findings=[finding]), 409)
    if result.route is None:
        return await _settings(request, form, result, 400 if result.findings else 409)
    await request.context.refresh()
    path = f"/payers/{form.destination[0].lower()}/{form.destination[1]}"
    return request.redirect(path, done="added" if in_use else "kept")


async def _make_key(request: PageRequest, form: ConnectionForm) -> Response:
    """Make a key pair for this connection; its public half is shown from now on."""
    made = await asyncio.to_thread(make_key_pair)
    secrets = replace(form.secrets, private_key=made.private_key, passphrase=None)
    return await _settings(request, replace(form, secrets=secrets), NewRouteResult())


async def _fetch_host_key(request: PageRequest, form: ConnectionForm) -> Response:
    """Fetch the host key that the server shows, which is not trusted before a person has compared it."""
    host, port = form.options.get("host", ""), form.options.get("port") or str(SSH_PORT)
    fault = "" if host else WHERE_FIRST
    try:
        OPTIONS_BY_KIND[RouteKind.SFTP]["host"].read(host)
        number = int(OPTIONS_BY_KIND[RouteKind.SFTP]["port"].read(port))
    except ValueError as wanted:
        fault = fault or f"This cannot be used: {wanted}."
    if fault:
        finding = make_shape_finding("RTE002", "host", fault)
        return await _settings(request, form, NewRouteResult(findings=[finding]), 400)
    try:
        shown = await read_host_key(
            host, number, allow_internal=form.options.get("allow_internal") == "yes"
        )
    except (Denied, Unreachable) as why:
        finding = make_shape_finding("RTE002", "host", str(why))
        return await _settings(request, form, NewRouteResult(findings=[finding]), 409)
    options = {**form.options, "host_key": shown.fingerprint}
    form = replace(form, options=options, fetched_host_key=shown.fingerprint, is_compared=False)
    return await _settings(request, form, NewRouteResult(), algorithm=shown.algorithm)


async def _chosen(request: PageRequest) -> tuple[ConnectionForm | None, list[str]]:
    """Return the form of the payer and kind that an address names; or what is missing, nothing at first."""
    kind = next((one for one in KINDS if one.value == request.query("kind")), None)
    type, _, id = request.query("to").partition(":")
    if hop := request.query("hop").strip().upper():
        type, id = HOP, hop
    elif typed := _named(request, request.query("q")):
        type, id = typed.type, typed.payer_id
    if not request.query("kind") and not id:
        return None, []
    faults = [] if kind else [NO_KIND]
    if type not in {*PAYER_TYPES, HOP} or not id:
        return None, [*faults, NO_PAYER]
    if kind is None:
        return None, faults
    try:
        destination = await new_route.find_destination(
            request.context.database, request.context.payers, id, type, kind
        )
    except OperationRefused as why:
        return None, [str(why)]
    return ConnectionForm(kind=kind, destination=destination), []


def _named(request: PageRequest, text: str) -> Payer | None:
    """Return the payer whose id was typed, if nothing was chosen and the id is of one type alone."""
    if request.query("to") or not text.strip():
        return None
    found = [request.context.payers.find(text.strip(), one) for one in PAYER_TYPES]
    known = [one for one in found if one is not None]
    return known[0] if len(known) == 1 else None


def _offers(request: PageRequest, text: str) -> list[PayerOffer]:
    if not text.strip():
        return []
    matches = request.context.payers.search(text, limit=PAYERS_OFFERED_MAX)
    return [
        PayerOffer(value=f"{one.payer.type}:{one.payer.payer_id}", payer=one.payer)
        for one in matches
    ]


def _first_step(request: PageRequest, faults: list[str], status: int = 200) -> Response:
    text = request.query("q")[:TYPED_CHARACTERS_MAX].strip()
    return request.render(
        "new_connection.html",
        "Add a connection",
        status,
        kinds=[(one.value, KIND_NAMES[one], words) for one, words in KINDS.items()],
        kind=request.query("kind"),
        text=text,
        hop=request.query("hop"),
        chosen=request.query("to"),
        offers=_offers(request, text),
        faults=faults,
        sandbox=request.context.sandbox_control is not None,
    )


async def _read_form(request: PageRequest, form: ConnectionForm) -> ConnectionForm:
    """Return the settings that were typed, with the secrets of earlier steps."""
    given = typed_settings(request.form)
    typed = {
        name: text.strip()
        for name, text in given.items()
        if name in OPTIONS_BY_KIND[form.kind] and text.strip()
    }
    held = await open_form(
        request.context.database,
        request.context.vault,
        request.form.get("sealed"),
        SEALED_FOR,
        request.now,
    )
    secrets = {
        name: value
        for name in KIND_SECRETS[form.kind]
        if (value := given.get(name) or (held.get(name) if held else ""))
    }
    fetched = request.form.get("fetched")
    if request.form.get("fetched_from") != _server(typed):
        fetched = ""
    return replace(
        form,
        position=request.form.get("position", "1").strip(),
        options=typed,
        secrets=RouteSecrets(**secrets),
        fetched_host_key=fetched,
        is_compared=request.form.get("compared") == "yes",
    )


def _server(options: dict[str, str]) -> str:
    return f"{options.get('host', '')}:{options.get('port', SSH_PORT)}"


def _new_route(form: ConnectionForm) -> NewRoute:
    known = OPTIONS_BY_KIND[form.kind]
    given = [
        (name, text)
        for name, text in form.options.items()
        if text != setting_text(known[name].default)
    ]
    return NewRoute(
        payer_id=form.destination[1],
        type=form.destination[0],
        kind=form.kind,
        position=form.position_number,
        options=given,
        secrets=form.secrets,
    )


async def _settings(
    request: PageRequest,
    form: ConnectionForm,
    result: NewRouteResult,
    status: int = 200,
    *,
    algorithm: str = "",
) -> Response:
    held = form.secrets.filled()
    sealed = await seal_form(
        request.context.vault, FormFields(tuple(held.items())), SEALED_FOR, request.now
    )
    findings, type, id = result.findings, *form.destination
    settings = setting_texts(form.kind, form.options, held=held, findings=findings)
    return request.render(
        "new_connection_settings.html",
        f"Connect {id if type == HOP else request.payer_name(id, type)}",
        status,
        subject="upstream clearinghouse" if type == HOP else f"{type.lower()} claims, {id}",
        kind_words=KIND_NAMES[form.kind],
        action=f"{PATH}?kind={form.kind.value}&to={form.to}",
        back=request.url(PATH, kind=form.kind.value),
        usual=[one for one in settings if one.is_usual],
        others=[one for one in settings if not one.is_usual],
        faults=_faults(form.kind, findings),
        position=form.position,
        sealed=sealed,
        has_key_login="private_key" in KIND_SECRETS[form.kind],
        public_key=public_key_of(form.secrets.private_key or ""),
        fetched=form.fetched_host_key,
        fetched_from=_server(form.options),
        algorithm=algorithm,
        compared=form.is_compared,
        result=result,
        sandbox=request.context.sandbox_control is not None,
    )


def _faults(kind: RouteKind, findings: list[Finding]) -> list[str]:
    """Return what is to fix: how many settings are marked, and what is about none of them alone."""
    others = other_faults(kind, findings)
    marked = len(findings) - len(others)
    if not marked:
        return others
    words = "1 setting is" if marked == 1 else f"{marked} settings are"
    return [f"{words} to be fixed: marked below.", *others]
