"""Explain the findings of our own check as payers' complaints are explained, for claims that were not accepted.

    for one in explain_findings(claim, findings): ...
    one.fields[0].box, one.happened             # 28, The total is 150.00, the lines add up to 130.00; make them equal.
    rule_reason(one)                            # Rule not met: the total charge is the sum of the lines (box 28)

Knows the rules and the catalogue; knows no page and no database.
"""

import re
from collections.abc import Iterable, Mapping

from clearlane.claims.fields import ClaimPart
from clearlane.claims.finding import ClaimFinding, path_in_claim
from clearlane.claims.forms import AnyForm, form_of
from clearlane.claims.forms.x12_segments import lines_of_segments, name_at
from clearlane.claims.responses.advice_act import AdviceAct
from clearlane.claims.responses.field_lookup import source_field
from clearlane.claims.responses.provenance import Explanation, FieldReference
from clearlane.claims.rules import RULES
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.finding import Severity

OWN_SOURCE = "Clearlane"
"""The source of explanations that come from our own check. A payer's have the kind of its answer."""

RULE_ACTS: Mapping[str, AdviceAct] = {
    "C104": AdviceAct.ASK_OPERATOR,
    "C106": AdviceAct.ENROLL,
    "C107": AdviceAct.FIND_FIRST,
    "C112": AdviceAct.FIND_FIRST,
    "C120": AdviceAct.FIND_FIRST,
}
"""Rules that a correction of the claim does not answer: no route, no enrollment, an id that another claim has."""


def explain_findings(
    claim: ClaimPart | X12Claim, findings: Iterable[ClaimFinding]
) -> list[Explanation]:
    """Return the errors among a claim's findings, each with its line and field; the code is the rule's."""
    errors = [one for one in findings if one.severity is Severity.ERROR]
    if not isinstance(claim, X12Claim):
        form = form_of(claim)
        return [_explain(one, *_json_fields(form, path_in_claim(one.location))) for one in errors]
    lines = lines_of_segments(claim) if errors else {}
    return [_explain(one, *_file_fields(claim, one.location, lines)) for one in errors]


def rule_reason(one: Explanation) -> str:
    """Return what claims of one rule have in common, in one line: the rule's sentence and the box."""
    rule = RULES.get(one.code)
    if rule is None:
        return _with_box(one.happened, one, with_line=False)
    first, rest = rule.sentence[:1], rule.sentence[1:]
    # A rule says what holds, which alone would read as if it did. An abbreviation keeps its letters.
    sentence = rule.sentence if rest[:1].isupper() else f"{first.lower()}{rest}"
    return _with_box(f"Rule not met: {sentence}", one, with_line=False)


def finding_reason(one: Explanation) -> str:
    """Return what is wrong with this claim in one line, with line and box."""
    return _with_box(one.happened, one, with_line=True)


def _explain(finding: ClaimFinding, line: int, fields: tuple[FieldReference, ...]) -> Explanation:
    return Explanation(
        source=OWN_SOURCE,
        code=finding.rule if finding.rule in RULES else "",
        happened=finding.message,
        todo="",
        act=RULE_ACTS.get(finding.rule, AdviceAct.CORRECT),
        fields=fields,
        line=line,
    )


def _file_fields(
    claim: X12Claim, location: str, lines: Mapping[int, int]
) -> tuple[int, tuple[FieldReference, ...]]:
    """Return the line that a place of the sender's file is in, from 1, or 0; and the place with its name."""
    number = _SEGMENT_NUMBER.search(location)
    line = lines.get(int(number[1]), 0) if number else 0
    return line, (FieldReference(path=location, label=name_at(claim.transaction, location)),)


_SEGMENT_NUMBER = re.compile(r"\(segment (\d+)\)", re.ASCII)


def _json_fields(form: AnyForm, path: str) -> tuple[int, tuple[FieldReference, ...]]:
    """Return the line that a path is in, from 1, or 0; and the field."""
    at_line = re.match(rf"{form.lines_field}\[(\d+)\]\.", path)
    line = int(at_line[1]) + 1 if at_line else 0
    return line, _fields(form, path, path[at_line.end() :] if at_line else path, line)


def _fields(form: AnyForm, path: str, name: str, line: int) -> tuple[FieldReference, ...]:
    """Return the field that a finding is about; none for one about the claim as a whole."""
    try:
        found = source_field(form, name, of_line=bool(line), line=line)
    except KeyError:
        return ()
    paper = form.form_name if found.box else ""
    return (FieldReference(path=path, label=found.label, box=found.box, form=paper),)


def _with_box(sentence: str, one: Explanation, *, with_line: bool) -> str:
    box = one.fields[0].box if one.fields else ""
    places = (f"line {one.line}" if one.line and with_line else "", f"box {box}" if box else "")
    place = ", ".join(filter(None, places))
    return f"{sentence.rstrip('.')} ({place})" if place else sentence.rstrip(".")
