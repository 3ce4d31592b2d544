"""What is allowed, what is a warning and what is an error, where receivers disagree: one edit of a good file each."""

import pytest

from clearlane.kernel.finding import Severity
from clearlane.x12.checker.check import check
from tests.cases import every_case
from tests.x12 import samples837
from tests.x12.guides.test_270_rules import ANSWER, ASK
from tests.x12.guides.test_835_rules import GOOD as REMITTANCE
from tests.x12.injected_faults import BOTH, D, Fault, P, inject
from tests.x12.samples_other import both, findings, rows, set_to

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

FACILITY = "REF*6R*A100L1~NM1*77*2*BROOK CLINIC~N3*5 ASH STREET~N4*SALEM*OR*973010001~REF*{}*N1"
CLAIMS: tuple[tuple[Fault, list[tuple[str, Severity]]], ...] = (
    (Fault("prior placement estimated", "DTP*441", "DTP*139*D8*20150301", "", D), []),
    (Fault("UPIN of a line's facility", "REF*6R*A100L1", FACILITY.format("1G"), "", D), []),
    (Fault("location of a line's facility", "REF*6R*A100L1", FACILITY.format("LU"), "", D), []),
    (Fault("license of a line's facility", "REF*6R*A100L1", FACILITY.format("0B"), "", D), [("ELM-CODE", ERROR)]),
    (Fault("edge of a molar", "TOO*JP*14", "TOO*JP*14*M:I", "", D), [("X837D-SURFACE", WARNING)]),
    (Fault("surface twice", "TOO*JP*14", "TOO*JP*14*M:M", "", D), [("X837D-SURFACE", ERROR)]),
    (Fault("national letter", "NM1*QC", "NM1*QC*1*PE\xd1A*MILO", "", BOTH), [("ELM-NATIONAL", WARNING)]),
    (Fault("national letter in UTF-8", "NM1*QC", "NM1*QC*1*PE\xc3\x91A*MILO", "", BOTH), [("ELM-NATIONAL", WARNING)]),
    (Fault("small national letter", "NM1*QC", "NM1*QC*1*PE\xf1A*MILO", "", P), [("ELM-NATIONAL", WARNING)]),
    (Fault("sign of no language", "NM1*QC", "NM1*QC*1*PE\xa7A*MILO", "", P), [("ELM-CHARACTER", ERROR)]),
    (Fault("letter and control character", "NM1*QC", "NM1*QC*1*PE\xd1\x07*MILO", "", P), [("ELM-NATIONAL", WARNING), ("ELM-CHARACTER", ERROR)]),
    (Fault("payer's name", "NM1*PR", "NM1*PR*2*Meadow Mutual*****PI*MM001", "", BOTH), []),
    (Fault("payer's id", "NM1*PR", "NM1*PR*2*Meadow Mutual*****PI*mm001", "", P), [("ELM-CASE", WARNING)]),
    (Fault("receiver's name", "NM1*40", "NM1*40*2*Meadow Mutual*****46*MM001", "", P), [("ELM-CASE", WARNING)]),
    (Fault("unused element in a claim", "NM1*QC", "NM1*QC*1*ARDEN*MILO**MR", "", P), [("ELM-UNUSED", ERROR)]),
    (Fault("note of a claim in a line", "REF*6R*A100L1", "REF*6R*A100L1~NTE*CER*TEXT", "", P), [("SEG-UNEXPECTED", ERROR)]),
    (Fault("number of a claim in a line", "DTP*472*D8*20250210", "DTP*472*D8*20250210~REF*D9*T100", "", BOTH), [("SEG-UNEXPECTED", ERROR)]),
    (Fault("date of a claim in a decision", "DTP*573*D8*20250202", "DTP*439*D8*20250202", "", BOTH), [("ELM-CODE", ERROR)]),
    (Fault("note of a claim after a decision", "DTP*573*D8*20250201", "DTP*573*D8*20250201~NTE*CER*TEXT", "", P), [("SEG-UNEXPECTED", ERROR)]),
    (Fault("child announced in a claim", "HL*2", "HL*2*1*22*1", "", P), [("HL-CHILD", ERROR)]),
)  # fmt: skip
CLAIM_CASES = [(kind, fault, wanted) for fault, wanted in CLAIMS for kind in fault.kinds]


@every_case(
    ("kind", "fault", "wanted"), CLAIM_CASES, ids=[f"{k} {f.name}" for k, f, _ in CLAIM_CASES]
)
def test_a_claim_file_is_judged_so(kind, fault, wanted):
    data, _ = inject(kind, fault)
    found = check(data).findings
    assert [(f.rule, f.severity) for f in found if f.severity is not Severity.INFO] == wanted


