"""The timeline that a page shows is that of a claim which goes through a sandbox now."""

from typer.testing import CliRunner

from clearlane.cli.command.root import app
from tests.api.service_process import ServiceProcess
from tools.docs import claim_timeline


def test_the_page_shows_what_happens_to_a_claim(tmp_path):
    serving = ServiceProcess(tmp_path / "data").start()

    def run(*words: str) -> str:
        if words[:2] == ("claim", "sample"):
            return CliRunner().invoke(app, words).stdout
        return serving.command(*words)

    block = claim_timeline.record(run, tmp_path)
    assert serving.stop() == 0
    [shown] = claim_timeline.BLOCK.findall(claim_timeline.PAGE.read_text(encoding="utf-8"))
    assert shown == block, "run `python -m tools.docs.claim_timeline`"
    assert "PR-3" in block
