"""Whom and what a claim is about: payer, insured, patient, purpose and service days.

    compared = claim_subject(new, payer_id).compare(claim_subject(earlier, earlier_payer_id))
    compared.common_day                                     # False: another visit

Tells another claim from a correction of an earlier one under the same vendor's claim id. Names and member ids are
compared as a search does, without case, spaces and punctuation. Knows no database and no state.
"""

from dataclasses import dataclass
from datetime import date

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.search_terms import search_name
from clearlane.kernel.redacted_repr import redact_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectComparison:
    """What a claim has in common with an earlier one."""

    same_payer: bool = True
    same_insured: bool = True
    same_patient: bool = True
    same_purpose: bool = True
    """Whether both ask for a payment, or both for a predetermination."""
    common_day: bool = True
    """Whether a service day is in both."""
    is_secondary: bool = False
    """Whether the later one carries the decision of an earlier payer, and so is not primary."""

    @property
    def same_subject(self) -> bool:
        """Whether payer, insured and patient are the same."""
        return self.same_payer and self.same_insured and self.same_patient

    @property
    def same_services(self) -> bool:
        """Whether they can be about the same services, whoever pays: the same patient and a day in common."""
        return self.same_patient and self.common_day

    @property
    def is_next_payers(self) -> bool:
        """Whether the later one carries the decision on the same services to another payer or insured."""
        another = not (self.same_payer and self.same_insured)
        return self.is_secondary and self.same_services and another

    def differences(self) -> str:
        """Return what differs, as a sentence begins."""
        named = {
            "the payer": self.same_payer,
            "the insured": self.same_insured,
            "the patient": self.same_patient,
            "the purpose": self.same_purpose,
        }
        found = [name for name, same in named.items() if not same]
        words = (
            f"{' and '.join(found)} {'differ' if len(found) > 1 else 'differs'}" if found else ""
        )
        day = "" if self.common_day else "no service day is in common"
        text = ", and ".join(filter(None, (words, day)))
        return text[:1].upper() + text[1:]


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSubject:
    """Whom and what a claim is about."""

    payer_id: str
    insured: str
    patient: tuple[str, str, str]
    """Last name, first name and birth date."""
    purpose: str
    days: tuple[tuple[date, date], ...]
    """First and last day of each service line that has one."""
    is_secondary: bool
    """Whether it carries the decision of an earlier payer."""

    def compare(self, earlier: "ClaimSubject") -> SubjectComparison:
        """Return what it has in common with an earlier claim."""
        return SubjectComparison(
            same_payer=self.payer_id == earlier.payer_id,
            same_insured=self.insured == earlier.insured,
            same_patient=self.patient == earlier.patient,
            same_purpose=self.purpose == earlier.purpose,
            common_day=any(
                first <= other_last and other_first <= last
                for first, last in self.days
                for other_first, other_last in earlier.days
            ),
            is_secondary=self.is_secondary,
        )


def claim_subject(claim: Claim, payer_id: str) -> ClaimSubject:
    """Return whom and what a repaired claim is about; ``payer_id`` is the payer's in the directory."""
    form, given = form_of(claim), claim.__dict__
    last, first, birth, *_ = (
        given.get(patients) or given.get(insureds) for patients, insureds, _ in form.persons
    )
    days = (form.service_days(line) for line in form.lines(claim))
    return ClaimSubject(
        payer_id=payer_id,
        insured=search_name(given.get(form.names.member_id) or ""),
        patient=(search_name(last or ""), search_name(first or ""), str(birth or "")),
        purpose=given.get(form.names.purpose) or "",
        days=tuple((begin, end or begin) for begin, end in days if begin),
        is_secondary=form.earlier_decision(claim) is not None,
    )
