"""Turn the filters that a caller gave into the queries of a list of claims.

    queries = list_queries(context, scope, ClaimListRequest(given={"payer": "TST01", "tab": "needs_you"}, limit=51))

Knows what is found by keyed hash, and which stored labels a claim is shown with; knows no text of a caller.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from clearlane.claims.awaiting import Awaited
from clearlane.claims.claim_filters import (
    AWAITED_BY_TAB,
    CLAIM_FILTERS,
    CLAIM_TABS,
    SHADOW_TAB,
    WORKLIST_TABS,
)
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_local, to_micros
from clearlane.kernel.ids import Scope, SiteId, VendorScope
from clearlane.kernel.list_filter import FilterType, combinations
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_search
from clearlane.store.claims.claim_query import ClaimOrder, ClaimQuery, Listed, ListPosition
from clearlane.store.payments.secondary_drafts import TO_DO
from clearlane.store.vault.vault import Vault

PATIENT = ("patient_last_name", "patient_birth_date")
"""Given together: names alone are kept by their first letters only."""
PATIENT_TOGETHER = "A patient is found by last name and birth date together."
_BY_LABEL = ("tab", "label")
_KEYS: Mapping[str, Callable[[Vault, int, str], object]] = {
    "vendor_claim_id": claim_search.vendor_claim_hashes,
    "account_number": claim_search.account_key,
    "payer_control_number": lambda vault, vendor, number: claim_search.payer_number_key(
        vault, number
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimListRequest:
    """A list of claims that a caller asks for."""

    given: Mapping[str, Any]
    """The values of filters by name; None is not given."""
    order: ClaimOrder | None = None
    """That of changes if these are followed, else the newest claims first."""
    after: ListPosition | None = None
    assigned_to: str = ""
    """A console user, for what this one works on."""
    limit: int

    @property
    def chosen_order(self) -> ClaimOrder:
        """The order of the list."""
        follows = self.given.get("changed_after") is not None
        return self.order or (ClaimOrder.BY_CHANGE if follows else ClaimOrder.NEWEST_FIRST)


def missing_part(given: Mapping[str, object]) -> str:
    """Return the filter that must be given too: a patient is found by last name and birth date together."""
    missing = [name for name in PATIENT if given.get(name) is None]
    return missing[0] if len(missing) == 1 else ""


def list_queries(
    context: WorkContext, scope: Scope | VendorScope, request: ClaimListRequest
) -> list[ClaimQuery]:
    """Return the queries whose claims are the list of one scope, all in its order and up to its limit.

    Filters with several values are a query for each combination of them. What people put aside, or are done with, is not on
    the tabs that are worked off.
    """
    return [
        query
        for given in combinations(request.given)
        for query in _queries_of_values(context, scope, replace(request, given=given))
    ]


def _queries_of_values(
    context: WorkContext, scope: Scope | VendorScope, request: ClaimListRequest
) -> list[ClaimQuery]:
    """Return the queries of filters that have one value each."""
    where = to_where(request.given, context.vault, scope.vendor, context.clock.now())
    tab, label = (request.given.get(name) for name in _BY_LABEL)
    if tab and tab in AWAITED_BY_TAB:
        where.setdefault("awaiting", AWAITED_BY_TAB[tab].value)
    if where.get("awaiting") == Awaited.SECONDARY:
        where["draft_state"] = " ".join(TO_DO)  # few claims have one
    if request.assigned_to:
        where["assigned_to"] = request.assigned_to
    if request.assigned_to or tab in WORKLIST_TABS:
        where["awake_on"] = _today(context, scope).isoformat()
    # A claim in whose place another was sent awaits nothing by itself.
    is_latest = tab or label not in _SHOWN_LATER or not _AWAITING.isdisjoint(where)
    return [
        ClaimQuery(
            where={**where, **by_label},
            listed=Listed.LATEST if is_latest else Listed.ACCEPTED,
            order=request.chosen_order,
            after=request.after,
            limit=request.limit,
        )
        for by_label in _label_conditions(tab, label)
    ]


def split_by_day(
    context: WorkContext, scopes: Iterable[Scope | VendorScope]
) -> list[Scope | VendorScope]:
    """Return scopes in which it is the same day everywhere: what rests until a day does so until that of its site."""
    found: list[Scope | VendorScope] = []
    for scope in scopes:
        if isinstance(scope, Scope):
            found.append(scope)
            continue
        by_day: dict[date, list[SiteId]] = {}
        for site in scope.sites:
            by_day.setdefault(_day_of(context, site), []).append(site)
        found += [replace(scope, sites=tuple(sites)) for sites in by_day.values()] or [scope]
    return found


def _today(context: WorkContext, scope: Scope | VendorScope) -> date:
    """Return the day of the scope's site; of several sites that of the first, as :func:`split_by_day` made them."""
    first = scope.site if isinstance(scope, Scope) else next(iter(scope.sites), SiteId(0))
    return _day_of(context, first)


def _day_of(context: WorkContext, site: SiteId) -> date:
    zone = next((one.time_zone for one in context.accounts().sites if one.id == site), "UTC")
    return to_local(context.clock.now(), zone).date()


_ANY_LABEL = (*CLAIM_TABS["all"], *CLAIM_TABS[SHADOW_TAB])
_NOT_DUE = "not_due_before"
_AWAITING = {"awaiting", "awaited_by_before", _NOT_DUE}
_SHOWN_LATER = (None, ClaimLabel.REPLACED, ClaimLabel.VOIDED)
"""Labels that claims have which another took over from."""


def _label_conditions(tab: str | None, label: str | None) -> Iterator[dict[str, object]]:
    """Yield the condition of claims of a tab, and shown with a label; nothing if no claim is both."""
    labels = CLAIM_TABS[tab] if tab else _ANY_LABEL
    if label is None:
        yield {"labels": list(labels)} if tab and tab not in AWAITED_BY_TAB else {}
    elif label in labels:
        yield {"replaced": label} if label == ClaimLabel.REPLACED else {"labels": [label]}


def to_where(
    given: Mapping[str, Any], vault: Vault, vendor_id: int, now: datetime
) -> dict[str, object]:
    """Return the conditions of filters but labels, by name. What is hashed is a vendor's own."""
    found: dict[str, object] = {}
    for one in CLAIM_FILTERS:
        value = given.get(one.name)
        if value is None or one.name in PATIENT or one.name in _BY_LABEL:
            continue
        if one.type is FilterType.FLAG:
            found[one.condition if value else _NOT_DUE] = to_micros(now)
            continue
        make_key = _KEYS.get(one.name)
        found[one.condition] = make_key(vault, vendor_id, value) if make_key else _stored(value)
    name, born = (given.get(part) for part in PATIENT)
    if name is not None and born is not None:
        found |= claim_search.patient_filters(vault, vendor_id, name, born)
    return found


def _stored(value: object) -> object:
    if isinstance(value, datetime):
        return to_micros(value)
    return value.isoformat() if isinstance(value, date) else value
