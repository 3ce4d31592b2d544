"""The calls of V3, one row each. The checks, the OpenAPI document and the tests walk this table."""

from clearlane.api.call import Content, Family, Parameter, Row
from clearlane.api.v3 import wire
from clearlane.api.v3.claims import submission, suspended
from clearlane.api.v3.payers import payers, read_type
from clearlane.claims.fields import ClaimKind, DentalDocument, MedicalDocument

PAYER_TYPE = Parameter(
    name="type",
    help="`medical` or `dental`, in any case.",
    read=read_type,
    schema={"type": "string", "enum": ["medical", "dental"]},
)

TABLE: tuple[Row, ...] = (
    Row(
        name="GetPayers",
        path="/api/v3/payers/get_list",
        family=Family.PAYERS,
        summary="The payers that claims can be sent to.",
        handler=payers("live"),
        answer=list[wire.Payer],
        touches_phi=False,
        suspended=None,
        parameters=(PAYER_TYPE,),
        refusals={404: wire.MessageDetail},
    ),
    Row(
        name="GetTestPayers",
        path="/api/v3/payers/get_list_of_test",
        family=Family.PAYERS,
        summary="The test payers of a sandbox.",
        handler=payers("test"),
        answer=list[wire.Payer],
        touches_phi=False,
        suspended=None,
        parameters=(PAYER_TYPE,),
        refusals={404: wire.MessageDetail},
    ),
    Row(
        name="GetEligibilityPayers",
        path="/api/v3/payers/get_list_of_eligibility",
        family=Family.PAYERS,
        summary="The payers that answer eligibility requests.",
        handler=payers("eligibility"),
        answer=list[wire.Payer],
        touches_phi=False,
        suspended=None,
        parameters=(PAYER_TYPE,),
        refusals={404: wire.MessageDetail},
    ),
    Row(
        name="SubmitClaims",
        path="/api/v3/claims/submit",
        family=Family.CLAIMS,
        summary="Submit medical claims.",
        handler=submission(ClaimKind.MEDICAL),
        answer=wire.ClaimSubmission,
        touches_phi=True,
        suspended=suspended,
        content=Content.JSON,
        request=MedicalDocument,
        refusals={204: None, 400: wire.ModelState, 413: wire.Message},
    ),
    Row(
        name="SubmitDentalClaims",
        path="/api/v3/claims/submitDental",
        family=Family.CLAIMS,
        summary="Submit dental claims.",
        handler=submission(ClaimKind.DENTAL),
        answer=wire.ClaimSubmission,
        touches_phi=True,
        suspended=suspended,
        content=Content.JSON,
        request=DentalDocument,
        refusals={204: None, 400: wire.ModelState, 413: wire.Message},
    ),
)
