"""Generators of others make clients from the OpenAPI document, and its recorded examples are what a sandbox answers.

The generators are used where they are installed: `openapi-python-client` and `openapi-typescript` on the path.
"""

import json
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from clearlane.api.v1.endpoints import V1
from clearlane.api.v3.endpoints import V3
from clearlane.api.versions import VERSIONS
from tests.api.openapi_document import openapi_content
from tests.api.service_process import ServiceProcess
from tests.patience import PATIENCE_SECONDS
from tools.docs.record_examples import record, same_form
from tools.docs.recording import Sandbox

CONTENT = openapi_content()
NAMES = [endpoint.name for version in VERSIONS for endpoint in version.endpoints]


def generate(name: str, *arguments: str, where: Path) -> str:
    """Run a generator over the document; everything it said."""
    program = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip(f"{name} is not installed")
    (where / "openapi.json").write_bytes(CONTENT)
    done = subprocess.run(
        [program, *arguments],
        cwd=where,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_openapi_python_client_makes_every_call(tmp_path):
    # X12 and CSV are files to this generator, whose list of types has neither.
    overrides = dict.fromkeys(("application/edi-x12", "text/csv"), "application/octet-stream")
    (tmp_path / "config.json").write_text(json.dumps({"content_type_overrides": overrides}))
    printed = generate(
        "openapi-python-client", "generate", "--meta", "none", "--config", "config.json",
        "--path", "openapi.json", "--output-path", "made", where=tmp_path,
    )  # fmt: skip
    assert "WARNING" not in printed.upper().replace("INTEGRATION", "")
    assert "removal" not in printed
    calls = {file.stem.replace("_", "") for file in (tmp_path / "made" / "api").rglob("*.py")}
    assert {name.lower() for name in NAMES} <= calls
    compiled = subprocess.run(
        [sys.executable, "-m", "compileall", "-q", "made"], cwd=tmp_path, check=False
    )
    assert compiled.returncode == 0


def test_openapi_typescript_makes_every_call(tmp_path):
    generate("openapi-typescript", "openapi.json", "-o", "made.ts", where=tmp_path)
    made = (tmp_path / "made.ts").read_text(encoding="utf-8")
    assert not [name for name in NAMES if f"    {name}: {{" not in made]


@pytest.fixture(scope="module")
def recorded_now(tmp_path_factory):
    """What a fresh sandbox answers to the calls of the examples."""
    serving = ServiceProcess(tmp_path_factory.mktemp("examples") / "data").start()
    with closing(Sandbox(serving.data)) as sandbox:
        yield record(sandbox)
    assert serving.stop() == 0


RECORDED = {"v3": V3.examples, "v1": V1.examples}


@pytest.mark.parametrize("version", RECORDED)
def test_the_recorded_examples_are_what_a_sandbox_answers(recorded_now, version):
    now, recorded = recorded_now[version], RECORDED[version]
    assert now.keys() == recorded.keys()
    old = [name for name in now if not same_form(now[name], recorded[name])]
    assert not old, "the examples are old: run `python -m tools.docs.record_examples`"
