"""x12sdk as a witness of institutional claims: a second library that reads an 837I by models of its own.

Its models are stricter than the guide in a few places; ``KNOWN`` names these, and what the guide says.
"""

from pydantic import ValidationError
from x12sdk.io import X12ModelReader

KNOWN = {
    "cl1_segment.admission_type_code": "CL101 is situational.",
    "nte_segment.note_reference_code": "A billing note (NTE*ADD) may be the only one.",
    "svd_segment.composite_medical_procedure_identifier": "SVD03 is situational: accommodation has no procedure.",
    "loop_2410.ref_segment": "A prescription number is situational.",
}


def refusals_of_837i(data: bytes) -> set[str]:
    """Return what x12sdk refuses in a file beyond what it is known not to take, as the ends of the paths of its models."""
    try:
        with X12ModelReader(data.decode()) as reader:
            list(reader.models())
    except ValidationError as error:
        paths = [
            [str(step) for step in one["loc"] if isinstance(step, str)] for one in error.errors()
        ]
        return {".".join(path[-2:]) for path in paths} - KNOWN.keys()
    return set()
