"""Rules: what claims are checked by, what each rule stopped lately, the fate of claims sent anyway; and settings. For
operators.
"""

from typing import NamedTuple

from starlette.responses import Response

from clearlane.claims.responses.rule_examples import example_of
from clearlane.claims.responses.rule_status import source_of, status_of
from clearlane.claims.rule_settings import DEFAULT, SEVERITIES, RuleSetting
from clearlane.claims.rules import RULES, ClaimRule
from clearlane.claims.rules.settings import refusal
from clearlane.console.frame.act_question import UNDONE_BESIDE
from clearlane.console.frame.list_page import list_page
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import Severity
from clearlane.pipeline.operator.rule_admin import RuleRequest, set_rule
from clearlane.pipeline.query.installation.rule_activity import (
    RuleActivity,
    RuleCounts,
    load_rule_activity,
)
from clearlane.store.installation.rule_settings import SettingChange

pages = PageRows(roles=OPERATORS, menu="/rules")

TABS = {"all": "All", "set": "With settings", "anyway": "Sent anyway"}
LABELS = {
    "error": ("act", "Error"),
    "warning": ("late", "Warning"),
    "info": ("done", "Note"),
    "off": ("done", "Off"),
}
"""How a severity looks: its color and its word."""
NOTICES = {
    "set": "The rule is set. Claims that arrive from now on are checked by it.",
    "unset": "The setting is removed. The rule has its default again.",
}
WORDS_CHARACTERS_MAX = 80
RULES_PER_PAGE = 50


class RuleLine(NamedTuple):
    """A rule as the list shows it."""

    rule: ClaimRule
    label: tuple[str, str]
    settings: list[str]
    activity: RuleActivity


@pages.page("/rules")
async def show_rules(request: PageRequest) -> Response:
    """Show every rule, those that stop good claims first."""
    counts = await load_rule_activity(request.context.work_context, request.context.clock.now())
    lines = [_line(request, rule, counts.of(rule.id)) for _, rule in sorted(RULES.items())]
    lines.sort(key=lambda line: not line.activity.stops_good_claims)
    words = request.query("words").strip()[:WORDS_CHARACTERS_MAX]
    found = [line for line in lines if _matches(line.rule, words)]
    by_tab = {
        "all": found,
        "set": [line for line in found if line.settings],
        "anyway": [line for line in found if line.activity.sent],
    }
    tab = request.query("tab") if request.query("tab") in by_tab else "all"
    return request.render(
        "rules.html",
        "Rules",
        page=list_page(
            request,
            "/rules",
            by_tab[tab],
            size=RULES_PER_PAGE,
            tab="" if tab == "all" else tab,
            words=words,
        ),
        tab=tab,
        tabs=[
            (
                title,
                request.url("/rules", tab="" if name == "all" else name, words=words),
                name == tab,
                len(by_tab[name]),
            )
            for name, title in TABS.items()
        ],
        words=words,
        stopping=[line.rule.id for line in lines if line.activity.stops_good_claims],
        counted_at=_counted_at(request, counts),
    )


@pages.page("/rules/{rule}", notices=NOTICES)
async def show_rule(request: PageRequest) -> Response:
    """Show one rule, its settings, and the form for another."""
    return await _render(request, _find(request))


@pages.act("/rules/{rule}", UNDONE_BESIDE)
async def change_rule(request: PageRequest) -> Response:
    """Set a rule for a payer, a site, both or every claim, or remove a setting."""
    rule, form = _find(request), request.form
    wanted = RuleRequest(
        rule=rule.id,
        payer=form.get("payer"),
        site=form.get("for_site"),
        severity=form.get("severity"),
        reason=form.get("because"),
    )
    done = await set_rule(
        request.context.database,
        wanted,
        payers=request.context.payers,
        accounts=request.context.accounts,
        actor=request.actor,
        now=request.now,
    )
    if not isinstance(done, SettingChange):
        faults = [one.message for one in done]
        return await _render(request, rule, wanted=wanted, faults=faults, status=400)
    await request.context.refresh()
    notice = "unset" if wanted.severity == DEFAULT else "set"
    return request.redirect(f"/rules/{rule.id}", done=notice)


async def _render(
    request: PageRequest,
    rule: ClaimRule,
    *,
    wanted: RuleRequest | None = None,
    faults: list[str] | None = None,
    status: int = 200,
) -> Response:
    counts = await load_rule_activity(request.context.work_context, request.context.clock.now())
    acknowledged = status_of(rule)
    settings = request.context.rule_settings.of_rule(rule.id)
    return request.render(
        "rule.html",
        f"Rule {rule.id}",
        status,
        rule=rule,
        label=LABELS[rule.severity.value],
        kinds=rule.kinds,
        source=source_of(rule),
        example=example_of(rule.id),
        acknowledged=" ".join(filter(None, acknowledged or ())),
        activity=counts.of(rule.id),
        counted_at=_counted_at(request, counts),
        settings=[
            (one, LABELS[one.severity], request.stored_moment(one.at), _owner(one))
            for one in settings
        ],
        offered=[
            (name, LABELS[name][1])
            for name in SEVERITIES
            if not refusal(rule, name) and rule.severity is not Severity.INFO
        ],
        sites=request.context.accounts.sites,
        wanted=wanted or RuleRequest(rule=rule.id, severity=""),
        faults=faults or [],
    )


def _find(request: PageRequest) -> ClaimRule:
    rule = RULES.get(request.parts["rule"])
    if rule is None:
        raise NoSuchPage("There is no such rule.")
    return rule


def _line(request: PageRequest, rule: ClaimRule, activity: RuleActivity) -> RuleLine:
    settings = request.context.rule_settings.of_rule(rule.id)
    words = [f"{LABELS[one.severity][1]} for {_owner(one)}" for one in settings]
    return RuleLine(rule, LABELS[rule.severity.value], words, activity)


def _counted_at(request: PageRequest, counts: RuleCounts) -> str:
    """Return when what rules stopped was counted; empty if no site has claims."""
    return request.stored_moment(to_micros(counts.counted_at)) if counts.counted_at else ""


def _owner(setting: RuleSetting) -> str:
    """Return for which claims a setting is."""
    payer = f"payer {setting.payer_id}" if setting.payer_id else ""
    site = f"site {setting.site}" if setting.site else ""
    return ", ".join(filter(None, (payer, site))) or "every claim"


def _matches(rule: ClaimRule, words: str) -> bool:
    text = f"{rule.id} {rule.sentence} {rule.x12}".casefold()
    return all(word in text for word in words.casefold().split())
