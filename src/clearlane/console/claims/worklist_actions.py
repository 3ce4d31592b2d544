"""Work on the claims that are ticked in a worklist: take them, put them aside, or be done with them.

The form is sent to the address of its list, so that one that is refused leaves the person there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.console.claims.claims_page import (
    SNOOZE_UNTIL,
    UNDO,
    UNDO_AT,
    RefusedWork,
    ShowList,
    SiteKey,
    find_every,
    list_form,
    list_path,
    show_claims,
    show_worklists,
    snooze_range,
    undo_moment,
)
from clearlane.console.frame import page_text
from clearlane.console.frame.act_question import CONFIRMED, CONFIRMED_FIELD, ONLY_THE_WORKLIST
from clearlane.console.frame.forms import CSRF_FIELD
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.kernel.clock import to_micros
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
ACTION_WORDS = {
    "assign": "Assign to me",
    "release": "Unassign",
    "snooze-1": "Snooze 1 day",
    "snooze-7": "Snooze 7 days",
    "snooze-30": "Snooze 30 days",
    SNOOZE_UNTIL: "Snooze until the day",
    "done": "Done",
}
UNDONE = frozenset({*SNOOZE_DAYS, SNOOZE_UNTIL, "done"})
"""What puts claims aside, and can be taken back."""
EVERY_CLAIMS_MAX = 5_000
"""Maximum number of claims that "all that fit the filter" are."""


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
    if do == UNDO:
        return await _undo(request)
    if do not in ACTIONS:
        return request.message(400, "Not possible", "There is no such action.")
    if form.get("every") == "1" and form.get(CONFIRMED_FIELD) != CONFIRMED:
        return await _ask_about_every(request, show, do)
    by_site = await _chosen(request, show)
    chosen = [number for numbers in by_site.values() for number in numbers]
    reason, until = form.get("reason").strip(), form.get("until").strip()
    faults = _faults(request, do, chosen, reason, until)
    if faults:
        refused = RefusedWork(
            " ".join(faults.values()), frozenset(chosen), reason, until, frozenset(faults)
        )
        return await show(request.at(list_path(request)), refused)
    now = request.context.clock.now()
    for site, numbers in by_site.items():
        for at in range(0, len(numbers), CLAIMS_AT_ONCE_MAX):
            some = numbers[at : at + CLAIMS_AT_ONCE_MAX]
            await _act_on_site(request, site, some, do, reason, now)
        await refresh_summary(request.context.work_context, site)
    undo_at = str(to_micros(now)) if do in UNDONE else ""
    return request.pages.redirect(list_path(request, done=do, undo_at=undo_at))


async def _undo(request: PageRequest) -> Response:
    """Take back what was put aside or done at the moment that the form names, for all sites of the list."""
    at, taken = undo_moment(request.form.get(UNDO_AT)), 0
    if at is not None:
        context = request.context.work_context
        for site in request.counted_sites:
            back = await claim_work.take_up_claims(context, site, at, actor=request.actor)
            if back:
                await refresh_summary(context, site)
            taken += back
    return request.pages.redirect(list_path(request, done=UNDO if taken else "not-undone"))


async def _chosen(request: PageRequest, show: ShowList) -> Mapping[Site, list[str]]:
    """Return the numbers of the ticked claims, or of all that fit the filter of the list, by site."""
    if request.form.get("every") != "1":
        ticked = list(dict.fromkeys(request.form.get_all("claim")))[:CLAIMS_AT_ONCE_MAX]
        return await _by_site(request, ticked)
    found: dict[Site, list[str]] = {}
    for one in await _every(request, show):
        found.setdefault(one.site, []).append(one.key.claim_number)
    return found


async def _every(request: PageRequest, show: ShowList) -> list[SiteKey]:
    """Return all claims of a list, not of its page alone."""
    return await find_every(request, list_form(request, show), EVERY_CLAIMS_MAX)


async def _ask_about_every(request: PageRequest, show: ShowList, do: str) -> Response:
    """Ask whether all claims of a list are meant: how many they are, and how much they charge."""
    form = request.form
    reason, until = form.get("reason").strip(), form.get("until").strip()
    keys = await _every(request, show)
    numbers = [one.key.claim_number for one in keys]
    if faults := _faults(request, do, numbers, reason, until):
        refused = RefusedWork(
            " ".join(faults.values()), frozenset(), reason, until, frozenset(faults), every=True
        )
        return await show(request.at(list_path(request)), refused)
    cents = page_text.money(sum(one.key.total_cents for one in keys))
    counted = page_text.count(len(keys), "claim")
    kept = (CSRF_FIELD, CONFIRMED_FIELD, "site", "claim")
    return request.render(
        "confirm.html",
        f"{ACTION_WORDS[do]}: {counted}, ${cents}?",
        sentence=f"This concerns all {counted} that fit the filter of the list, ${cents} charged together, not only those "
        "that its page shows.",
        figures=(),
        button=f"{ACTION_WORDS[do]}: {counted}",
        no="Do nothing",
        takes_away=False,
        action=list_path(request),
        back=request.path,
        fields=[pair for pair in form.pairs if pair[0] not in kept],
        confirmed=(CONFIRMED_FIELD, CONFIRMED),
    )


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
    request: PageRequest, site: Site, numbers: Sequence[str], do: str, reason: str, at: datetime
) -> None:
    context, actor = request.context.work_context, request.actor
    if do in SNOOZE_DAYS or do == SNOOZE_UNTIL:
        until = request.form.get("until").strip()
        if do in SNOOZE_DAYS:
            until = (request.today + timedelta(days=SNOOZE_DAYS[do])).isoformat()
        await claim_work.snooze_claims(context, site, numbers, until, actor=actor, at=at)
    elif do == "done":
        await claim_work.finish_claims(context, site, numbers, reason, actor=actor, at=at)
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
