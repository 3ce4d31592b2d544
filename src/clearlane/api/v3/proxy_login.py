"""Proxy login: decodes, asks the verb, encodes. The shapes of its three answers stand here."""

from typing import Annotated

from pydantic import BaseModel, Field
from starlette.responses import Response

from clearlane.api.endpoint import Call, Family, Parameter, Row
from clearlane.api.errors import Refusal
from clearlane.api.v3 import wire
from clearlane.pipeline.access import proxy_login as verbs

ResultCode = Annotated[
    int,
    Field(
        description="0 done; 2 the `instanceId` is not a GUID; 3 the user name or token is invalid.",
    ),
]
ErrorMessage = Annotated[str, Field(description="Empty where there is none.")]


class TokenResult(BaseModel):
    """The token of an instance. It is told this once; keep it like a password."""

    token: str
    resultCode: ResultCode
    errorMessage: ErrorMessage


class LoginUrlResult(BaseModel):
    """A URL that opens the login page once, within a minute."""

    resultCode: ResultCode
    errorMessage: ErrorMessage
    url: str


class DeleteResult(BaseModel):
    """Whether there was a token to delete."""

    resultCode: ResultCode
    deleted: bool
    errorMessage: ErrorMessage


async def create_token(call: Call) -> Response:
    given = call.parameters
    told = await verbs.create_token(_asking(call), given["instanceId"], given["instanceName"])
    return _answer(TokenResult(token=told.given, resultCode=told.code, errorMessage=told.message))


async def get_url(call: Call) -> Response:
    given = call.parameters
    told = await verbs.get_url(_asking(call), given["instanceId"], given["token"])
    url = f"{call.base_url}{verbs.ENTER_PATH}{told.given}" if told.given else ""
    return _answer(LoginUrlResult(resultCode=told.code, errorMessage=told.message, url=url))


async def delete_token(call: Call) -> Response:
    told = await verbs.delete_token(_asking(call), call.parameters["instanceId"])
    return _answer(
        DeleteResult(resultCode=told.code, deleted=told.deleted, errorMessage=told.message)
    )


def read_instance_id(text: str | None, row: Row) -> str:
    """Any text: whether it is a GUID is told in the result. Without it, no action matches."""
    if text is None or not text.strip():
        raise Refusal(wire.no_action(row.family))
    return text


def read_text(text: str | None, row: Row) -> str:
    """A text that may be absent."""
    return text or ""


def _asking(call: Call) -> verbs.Asking:
    return verbs.Asking(
        database=call.desk.database,
        vault=call.desk.vault,
        vendor=call.vendor,
        site=call.site,
        now=call.desk.wall.now(),
        actor=call.actor,
    )


def _answer(result: BaseModel) -> Response:
    # A token or a one-time URL must not stay in anything between us and the caller.
    return wire.answer(200, result.model_dump(), {"Cache-Control": "no-store"})


_INSTANCE_ID = Parameter(
    name="instanceId", help="A GUID, with or without braces, in any case.", read=read_instance_id
)
_INSTANCE_NAME = Parameter(
    name="instanceName", help="A label for people.", read=read_text, required=False
)
_TOKEN = Parameter(name="token", help="The instance's token.", read=read_text, required=False)

ROWS: tuple[Row, ...] = tuple(
    Row(
        name=name,
        path=f"/api/v3/proxylogin/{path}",
        family=Family.PROXY_LOGIN,
        summary=summary,
        handler=handler,
        answer=answer,
        touches_phi=False,
        suspended=None,
        parameters=parameters,
        refusals={404: wire.MessageDetail},
        deprecated=True,
    )
    for name, path, summary, handler, answer, parameters in (
        (
            "CreateVendorInstanceToken",
            "create_instance_token",
            "Give an instance a token; the one before ends.",
            create_token,
            TokenResult,
            (_INSTANCE_ID, _INSTANCE_NAME),
        ),
        (
            "GetUrl",
            "get_url",
            "A URL that opens the login page once.",
            get_url,
            LoginUrlResult,
            (_INSTANCE_ID, _TOKEN),
        ),
        (
            "DeleteVendorInstanceToken",
            "delete_instance_token",
            "Delete an instance's token.",
            delete_token,
            DeleteResult,
            (_INSTANCE_ID,),
        ),
    )
)
