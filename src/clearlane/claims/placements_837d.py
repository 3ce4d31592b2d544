"""Where each field of a dental claim stands in an 837D.

Tables first, then the functions they name. What a claim does not say and X12 wants:

* the kind of coverage is ``ZZ`` (SBR09): no field tells it;
* benefits are assigned where the insured signed for it (CLM08), and the dentist then accepts (CLM07 ``A``);
* days of service stand with the claim where all lines have the same, else with each line; a
  predetermination has none;
* the replacement of a prosthesis is told on the lines with a crown, an inlay or a prosthesis, and on all lines
  where there is no such line;
* a treatment location without a name bears the billing dentist's.

Knows the catalogue and the guide; writes nothing itself.
"""

import re
from decimal import Decimal
from functools import lru_cache

from clearlane.claims import claim_context as ask
from clearlane.claims import cob, codes
from clearlane.claims.claim_context import Case, LineCase
from clearlane.claims.fields import Line
from clearlane.claims.placement import Block, Made, Scope
from clearlane.claims.rules import dates
from clearlane.claims.rules.dates import accidents, is_predetermination
from clearlane.claims.rules.diagnoses import diagnoses, version
from clearlane.claims.rules.numbers import frequency
from clearlane.claims.rules.people import signed
from clearlane.claims.value_types import GROUPS
from clearlane.kernel import limits
from clearlane.x12.guides.g837d import GUIDE

ACCOUNT = "F23_PatientID"
LINE_CONTROL = "X12_LineControlNumber"
PAYER_NAME = "F03_PayerName"

NOT_SENT = {
    "Svc_VendorClaimId": "The caller's own key; answers are matched by CLM01 and REF*D9.",
    "F06_OtherInsuredDOB": "5010 has no place for another insured's birth date.",
    "F07_OtherInsuredSex": "5010 has no place for another insured's sex.",
    "F36_PatientSignatureDate": "5010 says that there is a release, not since when.",
    "F37_InsuredSignatureDate": "5010 says that benefits are assigned, not since when.",
    "F53_TreatingDentistSignatureDate": "5010 says that a signature is on file, not since when.",
    "LineItems": "The lines stand in loops of their own, field by field.",
}
"""Fields that are kept and never sent, each with its reason."""

ORIGINAL = "1"
NOT_ASSIGNED = "N"
BILLING_PLACE = (
    "F48_BillingDentistAddress",
    "F48_BillingDentistCity",
    "F48_BillingDentistST",
    "F48_BillingDentistZip",
)
TREATMENT_PLACE = (
    "F56_TreatmentAddress",
    "F56_TreatmentCity",
    "F56_TreatmentST",
    "F56_TreatmentZip",
)
PAY_TO = ("X12_Paytoaddress", "X12_PaytoCity", "X12_PaytoST", "X12_PaytoZip")
# Inlays and crowns, removable and fixed prostheses (the categories of CDT).
_PLACED = re.compile(r"D(?:2[5-9]|5|6)", re.ASCII)


# --- the functions that the tables name ---------------------------------------------------------------


def payer_name(case: Case) -> str:
    """The payer's name as the directory has it, else as the caller wrote it."""
    return ask.directory_name(case) or case.claim.F03_PayerName


def employer(case: Case) -> str | None:
    """The group's name, only where it has no number."""
    return None if "F16_InsuredGroupNumber" in case.given else case.given["F17_InsuredEmployerName"]


def is_insured_person(case: Case) -> bool:
    """Whether the insured is a person."""
    person: bool = case.claim.X12_SubscriberEntityTypeQualifier == ask.PERSON
    return person


def tax_number(qualifier: str) -> Block[Case]:
    """The billing dentist's tax number under its own qualifier."""
    return Block(
        when=lambda case: case.claim.X12_TINorSSNQualifier == qualifier,
        made=(
            Made(
                f"2010AA/REF:{qualifier}/02",
                lambda case: case.claim.F51_BillingDentistTaxID,
                {
                    "X12_TINorSSNQualifier": f"2010AA/REF:{qualifier}/01",
                    "F51_BillingDentistTaxID": f"2010AA/REF:{qualifier}/02",
                },
            ),
        ),
    )


