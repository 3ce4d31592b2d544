"""The place of each field of an institutional claim in an 837I.

First the functions that compute values, then the tables, one per loop. X12 and the UB-04 differ as follows:

* the patient's address, birth date and sex are sent with the insured if both are one person, else at the patient's level;
* the provider accepts assignment (CLM07 ``A``) if the claim does not say otherwise and benefits are assigned, else not (``C``);
* what a line counts (days of accommodation, else units) and the code list of its procedure follow from its revenue code;
* each other payer is a loop 2320; payers that decided come before the one that the claim goes to, the others after it;
* a day of decision and what the patient still owes are sent with the lines if the payer decided lines, else with the claim.

Knows the catalogue and the guide; ``write_837`` writes the tables.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

from clearlane.claims.cob import ZERO, EarlierLineDecision
from clearlane.claims.fields import ClaimPart
from clearlane.claims.forms import ub04_view
from clearlane.claims.forms.ub04_fields import (
    CODES_MAX,
    DIAGNOSES_MAX,
    EXTERNAL_CAUSES_MAX,
    OTHER_PAYERS_MAX,
    PROCEDURES_MAX,
    VISIT_REASONS_MAX,
)
from clearlane.claims.forms.ub04_view import DECISIONS, compact
from clearlane.claims.value_types import ADJUSTMENT_GROUPS
from clearlane.claims.write import claim_context, placements_837
from clearlane.claims.write.claim_context import ClaimContext, LineContext, OtherPayerContext
from clearlane.claims.write.placement import Computed, ConditionalRows, LoopTable, PlacementTables
from clearlane.x12.guides.g837i import GUIDE
from clearlane.x12.writer.encode import format_money

NOT_SENT = {
    **placements_837.NOT_SENT,
    "FL42_ServiceLines": placements_837.NO_LINES,
    "FL50_OtherPayers": "Each other payer has a loop of its own, field by field.",
    "FL65_EmployerName": "5010 has no place for the insured's employer.",
}
"""Fields that are stored and never sent, each with its reason."""

BILLING_PLACE = (
    "FL01_BillingProviderAddress1",
    "FL01_BillingProviderAddress2",
    "FL01_BillingProviderCity",
    "FL01_BillingProviderState",
    "FL01_BillingProviderZip",
)
PAY_TO = (
    "FL02_PayToAddress1",
    "FL02_PayToAddress2",
    "FL02_PayToCity",
    "FL02_PayToState",
    "FL02_PayToZip",
)
FACILITY = (
    "X12_FacilityAddress1",
    "X12_FacilityAddress2",
    "X12_FacilityCity",
    "X12_FacilityState",
    "X12_FacilityZip",
)
PATIENT_NAME = (
    "FL08_PatientNameLast",
    "FL08_PatientNameFirst",
    "FL08_PatientNameMiddle",
    "FL08_PatientSuffix",
)
PATIENT_PLACE = (
    "FL09_PatientAddress1",
    "FL09_PatientAddress2",
    "FL09_PatientCity",
    "FL09_PatientState",
    "FL09_PatientZip",
)
PATIENT_BIRTH_AND_SEX = ("FL10_PatientBirthDate", "FL11_PatientSex")
CODES_PER_SEGMENT = 12
"""An HI has twelve codes; a list of more has a second one."""
DRUG_UNITS = {
    "FL43_NdcInternationalUnits": "F2",
    "FL43_NdcGrams": "GR",
    "FL43_NdcMilligrams": "ME",
    "FL43_NdcMilliliters": "ML",
    "FL43_NdcUnits": "UN",
}
"""The fields of a drug's quantity, and their units."""


# --- the claim ---------------------------------------------------------------------------------------------------


def group_name(context: ClaimContext) -> str | None:
    """Return the name of the group, only if it has no number."""
    return None if "FL62_GroupNumber" in context.values else context.values.get("FL61_GroupName")


def is_paid_elsewhere(context: ClaimContext) -> bool:
    """Return whether payments go to another address than the billing provider's."""
    return not claim_context.same_place(context, PAY_TO, BILLING_PLACE)


def bill_type(context: ClaimContext) -> str:
    """Return facility and classification."""
    return ub04_view.bill_type(context.values)


def assignment(context: ClaimContext) -> str:
    """Return whether the provider accepts assignment."""
    stated: str | None = context.values.get("X12_AcceptsAssignment")
    return stated or ("A" if context.claim.FL53_AssignmentOfBenefits == "Y" else "C")


