"""Options whose choices come from the tables of kinds of claim. Loads neither claims nor forms."""

from typing import TYPE_CHECKING, Literal

from clearlane.claims.kinds import JSON_KINDS, KINDS, SUBMITTED_KINDS

__all__ = ["KindOption", "PayerTypeOption", "RouteTypeOption"]

if TYPE_CHECKING:
    KindOption = str
    PayerTypeOption = str
    RouteTypeOption = str
else:
    KindOption = Literal[*(kind.value for kind in JSON_KINDS)]
    # Types of payers, as options take them; in any case.
    PayerTypeOption = Literal[
        *dict.fromkeys(KINDS[kind].payer_type.lower() for kind in SUBMITTED_KINDS)
    ]
    # The same, and a hop, which serves payers of every type.
    RouteTypeOption = Literal[
        *dict.fromkeys(KINDS[kind].payer_type.lower() for kind in SUBMITTED_KINDS), "hop"
    ]
