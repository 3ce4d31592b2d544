"""How a claim acknowledgement (277CA) would state what a claim rule finds, and where the rule comes from.

    status_of(RULES["C411"])            # A6, 562 (Entity's NPI), entity 85
    source_of(RULES["C431"])            # ZIP prefixes of the US Postal Service

The place of a rule in the 837 decides status and entity, as in ``code_advice``, which reads the other way: what a payer
says by these codes is shown at the field that the rule is about. Rules that say something else have rows of their own.
"""

from collections.abc import Mapping
from typing import NamedTuple

from clearlane.claims.rules.registry import (
    GUIDE_FIXES,
    GUIDE_LIMITS,
    GUIDE_REQUIRES,
    OUR_WRITER,
    V3_ALONE,
    ClaimRule,
    RuleScope,
)
from clearlane.kernel.finding import Severity

UNPROCESSABLE, MISSING, INVALID, UNRELATED = "A3", "A6", "A7", "A8"


class RuleStatus(NamedTuple):
    """What an STC says: category, status code, and the entity it concerns; an empty entity is the claim itself."""

    category: str
    status: str
    entity: str = ""


PLACE_STATUSES: Mapping[str, str] = {
    "*": "21", "2000A/PRV/03": "145 85", "2000B/SBR/01": "742", "2000B/SBR/02": "156", "2000B/SBR/05": "578",
    "2000C/PAT/01": "156", "2010AA/N3/01": "503 85", "2010AA/N4/03": "500 85", "2010AA/NM1/09": "562 85",
    "2010AA/REF/02": "128 85", "2010AA/REF:SY/02": "148 85", "2010AB/N3/01": "503 87", "2010BA/NM1/02": "125 IL",
    "2010BA/NM1/09": "164 IL", "2010BB/N3/01": "503 PR", "2010BB/NM1/09": "116", "2010CA/DMG/02": "158 QC",
    "2010CA/N3/01": "503 QC", "2300/AMT:F3/02": "565", "2300/AMT:F5/02": "183 QC", "2300/CL1/01": "231", "2300/CL1/02": "229",
    "2300/CL1/03": "234", "2300/CLM/02": "178", "2300/CLM/05-1": "228", "2300/CLM/05-3": "535",
    "2300/CLM/09": "333", "2300/CLM/11": "730", "2300/CLM/11-04": "750", "2300/CLM/19": "21", "2300/CN1/01": "548",
    "2300/CR1/04": "337", "2300/DN1/01": "605", "2300/DN2/01": "241", "2300/DTP": "21", "2300/DTP:096/03": "233", "2300/DTP:431/03": "397",
    "2300/DTP:434/03": "188", "2300/DTP:435/03": "189", "2300/DTP:439/03": "727", "2300/DTP:454/03": "701", "2300/DTP:472/03": "187",
    "2300/DTP:484/03": "191", "2300/HI": "255", "2300/HI/01": "254", "2300/HI/01-01": "255", "2300/HI/01-02": "255",
    "2300/PWK": "294", "2300/PWK/02": "294", "2300/PWK/06": "489", "2300/REF:D9/02": "54", "2300/REF:EW/02": "21",
    "2300/REF:F8/02": "464", "2300/REF:LU/02": "728", "2300/REF:X4/02": "544", "2310A/NM1/03": "504 DN", "2310B/NM1/03": "504 82",
    "2310B/NM1/09": "562 82", "2310B/REF:1G/02": "133 82", "2310C/N3/01": "503 77", "2310D/NM1/09": "562 DQ",
    "2320/AMT:D/02": "286", "2320/AMT:EAF/02": "639", "2320/SBR": "171", "2330A/NM1/03": "504 GB",
    "2330A/NM1/09": "164 GB", "2330B/DTP:573/03": "516 PRP", "2330B/NM1/09": "479", "2400/CN1/01": "548",
    "2400/DTP:441/03": "201", "2400/DTP:472/03": "187", "2400/LX/01": "121", "2400/MEA": "731", "2400/REF:6R/02": "584",
    "2400/SV1": "54", "2400/SV1/01": "454", "2400/SV1/01-02": "454", "2400/SV1/01-03": "453", "2400/SV1/01-07": "306",
    "2400/SV1/03": "659", "2400/SV1/04": "476", "2400/SV1/05": "249", "2400/SV1/07": "477", "2400/SV2/01": "455", "2400/SV2/02-01": "513",
    "2400/SV2/02-02": "454", "2400/SV2/03": "583", "2400/SV2/04": "659", "2400/SV2/05": "476", "2400/SV2/07": "596",
    "2400/SV3/01-02": "737",
    "2400/SV3/04": "245", "2400/SV3/06": "476", "2400/TOO": "242", "2400/TOO/01": "244", "2400/TOO/02": "244",
    "2400/TOO/03": "240", "2410/CTP/04": "724", "2410/CTP/05": "659", "2410/LIN/03": "218", "2420A/NM1/03": "504 82",
    "2420A/NM1/09": "562 82", "2420A/REF/02": "560 82", "2420F/NM1/03": "504 DN", "2430/AMT:EAF/02": "639",
    "2430/CAS": "519", "2430/CAS/02": "521", "2430/SVD/02": "672", "2430/SVD/05": "608", "CAS": "519", "CAS/02": "521",
    "CAS/03": "519", "DMG/02": "158", "DTP/03": "21", "N4/02": "501", "N4/03": "500", "NM1/03": "504", "NM1/04": "505",
    "NM1/09": "562", "PER/04": "127", "PRV/03": "145", "REF/02": "21",
}  # fmt: skip
"""Status and entity by the place that a rule is about. A place without a loop concerns whom the finding names."""
GUIDE_STATUSES: Mapping[str, str] = {
    "2300/CLM/01": "478", "2300/CLM/05": "249", "2400/SV1/02": "583", "2400/SV3/01": "454", "2400/SV3/02": "583",
    "2400/SV3/03": "249", "DMG/03": "157", "N3/01": "503", "N4/01": "502",
    **{f"2300/HI/{element:02}": "255" for element in range(2, 13)},
}  # fmt: skip
"""The same of places that no claim rule is about, only the guide."""
RULE_STATUSES: Mapping[str, str] = {
    "C106": "24 85", "C151": "718", "C158": "254", "C301": "512", "C302": "512", "C303": "511", "C311": "693",
    "C314": "476", "C504": "772", "C508": "254", "C521": "254", "C522": "254", "C524": "86", "C605": "251",
    "C755": "672", "C768": "693", "C802": "510", "C806": "510", "D111": "246", "D116": "187",
    "I108": "510", "I111": "230", "I130": "509", "I133": "232", "I134": "673", "I135": "673", "I136": "688", "I137": "688", "I138": "688", "I141": "490",
    "I143": "490", "I144": "490", "I145": "562 72", "I146": "256", "I147": "256", "I148": "460", "I149": "719", "I150": "721", "I250": "721", "I151": "725",
    "I152": "456", "I153": "456", "I154": "720", "I157": "725", "I158": "460", "I159": "562 71", "I161": "504 72", "I162": "562 82", "I163": "562 DN",
    "I192": "725", "I292": "725", "I248": "460", "I251": "725", "I254": "719", "I160": "145 71", "I191": "286",
    "I197": "460", "I199": "116", "I213": "675", "I249": "719", "I354": "728",
}  # fmt: skip
"""Rules that a status says better than their place does."""