def is_paid_elsewhere(case: Case) -> bool:
    """Whether payments go to another address than the billing dentist's."""
    return not ask.same_place(case, PAY_TO, BILLING_PLACE)


def frequency_code(case: Case) -> str:
    """Original, corrected, replacement or void."""
    return frequency(case.claim)


def is_about_an_earlier_claim(case: Case) -> bool:
    """Whether the payer has seen the claim before in another form."""
    return frequency(case.claim) != ORIGINAL


def signature(case: Case) -> str:
    """Whether the treating dentist's signature is on file."""
    return "Y" if signed(case.claim.F53_TreatingDentistSignature) else "N"


def benefits(case: Case) -> str:
    """Whether the insured assigned the benefits."""
    return "Y" if signed(case.given.get("F37_InsuredSignature")) else NOT_ASSIGNED


def assignment(case: Case) -> str:
    """Whether the dentist accepts assignment."""
    return "A" if benefits(case) == "Y" else "C"


def release(case: Case) -> str:
    """The patient's release of information; a claim without one is not accepted."""
    return "Y"


def causes(case: Case) -> str | None:
    """What the treatment results from, and the state of an auto accident."""
    found = accidents(case.claim)
    if not found:
        return None
    state = case.given.get("F47_AutoAccidentState") if found[0] == "AA" else None
    return f"{found[0]}:::{state}" if state else found[0]


def programme(case: Case) -> str | None:
    """01 for EPSDT."""
    return codes.EPSDT if case.claim.F01_TypeOfTransaction == codes.EPSDT else None


def predetermination(case: Case) -> str | None:
    """PB where the claim asks what would be paid."""
    return codes.PREDETERMINATION if is_predetermination(case.claim) else None


def service_days(case: Case) -> str | None:
    """The one period that all lines share."""
    days = {_days(line, case) for line in case.lines}
    return next(iter(days)) if len(days) == 1 and not is_predetermination(case.claim) else None


def own_service_days(told: LineCase) -> str | None:
    """The line's period where the lines have different ones."""
    if is_predetermination(told.case.claim) or service_days(told.case):
        return None
    return _days(told.line, told.case)


def _days(line: Line, case: Case) -> str | None:
    first, last = dates.service_days(line)
    first = first or case.given.get("X12_ServiceDate")
    return ask.days(first, last or first) if first else None


def is_orthodontic(case: Case) -> bool:
    """Whether the treatment is for orthodontics."""
    treated: bool = case.claim.F40_OrthoTreatment
    return treated


def orthodontic_mark(case: Case) -> str | None:
    """Y where the months are not known."""
    return None if case.given.get("F42_MonthsTreatment") else "Y"


def hi(case: Case) -> tuple[str, ...] | None:
    """The diagnoses."""
    return ask.health_care_codes(version(case.claim), tuple(diagnoses(case.claim)))


def is_treated_by_another(case: Case) -> bool:
    """Whether the treating dentist is another than the billing dentist."""
    given = case.given
    npi = given.get("F53_TreatingDentistNPI")
    if npi:
        return bool(npi != given["F48_BillingDentistNPI"])
    pairs = (("X12_RenderingProvLastName", "F48_BillingDentistLastName"),
             ("X12_RenderingProvFirstName", "F48_BillingDentistFirstName"))  # fmt: skip
    return any(given.get(one) != given.get(other) for one, other in pairs)


def is_treated_elsewhere(case: Case) -> bool:
    """Whether the treatment location is another place than the billing dentist's."""
    given = case.given
    npi = given.get("X12_TreatmantLocationNPI")
    return not ask.same_place(case, TREATMENT_PLACE, BILLING_PLACE) or (
        npi is not None and npi != given["F48_BillingDentistNPI"]
    )


def location_name(case: Case) -> str:
    """The location's name, else the billing dentist's."""
    return str(case.given.get("X12_TreatmantLocationName") or case.claim.F48_BillingDentistLastName)


# Lines.


def procedure(told: LineCase) -> str:
    """The procedure with its description."""
    code: str = told.given["F29_ProcedureCode"]
    description = told.given.get("F30_Description")
    return f"AD:{code}:::::{description}" if description else f"AD:{code}"


def decided_procedure(told: LineCase) -> str:
    """The procedure that the earlier payer decided about: the line's."""
    return f"AD:{told.given['F29_ProcedureCode']}"


