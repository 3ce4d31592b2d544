"""Whom and what a claim is about: payer, insured, patient, purpose and service days.

    compared = compare_subjects(new, payer_id, earlier, earlier_payer_id)
    compared.common_day                                     # False: another visit

Tells another claim from a correction of an earlier one under the same vendor's claim id. Names and member ids are
compared as a search does, without case, spaces and punctuation. Knows no database and no state.
"""

from dataclasses import dataclass
from datetime import date

from clearlane.claims.header import ClaimHeader
from clearlane.kernel.compared_names import search_name
from clearlane.kernel.formats import upper_first


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
        return upper_first(", and ".join(filter(None, (words, day))))


def compare_subjects(
    later: ClaimHeader, payer_id: str, earlier: ClaimHeader, earlier_payer_id: str
) -> SubjectComparison:
    """Return what a claim has in common with an earlier one; the payers are those of the directory."""
    return SubjectComparison(
        same_payer=payer_id == earlier_payer_id,
        same_insured=search_name(later.member_id) == search_name(earlier.member_id),
        same_patient=_patient(later) == _patient(earlier),
        same_purpose=later.is_predetermination == earlier.is_predetermination,
        common_day=any(
            first <= other_last and other_first <= last
            for first, last in later.days
            for other_first, other_last in earlier.days
        ),
        is_secondary=later.is_secondary,
    )


def _patient(header: ClaimHeader) -> tuple[str, str, date | None]:
    return search_name(header.last_name), search_name(header.first_name), header.birth
