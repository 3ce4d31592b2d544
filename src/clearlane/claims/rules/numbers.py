"""C9: numbers that refer to something: earlier claims, certificates, attachments."""

import re
from collections.abc import Iterator

from clearlane.claims import codes
from clearlane.claims.rules.registry import (
    GUIDE_REQUIRES,
    OUR_FIELDS,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView

FREQUENCY = ("frequency",)
ORIGINAL = ("original_reference",)
ATTACHMENT = ("report_type", "transmission", "control_number")
ON_REQUEST = "AA"
FREQUENCIES = (None, codes.ORIGINAL, codes.REPLACEMENT, codes.VOID, codes.CORRECTED)
MAMMOGRAPHY = frozenset({"77065", "77066", "77067", "G0202", "G0204", "G0206"})

_CLIA = re.compile(r"\d{2}D\d{7}", re.ASCII)
_MAMMOGRAPHY = re.compile(r"[0-9A-Z]{6,}", re.ASCII)
_UPIN = re.compile(r"[A-Z]{1,3}\d{3,5}", re.ASCII)


NAMING = codes.CORRECTING - {codes.CORRECTED}
"""Frequencies that name the claim that they act on."""


@rule(
    "C901", paths=ORIGINAL, x12="2300/REF:F8/02", when_filled=FREQUENCY, covers=("X837-ORIGINAL",)
)
def replacement_names_the_original(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A replacement, reopening or void names the payer's number of the original claim."""
    if view.frequency in NAMING and view.original_reference is None:
        yield (
            "original_reference",
            f"The frequency is {view.frequency}; give the payer's number of the original in "
            f"{view.form.name_of('original_reference')}.",
        )


@rule(
    "C902",
    paths=ORIGINAL,
    x12="2300/REF:F8/02",
    severity=WARNING,
    when_filled=ORIGINAL,
)
def original_number_has_a_replacement(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The payer's number of an original claim comes with a replacement or void; with an original it is not sent."""
    is_original = (view.frequency or codes.ORIGINAL) == codes.ORIGINAL
    if view.original_reference is not None and is_original:
        yield (
            "original_reference",
            "There is the payer's number of an earlier claim, but the claim is an original, which has none; "
            f"give 7 (replacement) or 8 (void) in {view.form.name_of('frequency')}, or leave the number out.",
        )


@rule(
    "C903",
    paths=("clia_number",),
    x12="2300/REF:X4/02",
    when_filled=("clia_number",),
    covers=("X837-CLIA",),
)
def clia_has_the_form(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A CLIA number is two digits, a D and seven digits."""
    number = view.clia_number
    if number is not None and not _CLIA.fullmatch(number):
        yield (
            "clia_number",
            f"The CLIA number {quoted(number)} has not its form; give ten characters such as 45D0123456.",
        )


@rule(
    "C904",
    paths=("mammography_number",),
    x12="2300/REF:EW/02",
    when_filled=("mammography_number",),
)
def mammography_number_has_the_form(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A mammography certification number has six letters or digits."""
    number = view.mammography_number
    if number is not None and not _MAMMOGRAPHY.fullmatch(number):
        yield (
            "mammography_number",
            f"The mammography number {quoted(number)} has not its form; give six digits or letters.",
        )


@rule("C905", paths=("mammography_number",), x12="2300/REF:EW/02", severity=WARNING)
def mammography_is_certified(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A mammography comes with the facility's certification number."""
    if view.mammography_number is None and any(
        line.procedure in MAMMOGRAPHY for line in view.lines
    ):
        yield (
            "mammography_number",
            "A line is a mammography; payers want the certification number of the facility.",
        )


@rule(
    "C906",
    paths=("rendering.upin", "lines[].rendering.upin"),
    x12="2310B/REF:1G/02",
    severity=WARNING,
)
def upin_has_the_form(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A UPIN is a letter and five digits."""
    numbers = [line.rendering.upin for line in view.lines]
    numbers.append(view.rendering.upin)
    for at, number in enumerate(numbers):
        if number is not None and not _UPIN.fullmatch(number):
            is_line = at < len(view.lines)
            yield (
                f"lines[{at}].rendering.upin" if is_line else "rendering.upin",
                f"The UPIN {quoted(number)} has not its form; give a letter and five digits.",
            )


@rule(
    "C907",
    paths=[f"attachments[0].{name}" for name in ATTACHMENT],
    x12="2300/PWK",
    when_filled=("attachments[0]",),
    not_in_files=GUIDE_REQUIRES,
)
def attachment_is_complete(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An attachment has a type, a transmission code, and a control number unless it is available on request."""
    for at, attachment in enumerate(view.attachments):
        for name in ATTACHMENT:
            on_request = name == ATTACHMENT[2] and attachment.transmission == ON_REQUEST
            if getattr(attachment, name) is None and not on_request:
                path = f"attachments[{at}].{name}"
                yield (
                    path,
                    f"The attachment is begun but {view.form.name_of(path)} is missing; give it.",
                )


@rule(
    "C909",
    paths=("attachments[0].transmission", "attachments[0].control_number"),
    x12="2300/PWK/06",
    when_filled=("attachments[0]",),
)
def attachment_on_request_has_no_number(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """An attachment that is available on request has no control number: nothing is sent that it could name."""
    for at, attachment in enumerate(view.attachments):
        if attachment.transmission == ON_REQUEST and attachment.control_number is not None:
            yield (
                f"attachments[{at}].control_number",
                "The attachment is available on request (AA), so it has no control number; leave it out, or say how "
                "the attachment is sent.",
            )


@rule("C908", paths=FREQUENCY, x12="2300/CLM/05-3", when_filled=FREQUENCY)
def correction_is_a_replacement(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim is an original, a replacement or a void: payers do not take frequency 6, a corrected claim."""
    if view.frequency == codes.CORRECTED:
        yield (
            "frequency",
            "Frequency 6 (corrected claim) is not accepted; to correct a claim that the payer has, give 7 in "
            f"{view.form.name_of('frequency')} and the payer's number of that claim in "
            f"{view.form.name_of('original_reference')}.",
        )


@rule(
    "C910",
    paths=FREQUENCY,
    x12="2300/CLM/05-3",
    if_form_has="place",
    when_filled=FREQUENCY,
    not_in_json=OUR_FIELDS,
)
def frequency_is_one_of_three(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A professional or dental claim is an original (1), a replacement (7) or a void (8)."""
    if view.frequency not in FREQUENCIES:
        yield (
            "frequency",
            f"The frequency is {quoted(view.frequency)}; give 1 (original), 7 (replacement) or 8 (void).",
        )