_CATEGORIES = {
    UNPROCESSABLE: "C101 C102 C103 C104 C105 C106 C107 C108 C110 C112 C120 C602",
    MISSING: (
        "C111 C153 C154 C155 C156 C157 C202 C210 C402 C403 C404 C407 C408 C409 C411 C412 C413 C416 C418 C507 C509 C603 "
        "C606 C607 C608 C609 C618 C651 C652 C751 C753 C757 C760 C763 C766 C767 C808 C812 C851 C853 C901 C905 C907 D103 "
        "D105 D107 D111 D114 D119 D120 I110 I111 I114 I119 I122 I134 I136 I145 I153 I157 I159 I161 I170 I172 I177 I184 "
        "I192 I272"
    ),
    UNRELATED: (
        "C113 C158 C201 C203 C204 C207 C405 C406 C410 C415 C417 C431 C432 C501 C505 C508 C510 C512 C513 C521 C522 C523 C524 "
        "C604 C612 C613 C617 C662 C664 C665 C701 C702 C752 C754 C755 C756 C761 C762 C764 C801 C803 C805 C807 C809 C810 "
        "C811 C852 C854 C855 C902 C909 D101 D104 D110 D113 D115 D116 D117 D118 I103 I113 I115 I121 I123 I124 I125 I126 "
        "I135 I138 I143 I144 I152 I154 I158 I162 I163 I171 I173 I174 I178 I179 I182 I194 I197 I198 I213 I223 I249"
    ),
}
CATEGORIES = {id: category for category, ids in _CATEGORIES.items() for id in ids.split()}

