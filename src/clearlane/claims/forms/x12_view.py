"""Where the values of a claim are in an 837, and what the trade calls them.

A table a loop: the path of a value in the view, and its place in the loop (``REF:F8/02``: the second element of the REF
whose first is F8; ``CLM/05-3``: a component; ``SV1/07-1-4``: a list of components). A value with several places takes the
first that is filled. The transactions share the tables; a row whose place the guide of a transaction lacks is left out
of its form (``forms.x12_form``). The type of a value is that of its attribute in the view.
"""

from collections.abc import Mapping
from types import MappingProxyType

Rows = Mapping[str, str]
"""The places of values by path."""

QUALIFIED_AT = {"PER": 3, "LIN": 2, "DN2": 2}
"""The element that tells uses of a segment apart, if it is not the first."""

_NAME = {
    "last_name": "NM1/03",
    "first_name": "NM1/04",
    "middle_name": "NM1/05",
    "suffix": "NM1/07",
}
_ADDRESS = {
    "street": "N3/01",
    "street2": "N3/02",
    "city": "N4/01",
    "state": "N4/02",
    "zip": "N4/03",
    "country": "N4/04",
}
_PERSON = {
    **_NAME,
    "entity_type": "NM1/02",
    **_ADDRESS,
    "birth": "DMG/02",
    "sex": "DMG/03",
    "phone": "PER:TE/04",
}
_MEMBER = {"member_id_type": "NM1/08", "member_id": "NM1/09"}
_PAYER = {"name": "NM1/03", "id": "NM1/09", **_ADDRESS}
_PROVIDER = {
    **_NAME,
    "npi": "NM1/09",
    "taxonomy": "PRV/03",
    "license": "REF:0B/02",
    "upin": "REF:1G/02",
    "commercial_number": "REF:G2/02",
    "location_number": "REF:LU/02",
    **_ADDRESS,
}
_REFERRER = {**_NAME, "npi": "NM1/09", "other_id": "REF:G2/02"}
_CONTRACT = {"contract.type": "CN1/01", "contract.amount": "CN1/02", "contract.code": "CN1/04"}


def _of(part: str, rows: Rows) -> dict[str, str]:
    return {f"{part}.{name}": place for name, place in rows.items()}


ROLES = MappingProxyType(
    {
        "82": "rendering",
        "DN": "referring",
        "DQ": "supervising",
        "DK": "ordering",
        "71": "attending",
        "72": "operating",
        "ZZ": "other_operating",
        "77": "facility",
        "PW": "pick_up",
        "45": "drop_off",
    }
)
"""The providers of a claim or a line, by the code of their NM1."""
_PROVIDERS = {
    "rendering": _PROVIDER,
    "referring": _REFERRER,
    "supervising": _REFERRER,
    "ordering": _REFERRER,
    "attending": _PROVIDER,
    "operating": _PROVIDER,
    "other_operating": _PROVIDER,
    "facility": _PROVIDER,
    "pick_up": _ADDRESS,
    "drop_off": _ADDRESS,
}
PROVIDER_ROWS = {code: _of(role, _PROVIDERS[role]) for code, role in ROLES.items()}

AROUND: Mapping[str, Rows] = {
    "2000A": {"billing.taxonomy": "PRV/03"},
    "2010AA": _of(
        "billing",
        {
            **_NAME,
            "npi": "NM1/09",
            **_ADDRESS,
            "license": "REF:0B/02",
            "upin": "REF:1G/02",
            "ein": "REF:EI/02",
            "ssn": "REF:SY/02",
            "phone": "PER:TE/04",
        },
    ),
    "2010AB": _of("pay_to", _ADDRESS),
    "2000B": {
        "subscriber.relationship": "SBR/02",
        "subscriber.group_number": "SBR/03",
        "subscriber.plan_name": "SBR/04",
        "medicare_reason": "SBR/05",
        "payer.coverage": "SBR/09",
    },
    "2010BA": _of("subscriber", {**_PERSON, **_MEMBER}),
    "2010BB": {**_of("payer", _PAYER), "billing.commercial_number": "REF:G2/02"},
    "2000C": {"subscriber.relationship": "PAT/01"},
    "2010CA": _of("patient", _PERSON),
}
"""The loops around a claim, and in those."""
AROUND_PARTS = MappingProxyType(
    {
        "2000A": "billing",
        "2010AA": "billing",
        "2010AB": "pay_to",
        "2000B": "subscriber",
        "2010BA": "subscriber",
        "2010BB": "payer",
        "2000C": "patient",
        "2010CA": "patient",
    }
)
"""The parts of the view that these loops are about; the inner loop if there is one."""

