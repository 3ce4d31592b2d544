"""From a request to an inquiry: which payer is meant, and a patient's fields as X12 carries them.

Knows requests and inquiries; whether a request may be sent is for the rules to say.
"""

from collections.abc import Callable

from clearlane.eligibility import fields, services
from clearlane.eligibility.fields import Patient
from clearlane.eligibility.model import Inquiry, Party, Person, Question, Trace
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.x12.encode import clean

# Relationships that the 270 has a code for; it knows the others as another adult.
RELATIONSHIPS = {"01": "01", "19": "19"}
OTHER_ADULT = "34"


class Asking:
    """Makes the inquiries of one request. A payer and a provider are put into words once, not once a patient."""

    def __init__(self) -> None:
        self._parties: dict[str, Party] = {}

    def inquiry(self, at: Patient, payer: Payer) -> Inquiry:
        """The inquiry of a patient that every rule has passed."""
        dependent = at.dependent
        person = dependent or at.subscriber
        trace = person.PayeeTraceNumber
        related = dependent.Relationship if dependent else None
        code = services.code("relationships", related) if related else None
        return Inquiry(
            path=at.path,
            payer_type=payer.type,
            payer=self._party(at.payer_path + payer.type, lambda: _payer(at.payer, payer)),
            payer_names=tuple(dict.fromkeys((*payer.ids, payer.name, *payer.aliases))),
            is_test=payer.is_test,
            payee=self._party(at.payee_path, lambda: _payee(at.payee)),
            member_id=cleaned(at.subscriber.MemberId),
            subscriber=_person(at.subscriber),
            dependent=_person(dependent) if dependent else None,
            relationship=RELATIONSHIPS.get(code, OTHER_ADULT) if code else "",
            trace=_trace(trace) if trace else None,
            questions=_questions(person.RequestedBenefits, payer.type),
        )

    def _party(self, path: str, make: Callable[[], Party]) -> Party:
        found = self._parties.get(path)
        if found is None:
            found = self._parties[path] = make()
        return found


def _payer(asked: fields.Payer, payer: Payer) -> Party:
    return Party(
        role=_code("payer_roles", asked.Type, "PR"),
        kind=_code("entity_types", asked.EntityType, "2"),
        name=cleaned(asked.CommonName) or cleaned(payer.name)[: fields.LAST_NAME_MAX],
        id=cleaned(payer.payer_id),
    )


def _trace(trace: fields.TraceNumber) -> Trace:
    return Trace(number=trace.Number or "", originator=trace.OriginatorID or "")


def _payee(payee: fields.Payee) -> Party:
    first = cleaned(payee.FirstName)
    kind = _code("entity_types", payee.EntityType, "1" if first else "2")
    return Party(
        role=_code("payee_roles", payee.Type, "1P"),
        kind=kind,
        name=cleaned(payee.CommonName),
        # An organisation has no first name.
        first=first if kind == "1" else "",
        id=payee.NationalProviderId or "",
    )


def _person(person: fields.Subscriber | fields.Dependent) -> Person:
    sex = _code("genders", person.Gender, "")
    return Person(
        last=cleaned(person.CommonName),
        first=cleaned(person.FirstName),
        birth=person.BirthDate,
        # A 270 leaves out a sex that is not known.
        sex=sex if sex in {"M", "F"} else "",
    )


def _questions(asked: tuple[fields.RequestedBenefit, ...], payer_type: str) -> tuple[Question, ...]:
    default = (services.default_service(payer_type),)
    if not asked:
        return (Question(services=default),)
    return tuple(
        Question(
            services=tuple(dict.fromkeys(_code("service_types", word, "") for word in benefit.Type))
            or default,
            family=bool(benefit.IsFamilyBenefit),
            start=benefit.PlanDate.Start if benefit.PlanDate else None,
            end=benefit.PlanDate.End if benefit.PlanDate else None,
        )
        for benefit in asked
    )


def payer_of(
    patient: Patient, find: Callable[[str, str], Payer | None], *, test: bool
) -> Payer | None:
    """The payer of that id. The document does not say medical or dental: what can be asked wins, then
    what the service types look like, then medical."""
    found = [find(patient.payer.PayerId, type) for type in PAYER_TYPES]
    known = [payer for payer in found if payer is not None]
    dental = looks_dental(patient)

    def fit(payer: Payer) -> tuple[bool, ...]:
        usable = payer.active and payer.offers_eligibility and payer.has_route
        return usable, payer.is_test == test, (payer.type == "Dental") == dental

    return max(known, key=fit, default=None)


def looks_dental(patient: Patient) -> bool:
    """Whether nothing but dental services is asked about."""
    person = patient.dependent or patient.subscriber
    asked = {services.code("service_types", w) for b in person.RequestedBenefits for w in b.Type}
    return bool(asked) and asked <= services.DENTAL_SERVICES


def _code(list: str, word: str | None, otherwise: str) -> str:
    return (services.code(list, word) if word else None) or otherwise


def cleaned(text: str | None) -> str:
    return clean(text)[0] if text else ""
