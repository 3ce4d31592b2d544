"""Compare the findings of two trees: ``python -m tools.compare_findings BASE_REVISION [--claims 5000]``.

Makes claims by mutation (``tests/claims/mutated_claims``), has both trees read, repair and check each, and compares
every finding as (id, place, sentence), in order. Prints the differences and how often each rule fired; fails if
there is a difference. Rules of V3's forms that fired seldom are listed, not hidden.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FIRED_MIN = 20
SHOWN_MAX = 10
# Runs with the code of each tree and the test code of this one, so it uses only what both have: reading, and the check.
JUDGE = """
import json, sys
from clearlane.claims import forms
from clearlane.claims.read.decode import read_claim
from clearlane.claims.rules import repair_and_check
from tests.claims.mutated_claims import mutated_claims
for each in mutated_claims(int(sys.argv[1])):
    # Before forms had names, the kind was their key.
    form = getattr(forms, 'form_of_kind', str)(each.kind.kind)
    read = read_claim(form, each.raw.encode(), "Claims[0]")
    found = read.findings
    if read.claim is not None:
        found = (*found, *repair_and_check(read.claim, each.inputs).findings)
    print(json.dumps([each.raw, [(each.rule, each.location, each.message) for each in found]]))
"""


class Judged(NamedTuple):
    """A claim, and its findings as the code of a tree makes them."""

    raw: str
    findings: list[list[str]]


def judge(tree: Path, claims: int) -> Iterator[Judged]:
    """Yield each claim with its findings."""
    judged = subprocess.run(
        [sys.executable, "-P", "-c", JUDGE, str(claims)],
        env={**os.environ, "PYTHONPATH": f"{tree / 'src'}:{ROOT}"},
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    if judged.returncode:
        raise SystemExit(judged.stderr)
    for line in judged.stdout.splitlines():
        yield Judged(*json.loads(line))


def main() -> int:
    """Run the comparison."""
    from clearlane.claims.forms import V3_FORMS
    from clearlane.claims.rules import RULES

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("base", help="the revision to compare with")
    options.add_argument("--claims", type=int, default=5_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        subprocess.run(
            ["git", "worktree", "add", "--quiet", "--detach", str(base), given.base],
            cwd=ROOT,
            check=True,
        )
        try:
            old, new = list(judge(base, given.claims)), list(judge(ROOT, given.claims))
        finally:
            subprocess.run(
                ["git", "worktree", "remove", "--force", str(base)], cwd=ROOT, check=True
            )
    if [each.raw for each in old] != [each.raw for each in new]:
        raise SystemExit("The trees make other claims of the same mutations: their samples differ.")
    before, after = [each.findings for each in old], [each.findings for each in new]
    different = [
        at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other
    ]
    for at in different[:SHOWN_MAX]:
        print(f"claim {at}")
        print(*(f"  - {one}" for one in before[at] if one not in after[at]), sep="\n")
        print(*(f"  + {one}" for one in after[at] if one not in before[at]), sep="\n")
    fired = Counter(rule for found in before for rule, _, _ in found)
    of_v3 = [rule.id for rule in RULES.values() if any(map(rule.applies_to, V3_FORMS))]
    rare = {rule: fired[rule] for rule in of_v3 if fired[rule] < FIRED_MIN}
    print(f"{len(old)} claims, {fired.total()} findings, {len(different)} claims differ")
    print(f"rules of V3's forms that fired less than {FIRED_MIN} times: {rare or 'none'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
