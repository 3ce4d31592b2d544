"""One value at a time: what a payer's fields take and what they refuse."""

from clearlane.payers.directory import PayerListEntry
from clearlane.payers.fields import (
    PAYER_ALIASES_MAX,
    PAYER_FIELDS,
    PAYER_ID_CHARACTERS_MAX,
    PAYER_NAME_CHARACTERS_MAX,
    printable,
    read_payer,
    unknown_field_findings,
)
from clearlane.payers.model import Payer
from tests.cases import every_case

GOOD = {
    "Type": "Medical",
    "Name": "Meadow Mutual",
    "SvcPayerId": "MM010",
    "PayerId": "MDW10",
    "NationalPayerId": "",
    "EraAvailability": "RequiresEnrollment",
    "OffersEligibility": "true",
    "ClaimEnrollmentRequired": "false",
}


def read(**changes):
    payer, findings = read_payer(GOOD | changes)
    return payer if payer is not None else [(f.rule, f.location) for f in findings]


def test_the_table_lists_the_fields_of_the_interface_in_its_order():
    listed = PayerListEntry.__struct_fields__
    assert tuple(c.wire_name for c in PAYER_FIELDS[: len(listed)]) == listed


def test_every_field_of_a_payer_is_in_the_table_or_internal():
    assert {c.attribute for c in PAYER_FIELDS} | {"is_test", "has_route"} == set(
        Payer.__struct_fields__
    )


def test_a_good_payer_is_read():
    assert read() == Payer(
        "Medical", "Meadow Mutual", "MM010", "MDW10", "", "RequiresEnrollment", True, False
    )


def test_blanks_around_and_within_are_tidied():
    payer = read(Name="  Meadow \u00a0 Mutual\t", PayerId=" MDW10 ")
    assert (payer.name, payer.payer_id) == ("Meadow Mutual", "MDW10")


def test_without_a_legacy_id_the_preferred_one_stands_for_it():
    assert read(SvcPayerId="").svc_payer_id == "MDW10"


@every_case("missing", ["Type", "Name", "PayerId", "EraAvailability", "OffersEligibility"])
@every_case("blank", ["", "  ", None])
def test_a_required_field_that_is_blank_is_found(missing, blank):
    assert read(**{missing: blank}) == [("PAY001", missing)]


@every_case(
    ("field", "text", "attribute", "value"),
    [
        ("Type", "dental", "type", "Dental"),
        ("EraAvailability", "NOTAVAILABLE", "era_availability", "NotAvailable"),
        ("EraAvailability", "available", "era_availability", "Available"),
        ("OffersEligibility", "FALSE", "offers_eligibility", False),
        ("OffersEligibility", "Yes", "offers_eligibility", True),
        ("OffersEligibility", True, "offers_eligibility", True),
        ("ClaimEnrollmentRequired", "1", "claim_enrollment_required", True),
        ("Active", "no", "active", False),
        ("Aliases", "MMIC| Meadow |MMIC|", "aliases", ("MMIC", "Meadow")),
        ("Aliases", ["MMIC", " Meadow"], "aliases", ("MMIC", "Meadow")),
        ("Aliases", [], "aliases", ()),
        ("Replacements", "Original_Only", "replacements", "original_only"),
        ("BillingZipRequired", "yes", "billing_zip_required", True),
        ("Program", "MEDICARE", "program", "Medicare"),
        ("Edits", "NDC|clia|ndc", "edits", ("ndc", "clia")),
        ("Edits", ["taxonomy"], "edits", ("taxonomy",)),
        ("MemberIdPattern", "w#{9}|@@@#{6,9}", "member_id_pattern", "W#{9}|@@@#{6,9}"),
        ("FilingDays", "90", "filing_days", 90),
        ("CorrectedFilingDays", 365, "corrected_filing_days", 365),
        ("SecondaryFilingDays", "0", "secondary_filing_days", 0),
        ("Attachments", "bm|EL", "attachments", ("BM", "EL")),
        ("Attachments", "none", "attachments", ("none",)),
        (
            "InquiryEnrollments",
            "Claim_Status|eligibility",
            "inquiry_enrollments",
            ("claim_status", "eligibility"),
        ),
        ("PayerId", "00-1&B_/+", "payer_id", "00-1&B_/+"),
        ("Name", "=1+1", "name", "=1+1"),
        ("Name", "\u00c9toile Sant\u00e9", "name", "\u00c9toile Sant\u00e9"),
        (
            "Name",
            "x" * PAYER_NAME_CHARACTERS_MAX,
            "name",
            "x" * PAYER_NAME_CHARACTERS_MAX,
        ),
    ],
)
def test_a_value_in_any_usual_form_is_read(field, text, attribute, value):
    assert getattr(read(**{field: text}), attribute) == value


@every_case(
    ("field", "text"),
    [
        ("Type", "Vision"),
        ("Type", 1),
        ("EraAvailability", "Sometimes"),
        ("OffersEligibility", "maybe"),
        ("OffersEligibility", 2.5),
        ("ClaimEnrollmentRequired", {}),
        ("Program", "Tricare"),
        ("Edits", "ndc|vision"),
        ("Edits", [1]),
        ("MemberIdPattern", "[0-9]+"),
        ("MemberIdPattern", "#{3,9}#{1,2}"),
        ("MemberIdPattern", "#{9,3}"),
        ("MemberIdPattern", "W#{9}|"),
        ("MemberIdPattern", "#" * 201),
        ("MemberIdPattern", 9),
        ("FilingDays", "a year"),
        ("FilingDays", "-1"),
        ("FilingDays", True),
        ("FilingDays", 1.5),
        ("FilingDays", 3651),
        ("Attachments", "none|BM"),
        ("InquiryEnrollments", "era"),
        ("Attachments", "XX"),
        ("Active", "on and off"),
        ("PayerId", 12345),
        ("PayerId", "A B"),
        ("PayerId", "A*B"),
        ("PayerId", "A:B"),
        ("PayerId", "A^B"),
        ("PayerId", "A|B"),
        ("PayerId", "A~B"),
        ("PayerId", "caf\u00e9"),
        ("SvcPayerId", "x" * (PAYER_ID_CHARACTERS_MAX + 1)),
        ("NationalPayerId", "a\x00b"),
        ("Name", "x" * (PAYER_NAME_CHARACTERS_MAX + 1)),
        ("Name", "a\x00b"),
        ("Name", "zero\u200bwidth"),
        ("Name", "\ud800"),
        ("Name", ["Meadow"]),
        ("Aliases", ["a|b"]),
        ("Aliases", [7]),
        ("Aliases", {"a": 1}),
        ("Aliases", [f"alias {n}" for n in range(PAYER_ALIASES_MAX + 1)]),
    ],
)
def test_a_value_that_cannot_be_used_is_found_with_what_would_pass(field, text):
    payer, findings = read_payer(GOOD | {field: text})
    assert payer is None
    assert [(f.rule, f.location) for f in findings] == [("PAY002", field)]
    assert "give" in findings[0].message


def test_every_fault_of_a_row_is_reported_at_once():
    found = read(Type="Vision", Name="", OffersEligibility="maybe")
    assert found == [("PAY002", "Type"), ("PAY001", "Name"), ("PAY002", "OffersEligibility")]


def test_a_field_nobody_knows_is_named():
    (finding,) = unknown_field_findings(["Type", "payerid", "Color"])
    assert (finding.rule, finding.location) == ("PAY003", "Color")


def test_what_a_message_quotes_is_short_and_harmless():
    assert printable("a\x1b[31mb") == "a?[31mb"
    assert len(printable("x" * 1_000)) < 50
