"""A request becomes enrollments, or every fault of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.enrollment.decode import (
    ENROLLMENT_BYTES_MAX,
    decode_enrollment,
    encode,
    find_repeated_ids,
    restore,
    split_request,
)
from clearlane.enrollment.fields import TypeOfNpi
from clearlane.enrollment.rules import operator_notes
from clearlane.kernel import limits
from tests.cases import every_case
from tests.enrollment.invented import a_document, a_practice, a_request, an_enrollment


def findings_of(body):
    return {finding.location: finding.message for finding in split_request(body).findings}


@pytest.mark.parametrize("version", [0, 2, 1.0, "2", True, None, [], {}])
def test_the_version_must_be_1(version):
    assert list(findings_of(a_document(Version=version))) == ["Version"]


def test_a_missing_version_is_reported():
    request = a_request()
    del request["Version"]
    assert list(findings_of(json.dumps(request).encode())) == ["Version"]


@pytest.mark.parametrize("array", [None, [], {}, "x", 1])
def test_at_least_one_enrollment_is_required(array):
    assert list(findings_of(a_document(Enrollments=array))) == ["Enrollments"]


def test_version_and_array_are_reported_at_once():
    assert set(findings_of(b"{}")) == {"Version", "Enrollments"}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b'"x"', b"\xff", b"null", b"[" * 100])
def test_what_is_no_object_is_reported_at_the_document(body):
    assert list(findings_of(body)) == ["Document"]


@pytest.mark.parametrize("element", ["null", "1", "[]", '"x"', '{"Npi": "\\ud800"}'])
def test_what_is_no_enrollment_is_reported_at_its_place(element):
    read = decode_enrollment(element.encode(), "Enrollments[3]")
    assert [finding.location for finding in read.findings] == ["Enrollments[3]"]


def test_an_enrollment_that_is_far_too_large_is_not_read():
    values = an_enrollment(SiteId="x" * ENROLLMENT_BYTES_MAX)
    read = decode_enrollment(json.dumps(values).encode(), "Enrollments[0]")
    assert [finding.location for finding in read.findings] == ["Enrollments[0]"]


def test_no_more_elements_are_cut_than_the_limit_and_one():
    body = b'{"Version": 1, "Enrollments": [' + b",".join([b"1"] * 100) + b"]}"
    assert len(split_request(body, enrollments_max=10).elements) == 11


def test_a_large_request_is_cut_too():
    body = a_document(*[an_enrollment(SiteId="x" * 60_000) for _ in range(20)])
    assert len(body) > limits.SMALL_DOCUMENT_BYTES_MAX
    opened = split_request(body)
    assert (len(opened.elements), opened.findings) == (20, ())


def test_a_caller_may_use_an_id_once_in_a_request():
    bodies = [an_enrollment(RequestId=id) for id in ("a", "b", "a", "A", "a")]
    bodies[2]["Npi"] = "no number"
    reads = [decode_enrollment(json.dumps(b).encode(), "x") for b in bodies]
    assert [finding.location for finding in find_repeated_ids(reads)] == [
        "Enrollments[2].RequestId",
        "Enrollments[4].RequestId",
    ]


def test_unknown_fields_are_named_and_change_nothing():
    opened = split_request(a_document(Extra=1))
    assert opened.ignored == ("Extra",)
    read = decode_enrollment(json.dumps(an_enrollment(NationalId="x")).encode(), "Enrollments[0]")
    assert (read.ignored, read.findings) == (("Enrollments[0].NationalId",), ())


def test_names_may_be_in_any_case_and_numbers_stand_for_text():
    sent = {
        name.upper(): value for name, value in an_enrollment(Npi=1234567893, Tin=123456789).items()
    }
    read = decode_enrollment(json.dumps(sent).encode(), "Enrollments[0]")
    assert (read.findings, read.ignored) == ((), ())
    assert (read.enrollment.Npi, read.enrollment.Tin) == ("1234567893", "123456789")
    opened = split_request(json.dumps({"version": "1", "enrollments": [sent]}).encode())
    assert (opened.findings, opened.ignored, len(opened.elements)) == ((), (), 1)
    large = split_request(json.dumps({"VERSION": 1, "enrollments": [sent] * 2_000}).encode())
    assert (large.findings, len(large.elements)) == ((), 2_000)


def test_a_number_too_short_is_a_finding_that_says_why():
    read = decode_enrollment(json.dumps(an_enrollment(Zip=7104)).encode(), "Enrollments[0]")
    (finding,) = read.findings
    assert finding.location == "Enrollments[0].Zip"
    assert "no leading zeros" in finding.message


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b'"City": "ONE", "CITY": "TWO"', "TWO"),
        (b'"city": "ONE", "City": "TWO"', "TWO"),
        (b'"City": "ONE", "CITY": "TWO", "City": "THREE"', "THREE"),
        (b'"City": [], "CITY": "TWO"', "TWO"),
    ],
)
def test_of_two_spellings_the_last_wins_and_that_is_recorded(text, kept):
    body = json.dumps(an_enrollment(City=None)).encode()[:-1] + b", " + text + b"}"
    read = decode_enrollment(body, "Enrollments[0]")
    assert (read.enrollment.City, read.repeated) == (kept, ("Enrollments[0].City",))


@pytest.mark.safe_default(7)
@pytest.mark.parametrize(
    "text", [b'"City": "ONE", "CITY": null', b'"city": null, "CITY": "ONE", "City": null']
)
def test_null_under_one_spelling_hides_no_value_under_another(text):
    body = json.dumps(an_enrollment(City=None)).encode()[:-1] + b", " + text + b"}"
    read = decode_enrollment(body, "Enrollments[0]")
    assert (read.enrollment.City, read.repeated) == ("ONE", ())
    opened = split_request(
        b'{"version": 1, "Version": null, "enrollments": [1], "Enrollments": null}'
    )
    assert ([bytes(each) for each in opened.elements], opened.findings) == ([b"1"], ())


def test_of_two_lists_of_enrollments_the_last_is_read_and_that_is_recorded():
    opened = split_request(
        b'{"Version": 1, "Enrollments": [1], "enrollments": [2], "Enrollments": [3]}'
    )
    assert [bytes(each) for each in opened.elements] == [b"3"]
    assert opened.repeated == ("Enrollments",)


@every_case(
    ("field", "value", "kept"),
    [
        ("NpiType", 1, TypeOfNpi.INDIVIDUAL),
        ("NpiType", "1", TypeOfNpi.INDIVIDUAL),
        ("NpiType", "individual", TypeOfNpi.INDIVIDUAL),
        ("NpiType", 1.5, None),
        ("NpiType", 3, None),
        ("NpiType", True, None),
        ("Zip", 60601, "60601"),
        ("Zip", 60601.5, None),
        ("Zip", True, None),
        ("PrimaryContactPhoneNumber", 3125550142, "3125550142"),
        ("PrimaryContactPhoneNumber", "3125550142", "3125550142"),
        ("RequestId", 17, "17"),
        ("RequestId", 1.5, "1.5"),
        ("RequestId", [1], None),
    ],
)
def test_scalars_are_read_as_other_programs_write_them(field, value, kept):
    read = decode_enrollment(json.dumps(an_enrollment(**{field: value})).encode(), "x")
    if kept is None:
        assert [finding.location for finding in read.findings] == [f"x.{field}"]
    else:
        assert read.findings == ()
        assert getattr(read.enrollment, field) == kept


@pytest.mark.parametrize(
    ("version", "fits"),
    [("1", True), ('"1"', True), ("1.5", False), ("2", False), ("true", False), ('"1.0"', False)],
)
def test_the_version_is_the_number_one_as_a_number_or_a_text(version, fits):
    opened = split_request(f'{{"Version": {version}, "Enrollments": [1]}}'.encode())
    assert [finding.location for finding in opened.findings] == ([] if fits else ["Version"])


def test_of_a_key_given_twice_the_last_wins():
    opened = split_request(b'{"Version": 2, "Version": 1, "Enrollments": [1]}')
    assert opened.findings == ()


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_what_is_stored_reads_back(text):
    values = an_enrollment(DbaName=text, RequestId=f"x{text}")
    read = decode_enrollment(json.dumps(values).encode(), "x")
    assert restore(encode(read.enrollment)) == read.enrollment


def test_an_enrollment_prints_no_value():
    read = decode_enrollment(json.dumps(a_practice()).encode(), "x")
    assert "Fernhill" not in repr(read)
    assert read.request_id not in repr(read)


@pytest.mark.parametrize(
    ("npi", "count"), [("1234567893", 0), ("1234567890", 1), ("3234567893", 1)]
)
def test_the_operator_is_warned_of_a_wrong_check_digit(npi, count):
    read = decode_enrollment(json.dumps(an_enrollment(Npi=npi)).encode(), "x")
    assert [note.location for note in operator_notes(read.enrollment)] == ["Npi"] * count


@given(body=st.binary(max_size=200))
def test_no_body_breaks_the_reader(body):
    opened = split_request(body)
    assert opened.findings or opened.elements
