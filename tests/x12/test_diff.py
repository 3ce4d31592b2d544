"""Two files are compared by what they mean."""

from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader.reader import parse
from clearlane.x12.show.diff import Change, diff, summarize
from clearlane.x12.show.reformat import reformat
from tests.cases import every_case, fewer_in_quick
from tests.corpus import corpus_files
from tests.x12.views.test_views import BENEFITS, CLAIMS, REMITTANCE, file


def changes(old, new, **options):
    return list(diff(parse(old), parse(new), **options))


def changed(kind, rows, old, new):
    """The differences after replacing one row."""
    other = [row.replace(old, new) for row in rows]
    return changes(file(kind, *rows), file(kind, *other))


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_a_file_does_not_differ_from_itself(sample):
    data = sample.path.read_bytes()
    assert not changes(data, data)


def test_separators_and_the_writing_of_numbers_do_not_count():
    data = file("837P", *CLAIMS)
    again = b"".join(reformat(data, Delimiters("|", ">", "!", "\x1c", "\n")))
    assert not changes(data, again)
    assert not changed("837P", CLAIMS, "*200***11", "*200.00***11")
    assert not changed("835", REMITTANCE, "CAS*CO*45*20*", "CAS*CO*45*20.0*")


def test_a_value_that_changed_is_reported_with_its_place_and_name():
    assert changed("837P", CLAIMS, "CLM*A1*200", "CLM*A1*201") == [
        Change("changed", "837P > 2000A > 2000B > 2300 A1", "CLM02", "Total charge", "200", "201")
    ]
    (component,) = changed("837P", CLAIMS, "11:B:1*Y", "11:B:7*Y")
    assert (component.place, component.name, component.old, component.new) == (
        "CLM05-3", "Frequency", "1", "7",
    )  # fmt: skip
    (line,) = changed("837P", CLAIMS, "SV1*HC:99214*0", "SV1*HC:99214*1")
    assert line.path.endswith("2300 A1 > 2400 2")
    (more,) = changed("271", BENEFITS, "EB*1*IND*30^35", "EB*1*IND*30^35^88")
    assert (more.place, more.old, more.new) == ("EB03-3", "", "88")


def test_the_order_of_claims_and_lines_does_not_count():
    first = REMITTANCE.index("CLP*A1*1*200*150*30*12*P1*11*1")
    second = REMITTANCE.index("CLP*A2*22*-150*-40*0*12*P2")
    swapped = [
        *REMITTANCE[:first],
        *REMITTANCE[second:-1],
        *REMITTANCE[first:second],
        REMITTANCE[-1],
    ]
    assert not changes(file("835", *REMITTANCE), file("835", *swapped))


def test_loops_and_segments_that_came_or_went_are_reported():
    second = REMITTANCE.index("CLP*A2*22*-150*-40*0*12*P2")
    fewer = [*REMITTANCE[:second], REMITTANCE[-1]]
    (gone,) = changes(file("835", *REMITTANCE), file("835", *fewer))
    assert (gone.kind, gone.path, gone.name) == (
        "removed",
        "835 > 2000 1 > 2100 A2",
        "Claim payment",
    )
    (come,) = changes(file("835", *fewer), file("835", *REMITTANCE))
    assert come.kind == "added"
    without = [row for row in REMITTANCE if row != "AMT*AU*180"]
    (amount,) = changes(file("835", *REMITTANCE), file("835", *without))
    assert (amount.kind, amount.place, amount.old, amount.new) == ("removed", "AMT", "AU*180", "")
    (amount,) = changes(file("835", *without), file("835", *REMITTANCE))
    assert (amount.kind, amount.old, amount.new) == ("added", "", "AU*180")


def test_a_segment_that_went_from_a_file_with_other_separators_is_reported_in_plain_ones():
    without = [row for row in REMITTANCE if not row.startswith("PLB")]
    other = b"".join(reformat(file("835", *REMITTANCE), Delimiters("|", ">", "!", "\n")))
    (gone,) = changes(other, file("835", *without))
    assert gone.old == "1234567893*20241231*WO:P2*-40*L6*-40"


def test_a_name_that_changed_is_a_change_and_not_another_level():
    (name,) = changed("271", BENEFITS, "NM1*03*1*ARDEN*MILO", "NM1*03*1*ARDEN*MILA")
    assert (name.kind, name.place) == ("changed", "NM104")
    (member,) = changed("837P", CLAIMS, "*MI*M1", "*MI*M9")
    assert (member.kind, member.place, member.old, member.new) == ("changed", "NM109", "M1", "M9")


def test_envelopes_count_unless_ignored():
    data = file("835", *REMITTANCE)
    other = data.replace(b"000000017", b"000000018").replace(b"*240501*", b"*240502*")
    assert {change.place for change in changes(data, other)} == {"ISA09", "ISA13", "IEA02"}
    assert not changes(data, other, envelopes=False)
    (sender,) = changes(data, data.replace(b"*SENDER   ", b"*SANDER   "), envelopes=False)
    assert sender.path == "interchange 1"


def test_sets_and_interchanges_that_came_or_went_are_reported():
    data = file("835", *REMITTANCE)
    claims = file("837P", *CLAIMS)
    kinds = [(change.kind, change.path) for change in changes(data, data + claims)]
    assert kinds == [("added", "interchange 2"), ("added", "837P")]
    kinds = [(change.kind, change.path) for change in changes(data + claims, data)]
    assert kinds == [("removed", "interchange 2"), ("removed", "837P")]
    unknown = claims.replace(b"005010X222A1", b"004010X098")
    assert not changes(unknown, unknown)
    strange = unknown.replace(b"CLM*A1*200", b"CLM*A1*201").replace(b"BHT*", b"QQQ*1~BHT*")
    assert {change.place for change in changes(unknown, strange)} == {"CLM02", "QQQ"}


def test_strays_and_missing_trailers_of_envelopes_are_compared():
    data = file("835", *REMITTANCE)
    cut = data[: data.index(b"GE*")]
    assert {(change.kind, change.place) for change in changes(data, cut)} == {
        ("removed", "GE"), ("removed", "IEA"),
    }  # fmt: skip


def test_elements_that_the_guide_does_not_know_are_compared():
    rows = ("BPR*I*1", "TRN*1*A*B*C*D", "HI*ABK:E119:::::::::X", "QQQ*A")
    other = ("BPR*I*1", "TRN*1*A*B*C*E", "HI*ABK:E119:::::::::Y", "QQQ*B")
    differences = changes(file("835", *rows), file("835", *other))
    assert [(change.place, change.old, change.new) for change in differences] == [
        ("TRN05", "D", "E"), ("HI01-11", "X", "Y"), ("QQQ01", "A", "B"),
    ]  # fmt: skip


def test_the_summary_counts_each_kind():
    assert summarize([]) == "no differences"
    some = [Change(kind, "", "", "", "", "") for kind in ("added", "changed", "changed", "removed")]
    assert summarize(some) == "2 changed, 1 added, 1 removed"
