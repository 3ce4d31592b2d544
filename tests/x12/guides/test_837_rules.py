"""Every rule about claims fails where it should and is silent where it should.

Also tests `x12/rules/claims_parts`, `x12/rules/claims_people`, `x12/rules/claims_lines`, `x12/rules/claims_cob` and
`x12/rules/claims_dental`.
"""

from random import Random

import pytest

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import (
    CLAIM_NUMBERS_REMEMBERED_MAX,
    CLAIMS_PER_SET_MAX,
    CONTROL_NUMBERS_REMEMBERED_MAX,
)
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import parse
from clearlane.x12.rules import RULES, RuleContext, rules_for
from tests.cases import every_case, full_or_quick
from tests.x12 import samples837
from tests.x12.findings_of import all_findings
from tests.x12.injected_faults import FAULTS, GOOD, D, Fault, P, good, inject

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
KINDS = ("837P", "837D", "837I")

# More ways to break a rule than the injected faults have, and how much each weighs.
BROKEN: tuple[tuple[Fault, Severity], ...] = (
    (Fault("no subscriber's claim", "CLM*A100", "", "X837-NO-PATIENT", position="HL*2"), ERROR),
    (Fault("cause in employment without a day", "CLM*A100", "CLM*A100*250***11:B:1*Y*A*Y*Y**EM", "X837-ACCIDENT-DATE"), WARNING),
    (Fault("diagnosis twice", "HI*ABK", "HI*ABK:K029*ABF:K029", "X837-ICD-TWICE"), WARNING),
    (Fault("pointer twice", "SV1*HC:99213", "SV1*HC:99213:25*150*UN*1***1:1", "X837-POINTER", P), WARNING),
    (Fault("pointer without a diagnosis", "HI*ABK", "", "X837-POINTER", D, position="SV3*AD:D2392"), ERROR),
    (Fault("patient paid more than the charge", "AMT*F5", "AMT*F5*201", "X837-PAID"), WARNING),
    (Fault("negative charge", "SV1*HC:36415", "SV1*HC:36415*-100*UN*1***1", "X837-CHARGE", P), WARNING),
    (Fault("negative units", "SV1*HC:36415", "SV1*HC:36415*100*UN*-1***1", "X837-UNITS", P), WARNING),
    (Fault("place repeated", "SV1*HC:36415", "SV1*HC:36415*100*UN*1*11**1", "X837-PLACE-AGAIN", P), INFO),
    (Fault("place repeated", "SV3*AD:D4341", "SV3*AD:D4341*100*11*10**1", "X837-PLACE-AGAIN", D), INFO),
    (Fault("line without a control number", "REF*6R*A100L1", "", "X837-LINE-CONTROL", P, position="SV1*HC:99213"), INFO),
    (Fault("line without a control number", "REF*6R*A100L1", "", "X837-LINE-CONTROL", D, position="SV3*AD:D2392"), INFO),
    (Fault("a day sent as a period", "DTP*472*D8*20250210", "DTP*472*RD8*20250210-20250210", "X837-PERIOD", P), INFO),
    (Fault("referring after rendering provider", "PRV*PE", "NM1*DN*1*FENN*OSKAR****XX*1679576722", "X837-PROVIDER-ORDER"), INFO),
    (Fault("facility is where the billing provider is", "PRV*PE", "NM1*77*2*CLINIC*****XX*1679576722~N3*12 ALDER STREET~N4*PORTLAND*OR*972011234", "X837-FACILITY-AGAIN"), INFO),
    (Fault("referring provider with a last name alone", "NM1*82", "NM1*DN*1*QUILL~NM1*82*1*FENN*OSKAR****XX*1679576722", "X837-NAME", position="NM1*DN"), WARNING),
    (Fault("orthodontics without elements", "DN1", "DN1", "SEG-BARE", D), ERROR),
    (Fault("no drug", "CTP", "CTP****0*ML", "X837-DRUG-QUANTITY", P), WARNING),
    (Fault("malformed CLIA number", "REF*D9", "REF*X4*12345", "X837-CLIA", P), WARNING),
    (Fault("coverage of no kind", "SBR*P*18", "SBR*P*18*GRP100", "X837-FILING"), WARNING),
    (Fault("group number and name", "SBR*P*18", "SBR*P*18*GRP100*GROUP*****CI", "X837-GROUP-NAME"), INFO),
    (Fault("reason without Medicare", "SBR*S", "SBR*S**GRP200**12****CI", "X837-MEDICARE"), WARNING),
    (Fault("first Medicare with a reason", "SBR*P*18", "SBR*P*18*GRP100**12****MB", "X837-MEDICARE"), WARNING),
    (Fault("a second payer without a first", "SBR*P*18", "SBR*S*18*GRP100******CI", "X837-FIRST-PAYER"), ERROR),
    (Fault("second Medicare without a reason", "SBR*S", "SBR*S**GRP200******MB", "X837-MEDICARE"), ERROR),
    (Fault("other Medicare that is second without a reason", "SBR*P*19", "SBR*T*19*GRP300******MA", "X837-MEDICARE"), ERROR),
    (Fault("day of an accident of no kind", "CLM*B200", "CLM*B200*200***11:B:1*Y*A*Y*Y", "X837-ACCIDENT-CAUSE", position="DTP*439"), ERROR),
    (Fault("two referring providers", "NM1*82", "NM1*DN*1*QUILL*TESSA~NM1*DN*1*LUND*IVO~NM1*82*1*FENN*OSKAR****XX*1679576722", "X837-REFERRAL", position="NM1*DN*1*LUND"), ERROR),
    (Fault("two referring providers of a line", "REF*6R*A100L1", "REF*6R*A100L1~NM1*P3*1*QUILL*TESSA~NM1*P3*1*LUND*IVO", "X837-REFERRAL", P, position="NM1*P3*1*LUND"), ERROR),
    (Fault("trace number of 21 characters", "REF*D9", "REF*D9*" + "T" * 21, "ELM-LONG"), ERROR),
    (Fault("line adjusted by nothing", "CAS*PR*1", "CAS*PR*1*40**2*0", "X837-COB-ZERO"), WARNING),
    (Fault("claim adjusted by nothing", "AMT*D", "CAS*CO*45*0~AMT*D*120", "X837-COB-ZERO"), WARNING),
    (Fault("psychiatric inpatient without an admission", "CLM*A100", "CLM*A100*250***51:B:1*Y*A*Y*Y", "X837-ADMISSION", P), WARNING),
    (Fault("rehabilitation without an admission", "CLM*A100", "CLM*A100*250***61:B:1*Y*A*Y*Y", "X837-ADMISSION", P), WARNING),
    (Fault("rest to pay at both levels", "AMT*D", "AMT*D*120~AMT*EAF*50", "X837-COB-REST", position="AMT*EAF*50"), ERROR),
    (Fault("rendering provider is the billing provider", "NM1*82", "NM1*82*1*FENN*OSKAR****XX*1234567893", "X837-PROVIDER-AGAIN"), INFO),
    (Fault("rendering provider repeated", "REF*6R*A100L1", "REF*6R*A100L1~NM1*82*1*FENN*OSKAR****XX*1679576722", "X837-PROVIDER-AGAIN", position="NM1*82*1*FENN*OSKAR"), INFO),
    (Fault("rest to pay without a decision", "AMT*D", "AMT*EAF*5", "X837-COB-PAID", position="SBR*P*19"), ERROR),
    (Fault("rest to pay before any decision", "LX*1", "SBR*S*18*GRP400******CI~AMT*EAF*5~OI***Y***Y~NM1*IL*1*LUND*IVO****MI*M4~NM1*PR*2*SUMMIT DENTAL*****PI*SD001~LX*1", "X837-COB-PAID", position="AMT*EAF"), WARNING),
    (Fault("adjusted and not paid", "AMT*D", "CAS*CO*45*1", "X837-COB-PAID", position="SBR*P*19"), ERROR),
    (Fault("adjustments at both levels", "AMT*D", "CAS*CO*45*1~AMT*D*119", "X837-COB-LEVELS"), INFO),
    (Fault("adjustments at both levels, one left out", "AMT*D", "CAS*CO*45*1*****96*2~AMT*D*117", "X837-COB-LEVELS"), INFO),
    (Fault("not covered in part", "AMT*D", "AMT*D*120~AMT*A8*5", "X837-COB-UNCOVERED", position="AMT*A8"), WARNING),
    (Fault("decision of one without an id", "NM1*PR*2*SUMMIT", "NM1*PR*2*SUMMIT DENTAL", "ELM-MISSING"), ERROR),
    (Fault("tooth twice", "TOO*JP*14", "TOO*JP*14*M:O~TOO*JP*14*D", "X837D-TOOTH-TWICE", D, position="TOO*JP*14*D"), WARNING),
    (Fault("buccal side of a canine", "TOO*JP*14", "TOO*JP*C*M:B", "X837D-SURFACE", D), WARNING),
    (Fault("facial side of a molar", "TOO*JP*14", "TOO*JP*64*M:F", "X837D-SURFACE", D), WARNING),
    (Fault("incisal edge of a milk molar", "TOO*JP*14", "TOO*JP*AS*I", "X837D-SURFACE", D), WARNING),
    (Fault("orthodontics without months", "SV3*AD:D4341", "SV3*AD:D8080*100**10**1", "X837D-ORTHODONTICS", D, position="SV3*AD:D8080"), WARNING),
)  # fmt: skip


