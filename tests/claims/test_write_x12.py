"""Claims of senders' files go out as they came: only what an intermediary must change is changed.

Also tests `claims/write/explain_file_claim` and `claims/write/field_explanation`.
"""

from dataclasses import replace

import pytest
from x12sdk.io import X12ModelReader

from clearlane.claims.kinds import ClaimKind
from clearlane.claims.responses.explain import explain
from clearlane.claims.write.write_x12 import payer_id_of
from clearlane.x12.checker.check import check
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader.reader import parse
from tests.cases import every_case
from tests.claims.file_claims import CROWN, VISITS, claims_in, sent
from tests.claims.outgoing import ENVELOPE, medical, outgoing, refusals, written
from tests.corpus import corpus_files

MEDICAL = ClaimKind.MEDICAL


def level_texts(claim):
    """Return the segments of a claim by level, without what is numbered again or replaced."""
    found = []
    for part in claim.parts:
        own = [one for one in part.segments if one[0] != "HL"]
        if part.loop == "2300":
            own = [one for one in own if one[:2] != ["REF", "D9"]]
        found.append((part.loop, own))
    return found


def by_payer(claims):
    """Return claims as they are split: by payer and usage."""
    found = {}
    for claim in claims:
        found.setdefault((payer_id_of(claim), claim.usage), []).append(claim)
    return found.values()


@every_case("sample", corpus_files("837P", "837D"))
def test_a_file_goes_out_without_a_change_that_is_not_named_and_a_clean_one_clean(sample, caplog):
    source = sample.path.read_bytes()
    for own in by_payer(claims_in(source)):
        data = written(None, sent(own))
        back = claims_in(data)
        # Billing providers are grouped again, so the order may differ.
        assert sorted(map(level_texts, back)) == sorted(map(level_texts, own))
        numbers = [f"C{n:018}" for n in range(1, len(own) + 1)]
        assert sorted(one.sender_trace for one in back) == numbers
        if not check([source]).errors:
            assert not check([data]).errors
        # The witnesses: pyx12 for professional claims; x12sdk has no dental ones.
        if sample.clean and sample.kind == "837P":
            assert refusals(data, caplog) == []
            with X12ModelReader(data.decode()) as found:
                assert len([*found.models()]) == 1


def test_claims_of_files_and_of_json_share_a_file_and_its_levels():
    claims = claims_in(VISITS.read_bytes())
    outs = [outgoing(medical(), 9), *sent(claims, payer_id="MM001")]
    data = written(None, outs)
    assert check([data]).errors == 0
    (only,) = parse(data).sets()
    heads = [one for one in only.all_segments() if one[0] == "HL"]
    assert [one[1] for one in heads] == [str(n) for n in range(1, len(heads) + 1)]
    payers = {payer_id_of(claim) for claim in claims_in(data)}
    assert payers == {"MM001"}


def test_a_set_has_claims_of_one_type():
    first, second = claims_in(VISITS.read_bytes())
    encounters = claims_in(VISITS.read_bytes().replace(b"*0915*CH~", b"*0915*RP~"))
    data = written(None, sent([first, *encounters, second], payer_id="MM001"))
    assert check([data]).errors == 0
    types = [one.root.value("BHT", 6) for one in parse(data).sets()]
    assert types == ["CH", "RP"]
    assert len(claims_in(data)) == 4


def test_claims_of_one_level_share_it_and_a_provider_is_written_once():
    first, second = claims_in(VISITS.read_bytes())
    data = written(None, sent([first, first, second, first], payer_id="MM001"))
    assert check([data]).errors == 0
    heads = [one[3:] for s in parse(data).sets() for one in s.all_segments() if one[0] == "HL"]
    assert heads == [
        ["20", "1"], ["22", "1"], ["23", "0"], ["22", "0"], ["22", "1"], ["23", "0"],
    ]  # fmt: skip


def test_the_senders_trace_number_is_replaced_in_its_place():
    data = VISITS.read_bytes().replace(
        b"HI*ABK:J0190", b"REF*G1*AUTH1~\nREF*D9*HIS-7~\nREF*EA*REC1~\nHI*ABK:J0190"
    )
    first, _ = claims_in(data)
    assert first.sender_trace == "HIS-7"
    out = written(None, sent([first])).decode()
    assert "REF*G1*AUTH1~REF*D9*C000000000000000001~REF*EA*REC1~" in out


@pytest.mark.parametrize("file", ["*:^~", "|>!'"])
def test_a_value_that_holds_a_separator_of_ours_changes_the_separators_of_the_file(file):
    text = VISITS.read_text().replace("\n", "")
    text = text.replace("44 BIRCH ROAD", "44 BIRCH ROAD #")
    swapped = text.translate(str.maketrans("*:^~", file))
    held = swapped.replace("#", ":") if file != "*:^~" else swapped
    own = claims_in(held.encode())
    data = written(None, sent(own, payer_id="MM001"))
    assert check([data]).errors == 0
    street = "44 BIRCH ROAD :" if file != "*:^~" else "44 BIRCH ROAD #"
    assert street.encode() in data
    usual = replace(ENVELOPE, delimiters=Delimiters("|", ">", "^", "~"))
    assert check([written(None, sent(own, payer_id="MM001"), usual)]).errors == 0


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_lower_case_stays_and_letters_that_x12_cannot_carry_are_plain(encoding):
    given = "Mu\u00f1oz*MIL\u00d6".encode(encoding)
    first, _ = claims_in(VISITS.read_bytes().replace(b"ARDEN*MILO", given))
    assert b"*Munoz*MILO~" in written(None, sent([first]))


def test_what_is_sent_of_a_claim_is_explained_segment_by_segment():
    (claim, *_) = claims_in(CROWN.read_bytes())
    (out,) = sent([claim], payer_id="SD001")
    rows = {row.field: row for row in explain(out)}
    payer = next(row for row in rows.values() if row.given.startswith("NM1*PR"))
    assert payer.sent[0].value.endswith("SD001")
    assert payer.derived
    level = next(row for row in rows.values() if row.given.startswith("HL*"))
    assert not level.sent
    assert level.not_sent
    assert all(row.sent for row in rows.values() if not row.given.startswith("HL*"))
