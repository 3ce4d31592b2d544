"""Name the fields in which two claims differ, never what they hold.

changed_fields(before, after)        # ["F28_TotalCharge", "ServiceLines[0].F24_Charges"]
"""

from collections.abc import Iterator
from itertools import islice

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_segments import segments_of
from clearlane.claims.x12_claim import X12Claim

CHANGED_FIELDS_MAX = 100


def changed_fields(before: Claim, after: Claim) -> list[str]:
    """Return the names of the fields that differ, those of service lines with their place; a limited number."""
    return list(islice(_changed(before, after), CHANGED_FIELDS_MAX))


def _changed(before: Claim, after: Claim) -> Iterator[str]:
    if isinstance(before, X12Claim) or isinstance(after, X12Claim):
        yield from _changed_segments(before, after)
        return
    lines_field = form_of(after).lines_field
    yield from _differing(before, after, "", skip=lines_field)
    old, new = form_of(before).lines(before), form_of(after).lines(after)
    for at in range(max(len(old), len(new))):
        if at < len(old) and at < len(new):
            yield from _differing(old[at], new[at], f"{lines_field}[{at}].")
        else:
            yield f"{lines_field}[{at}]"


def _changed_segments(before: Claim, after: Claim) -> Iterator[str]:
    """Yield where segments of a file differ. A claim that came otherwise before has nothing to compare."""
    if not isinstance(before, X12Claim) or not isinstance(after, X12Claim):
        return
    old = {one.location(): one.segment for one in segments_of(before)}
    new = {one.location(): one.segment for one in segments_of(after)}
    for location in dict.fromkeys((*old, *new)):
        if old.get(location) != new.get(location):
            yield location


def _differing(before: object, after: object, prefix: str, *, skip: str = "") -> Iterator[str]:
    old, new = vars(before), vars(after)
    for name in sorted(old.keys() | new.keys()):
        if name != skip and old.get(name) != new.get(name):
            yield prefix + name