def found_in(data: bytes, rule: str):
    return [f for f in all_findings(parse(data)) if f.rule == rule]


CASES = [(kind, fault, severity) for fault, severity in BROKEN for kind in fault.kinds]


@every_case(("kind", "fault", "severity"), CASES, ids=[f"{k} {f.name}" for k, f, _ in CASES])
def test_a_broken_rule_is_reported(kind, fault, severity):
    data, position = inject(kind, fault)
    if fault.name == "orthodontics without months":
        data = data.replace(b"DN1*24*20~\n", b"")
    if fault.name == "rest to pay at both levels":
        data = data.replace(b"DTP*573*D8*20250202~\n", b"DTP*573*D8*20250202~\nAMT*EAF*5~\n")
    found = found_in(data, fault.rule)
    assert [f.severity for f in found][:1] == [severity]
    assert position in {f.position.segment for f in found} or "without months" in fault.name


@pytest.mark.parametrize(
    ("find", "to", "rule"),
    [
        ("SV1*HC:36415", "SV1*HC:36415*0*UN*1***1", "X837-CHARGE"),
        ("SBR*P*18", "SBR**18*GRP100******CI", "X837-FIRST-PAYER"),  # which is missing, and said so
    ],
)
def test_a_rule_is_silent_beside_its_limit(find, to, rule):
    data, _ = inject("837P", Fault("beside the limit", find, to, ""))
    assert found_in(data, rule) == []


