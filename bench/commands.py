"""What an operator's command costs: CPU seconds of the whole process, most of which are imports."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from bench.harness import Measure, bench

RUNS = 5
COMMANDS = ("status", "doctor", "inbox list", "batch list", "payment list", "vendor list")


def cpu_seconds(arguments: list[str], environment: dict[str, str]) -> float:
    """The least CPU time of a few runs: noise only ever adds."""
    times = []
    for _ in range(RUNS):
        process = subprocess.Popen(
            [sys.executable, "-m", "clearlane", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        times.append(used.ru_utime + used.ru_stime)
    return min(times)


@bench("command.cpu")
def commands() -> Iterator[Measure]:
    with tempfile.TemporaryDirectory() as folder:
        # As installed: with the compiled modules, which a checkout may not be allowed to keep.
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("CLEARLANE_") and name != "PYTHONDONTWRITEBYTECODE"
        } | {"CLEARLANE_DATA": f"{folder}/data", "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        least = cpu_seconds(["--version"], environment)
        for command in COMMANDS:
            spent = cpu_seconds(command.split(), environment)
            yield Measure(
                f"command.cpu.{command.replace(' ', '-')}", spent, "s", spent / least, "--version"
            )