_DATES = {
    "onset": "431",
    "last_menstrual_period": "484",
    "initial_treatment": "454",
    "last_seen": "304",
    "acute_manifestation": "453",
    "accident": "439",
    "last_x_ray": "455",
    "prescription": "471",
    "assumed_care_from": "090",
    "assumed_care_until": "091",
    "first_contact": "444",
    "last_worked": "297",
    "return_to_work": "296",
    "admission": "435",
    "service": "472",
    "appliance_placed": "452",
}
CLAIM: Rows = {
    "vendor_claim_id": "CLM/01",
    "account_number": "CLM/01",
    "total_charge": "CLM/02",
    "frequency": "CLM/05-3",
    "signature_on_file": "CLM/06",
    "accepts_assignment": "CLM/07",
    "benefits_assigned": "CLM/08",
    "release": "CLM/09",
    "causes": "CLM/11-1-3",
    "accident_state": "CLM/11-4 CLM/11-5",
    "is_predetermination": "CLM/19",
    "delay_reason": "CLM/20",
    **{f"dates.{name}": f"DTP:{code}/03" for name, code in _DATES.items()},
    "dates.disability_from": "DTP:314/03 DTP:360/03",
    "dates.disability_until": "DTP:314/03 DTP:361/03",
    "orthodontic_months": "DN1/01",
    **_CONTRACT,
    "patient_paid": "AMT:F5/02",
    "prior_authorization": "REF:G1/02",
    "predetermination_id": "REF:G3/02",
    "referral_number": "REF:9F/02",
    "clia_number": "REF:X4/02",
    "mammography_number": "REF:EW/02",
    "original_reference": "REF:F8/02",
    "medical_record_number": "REF:EA/02",
    "note": "NTE/02",
    "patient_condition": "CR2/08",
    "transport_reason": "CR1/04",
}
OTHER_PAYER: Mapping[str, Rows] = {
    "2320": {
        "insured.relationship": "SBR/02",
        "insured.group_number": "SBR/03",
        "plan_name": "SBR/04",
        "coverage": "SBR/09",
        "decision.paid": "AMT:D/02",
    },
    "2330A": _of("insured", {**_NAME, "entity_type": "NM1/02", **_MEMBER, **_ADDRESS}),
    "2330B": {**_PAYER, "decision.day": "DTP:573/03"},
}
LINE: Rows = {
    "control_number": "REF:6R/02",
    "first_day": "DTP:472/03",
    "last_day": "DTP:472/03",
    **_CONTRACT,
    "measurement.reference": "MEA/01",
    "measurement.qualifier": "MEA/02",
    "measurement.value": "MEA/03",
    "note": "NTE/02",
}
DRUG: Rows = {
    "drug.code": "LIN:N4/03",
    "drug.prescription": "REF:XZ/02",
    "drug.link": "REF:VY/02",
}
DRUG_UNITS = MappingProxyType(
    {
        "F2": "international_units",
        "GR": "grams",
        "ME": "milligrams",
        "ML": "milliliters",
        "UN": "units",
    }
)
LINE_DECISION: Rows = {"decision.paid": "SVD/02", "decision.units": "SVD/05"}
# Values of the claim that an 837 states with its lines; the first line that has one counts.
CLAIM_IN_LINES: Rows = {"replaces_prosthesis": "SV3/05", "dates.prior_placement": "DTP:441/03"}

CODE_LISTS = MappingProxyType(
    {
        **dict.fromkeys(("ABK", "BK", "ABF", "BF"), "diagnoses"),
        **dict.fromkeys(("ABJ", "BJ"), "admitting_diagnosis"),
        **dict.fromkeys(("APR", "PR"), "visit_reasons"),
        **dict.fromkeys(("ABN", "BN"), "external_causes"),
        **dict.fromkeys(("BBR", "BR", "CAH", "BBQ", "BQ"), "procedures"),
        "DR": "drg",
        "BI": "occurrence_spans",
        "BH": "occurrences",
        "BE": "value_codes",
        "BG": "condition_codes",
        "TC": "treatment_codes",
    }
)
"""The codes of an institutional claim in the view, by their code list (HI01-1)."""
OWN_OF_CLAIM: Mapping[str, Rows] = {
    "837P": {"place": "CLM/05-1", "dates.discharge": "DTP:096/03"},
    "837D": {"place": "CLM/05-1"},
    # CLM05-1 is the type of bill, and DTP*096 the hour of the discharge.
    "837I": {
        "accident_state": "REF:LU/02",
        **_of(
            "institutional",
            {
                "bill_type": "CLM/05-1",
                "first_day": "DTP:434/03",
                "last_day": "DTP:434/03",
                "admission_time": "DTP:435/03",
                "discharge_hour": "DTP:096/03",
                "admission_type": "CL1/01",
                "origin": "CL1/02",
                "status": "CL1/03",
                "patient_share": "AMT:F3/02",
                **{
                    path: f"HI:{listed}/01-2" for listed, path in reversed(list(CODE_LISTS.items()))
                },
            },
        ),
    },
}
OWN_OF_LINE: Mapping[str, Rows] = {
    "837P": {
        "procedure": "SV1/01-2",
        "modifiers": "SV1/01-3-6",
        "description": "SV1/01-7",
        "charge": "SV1/02",
        "in_minutes": "SV1/03",
        "units": "SV1/04",
        "place": "SV1/05",
        "pointers": "SV1/07-1-4",
        "emergency": "SV1/09",
        "epsdt": "SV1/11",
        "family_planning": "SV1/12",
    },
    "837D": {
        "procedure": "SV3/01-2",
        "modifiers": "SV3/01-3-6",
        "description": "SV3/01-7",
        "charge": "SV3/02",
        "place": "SV3/03",
        "areas": "SV3/04-1-5",
        "units": "SV3/06",
        "pointers": "SV3/11-1-4",
        "tooth_system": "TOO/01",
    },
    "837I": {
        "revenue_code": "SV2/01",
        "procedure_type": "SV2/02-1",
        "procedure": "SV2/02-2",
        "modifiers": "SV2/02-3-6",
        "description": "SV2/02-7",
        "charge": "SV2/03",
        "unit": "SV2/04",
        "units": "SV2/05",
        "not_covered": "SV2/07",
    },
}

