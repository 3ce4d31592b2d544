"""The table of V3's endpoints, one row each: served, checked and documented from here."""

from pathlib import Path

from clearlane.api.frame.endpoint import ApiVersion, BodyUse, Endpoint, EndpointFamily, Parameter
from clearlane.api.frame.openapi_examples import load_examples
from clearlane.api.v3 import responses
from clearlane.api.v3.claims import submission_handler, suspended
from clearlane.api.v3.eligibility import ENDPOINTS as ELIGIBILITY
from clearlane.api.v3.enrollment import ENDPOINT as ENROLLMENT
from clearlane.api.v3.error_responses import V3_ERRORS
from clearlane.api.v3.payer_responses import DocumentIds, PayerResponses, get_documents
from clearlane.api.v3.payers import payer_list_handler, read_payer_type
from clearlane.api.v3.proxy_login import ENDPOINTS as PROXY_LOGIN
from clearlane.api.v3.status import date_parameter, status_by_date
from clearlane.api.v3.status_rows import ClaimStatusJson
from clearlane.claims.fields import ClaimKind
from clearlane.claims.forms import FORMS
from clearlane.payers.directory import PayerListName

DESCRIPTION = """\
Payer lists, claims, eligibility, enrollment and proxy login, over https with Basic credentials.

Path segments, query keys and JSON field names are read without regard to case; the exact forms are shown here. \
Checks run in this order: https, route, verb, credentials, presence of `vendorSiteId`, its validity \
and ownership, Business Associate Agreement, other parameters, body. Unknown fields are ignored and \
named in `X-Ignored-Fields`; how a correction goes out, and why, and what accepted claims are warned of is said in `X-Notes`. Every answer carries `X-Request-Id`; send one of your own to find a call \
again. `X-Service-Time` is the service's time (UTC), which in a sandbox may be ahead; a caller may ignore it."""

PAYER_TYPE = Parameter(
    name="type",
    help="`medical` or `dental`, in any case.",
    read=read_payer_type,
    schema={"type": "string", "enum": ["medical", "dental"]},
)


def _payer_list(name: str, path: str, summary: str, which: PayerListName) -> Endpoint:
    return Endpoint(
        name=name,
        path=f"/api/v3/payers/{path}",
        family=EndpointFamily.PAYERS,
        summary=summary,
        handler=payer_list_handler(which),
        response_type=list[responses.PayerListItem],
        errors=V3_ERRORS,
        touches_phi=False,
        suspended_handler=None,
        parameters=(PAYER_TYPE,),
        error_types={404: responses.MessageDetail},
    )


def _submission(name: str, path: str, summary: str, kind: ClaimKind) -> Endpoint:
    return Endpoint(
        name=name,
        path=f"/api/v3/claims/{path}",
        family=EndpointFamily.CLAIMS,
        summary=summary,
        handler=submission_handler(kind),
        response_type=responses.ClaimSubmission,
        errors=V3_ERRORS,
        touches_phi=True,
        suspended_handler=suspended,
        body_use=BodyUse.JSON,
        request_type=FORMS[kind].document,
        error_types={204: None, 400: responses.ModelState, 413: responses.Message},
    )


ENDPOINTS: tuple[Endpoint, ...] = (
    _payer_list("GetPayers", "get_list", "The payers that claims can be sent to.", "live"),
    _payer_list("GetTestPayers", "get_list_of_test", "The test payers of a sandbox.", "test"),
    _payer_list(
        "GetEligibilityPayers",
        "get_list_of_eligibility",
        "The payers that answer eligibility requests.",
        "eligibility",
    ),
    _submission("SubmitClaims", "submit", "Submit medical claims.", ClaimKind.MEDICAL),
    _submission("SubmitDentalClaims", "submitDental", "Submit dental claims.", ClaimKind.DENTAL),
    *ELIGIBILITY,
    ENROLLMENT,
    *PROXY_LOGIN,
    Endpoint(
        name="GetClaimStatusByDate",
        path="/api/v3/claims/status/get_by_date",
        family=EndpointFamily.CLAIMS,
        summary="The status of the claims created on these days.",
        handler=status_by_date,
        response_type=list[ClaimStatusJson],
        errors=V3_ERRORS,
        touches_phi=True,
        suspended_handler=None,
        parameters=(date_parameter("startDate"), date_parameter("endDate")),
        error_types={400: responses.MessageDetail},
    ),
    Endpoint(
        name="GetPayerResponseDocuments",
        path="/api/v3/claims/responses/get_by_doc_id",
        family=EndpointFamily.CLAIMS,
        summary="What payers answered about claims, by document id.",
        handler=get_documents,
        response_type=PayerResponses,
        errors=V3_ERRORS,
        touches_phi=True,
        suspended_handler=None,
        body_use=BodyUse.JSON,
        request_type=DocumentIds,
        error_types={400: responses.ModelState, 413: responses.Message},
    ),
)

V3 = ApiVersion(
    title="Clearlane Vendor API V3",
    description=DESCRIPTION,
    endpoints=ENDPOINTS,
    errors=V3_ERRORS,
    prefix="/api",
    examples=load_examples(Path(__file__).parent),
)
