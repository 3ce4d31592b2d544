"""The form of a new claim: the inputs of a correction of an empty claim, in sections, and the document that they become.

    form = NewClaimForm(V3_MEDICAL, texts, lines=2)
    form.sections                       # payer, billing provider, patient and insured, claim, lines
    form.document("HAND-0A1B2C3D4E")    # as the interface takes it

Fields are grouped by what the view says that they are, so a new form of claims needs nothing here. Knows no page.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from clearlane.claims.fields import JsonClaim, drop_empty_fields, with_values
from clearlane.claims.finding import ClaimFinding, path_in_claim
from clearlane.claims.forms import AnyForm
from clearlane.claims.forms.field_subjects import FieldSubject, field_subject
from clearlane.console.claims.correction_form import (
    VENDOR_CLAIM_ID,
    CorrectionInput,
    changed_texts,
    correction_inputs,
    to_fields,
)
from clearlane.kernel.finding import Severity, Stage

LINES_MAX = 50
"""How many service lines a person writes; software sends larger claims."""
MISSING = "Required."
USUAL = frozenset(
    {
        "payer.coverage", "billing.npi", "billing.taxonomy", "billing.ein", "billing.ssn", "billing.zip", "billing.phone",
        "patient.last_name", "patient.first_name", "patient.birth", "patient.sex", "patient.street", "patient.city",
        "patient.state", "patient.zip", "subscriber.street", "subscriber.group_number", "account_number", "diagnoses",
        "icd_version", "institutional.diagnoses", "institutional.admission_type", "institutional.origin", "dates.admission",
        "attending.last_name", "attending.first_name", "attending.npi", "benefits_assigned", "accepts_assignment",
        "prior_authorization", "rendering.last_name", "rendering.first_name", "rendering.npi", "dates.service",
        "lines[].first_day", "lines[].last_day", "lines[].procedure", "lines[].modifiers", "lines[].units", "lines[].pointers",
        "lines[].teeth", "lines[].areas", "lines[].description", "lines[].rendering.npi",
    }
)  # fmt: skip
"""The paths of the view whose inputs are open from the start, beside those that every claim has. All others are folded."""
_LINE = re.compile(r"(\w+)\[(\d{1,3})\]\.(.+)", re.ASCII)
_INDEX_AT_END = re.compile(r"\[\d*\]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormSection:
    """A part of the form: inputs that are open, and those that are folded."""

    key: str
    title: str
    inputs: list[CorrectionInput] = field(default_factory=list, repr=False)
    folded: list[CorrectionInput] = field(default_factory=list, repr=False)

    @property
    def filled(self) -> list[CorrectionInput]:
        """The inputs that have a text."""
        return [one for one in (*self.inputs, *self.folded) if one.text.strip()]


@dataclass(frozen=True, kw_only=True)
class NewClaimForm:
    """A new claim as its form holds it; without a repr of its texts."""

    form: AnyForm
    texts: Mapping[str, str] = field(repr=False)
    """By the paths of fields."""
    lines: int = 1
    findings: Sequence[ClaimFinding] = field(default=(), repr=False)
    """What a check said of its document."""
    says_missing: bool = False
    """Whether fields without a value say that they need one."""

    @cached_property
    def blank(self) -> JsonClaim:
        """A claim without values, with as many lines."""
        form = self.form
        lines = tuple(form.line.model_construct() for _ in range(self.lines))
        claim = with_values(form.claim.model_construct(), {form.lines_field: lines})
        drop_empty_fields(claim)
        return claim

    @cached_property
    def inputs(self) -> list[CorrectionInput]:
        """An input for every field, in the form's order."""
        return correction_inputs(self.blank, self.texts, {}, with_payer=True)

    @property
    def errors(self) -> list[ClaimFinding]:
        """What must be fixed before it can go out."""
        return [one for one in self.findings if one.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[str]:
        """What does not stop it."""
        return [one.message for one in self.findings if one.severity is Severity.WARNING]

    def findings_at(self, path: str) -> list[str]:
        """Return the sentences about one field. What is only missing is said once the claim is reviewed."""
        is_said = self.says_missing or self.texts.get(path)
        return self._by_path.get(path, []) if is_said else []

    @property
    def loose(self) -> list[str]:
        """The errors of the check at no field that has an input."""
        return [one.message for one in self.errors if self._path_of(one) not in self._paths]

    @property
    def left(self) -> list[CorrectionInput]:
        """The inputs that must be fixed, those that are only missing too, in the form's order."""
        at_fault = {self._path_of(one) for one in self.errors}
        return [one for one in self.inputs if one.path in at_fault]

    @cached_property
    def sections(self) -> list[FormSection]:
        """The parts of the form; each service line is one."""
        found = {
            "payer": FormSection(key="payer", title="Payer"),
            "provider": FormSection(key="provider", title="Billing provider"),
            "patient": FormSection(key="patient", title="Patient and insured"),
            "claim": FormSection(key="claim", title="Claim"),
        }
        for number in range(1, self.lines + 1):
            key = f"line-{number}"
            found[key] = FormSection(key=key, title=f"Service line {number}")
        named = {self._path_of(one) for one in self.findings}
        for one in self.inputs:
            view_path = self._view_path(one)
            section = found[_section_key(one, view_path)]
            is_open = one.required or one.text or view_path in USUAL or one.path in named
            (section.inputs if is_open else section.folded).append(one)
        return list(found.values())

    def document(self, claim_id: str) -> bytes:
        """Return the document that the interface takes; the id is the vendor's claim id."""
        claim = {VENDOR_CLAIM_ID: claim_id, **to_fields(self.blank, self.texts)}
        return msgspec.json.encode({"DocumentType": self.form.document_type, "Claims": [claim]})

    @cached_property
    def _kept_lines(self) -> list[int]:
        """The lines that have a text, counted from 0: only these are in the document."""
        at_lines = (_LINE.fullmatch(path) for path, text in self.texts.items() if text)
        field_name = self.form.lines_field
        return sorted({int(one[2]) for one in at_lines if one and one[1] == field_name})

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(one.path for one in self.inputs)

    @cached_property
    def _by_path(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in self.findings:
            path = self._path_of(one)
            is_missing = one.stage is Stage.SHAPE and not self.texts.get(path)
            found.setdefault(path, []).append(MISSING if is_missing else one.message)
        return found

    def _path_of(self, finding: ClaimFinding) -> str:
        """Return the path of the input that a finding is about; that of the first item for an array as a whole."""
        path = path_in_claim(finding.location)
        form, of_line = self.form, _LINE.fullmatch(path)
        if of_line and of_line[1] == form.lines_field:
            at, kept = int(of_line[2]), self._kept_lines
            path = f"{form.lines_field}[{kept[at] if at < len(kept) else at}].{of_line[3]}"
        # An item of a list of texts, such as the second diagnosis, is in the input of the list.
        whole = _INDEX_AT_END.sub("", path)
        if whole in self._paths:
            return whole
        return next((one.path for one in self.inputs if one.path.startswith(f"{whole}[")), path)

    def _view_path(self, one: CorrectionInput) -> str:
        """Return the path of the view that an input's field states; empty for one that no table names."""
        of_line = _LINE.fullmatch(one.path)
        if of_line and of_line[1] == self.form.lines_field:
            name = of_line[3].partition("[")[0]
            found = self.form.line_view_table.paths.get(name, "")
            return f"lines[].{found}" if found else ""
        return self.form.view_table.paths.get(one.path.partition("[")[0], "")


def _section_key(one: CorrectionInput, view_path: str) -> str:
    if one.line:
        return f"line-{one.line}"
    subject = view_path.partition(".")[0]
    if subject in {"patient", "subscriber"}:
        return "patient"
    if subject == "billing":
        return "provider"
    return "payer" if field_subject(one.path) is FieldSubject.PAYER else "claim"


def read_texts(form: AnyForm, given: Mapping[str, str], lines: int) -> NewClaimForm:
    """Return the form with the given texts by path; unknown and empty ones are left out."""
    blank = NewClaimForm(form=form, texts={}, lines=lines)
    return NewClaimForm(
        form=form, texts=changed_texts(blank.blank, given, with_payer=True), lines=lines
    )


def count_lines(form: AnyForm, texts: Mapping[str, str], wanted: int = 1) -> int:
    """Return how many lines the form shows: those with a text, and as many as are wanted."""
    of_lines = (_LINE.fullmatch(path) for path in texts)
    last = max(
        (int(one[2]) + 1 for one in of_lines if one and one[1] == form.lines_field), default=1
    )
    return min(max(last, wanted, 1), LINES_MAX)
