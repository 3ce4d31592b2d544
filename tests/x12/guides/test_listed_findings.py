"""What a reader is told about each broken file, in full: one list of findings, each with its place and sentence.

Other tests say which rule a fault breaks. `listed_findings.txt` has the whole report of every such file, so that a change
of a sentence, a place or a code is seen as what it is: a change of what people read and of what a 999 says. Where the
reports differ, the test writes the new list to a temporary file, which replaces the list if all of it is meant.
"""

from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

import pytest

from clearlane.kernel.finding import Finding, SegmentPosition
from clearlane.x12.reader.reader import parse
from tests.x12.findings_of import all_findings
from tests.x12.guides import (
    test_270_rules,
    test_276_rules,
    test_835_rules,
    test_837_rules,
    test_999_rules,
    test_injected_faults,
)
from tests.x12.injected_faults import inject
from tests.x12.samples_other import interchange, rows

LIST = Path(__file__).with_name("listed_findings.txt")
DIFFERENCES_SHOWN_MAX = 40

EDITED = (
    *(("835", test_835_rules.GOOD, id, edit) for id, edit, _ in test_835_rules.BROKEN),
    *(("999", test_999_rules.GOOD, id, edit) for id, edit, _ in test_999_rules.BROKEN),
    *((k, test_270_rules.TEXTS[k], id, edit) for k, id, edit, _ in test_270_rules.BROKEN),
    *((k, test_276_rules.TEXTS[k], id, edit) for k, id, edit, _ in test_276_rules.BROKEN),
)
"""A good set of each other kind, and what breaks a rule in it."""


def place(at: SegmentPosition) -> str:
    """Say where a finding is, as "AMT02-1^2 (segment 7, 9 in the file) in 2300 of set 1.1.1"."""
    element = f"{at.element:02}" if at.element else ""
    component = f"-{at.component}" if at.component else ""
    repetition = f"^{at.repetition}" if at.repetition else ""
    loop = f" in {at.loop}" if at.loop else ""
    return (
        f"{at.segment_id}{element}{component}{repetition} (segment {at.segment}, {at.file_segment} in the file)"
        f"{loop} of set {at.interchange}.{at.group}.{at.set}"
    )


def line(found: Finding) -> str:
    where = place(found.position) if found.position else "the file"
    notes = {"SNIP": found.snip, "is": found.kind, "999": found.syntax_error}
    noted = "".join(f", {name} {value}" for name, value in notes.items() if value)
    return f"  {found.severity} {found.rule} at {where}{noted}: {found.message}"


def report(title: str, data: bytes) -> Iterator[str]:
    yield title
    yield from map(line, all_findings(parse(data)))


def reports(kind: str) -> Iterator[str]:
    """Yield the report of every broken file of a kind."""
    for each, fault in test_injected_faults.CASES:
        if each == kind:
            yield from report(f"{kind} {fault.name}", inject(kind, fault)[0])
    for each, fault, _ in test_837_rules.CASES:
        if each == kind:
            yield from report(f"{kind} {fault.name} ({fault.rule})", inject(kind, fault)[0])
    counts: Counter[str] = Counter()
    for each, good, id, edit in EDITED:
        if each == kind:
            counts[id] += 1
            changed = rows(good)
            edit(changed)
            changed[-1][1] = str(len(changed))
            data = interchange(kind, [changed]).encode()
            yield from report(f"{kind} {id}, file {counts[id]}", data)


KINDS = ("837P", "837D", "835", "270", "271", "276", "277", "277CA", "999")


@pytest.mark.parametrize("kind", KINDS)
def test_every_broken_file_gets_the_report_that_is_listed(kind, tmp_path):
    listed = [
        each for each in LIST.read_text("utf-8").split("\n# ") if each.startswith(f"{kind}\n")
    ]
    before = listed[0].splitlines()[1:] if listed else []
    after = [*reports(kind)]
    (tmp_path / "list").write_text("\n".join(["# " + kind, *after, ""]), encoding="utf-8")
    different = [*unified_diff(before, after, lineterm="", n=1)]
    assert not different, "\n".join([*different[:DIFFERENCES_SHOWN_MAX], f"in {tmp_path}/list"])


def test_every_kind_with_a_broken_file_is_listed():
    kinds = {kind for kind, _ in test_injected_faults.CASES} | {kind for kind, *_ in EDITED}
    assert kinds == {*KINDS}
