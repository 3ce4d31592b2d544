"""The code list of each element: (segment, element, component) to the name of a list.

Lists a code only if it means the same in every guide. Knows no guide.
"""

_PAIRS: dict[str, str] = {
    "AAA03": "reject_reasons",
    "AAA04": "follow_up_actions",
    "AK901": "verdicts",
    "AMT01": "amounts",
    "BPR04": "payment_methods",
    "CAS01": "adjustment_groups",
    "CLM05-3": "claim_frequencies",
    "CLP02": "claim_payment_statuses",
    "CLP06": "claim_filing",
    "CLP09": "claim_frequencies",
    "CUR02": "currencies",
    "EB01": "benefits",
    "EB02": "coverage_levels",
    "EB03": "service_types",
    "EB04": "insurance_types",
    "EB06": "time_periods",
    "EB09": "quantities",
    "EQ01": "service_types",
    "EQ03": "coverage_levels",
    "HSD01": "quantities",
    "HSD05": "time_periods",
    "IK304": "segment_errors",
    "IK403": "element_errors",
    "IK501": "verdicts",
    "INS02": "relationships",
    "LQ02": "rarc",
    "MIA05": "rarc",
    "N101": "entities",
    "N402": "states",
    "N404": "countries",
    "NM101": "entities",
    "PAT01": "relationships",
    "SBR02": "relationships",
    "SBR09": "claim_filing",
    "STC07": "payment_methods",
    "SV105": "places_of_service",
    "SV201": "revenue_codes",
    "SVC04": "revenue_codes",
    "SVD04": "revenue_codes",
    "TA104": "verdicts",
    "TA105": "ta1_notes",
}
_ROWS = [
    *((f"AK9{at:02}", "group_errors") for at in range(5, 10)),
    *((f"CAS{at:02}", "carc") for at in range(2, 19, 3)),
    *((f"IK5{at:02}", "set_errors") for at in range(2, 7)),
    *((f"MIA{at:02}", "rarc") for at in range(20, 24)),
    *((f"MOA{at:02}", "rarc") for at in range(3, 8)),
    *((f"PLB{at:02}-1", "provider_adjustments") for at in range(3, 14, 2)),
    *((f"STC{at:02}-1", "status_categories") for at in (1, 10, 11)),
    *((f"STC{at:02}-2", "statuses") for at in (1, 10, 11)),
    *((f"STC{at:02}-3", "entities") for at in (1, 10, 11)),
]


def parse_place(text: str) -> tuple[str, int, int]:
    """Parse ``STC01-2`` into segment, element and component."""
    whole, _, component = text.partition("-")
    return whole[:-2], int(whole[-2:]), int(component or 0)


LISTS: dict[tuple[str, int, int], str] = {
    parse_place(place): name for place, name in (*_PAIRS.items(), *_ROWS)
}

HEALTH_CODE_LISTS = {
    "BE": "value_codes",
    "BG": "condition_codes",
    "BH": "occurrence_codes",
    "BI": "occurrence_spans",
}
"""The list of a code in an HI, by the qualifier before it."""