def test_a_car_accident_is_found_beside_another_cause():
    fault = Fault("two causes", "CLM*B200", "CLM*B200*200***11:B:1*Y*A*Y*Y**OA:AA", "")
    data, _ = inject("837P", fault)
    assert found_in(data, "X837-ACCIDENT-STATE")


def test_orthodontics_without_months_are_reported_at_the_procedure():
    fault = next(fault for fault, _ in BROKEN if "without months" in fault.name)
    data, _ = inject("837D", fault)
    [found] = found_in(data.replace(b"DN1*24*20~\n", b""), fault.rule)
    at = found.position
    assert (at.segment_id, at.element, at.component) == ("SV3", 1, 2)


def test_every_rule_about_claims_has_a_test_that_breaks_it():
    broken = {fault.rule for fault in FAULTS} | {fault.rule for fault, _ in BROKEN}
    rules_for("837P")
    own_rules = {id for id, rule in RULES.items() if set(rule.kinds) & set(KINDS)}
    assert own_rules - broken == {"X837-COUNT", "X837-NO-CLAIM", "X837-BATCH-TWICE"}, (
        "those three have tests of their own below"
    )


def test_an_unlisted_procedure_may_be_described_in_its_line():
    described = Fault("described", "SV1*HC:36415", "SV1*HC:99499:::::PANEL*100*UN*1***1", "")
    data, _ = inject("837P", described)
    assert found_in(data, "X837-UNLISTED") == []


