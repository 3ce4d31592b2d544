"""The calls of V3, one row each. The checks, the OpenAPI document and the tests walk this table."""

from clearlane.api.endpoint import Content, Family, Parameter, Row
from clearlane.api.v3 import wire
from clearlane.api.v3.claims import submission, suspended
from clearlane.api.v3.eligibility import ROWS as ELIGIBILITY
from clearlane.api.v3.enrollment import ROW as ENROLLMENT
from clearlane.api.v3.payers import payers, read_type
from clearlane.api.v3.proxy_login import ROWS as PROXY_LOGIN
from clearlane.api.v3.responses import DocumentIds, PayerResponses, responses_by_id
from clearlane.api.v3.status import ClaimStatus, day_named, status_by_date
from clearlane.claims.fields import PAPERS, ClaimKind
from clearlane.payers.directory import Which

PAYER_TYPE = Parameter(
    name="type",
    help="`medical` or `dental`, in any case.",
    read=read_type,
    schema={"type": "string", "enum": ["medical", "dental"]},
)


def _payer_list(name: str, path: str, summary: str, which: Which) -> Row:
    return Row(
        name=name,
        path=f"/api/v3/payers/{path}",
        family=Family.PAYERS,
        summary=summary,
        handler=payers(which),
        answer=list[wire.Payer],
        touches_phi=False,
        suspended=None,
        parameters=(PAYER_TYPE,),
        refusals={404: wire.MessageDetail},
    )


def _submission(name: str, path: str, summary: str, kind: ClaimKind) -> Row:
    return Row(
        name=name,
        path=f"/api/v3/claims/{path}",
        family=Family.CLAIMS,
        summary=summary,
        handler=submission(kind),
        answer=wire.ClaimSubmission,
        touches_phi=True,
        suspended=suspended,
        content=Content.JSON,
        request=PAPERS[kind].document,
        refusals={204: None, 400: wire.ModelState, 413: wire.Message},
    )


TABLE: tuple[Row, ...] = (
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
    Row(
        name="GetClaimStatusByDate",
        path="/api/v3/claims/status/get_by_date",
        family=Family.CLAIMS,
        summary="Where the claims created on these days stand.",
        handler=status_by_date,
        answer=list[ClaimStatus],
        touches_phi=True,
        suspended=None,
        parameters=(day_named("startDate"), day_named("endDate")),
        refusals={400: wire.MessageDetail},
    ),
    Row(
        name="GetPayerResponseDocuments",
        path="/api/v3/claims/responses/get_by_doc_id",
        family=Family.CLAIMS,
        summary="What payers answered about claims, by document id.",
        handler=responses_by_id,
        answer=PayerResponses,
        touches_phi=True,
        suspended=None,
        content=Content.JSON,
        request=DocumentIds,
        refusals={400: wire.ModelState, 413: wire.Message},
    ),
)
