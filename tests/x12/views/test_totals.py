"""Typed totals of the public files equal those computed straight from their segments.

Also tests `x12/views/verdicts` and `x12/views/remittance`.
"""

from collections import Counter
from decimal import Decimal

import pytest

from clearlane.x12 import views
from clearlane.x12.views import benefits, claims, remittance, status, verdicts
from tests.cases import every_case
from tests.corpus import corpus_files
from tests.x12.views.leaves import segments, separators


def typed(sample):
    """The views of a file's sets."""
    return [one.view for file in views.read_views(sample.path.read_bytes()) for one in file.sets]


def rows(sample, *ids):
    """The raw segments of these ids, each long enough for the elements a total needs."""
    found = [row for row in segments(sample.path.read_bytes()) if row[0] in ids]
    return [row + [""] * 20 for row in found]


def amount(text):
    return Decimal(text or "0")


def kept(view, *ids):
    """How many segments of these ids a view has no field for, wherever in it."""
    count = 0
    if isinstance(view, views.View):
        count += sum(segment[0] in ids for segment in getattr(view, "other", ()))
        count += sum(kept(getattr(view, name), *ids) for name in view.__struct_fields__)
    elif isinstance(view, tuple | list):
        count += sum(kept(one, *ids) for one in view)
    return count


@every_case("sample", corpus_files("835"))
def test_the_totals_of_a_remittance(sample):
    found = typed(sample)
    if kept(found, "CLP", "SVC", "CAS", "BPR", "PLB"):
        assert not sample.clean
        return
    paid = rows(sample, "CLP")
    every = [claim for one in found for claim in one.claims]
    assert [claim.number for claim in every] == [row[1] for row in paid]
    assert sum(one.totals.paid for one in found) == sum(amount(row[4]) for row in paid)
    assert sum(one.totals.charged for one in found) == sum(amount(row[3]) for row in paid)
    assert sum(one.payment.amount for one in found) == sum(
        amount(row[2]) for row in rows(sample, "BPR")
    )
    lines = [line for claim in every for line in claim.lines]
    assert [line.paid for line in lines] == [amount(row[3]) for row in rows(sample, "SVC")]
    adjusted = sum(one.amount for claim in every for one in claim.all_adjustments)
    assert adjusted == sum(amount(row[at]) for row in rows(sample, "CAS") for at in range(3, 20, 3))
    withheld = sum(one.totals.provider_adjusted for one in found)
    assert withheld == sum(amount(row[at]) for row in rows(sample, "PLB") for at in range(4, 15, 2))


@every_case("sample", corpus_files("835"))
def test_a_streamed_remittance_has_the_same_claims_and_totals(sample):
    pieces = list(remittance.stream_remittances(sample.path.read_bytes()))
    whole = [one for one in typed(sample) if isinstance(one, remittance.RemittanceView)]
    ends = [piece for piece in pieces if isinstance(piece, remittance.RemittanceView)]
    assert [one.totals for one in ends] == [one.totals for one in whole]
    claims = [piece for piece in pieces if isinstance(piece, remittance.RemittanceClaimView)]
    assert claims == [claim for one in whole for claim in one.claims]


@every_case("sample", corpus_files("837P", "837D", "837I"))
def test_the_totals_of_claims(sample):
    found = [one for one in typed(sample) if isinstance(one, claims.ClaimSetView)]
    if len(found) != len(typed(sample)) or kept(found, "CLM", "SV1", "SV2", "SV3", "HI"):
        assert not sample.clean
        return
    every = [entry for one in found for entry in one.claims_with_parties]
    raw = rows(sample, "CLM")
    assert sorted(entry.claim.number for entry in every) == sorted(row[1] for row in raw)
    assert sum(entry.claim.charge or 0 for entry in every) == sum(amount(row[2]) for row in raw)
    lines = [line for entry in every for line in entry.claim.lines]
    charges = sum(amount(row[2]) for row in rows(sample, "SV1", "SV3"))
    charges += sum(amount(row[3]) for row in rows(sample, "SV2"))
    assert sum(line.charge for line in lines if line.charge is not None) == charges
    component, _ = separators(sample.path.read_bytes())
    codes = Counter(
        text.split(component)[0] for row in rows(sample, "HI") for text in row[1:] if text
    )
    listed = Counter(code.qualifier for entry in every for code in entry.claim.codes)
    assert listed == codes
    diagnoses = sum(len(entry.claim.diagnoses) for entry in every)
    assert diagnoses == sum(count for list, count in codes.items() if list in claims.DIAGNOSES)


@every_case("sample", corpus_files("271"))
def test_the_totals_of_benefits(sample):
    found = [one for one in typed(sample) if isinstance(one, benefits.EligibilityView)]
    if kept(found, "EB", "AAA"):
        assert not sample.clean
        return
    listed = [benefit for one in found for member in one.members for benefit in member.benefits]
    raw = rows(sample, "EB")
    assert Counter(benefit.benefit for benefit in listed) == Counter(row[1] for row in raw)
    assert sum(b.amount for b in listed if b.amount is not None) == sum(amount(r[7]) for r in raw)
    reasons = Counter(refusal.reason for one in found for refusal in one.refusals)
    assert reasons == Counter(row[3] for row in rows(sample, "AAA"))


@pytest.mark.parametrize("sample", corpus_files("277", "277CA"))
def test_the_totals_of_statuses(sample):
    found = [one for one in typed(sample) if isinstance(one, status.StatusSetView)]
    listed = list(every_status(found))
    raw = rows(sample, "STC")
    component, _ = separators(sample.path.read_bytes())
    assert len(listed) + kept(found, "STC") >= len(raw)
    if not kept(found, "STC"):
        assert Counter(one.codes[0].category for one in listed) == Counter(
            row[1].split(component)[0] for row in raw
        )
        assert sum(one.charged or 0 for one in listed) == sum(amount(row[4]) for row in raw)


def every_status(value):
    if isinstance(value, status.StatusView):
        yield value
    elif isinstance(value, views.View):
        for name in value.__struct_fields__:
            yield from every_status(getattr(value, name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from every_status(one)


@pytest.mark.parametrize("sample", corpus_files("999"))
def test_the_totals_of_verdicts(sample):
    found = [one for one in typed(sample) if isinstance(one, verdicts.GroupVerdictView)]
    if kept(found, "AK2", "IK3", "IK4", "IK5", "AK9") or len(found) != len(typed(sample)):
        assert not sample.clean
        return
    sets = [one for group in found for one in group.sets]
    assert [one.verdict for one in sets] == [row[1] for row in rows(sample, "IK5")]
    errors = [error for one in sets for error in one.errors]
    assert [error.segment for error in errors] == [row[1] for row in rows(sample, "IK3")]
    elements = [element for error in errors for element in error.elements]
    assert [element.error for element in elements] == [row[3] for row in rows(sample, "IK4")]
    assert [group.verdict for group in found] == [row[1] for row in rows(sample, "AK9")]


@pytest.mark.parametrize("sample", corpus_files("TA1"))
def test_the_verdict_of_an_interchange(sample):
    files = list(views.read_views(sample.path.read_bytes()))
    listed = [answer for file in files for answer in file.answers]
    raw = rows(sample, "TA1")
    assert [(one.control, one.verdict, one.note) for one in listed] == [
        (row[1], row[4], row[5]) for row in raw
    ]
    assert all(one.verdict_words and one.note_words for one in listed)
