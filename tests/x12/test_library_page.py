"""The page about the engine as a library: every example runs, and shows what it says."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "x12-library.md"
FENCE = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def test_every_example_of_the_page_runs():
    text = PAGE.read_text(encoding="utf-8")
    blocks = FENCE.findall(text)
    assert {language for language, _ in blocks} == {"python"}
    examples = doctest.DocTestParser().get_doctest(
        "".join(body for _, body in blocks), {}, PAGE.name, str(PAGE), 0
    )
    assert len(examples.examples) > 20
    said = []
    runner = doctest.DocTestRunner()
    runner.run(examples, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
