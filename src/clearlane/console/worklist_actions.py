"""Work on the claims that are ticked in a worklist: take them, put them aside, or be done with them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.console.claims_page import RefusedWork, show_claims, show_worklists
from clearlane.console.local_path import local_path
from clearlane.console.page_request import PageRequest
from clearlane.pipeline.operator import claim_work
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.store.claims import find_owner
from clearlane.store.database import SystemScope

CLAIMS_AT_ONCE_MAX = 200
ANY_CLIENT = SystemScope("claims are found by their numbers before their site is known")
SNOOZE_DAYS = {"snooze-1": 1, "snooze-7": 7, "snooze-30": 30}
LISTS = {"/claims": show_claims, "/worklists": show_worklists}
"""The lists that have tick boxes, by address."""
ACTIONS = ("assign", "release", *SNOOZE_DAYS, "done")
NOTICES = {
    "assign": "The ticked claims are assigned to you.",
    "release": "The ticked claims are assigned to nobody.",
    "snooze-1": "The ticked claims come back tomorrow.",
    "snooze-7": "The ticked claims come back in 7 days.",
    "snooze-30": "The ticked claims come back in 30 days.",
    "done": "The ticked claims are done. They come back when the payer decides anew.",
}


async def act(request: PageRequest) -> Response:
    """Do what the pressed button says with the ticked claims, and return to the list."""
    do, back = request.form.get("do"), local_path(request.form.get("back"))
    chosen = list(dict.fromkeys(request.form.get_all("claim")))[:CLAIMS_AT_ONCE_MAX]
    if do not in ACTIONS:
        return request.message(400, "Not possible", "There is no such action.")
    reason = request.form.get("reason").strip()
    if not chosen:
        sentence = "No claim is ticked. Tick the claims first, then press the button."
        return await _refuse(request, back, RefusedWork(sentence, reason=reason))
    if do == "done" and not reason:
        sentence = "A reason is needed. Say why these claims are done."
        return await _refuse(
            request, back, RefusedWork(sentence, frozenset(chosen), at_reason=True)
        )
    for site, numbers in (await _by_site(request, chosen)).items():
        await _act_on_site(request, site, numbers, do, reason)
        await refresh_summary(request.context.work_context, site)
    return request.pages.redirect(_with_notice(back, do))


async def _refuse(request: PageRequest, back: str, refused: RefusedWork) -> Response:
    """Show the list again as it was, with its ticks and with what is missing."""
    show = LISTS.get(back.partition("?")[0])
    if show is None:
        return request.message(400, "Not done", refused.sentence)
    return await show(request.at(_with_notice(back, "")), refused)


def _with_notice(path: str, done: str) -> str:
    """Return the list's address with the notice of what was done, if anything, in place of an earlier one."""
    path, _, query = path.partition("?")
    kept = [(name, value) for name, value in parse_qsl(query) if name != "done"]
    written = urlencode([*kept, *([("done", done)] if done else [])])
    return f"{path}?{written}" if written else path


async def _act_on_site(
    request: PageRequest, site: Site, numbers: Sequence[str], do: str, reason: str
) -> None:
    context, actor = request.context.work_context, request.actor
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
