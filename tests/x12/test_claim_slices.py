"""Claims are cut from a file byte for byte, each with its own levels and no other patient's."""

from clearlane.x12.reader.claim_slices import slice_claims
from tests.cases import every_case

ISA = "ISA*00*          *00*          *ZZ*US             *ZZ*MEADOW         *261101*1200*^*00501*000000021*0*P*:~"
HEADER = f"{ISA}GS*HC*US*MEADOW*20261101*1200*21*X*005010X222A1~ST*837*0001*005010X222A1~BHT*0019*00*1*20261101*1200*CH~"
FIRST, SECOND = "HL*1**20*1~NM1*85*2*FERNHILL~", "HL*6**20*1~NM1*85*2*LARKSPUR~"
ROSA, RUTH = "HL*2*1*22*1~NM1*IL*1*ARDEN*ROSA~", "HL*5*1*22*0~NM1*IL*1*ARDEN*RUTH~"
CHILD, OTHER_CHILD = "HL*3*2*23*0~NM1*QC*1*ARDEN*TOM~", "HL*4*2*23*0~NM1*QC*1*ARDEN*KIM~"
LAST = "HL*7*6*22*0~NM1*IL*1*QUILL*TESSA~"


def claim(number):
    return f"CLM*A{number}*100~REF*D9*C{number}~LX*1~SV1*HC:99213*100~"


WHOLE = (
    f"{HEADER}{FIRST}{ROSA}{claim(1)}{claim(2)}{CHILD}{claim(3)}{OTHER_CHILD}{claim(4)}{RUTH}{claim(5)}"
    f"{SECOND}{LAST}{claim(6)}SE*40*0001~GE*1*21~IEA*1*000000021~"
)
PARTS = {
    "C1": FIRST + ROSA + claim(1),
    "C2": FIRST + ROSA + claim(2),
    "C3": FIRST + ROSA + CHILD + claim(3),
    "C4": FIRST + ROSA + OTHER_CHILD + claim(4),
    "C5": FIRST + RUTH + claim(5),
    "C6": SECOND + LAST + claim(6),
}


@every_case("separators, ending", [("*:^~", ""), ("*:^~", "\n"), ("|>^~", "\r\n"), ("*:^\n", "")])
def test_each_claim_has_its_own_levels_alone(separators, ending):
    def written(text):
        end = separators[3]
        return text.translate(str.maketrans("*:^~", separators)).replace(end, end + ending).encode()

    found = dict(slice_claims(written(WHOLE)))
    assert found == {number: written(HEADER + part) for number, part in PARTS.items()}


def test_what_holds_no_claims_has_no_parts():
    assert list(slice_claims(b"")) == []
    assert list(slice_claims((HEADER + "SE*3*0001~GE*1*21~IEA*1*000000021~").encode())) == []
    unnumbered = WHOLE.replace("REF*D9*C1~", "")
    assert next(iter(slice_claims(unnumbered.encode())))[0] == ""


def test_a_level_that_is_not_around_claims_is_in_no_part():
    other = WHOLE.replace(claim(1), "HL*9*2*19*0~" + claim(1))
    assert dict(slice_claims(other.encode()))["C1"] == (HEADER + PARTS["C1"]).encode()
