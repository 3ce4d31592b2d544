"""Run mutants: ``python -m tests.mutation [PACKAGE ...] [--mutants 500] [--seed 1]``."""

import argparse
import os
import subprocess
import sys

from tests.mutation.packages import PACKAGES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument(
        "packages", nargs="*", help=f"of {', '.join(PACKAGES)}; all if none is named"
    )
    parser.add_argument("--mutants", type=int, default=500, help="how many of each package")
    parser.add_argument(
        "--seed", type=int, default=1, help="which ones; the same seed, the same ones"
    )
    parser.add_argument(
        "--with", dest="text", default="", help="only mutants whose line this expression matches"
    )
    parser.add_argument("--at-once", type=int, default=1, help="how many are tried at once")
    options = parser.parse_args()
    unknown = sorted({*options.packages} - {*PACKAGES})
    if unknown:
        parser.error(
            f"no package is named {', '.join(unknown)}; give some of {', '.join(PACKAGES)}"
        )
    environment = os.environ | {"CLEARLANE_TEST_PROFILE": "quick"}
    failed = False
    for name in options.packages or PACKAGES:
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-p", "tests.mutation.plugin"),
            *("-p", "no:schemathesis", "-o", "faulthandler_timeout=0", "-p", "no:cacheprovider"),
            *("-m", "not server and not witness"),
            *("--mutate", name, "--mutants", str(options.mutants)),
            *("--mutation-seed", str(options.seed), "--mutants-with", options.text),
            *("--mutants-at-once", str(options.at_once), "-s", *PACKAGES[name].tests),
        ]
        failed |= subprocess.run(command, env=environment, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