def statement(context: ClaimContext) -> str:
    """Return the days of the statement, which are a range even if they are one day."""
    claim = context.claim
    return f"{compact(claim.FL06_StatementFrom)}-{compact(claim.FL06_StatementThrough)}"


def admission(context: ClaimContext) -> tuple[str, str] | None:
    """Return the format and the moment of admission: with the hour if it is stated."""
    moment = ub04_view.admission_time(context.values)
    return None if moment is None else ("DT" if len(moment) > len("YYYYMMDD") else "D8", moment)


def discharge_hour(context: ClaimContext) -> str:
    """Return the hour of discharge with its minutes."""
    return ub04_view.minutes(context.values["FL16_DischargeHour"])


Component = Callable[[Any], str]


def _day(name: str) -> Component:
    return lambda given: f":D8:{compact(given[name])}"


def _span(given: Mapping[str, date]) -> str:
    return f":RD8:{compact(given['FL35_From'])}-{compact(given['FL35_Through'])}"


def _value(given: Mapping[str, Decimal]) -> str:
    return f":::{format_money(given['FL39_Amount'])}"


def _present(name: str) -> Component:
    return lambda given: f":::::::{given[name]}" if name in given else ""


def _nothing(given: object) -> str:
    return ""


def _list(
    field: str, lists: tuple[str, str], most: int, rest: Component = _nothing, start: int = 0
) -> Computed[ClaimContext]:
    """Return the row of a list of codes: the HI segments of one code list.

    ``lists`` are its names for ICD-10 and ICD-9; ``start`` is the place of its first code among the field's.
    """
    code_field = next(iter(ub04_view.CODES[field].paths))
    listed = lists[0]
    places = [_place(listed, at) for at in range(most - start)]

    def codes(context: ClaimContext) -> list[str]:
        items: Sequence[ClaimPart] = context.values[field][start:most]
        version = lists[context.values.get("FL66_IcdVersion") == "9"]
        return [f"{version}:{item.__dict__[code_field]}{rest(item.__dict__)}" for item in items]

    return Computed(places, codes, [field])


def _place(listed: str, at: int) -> str:
    segment, element = divmod(at, CODES_PER_SEGMENT)
    number = f"#{segment + 1}" if segment else ""
    return f"2300/HI:{listed}{number}/{element + 1:02}"


def _code(field: str, lists: tuple[str, str]) -> Computed[ClaimContext]:
    """Return the row of one code with a list of its own."""

    def code(context: ClaimContext) -> str:
        return f"{lists[context.values.get('FL66_IcdVersion') == '9']}:{context.values[field]}"

    return Computed(f"2300/HI:{lists[0]}/01", code, {field: f"2300/HI:{lists[0]}/01-2"})


def _provider(start: str, loop: str, **more: str) -> ConditionalRows[Any]:
    """Return the rows of a provider who is a person."""
    return ConditionalRows(
        all_of=[f"{start}NameLast"],
        rows={
            f"{start}NameLast": f"{loop}/NM1/03",
            f"{start}NameFirst": f"{loop}/NM1/04",
            f"{start}Npi": f"{loop}/NM1/09",
            **{start + name: f"{loop}/{place}" for name, place in more.items()},
        },
    )


_MORE_NAMES = {"NameMiddle": "NM1/05", "Suffix": "NM1/07"}


# --- other payers ------------------------------------------------------------------------------------------------


def other_group_name(context: OtherPayerContext) -> str | None:
    """Return the name of the other insured's group, only if it has no number."""
    return None if "FL62_GroupNumber" in context.values else context.values.get("FL61_GroupName")


def other_benefits(context: OtherPayerContext) -> str:
    """Return whether benefits are assigned, as the claim says."""
    assigned: str = context.claim_context.claim.FL53_AssignmentOfBenefits
    return assigned


def other_release(context: OtherPayerContext) -> str:
    """Return the release of information, as the claim says."""
    release: str = context.claim_context.claim.FL52_ReleaseOfInformation
    return release


def other_decision_day(context: OtherPayerContext) -> date | None:
    """Return the day of the claim's decision; None if lines were decided, since they send their own."""
    decision = context.decision
    return decision.day if decision and not any(decision.lines) else None


