"""The guides by which received files are read for their content: more is admitted than a check lets pass.

Some payers leave the header number (LX) before the claims of an 835 out. The guide requires it, so checks report it;
but money that was paid is read all the same, or the payment would seem not to balance. Knows guides.
"""

from dataclasses import replace
from functools import cache

from clearlane.x12 import guides
from clearlane.x12.grammar import Guide, LoopSpec, SegmentSpec

GROUP_LOOP, CLAIM_LOOP = "2000", "2100"


def choose_guide(transaction: str, version: str) -> Guide | None:
    """Return the guide for ST01 and a version; for an 835 the one that admits claims without an LX."""
    guide = guides.by_version(transaction, version)
    return payment_guide() if guide is not None and guide.kind == "835" else guide


@cache
def payment_guide() -> Guide:
    """Return the guide of the 835 with claims in the set itself as well."""
    guide = guides.by_kind("835")
    children: list[SegmentSpec | LoopSpec] = []
    for child in guide.root.children:
        children.append(child)
        if isinstance(child, LoopSpec) and child.id == GROUP_LOOP:
            children += [
                one for one in child.children if isinstance(one, LoopSpec) and one.id == CLAIM_LOOP
            ]
    return replace(guide, root=replace(guide.root, children=tuple(children)))
