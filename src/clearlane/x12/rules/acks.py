"""What must be true of a 999 and a TA1: the verdict agrees with what it is made of.

Knows the acknowledgement alone, not the file it answers.
"""

from collections.abc import Iterator

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CONTROL_NUMBERS_REMEMBERED_MAX
from clearlane.x12.rules import SET, Context, Fault, rule
from clearlane.x12.tree import Loop, Segment, element

ACK = ("999",)
WARNING = Severity.WARNING
ACCEPTED = frozenset("AE")
ELEMENTS_IN_ERROR = "8"


@rule("X999-COUNT", loop=("2000", SET), kinds=ACK, snip=3)
def counts_agree(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A group has as many sets as are told, and as many accepted ones as its verdicts say."""
    told, accepted = ctx.state.get("999-sets", (0, 0))
    if loop.node.id == "2000":
        ctx.state["999-sets"] = (told + 1, accepted + (loop.value("IK5", 1) in ACCEPTED))
        return
    ak9 = loop.segment("AK9")
    received, taken = (_count(ak9, 3), _count(ak9, 4)) if ak9 else (None, None)
    if received is None or taken is None:
        return
    if taken > received:
        yield Fault("AK904 (sets accepted) must not exceed AK903 (sets received)", ak9, 4)
    if told > received:
        yield Fault("AK903 (sets received) must not be less than the number of AK2 loops", ak9, 3)
    elif told == received and accepted != taken:
        yield Fault(
            "AK904 (sets accepted) must equal the number of accepted sets (IK501 of A or E)", ak9, 4
        )
    elif accepted > taken:
        yield Fault(
            "AK904 (sets accepted) must not be less than the accepted sets that are told", ak9, 4
        )


@rule("X999-VERDICT", loop=("2000", SET), kinds=ACK, snip=3)
def group_verdict_agrees(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """The verdict on a group is that of its sets: accepted, with errors, in part, or rejected."""
    seen: set[str] = ctx.state.setdefault("999-verdicts", set())
    if loop.node.id == "2000":
        seen.add(loop.value("IK5", 1))
        return
    ak9 = loop.segment("AK9")
    if ak9 is None:
        return
    message = _contradiction(element(ak9, 1), seen, _count(ak9, 3), _count(ak9, 4))
    if message:
        yield Fault(message, ak9, 1)


def _contradiction(verdict: str, seen: set[str], received: int | None, taken: int | None) -> str:
    refused = seen - ACCEPTED
    if verdict == "A" and (refused or taken != received):
        return "AK901 (verdict) must be P or R where a set is not accepted"
    if verdict == "E" and refused:
        return "AK901 (verdict) must be P or R where a set is rejected"
    if verdict == "P" and (not taken or taken == received):
        return "AK901 (verdict) must be P only where some sets are accepted and some are not"
    if verdict == "R" and taken:
        return "AK901 (verdict) must be P where some sets are accepted"
    return ""


@rule("X999-SET", loop="2000", kinds=ACK, snip=7, severity=WARNING)
def set_verdict_agrees(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A set without fault is told without errors, and a set that is not accepted says why."""
    ik5 = loop.segment("IK5")
    if ik5 is None:
        return
    verdict, errors = element(ik5, 1), element(ik5, 2) or loop.loop("2100")
    if verdict == "A" and errors:
        yield Fault("IK501 (verdict) should be E or R where errors are told", ik5, 1)
    if verdict != "A" and not errors:
        yield Fault(
            "IK502 (set error) or an IK3 should say why the set is not accepted as it is", ik5, 2
        )
    if (
        loop.loop("2100") is not None
        and "5" not in ik5[2:]
        and "I5" not in ik5[2:]
        and verdict != "A"
    ):
        yield Fault("IK502 (set error) should be 5 or I5 where segments are in error (IK3)", ik5, 2)


@rule("X999-ELEMENT", loop="2100", kinds=ACK, snip=7, severity=WARNING)
def element_errors_agree(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A segment says that its elements are in error (8) exactly where elements follow."""
    ik3, listed = loop.segment("IK3"), loop.loop("2110") is not None
    if ik3 is not None and (element(ik3, 4) == ELEMENTS_IN_ERROR) != listed:
        yield Fault("IK304 (segment error) should be 8 exactly where an IK4 follows", ik3, 4)


@rule("X999-TWICE", loop="2000", kinds=ACK, snip=7, severity=WARNING)
def set_is_told_once(loop: Loop, ctx: Context) -> Iterator[Fault]:
    """A set is acknowledged once."""
    seen: set[str] = ctx.state.setdefault("999-controls", set())
    control = loop.value("AK2", 2)
    if control in seen:
        yield Fault(
            "AK202 (set control number) should stand once in the group", loop.segment("AK2"), 2
        )
    elif len(seen) < CONTROL_NUMBERS_REMEMBERED_MAX:
        seen.add(control)


def note_agrees(ta1: Segment) -> bool:
    """Whether the verdict of a TA1 agrees with its note: accepted without error, or not and with one."""
    return (element(ta1, 4) == "A") == (element(ta1, 5) == "000")


def _count(segment: Segment, at: int) -> int | None:
    text = element(segment, at)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
