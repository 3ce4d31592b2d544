"""What the middle layers need of a claim without opening it: a small value, made from the view at intake.

    header = header_of(view)
    header.last_name

It is stored sealed beside the claim's content, so that lists, matching and corrections open this alone.

Knows the view; knows no form.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal

import msgspec

from clearlane.claims.codes import ORIGINAL
from clearlane.claims.view import ClaimView, LineView
from clearlane.kernel.redacted_repr import shows

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
    charge: Decimal = Decimal(0)
    days: tuple[Days, ...] = ()
    """First and last days of the service lines, each pair once."""
    line_controls: tuple[str, ...] = ()
    """The control numbers of lines that the caller chose, each once."""

    @property
    def service_day(self) -> date | None:
        """The first day of service."""
        return min([first for first, _ in self.days], default=None)


def header_of(view: ClaimView) -> ClaimHeader:
    """Return the header of a claim."""
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
        charge=view.total_charge or Decimal(0),
        days=_days(view.lines),
        line_controls=tuple(
            dict.fromkeys([line.control_number for line in view.lines if line.control_number])
        ),
    )


def _days(lines: Iterable[LineView]) -> tuple[Days, ...]:
    stated = [(one.first_day, one.last_day or one.first_day) for one in lines if one.first_day]
    return tuple(dict.fromkeys(stated))


encode_header = msgspec.json.Encoder(decimal_format="string").encode
decode_header = msgspec.json.Decoder(ClaimHeader).decode
