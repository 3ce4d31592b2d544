"""Make the pictures of terminal, reference and console: ``python -m tools.docs.screenshots [NAME ...]``.

Starts a sandbox of its own with a few claims, runs each command of TERMINAL, seeds two months of a practice's life
(``clearlane sandbox seed``), and visits each address of BROWSER. Run it again when the console or a command looks different: adding
a picture is one row. An address that the service does not have is named and left out. Needs Chromium and playwright,
as the tests in a browser do.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from tests.console import chromium
from tools.docs.recording import Sandbox, running_sandbox

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = 100
WINDOW, WIDE, NARROW = (1200, 760), (1280, 820), (360, 740)
MISSING = 404


@dataclass(frozen=True, slots=True)
class BrowserPicture:
    """An address as a picture, below ``docs``. ``{paid}``, ``{rejected}`` and ``{payment}`` are replaced by their numbers."""

    file: str
    address: str
    window: tuple[int, int] = WIDE
    scheme: Literal["light", "dark"] = "light"

    @property
    def name(self) -> str:
        return Path(self.file).stem


@dataclass(frozen=True, slots=True)
class TerminalPicture:
    """A command and what it prints as a picture. ``{day}`` is replaced by the day the claims were sent."""

    file: str
    command: str

    @property
    def name(self) -> str:
        return Path(self.file).stem


BROWSER = (
    BrowserPicture("screenshots/paid-claim.png", "/console/claims/{paid}", WINDOW),
    BrowserPicture("screenshots/reference.png", "/reference", WINDOW),
    BrowserPicture("pictures/console-home.png", "/console/"),
    BrowserPicture("pictures/console-claims.png", "/console/worklists"),
    BrowserPicture("pictures/console-claim.png", "/console/claims/{rejected}"),
    BrowserPicture("pictures/console-claim-dark.png", "/console/claims/{rejected}", scheme="dark"),
    BrowserPicture("pictures/console-correct.png", "/console/claims/{rejected}/correct"),
    BrowserPicture("pictures/console-payment.png", "/console/payments/{payment}"),
    BrowserPicture("pictures/console-claims-narrow.png", "/console/claims", NARROW),
)
TERMINAL = (
    TerminalPicture("screenshots/terminal-doctor.svg", "clearlane doctor"),
    TerminalPicture("screenshots/terminal-status.svg", "clearlane claim status --from {day}"),
    TerminalPicture("screenshots/terminal-show.svg", "clearlane claim show {paid}"),
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


def send_few(sandbox: Sandbox, data: Path) -> str:
    """Send a few claims through the sandbox; return the number of the first, which is paid."""
    sandbox.post("/sandbox/clock", {"Frozen": True})
    numbers: list[str] = []
    for id, insured in SAMPLES:
        document = json.loads(run(data, f"claim sample --id {id}", places=False))
        if insured:
            document["Claims"][0]["F01A_InsuredId"] = insured
        numbers += _submit(document, data)
    sandbox.post("/sandbox/advance", {"By": "21d"})
    return numbers[0]


def _submit(document: dict[str, object], data: Path) -> list[str]:
    """Submit a document; return the numbers of its claims."""
    file = data.parent / "claims.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    results = json.loads(run(data, f"claim submit {file} --json"))["ClaimResults"]
    return [result["RequestId"] for result in results]


def find_numbers(paid: str, day: date, data: Path) -> dict[str, str]:
    """Return what replaces the names in addresses."""
    statuses = json.loads(run(data, f"claim status --from {day} --json"))
    payments = json.loads(run(data, "payment list --json"))
    rejected = [row["ClaimNumber"] for row in statuses if row["CurrentState"] == "Rejected"]
    most = max(payments, key=lambda one: (one["balanced"], one["claims"]))
    return {"paid": paid, "rejected": rejected[0], "payment": most["payment_id"]}


def run(data: Path, command: str, *, places: bool = True, color: bool = False) -> str:
    """Run a command of Clearlane beside the sandbox and return what it prints."""
    words = [sys.executable, "-m", "clearlane", *command.split()]
    environment = {**os.environ, "COLUMNS": str(COLUMNS)}
    environment |= {"FORCE_COLOR": "1"} if color else {"NO_COLOR": "1"}
    if places:
        environment["CLEARLANE_DATA"] = str(data)
        words += ["--data", str(data)]
    return subprocess.run(
        words, check=False, capture_output=True, text=True, env=environment
    ).stdout


def draw_terminal(picture: TerminalPicture, data: Path, paid: str, day: date, docs: Path) -> None:
    """Write a command and its output as SVG."""
    from rich.console import Console
    from rich.text import Text

    command = picture.command.format(paid=paid, day=day)
    printed = run(data, command.removeprefix("clearlane "), color=True)
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text.from_ansi(printed.replace(str(data.parent), "~/clearlane")))
    text = console.export_svg(title="", code_format=SVG, unique_id=picture.name)
    (docs / picture.file).write_text(text, encoding="utf-8")
    print(f"wrote {picture.file}")


def photograph(
    pictures: list[BrowserPicture], base_url: str, data: Path, numbers: dict[str, str], docs: Path
) -> None:
    """Visit each address in a browser, signed in as the operator, and write what it shows."""
    from playwright.sync_api import sync_playwright

    entrance = json.loads(run(data, "console open --json"))["url"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium.find(), args=chromium.arguments(), chromium_sandbox=False
        )
        context = browser.new_context(ignore_https_errors=True, base_url=base_url)
        page = context.new_page()
        page.goto(entrance)
        page.wait_for_url("**/console/")
        for picture in pictures:
            width, height = picture.window
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=picture.scheme)
            answer = page.goto(picture.address.format(**numbers), wait_until="networkidle")
            if answer is None or answer.status == MISSING:
                print(f"left out {picture.file}: there is no {picture.address}")
                continue
            page.screenshot(path=str(docs / picture.file))
            print(f"wrote {picture.file}")
        browser.close()


def make_pictures(wanted: set[str], docs: Path = DOCS) -> None:
    """Make the pictures of these names, all if none is named, below a directory."""
    for file in (one.file for one in (*BROWSER, *TERMINAL)):
        (docs / file).parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with running_sandbox(data) as sandbox:
            day = sandbox.today()
            paid = send_few(sandbox, data)
            for picture in TERMINAL:
                if not wanted or picture.name in wanted:
                    draw_terminal(picture, data, paid, day, docs)
            visited = [each for each in BROWSER if not wanted or each.name in wanted]
            if visited:
                run(data, "sandbox seed")
                numbers = find_numbers(paid, day, data)
                photograph(visited, sandbox.facts["base_url"], data, numbers, docs)


if __name__ == "__main__":
    make_pictures(set(sys.argv[1:]))
