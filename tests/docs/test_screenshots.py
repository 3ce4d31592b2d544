"""The pictures of console and terminal: each is made by the script, and loads nothing."""

import re

from docs import screenshots

NAMES = {f"{each.name}.png" for each in screenshots.CONSOLE} | {
    f"{each.name}.svg" for each in screenshots.TERMINAL
}


def test_every_picture_is_one_that_the_script_makes():
    assert {file.name for file in screenshots.PICTURES.iterdir()} <= NAMES


def test_a_picture_of_a_terminal_loads_nothing_from_elsewhere():
    for file in screenshots.PICTURES.glob("*.svg"):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://(?!127\.0\.0\.1|localhost)|@font-face|@import", text), file
