"""Turn the filters that a caller gave into the queries of a list of claims.

    queries = list_queries(context, scope, ClaimListRequest(given={"payer": "TST01", "tab": "needs_you"}, limit=51))

Knows what is found by keyed hash, and which stored labels a claim is shown with; knows no text of a caller.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from clearlane.claims.claim_filters import CLAIM_FILTERS, CLAIM_TABS, OPEN_LABELS, WORKLIST_TABS
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_local, to_micros
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.pipeline.answer_days import UsualDays, usual_days
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_search
from clearlane.store.claims.claim_query import ClaimOrder, ClaimQuery, Listed, ListPosition
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


def usual_days_of(context: WorkContext) -> UsualDays:
    """Return within how many days payers usually answer."""
    access = context.payer_access
    default = context.limits.claim_silence_days
    return usual_days(access.payers(), access.connections(), default=default)


def list_queries(
    context: WorkContext, scope: Scope | VendorScope, request: ClaimListRequest
) -> list[ClaimQuery]:
    """Return the queries whose claims are the list of one scope, all in its order and up to its limit.

    What people put aside, or are done with, is not on the tabs that are worked off.
    """
    where = to_where(request.given, context.vault, scope.vendor)
    tab, label = (request.given.get(name) for name in _BY_LABEL)
    if request.assigned_to:
        where["assigned_to"] = request.assigned_to
    if request.assigned_to or tab in WORKLIST_TABS:
        where["awake_on"] = _today(context, scope).isoformat()
    return [
        ClaimQuery(
            where={**where, **by_label},
            listed=Listed.LATEST if tab or label not in _SHOWN_LATER else Listed.ACCEPTED,
            order=request.chosen_order,
            after=request.after,
            limit=request.limit,
        )
        for by_label in _label_conditions(context, tab, label)
    ]


def _today(context: WorkContext, scope: Scope | VendorScope) -> date:
    """Return the day of the scope's site; of several sites that of UTC."""
    only = scope.site if isinstance(scope, Scope) else None
    zone = next((one.time_zone for one in context.accounts().sites if one.id == only), "UTC")
    return to_local(context.clock.now(), zone).date()


_SHOWN_LATER = (None, ClaimLabel.REPLACED, ClaimLabel.VOIDED)
"""Labels that claims have which another took over from."""


def _label_conditions(
    context: WorkContext, tab: str | None, label: str | None
) -> Iterator[dict[str, object]]:
    """Yield the conditions of which one holds for a claim of a tab, and shown with a label."""
    labels = CLAIM_TABS[tab or "all"]
    if label is None:
        yield {"labels": [one for one in labels if one != ClaimLabel.NO_ANSWER]} if tab else {}
        if ClaimLabel.NO_ANSWER in labels:
            yield from _open_claims(context, OPEN_LABELS, "before")
    elif label == ClaimLabel.NO_ANSWER:
        in_tab = [one for one in OPEN_LABELS if one in labels or label in labels]
        yield from _open_claims(context, in_tab, "before")
    elif label in OPEN_LABELS and label in labels:
        yield from _open_claims(context, [label], "from")
    elif label in labels:
        yield {"replaced": label} if label == ClaimLabel.REPLACED else {"labels": [label]}


def _open_claims(
    context: WorkContext, labels: Sequence[str], bound: str
) -> Iterator[dict[str, object]]:
    """Yield the conditions of claims whose payer has been silent too long (``before``), or not yet (``from``)."""
    now = context.clock.now()
    for group in usual_days_of(context).groups:
        cutoff = to_micros(group.cutoff(now))
        yield {"labels": labels, f"updated_at_{bound}": cutoff, **group.payers.given()}


def to_where(given: Mapping[str, Any], vault: Vault, vendor_id: int) -> dict[str, object]:
    """Return the conditions of filters but labels, by name. What is hashed is a vendor's own."""
    found: dict[str, object] = {}
    for one in CLAIM_FILTERS:
        value = given.get(one.name)
        if value is None or one.name in PATIENT or one.name in _BY_LABEL:
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
