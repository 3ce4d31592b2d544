"""C15: what single payers want of a claim. Each rule is applied if the payer's row of the directory names its edit.

All are warnings; an operator raises one for a payer that rejects such claims (``clearlane rule set``).
"""

from collections.abc import Iterator
from datetime import date

from clearlane.claims.codes import REOPENING, REPLACEMENT, VOID
from clearlane.claims.rules.dates import SERVICE, span
from clearlane.claims.rules.registry import (
    TEETH,
    FieldFinding,
    RuleInputs,
    edit_rule,
    quoted,
)
from clearlane.claims.view import ClaimView
from clearlane.payers.edits import NO_ATTACHMENTS, member_id_pattern
from clearlane.payers.filing_limits import FilingKind, FilingLimit, filing_limit
from clearlane.payers.model import Payer

CHIROPRACTIC = frozenset({"98940", "98941", "98942"})
# Segmental and somatic dysfunction of the regions of the spine.
SUBLUXATIONS = frozenset(f"M990{region}" for region in range(6))
# The range of pathology and laboratory in CPT.
LABORATORY = ("80047", "89398")
# What completes a ZIP code whose last four digits are not known; the first is what repairs use.
ZIP_FILLERS = ("9998", "0000", "9999")


@edit_rule("C151", edit="filing_limit", paths=SERVICE, x12="2400/DTP:472/03")
def claim_is_filed_in_time(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim is filed within the payer's limit for originals, corrected claims or secondary claims."""
    payer = inputs.payer
    # A delay reason (CLM20) tells the payer why a claim is late, a reopening (Q) is for claims that are, and a
    # predetermination is for services to come.
    is_excused = view.delay_reason or view.is_predetermination or view.frequency == REOPENING
    if payer is None or is_excused:
        return
    limit = _filing_limit(payer, view)
    if view.lines and limit.day is not None and limit.day < inputs.today:
        yield (
            _last_day_path(view),
            f"The payer {quoted(view.payer.id)} took this claim until {limit.day}: {limit.words}. "
            "If the delay has a reason that the payer accepts, give a delay reason code.",
        )


def _last_day_path(view: ClaimView) -> str:
    """Return where the last day of service is stated."""
    days = [line.last_day or line.first_day or date.min for line in view.lines]
    at = days.index(max(days))
    return f"lines[{at}].{'last_day' if view.lines[at].last_day else 'first_day'}"


def _filing_limit(payer: Payer, view: ClaimView) -> FilingLimit:
    """Return until when the payer takes a claim."""
    served = span(view)
    last = served.last if served else None
    if view.frequency in {REPLACEMENT, VOID}:
        return filing_limit(payer, FilingKind.CORRECTED, served=last)
    if view.decision is None:
        return filing_limit(payer, FilingKind.ORIGINAL, served=last)
    decided = view.decision.last_day
    return filing_limit(payer, FilingKind.SECONDARY, served=last, decided=decided)


@edit_rule("C152", edit="member_id", paths=("subscriber.member_id",), x12="2010BA/NM1/09")
def member_id_has_the_payers_form(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A member id has the form that the payer gives its ids."""
    member_id, payer = view.subscriber.member_id, inputs.payer
    if member_id is None or payer is None:
        return
    pattern = member_id_pattern(payer.member_id_pattern)
    if not pattern.fullmatch(member_id.replace(" ", "").upper()):
        yield (
            "subscriber.member_id",
            f"The member id {quoted(member_id)} has not the form of this payer's ids, "
            f"{payer.member_id_pattern} (# is a digit, @ a letter, ? either); check it against the card.",
        )


@edit_rule("C153", edit="nine_digit_zip", paths=("billing.zip",), x12="2010AA/N4/03")
def billing_zip_has_nine_digits(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A payer that wants nine digits gets the billing provider's whole ZIP code."""
    zip = (view.billing.zip or "").replace("-", "")
    if zip.isdigit() and (len(zip) < 9 or zip[5:] in ZIP_FILLERS):
        yield (
            "billing.zip",
            f"The payer {quoted(view.payer.id)} wants all nine digits of the billing ZIP code, and the last four "
            "are not given; give them as the postal service lists them.",
        )


@edit_rule("C154", edit="taxonomy", paths=("billing.taxonomy",), x12="2000A/PRV/03")
def billing_taxonomy_is_given(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A payer that wants the billing provider's taxonomy code gets one."""
    if view.billing.taxonomy is None:
        yield (
            "billing.taxonomy",
            f"The payer {quoted(view.payer.id)} wants the billing provider's taxonomy code; give the one that the "
            "provider is enrolled with.",
        )


@edit_rule("C155", edit="clia", paths=("clia_number",), x12="2300/REF:X4/02")
def laboratory_has_a_clia_number(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Laboratory tests come with a CLIA number."""
    first, last = LABORATORY
    tests = (line.procedure for line in view.lines if first <= line.procedure <= last)
    test = next((code for code in tests if code.isdigit()), None)
    if test and view.clia_number is None:
        yield (
            "clia_number",
            f"The procedure {quoted(test)} is a laboratory test, and there is no CLIA number; give the number "
            "of the laboratory: two digits, D and seven digits.",
        )


@edit_rule("C156", edit="ndc", paths=("lines[].drug.code",), x12="2410/LIN/03")
def injected_drug_has_an_ndc(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A drug that is billed by a J code comes with its national drug code."""
    for at, line in enumerate(view.lines):
        if line.procedure.startswith("J") and line.drug.code is None:
            yield (
                f"lines[{at}].drug.code",
                f"The procedure {quoted(line.procedure)} is a drug, and the payer wants its national drug code; "
                "give the eleven digits of the package, and the quantity.",
            )


def _is_chiropractic(view: ClaimView) -> bool:
    return any(line.procedure in CHIROPRACTIC for line in view.lines)


@edit_rule(
    "C157",
    edit="chiropractic",
    paths=("dates.initial_treatment",),
    x12="2300/DTP:454/03",
    if_form_lacks=TEETH,
)
def chiropractic_has_a_first_day(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Chiropractic treatment comes with the day of the initial treatment."""
    if _is_chiropractic(view) and view.dates.initial_treatment is None:
        yield (
            "dates.initial_treatment",
            "A line is chiropractic treatment (98940 to 98942), and the day of the initial treatment is missing; "
            "give it.",
        )


@edit_rule(
    "C158",
    edit="chiropractic",
    paths=("diagnoses",),
    x12="2300/HI/01-02",
    if_form_lacks=TEETH,
)
def chiropractic_treats_a_subluxation(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The principal diagnosis of chiropractic treatment is a subluxation (M99.00 to M99.05)."""
    principal = (view.diagnoses[0] or "").replace(".", "") if view.diagnoses else ""
    if _is_chiropractic(view) and principal and principal not in SUBLUXATIONS:
        yield (
            "diagnoses[0]",
            f"A line is chiropractic treatment, and its principal diagnosis is {quoted(view.diagnoses[0])}; the payer "
            "wants M99.00 to M99.05 first.",
        )


@edit_rule(
    "C159",
    edit="attachments",
    paths=("attachments[0].transmission",),
    x12="2300/PWK/02",
    when_filled=("attachments[0]",),
)
def attachment_comes_as_the_payer_takes_it(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """An attachment is sent in a way that the payer takes."""
    taken = inputs.payer.attachments if inputs.payer else ()
    for at, attachment in enumerate(view.attachments):
        if attachment.transmission and attachment.transmission not in taken:
            ways = (
                "it takes no attachments with claims"
                if NO_ATTACHMENTS in taken
                else f"it takes {', '.join(taken)}"
            )
            yield (
                f"attachments[{at}].transmission",
                f"The payer {quoted(view.payer.id)} does not take attachments by {attachment.transmission}: {ways}.",
            )
