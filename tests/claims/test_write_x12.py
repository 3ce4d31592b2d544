"""Claims of senders' files go out as they came: only what an intermediary must change is changed.

Also tests `claims/write/explain_file_claim` and `claims/write/field_explanation`.
"""

from dataclasses import replace

import pytest
from x12sdk.io import X12ModelReader

from clearlane.claims.forms import form_of
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.responses.explain import explain
from clearlane.claims.write.line_controls import line_controls
from clearlane.claims.write.write_837 import account_of, claim_account
from clearlane.claims.write.write_x12 import passing_changes, payer_id_of
from clearlane.x12.checker.check import check
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader.reader import parse
from tests.cases import every_case
from tests.claims.file_claims import CROWN, VISITS, claims_in, sent
from tests.claims.outgoing import ENVELOPE, medical, outgoing, refusals, written
from tests.corpus import corpus_files
from tests.x12.x12sdk_witness import refusals_of_837i

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


@every_case("sample", corpus_files("837P", "837D", "837I"))
def test_a_file_goes_out_without_a_change_that_is_not_named_and_a_clean_one_clean(sample, caplog):
    source = sample.path.read_bytes()
    for own in by_payer(claims_in(source)):
        data = written(sent(own))
        back = claims_in(data)
        for claim in own:  # what finds a claim again is read without its view
            view = form_of(claim).view(claim)
            assert line_controls(claim, "") == [line.control_number or "" for line in view.lines]
            assert account_of(claim) == claim_account(view.account_number)
        # Billing providers are grouped again, so the order may differ.
        assert sorted(map(level_texts, back)) == sorted(map(level_texts, own))
        numbers = [f"C{n:018}" for n in range(1, len(own) + 1)]
        assert sorted(one.sender_trace for one in back) == numbers
        if not check([source]).errors:
            assert not check([data]).errors
        # The witnesses know no dental claims.
        if sample.clean and sample.kind == "837I":
            assert (refusals(data, caplog), refusals_of_837i(data)) == ([], set())
        if sample.clean and sample.kind == "837P":
            assert refusals(data, caplog) == []
            with X12ModelReader(data.decode()) as found:
                assert len([*found.models()]) == 1


def test_claims_of_files_and_of_json_share_a_file_and_its_levels():
    claims = claims_in(VISITS.read_bytes())
    outs = [outgoing(medical(), 9), *sent(claims, payer_id="MM001")]
    data = written(outs)
    assert check([data]).errors == 0
    (only,) = parse(data).sets()
    heads = [one for one in only.all_segments() if one[0] == "HL"]
    assert [one[1] for one in heads] == [str(n) for n in range(1, len(heads) + 1)]
    payers = {payer_id_of(claim) for claim in claims_in(data)}
    assert payers == {"MM001"}


def test_a_set_has_claims_of_one_type():
    first, second = claims_in(VISITS.read_bytes())
    encounters = claims_in(VISITS.read_bytes().replace(b"*0915*CH~", b"*0915*RP~"))
    data = written(sent([first, *encounters, second], payer_id="MM001"))
    assert check([data]).errors == 0
    types = [one.root.value("BHT", 6) for one in parse(data).sets()]
    assert types == ["CH", "RP"]
    assert len(claims_in(data)) == 4


def test_claims_of_one_level_share_it_and_a_provider_is_written_once():
    first, second = claims_in(VISITS.read_bytes())
    data = written(sent([first, first, second, first], payer_id="MM001"))
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
    out = written(sent([first])).decode()
    assert "REF*G1*AUTH1~REF*D9*C000000000000000001~REF*EA*REC1~" in out


@pytest.mark.parametrize("file", ["*:^~", "|>!'"])
def test_a_value_that_holds_a_separator_of_ours_changes_the_separators_of_the_file(file):
    text = VISITS.read_text().replace("\n", "")
    text = text.replace("44 BIRCH ROAD", "44 BIRCH ROAD #")
    swapped = text.translate(str.maketrans("*:^~", file))
    held = swapped.replace("#", ":") if file != "*:^~" else swapped
    own = claims_in(held.encode())
    data = written(sent(own, payer_id="MM001"))
    assert check([data]).errors == 0
    street = "44 BIRCH ROAD :" if file != "*:^~" else "44 BIRCH ROAD #"
    assert street.encode() in data
    usual = replace(ENVELOPE, delimiters=Delimiters("|", ">", "^", "~"))
    assert check([written(sent(own, payer_id="MM001"), usual)]).errors == 0


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_lower_case_stays_and_what_x12_cannot_carry_is_plain_and_named(encoding):
    given = "Mu\u00f1oz\u2013O\u2019Dell*MIL\u00d6\u2026\u00a0B".encode(encoding)
    first, _ = claims_in(VISITS.read_bytes().replace(b"ARDEN*MILO", given))
    assert b"*Munoz-O'Dell*MILO... B~" in written(sent([first]))
    assert [*passing_changes(first, payer_id_of(first))] == [
        "Letters that X12 cannot carry go out as plain ones.",
        "Typographic signs (quotes, dashes, an ellipsis, blanks that do not break) go out as plain ones.",
    ]
    assert all("would go" in one for one in passing_changes(first, "MM001", is_shadow=True))
    rows = explain(replace(sent([first])[0], hop_payer_id="60054"))
    said = {row.label: row for row in rows}
    assert "Mu\u00f1oz\u2013O\u2019Dell*MIL\u00d6\u2026" in said["Patient"].given
    assert "*PI*60054" in said["Payer"].sent[0].value
    assert "upstream clearinghouse" in said["Payer"].derived


def test_a_payer_that_takes_no_small_letters_gets_capital_ones_but_for_numbers_that_come_back():
    given = VISITS.read_bytes().replace(b"ARDEN*MILO", b"Arden*Milo").replace(b"CLM*", b"CLM*a")
    first, _ = claims_in(given.replace(b"REF*6R*", b"REF*6R*x"))
    (out,) = sent([first])
    data = written([replace(out, capital_letters=True)])
    assert b"*ARDEN*MILO~" in data
    assert b"CLM*a" in data
    assert b"REF*6R*x" in data
    named = [*passing_changes(first, payer_id_of(first), is_capital=True)]
    assert named == ["Small letters go out as capital ones, because the payer takes no others."]
    assert [*passing_changes(first, payer_id_of(first))] == []


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