OWNERS = MappingProxyType(
    {
        "billing": "billing provider's",
        "pay_to": "pay-to address's",
        "payer": "payer's",
        "subscriber": "subscriber's",
        "patient": "patient's",
        "rendering": "rendering provider's",
        "referring": "referring provider's",
        "supervising": "supervising provider's",
        "ordering": "ordering provider's",
        "attending": "attending provider's",
        "operating": "operating physician's",
        "other_operating": "other operating physician's",
        "institutional": "claim's",
        "facility": "service facility's",
        "pick_up": "pick-up address's",
        "drop_off": "drop-off address's",
        "contract": "contract's",
        "dates": "day of",
        "other_payers[]": "other payer's",
        "other_payers[].insured": "other insured's",
        "other_payers[].decision": "other payer's",
        "other_payers[].decision.groups": "other payer's adjustments",
        "attachments[]": "attachment's",
        "lines[]": "line's",
        "lines[].rendering": "line's rendering provider's",
        "lines[].referring": "line's referring provider's",
        "lines[].contract": "line's contract",
        "lines[].measurement": "measurement's",
        "lines[].drug": "drug's",
        "lines[].decision": "line's",
        "lines[].teeth[]": "tooth's",
    }
)
"""What a sentence calls the part of the view that a value is in."""
COMPONENTS = MappingProxyType(
    {
        "institutional.admission_hour": "the hour and minute too (DTP*435 with DT)",
        "institutional.diagnoses[].present_on_admission": "the ninth component of the diagnosis",
        "institutional.external_causes[].present_on_admission": "the ninth component of the diagnosis",
        "institutional.value_codes[].amount": "the fifth component of the value code",
    }
)
"""What a sentence calls a component of a list that has no row of its own."""
WORDS = MappingProxyType(
    {
        "npi": "NPI",
        "ein": "EIN",
        "ssn": "SSN",
        "upin": "UPIN",
        "zip": "ZIP code",
        "id": "id",
        "street2": "second line of the street",
        "vendor_claim_id": "claim number",
        "member_id": "member number",
        "frequency": "claim frequency",
        "original_reference": "payer's number of the earlier claim",
        "clia_number": "CLIA number",
        "icd_version": "code list of the diagnoses",
        "in_minutes": "unit MJ",
        "causes": "cause of the condition",
        "accident_state": "state of the accident",
        "medicare_reason": "reason why Medicare pays second",
        "remaining_liability": "amount that the patient still owes",
        "is_orthodontic": "orthodontic treatment",
        "replaces_prosthesis": "mark of a replacement",
        "accident": "the accident",
        "day": "day of decision",
        "paid": "paid amount",
        "birth": "birth date",
        "place": "place of service",
        "last_x_ray": "the last X-ray",
        "last_menstrual_period": "the last menstrual period",
        "report_type": "type of report",
        "bill_type": "type of bill",
        "admission_time": "day and hour of admission",
        "origin": "point of origin",
        "status": "patient status",
        "patient_share": "amount that the patient is expected to owe",
        "drg": "diagnosis related group",
        "visit_reasons": "reasons for the visit",
        "first_day": "day",
        "not_covered": "charge that is not covered",
        "unit": "unit of the quantity",
    }
)
"""What a sentence calls a value, if its attribute does not say it."""