def fee(told: LineCase) -> Decimal:
    """The fee with the other fee."""
    return cob.charges(told.line)


def place_of_line(told: LineCase) -> str | None:
    """The line's place of service where it is not the claim's."""
    place: str = told.given["X12_PlaceOfServiceCode"]
    return None if place == told.place else place


def areas(told: LineCase) -> str | None:
    """The areas of the mouth."""
    found = [area for area in told.given["F25_AreaOfOralCavity"] if area]
    return ":".join(found[: limits.ORAL_AREAS_PER_LINE_MAX]) or None


def is_replacement(told: LineCase) -> bool:
    """Whether the line is the replacement of a prosthesis."""
    claim = told.case.claim
    if not claim.F43_Prosthesis:
        return False
    return bool(_PLACED.match(told.given["F29_ProcedureCode"])) or not any(
        _PLACED.match(line.F29_ProcedureCode) for line in claim.LineItems
    )


def pointers(told: LineCase) -> str | None:
    """Which diagnoses the line treats."""
    given = tuple(told.given["F29a_DiagnosisPointer"].split(","))
    return ask.pointer_text(given, told.case.pointed)


def teeth(told: LineCase) -> list[str | None]:
    """The teeth; a line may name the notation and no tooth."""
    return [tooth.F27_Tooth for tooth in told.given.get("Teeth", ()) if tooth.F27_Tooth]


def surfaces(told: LineCase) -> list[str | None]:
    """The surfaces of each tooth."""
    named = [tooth for tooth in told.given.get("Teeth", ()) if tooth.F27_Tooth]
    return [_surfaces(tooth.F28_ToothSurface) for tooth in named]


@lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)
def _surfaces(given: tuple[str | None, ...] | None) -> str | None:
    return ":".join(filter(None, given or ())) or None


def is_line_of_another(told: LineCase) -> bool:
    """Whether the line's treating dentist is another than the claim's."""
    given, claim = told.given, told.case.given
    above = ("X12_RenderingProvLastName", "X12_RenderingProvFirstName", "F53_TreatingDentistNPI")
    if "X12_RenderingProvLastName" not in claim:
        above = (
            "F48_BillingDentistLastName",
            "F48_BillingDentistFirstName",
            "F48_BillingDentistNPI",
        )
    npi, other = given.get("X12_LineTreatingDentistNPI"), claim.get(above[2])
    if npi and other:
        return bool(npi != other)
    own = ("X12_LineTreatingDentistLastname", "X12_LineTreatingDentistFirstname")
    return any(given.get(one) != claim.get(two) for one, two in zip(own, above, strict=False))


def units_paid(told: LineCase) -> Decimal:
    """How many the earlier payer paid for; as many as were done where it did not say."""
    return told.given.get("X12_UnitsPaid") or told.given.get("F29b_Quantity") or ask.ONE


# --- the tables ---------------------------------------------------------------------------------------


BILLING: Scope[Case] = Scope(
    GUIDE,
    "2000A",
    ours={"hl": "2000A/HL/01"},
    rows={
        "F48_BillingDentistLastName": "2010AA/NM1/03",
        "F48_BillingDentistNPI": "2010AA/NM1/09",
        "F48_BillingDentistAddress": "2010AA/N3/01",
        "F48_BillingDentistCity": "2010AA/N4/01",
        "F48_BillingDentistST": "2010AA/N4/02",
        "F48_BillingDentistZip": "2010AA/N4/03",
        "F50_BillingDentistLicense": "2010AA/REF:0B/02",
        "F52_BillingDentistPhone": "2010AA/PER/04",
    },
    made=(
        Made(
            "2010AA/NM1/02",
            ask.person,
            ["F48_BillingDentistFirstName"],
            default=ask.ORGANISATION,
        ),
    ),
    blocks=(
        Block(
            given=["F48_BillingDentistFirstName"],
            rows={
                "F48_BillingDentistFirstName": "2010AA/NM1/04",
                "F48_BillingDentistMI": "2010AA/NM1/05",
                "F48_BillingDentistSuffix": "2010AA/NM1/07",
            },
        ),
        tax_number("EI"),
        tax_number("SY"),
        Block(
            when=is_paid_elsewhere,
            given=PAY_TO,
            rows={
                "X12_Paytoaddress": "2010AB/N3/01",
                "X12_PaytoCity": "2010AB/N4/01",
                "X12_PaytoST": "2010AB/N4/02",
                "X12_PaytoZip": "2010AB/N4/03",
            },
            made=(
                Made(
                    "2010AB/NM1/02",
                    ask.person,
                    ["F48_BillingDentistFirstName"],
                    default=ask.ORGANISATION,
                ),
            ),
        ),
    ),
    constants={"2010AA/PER/03": "TE"},
)