def other_remaining_liability(context: OtherPayerContext) -> Decimal | None:
    """Return what the patient still owes for the claim after a payer; None if lines were decided."""
    if context.remaining is None or context.remaining.claim is None:
        return None
    stated: Decimal | None = context.values.get("X12_RemainingPatientLiability")
    return context.remaining.claim if stated is None else stated


# --- lines -------------------------------------------------------------------------------------------------------


def procedure(context: LineContext) -> str | None:
    """Return the procedure with its code list, modifiers and description."""
    code, description = decided_procedure(context), context.values.get("FL43_Description")
    if code is None or description is None:
        return code
    return f"{code}{':' * (6 - code.count(':'))}{description}"


def decided_procedure(context: LineContext) -> str | None:
    """Return the procedure an earlier payer decided about: the line's own, without its description."""
    values = context.values
    listed = ub04_view.procedure_type(values)
    if listed is None:
        return None
    modifiers = values["FL44_Modifiers"].split(",") if "FL44_Modifiers" in values else ()
    return ":".join([listed, values["FL44_ProcedureCode"], *modifiers])


def unit(context: LineContext) -> str:
    """Return what the line counts."""
    return ub04_view.unit(context.values)


def service_days(context: LineContext) -> str:
    """Return the period of service of the line."""
    first = context.values["FL45_ServiceDate"]
    return claim_context.days(first, context.values.get("X12_LastServiceDate") or first)


def _drug_field(context: LineContext) -> str:
    return next((name for name in DRUG_UNITS if name in context.values), "")


def drug_quantity(context: LineContext) -> Decimal | None:
    """Return how much of the drug was given."""
    return context.values.get(_drug_field(context))


def drug_unit(context: LineContext) -> str | None:
    """Return the unit of the drug quantity."""
    return DRUG_UNITS.get(_drug_field(context))


class _LineOfPayer:
    """What one of the other payers decided of a line: the rows of its loop 2430."""

    def __init__(self, payer: int) -> None:
        self.payer = payer
        self.at = f"{DECISIONS}[]"
        self.loop = f"2430#{payer + 1}" if payer else "2430"

    def _stated(self, context: LineContext, name: str) -> Any:
        return context.values[DECISIONS][self.payer].__dict__.get(name)

    def _other(self, context: LineContext) -> OtherPayerContext:
        return context.claim_context.others[self.payer]

    def _decision(self, context: LineContext) -> EarlierLineDecision | None:
        is_known = self.payer < len(context.claim_context.others)
        return ub04_view.payer_line_decision(context.values, self.payer) if is_known else None

    def _paid(self, context: LineContext) -> Decimal:
        return self._stated(context, "X12_PaidAmount") or ZERO

    def _units(self, context: LineContext) -> Decimal:
        count: Decimal | None = self._stated(context, "X12_PaidUnits")
        return count or context.values["FL46_ServiceUnits"]

    def _adjustments(self, context: LineContext) -> list[str] | None:
        found = self._decision(context)
        return claim_context.adjustment_texts(found.groups) if found else None

    def _day(self, context: LineContext) -> date | None:
        stated: date | None = self._stated(context, "X12_AdjudicationDate")
        whole = self._other(context).decision
        return whole.day if stated is None and whole else stated

    def _remaining(self, context: LineContext) -> Decimal | None:
        stated: Decimal | None = self._stated(context, "X12_RemainingPatientLiability")
        owed = self._other(context).remaining
        return owed.lines[context.at] if stated is None and owed else stated

    def _row(
        self, place: str, compute: Callable[[LineContext], Any], field: str = ""
    ) -> Computed[LineContext]:
        target = f"{self.loop}/{place}"
        return Computed(
            target, compute, {f"{self.at}.{field}": target} if field else (), always=True
        )

    def rows(self) -> ConditionalRows[LineContext]:
        """Return the rows, which are sent if the payer decided the line."""
        adjusted = [
            f"{self.loop}/CAS#{number}/01" for number in range(1, len(ADJUSTMENT_GROUPS) + 1)
        ]
        return ConditionalRows(
            when=lambda context: self._decision(context) is not None,
            any_of=[DECISIONS],
            computed=(
                self._row("SVD/01", lambda context: self._other(context).payer_id),
                Computed(
                    f"{self.loop}/SVD/02",
                    self._paid,
                    dict.fromkeys((DECISIONS, f"{self.at}.X12_PaidAmount"), f"{self.loop}/SVD/02"),
                    always=True,
                ),
                self._row("SVD/03", decided_procedure),
                self._row("SVD/04", lambda context: context.values["FL42_RevenueCode"]),
                self._row("SVD/05", self._units, "X12_PaidUnits"),
                Computed(
                    adjusted,
                    self._adjustments,
                    _adjustment_places(f"{self.at}.X12_Adjustments", self.loop),
                    always=True,
                ),
                self._row("DTP:573/03", self._day, "X12_AdjudicationDate"),
                self._row("AMT:EAF/02", self._remaining, "X12_RemainingPatientLiability"),
            ),
        )


