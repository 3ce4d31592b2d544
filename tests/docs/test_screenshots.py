"""The pictures of console and terminal: each is made by the script, and loads nothing."""

import re

from tools.docs import screenshots

MADE = {each.file for each in (*screenshots.BROWSER, *screenshots.TERMINAL)}
FOLDER = screenshots.DOCS / "screenshots"


def test_every_picture_is_one_that_the_script_makes():
    files = [*FOLDER.iterdir(), *(screenshots.DOCS / "pictures").glob("*.png")]
    assert {file.relative_to(screenshots.DOCS).as_posix() for file in files} == MADE


def test_a_picture_of_a_terminal_loads_nothing_from_elsewhere():
    for file in FOLDER.glob("*.svg"):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://(?!127\.0\.0\.1|localhost)|@font-face|@import", text), file