SUBSCRIBER: Scope[Case] = Scope(
    GUIDE,
    "2000B",
    ours={"hl": "2000B/HL/01", "parent": "2000B/HL/02", "child": "2000B/HL/04"},
    rows={
        "F16_InsuredGroupNumber": "2000B/SBR/03",
        "X12_SubscriberEntityTypeQualifier": "2010BA/NM1/02",
        "F12_InsuredLastName": "2010BA/NM1/03",
        "F15_InsuredID": "2010BA/NM1/09",
        "F52a_BillingDentistID": "2010BB/REF:G2/02",
    },
    made=(
        Made("2000B/SBR/01", ask.order_of_payment, (), always=True),
        Made("2000B/SBR/02", ask.self_code, ["F18_PatientRelationship"]),
        Made("2000B/SBR/04", employer, ["F17_InsuredEmployerName"]),
        Made(
            "2010BA/NM1/08",
            ask.first_of("X12_SubscriberIdentificationCodeQualifier"),
            ["X12_SubscriberIdentificationCodeQualifier"],
            default="MI",
        ),
        Made("2010BB/NM1/03", payer_name, [PAYER_NAME]),
        Made("2010BB/NM1/09", ask.payer_id, ["Svc_PayerId"]),
    ),
    blocks=(
        Block(
            when=is_insured_person,
            rows={"F12_InsuredFirstName": "2010BA/NM1/04"},
            made=(
                Made(
                    "2010BA/NM1/05",
                    ask.when_own_patient("F12_InsuredMI", "F20_PatientMI"),
                    ["F12_InsuredMI", "F20_PatientMI"],
                ),
                Made(
                    "2010BA/NM1/07",
                    ask.when_own_patient("F12_InsuredSuffix", "F20_PatientSuffix"),
                    ["F12_InsuredSuffix", "F20_PatientSuffix"],
                ),
            ),
        ),
        Block(
            when=ask.is_own_patient,
            rows={
                "F12_InsuredAddress": "2010BA/N3/01",
                "F12_InsuredCity": "2010BA/N4/01",
                "F12_InsuredST": "2010BA/N4/02",
                "F12_InsuredZip": "2010BA/N4/03",
                "F13_InsuredDOB": "2010BA/DMG/02",
                "F14_InsuredSex": "2010BA/DMG/03",
            },
        ),
        Block(
            given=["F03_PayerAddress1", "F03_PayerCity", "F03_PayerState", "F03_PayerZip"],
            rows={
                "F03_PayerAddress1": "2010BB/N3/01",
                "F03_PayerAddress2": "2010BB/N3/02",
                "F03_PayerCity": "2010BB/N4/01",
                "F03_PayerState": "2010BB/N4/02",
                "F03_PayerZip": "2010BB/N4/03",
            },
        ),
    ),
    constants={
        "2000B/SBR/09": ask.UNKNOWN_COVERAGE,
        "2010BB/NM1/08": "PI",
    },
    echoes={
        "F20_PatientLastName": "2010BA/NM1/03",
        "F20_PatientFirstName": "2010BA/NM1/04",
        "F20_PatientDOB": "2010BA/DMG/02",
        "F22_PatientSex": "2010BA/DMG/03",
        "F20_PatientAddress": "2010BA/N3/01",
        "F20_PatientCity": "2010BA/N4/01",
        "F20_PatientST": "2010BA/N4/02",
        "F20_PatientZip": "2010BA/N4/03",
    },
)

