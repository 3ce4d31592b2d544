"""The proxy login endpoints and the shapes of their responses: decode, one verb, encode."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, Endpoint, EndpointFamily, EndpointRows, Parameter
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v3 import responses
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.pipeline.access import proxy_login

endpoints = EndpointRows(
    family=EndpointFamily.PROXY_LOGIN,
    errors=V3_ERRORS,
    touches_phi=False,
    suspended_handler=None,
    error_types={404: responses.MessageDetail},
    bad_credentials_status=404,  # V3 gives this resource its own status
    deprecated=True,
)

ResultCode = Annotated[
    int,
    Field(
        description="0 done; 2 the `instanceId` is not a GUID; 3 the user name or token is invalid.",
    ),
]
ErrorMessage = Annotated[str, Field(description="Empty if there is none.")]


class TokenResult(JsonModel):
    """The token of an instance. It is returned only once; keep it like a password."""

    token: str
    resultCode: ResultCode
    errorMessage: ErrorMessage


class LoginUrlResult(JsonModel):
    """A URL that opens the login page once, within a minute."""

    resultCode: ResultCode
    errorMessage: ErrorMessage
    url: str


class DeleteResult(JsonModel):
    """Whether there was a token to delete."""

    resultCode: ResultCode
    deleted: bool
    errorMessage: ErrorMessage


def read_instance_id(text: str | None, endpoint: Endpoint) -> str:
    """Return the text: the result code reports one that is not a GUID. Refuse an absent one."""
    if text is None or not text.strip():
        raise RequestRefusal(responses.no_action(endpoint.family))
    return text


def read_text(text: str | None, endpoint: Endpoint) -> str:
    """Return the text, empty if absent."""
    return text or ""


_INSTANCE_ID = Parameter(
    name="instanceId", help="A GUID, with or without braces, in any case.", read=read_instance_id
)
_INSTANCE_NAME = Parameter(
    name="instanceName", help="A label for people.", read=read_text, required=False
)
_TOKEN = Parameter(name="token", help="The instance's token.", read=read_text, required=False)


@endpoints.endpoint(
    "CreateVendorInstanceToken",
    "/api/v3/proxylogin/create_instance_token",
    "Give an instance a token; the one before ends.",
    TokenResult,
    parameters=(_INSTANCE_ID, _INSTANCE_NAME),
)
async def create_token(call: Call) -> Response:
    """Create the token of an instance."""
    given = call.parameters
    result = await proxy_login.create_token(
        _caller(call), given["instanceId"], given["instanceName"]
    )
    return _response(
        TokenResult(token=result.secret, resultCode=result.code, errorMessage=result.message)
    )


@endpoints.endpoint(
    "GetUrl",
    "/api/v3/proxylogin/get_url",
    "A URL that opens the login page once.",
    LoginUrlResult,
    parameters=(_INSTANCE_ID, _TOKEN),
)
async def get_url(call: Call) -> Response:
    """Return a one-time URL of the login page."""
    given = call.parameters
    result = await proxy_login.create_login_url(_caller(call), given["instanceId"], given["token"])
    url = f"{call.base_url}{proxy_login.ENTER_PATH}{result.secret}" if result.secret else ""
    return _response(LoginUrlResult(resultCode=result.code, errorMessage=result.message, url=url))


@endpoints.endpoint(
    "DeleteVendorInstanceToken",
    "/api/v3/proxylogin/delete_instance_token",
    "Delete an instance's token.",
    DeleteResult,
    parameters=(_INSTANCE_ID,),
)
async def delete_token(call: Call) -> Response:
    """Delete the token of an instance."""
    result = await proxy_login.delete_token(_caller(call), call.parameters["instanceId"])
    return _response(
        DeleteResult(resultCode=result.code, deleted=result.deleted, errorMessage=result.message)
    )


def _caller(call: Call) -> proxy_login.ProxyLoginCaller:
    return proxy_login.ProxyLoginCaller(
        database=call.context.database,
        vault=call.context.vault,
        vendor=call.vendor,
        site=call.site,
        now=call.context.wall.now(),
        actor=call.actor,
    )


def _response(result: JsonModel) -> Response:
    # No cache between service and caller may keep a token or a one-time URL.
    return json_response(200, result.model_dump(), {"Cache-Control": "no-store"})
