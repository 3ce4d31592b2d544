"""Every row of the document's table, at both edges of every field."""

import json

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clearlane.enrollment.decode import decode_enrollment
from clearlane.enrollment.fields import FIELDS, TypeOfNpi
from clearlane.kernel.formats import is_po_box
from tests.cases import by_profile, every_case
from tests.contract.contract_table import fields_of_object
from tests.enrollment.invented import a_practice, an_enrollment

# The facts of the interface: field, whether it is required, least and most characters.
# yes: always, Individual and Organization: when NpiType is that.
TABLE = [
    (
        one.field,
        one.required,
        int(one.min or (one.required == "yes")),
        int(one.max) if one.max else None,
    )
    for one in fields_of_object("Enrollment").values()
]
REQUIRED = [name for name, required, *_ in TABLE if required == "yes"]
DIGITS = {"Npi": 10, "Tin": 9, "Zip": 5, "PrimaryContactPhoneNumber": 10}
MEASURED = [(name, least, most) for name, _, least, most in TABLE if most]
FREE = [(n, a, b) for n, a, b in MEASURED if n not in {*DIGITS, "PrimaryContactEmail"}]

by_name = every_case
# Without a letter that every box has.
anything = st.characters(exclude_categories=["Cs"], exclude_characters="bB")


def faults(values):
    """Return the findings about one enrollment, by field."""
    found = {}
    for finding in decode_enrollment(json.dumps(values).encode(), "Enrollments[0]").findings:
        found.setdefault(finding.location.removeprefix("Enrollments[0]."), []).append(
            finding.message
        )
    return found


def test_the_catalogue_is_the_documents_table():
    when = {"Individual": TypeOfNpi.INDIVIDUAL, "Organization": TypeOfNpi.ORGANIZATION}
    findings = [
        (row.name, row.required, row.required_for, row.max_length) for row in FIELDS.values()
    ]
    assert findings == [(n, r == "yes", when.get(r), most) for n, r, _, most in TABLE]
    assert [row.min_length for row in FIELDS.values()] == [least for _, _, least, _ in TABLE]


def test_requests_for_a_person_and_for_an_organization_pass():
    assert faults(an_enrollment()) == {}
    assert faults(a_practice()) == {}


@by_name(("name", "least", "most"), FREE)
@settings(max_examples=by_profile(thorough=500, usual=25, quick=10))
@given(data=st.data())
def test_a_text_fits_at_both_edges_and_no_further(name, least, most, data):
    """Any characters pass; one too few or one too many is found, and nothing else is."""

    def text(size):
        found = data.draw(st.text(anything, min_size=size, max_size=size))
        assume(found.strip() and not is_po_box(found))
        return found

    for size in {max(least, 1), most}:
        assert faults(an_enrollment(**{name: text(size)})) == {}
    for size in {least - 1, most + 1} - {0, -1}:
        (sentences,) = faults(an_enrollment(**{name: text(size)})).values()
        assert len(sentences) == 1
        assert name in sentences[0]
        assert str(most) in sentences[0]


@by_name("name", DIGITS)
@given(data=st.data())
def test_digits_are_ascii_and_exactly_so_many(name, data):
    size = DIGITS[name]
    right = "2" + data.draw(st.text("0123456789", min_size=size - 1, max_size=size - 1))
    assert faults(an_enrollment(**{name: right})) == {}
    other = data.draw(st.sampled_from("a -.٣²+"))
    at = data.draw(st.integers(0, size - 1))
    for wrong in (right[:-1], right + "0", right[:at] + other + right[at + 1 :], f" {right}"):
        (sentences,) = faults(an_enrollment(**{name: wrong})).values()
        assert sentences[0].startswith(f"The {name} field must be exactly {size} decimal digits")


@by_name("first", "01")
def test_a_phone_number_does_not_begin_with_0_or_1(first):
    findings = faults(an_enrollment(PrimaryContactPhoneNumber=first + "125550142"))
    assert list(findings) == ["PrimaryContactPhoneNumber"]
    assert "not 0 or 1" in findings["PrimaryContactPhoneNumber"][0]


def test_the_enrollment_contacts_phone_and_e_mail_have_a_length_only():
    assert faults(an_enrollment(EnrollmentContactPhoneNumber="ext 5")) == {}
    assert faults(an_enrollment(EnrollmentContactEmail="ask at reception")) == {}


