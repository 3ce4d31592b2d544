"""What the middle layers need of a claim without opening it: a small value, made from the view at intake.

    header = header_of(view)
    header.last_name

It is stored sealed beside the claim's content, so that lists, matching and corrections open this alone.

Knows the view; knows no form.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import msgspec

from clearlane.claims.codes import NOTICES, ORIGINAL
from clearlane.kernel.redacted_repr import shows

if TYPE_CHECKING:
    from clearlane.claims.view import ClaimView, LineView

NOTICE_DAYS = 5
"""Calendar days after an admission or election in which its notice is to be accepted (CMS claims manual, ch. 10 and 11)."""
Days = tuple[date, date]
"""First and last day of a service."""


@shows()
class ClaimHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whom and what a claim is about."""

    vendor_claim_id: str
    payer_id: str = ""
    """The payer's id as the claim states it."""
    account_number: str = ""
    last_name: str = ""
    """The patient's; of a claim for the insured, the insured's."""
    first_name: str = ""
    birth: date | None = None
    member_id: str = ""
    billing_npi: str = ""
    billing_tax_id: str = ""
    frequency: str = ORIGINAL
    original_reference: str = ""
    """The payer's number of the claim that this one replaces."""
    is_predetermination: bool = False
    is_secondary: bool = False
    """Whether it carries the decision of an earlier payer."""
    earlier_decision: date | None = None
    """The day of that decision."""
    has_next_payer: bool = False
    """Whether it names another insurance that has not decided."""
    charge: Decimal = Decimal(0)
    days: tuple[Days, ...] = ()
    """First and last days of the service lines, each pair once; of an institutional claim those of the statement first."""
    bill_type: str = ""
    """Of an institutional claim: facility and classification, two characters."""
    admission: date | None = None
    """Of an institutional claim: the day of admission, or the start of care."""
    last_day: date | None = None
    """Of an institutional claim: the last day of the statement."""
    line_controls: tuple[str, ...] = ()
    """The control numbers of lines that the caller chose, each once."""

    @property
    def billed_as(self) -> str:
        """The type of bill with its frequency, as people write it: 111; empty of every other claim."""
        return self.bill_type and self.bill_type + self.frequency

    @property
    def notice_due(self) -> date | None:
        """The last day on which the payer is to have accepted a notice; None of every other claim."""
        if self.frequency not in NOTICES or self.admission is None:
            return None
        return self.admission + timedelta(days=NOTICE_DAYS)

    @property
    def service_day(self) -> date | None:
        """The first day of service."""
        return min([first for first, _ in self.days], default=None)


def header_of(view: "ClaimView") -> ClaimHeader:
    """Return the header of a claim. A branch for each value, since a claim that is not accepted may lack any."""
    patient, subscriber, billing = view.patient, view.subscriber, view.billing
    return ClaimHeader(
        vendor_claim_id=view.vendor_claim_id,
        payer_id=view.payer.id or "",
        account_number=view.account_number or "",
        last_name=patient.last_name or subscriber.last_name or "",
        first_name=patient.first_name or subscriber.first_name or "",
        birth=view.patient_birth,
        member_id=subscriber.member_id or "",
        billing_npi=billing.npi or "",
        billing_tax_id=billing.ein or billing.ssn or "",
        frequency=view.frequency or ORIGINAL,
        original_reference=view.original_reference or "",
        is_predetermination=view.is_predetermination,
        is_secondary=view.decision is not None,
        earlier_decision=view.decision.last_day if view.decision else None,
        has_next_payer=any(other.decision is None for other in view.other_payers),
        charge=view.total_charge or Decimal(0),
        days=_days(view.lines, _statement(view)),
        bill_type=view.institutional.bill_type or "",
        admission=view.dates.admission if view.institutional.bill_type else None,
        last_day=view.institutional.last_day,
        line_controls=tuple(
            dict.fromkeys([line.control_number for line in view.lines if line.control_number])
        ),
    )


def _days(lines: "Iterable[LineView]", statement: tuple[Days, ...]) -> tuple[Days, ...]:
    stated = [(one.first_day, one.last_day or one.first_day) for one in lines if one.first_day]
    return tuple(dict.fromkeys([*statement, *stated]))


def _statement(view: "ClaimView") -> tuple[Days, ...]:
    """Return the days of the statement of an institutional claim: it begins before its first dated line, if it has one."""
    first, last = view.institutional.first_day, view.institutional.last_day
    return ((first, last or first),) if first else ()


encode_header = msgspec.json.Encoder(decimal_format="string").encode
decode_header = msgspec.json.Decoder(ClaimHeader).decode