def _adjustment_places(field: str, loop: str) -> dict[str, str]:
    return {
        f"{field}[].X12_AdjustmentGroup": f"{loop}/CAS/01",
        f"{field}[].X12_AdjustmentReason": f"{loop}/CAS/02",
        f"{field}[].X12_AdjustmentAmount": f"{loop}/CAS/03",
    }


# --- the tables --------------------------------------------------------------------------------------------------


BILLING = placements_837.loop_table(
    GUIDE,
    "2000A",
    rows={
        "FL81_BillingProviderTaxonomy": "2000A/PRV/03",
        "FL01_BillingProviderName": "2010AA/NM1/03",
        "FL56_BillingProviderNpi": "2010AA/NM1/09",
        **placements_837.address("2010AA", BILLING_PLACE),
        "FL05_FederalTaxId": "2010AA/REF:EI/02",
        "FL01_BillingProviderPhone": "2010AA/PER/04",
    },
    conditional=(
        ConditionalRows(
            when=is_paid_elsewhere,
            all_of=[PAY_TO[0], *PAY_TO[-3:]],
            rows=placements_837.address("2010AB", PAY_TO),
        ),
    ),
)

SUBSCRIBER = placements_837.loop_table(
    GUIDE,
    "2000B",
    rows={
        "FL62_GroupNumber": "2000B/SBR/03",
        "FL58_InsuredNameLast": "2010BA/NM1/03",
        "FL58_InsuredNameFirst": "2010BA/NM1/04",
        "FL60_InsuredId": "2010BA/NM1/09",
        "FL57_BillingProviderOtherId": "2010BB/REF:G2/02",
    },
    computed=(
        Computed("2000B/SBR/02", claim_context.self_code, ["FL59_PatientRelationship"]),
        Computed("2000B/SBR/04", group_name, ["FL61_GroupName"]),
        Computed(
            "2000B/SBR/09",
            claim_context.first_of("X12_CoverageType"),
            ["X12_CoverageType"],
            default=claim_context.UNKNOWN_COVERAGE,
        ),
        placements_837.insured_or_patient(
            "2010BA/NM1/05", "FL58_InsuredNameMiddle", "FL08_PatientNameMiddle"
        ),
        placements_837.insured_or_patient(
            "2010BA/NM1/07", "FL58_InsuredSuffix", "FL08_PatientSuffix"
        ),
        placements_837.payer_name("FL50_PayerName"),
    ),
    conditional=(
        ConditionalRows(
            when=claim_context.patient_is_insured,
            rows={
                **placements_837.address("2010BA", PATIENT_PLACE),
                **placements_837.rows_at(
                    "2010BA", placements_837.BIRTH_AND_SEX, PATIENT_BIRTH_AND_SEX
                ),
            },
        ),
        placements_837.whole_address(
            "2010BB",
            (
                "FL38_PayerAddress1",
                "FL38_PayerAddress2",
                "FL38_PayerCity",
                "FL38_PayerState",
                "FL38_PayerZip",
            ),
        ),
    ),
    constants={"2010BA/NM1/02": claim_context.PERSON, "2010BA/NM1/08": "MI"},
    echoes=placements_837.rows_at("2010BA", placements_837.NAME[:2], PATIENT_NAME[:2]),
)

PATIENT: LoopTable[ClaimContext] = placements_837.loop_table(
    GUIDE,
    "2000C",
    rows={
        "FL59_PatientRelationship": "2000C/PAT/01",
        **placements_837.rows_at("2010CA", placements_837.NAME, PATIENT_NAME),
        **placements_837.address("2010CA", PATIENT_PLACE),
        **placements_837.rows_at("2010CA", placements_837.BIRTH_AND_SEX, PATIENT_BIRTH_AND_SEX),
    },
)

