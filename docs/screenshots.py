"""Make the pictures of terminal, reference and a paid claim: ``python -m docs.screenshots [NAME ...]``.

Starts a sandbox of its own with a few claims, then visits each address of CONSOLE in a browser and runs each
command of TERMINAL. Run it again when the console or a command looks different: adding a picture is one row. An
address that the service does not have is named and left out. The console's own screens, with many claims, are
made by ``docs.console_pictures``.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from docs.record_examples import Sandbox, running_sandbox

PICTURES = Path(__file__).parent / "screenshots"
COLUMNS = 100
WINDOW = (1200, 760)
MISSING = 404


@dataclass(frozen=True, slots=True)
class ConsolePicture:
    """An address of the console as a picture. ``{claim}`` stands for the number of a paid claim."""

    name: str
    address: str
    window: tuple[int, int] = WINDOW


@dataclass(frozen=True, slots=True)
class TerminalPicture:
    """A command and what it prints as a picture. ``{day}`` stands for the day the claims were sent."""

    name: str
    command: str


CONSOLE = (
    ConsolePicture("paid-claim", "/console/claims/{claim}"),
    ConsolePicture("reference", "/reference"),
)
TERMINAL = (
    TerminalPicture("terminal-doctor", "clearlane doctor"),
    TerminalPicture("terminal-status", "clearlane claim status --from {day}"),
    TerminalPicture("terminal-show", "clearlane claim show {claim}"),
)
# Paid, denied, and with something left to the patient: the insured's id decides (reference/sandbox.md).
SAMPLES = (("FERNHILL-1", ""), ("FERNHILL-2", "3001"), ("FERNHILL-3", "3018"), ("FERNHILL-4", ""))
# The template of rich loads a font from another host; this one uses what the reader has.
SVG = """<svg class="rich-terminal" viewBox="0 0 {terminal_width} {terminal_height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
<rect width="100%" height="100%" rx="8" fill="#15191e"/>
<g transform="translate(9, 9)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></svg>
"""


def fill(sandbox: Sandbox, data: Path) -> str:
    """Send a few claims through the sandbox; return the number of the first."""
    sandbox.post("/sandbox/clock", {"Frozen": True})
    found = ""
    for id, insured in SAMPLES:
        sample = run(data, f"claim sample --id {id}", places=False)
        if insured:
            sample = re.sub(r'("F01A_InsuredId": )"[^"]*"', rf'\1"{insured}"', sample)
        file = data.parent / f"{id}.json"
        file.write_text(sample, encoding="utf-8")
        printed = run(data, f"claim submit {file}")
        number = re.search(r"C[0-9A-Z]{18}", printed)
        found = found or (number[0] if number else "")
    sandbox.post("/sandbox/advance", {"By": "21d"})
    return found


def run(data: Path, command: str, *, places: bool = True, colour: bool = False) -> str:
    """Run a command of Clearlane beside the sandbox and return what it prints."""
    words = [sys.executable, "-m", "clearlane", *command.split()]
    environment = {**os.environ, "COLUMNS": str(COLUMNS)}
    environment |= {"FORCE_COLOR": "1"} if colour else {"NO_COLOR": "1"}
    if places:
        environment["CLEARLANE_DATA"] = str(data)
        words += ["--data", str(data)]
    return subprocess.run(
        words, check=False, capture_output=True, text=True, env=environment
    ).stdout


def draw_terminal(picture: TerminalPicture, data: Path, claim: str, day: date) -> None:
    """Write a command and its output as SVG."""
    from rich.console import Console
    from rich.text import Text

    command = picture.command.format(claim=claim, day=day)
    printed = run(data, command.removeprefix("clearlane "), colour=True)
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text.from_ansi(printed.replace(str(data.parent), "~/clearlane")))
    text = console.export_svg(title="", code_format=SVG, unique_id=picture.name)
    (PICTURES / f"{picture.name}.svg").write_text(text, encoding="utf-8")
    print(f"wrote {picture.name}.svg")


def photograph(pictures: list[ConsolePicture], sandbox: Sandbox, data: Path, claim: str) -> None:
    """Visit each address in a browser, signed in as the operator, and write what it shows."""
    from playwright.sync_api import sync_playwright

    printed = run(data, "console open")
    entrance = re.search(r"https://\S+", printed)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=os.environ.get("CLEARLANE_TEST_CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        context = browser.new_context(
            ignore_https_errors=True, base_url=sandbox.facts["base_url"], device_scale_factor=1
        )
        page = context.new_page()
        if entrance:
            page.goto(entrance[0])
        for picture in pictures:
            width, height = picture.window
            page.set_viewport_size({"width": width, "height": height})
            answer = page.goto(picture.address.format(claim=claim), wait_until="networkidle")
            if answer is None or answer.status == MISSING:
                print(f"left out {picture.name}: there is no {picture.address}")
                continue
            page.screenshot(path=str(PICTURES / f"{picture.name}.png"))
            print(f"wrote {picture.name}.png")
        browser.close()


def main() -> None:
    wanted = set(sys.argv[1:])
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with running_sandbox(data) as sandbox:
            day = sandbox.today()
            claim = fill(sandbox, data)
            for picture in TERMINAL:
                if not wanted or picture.name in wanted:
                    draw_terminal(picture, data, claim, day)
            photograph(
                [each for each in CONSOLE if not wanted or each.name in wanted],
                sandbox,
                data,
                claim,
            )


if __name__ == "__main__":
    main()