PATIENT: Scope[Case] = Scope(
    GUIDE,
    "2000C",
    ours={"hl": "2000C/HL/01", "parent": "2000C/HL/02"},
    rows={
        "F18_PatientRelationship": "2000C/PAT/01",
        "F20_PatientLastName": "2010CA/NM1/03",
        "F20_PatientFirstName": "2010CA/NM1/04",
        "F20_PatientMI": "2010CA/NM1/05",
        "F20_PatientSuffix": "2010CA/NM1/07",
        "F20_PatientAddress": "2010CA/N3/01",
        "F20_PatientCity": "2010CA/N4/01",
        "F20_PatientST": "2010CA/N4/02",
        "F20_PatientZip": "2010CA/N4/03",
        "F20_PatientDOB": "2010CA/DMG/02",
        "F22_PatientSex": "2010CA/DMG/03",
    },
)

_MISSING = range(1, limits.MISSING_TEETH_MAX + 1)

CLAIM: Scope[Case] = Scope(
    GUIDE,
    "2300",
    ours={"number": "2300/CLM/01", "trace": "2300/REF:D9/02"},
    rows={
        "F32_TotalFee": "2300/CLM/02",
        "F38_PlaceOfTreatment": "2300/CLM/05-1",
        "F46_AccidentDate": "2300/DTP:439/03",
        "X12_AttachmentReportType": "2300/PWK/01",
        "X12_AttachmentTransmissionCode": "2300/PWK/02",
        "X12_AttachmentControlNumber": "2300/PWK/06",
        "X12_PredeterminationID": "2300/REF:G3/02",
        "F02_PriorAuthNum": "2300/REF:G1/02",
        "F35_Remarks": "2300/NTE/02",
    },
    made=(
        Made("2300/CLM/05-3", frequency_code, ["X12_ClaimFrequencyCode"], default=ORIGINAL),
        Made("2300/CLM/06", signature, ["F53_TreatingDentistSignature"]),
        Made("2300/CLM/07", assignment, (), always=True),
        Made("2300/CLM/08", benefits, ["F37_InsuredSignature"], default=NOT_ASSIGNED),
        Made("2300/CLM/09", release, ["F36_PatientSignature"]),
        Made(
            "2300/CLM/11",
            causes,
            {
                "F45_TreatmentResultingFrom": "2300/CLM/11-1",
                "F47_AutoAccidentState": "2300/CLM/11-4",
            },
        ),
        Made("2300/CLM/12", programme, ["F01_TypeOfTransaction"]),
        Made("2300/CLM/19", predetermination, ["F01_TypeOfTransaction"]),
        Made("2300/DTP:472/period", service_days, ["X12_ServiceDate"], always=True),
        Made(
            [f"2300/DN2#{number}/01" for number in _MISSING],
            lambda case: [tooth for tooth in case.given["F33_MissingTeeth"] if tooth],
            ["F33_MissingTeeth"],
        ),
        Made("2300/AMT:F5/02", ask.unless_zero("X12_PatientAmountPaid"), ["X12_PatientAmountPaid"]),
        Made(
            [f"2300/HI/{element:02}" for element in range(1, limits.DENTAL_DIAGNOSES_MAX + 1)],
            hi,
            ["F34a_DiagnosisCode", "F34_DiagnosiseCodeQualifier"],
        ),
    ),
    blocks=(
        Block(
            when=is_orthodontic,
            rows={"F41_DateAppliancePlaced": "2300/DTP:452/03"},
            made=(
                Made(
                    "2300/DN1/01",
                    ask.unless_zero("F42_MonthsTreatment"),
                    ["F42_MonthsTreatment", "F40_OrthoTreatment"],
                ),
                Made("2300/DN1/04", orthodontic_mark, ["F40_OrthoTreatment"]),
            ),
        ),
        Block(when=is_about_an_earlier_claim, rows={"X12_PayerControlNumber": "2300/REF:F8/02"}),
        Block(
            when=is_treated_by_another,
            given=["X12_RenderingProvLastName"],
            rows={
                "X12_RenderingProvLastName": "2310B/NM1/03",
                "F53_TreatingDentistNPI": "2310B/NM1/09",
                "F56a_DentistSpecialtyCode": "2310B/PRV/03",
                "F55_TreatingDentistLicense": "2310B/REF:0B/02",
                "F58_TreatingDentistAddlID": "2310B/REF:G2/02",
            },
            made=(
                Made(
                    "2310B/NM1/02",
                    ask.person,
                    ["X12_RenderingProvFirstName"],
                    default=ask.ORGANISATION,
                ),
            ),
        ),
        Block(
            when=is_treated_by_another,
            given=["X12_RenderingProvLastName", "X12_RenderingProvFirstName"],
            rows={
                "X12_RenderingProvFirstName": "2310B/NM1/04",
                "X12_RenderingProvMI": "2310B/NM1/05",
                "X12_RenderingProvSuffix": "2310B/NM1/07",
            },
        ),
        Block(
            when=is_treated_elsewhere,
            given=TREATMENT_PLACE,
            rows={
                "X12_TreatmantLocationNPI": "2310C/NM1/09",
                "F56_TreatmentAddress": "2310C/N3/01",
                "F56_TreatmentCity": "2310C/N4/01",
                "F56_TreatmentST": "2310C/N4/02",
                "F56_TreatmentZip": "2310C/N4/03",
            },
            made=(Made("2310C/NM1/03", location_name, ["X12_TreatmantLocationName"], always=True),),
        ),
    ),
    constants={
        "2300/NTE/01": "ADD",
        **{f"2300/DN2#{number}/02": "M" for number in _MISSING},
    },
    echoes={ACCOUNT: "2300/CLM/01"},
)