CLAIM = placements_837.loop_table(
    GUIDE,
    "2300",
    rows={
        "FL47_ClaimTotalCharges": "2300/CLM/02",
        "FL53_AssignmentOfBenefits": "2300/CLM/08",
        "FL52_ReleaseOfInformation": "2300/CLM/09",
        "X12_DelayReasonCode": "2300/CLM/20",
        "FL14_AdmissionType": "2300/CL1/01",
        "FL15_PointOfOrigin": "2300/CL1/02",
        "FL17_PatientStatus": "2300/CL1/03",
        "X12_AttachmentReportType": "2300/PWK/01",
        "X12_AttachmentTransmissionCode": "2300/PWK/02",
        "X12_AttachmentControlNumber": "2300/PWK/06",
        "X12_ReferralNumber": "2300/REF:9F/02",
        "FL63_AuthorizationCode": "2300/REF:G1/02",
        "FL29_AccidentState": "2300/REF:LU/02",
        "FL03b_MedicalRecordNumber": "2300/REF:EA/02",
        "FL80_Remarks": "2300/NTE:ADD/02",
    },
    computed=(
        Computed("2300/CLM/05-1", bill_type, ["FL04_TypeOfBill"]),
        placements_837.frequency("FL04_TypeOfBill"),
        Computed("2300/CLM/07", assignment, ["X12_AcceptsAssignment"], always=True),
        Computed("2300/DTP:096/03", discharge_hour, ["FL16_DischargeHour"]),
        Computed("2300/DTP:434/03", statement, ["FL06_StatementFrom", "FL06_StatementThrough"]),
        Computed(
            ["2300/DTP:435/02", "2300/DTP:435/03"],
            admission,
            {
                "FL12_AdmissionDate": "2300/DTP:435/03",
                "FL13_AdmissionHour": "2300/DTP:435/03",
            },
        ),
        placements_837.amount_unless_zero("2300/AMT:F3/02", "X12_PatientEstimatedAmountDue"),
        replace(
            _list("FL67_Diagnoses", ("ABK", "BK"), 1, _present("FL67_PresentOnAdmission")),
            fields={"FL67_Diagnoses": "2300/HI:ABK/01", "FL66_IcdVersion": "2300/HI:ABK/01-1"},
        ),
        _code("FL69_AdmittingDiagnosis", ("ABJ", "BJ")),
        _list("FL70_ReasonsForVisit", ("APR", "PR"), VISIT_REASONS_MAX),
        _list(
            "FL72_ExternalCauses",
            ("ABN", "BN"),
            EXTERNAL_CAUSES_MAX,
            _present("FL72_PresentOnAdmission"),
        ),
        _code("FL71_DrgCode", ("DR", "DR")),
        _list(
            "FL67_Diagnoses",
            ("ABF", "BF"),
            DIAGNOSES_MAX,
            _present("FL67_PresentOnAdmission"),
            start=1,
        ),
        _list("FL74_Procedures", ("BBR", "BR"), 1, _day("FL74_Date")),
        _list("FL74_Procedures", ("BBQ", "BQ"), PROCEDURES_MAX, _day("FL74_Date"), start=1),
        _list("FL35_OccurrenceSpans", ("BI", "BI"), CODES_MAX, _span),
        _list("FL31_OccurrenceCodes", ("BH", "BH"), CODES_MAX, _day("FL31_Date")),
        _list("FL39_ValueCodes", ("BE", "BE"), CODES_MAX, _value),
        _list("FL18_ConditionCodes", ("BG", "BG"), CODES_MAX),
    ),
    conditional=(
        placements_837.original_reference("FL64_DocumentControlNumber"),
        _provider("FL76_Attending", "2310A", **_MORE_NAMES, Taxonomy="PRV/03", License="REF:0B/02"),
        _provider("FL77_Operating", "2310B", **_MORE_NAMES),
        _provider("FL78_OtherOperating", "2310C", **_MORE_NAMES),
        _provider("FL79_Rendering", "2310D", **_MORE_NAMES),
        _provider("FL79_Referring", "2310F", **_MORE_NAMES),
        ConditionalRows(
            all_of=["X12_FacilityName", FACILITY[0], *FACILITY[-3:]],
            rows={
                "X12_FacilityName": "2310E/NM1/03",
                "X12_FacilityNpi": "2310E/NM1/09",
                **placements_837.address("2310E", FACILITY),
            },
        ),
    ),
    echoes={"FL03a_PatientControlNumber": "2300/CLM/01"},
)

