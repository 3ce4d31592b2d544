"""Whatever a field holds, a claim is refused or becomes a clean file: never a broken one, never a crash.

Every field of the catalogue is tried: of the claim, of a line, of a tooth and of an adjustment; in a claim
that has every field and in one that has few. The values are of the wrong type, too long, or hold what X12
uses or cannot carry.
"""

import json
import random
from datetime import date
from functools import cache

import pytest

from clearlane.claims.fields import encode, fields_of, nested_parts
from clearlane.claims.finding import LEFT_OUT
from clearlane.claims.forms import V3_DENTAL, V3_FORMS, V3_MEDICAL, samples
from clearlane.claims.read.decode import open_document, restore
from clearlane.claims.responses.explain import explain
from clearlane.claims.rules import RuleInputs, repair_and_check
from clearlane.claims.value_types import ValueType
from clearlane.claims.write.write_837 import OutgoingClaim
from clearlane.kernel.finding import Severity
from clearlane.payers.model import Payer
from clearlane.x12.checker.check import check
from tests.cases import by_profile, every_case, fewer_in_quick
from tests.claims.outgoing import extended_claim_of_one_line, written

DAY = date(2025, 3, 14)
TODAY = date(2025, 3, 20)
MEDICAL, DENTAL = V3_MEDICAL, V3_DENTAL
PAYERS = {
    MEDICAL: Payer("Medical", "Meadow Mutual", "T1", "TST01", is_test=True, has_route=True),
    DENTAL: Payer("Dental", "Summit Dental", "T2", "TST02", is_test=True, has_route=True),
}

WRONG_TYPES = [None, True, -1, 10**30, 1e300, 1.5, [], [{}], ["A", 1], {}, [None, None]]
LONG = ["X" * 300, "9" * 300, "A B " * 50, "1" * 12, "0.1234567890123", "9" * 11 + ".99", "A1" * 26]
SEPARATORS = [
    "*", "~", ":", "^", "A*B", "A~B", "A:B", "A^B", "A*B:C~D^E", "~ISA*00*", "~\nSE*1*0001~", "12*34", "1:2",
    "2025-01-01~", "Y~",
]  # fmt: skip
STRANGE = [
    "A\nB", "A\r\nB", "\t", "\x00", "A\x00B", "\x1f", "A\x1fB", "\x7f", "\u0085", "\u00a0", "A\u2028B",
    "\ufeff", "\u200b", "Caf\u00e9", "\u00c5ngstr\u00f6m", "stra\u00dfe", "\u0130i", "O\u2019Fern",
    "A\u2013B", "\u674e", "Arden \u674e", "\U0001f600", "A\U0001f600B", "e\u0301", "\u0660\u0661", "\u00b2",
    "\uff11\uff12", "\ud7ff", "a`b", '"', "\\", "|", "<>", "NONE", "-", ".", "--", "+1", "1e5", "-0",
]  # fmt: skip
# How many of each a field is tried with; which ones is drawn by the field's name.
DRAWN = ((LONG, 3), (SEPARATORS, 4), (STRANGE, 6))
MIXED = 2
"""How many more are made of all these pieces."""
EXPLAINED = 1
"""How many refused claims of each field and claim are shown to an operator."""
STEP = by_profile(thorough=1, usual=8, quick=4)
"""Of how many values one is tried at all."""
FEWER = 3
"""Of how many values one is tried in the claim with few fields."""


def fields():
    """Every field with the path of lists that leads to it."""
    for kind in V3_FORMS:
        schema = kind
        for path, part in _within(schema.claim, ()):
            for row in fields_of(part).values():
                yield pytest.param(kind, path, row, id=f"{kind}-{part.__name__}-{row.name}")


def _within(part, path):
    yield path, part
    for name, inner in nested_parts(part).items():
        yield from _within(inner, (*path, name))


@cache
def bases(kind):
    """Accepted claims with a clean file: one with every field, one with few."""
    few = samples.minimal_claim(kind, DAY)
    if kind is MEDICAL:
        few |= {"F33_BillingProviderZip": "787011234", "F33A_BillingProviderNpi": "1234567893"}
    else:
        few["LineItems"][0] |= {"Teeth": [{}], "Adjustments": None}
    return extended_claim_of_one_line(kind, DAY), few