OTHER: Scope[Case] = Scope(
    GUIDE,
    "2320",
    rows={
        "F10_OtherPatientRelationship": "2320/SBR/02",
        "F09_OtherInsuredGrpNumber": "2320/SBR/03",
        "F05_OtherInsuredLastName": "2330A/NM1/03",
        "F08_OtherInsuredPolicy": "2330A/NM1/09",
        "F11_OtherPayerName": "2330B/NM1/03",
    },
    made=(
        Made("2320/SBR/01", ask.other_order_of_payment, ["F04_OtherCoverage"], always=True),
        Made("2320/AMT:D/02", ask.paid, (), always=True),
        Made("2320/OI/03", benefits, ["F37_InsuredSignature"], default=NOT_ASSIGNED),
        Made("2320/OI/06", release, ["F36_PatientSignature"]),
        Made(
            "2330A/NM1/02",
            ask.person,
            ["F05_OtherInsuredFirstName"],
            default=ask.ORGANISATION,
        ),
        Made("2330B/NM1/09", ask.other_payer_id, ["F11_OtherPayerName"]),
    ),
    blocks=(
        Block(
            given=["F05_OtherInsuredFirstName"],
            rows={
                "F05_OtherInsuredFirstName": "2330A/NM1/04",
                "F05_OtherInsuredMI": "2330A/NM1/05",
                "F05_OtherInsuredSuffix": "2330A/NM1/07",
            },
        ),
        Block(
            given=[
                "F11_OtherPayerAddress",
                "F11_OtherPayerCity",
                "F11_OtherPayerST",
                "F11_OtherPayerZip",
            ],
            rows={
                "F11_OtherPayerAddress": "2330B/N3/01",
                "F11_OtherPayerCity": "2330B/N4/01",
                "F11_OtherPayerST": "2330B/N4/02",
                "F11_OtherPayerZip": "2330B/N4/03",
            },
        ),
    ),
    constants={
        "2320/SBR/09": ask.UNKNOWN_COVERAGE,
        "2330A/NM1/08": "MI",
        "2330B/NM1/08": "PI",
    },
)

_TEETH = range(1, limits.TEETH_PER_LINE_MAX + 1)
_DECISION_OF_LINE = ("X12_PrimaryPaidAmount", "X12_AdjudicationDate", "Adjustments")