OTHER: LoopTable[OtherPayerContext] = placements_837.loop_table(
    GUIDE,
    "2320",
    within=f"{ub04_view.OTHER_PAYERS}[].",
    rows={
        "FL59_PatientRelationship": "2320/SBR/02",
        "FL62_GroupNumber": "2320/SBR/03",
        "FL58_InsuredNameLast": "2330A/NM1/03",
        "FL60_InsuredId": "2330A/NM1/09",
        "FL50_PayerName": "2330B/NM1/03",
        "FL64_DocumentControlNumber": "2330B/REF:F8/02",
    },
    computed=(
        Computed("2320/SBR/01", lambda context: context.order, (), always=True),
        Computed("2320/SBR/04", other_group_name, ["FL61_GroupName"]),
        Computed(
            "2320/SBR/09",
            claim_context.first_of("X12_CoverageType"),
            ["X12_CoverageType"],
            default=claim_context.UNKNOWN_COVERAGE,
        ),
        Computed("2320/AMT:D/02", claim_context.earlier_paid, ["FL54_PriorPayments"], always=True),
        Computed(
            "2320/AMT:EAF/02",
            other_remaining_liability,
            ["X12_RemainingPatientLiability"],
            always=True,
        ),
        placements_837.earlier_adjustments(
            "2320",
            {"X12_Adjustments": "2320/CAS/02", **_adjustment_places("X12_Adjustments", "2320")},
        ),
        Computed("2320/OI/03", other_benefits, (), always=True),
        Computed("2320/OI/06", other_release, (), always=True),
        placements_837.entity_type("2330A", "FL58_InsuredNameFirst"),
        Computed(
            "2330B/NM1/09", lambda context: context.payer_id, ["FL51_HealthPlanId"], always=True
        ),
        Computed("2330B/DTP:573/03", other_decision_day, ["X12_AdjudicationDate"]),
    ),
    conditional=(
        placements_837.given_names(
            "2330A", ("FL58_InsuredNameFirst", "FL58_InsuredNameMiddle", "FL58_InsuredSuffix")
        ),
    ),
)

LINE = placements_837.loop_table(
    GUIDE,
    "2400",
    rows={
        "FL42_RevenueCode": "2400/SV2/01",
        "FL47_TotalCharges": "2400/SV2/03",
        "FL46_ServiceUnits": "2400/SV2/05",
    },
    computed=(
        Computed("2400/SV2/04", unit, (), always=True),
        placements_837.amount_unless_zero("2400/SV2/07", "FL48_NonCoveredCharges"),
    ),
    conditional=(
        ConditionalRows(
            all_of=["FL44_ProcedureCode"],
            computed=(
                Computed(
                    "2400/SV2/02",
                    procedure,
                    {
                        "FL44_ProcedureCode": "2400/SV2/02-2",
                        "FL44_Modifiers": "2400/SV2/02-3",
                        "FL43_Description": "2400/SV2/02-7",
                    },
                ),
            ),
        ),
        ConditionalRows(
            all_of=["FL45_ServiceDate"],
            computed=(
                Computed(
                    "2400/DTP:472/period",
                    service_days,
                    ["FL45_ServiceDate", "X12_LastServiceDate"],
                ),
            ),
        ),
        ConditionalRows(
            all_of=["FL43_NdcCode"],
            rows={
                "FL43_NdcCode": "2410/LIN/03",
                "X12_PrescriptionNumber": "2410/REF:XZ/02",
            },
            computed=(
                Computed("2410/CTP/04", drug_quantity, [*DRUG_UNITS]),
                Computed("2410/CTP/05-1", drug_unit, [*DRUG_UNITS]),
            ),
        ),
        _provider("X12_Rendering", "2420C"),
        _provider("X12_Referring", "2420D"),
        *(_LineOfPayer(payer).rows() for payer in range(OTHER_PAYERS_MAX)),
    ),
    echoes={"X12_LineControlNumber": "2400/REF:6R/02"},
)

TABLES = PlacementTables(
    guide=GUIDE,
    billing=BILLING,
    subscriber=SUBSCRIBER,
    patient=PATIENT,
    claim=CLAIM,
    other=OTHER,
    line=LINE,
    not_sent=NOT_SENT,
    place=bill_type,
)