@pytest.mark.parametrize(("place", "is_known"), [("OR", True), (":MX", True), ("", False)])
def test_a_car_accident_was_in_a_state_or_in_a_country(place, is_known):
    to = f"CLM*B200*200***11:B:1*Y*A*Y*Y**AA:::{place}".rstrip(":")
    data, _ = inject("837P", Fault("car accident", "CLM*B200", to, ""))
    assert (found_in(data, "X837-ACCIDENT-STATE") == []) is is_known


def test_a_mixed_icd_version_is_reported_with_the_element_that_differs():
    mixed = next(fault for fault in FAULTS if fault.rule == "X837-ICD-MIX")
    data, _ = inject("837P", mixed)
    [finding] = found_in(data, "X837-ICD-MIX")
    assert finding.message == "HI02-1 must be of ICD-10 like the codes before it"


def test_a_cause_that_is_no_code_asks_for_no_day():
    odd = Fault("odd cause", "CLM*A100", "CLM*A100*250***11:B:1*Y*A*Y*Y**ZZ", "ELM-CODE")
    data, _ = inject("837P", odd)
    assert [f.rule for f in all_findings(parse(data))] == ["ELM-CODE"]


def test_the_memory_for_claim_numbers_is_bounded():
    read = next(parse("".join(row + "~" for row in good("837P")).encode()).sets())
    claim = next(read.root.descendants("2300"))
    full = set(map(str, range(CLAIM_NUMBERS_REMEMBERED_MAX)))
    context = RuleContext("837P", read.header, {}, [read.root], {"837-numbers": full})
    assert list(RULES["X837-NUMBER-TWICE"].check(claim, context)) == []
    assert len(full) == CLAIM_NUMBERS_REMEMBERED_MAX


def test_the_memory_for_batch_numbers_is_bounded():
    read = next(parse("".join(row + "~" for row in good("837P")).encode()).sets())
    full = set(map(str, range(CONTROL_NUMBERS_REMEMBERED_MAX)))
    context = RuleContext("837P", read.header, {}, [], {"837-batches": full})
    assert list(RULES["X837-BATCH-TWICE"].check(read.root, context)) == []
    assert len(full) == CONTROL_NUMBERS_REMEMBERED_MAX


def test_claim_and_batch_numbers_are_remembered_from_set_to_set():
    rows = good("837P")
    start, end = (next(i for i, r in enumerate(rows) if r[:3] == id) for id in ("ST*", "SE*"))
    again = [
        r.replace("*0017", "*0018") if r[:2] in {"ST", "SE"} else r for r in rows[start : end + 1]
    ]
    both = [*rows[: end + 1], *again, "GE*2*17", rows[-1]]
    data = "".join(row + "~" for row in both).encode()
    found = [(f.rule, f.position.set, f.position.segment_id) for f in check(data).findings]
    assert found == [
        ("X837-NUMBER-TWICE", 2, "CLM"),
        ("X837-NUMBER-TWICE", 2, "CLM"),
        ("X837-BATCH-TWICE", 2, "BHT"),
    ]


