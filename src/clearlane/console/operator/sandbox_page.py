"""The sandbox: its clock, the scenarios with "send this claim", and payers that are down, slow or wrong.

Only a sandbox has this page.
"""

from starlette.responses import Response

from clearlane.console.first_steps import submit_sample
from clearlane.console.frame.act_question import ONLY_THE_SANDBOX
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.pipeline.sandbox.sandbox_control import SandboxControl
from clearlane.store.database.database import SystemScope, write_audit

pages = PageRows(roles=OPERATORS, menu="/sandbox")

MODES = {
    "up": ("good", "Up", "It takes files and answers."),
    "down": ("act", "Down", "It cannot be reached: files wait, and the route is shown as down."),
    "slow": ("late", "Slow", "It delays every call."),
    "garbage": (
        "late",
        "Wrong",
        "It leaves a web page in place of every answer; the true one comes a day later.",
    ),
}
"""Label, title and effect, by mode."""
DAY_SECONDS_MAX = 86_400
ONLY_A_SANDBOX = "Only a sandbox has this page."
SCOPE = SystemScope("a person changes the payers of a sandbox")

NOTICES = {
    "mode": "The payer is changed. Files that waited for one that is up again go out at once.",
    "clock": "The clock is changed.",
}


@pages.page("/sandbox", notices=NOTICES)
async def show_sandbox(request: PageRequest) -> Response:
    """Show the clock, the payers and the scenarios."""
    control = _control(request)
    clock = control.simulator.clock
    return request.render(
        "sandbox.html",
        "Sandbox",
        now=request.moment(clock.now()),
        state=clock.state,
        payers=await control.modes(),
        modes=MODES,
        scenarios=control.simulator.scenarios(),
    )


@pages.act("/sandbox/send", ONLY_THE_SANDBOX)
async def send_scenario(request: PageRequest) -> Response:
    """Send a claim of a scenario for the chosen site, and show it."""
    control = _control(request)
    member = request.form.get("member")
    if member not in {id for id, _, _ in control.simulator.scenarios()}:
        return request.message(400, "Not sent", "There is no such scenario.")
    return await submit_sample(request, member)


@pages.act("/sandbox/payer", ONLY_THE_SANDBOX)
async def set_mode(request: PageRequest) -> Response:
    """Let a payer be up, down, slow or wrong."""
    control = _control(request)
    payer_id, mode = request.form.get("payer"), request.form.get("mode")
    if mode not in MODES or not control.find_payers(payer_id):
        return request.message(400, "Not changed", "There is no such payer, or no such state.")

    await write_audit(
        request.context.database,
        SCOPE,
        "sandbox.payer",
        ids=[payer_id],
        detail=mode,
        actor=request.actor,
    )
    await control.set_mode(payer_id, mode)
    return request.redirect("/sandbox", done="mode")


@pages.act("/sandbox/clock", ONLY_THE_SANDBOX)
async def set_clock(request: PageRequest) -> Response:
    """Stop the payers' days, let them pass again, or set how long one lasts."""
    control = _control(request)
    frozen = {"stop": True, "run": False}.get(request.form.get("days"))
    text = request.form.get("pace").strip()
    pace = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None
    if text and (pace is None or not 1 <= pace <= DAY_SECONDS_MAX):
        sentence = f"A day lasts 1 to {DAY_SECONDS_MAX:,} seconds for payers."
        return request.message(400, "Not changed", sentence)
    try:
        await control.set_clock(frozen=frozen, day_seconds=pace, actor=request.actor)
    except ValueError as why:
        return request.message(409, "Not changed", f"{why}.")
    return request.redirect("/sandbox", done="clock")


def _control(request: PageRequest) -> SandboxControl:
    control = request.context.sandbox_control
    if control is None:
        raise NoSuchPage(ONLY_A_SANDBOX)
    return control
