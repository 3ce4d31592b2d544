"""What a payer answered is stored in our own type and reads back as it was, from every public file.

Also tests `inquiry/inquiry_result`.
"""

from decimal import Decimal
from random import Random

import msgspec
import pytest

from clearlane.eligibility import benefit_answer, read_271
from clearlane.eligibility.benefit_answer import decode_result
from clearlane.inquiry.inquiry_result import (
    InquiryResult,
    ValidationResult,
    decode_results,
    encode_result,
    encode_results,
    request_status,
)
from tests.cases import every_case, full_or_quick
from tests.corpus import corpus_files
from tests.eligibility.invented import HEAD, NOON, PERSON, RECEIVER, TRACE, answered, inquiry
from tests.eligibility.values_271 import lost_rows, rows_of
from tests.x12 import samples_other

WHOLE = answered(
    *HEAD, *RECEIVER, *PERSON, "EB*A*IND*30^98*HM*GOLD*23*100.50*.1*VS*12*Y*W*HC:99213:25", "DTP*348*D8*20240101",
    "REF*6P*G1", "MSG*FIRST", "LS*2120", "NM1*P3*1*BIRCH*NORA****XX*1679576722", "LE*2120",
)  # fmt: skip


def stored(one, asked=None, trace=""):
    built = read_271.build_answer(one, asked, document_id="D1", created_at=NOON, trace=trace)
    return InquiryResult(answer=built, x12=one.content)


def test_an_outcome_reads_back_as_it_was_stored():
    outcome = stored(WHOLE, inquiry(), TRACE)
    back = decode_result(encode_result(outcome))
    assert back == outcome
    [benefit] = back.answer.patient.benefits
    assert (str(benefit.amount), benefit.dates[0].start.year) == ("100.50", 2024)
    assert (back.answer.created_at, back.answer.caller_trace.number) == (NOON, "visit 7")


def test_stored_values_keep_their_names():
    """A view of the 271 that renames a field would lose the values stored before."""
    rows = ("EB*B*IND*98****20.50*****Y", "DTP*348*D8*20240101", "REF*6P*G1*GOLD", "MSG*FIRST")
    one = answered(*HEAD, *RECEIVER, PERSON[0], *PERSON[4:], *rows)
    found = msgspec.msgpack.decode(encode_result(stored(one, inquiry(), TRACE)))["answer"]
    assert found["source"]["party"] | {"role_words": ""} == {
        "role": "PR", "role_words": "", "kind": "2", "name": "SANDBOX MEDICAL", "id_qualifier": "PI", "id": "TST01",
    }  # fmt: skip
    assert found["subscriber"]["benefits"] == [
        {
            "benefit": "B", "benefit_words": "Copayment", "level": "IND", "level_words": "Individual",
            "service_types": ["98"], "service_types_words": ["Physician visit, office"], "amount": "20.50",
            "in_network": "Y", "dates": [{"qualifier": "348", "start": "2024-01-01"}],
            "references": [{"qualifier": "6P", "value": "G1", "description": "GOLD"}], "messages": ["FIRST"],
        }
    ]  # fmt: skip


@every_case("sample", corpus_files("271"))
def test_every_public_answer_reads_back_as_it_was_stored(sample):
    for one in read_271.read(sample.path.read_bytes()).answers[:5]:
        assert decode_result(encode_result(stored(one))) == stored(one)


def assert_nothing_is_lost(data: bytes) -> None:
    rows, component = rows_of(data)
    answers = [stored(one).answer for one in read_271.read(data).answers]
    found = msgspec.to_builtins(answers)
    assert lost_rows(rows, component, found, lambda day: f"{day[:4]}-{day[4:6]}-{day[6:]}") == []


@every_case("sample", corpus_files("271"))
def test_public_files_are_stored_without_loss(sample):
    assert_nothing_is_lost(sample.path.read_bytes())


@every_case("seed", range(full_or_quick(40, 8)))
def test_random_files_are_stored_without_loss(seed):
    rows = samples_other.made(Random(seed), "271")
    assert_nothing_is_lost(samples_other.interchange("271", [rows]).encode())


def test_validation_results_read_back_as_they_were_stored():
    results = (ValidationResult(location="IsTest", code="TestInProduction", message="No test."),)
    assert decode_results(encode_results(results)) == results


@pytest.mark.parametrize(
    ("sent", "awaited", "status"),
    [
        (0, 0, "nothing sent"), (1, 1, "incomplete"), (2, 1, "incomplete"), (1, 0, "complete"),
        (2, 0, "complete"),
    ],
)  # fmt: skip
def test_the_status_follows_from_what_is_awaited(sent, awaited, status):
    assert request_status(sent, awaited) == status


@pytest.mark.parametrize(
    ("sent", "share"), [(".1", "0.1"), ("0", "0"), ("1", "1"), ("20", "0.2"), ("", None)]
)
def test_the_share_of_the_patient_is_a_fraction(sent, share):
    one = answered(*HEAD, *RECEIVER, *PERSON, f"EB*A**30*****{sent}*VS*1")
    found = benefit_answer.patient_share(one.subscriber.benefits[0])
    assert found == (None if share is None else Decimal(share))


def test_values_print_nothing_of_a_patient():
    outcome = stored(WHOLE, inquiry())
    assert "ROSA" not in repr(outcome) + repr(outcome.answer) + repr([outcome])
