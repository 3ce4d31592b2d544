"""The sandbox band's buttons: let days pass, and come back when everything due has been posted."""

from datetime import timedelta

from starlette.responses import Response

from clearlane.console.frame.act_question import ONLY_THE_SANDBOX
from clearlane.console.frame.local_path import local_path
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.query.installation.operator_counts import refresh_operator_counts
from clearlane.pipeline.query.payment_month import refresh_payment_month
from clearlane.pipeline.sandbox.sandbox_control import DueWorkNotFinished

pages = PageRows(roles=BILLERS)

DAYS_OFFERED = frozenset({"1", "14"})


@pages.act("/sandbox/advance", ONLY_THE_SANDBOX)
async def advance(request: PageRequest) -> Response:
    """Advance the clock by the days of the button, and return to the page it was pressed on."""
    control = request.context.sandbox_control
    if control is None:
        raise NoSuchPage("Only a sandbox has a clock that can be advanced.")
    days = request.form.get("days")
    if days not in DAYS_OFFERED:
        return request.message(400, "Not possible", "Time advances by 1 day or by 14 days.")
    try:
        await control.advance(timedelta(days=int(days)), request.actor)
    except ValueError as why:
        return request.message(409, "Time did not advance", f"{why}.")
    except DueWorkNotFinished:
        return request.message(
            503, "Not finished yet", "Time has passed, but something that is due is not yet done."
        )
    for site in request.counted_sites:
        await refresh_summary(request.context.work_context, site, with_causes=True)
    await refresh_payment_month(request.context.work_context)
    await refresh_operator_counts(request.context.work_context)
    return request.pages.redirect(local_path(request.form.get("back")))