def test_no_rule_speaks_of_a_good_file():
    for kind in GOOD:
        data = "".join(row + "~" for row in good(kind)).encode()
        assert [f.rule for f in all_findings(parse(data))] == []


def test_every_rule_has_a_sentence():
    for id, rule in RULES.items():
        assert rule.sentence.endswith("."), id


def test_a_set_without_a_claim_is_reported():
    rows = good("837P")
    start = next(i for i, row in enumerate(rows) if row.startswith("CLM*A100"))
    end = next(i for i, row in enumerate(rows) if row.startswith("SE"))
    data = "".join(row + "~" for row in rows[:start] + rows[end:]).encode()
    assert found_in(data, "X837-NO-CLAIM")


@pytest.mark.slow
def test_more_claims_than_a_set_should_hold_are_reported_once():
    rows = samples837.plain("837P")
    start = next(i for i, row in enumerate(rows) if row[0] == "CLM")
    claim = rows[start:-1]
    many = [
        ["CLM", f"N{n}", *row[2:]] if row[0] == "CLM" else row
        for n in range(5_001)
        for row in claim
    ]
    rows = [*rows[:start], *many, ["SE", str(start + len(many) + 1), "0001"]]
    data = samples837.interchange("837P", [rows]).encode()
    found = found_in(data, "X837-COUNT")
    assert [f.severity for f in found] == [WARNING]
    assert f"{CLAIMS_PER_SET_MAX:,}" in found[0].message


@pytest.mark.parametrize(("kind", "most"), [("837P", 50), ("837D", 50), ("837I", 999)])
def test_a_claim_has_so_many_lines_and_no_more(kind, most):
    for lines, rules in ((most, []), (most + 1, ["LOOP-REPEAT"])):
        rows = samples837.plain(kind)
        first, second = (i for i, row in enumerate(rows) if row[0] == "LX")
        line = [[*row] for row in rows[first:second]]
        many = [[*row] for _ in range(lines) for row in line]
        number = 0
        for row in many:
            number += row[0] == "LX"
            row[:] = {"LX": ["LX", str(number)], "REF": ["REF", "6R", f"L{number}"]}.get(
                row[0], row
            )
        rows[first:-1] = many
        charge_at = 3 if kind == "837I" else 2
        charge = round(float(next(row[charge_at] for row in line if row[0][:2] == "SV")) * 100)
        next(row for row in rows if row[0] == "CLM")[2] = samples837.money(charge * lines)
        rows[-1][1] = str(len(rows))
        data = samples837.interchange(kind, [rows]).encode()
        assert [f.rule for f in all_findings(parse(data))] == rules


@pytest.mark.parametrize("kind", KINDS)
def test_no_rule_falls_over_what_it_does_not_expect(kind):
    """Segments cut short, emptied, doubled and left out end in findings, never in an exception."""
    rng = Random(20250301)
    for _ in range(full_or_quick(40, 8)):
        rows = samples837.claims(rng, kind, subscribers=1, everything=True)
        for _ in range(rng.randint(1, 12)):
            spoil(rng, rows)
        data = samples837.interchange(kind, [rows]).encode("latin-1")
        assert all(f.message for f in all_findings(parse(data)))


def spoil(rng: Random, rows: list[list[str]]) -> None:
    at = rng.randrange(1, len(rows))
    match rng.randrange(5):
        case 0:
            rows[at] = rows[at][: rng.randint(1, len(rows[at]))]
        case 1:
            rows[at] = [rows[at][0], *("" for _ in rows[at][1:])]
        case 2:
            rows.insert(at, list(rows[at]))
        case 3:
            rows[at] = [
                rows[at][0],
                *(
                    rng.choice(["", "X", "1:2:3:4:5:6:7:8:9", "^", "-", text])
                    for text in rows[at][1:]
                ),
            ]
        case _:
            rows[at] = ["ZZ"]
