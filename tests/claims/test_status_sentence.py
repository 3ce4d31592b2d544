"""A payer's rejection in one plain sentence, from category, status and entity.

Also tests `claims/responses/payer_words`.
"""

from clearlane.claims.forms import V3_MEDICAL
from clearlane.claims.responses.code_advice import STATUS_PLACES
from clearlane.claims.responses.facts import Complaint, Fact, FactKind
from clearlane.claims.responses.payer_words import list_words, payers_words, short_reason
from clearlane.claims.responses.provenance import explain_complaints
from clearlane.claims.responses.status_sentence import (
    CLAUSES,
    FRAGMENTS,
    NO_THINGS,
    PLURALS,
    SENTENCES,
    status_sentence,
)
from clearlane.x12 import codes
from tests.cases import every_case
from tests.claims.test_provenance import NOW


@every_case(
    ("code", "sentence"),
    [
        ("A7:562:85", "The payer says the billing provider's NPI is invalid."),
        ("A6:562:82", "The payer says the rendering provider's NPI is missing."),
        ("A8:158:IL", "The payer says the insured's birth date does not agree with related values."),
        ("A8:187", "The payer says the service dates do not agree with related values."),
        ("A3:562:85", "The payer returned the claim because of the billing provider's NPI."),
        ("A6:126:QC", "The payer says the patient's address is missing."),
        ("A7:124:85", "The payer says the billing provider's name, address, telephone and identifier are invalid."),
        ("A7:453", "The payer says the procedure modifiers are invalid."),
        ("A7:196", "The payer says the return to work dates are invalid."),
        ("A7:507", "The payer says the HCPCS is invalid."),
        # A status that says by itself what is wrong.
        ("A3:26:85", "The payer says the billing provider was not found."),
        ("A7:88:QC", "The payer says the patient is not eligible for benefits on these dates."),
        ("A7:86", "The payer says the diagnosis does not go with the patient's sex."),
        ("A3:54", "The payer says: duplicate of a claim or line already processed."),
        ("A3:96:85", "The payer says: no agreement with the billing provider."),
        # Without an entity, or with one that is in no list.
        ("A7:562", "The payer says the NPI is invalid."),
        ("A7:562:ZZZ", "The payer says the NPI is invalid."),
        ("A7:26", "The payer says the party concerned was not found."),
        # No rejection, no status that is known, a question: the list's own text is shown.
        ("A4:562:85", ""), ("P1:562:85", ""), ("A7:9X9X:85", ""), ("A7:471", ""), ("A7", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_rejection_is_one_plain_sentence(code, sentence):
    assert status_sentence(code) == sentence


def test_every_status_with_fields_has_a_sentence_in_every_category():
    known = codes.load("statuses")
    assert known.keys() >= CLAUSES | FRAGMENTS | NO_THINGS | PLURALS
    for status in (STATUS_PLACES.keys() & known.keys() | CLAUSES | FRAGMENTS) - NO_THINGS:
        for category in SENTENCES:
            sentence = status_sentence(f"{category}:{status}:85")
            assert sentence.startswith("The payer "), status
            assert "ntity" not in sentence.replace("quantity", ""), sentence
            assert "the the " not in sentence, sentence


@every_case(
    ("source", "category", "words", "listed", "short"),
    [
        (
            "277CA", "A7", "The payer says the billing provider's NPI is invalid. The payer writes: CALL US",
            "Rejected: information is invalid. Entity's NPI (billing provider).",
            "The payer says the billing provider's NPI is invalid (box 33a)",
        ),
        ("277", "P1", "Pending: in process. Entity's NPI (billing provider). The payer writes: CALL US", "", "Box 33a, Billing provider's NPI: in process"),
    ],
)  # fmt: skip
def test_the_payers_text_stays_and_the_lists_text_stands_beneath(
    source, category, words, listed, short
):
    one = Complaint(source=source, category=category, code="562", entity="85", text="CALL US")
    fact = Fact(kind=FactKind.STATUS, at=NOW, source=source, complaints=(one,))
    [explanation] = explain_complaints(fact, V3_MEDICAL)
    assert payers_words(explanation) == words
    assert list_words(explanation) == listed
    assert short_reason(explanation) == short