ANSWERS = (
    ("level promised", set_to("HL", 3, 4, "1"), ("HL-CHILD", WARNING)),
    ("level not announced", set_to("HL", 4, 4, "0"), ("HL-CHILD", ERROR)),
    ("element that is not used", set_to("NM1", 3, 6, "MS"), ("ELM-UNUSED", WARNING)),
    ("component that is not used", set_to("HI", 1, 1, "ABK:E119:D8"), ("ELM-UNUSED", WARNING)),
)


@pytest.mark.parametrize(("name", "edit", "wanted"), ANSWERS, ids=[row[0] for row in ANSWERS])
def test_what_a_payer_answers_is_read_with_a_warning(name, edit, wanted):
    changed = rows(ANSWER)
    edit(changed)
    assert [(f.rule, f.severity) for f in findings("271", changed)] == [wanted]


# What was called wrong though it is right, said twice, or said so that nobody could mend it: the edit of a good file, and
# all that is found about the edited segment.
CLAIM_FINDINGS: tuple[tuple[Fault, list[tuple[str, Severity]]], ...] = (
    (Fault("codes without a value", "HI*ABK", "HI*ABK*ABF*ABF", "", BOTH), [("ELM-MISSING", ERROR)] * 3),
    (Fault("both days of a disability", "DTP*439", "DTP*439*D8*20250115~DTP*314*RD8*20250115-20250115", "", P), []),
    (Fault("small letters in a note", "REF*6R*A100L1", "REF*6R*A100L1~NTE*ADD*Seen at noon", "", P), [("ELM-CASE", INFO)]),
    (Fault("mail address", "PER*IC*FRONT", "PER*IC*FRONT DESK*EM*desk@fernhill.example", "", P), [("ELM-CASE", INFO)]),
    (Fault("small letters in a name", "PER*IC*FRONT", "PER*IC*Front desk*TE*5035550144", "", P), [("ELM-CASE", WARNING)]),
    (Fault("telephone of nobody", "PER*IC*FRONT", "PER*IC*FRONT DESK*TE*0035550144", "", P), [("VAL-PHONE", WARNING)]),
)  # fmt: skip


@pytest.mark.safe_default(10)
@every_case(("fault", "wanted"), CLAIM_FINDINGS, ids=[fault.name for fault, _ in CLAIM_FINDINGS])
def test_a_claim_file_is_called_wrong_only_for_what_is_wrong(fault, wanted):
    for kind in fault.kinds:
        data, _ = inject(kind, fault)
        known = {(f.rule, f.message) for f in check(inject(kind, UNCHANGED)[0]).findings}
        found = [f for f in check(data).findings if (f.rule, f.message) not in known]
        assert [(f.rule, f.severity) for f in found] == wanted
        if wanted[:1] == [("VAL-PHONE", WARNING)]:
            assert "the first neither 0 nor 1" in found[0].message


UNCHANGED = Fault("nothing", "BHT", "BHT*0019*00*B00017*20250301*1200*CH", "", BOTH)


@pytest.mark.safe_default(10)
def test_the_statement_of_an_institutional_claim_is_a_period_even_of_one_day():
    changed = samples837.plain("837I")
    for row in changed:
        if row[:2] == ["DTP", "434"]:
            row[3] = f"{row[3][:8]}-{row[3][:8]}"
    found = check(samples837.interchange("837I", [changed]).encode()).findings
    assert "X837-PERIOD" not in {f.rule for f in found}


OTHER_FILES = (
    ("270", ASK, set_to("TRN", 1, 3, "9ABC-12345"), []),
    ("271", ANSWER, set_to("TRN", 2, 3, "9ABC-12345"), []),
    ("835", REMITTANCE, both(set_to("PER", 1, 3, "UR"), set_to("PER", 1, 4, "www.meadow.example")), [("ELM-CASE", INFO)]),
    # Nothing is paid, only told, and the amount is negative: one payment with one wrong amount.
    (
        "835", REMITTANCE, both(set_to("BPR", 1, 1, "H"), set_to("BPR", 1, 2, "-330"), set_to("BPR", 1, 4, "NON")),
        [("X835-CHECK", ERROR), ("X835-METHOD", WARNING)],
    ),
)  # fmt: skip


@pytest.mark.safe_default(10)
@every_case(("kind", "text", "edit", "wanted"), OTHER_FILES)
def test_another_file_is_called_wrong_once_for_what_is_wrong(kind, text, edit, wanted):
    changed = rows(text)
    edit(changed)
    before = {f.message for f in findings(kind, rows(text))}
    found = [f for f in findings(kind, changed) if f.message not in before]
    assert [(f.rule, f.severity) for f in found] == wanted