@by_name("name", REQUIRED)
@by_name("value", [None, "", "  "])
def test_a_required_field_is_missed(name, value):
    values = an_enrollment()
    values[name] = value
    assert faults(values) == {name: [f"The {name} field is required."]}
    del values[name]
    assert faults(values) == {name: [f"The {name} field is required."]}


@by_name("name", [name for name, required, *_ in TABLE if not required])
@by_name("value", [None, "", "  "])
def test_an_optional_field_may_be_empty(name, value):
    assert faults({**an_enrollment(), name: value}) == {}


def test_a_person_needs_his_names_and_an_organization_its_own():
    assert set(faults(an_enrollment(ProviderLastName=None, ProviderFirstName=None))) == {
        "ProviderLastName",
        "ProviderFirstName",
    }
    assert faults(a_practice(PracticeName="")) == {
        "PracticeName": ["The PracticeName field is required when NpiType is Organization."]
    }
    assert faults(a_practice(NpiType="Unknown", PracticeName=None)) == {}


@by_name(
    ("sent", "meant"),
    [(0, "Unknown"), (1, "Individual"), (2, "Organization"), ("1", "Individual"),
     ("Unknown", "Unknown"), ("Individual", "Individual"), ("organization", "Organization")],
)  # fmt: skip
def test_the_type_of_npi_is_a_name_or_a_number(sent, meant):
    values = an_enrollment(NpiType=sent, PracticeName="Fernhill Family Practice")
    read = decode_enrollment(json.dumps(values).encode(), "Enrollments[0]")
    assert read.enrollment.NpiType == meant


@by_name("sent", [3, -1, 1.5, True, "Person", "01", [], {}, ["Individual"]])
def test_any_other_type_of_npi_is_reported(sent):
    (sentences,) = faults(an_enrollment(NpiType=sent)).values()
    assert "Unknown, Individual or Organization" in sentences[0]


@by_name("name", sorted(FIELDS.keys() - {"NpiType"}))
@by_name("value", [True, ["x"], {"x": 1}])
def test_a_value_that_is_no_string_is_reported(name, value):
    assert faults({**an_enrollment(), name: value}) == {
        name: [f"The {name} field must be a string."]
    }


@by_name("name", ["Address1", "Address2"])
@by_name(
    "box",
    ["PO Box 12", "P.O. Box 7", "p o box 9", "Post Office Box 3", "Suite 4, POB 12", "PO Box12"],
)
def test_a_po_box_is_a_fault(name, box):
    assert "PO box" in faults(an_enrollment(**{name: box}))[name][0]


@by_name("street", ["12 Boxwood Lane", "4 Post Road", "1 Poplar Bend", "77 Pobble Street"])
def test_a_street_is_none(street):
    assert faults(an_enrollment(Address1=street)) == {}


@by_name(
    "address",
    [
        "a@b.co",
        "nora.birch+x@example.com",
        "o'fenn@mail.example.org",
        "é@exämple.de",
        "a_b-c@x-y.io",
    ],
)
def test_an_e_mail_address_passes(address):
    assert faults(an_enrollment(PrimaryContactEmail=address)) == {}


@by_name(
    "address",
    ["nora", "nora@", "@example.com", "a@b", "a@b..c", "a.@b.co", ".a@b.co", "a b@c.de", "a@@b.co",
     "a@b@c.de", "a@-b.co", "a@b.co.", "a@b.co\r\nBcc: x@y.z", "<a@b.co>", "a@b.co, c@d.ef"],
)  # fmt: skip
def test_what_is_no_e_mail_address_is_reported(address):
    assert (
        "valid e-mail"
        in faults(an_enrollment(PrimaryContactEmail=address))["PrimaryContactEmail"][0]
    )


def test_an_e_mail_address_fits_at_both_edges():
    domain = "@example.com"
    for size, right in ((256, True), (257, False)):
        address = "n" * (size - len(domain)) + domain
        assert (faults(an_enrollment(PrimaryContactEmail=address)) == {}) is right
    assert faults(an_enrollment(PrimaryContactEmail="n@x.y")) == {}


def test_a_wrong_check_digit_is_no_fault():
    assert faults(an_enrollment(Npi="1234567890")) == {}
