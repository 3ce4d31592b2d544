import pytest

from clearlane.x12.delimiters import CANONICAL
from clearlane.x12.reader import reader, set_slices
from clearlane.x12.reader.set_slices import cut_sets, slice_sets
from tests.cases import every_case
from tests.claims.answers import nine, paid, payment, sealed
from tests.corpus import corpus_files


def keys_by_reader(content):
    file = reader.parse(content, check=False)
    return [(set.group.interchange.number, set.group.number, set.number) for set in file.sets()]


@every_case("sample", corpus_files("835", "999", "277CA"))
def test_sets_are_counted_as_the_reader_counts_them(sample):
    content = sample.path.read_bytes()
    assert [one.key for one in slice_sets(content)] == keys_by_reader(content)


def test_the_same_set_in_another_envelope_has_the_same_digest():
    plain = payment(paid("C1", "1", "100", "80"))
    others = [
        payment(paid("C1", "1", "100", "80"), control=900, moment="20261201*0900"),
        payment(paid("C1", "1", "100", "80"), separators="|>!\n"),
        plain.replace(b"~", b"~\r\n"),
        b"\r\n" + nine(21) + plain,
    ]
    [digest] = [one.digest(plain) for one in slice_sets(plain)]
    for other in others:
        *_, last = slice_sets(other)
        assert last.digest(other) == digest
        assert (last.count(other, "CLP"), last.count(other, "C1")) == (1, 0)
    changed = payment(paid("C1", "1", "100", "81"))
    [last] = slice_sets(changed)
    assert last.digest(changed) != digest


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_cut_sets_stay_as_they_were_received(ending):
    rows = [["835", "BPR*I*1*C*CHK", f"TRN*1*K{at}*1512345678"] for at in range(3)]
    content = sealed("HP", "005010X221A1", *rows).replace(b"~", b"~" + ending)
    sets = list(slice_sets(content))
    for one in sets:
        part = cut_sets(content, [one])
        [found] = slice_sets(part)
        assert one.whole.of(content) in part
        assert part.startswith(one.isa.of(content))
        assert part.count(b"~" + ending) == part.count(b"~")
        assert found.digest(part) == one.digest(content)
        [read] = reader.parse(part).interchanges
        assert not [finding for finding in read.findings if "count" in finding.message.lower()]
    assert cut_sets(content, sets).count(b"ST*835") == 3


def test_a_file_of_lines_is_cut_into_files_of_lines():
    content = payment(paid("C1"), separators="|>!\n")
    [one] = slice_sets(content)
    part = cut_sets(content, [one])
    assert part.splitlines() == content.splitlines()


@pytest.mark.parametrize("content", [b"", b"hello", b"ISA", b"ISA*00*", b"ISA" * 500])
def test_what_is_no_x12_has_no_sets(content):
    assert list(slice_sets(content)) == []


def test_a_word_that_begins_like_a_header_is_passed_over():
    whole = payment(paid("C1"))
    assert [one.digest(b"ISABEL" + whole) for one in slice_sets(b"ISABEL" + whole)] == [
        one.digest(whole) for one in slice_sets(whole)
    ]


def test_a_file_that_ends_within_a_set_is_sliced_to_its_end():
    whole = payment(paid("C1"))
    for length in range(len(whole)):
        found = list(slice_sets(whole[:length]))
        assert len(found) <= 1


def test_an_element_that_a_header_does_not_have_is_not_added():
    assert set_slices._header(b"GS*HP*A~", {2: "B~", 9: "C"}, CANONICAL) == b"GS*HP*A~"
    assert set_slices._header(b"GS*HP*A*D~", {2: "B~"}, CANONICAL) == b"GS*HP*B *D~"
