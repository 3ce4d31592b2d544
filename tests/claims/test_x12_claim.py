"""A claim of a sender's file as a value: stored and restored, read again, located in the file, and patched.

Also tests `claims/forms/x12_loops`, `claims/forms/x12_changes` and `claims/forms/x12_segments`.
"""

import re
from weakref import ref

import msgspec
import pytest

from clearlane.claims import fields
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_changes import element_at, parse_location
from clearlane.claims.forms.x12_form import VIEWS_REMEMBERED_MAX, LoopsAround
from clearlane.claims.forms.x12_loops import UnitLevels, claim_findings
from clearlane.claims.forms.x12_segments import (
    element_sent_at,
    elements_at,
    name_at,
    segments_of,
)
from clearlane.claims.kinds import KINDS, X12
from clearlane.claims.read.decode import restore_claim
from clearlane.claims.responses.explain_findings import explain_findings, finding_reason
from clearlane.claims.write.sent_layout import read_layout
from clearlane.claims.write.write_837 import write_claims
from clearlane.kernel.finding import Severity
from clearlane.x12.checker.check import check
from clearlane.x12.guides import by_kind
from tests.cases import every_case
from tests.claims.file_claims import CROWN, VISITS, claims_in, sent, units_in
from tests.claims.flat_view import flat
from tests.claims.outgoing import ENVELOPE, RECEIVER, SUBMITTER
from tests.corpus import corpus_files


@every_case("sample", corpus_files("837P", "837D"))
def test_a_stored_claim_has_the_view_and_the_places_of_the_claim_in_its_file(sample):
    units, levels, around = units_in(sample.path.read_bytes()), UnitLevels(), LoopsAround()
    for unit, claim in zip(units, claims_in(sample.path.read_bytes()), strict=True):
        assert levels.claim_of(unit) == claim
        stored = restore_claim(X12, fields.encode(claim))
        assert stored == claim
        form = form_of(stored)
        loops = levels.loops_around(unit)
        in_file = form.view_of_loops(unit.loop, loops, unit.set.first_segment, around)
        view = form.view(stored)
        assert flat(view) == flat(in_file)
        assert view.form.known.keys() == in_file.form.known.keys()
        for path in view.form.known:
            assert view.form.locate(path) == in_file.form.locate(path)


@every_case("sample", corpus_files("837P", "837D"))
def test_its_segments_are_those_of_the_file_at_their_numbers(sample):
    data = sample.path.read_bytes()
    whole = []
    for event in units_in(data)[:1]:
        interchange = event.set.group.interchange
        text = data.decode("latin-1").translate(interchange.delimiters.to_canonical())
        whole = [one.strip() for one in text.split("~")]
    for claim in claims_in(data):
        for one in segments_of(claim):
            assert "*".join(one.segment) == whole[one.number - 1]


@every_case("sample", corpus_files("837P", "837D"))
def test_a_position_in_our_file_leads_to_the_segment_in_the_senders(sample):
    data = sample.path.read_bytes()
    claims = claims_in(data)
    if not claims:
        return
    outs = [one for one in sent(claims) if one.claim.claim_type == claims[0].claim_type]
    file = b"".join(write_claims(outs, ENVELOPE, SUBMITTER, RECEIVER))
    ours = [set.split("~") for set in re.findall(r"ST\*.*?~SE\*[^~]*", file.decode("latin-1"))]
    first = read_layout(file)
    keys = [(one.group, one.control) for one in first.sets]
    wanted = {
        (*key, at) for key, rows in zip(keys, ours, strict=True) for at in range(1, len(rows) + 1)
    }
    layout = read_layout(file, positions=wanted)
    by_number = {one.number: one.claim for one in outs}
    checked = 0
    for (*key, at), segment in layout.segments.items():
        if not segment.offset:
            continue
        of_set = layout.sets[keys.index(tuple(key))]
        for one in of_set.claims_at(at):
            found = element_sent_at(by_number[one.number], segment.level, segment.offset)
            number = int(re.search(r"segment (\d+)", found.location)[1])
            rows = {n: row for n, _, row in by_number[one.number].numbered_segments()}
            went = ours[keys.index(tuple(key))][at - 1].split("*")
            assert rows[number][0] == went[0]
            assert went[0] in ("HL", "NM1") or rows[number] == went, sample.path.name
            checked += 1
    assert checked > 10


