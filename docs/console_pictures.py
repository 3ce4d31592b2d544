"""Make the pictures of the console from a fresh sandbox with the invented cast: ``python -m docs.console_pictures``.

Needs Chromium and playwright, as the tests in a browser do. Starts a sandbox of its own in a temporary directory, sends
sample claims of several scenarios, lets days pass, and takes each screen.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, async_playwright

from tests.console import chromium

PICTURES = Path(__file__).parent / "pictures"
WIDE, NARROW = (1280, 820), (360, 740)
START_SECONDS_MAX = 60
CLAIMS = 33
SCENARIOS = (
    "3001", "3002", "3003", "3004", "3005", "3007", "3008", "3009", "3010", "3011", "3014", "3016", "3017", "3018",
    "3019", "3023", "3025", *["3004"] * 8,
)  # fmt: skip
"""The insured ids of the first claims; the others are decided by the plan."""
COMMAND = (sys.executable, "-m", "clearlane")


def run(*arguments: str, data: Path) -> str:
    """Run a command beside the sandbox."""
    done = subprocess.run(
        [*COMMAND, *arguments, "--data", str(data)], check=True, capture_output=True, text=True
    )
    return done.stdout


def fill(data: Path) -> None:
    """Send the sample claims and let days pass."""
    sample = subprocess.run(
        [*COMMAND, "claim", "sample", "--count", str(CLAIMS), "--id", "DEMO"],
        check=True,
        capture_output=True,
        text=True,
    )
    document: dict[str, Any] = json.loads(sample.stdout)
    for claim, member in zip(document["Claims"], SCENARIOS, strict=False):
        claim["F01A_InsuredId"] = member
    first, rest = document["Claims"][: len(SCENARIOS)], document["Claims"][len(SCENARIOS) :]
    file = data / "claims.json"
    for claims, days in ((first, "16d"), (rest, "2d")):
        file.write_text(json.dumps(document | {"Claims": claims}), encoding="utf-8")
        run("claim", "submit", str(file), data=data)
        run("sandbox", "advance", days, data=data)


async def take(context: BrowserContext, name: str, path: str, base: str, *, dark: bool) -> None:
    """Take one picture."""
    page = await context.new_page()
    await page.emulate_media(color_scheme="dark" if dark else "light")
    await page.goto(f"{base}/console{path}")
    await page.screenshot(path=PICTURES / f"console-{name}.png")
    await page.close()


async def take_all(data: Path) -> None:
    """Take every screen."""
    url = json.loads(run("console", "open", "--json", data=data))["url"]
    base = url.partition("/console/")[0]
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=chromium.find(), args=chromium.arguments(), chromium_sandbox=False
        )
        context = await browser.new_context(
            ignore_https_errors=True, viewport={"width": WIDE[0], "height": WIDE[1]}
        )
        page = await context.new_page()
        await page.goto(url)
        await page.wait_for_url("**/console/")
        await page.goto(f"{base}/console/claims?tab=rejected")
        claim = await page.locator("tbody a[href*='/claims/']").first.get_attribute("href") or ""
        claim = claim.partition("?")[0].removeprefix("/console")
        await page.goto(f"{base}/console/payments")
        # The first one that came has the most claims, and an adjustment.
        balanced = page.locator("tbody tr", has_text="Balanced").last
        payment = await balanced.locator("a").first.get_attribute("href") or ""
        payment = payment.partition("?")[0].removeprefix("/console")
        for name, path in (
            ("home", "/"),
            ("claims", "/worklists"),
            ("claim", claim),
            ("correct", f"{claim}/correct"),
            ("payment", payment),
        ):
            await take(context, name, path, base, dark=False)
        await take(context, "claim-dark", claim, base, dark=True)
        narrow = await browser.new_context(
            ignore_https_errors=True,
            viewport={"width": NARROW[0], "height": NARROW[1]},
            storage_state=await context.storage_state(),
        )
        await take(narrow, "claims-narrow", "/claims", base, dark=False)
        await browser.close()


def main() -> None:
    """Start a sandbox, fill it, take the pictures, stop it."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "sandbox"
        service = subprocess.Popen(
            [*COMMAND, "serve", "--data", str(data), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            for line in service.stdout or ():
                if line.startswith("clearlane ready "):
                    break
            fill(data)
            asyncio.run(take_all(data))
        finally:
            service.terminate()
            service.wait(START_SECONDS_MAX)


if __name__ == "__main__":
    main()
