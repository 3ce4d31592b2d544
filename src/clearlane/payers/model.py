"""The payer as a value. Knows no file, no list and no database."""

from typing import Literal, get_args

import msgspec

PayerType = Literal["Medical", "Dental"]
Era = Literal["Available", "RequiresEnrollment", "NotAvailable"]
Replacements = Literal["accepted", "original_only"]
Program = Literal["Medicare", "Medicaid"]
InquiryEnrollment = Literal["eligibility", "claim_status"]

PAYER_TYPES: tuple[str, ...] = get_args(PayerType)
MEDICAL, DENTAL = PAYER_TYPES
ERAS: tuple[str, ...] = get_args(Era)
REPLACEMENTS: tuple[str, ...] = get_args(Replacements)
PROGRAMS: tuple[str, ...] = get_args(Program)
MEDICARE, MEDICAID = PROGRAMS
INQUIRY_ENROLLMENTS: tuple[str, ...] = get_args(InquiryEnrollment)


class Payer(msgspec.Struct, frozen=True, gc=False):
    """One payer for one type of claims. A payer that takes both types is two of these."""

    type: str
    name: str
    svc_payer_id: str
    """The legacy identifier, which the interface will phase out."""
    payer_id: str
    national_payer_id: str = ""
    era_availability: str = "NotAvailable"
    offers_eligibility: bool = False
    claim_enrollment_required: bool = False
    is_test: bool = False
    active: bool = True
    aliases: tuple[str, ...] = ()
    has_route: bool = False
    """Whether there is an active route to this payer."""
    accepts_claims: bool = True
    """False for a payer that is listed for eligibility alone."""
    replacements: str = "accepted"
    """Whether it takes replacements and voids (frequency 7 and 8), or originals only."""
    billing_zip_required: bool = False
    """Whether it refuses claims whose billing address has no ZIP code."""
    program: str = ""
    """Medicare or Medicaid, whose payers want some things in common (``edits``); empty for others."""
    edits: tuple[str, ...] = ()
    """What it wants of a claim, by the names of ``edits.PAYER_EDITS``."""
    member_id_pattern: str = ""
    filing_days: int = 0
    """Days after the last day of service within which it takes a claim; 0 if that is not known."""
    corrected_filing_days: int = 0
    """The same for replacements and voids."""
    secondary_filing_days: int = 0
    """Days after an earlier payer's decision within which it takes a claim as second payer; 0 if not known."""
    appeal_filing_days: int = 0
    """Days after its decision within which it takes an appeal; 0 if not known."""
    attachments: tuple[str, ...] = ()
    """How it takes attachments, as codes of PWK02, or ``none``; empty if that is not known."""
    institutional_payer_id: str = ""
    """Its id in institutional claims (837I), if that is another one."""
    inquiry_enrollments: tuple[str, ...] = ()
    """Which inquiries it answers for enrolled providers only: eligibility, claim status."""

    @property
    def key(self) -> tuple[str, str]:
        """The unique key of a payer: its type and its id in folded case."""
        return self.type, self.payer_id.casefold()

    @property
    def ids(self) -> tuple[str, ...]:
        """Every identifier of the payer, the preferred one first."""
        known = (
            self.payer_id,
            self.svc_payer_id,
            self.institutional_payer_id,
            self.national_payer_id,
        )
        return tuple(id for id in known if id)