GUIDE = "X12 837 guide"
PAYERS = "what payers publish as reasons to reject"
INSTALLATION = "this installation's records"
DIRECTORY = "the payer, by the payer directory"
WRITING = "how a claim of V3 becomes an 837"
_SOURCES = {
    "45 CFR 162.1002": "C501",
    "ICD-10-CM, CMS and NCHS": "C502 C503 C504 C513",
    "Medicare Code Editor, CMS": "C508 C521 C522 C523 C524",
    "CPT, AMA": "C605 C606 C613 C614 C615 C616 C617 C667",
    "CPT, HCPCS and CDT: codes without a meaning of their own": "C603",
    "CDT, ADA": "C601 C668 D101 D105 D107 D117 D119 D120",
    "HCPCS level II, CMS": "C666 C671",
    "NCCI edits, CMS": "C664 C665",
    "places of service, CMS": "C641 C808",
    "Medicare beneficiary identifier, CMS": "C211",
    "CLIA, CMS": "C903",
    "mammography quality standards, FDA": "C904 C905",
    "national drug codes, FDA": "C320 C663",
    "NPI standard and registry, CMS": "C304 C661 C662",
    "taxonomy, NUCC": "C308 C669",
    "ZIP prefixes, US Postal Service": "C431",
    "Universal Postal Union": "C432",
    "numbers never issued, Social Security Administration": "C414",
    "claim adjustment reason codes, X12": "C316 C670 C757",
    "X12 837I guide and its interpretations": "I110 I111 I112 I113 I114 I115 I122 I133 I135 I161 I162 I163 I164 I159",
    "types of bill and codes of the UB-04, NUBC": (
        "I101 I201 I103 I117 I118 I119 I120 I121 I123 I124 I134 I148 I149 I150 I250 I151 I152 I153 I154 I169 I269 I170 I171 I172 I173 I174 I175 "
        "I177 I178 I223 I249 I272"
    ),
    "Medicare manuals and editors, CMS": (
        "I108 I125 I126 I132 I136 I138 I143 I144 I157 I158 I179 I180 I184 I185 I192 I197 I198 I213"
    ),
    "ICD-10-PCS, CMS": "I141",
}
SOURCES = {id: source for source, ids in _SOURCES.items() for id in ids.split()}


def status_of(rule: ClaimRule) -> RuleStatus | None:
    """Return how an acknowledgement would state what a rule finds; None for a rule that only notes something."""
    if rule.severity is Severity.INFO:
        return None
    status, _, entity = RULE_STATUSES.get(rule.id, PLACE_STATUSES[rule.x12]).partition(" ")
    return RuleStatus(CATEGORIES.get(rule.id, INVALID), status, entity)


def source_of(rule: ClaimRule) -> str:
    """Return where a rule comes from."""
    if rule.id in SOURCES:
        return SOURCES[rule.id]
    if rule.edit:
        return DIRECTORY
    if rule.requires is not None:
        return INSTALLATION
    if rule.not_in_files in (OUR_WRITER, V3_ALONE):
        return WRITING
    is_guide = rule.scope is RuleScope.VALUE or rule.fixed == GUIDE_FIXES
    return GUIDE if is_guide or rule.not_in_files in (GUIDE_REQUIRES, GUIDE_LIMITS) else PAYERS