LINE: Scope[LineCase] = Scope(
    GUIDE,
    "2400",
    ours={"line": "2400/LX/01", "control": "2400/REF:6R/02"},
    rows={"F29b_Quantity": "2400/SV3/06"},
    made=(
        Made(
            "2400/SV3/01",
            procedure,
            {"F29_ProcedureCode": "2400/SV3/01-2", "F30_Description": "2400/SV3/01-7"},
        ),
        Made("2400/SV3/02", fee, ["F31_LineFee", "F31a_OtherFee"]),
        Made("2400/SV3/03", place_of_line, ["X12_PlaceOfServiceCode"]),
        Made("2400/SV3/04", areas, ["F25_AreaOfOralCavity"]),
        Made("2400/SV3/11", pointers, ["F29a_DiagnosisPointer"]),
        Made(
            [f"2400/TOO#{number}/02" for number in _TEETH],
            teeth,
            {
                "Teeth": "2400/TOO/02",
                "F26_ToothSystem": "2400/TOO/01",
                **{f"Teeth[{number - 1}].F27_Tooth": f"2400/TOO#{number}/02" for number in _TEETH},
            },
        ),
        Made(
            [f"2400/TOO#{number}/03" for number in _TEETH],
            surfaces,
            {
                "Teeth": "2400/TOO/03",
                **{
                    f"Teeth[{number - 1}].F28_ToothSurface": f"2400/TOO#{number}/03"
                    for number in _TEETH
                },
            },
        ),
        Made(
            "2400/DTP:472/period",
            own_service_days,
            ["F24_DateOfServiceFrom", "F24_DateOfServiceTo"],
            always=True,
        ),
    ),
    blocks=(
        Block(
            when=is_replacement,
            made=(Made("2400/SV3/05", lambda told: "R", ["F43_Prosthesis"], always=True),),
            above={"F44_ProsthesisDateOfPriorPlacement": "2400/DTP:441/03"},
            one_of=["F44_ProsthesisDateOfPriorPlacement"],
        ),
        Block(
            when=is_line_of_another,
            given=["X12_LineTreatingDentistLastname"],
            rows={
                "X12_LineTreatingDentistLastname": "2420A/NM1/03",
                "X12_LineTreatingDentistNPI": "2420A/NM1/09",
                "X12_LineTreatingDentistSpecialtyCode": "2420A/PRV/03",
            },
            made=(
                Made(
                    "2420A/NM1/02",
                    ask.person,
                    ["X12_LineTreatingDentistFirstname"],
                    default=ask.ORGANISATION,
                ),
            ),
        ),
        Block(
            when=is_line_of_another,
            given=["X12_LineTreatingDentistLastname", "X12_LineTreatingDentistFirstname"],
            rows={
                "X12_LineTreatingDentistFirstname": "2420A/NM1/04",
                "X12_LineTreatingDentistMI": "2420A/NM1/05",
                "X12_LineTreatingDentistSuffix": "2420A/NM1/07",
            },
        ),
        Block(
            when=ask.decided,
            made=(
                Made("2430/SVD/01", ask.line_payer, (), always=True),
                Made("2430/SVD/02", ask.paid, ["X12_PrimaryPaidAmount"], always=True),
                Made("2430/SVD/03", decided_procedure, (), always=True),
                Made("2430/SVD/05", units_paid, ["X12_UnitsPaid"], always=True),
                Made(
                    [f"2430/CAS#{number}/01" for number in range(1, len(GROUPS) + 1)],
                    ask.adjustments,
                    {
                        "Adjustments": "2430/CAS/02",
                        "Adjustments[].X12_AdjustmentGroupCode": "2430/CAS/01",
                        "Adjustments[].X12_AdjustmentReasonCode": "2430/CAS/02",
                        "Adjustments[].X12_AdjustmentAmount": "2430/CAS/03",
                    },
                ),
                Made("2430/DTP:573/03", ask.line_decided_on, ["X12_AdjudicationDate"], always=True),
            ),
            one_of=_DECISION_OF_LINE,
        ),
    ),
    echoes={
        LINE_CONTROL: "2400/REF:6R/02",
        "X12_PlaceOfServiceCode": "2300/CLM/05-1",
        "X12_LineTreatingDentistLastname": "2310B/NM1/03",
        "X12_LineTreatingDentistFirstname": "2310B/NM1/04",
        "X12_LineTreatingDentistMI": "2310B/NM1/05",
        "X12_LineTreatingDentistSuffix": "2310B/NM1/07",
        "X12_LineTreatingDentistNPI": "2310B/NM1/09",
        "X12_LineTreatingDentistSpecialtyCode": "2310B/PRV/03",
        "F24_DateOfServiceFrom": "2300/DTP:472/period",
        "F24_DateOfServiceTo": "2300/DTP:472/period",
    },
)
