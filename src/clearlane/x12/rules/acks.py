"""Rules of the 999 and the TA1: verdicts agree with the errors and counts they summarize.

Knows the acknowledgement alone, not the file it answers.
"""

from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CONTROL_NUMBERS_REMEMBERED_MAX
from clearlane.x12.rules import SET, RuleContext, RuleFinding, is_repeated, rule
from clearlane.x12.tree import Loop, Segment, get_element

ACK = ("999",)
WARNING = Severity.WARNING
ACCEPTED = frozenset("AE")
ELEMENTS_IN_ERROR = "8"


@rule(
    "X999-COUNT",
    loop=("2000", SET),
    kinds=ACK,
    snip=3,
    places=(
        "999/AK9/02",
        "999/AK9/04",
    ),
)
def counts_agree(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """AK9 counts as many sets, and as many accepted sets, as the set acknowledgements."""
    listed, accepted = ctx.set_state.get("999-sets", (0, 0))
    if loop.node.id == "2000":
        ctx.set_state["999-sets"] = (listed + 1, accepted + (loop.value("IK5", 1) in ACCEPTED))
        return
    ak9 = loop.segment("AK9")
    received, taken = (_count(ak9, 3), _count(ak9, 4)) if ak9 else (None, None)
    if received is None or taken is None:
        return
    if taken > received:
        yield RuleFinding("AK904 (sets accepted) must not exceed AK903 (sets received)", ak9, 4)
    if listed > received:
        yield RuleFinding(
            "AK903 (sets received) must not be less than the number of AK2 loops", ak9, 3
        )
    elif listed == received and accepted != taken:
        yield RuleFinding(
            "AK904 (sets accepted) must equal the number of accepted sets (IK501 of A or E)", ak9, 4
        )
    elif accepted > taken:
        yield RuleFinding(
            "AK904 (sets accepted) must not be less than the number of AK2 loops with an accepted set",
            ak9,
            4,
        )


@rule("X999-VERDICT", loop=("2000", SET), kinds=ACK, snip=3, places=("999/AK9/01",))
def group_verdict_agrees(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """The verdict on a group is that of its sets: accepted, with errors, in part, or rejected."""
    seen: set[str] = ctx.set_state.setdefault("999-verdicts", set())
    if loop.node.id == "2000":
        seen.add(loop.value("IK5", 1))
        return
    ak9 = loop.segment("AK9")
    if ak9 is None:
        return
    message = _contradiction(get_element(ak9, 1), seen, _count(ak9, 3), _count(ak9, 4))
    if message:
        yield RuleFinding(message, ak9, 1)


def _contradiction(verdict: str, seen: set[str], received: int | None, taken: int | None) -> str:
    refused = seen - ACCEPTED
    if verdict == "A" and (refused or taken != received):
        return "AK901 (verdict) must be P or R if a set is not accepted"
    if verdict == "E" and refused:
        return "AK901 (verdict) must be P or R if a set is rejected"
    if verdict == "P" and (not taken or taken == received):
        return "AK901 (verdict) must be P only if some sets are accepted and some are not"
    if verdict == "R" and taken:
        return "AK901 (verdict) must be P if some sets are accepted"
    return ""


@rule("X999-SET", loop="2000", kinds=ACK, snip=7, severity=WARNING)
def set_verdict_agrees(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """An accepted set has no errors, and a set that is not accepted has one."""
    ik5 = loop.segment("IK5")
    if ik5 is None:
        return
    verdict, errors = get_element(ik5, 1), get_element(ik5, 2) or loop.loop("2100")
    if verdict == "A" and errors:
        yield RuleFinding("IK501 (verdict) should be E or R if errors are reported", ik5, 1)
    if verdict != "A" and not errors:
        yield RuleFinding(
            "IK502 (set error) or an IK3 should give the reason why the set is not accepted", ik5, 2
        )
    if (
        loop.loop("2100") is not None
        and "5" not in ik5[2:]
        and "I5" not in ik5[2:]
        and verdict != "A"
    ):
        yield RuleFinding(
            "IK502 (set error) should be 5 or I5 if segments are in error (IK3)", ik5, 2
        )


@rule("X999-ELEMENT", loop="2100", kinds=ACK, snip=7, severity=WARNING)
def element_errors_agree(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A segment reports elements in error (8) exactly if IK4 segments follow."""
    ik3, listed = loop.segment("IK3"), loop.loop("2110") is not None
    if ik3 is not None and (get_element(ik3, 4) == ELEMENTS_IN_ERROR) != listed:
        yield RuleFinding("IK304 (segment error) should be 8 exactly if an IK4 follows", ik3, 4)


@rule("X999-TWICE", loop="2000", kinds=ACK, snip=7, severity=WARNING)
def set_is_acknowledged_once(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
    """A set is acknowledged once."""
    seen: set[str] = ctx.set_state.setdefault("999-controls", set())
    control = loop.value("AK2", 2)
    if is_repeated(control, seen, CONTROL_NUMBERS_REMEMBERED_MAX):
        yield RuleFinding(
            "AK202 (set control number) should occur once in the group", loop.segment("AK2"), 2
        )


def note_agrees(ta1: Segment) -> bool:
    """Return whether TA104 agrees with TA105: accepted with note 000, or not accepted with another."""
    return (get_element(ta1, 4) == "A") == (get_element(ta1, 5) == "000")


def _count(segment: Segment, at: int) -> int | None:
    text = get_element(segment, at)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
