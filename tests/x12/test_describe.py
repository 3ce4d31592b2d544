"""Every segment is explained, with its loop, names and meanings."""

from clearlane.x12.delimiters import Delimiters
from clearlane.x12.show.describe import describe
from clearlane.x12.show.reformat import reformat
from tests.cases import every_case, fewer_in_quick
from tests.corpus import corpus_files
from tests.x12.views.leaves import segments
from tests.x12.views.test_views import BENEFITS, CLAIMS, REMITTANCE, file


def parts(data, segment, nth=0):
    found = [one for one in describe(data) if one.segment == segment]
    return {part.place: part for part in found[nth].parts}


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_every_segment_of_a_public_file_is_explained(sample):
    data = sample.path.read_bytes()
    described = list(describe(data))
    if len({row[0] for row in segments(data)} & {"ISA"}) == 1 and b"ISA" not in data[3:]:
        assert [one.segment for one in described] == [row[0] for row in segments(data)]
    assert [one.file_segment for one in described] == list(range(1, len(described) + 1))


def test_codes_are_shown_with_their_meanings():
    eligible = parts(file("271", *BENEFITS), "EB")
    assert eligible["EB01"].words == "Active coverage"
    assert eligible["EB03 (2)"].words == "Dental care"
    paid = parts(file("835", *REMITTANCE), "CLP")
    assert paid["CLP02"].words
    adjusted = parts(file("835", *REMITTANCE), "CAS", 1)
    assert adjusted["CAS02"].words
    name = parts(file("271", *BENEFITS), "NM1", 2)
    assert name["NM102"].words == "Person"


def test_codes_of_the_ub04_have_the_meaning_of_their_list():
    described = parts(file("837I", "HI*BE:A8:::72.5*BE:80:::3", "HI*BG:74*BG:ZZ"), "HI")
    assert described["HI01-2"].words == "Patient's weight in kilograms"
    assert described["HI02-2"].words == "Covered days"
    conditions = parts(file("837I", "HI*BE:A8:::72.5", "HI*BG:74*BG:ZZ"), "HI", 1)
    assert conditions["HI01-2"].words == "Dialysis at home"
    assert conditions["HI02-2"].words == ""


def test_days_and_periods_are_shown_in_iso_format():
    data = file("271", *BENEFITS)
    assert parts(data, "DMG")["DMG02"].words == "1980-01-01"
    assert parts(data, "DTP", 1)["DTP03"].words == "2024-01-01 to 2024-12-31"
    assert parts(data, "DTP", 2)["DTP03"].words == ""
    assert parts(file("835", *REMITTANCE), "BPR")["BPR16"].words == "2024-05-01"
    assert parts(file("835", "BPR*I*1*C*CHK************2024"), "BPR")["BPR16"].words == ""


def test_loops_and_places_are_named_by_the_guide():
    described = [one for one in describe(file("837P", *CLAIMS)) if one.segment == "REF"]
    assert [(one.loop, one.name) for one in described] == [
        ("2010AA", "Billing provider tax number"),
        ("2300", "Clearinghouse trace number"),
        ("2400", "Line control number"),
    ]
    codes = parts(file("837P", *CLAIMS), "CLM")
    assert codes["CLM05-3"].name == "Frequency"
    assert codes["CLM05-3"].words


def test_what_the_guide_does_not_know_is_described_all_the_same():
    data = file("835", "BPR*I*1", "REF*ZZ*1", "HI*ABK:E119:::::::::X", "QQQ*A", "TRN*1*A*B*C*D")
    described = {one.segment: one for one in describe(data)}
    assert described["REF"].name == "Receiver identifier"
    assert described["QQQ"].name == "Not in the dictionary"
    assert described["QQQ"].parts[0].name == "Not in the guide"
    assert described["HI"].parts[-1].name == "Not in the guide"
    assert described["TRN"].parts[-1].name == "Not in the guide"


def test_the_envelope_is_described_in_file_order():
    data = file("835", "BPR*I*1").replace(b"~GS*", b"~TA1*000000001*240501*1200*A*000~GS*")
    data = data.replace(b"~ST*", b"~XX*1~ST*").replace(b"GE*1*17", b"YY*1~GE*1*17")
    order = [one.segment for one in describe(data)]
    assert order == ["ISA", "TA1", "GS", "XX", "ST", "BPR", "SE", "YY", "GE", "IEA"]
    header = parts(data, "ISA")
    assert header["ISA06"].value == "SENDER"
    assert header["ISA15"].words == "Test"
    assert "ISA02" not in header
    assert [one.segment for one in describe(data[: data.index(b"GE*")])] == order[:-2]


def test_values_are_shown_as_the_file_has_them():
    data = b"".join(reformat(file("835", *REMITTANCE), Delimiters("|", ">", "!", "\n")))
    data = data.replace(b"N1|PR|MEADOW", b"N1|PR|A*B", 1)
    assert parts(data, "N1")["N102"].value == "A*B MUTUAL"