def put(base, path, name, value):
    """A copy of a claim with a value in a field, inside the first element of each list on the way."""
    claim = json.loads(json.dumps(base))
    part = claim
    for step in path:
        part[step] = part.get(step) or [{}]
        part = part[step][0]
    part[name] = value
    return claim


def values(row):
    rng = random.Random(row.name)
    texts = [text for pieces, count in DRAWN for text in rng.sample(pieces, count)]
    texts += [
        "".join(rng.choices([*texts, "A", "1", " "], k=rng.randint(2, 4))) for _ in range(MIXED)
    ]
    wrap = (
        (lambda value: [value])
        if row.is_array and row.value_type is not ValueType.PARTS
        else lambda value: value
    )
    return [*WRONG_TYPES, [texts[0]], *map(wrap, texts)]


def check_all(kind, claims):
    """What became of claims whose shape is right, by the order in which they were given."""
    document = {"DocumentType": kind.document_type, "Claims": claims}
    submission = open_document(json.dumps(document).encode(), kind)
    assert submission.findings == ()
    facts = RuleInputs(today=TODAY, payer=PAYERS[kind])
    found = {}
    for at, read in enumerate(submission.read(0, submission.count)):
        assert (read.claim is None) == bool(read.findings)
        assert all(finding.location.startswith(f"Claims[{at}]") for finding in read.findings)
        if read.claim is not None:
            found[at] = repair_and_check(read.claim, facts, at=f"Claims[{at}]")
            listed = (one for one in found[at].findings if one.rule != LEFT_OUT)  # "and 12 more"
            places = (finding.location for finding in listed)
            assert all(place.startswith(f"Claims[{at}].") for place in places)
    return found


def outgoing(at, checked):
    return OutgoingClaim(
        claim=checked.claim, number=f"C{at:018}", payer_id="MM001", account_as_number=True
    )


def faults(kind, outs):
    """What our checker calls an error in the claims' file, and a wrong number of claims."""
    data = written(outs)
    assert data.count(b"~CLM*") == len(outs)
    assert data.count(b"~") == data.count(b"~", 0, -1) + 1
    return {
        (finding.rule, finding.position.loop, finding.position.segment)
        for finding in check(data).findings
        if finding.severity is Severity.ERROR
    }


def sent(found):
    """The accepted claims as they go out."""
    return {at: outgoing(at, checked) for at, checked in found.items() if checked.accepted}


@pytest.mark.parametrize("kind", V3_FORMS)
def test_the_claims_to_start_from_are_accepted_and_clean(kind):
    outs = sent(check_all(kind, list(bases(kind))))
    assert len(outs) == 2
    assert faults(kind, list(outs.values())) == set()


@every_case(("kind", "path", "row"), fewer_in_quick(fields(), 10))
def test_a_value_ends_in_a_refusal_or_in_a_clean_file(kind, path, row):
    full, few = bases(kind)
    every = values(row)[len(row.name) % STEP :: STEP]
    for base, tried in ((full, every), (few, every[len(row.name) % FEWER :: FEWER])):
        found = check_all(kind, [put(base, path, row.name, value) for value in tried])
        outs = sent(found)
        if outs and faults(kind, list(outs.values())):
            reported = {repr(tried[at]): faults(kind, [out]) for at, out in outs.items()}
            pytest.fail(str({value: wrong for value, wrong in reported.items() if wrong}))
        for checked in found.values():
            assert restore(kind, encode(checked.claim)) == checked.claim
        refused = [at for at in found if at not in outs]
        for at in random.Random(row.name).sample(refused, min(len(refused), EXPLAINED)):
            shown = explain(outgoing(at, found[at]), found[at].findings)
            reported = {finding.location for one in shown for finding in one.findings}
            # What counts the findings beyond the first fifty is about no field.
            found_at = {one.location for one in found[at].findings if one.rule != LEFT_OUT}
            assert reported == found_at
