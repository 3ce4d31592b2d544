"""Parts that the guides of several transactions share.

Every function builds new nodes, because a node of a guide belongs to one place only.
"""

from clearlane.x12.grammar import Guide, LoopSpec, SegmentSpec, loop
from clearlane.x12.guides.dictionary import seg

ADDRESS = "R S"
CITY = "R S=@states S S=@countries - - S"


def make_guide(
    id: str,
    kind: str,
    functional_id: str,
    name: str,
    *children: SegmentSpec | LoopSpec,
    unit: str,
    earlier_ids: tuple[str, ...] = (),
    later_ids: tuple[str, ...] = (),
    content: str = "transaction set",
) -> Guide:
    """Return a guide; ``children`` come between ST and SE. The kind begins with the number of the transaction."""
    transaction = kind[:3]
    versions = "|".join((id, *earlier_ids, *later_ids))
    return Guide(
        id=id,
        kind=kind,
        transaction=transaction,
        functional_id=functional_id,
        name=name,
        earlier_ids=earlier_ids,
        later_ids=later_ids,
        unit=unit,
        root=loop(
            transaction,
            name,
            "R",
            1,
            seg("ST", f"Start of the {content}", "R", 1, f"R={transaction} R R={versions}"),
            *children,
            seg("SE", f"End of the {content}", "R", 1, "R R"),
        ),
    )


def party(
    id: str,
    name: str,
    pattern: str,
    *children: SegmentSpec | LoopSpec,
    usage: str = "R",
    repeat: int = 1,
) -> LoopSpec:
    """Return a loop that the NM1 of a party opens."""
    return loop(id, name, usage, repeat, seg("NM1", name, "R", 1, pattern), *children)


def level(
    id: str,
    name: str,
    usage: str,
    repeat: int,
    pattern: str,
    *children: SegmentSpec | LoopSpec,
) -> LoopSpec:
    """Return a hierarchical level, which an HL opens."""
    return loop(id, name, usage, repeat, seg("HL", f"{name} level", "R", 1, pattern), *children)
