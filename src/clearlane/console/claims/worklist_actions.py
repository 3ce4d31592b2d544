"""Work on the claims that are ticked in a worklist: take them, put them aside, or be done with them.

The form is sent to the address of its list, so that one that is refused leaves the person there.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.console.claims.claims_page import (
    SNOOZE_UNTIL,
    RefusedWork,
    ShowList,
    list_path,
    show_claims,
    show_worklists,
    snooze_range,
)
from clearlane.console.frame import page_text
from clearlane.console.frame.act_question import ONLY_THE_WORKLIST
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.kernel.formats import parse_iso_date
from clearlane.pipeline.operator import claim_work
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.store.claims.claims import find_owner
from clearlane.store.database.database import SystemScope

pages = PageRows(roles=BILLERS, menu="/claims")

CLAIMS_AT_ONCE_MAX = 200
ANY_CLIENT = SystemScope("claims are found by their numbers before their site is known")
SNOOZE_DAYS = {"snooze-1": 1, "snooze-7": 7, "snooze-30": 30}
ACTIONS = ("assign", "release", *SNOOZE_DAYS, SNOOZE_UNTIL, "done")


@pages.act("/claims", ONLY_THE_WORKLIST)
async def act_on_claims(request: PageRequest) -> Response:
    """Work on the ticked claims of a list."""
    return await _act(request, show_claims)


@pages.act("/worklists", ONLY_THE_WORKLIST)
async def act_on_worklists(request: PageRequest) -> Response:
    """Work on the ticked claims of the list that needs attention."""
    return await _act(request, show_worklists)


async def _act(request: PageRequest, show: ShowList) -> Response:
    """Do what the pressed button says with the ticked claims, and return to the list."""
    form, do = request.form, request.form.get("do")
    if do not in ACTIONS:
        return request.message(400, "Not possible", "There is no such action.")
    chosen = list(dict.fromkeys(form.get_all("claim")))[:CLAIMS_AT_ONCE_MAX]
    reason, until = form.get("reason").strip(), form.get("until").strip()
    faults = _faults(request, do, chosen, reason, until)
    if faults:
        refused = RefusedWork(
            " ".join(faults.values()), frozenset(chosen), reason, until, frozenset(faults)
        )
        return await show(request.at(list_path(request)), refused)
    for site, numbers in (await _by_site(request, chosen)).items():
        await _act_on_site(request, site, numbers, do, reason)
        await refresh_summary(request.context.work_context, site)
    return request.pages.redirect(list_path(request, done=do))


def _faults(
    request: PageRequest, do: str, chosen: Sequence[str], reason: str, until: str
) -> Mapping[str, str]:
    """Return what is missing or wrong in a form, by the field that it concerns."""
    found = {}
    if not chosen:
        found["claim"] = "No claim is ticked. Tick the claims first, then press the button."
    if do == "done" and not reason:
        found["reason"] = "A reason is needed. Say why these claims are done."
    if do == SNOOZE_UNTIL:
        first, last = snooze_range(request.today)
        day = parse_iso_date(until)
        if day is None or not first <= day <= last:
            days = f"from {page_text.day(first)} to {page_text.day(last)}"
            found["until"] = f"Snooze until: choose a day {days}."
    return found


async def _act_on_site(
    request: PageRequest, site: Site, numbers: Sequence[str], do: str, reason: str
) -> None:
    context, actor = request.context.work_context, request.actor
    if do in SNOOZE_DAYS or do == SNOOZE_UNTIL:
        until = request.form.get("until").strip()
        if do in SNOOZE_DAYS:
            until = (request.today + timedelta(days=SNOOZE_DAYS[do])).isoformat()
        await claim_work.snooze_claims(context, site, numbers, until, actor=actor)
    elif do == "done":
        await claim_work.finish_claims(context, site, numbers, reason, actor=actor)
    else:
        user = request.signed_in_user.name if do == "assign" else None
        await claim_work.assign_claims(context, site, numbers, user, actor=actor)


async def _by_site(request: PageRequest, numbers: Sequence[str]) -> Mapping[Site, list[str]]:
    """Return the claims by site; those that the user may not see are left out."""
    found: dict[Site, list[str]] = {}
    async with request.context.database.read(ANY_CLIENT) as tx:
        for number in numbers:
            owner = await find_owner(tx, number) if number.isalnum() else None
            site = request.site_of(*owner) if owner else None
            if site is not None and site.baa_accepted:
                found.setdefault(site, []).append(number)
    return found
