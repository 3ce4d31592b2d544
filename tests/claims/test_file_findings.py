"""The claim rules over 837 files: the same findings as over JSON, once each, at their places, for any file."""

import json
import re
import tracemalloc
from collections import Counter
from datetime import date
from itertools import chain
from random import Random

import pytest
from typer.testing import CliRunner

from clearlane.claims.finding import LEFT_OUT
from clearlane.claims.forms import V3_MEDICAL
from clearlane.claims.forms.x12_form import FORMS_BY_TRANSACTION
from clearlane.claims.read import decode
from clearlane.claims.rules import RULES, RuleInputs, repair_and_check
from clearlane.claims.rules.file_findings import FileFindings, file_rules
from clearlane.cli.x12.x12 import app
from clearlane.kernel import limits
from clearlane.kernel.finding import Severity
from clearlane.x12 import rules as x12_rules
from clearlane.x12.checker.check import check
from clearlane.x12.checker.finding_catalogue import FINDING_TYPES
from tests.cases import by_profile, full_or_quick
from tests.claims.mutated_claims import mutated_claims
from tests.claims.outgoing import medical, outgoing, random_claims, written
from tests.claims.test_rules import TODAY
from tests.corpus import corpus_files, public_samples

TRANSACTIONS = ("837P", "837D", "837I")
FORM_OF_KIND = {form.kind: form for form in FORMS_BY_TRANSACTION.values()}
MUTATED_CLAIMS = by_profile(thorough=1_000, usual=500, quick=300)
MUTATIONS = full_or_quick(15, 3)
"""Mutations of each sample."""

# Rules that fire on the public samples, which their authors call valid for the most part.
TRUE_ALARMS = {
    "C209": "A sample whose people are named by loops, such as 2330A1.",
    "C211": "Samples of Medicare claims with invented numbers.",
    "C401": "Two samples have a post office box as the billing address, which 5010 forbids.",
    "C304": "Samples with invented NPIs, some of them of claims that are clean else.",
    "C307": "Samples with invented telephone numbers.",
    "C308": "Samples with invented taxonomy codes.",
    "C309": "Samples with tax numbers of other lengths.",
    "C416": "A sample of a missing loop 2010AA.",
    "C417": "A sample of a dentist who bills and treats.",
    "C431": "Samples with invented addresses.",
    "C503": "M54.5 was divided into finer codes in 2021.",
    "C510": "A sample with two pointers and one diagnosis.",
    "C617": "Samples of one visit in a span of days.",
    "C812": "A sample of tooth numbers without a day of service.",
    "C701": "Samples whose lines do not add up to the total.",
    "I101": "Samples with the separators of another file, and one with the whole type of bill in CLM05-1.",
    **dict.fromkeys(
        ("I111", "I113", "I120", "I123", "I133", "I153", "I159", "I173", "I177"),
        "A sample of the syntax alone, whose days are ten years apart.",
    ),
    "I112": "A sample of an outpatient with an admission.",
    **dict.fromkeys(("I145", "I174"), "A sample of an operation by no one, with days as units."),
}
# Rules that find something in the JSON of a claim and not in the file that we write of it.
ONLY_JSON = {
    "C201": "An 837 states a patient who is the subscriber once.",
    "C203": "5010 has no birth date of a subscriber who is not the patient.",
    "C204": "5010 has no birth date of a subscriber who is not the patient.",
    "C205": "5010 has no birth date of another insured, nor of a subscriber who is not the patient.",
    "C206": "5010 has no birth date of another insured, nor of a subscriber who is not the patient.",
    "C210": "Another insured without a payer's name is left out.",
    "C431": "A patient who is the subscriber is stated once.",
    "C501": "The version is that of the codes in the file.",
    "C502": "A code with a separator is two values.",
    "C503": "More diagnoses than the guide takes are left out.",
    "C504": "More diagnoses than the guide takes are left out.",
    "C507": "Blank places are left out.",
    "C509": "A code in a file has a version.",
    "C510": "A pointer to no diagnosis is left out.",
    "C511": "More than four pointers are left out.",
    "C512": "A repeated pointer is left out.",
    "C513": "A code with a separator is two values.",
    "C523": "A patient who is the subscriber is stated once.",
    "C524": "A patient who is the subscriber is stated once.",
    "C605": "A line without units has one.",
    "C754": "A decision without a payer's name has no id, by which lines refer to it.",
    "C755": "A decision without a payer's name has no id, by which lines refer to it.",
    "C759": "The day of the claim's decision is left out if lines have theirs.",
    "C801": "A line of an 837D has a day, not a period.",
    "C802": "A predetermination states no days.",
    "C803": "A predetermination states no days, and a patient who is the subscriber has one birth date.",
    "C809": "A patient who is the subscriber is stated once.",
    "C855": "A predetermination states no days of service, after which its accident could be.",
    "C902": "An original leaves the number of an earlier claim out.",
    "C906": "A number of a rendering provider without a name is left out.",
    "D103": "Surfaces without a tooth are left out.",
    "D104": "More than 32 teeth are left out.",
    "D112": "Months without orthodontics are left out.",
    "D109": "More than 35 teeth are left out.",
}
# And the other way round.
ONLY_FILE = {
    "C504": "A code beside one that cannot be read.",
    "C523": "A patient who is the subscriber has the subscriber's birth date.",
    "C612": "Lines that differ in what is not sent.",
    "C753": "A decision without a payer's name has no id, by which lines refer to it.",
    "C754": "More adjustments of a group than the guide takes are left out.",
    "C755": "A decision without a payer's name has no id, by which lines refer to it.",
    "C803": "A patient who is the subscriber has the subscriber's birth date.",
}


