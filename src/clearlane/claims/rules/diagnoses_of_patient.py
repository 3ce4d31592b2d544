"""C52: whether a diagnosis may come first, and whether it fits the patient's age and sex.

The Medicare Code Editor marks the codes (``adult``, ``manifestation`` and others), and says which ages a mark allows. Dental
claims state diagnoses beside the teeth, not as the reason for the visit: these rules are not about them.
"""

from collections.abc import Iterator

from clearlane.claims.rules.dates import age_on
from clearlane.claims.rules.diagnoses import (
    CODES,
    JudgedCodes,
    dotted,
    icd_version,
    judged_codes,
)
from clearlane.claims.rules.registry import (
    TEETH,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView

AGES = {"newborn": (0, 0), "pediatric": (0, 17), "maternity": (9, 64), "adult": (15, 124)}
"""The ages in years for which the editor takes a code, by its mark."""
SEXES = {"male": "M", "female": "F"}
MANIFESTATION = "manifestation"
SEQUELA, SEQUELA_AT = "S", 7


@rule("C521", paths=CODES, x12="2300/HI/01-02", if_form_lacks=TEETH, reading=judged_codes)
def manifestation_is_not_first(
    view: ClaimView, inputs: RuleInputs, judged: JudgedCodes
) -> Iterator[FieldFinding]:
    """A manifestation follows its cause: it is never the principal diagnosis."""
    for at, code, marks in judged.marked[:1]:
        if at == 0 and MANIFESTATION in marks:
            yield (
                f"diagnoses[{at}]",
                f"The diagnosis {quoted(dotted(code))} is a manifestation of another disease; give that disease first.",
            )


@rule("C522", paths=CODES, x12="2300/HI/01-02", severity=WARNING, if_form_lacks=TEETH)
def sequela_is_not_first(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A sequela (seventh character S) follows the condition that it has led to."""
    first = view.diagnoses[0] if view.diagnoses else None
    if first and len(first) == SEQUELA_AT and first.endswith(SEQUELA) and icd_version(view) == "10":
        yield (
            "diagnoses[0]",
            f"The diagnosis {quoted(dotted(first))} is a sequela; give the condition that it has led to first.",
        )


@rule(
    "C523",
    paths=(*CODES, "patient.birth"),
    x12="2300/HI/01-02",
    severity=WARNING,
    if_form_lacks=TEETH,
    reading=judged_codes,
)
def diagnosis_fits_the_age(
    view: ClaimView, inputs: RuleInputs, judged: JudgedCodes
) -> Iterator[FieldFinding]:
    """A diagnosis of newborns, children, mothers or adults fits the patient's age."""
    birth = view.patient_birth
    if birth is None or birth > judged.last:
        return
    youngest, oldest = age_on(birth, judged.first), age_on(birth, judged.last)
    for at, code, marks in judged.marked:
        for mark in AGES.keys() & marks:
            least, most = AGES[mark]
            if oldest < least or youngest > most:
                yield (
                    f"diagnoses[{at}]",
                    f"The diagnosis {quoted(dotted(code))} is for ages {least} to {most} ({mark}), and the patient was {oldest}; "
                    "check the code and the birth date.",
                )


@rule(
    "C524",
    paths=(*CODES, "patient.sex"),
    x12="2300/HI/01-02",
    severity=WARNING,
    if_form_lacks=TEETH,
    reading=judged_codes,
)
def diagnosis_fits_the_sex(
    view: ClaimView, inputs: RuleInputs, judged: JudgedCodes
) -> Iterator[FieldFinding]:
    """A diagnosis of one sex fits the patient's."""
    sex = view.patient.sex or view.subscriber.sex
    for at, code, marks in judged.marked:
        for mark in SEXES.keys() & marks:
            if sex in SEXES.values() and sex != SEXES[mark]:
                yield (
                    f"diagnoses[{at}]",
                    f"The diagnosis {quoted(dotted(code))} is one of {mark} patients; check the code and the patient's sex.",
                )