def test_the_form_serves_the_kinds_of_its_transactions():
    professional, *_ = claims_in(VISITS.read_bytes())
    (crown, *_) = claims_in(CROWN.read_bytes())
    for claim, kind in ((professional, "medical"), (crown, "dental")):
        form = form_of(claim)
        assert (form.name, form.kind) == (X12, kind)
        assert X12 in KINDS[form.kind].submitted_on
        assert form.guide is by_kind(claim.transaction)
        assert form.value(claim, "vendor_claim_id") == form.view(claim).vendor_claim_id
    assert (professional.usage, professional.claim_type, professional.sender_trace) == (
        "T",
        "CH",
        "",
    )
    assert "ARDEN" not in repr(professional) + repr(professional.parts)


def test_an_element_that_a_finding_names_is_patched_and_the_rest_stays():
    claim, *_ = claims_in(VISITS.read_bytes())
    form = form_of(claim)
    view = form.view(claim)
    at = view.form.locate("lines[0].procedure")
    assert at == "2400/SV101-2 (segment 32)"
    assert element_at(claim, parse_location(at)) == "99213"
    changed = form.with_changes(claim, {at: "99214", "lines[1].charge": "60"})
    assert form.view(claim).lines[0].procedure == "99213"
    assert [line.procedure for line in form.view(changed).lines] == ["99214", "87880"]
    assert form.view(changed).lines[1].charge == 60
    differing = [
        (one.location(), two.segment)
        for one, two in zip(segments_of(claim), segments_of(changed), strict=True)
        if one.segment != two.segment
    ]
    assert [location for location, _ in differing] == [
        "2400/SV1 (segment 32)",
        "2400/SV1 (segment 36)",
    ]


def test_findings_with_the_same_words_are_of_different_lines():
    claim, *_ = claims_in(VISITS.read_bytes())
    at = ("2400/SV103 (segment 32)", "2400/SV1 (segment 36)", "2300/CLM02 (segment 28)")
    findings = [
        ClaimFinding(
            rule="ELM-CODE", severity=Severity.ERROR, location=one, message="One of MJ, UN"
        )
        for one in at
    ]
    explained = explain_findings(claim, findings)
    assert [one.line for one in explained] == [1, 2, 0]
    assert [finding_reason(one) for one in explained] == [
        "One of MJ, UN (line 1)", "One of MJ, UN (line 2)", "One of MJ, UN",
    ]  # fmt: skip


def test_a_replacement_gets_the_payers_number_and_keeps_the_numbers_of_its_segments():
    claim, *_ = claims_in(VISITS.read_bytes())
    form = form_of(claim)
    changed = form.with_changes(claim, {"frequency": "7", "original_reference": "8812"})
    view = form.view(changed)
    assert (form.frequency(changed), view.original_reference) == ("7", "8812")
    assert view.form.locate("original_reference") == "2300/REF02"
    own = view.form.locate("lines[1].charge")
    assert own == form.view(claim).form.locate("lines[1].charge")
    back = form.with_changes(changed, {"frequency": "1", "original_reference": None})
    assert [part.text for part in back.parts] == [part.text for part in claim.parts]
    with pytest.raises(ValueError, match="cannot be written"):
        form.with_changes(claim, {"diagnoses": "J0190"})


def test_each_claim_has_its_own_findings_of_the_file():
    data = VISITS.read_bytes().replace(b"HC:99214*120*UN", b"HC:99214*12X*UN")
    first, second = claims_in(data)
    findings = check([data]).findings
    assert claim_findings(first, findings) == ()
    assert "2400" in {one.position.loop for one in claim_findings(second, findings)}


def test_a_payers_complaint_is_found_in_the_senders_file():
    first, second = claims_in(VISITS.read_bytes())
    (npi,) = elements_at(first, "2010AA/NM1/09")
    assert npi.location == "2010AA/NM109 (segment 10)"
    assert npi.name == "Billing provider: identifier" == name_at("837P", npi.location)
    (charge,) = elements_at(first, "2400/SV1/02", line=2)
    assert (charge.location, charge.line, charge.text) == ("2400/SV102 (segment 36)", 2, "55.5")
    # The second patient is the subscriber.
    (birth,) = elements_at(second, "2010CA/DMG/02")
    assert birth.location == "2010BA/DMG02 (segment 44)"
    assert elements_at(first, "/NM1/09") == []


def test_a_view_is_remembered_as_long_as_it_is_held_or_among_the_last_ones():
    (claim, *_) = claims_in(VISITS.read_bytes())
    form = form_of(claim)
    held = form.view(claim)
    before = msgspec.json.encode(claim)
    others = [msgspec.structs.replace(claim) for _ in range(VIEWS_REMEMBERED_MAX)]
    for one in others:
        form.view(one)
    assert form.view(claim) is held
    assert form.view(others[0]) is not held, "each claim has its own"
    died = ref(held)
    del held
    assert died() is None, "a claim does not keep its view"
    assert form.view(claim).patient == form.view(others[0]).patient
    assert msgspec.json.encode(claim) == before
    assert claim == others[0]
