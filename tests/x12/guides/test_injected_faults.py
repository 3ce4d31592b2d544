"""Every injected fault is noticed, at the right place and with the right weight."""

import pytest

from clearlane.kernel.finding import Finding, Severity
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import parse
from tests.cases import every_case, fewer_in_quick
from tests.x12.findings_of import all_findings
from tests.x12.injected_faults import FAULTS, GOOD, Fault, good, inject

CASES = [(kind, fault) for fault in FAULTS for kind in fault.kinds]
KINDS_OF_FAULT_MIN = 130


def iter_findings(data: bytes) -> list[Finding]:
    return list(all_findings(parse(data)))


@pytest.mark.parametrize("kind", sorted(GOOD))
def test_the_good_files_are_good(kind):
    data = "".join(row + "~\n" for row in good(kind)).encode()
    assert [f.rule for f in iter_findings(data) if f.severity is not Severity.INFO] == []


@every_case(("kind", "fault"), CASES, ids=[f"{k} {f.name}" for k, f in CASES])
def test_a_single_fault_is_noticed_where_it_is(kind: str, fault: Fault):
    data, position = inject(kind, fault)
    found = [f for f in iter_findings(data) if f.rule == fault.rule]
    assert found, f"{fault.rule} is not among {sorted({f.rule for f in iter_findings(data)})}"
    wanted = Severity.ERROR if fault.where == "file" else Severity.WARNING
    assert found[0].severity is wanted
    assert all(f.message for f in found)
    if position:
        assert position in {f.position.segment for f in found}


def test_a_streaming_check_reports_the_same():
    """Claims that were let go still have their places."""

    def summary(found) -> list[tuple[str, int, int, str]]:
        return sorted(
            (f.rule, f.position.segment, f.position.element, f.position.loop)
            for f in found
            if f.position
        )

    for kind, fault in fewer_in_quick(CASES, 5):
        data, _ = inject(kind, fault)
        assert summary(check(data).findings) == summary(iter_findings(data)), fault.name


def test_the_table_is_large_and_each_fault_has_a_name_of_its_own():
    for kind in GOOD:
        names = [fault.name for fault in FAULTS if kind in fault.kinds]
        assert len(names) == len(set(names))
        assert len(names) >= KINDS_OF_FAULT_MIN


def test_a_file_fault_is_the_only_error_of_its_sort():
    """One fault may be summary by several rules, but an error never hides among many."""
    for kind, fault in CASES:
        if fault.where == "file":
            data, _ = inject(kind, fault)
            errors = [f for f in iter_findings(data) if f.severity is Severity.ERROR]
            assert 1 <= len(errors) <= 6, (kind, fault.name, [f.rule for f in errors])