def findings(data, today=TODAY):
    return check(data, findings_of=FileFindings(today)).findings


def claim_findings(data, today=TODAY):
    return [each for each in findings(data, today) if each.rule in RULES]


@pytest.fixture(scope="module")
def both():
    """The findings of mutated claims as JSON and as files: the file, and those of either."""
    found = []
    for claim in mutated_claims(MUTATED_CLAIMS):
        read = decode.read_claim(claim.kind, claim.raw.encode(), "")
        if read.claim is None:
            continue
        inputs = RuleInputs(today=TODAY, available=frozenset())
        checked = repair_and_check(read.claim, inputs)
        try:
            data = written([outgoing(checked.claim)])
        except UnicodeEncodeError:
            continue  # Such a claim is not accepted, and never written.
        found.append((claim.kind, data, checked.findings, findings(data)))
    return found


@pytest.mark.slow
def test_rules_find_the_same_in_json_and_in_the_file_written_of_it(both):
    fired, only_json, only_file = Counter(), set(), set()
    for form, _, in_json, in_file in both:
        rules = chain.from_iterable(file_rules(FORM_OF_KIND[form.kind]))
        own = {rule.id for rule in rules if rule.applies_to(form)}
        of_json = {each.rule for each in in_json} & own
        if any(each.rule == LEFT_OUT for each in in_json):
            continue  # Findings of such a claim are counted, not listed.
        of_file = {each.rule for each in in_file} & own
        fired.update(of_json & of_file)
        only_json |= of_json - of_file
        if all(each.rule != LEFT_OUT for each in in_json):
            only_file |= of_file - of_json
    assert sorted(only_json - ONLY_JSON.keys()) == []
    assert sorted(only_file - ONLY_FILE.keys()) == []
    assert len(fired) > full_or_quick(48, 30)


def test_a_covered_finding_is_never_shown_beside_that_of_the_claim_rule(both):
    pairs = Counter()
    for _, data, _, in_file in both:
        engine = check(data).findings
        shown = {each.rule for each in in_file}
        for rule in filter(None, map(RULES.get, shown)):
            for covered in rule.covers:
                pairs[rule.id] += any(each.rule == covered for each in engine)
                assert covered not in shown, (rule.id, covered)
        assert {each.rule for each in engine} - shown <= {
            covered for rule in filter(None, map(RULES.get, shown)) for covered in rule.covers
        }
    assert len(+pairs) > full_or_quick(15, 8)


def test_covered_rules_exist():
    x12_rules.rules_for("837P", "2300")
    named = {covered for rule in RULES.values() for covered in rule.covers}
    assert named
    assert named <= x12_rules.RULES.keys() | FINDING_TYPES.keys()


def test_a_rule_that_does_not_apply_to_files_covers_nothing_and_says_why():
    for rule in RULES.values():
        if rule.not_in_files:
            assert not rule.covers, rule.id
            assert rule.not_in_files.endswith("."), rule.id
    for form in FORMS_BY_TRANSACTION.values():
        claim_rules, _ = file_rules(form)
        assert len(claim_rules) > 30


@pytest.mark.skipif(not public_samples(), reason="there is no corpus")
def test_the_public_samples_raise_true_alarms_only():
    seen = set()
    for sample in public_samples():
        if sample.kind in TRANSACTIONS:
            found = claim_findings(sample.path.read_bytes(), date(2027, 1, 1))
            seen |= {each.rule for each in found}
    assert seen == TRUE_ALARMS.keys()


@pytest.mark.parametrize("sample", corpus_files(*TRANSACTIONS))
def test_no_mutation_of_a_sample_breaks_the_view_or_a_rule(sample):
    data, rng = sample.path.read_bytes(), Random(sample.path.name)
    for _ in range(MUTATIONS):
        for each in findings(mutated(data, rng), date(2027, 1, 1)):
            assert each.message


