"""Compare the findings of two trees: ``python -m tools.compare_findings BASE_REVISION [--claims 5000]``.

Makes claims by mutation (``tests/claims/mutated_claims``), has both trees read, repair and check each, and compares
every finding as (id, place, sentence), in order. Prints the differences and how often each rule fired; fails if
there is a difference. Rules that cannot fire often are listed, not hidden.
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

import msgspec

ROOT = Path(__file__).parents[1]
FIRED_MIN = 20
SHOWN_MAX = 10
# Runs in both trees, so it uses only what both have: reading, and the check.
JUDGE = """
import json, sys, msgspec
from pathlib import Path
from clearlane.claims import forms
from clearlane.claims.read.decode import read_claim
from clearlane.claims.rules import RuleInputs, repair_and_check
class Mutated(msgspec.Struct):
    kind: str
    raw: str
    inputs: RuleInputs
for each in msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=list[Mutated]):
    # Before forms had names, the kind was their key.
    form = getattr(forms, 'form_of_kind', str)(each.kind)
    read = read_claim(form, each.raw.encode(), "Claims[0]")
    found = read.findings
    if read.claim is not None:
        found = (*found, *repair_and_check(read.claim, each.inputs).findings)
    print(json.dumps([(each.rule, each.location, each.message) for each in found]))
"""


def findings(tree: Path, claims: Path) -> Iterator[list[list[str]]]:
    """Yield the findings of each claim, as the code of a tree makes them."""
    judged = subprocess.run(
        [sys.executable, "-c", JUDGE, str(claims)],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    if judged.returncode:
        raise SystemExit(judged.stderr)
    yield from map(json.loads, judged.stdout.splitlines())


def main() -> int:
    """Run the comparison."""
    from clearlane.claims.rules import RULES
    from tests.claims.mutated_claims import mutated_claims

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("base", help="the revision to compare with")
    options.add_argument("--claims", type=int, default=5_000)
    given = options.parse_args()
    made = mutated_claims(given.claims)
    with tempfile.TemporaryDirectory() as folder:
        base, claims = Path(folder) / "base", Path(folder) / "claims"
        claims.write_bytes(
            msgspec.json.encode([each._asdict() | {"kind": each.kind.kind} for each in made])
        )
        subprocess.run(
            ["git", "worktree", "add", "--quiet", "--detach", str(base), given.base],
            cwd=ROOT,
            check=True,
        )
        try:
            before, after = list(findings(base, claims)), list(findings(ROOT, claims))
        finally:
            subprocess.run(
                ["git", "worktree", "remove", "--force", str(base)], cwd=ROOT, check=True
            )
    different = [at for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    for at in different[:SHOWN_MAX]:
        print(f"claim {at}")
        print(*(f"  - {old}" for old in before[at] if old not in after[at]), sep="\n")
        print(*(f"  + {new}" for new in after[at] if new not in before[at]), sep="\n")
    fired = Counter(rule for found in before for rule, _, _ in found)
    rare = {rule: fired[rule] for rule in RULES if fired[rule] < FIRED_MIN}
    print(f"{len(made)} claims, {fired.total()} findings, {len(different)} claims differ")
    print(f"rules that fired less than {FIRED_MIN} times: {rare or 'none'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
