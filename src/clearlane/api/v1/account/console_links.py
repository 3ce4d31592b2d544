"""One-time addresses into the console, for the button in the practice software: ``POST console_links``."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated
from urllib.parse import quote

from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.accounts.users import ConsoleRole, ConsoleUser, UserState, normalize_name
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.idempotency import RecordedResponse
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1.claims import no_claim
from clearlane.api.v1.resource import Resource, ResourceRows, read_body
from clearlane.kernel import limits
from clearlane.kernel.clock import moment_text
from clearlane.kernel.ids import VendorScope
from clearlane.pipeline.access.sign_in_link import (
    SIGN_IN_LINK_PATH,
    SIGN_IN_LINK_SECONDS_MAX,
    create_sign_in_link,
)
from clearlane.pipeline.query.claim_list import find_claim
from clearlane.store.accounts import console_users
from clearlane.store.database.database import Tx

endpoints = ResourceRows(Resource.CONSOLE_LINKS, changes=KeyScope.CORRECT, of_vendor=True)

CLAIM_PAGE = "/claims/"


@dataclass(frozen=True, slots=True)
class ConsoleLinkRequest:
    """Who is to be signed in, and to what."""

    user: Annotated[
        str, Field(description="The name of a console user of the vendor.", min_length=1)
    ]
    claim_number: Annotated[
        str | None, Field(description="The claim to open; else the home page.")
    ] = None


class ConsoleLinkJson(JsonModel):
    """A one-time address. Whoever opens it first is signed in."""

    url: str
    expires_at: datetime


@endpoints.change(
    "CreateConsoleLink",
    "console_links",
    "A one-time address that signs a user in to the console.",
    ConsoleLinkJson,
    request_type=ConsoleLinkRequest,
    success_status=201,
    description=f"The address works once and for {SIGN_IN_LINK_SECONDS_MAX // 60} minutes. It signs the user in "
    "without password and second factor: the vendor's software vouches for who asks.",
)
async def create_console_link(call: Call) -> Response:
    """Make a one-time address that signs a user of the vendor in."""
    body = await read_body(call, ConsoleLinkRequest)
    user = await require_user(call, body.user)
    page = ""
    if body.claim_number is not None:
        await _require_visible(call, user, body.claim_number)
        page = f"?next={quote(CLAIM_PAGE + body.claim_number, safe='')}"
    context, now = call.context.work_context, call.context.wall.now()

    async def respond(_: Tx, code: str) -> Response:
        content = {
            "url": f"{call.base_url.rstrip('/')}{SIGN_IN_LINK_PATH}{code}{page}",
            "expires_at": moment_text(now + timedelta(seconds=SIGN_IN_LINK_SECONDS_MAX)),
        }
        return json_response(201, content)

    recorded = RecordedResponse(call, respond)
    scope = VendorScope(call.vendor.id, ())
    await create_sign_in_link(
        context, user, now=now, actor=call.actor, scope=scope, extend=recorded.extend
    )
    return recorded.response


async def require_user(call: Call, name: str) -> ConsoleUser:
    """Return the vendor's active console user of this name; unknown and foreign ones look the same."""
    usable = name.isprintable() and len(name) <= limits.ACCOUNT_NAME_CHARACTERS_MAX
    found = None
    if usable:
        async with call.context.database.read(console_users.SCOPE) as tx:
            found = await console_users.find_user(tx, normalize_name(name))
    user = found.user if found else None
    if (
        user is None
        or user.vendor_id != call.vendor.id
        or user.role is ConsoleRole.OPERATOR
        or user.state is not UserState.ACTIVE
    ):
        sentence = "The name of an active console user of the vendor is expected."
        raise RequestRefusal(call.errors.invalid_fields({"user": [sentence]}))
    return user


async def _require_visible(call: Call, user: ConsoleUser, claim_number: str) -> None:
    """Refuse a claim that the vendor does not have, or that the user may not see."""
    claim = (
        await find_claim(call.context.work_context, claim_number, call.scope)
        if claim_number.isprintable()
        else None
    )
    if claim is None or not user.may_see(claim.site):
        raise no_claim()
