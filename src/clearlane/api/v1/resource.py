"""What the resources of ``/clearlane/v1`` share: rows with their conventions, and pages of lists.

    endpoints = ResourceRows(Resource.CLAIMS)

    @endpoints.read("GetClaims", "claims", "Claims, newest first.", Page[ClaimJson], ...)
    async def list_claims(call: Call) -> Response: ...

A resource is one module with such rows, and its name in ``endpoints``. Knows no resource.
"""

import dataclasses
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar, get_args, get_type_hints

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.accounts.model import Site
from clearlane.api.frame.endpoint import (
    Call,
    CallConventions,
    EndpointRows,
    Handler,
)
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.body import decode
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1.cursors import encode_cursor
from clearlane.api.v1.problems import PROBLEMS, SITES_NAMED_MAX

PREFIX = "/clearlane/v1"
CONVENTIONS = CallConventions(
    site_parameter="site",
    site_help="The vendor site id. Leave it out for all sites of the vendor that have accepted the BAA.",
    site_required=False,
    strict_query=True,
    answers_head=True,
    rate_headers=True,
    compresses=True,
)

Row = TypeVar("Row")
T = TypeVar("T")


class Resource(StrEnum):
    """The resources, by their tags in the documentation."""

    CLAIMS = "v1 claims"
    PROOFS = "v1 proofs"
    PAYMENTS = "v1 payments"
    REPORTS = "v1 reports"
    PAYERS = "v1 payers"
    SITES = "v1 sites"
    ELIGIBILITY = "v1 eligibility"
    ENROLLMENTS = "v1 enrollments"
    DOCUMENTS = "v1 documents"
    FILES = "v1 files"
    CALLS = "v1 calls"
    CONSOLE_LINKS = "v1 console_links"
    EVENTS = "v1 events"
    WEBHOOKS = "v1 webhooks"
    X12 = "v1 x12"


class Page(JsonModel, Generic[Row]):
    """One page of a list."""

    data: Annotated[list[Row], Field(description="The rows.")]
    next: Annotated[
        str | None,
        Field(description="Pass it as `after` for the next page; null if this is the last."),
    ]


class ResourceRows(EndpointRows):
    """The endpoints of a resource, each declared at its handler."""

    def __init__(
        self,
        resource: Resource,
        *,
        touches_phi: bool = True,
        reads: KeyScope = KeyScope.READ,
        changes: KeyScope | None = None,
        of_vendor: bool = False,
    ) -> None:
        """``reads`` and ``changes`` are the scopes that an API key needs, unless a row names another."""
        super().__init__(
            family=resource, errors=PROBLEMS, touches_phi=touches_phi, suspended_handler=None,
            conventions=CONVENTIONS, of_vendor=of_vendor,
        )  # fmt: skip
        self._reads, self._changes = reads, changes

    def read(
        self, name: str, path: str, summary: str, response_type: Any, **columns: Any
    ) -> Callable[[Handler], Handler]:
        """Declare a GET."""
        path, columns = f"{PREFIX}/{path}", {"scope": self._reads} | columns
        return self.endpoint(name, path, summary, response_type, verbs=("GET",), **columns)

    def change(
        self,
        name: str,
        path: str,
        summary: str,
        response_type: Any,
        *,
        verb: str = "POST",
        stores_answer: bool = True,
        scope: KeyScope | None = None,
        **columns: Any,
    ) -> Callable[[Handler], Handler]:
        """Declare a POST, PATCH or DELETE.

        ``stores_answer`` is False for a call that changes nothing.
        """
        scope = scope or self._changes
        if scope is None:  # a key of any scope would do
            raise ValueError(f"{name} names no scope")
        return self.endpoint(
            name,
            f"{PREFIX}/{path}",
            summary,
            response_type,
            verbs=(verb,),
            takes_idempotency_key=verb == "POST" and stores_answer,
            scope=scope,
            **columns,
        )


def page_response(
    rows: Sequence[Row],
    *,
    limit: int,
    of_list: str,
    position: Callable[[Row], tuple[str, ...]],
    as_json: Callable[[Row], object],
) -> Response:
    """Return a page of rows. One row more than the limit means that there is a next page."""
    shown = rows[:limit]
    more = len(rows) > limit
    cursor = encode_cursor(of_list, *position(shown[-1])) if more else None
    return json_response(200, {"data": [as_json(row) for row in shown], "next": cursor})


def require_site(call: Call) -> Site:
    """Return the site that the caller names, or the only one that the call can be for."""
    if call.named_site is None and len(call.sites) != 1:
        known = ", ".join(site.vendor_site_id for site in call.sites[:SITES_NAMED_MAX]) or "none"
        text = f"Name the site that the call is for. Those with a BAA are: {known}."
        raise RequestRefusal(call.errors.invalid_fields({"site": [text]}))
    return call.named_site or call.sites[0]


async def read_body(call: Call, type: type[T]) -> T:
    """Return the JSON document of a call. Missing and unknown fields are named all at once, as those of a query are."""
    document = await call.body.read_document()
    if faults := _field_faults(call, document, type, ""):
        raise RequestRefusal(call.errors.invalid_fields(faults))
    return decode(document, type, call.errors)


def _field_faults(
    call: Call, document: bytes | msgspec.Raw, type: Any, path: str
) -> dict[str, list[str]]:
    """Return what is wrong with the names in an object: a typing mistake must not be passed over."""
    fields = {field.name: field for field in dataclasses.fields(type)}
    types = get_type_hints(type)
    given = decode(document, dict[str, msgspec.Raw], call.errors)
    known = f"The body has: {', '.join(fields)}."
    faults = {
        path + name: [f"There is no such field. {known}"] for name in given if name not in fields
    }
    for name, field in fields.items():
        is_required = field.default is field.default_factory is dataclasses.MISSING
        inner = next(filter(dataclasses.is_dataclass, (types[name], *get_args(types[name]))), None)
        if name not in given and is_required:
            faults[path + name] = ["The field is required."]
        elif name in given and inner is not None and bytes(given[name]).startswith(b"{"):
            faults |= _field_faults(call, given[name], inner, f"{path}{name}.")
    return faults