def mutated(data, rng):
    """Drop, blank, repeat or garble some segments and elements; the ISA stays."""
    end = data[105:106]
    head, *segments = data.split(end)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(segments))
        elements = segments[at].split(data[3:4])
        place = rng.randrange(len(elements))
        match rng.randrange(5):
            case 0:
                del segments[at]
            case 1:
                elements[place] = b"" if place else elements[place]
            case 2:
                elements = elements[: place + 1]
            case 3:
                value = (b"X", b"-", b"99999999", b"1E5", b":::", b"20261341", b"0", b"\xff")
                elements[place] = rng.choice(value) if place else elements[place]
            case _:
                segments.insert(at, segments[rng.randrange(len(segments))])
                continue
        if at < len(segments):
            segments[at] = data[3:4].join(elements)
        if not segments:
            break
    return end.join([head, *segments])


def test_a_finding_is_at_its_place_in_the_file():
    claim = medical(F28_TotalCharge="99.00", F33_BillingProviderAddress1="PO BOX 12")
    data = written([outgoing(claim)])
    segments = [text.split("*") for text in data.decode().split("~")]
    found = {each.rule: each for each in claim_findings(data)}
    for rule, segment, loop, element in (("C701", "CLM", "2300", 2), ("C401", "N3", "2010AA", 1)):
        at = found[rule].position
        assert (at.segment_id, at.loop, at.element) == (segment, loop, element)
        assert segments[at.file_segment - 1][0].strip() == segment
        assert at.file_segment == at.segment + 2
        assert found[rule].severity is Severity.ERROR
        assert "PO BOX" not in repr(found[rule])
    assert not {each.rule for each in findings(data)} & {"X837-TOTAL"}


def test_a_finding_about_a_provider_is_reported_once_for_all_its_claims():
    claim = medical(F33_BillingProviderAddress1="PO BOX 12", F28_TotalCharge="99.00")
    data = written([outgoing(claim, number) for number in range(1, 6)])
    assert Counter(each.rule for each in claim_findings(data)) >= Counter({"C401": 1, "C701": 5})
    assert [each.rule for each in claim_findings(data)].count("C401") == 1


def test_a_value_that_cannot_be_read_is_reported_by_the_guide_alone():
    claim = medical(F10C_PatientCondOtherAccident=True, F15_AccidentDate="2025-03-01")
    data = written([outgoing(claim)])
    assert not {each.rule for each in claim_findings(data)} & {"C851", "C701"}
    data = data.replace(b"DTP*439*D8*20250301", b"DTP*439*D8*20251341")
    data = re.sub(rb"CLM\*(\w+)\*[\d.]+\*", rb"CLM*\1*1O0*", data)
    assert not {each.rule for each in claim_findings(data)} & {"C851", "C701", "C703"}
    assert any(each.rule.startswith("ELM-") for each in findings(data))


@pytest.mark.parametrize("sample", corpus_files("835", "999", "277CA", "271"))
def test_other_files_have_the_findings_of_the_engine(sample):
    data = sample.path.read_bytes()
    assert findings(data) == check(data).findings


@pytest.mark.slow
def test_claims_are_read_one_at_a_time():
    claims = [*random_claims(V3_MEDICAL, 20)]
    peaks = []
    for repeats in (1, 1, by_profile(thorough=10, usual=5, quick=4)):  # The first fills caches.
        outs = [outgoing(claim, at) for at, claim in enumerate(claims * repeats, 1)]
        data = written(outs)
        chunks = (data[at : at + 4096] for at in range(0, len(data), 4096))
        found = FileFindings(TODAY)
        tracemalloc.start()
        check(chunks, findings_of=found)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Several times the claims have some findings more, and no view of theirs is kept.
    assert peaks[2] < peaks[1] + 2_000_000


def test_a_claim_that_is_cut_off_is_not_checked(monkeypatch):
    claim = medical(F28_TotalCharge="99.00")
    data = written([outgoing(claim)])
    assert claim_findings(data)
    monkeypatch.setattr(limits, "SEGMENTS_HELD_MAX", 12)
    chunks = [data[at : at + 50] for at in range(0, len(data), 50)]
    found = findings(chunks)
    assert "FILE-MEMORY" in {each.rule for each in found}
    assert not {each.rule for each in found} & RULES.keys()


def test_the_command_shows_findings_of_claim_rules_in_the_order_of_the_file(tmp_path):
    claim = medical(F28_TotalCharge="99.00", F33_BillingProviderAddress1="PO BOX 12")
    path = tmp_path / "claims.837"
    path.write_bytes(written([outgoing(claim)]))
    answer = CliRunner().invoke(app, ["check", "--json", str(path)])
    assert answer.exit_code == 1
    shown = json.loads(answer.stdout)["findings"]
    numbers = [each["file_segment"] for each in shown]
    assert numbers == sorted(numbers)
    assert [each["rule"] for each in shown if each["segment_id"] == "N3"] == ["C401"]
    total = next(each for each in shown if each["rule"] == "C701")
    assert (total["loop"], total["segment_id"], total["element"]) == ("2300", "CLM", 2)
    table = CliRunner().invoke(app, ["check", str(path)]).stdout
    assert "[C701]" in table
    assert "[X837-TOTAL]" not in table
