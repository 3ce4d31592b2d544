"""What a claim is found by beside its ids: account number, member id, patient's last name with birth date, and the name's first letters.

    terms = search_terms(claim)
    terms.patient                       # ("ARDEN", "1980-02-29")

Names and member ids are compared without case, accents, spaces and punctuation. Knows no hash and no database: the terms
themselves are never stored.
"""

from datetime import date
from typing import NamedTuple

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.kernel.compared_names import NAME_START_LETTERS, search_name
from clearlane.kernel.redacted_repr import shows

ACCOUNT = "account_number"


@shows()
class SearchTerms(NamedTuple):
    """The terms of one claim; empty if the claim has none."""

    account: str
    patient: tuple[str, str] | None
    """Last name and birth date."""
    name_start: str
    """The first letters of the last name, or all of a shorter one."""
    member: str


def search_terms(claim: Claim) -> SearchTerms:
    """Return the terms of a claim as it was sent. A claim for the insured may leave out the patient's own fields."""
    patient, subscriber, birth, subscriber_birth, member, account = form_of(claim).values(
        claim,
        "patient.last_name",
        "subscriber.last_name",
        "patient.birth",
        "subscriber.birth",
        "subscriber.member_id",
        ACCOUNT,
    )
    name = search_name(patient or subscriber or "")
    born: date | None = birth or subscriber_birth
    return SearchTerms(
        (account or "").strip(),
        (name, born.isoformat()) if name and born else None,
        name[:NAME_START_LETTERS],
        search_name(member or ""),
    )


def account_term(claim: Claim) -> str:
    """Return the patient's account number of a claim; empty if it has none."""
    return (form_of(claim).value(claim, ACCOUNT) or "").strip()
