"""Build inquiries from a request: choose the payer, and convert a patient's fields to X12 values.

Knows requests and inquiries; the rules decide whether a request may be sent.
"""

from collections.abc import Callable

from clearlane.eligibility import fields, services
from clearlane.eligibility.fields import RequestPatient
from clearlane.eligibility.model import (
    BenefitQuestion,
    Inquiry,
    InquiryParty,
    InquiryPerson,
)
from clearlane.inquiry.inquiry_result import InquiryTrace
from clearlane.payers.model import DENTAL, PAYER_TYPES, Payer
from clearlane.x12.writer.encode import clean

# INS02 of a 270 (005010X279A1) allows spouse, child and other adult only.
RELATIONSHIPS = {"01": "01", "19": "19"}
OTHER_ADULT = "34"


class InquiryBuilder:
    """Builds the inquiries of one request, converting each payer and provider once instead of per patient."""

    def __init__(self) -> None:
        self._parties: dict[str, InquiryParty] = {}

    def build(self, patient: RequestPatient, payer: Payer) -> Inquiry:
        """Return the inquiry of a patient that passed every rule."""
        dependent = patient.dependent
        person = dependent or patient.subscriber
        trace = person.PayeeTraceNumber
        related = dependent.Relationship if dependent else None
        code = services.code("relationships", related) if related else None
        return Inquiry(
            path=patient.path,
            payer_type=payer.type,
            payer=self._party(
                patient.payer_path + payer.type, lambda: _payer(patient.payer, payer)
            ),
            payer_names=tuple(dict.fromkeys((*payer.ids, payer.name, *payer.aliases))),
            is_test=payer.is_test,
            payee=self._party(patient.payee_path, lambda: _payee(patient.payee)),
            member_id=clean_text(patient.subscriber.MemberId),
            subscriber=_person(patient.subscriber),
            dependent=_person(dependent) if dependent else None,
            relationship=RELATIONSHIPS.get(code, OTHER_ADULT) if code else "",
            trace=InquiryTrace(number=trace.Number or "", originator=trace.OriginatorID or "")
            if trace
            else None,
            questions=_questions(person.RequestedBenefits, payer.type),
        )

    def _party(self, path: str, convert: Callable[[], InquiryParty]) -> InquiryParty:
        found = self._parties.get(path)
        if found is None:
            found = self._parties[path] = convert()
        return found


def _payer(requested: fields.RequestPayer, payer: Payer) -> InquiryParty:
    return InquiryParty(
        role=_code("payer_roles", requested.Type, "PR"),
        entity_type=_code("entity_types", requested.EntityType, "2"),
        name=clean_text(requested.CommonName) or clean_text(payer.name)[: fields.LAST_NAME_MAX],
        id=clean_text(payer.payer_id),
    )


def _payee(payee: fields.RequestPayee) -> InquiryParty:
    first = clean_text(payee.FirstName)
    kind = _code("entity_types", payee.EntityType, "1" if first else "2")
    return InquiryParty(
        role=_code("payee_roles", payee.Type, "1P"),
        entity_type=kind,
        name=clean_text(payee.CommonName),
        # An organization has no first name.
        first=first if kind == "1" else "",
        id=payee.NationalProviderId or "",
    )


def _person(person: fields.RequestSubscriber | fields.RequestDependent) -> InquiryPerson:
    sex = _code("genders", person.Gender, "")
    return InquiryPerson(
        last=clean_text(person.CommonName),
        first=clean_text(person.FirstName),
        birth=person.BirthDate,
        # DMG03 is omitted if the sex is not known.
        sex=sex if sex in {"M", "F"} else "",
    )


def _questions(
    requested: tuple[fields.RequestedBenefit, ...], payer_type: str
) -> tuple[BenefitQuestion, ...]:
    default = (services.default_service(payer_type),)
    if not requested:
        return (BenefitQuestion(services=default),)
    return tuple(
        BenefitQuestion(
            services=tuple(dict.fromkeys(_code("service_types", name, "") for name in benefit.Type))
            or default,
            family=bool(benefit.IsFamilyBenefit),
            start=benefit.PlanDate.Start if benefit.PlanDate else None,
            end=benefit.PlanDate.End if benefit.PlanDate else None,
        )
        for benefit in requested
    )


def choose_payer(
    payer_id: str,
    find: Callable[[str, str], Payer | None],
    *,
    dental: bool,
    test: bool,
    offers: Callable[[Payer], bool] = lambda payer: payer.offers_eligibility,
) -> Payer | None:
    """Return the payer with this id; None if there is none. ``offers`` says whether it takes inquiries of the kind.

    An inquiry does not say medical or dental. A payer that can be reached wins, then one of the right mode, then
    the type that fits the service types (``dental`` if only dental ones are asked about), then medical.
    """
    found = [find(payer_id, type) for type in PAYER_TYPES]
    known = [payer for payer in found if payer is not None]

    def fit(payer: Payer) -> tuple[bool, ...]:
        usable = payer.active and offers(payer) and payer.has_route
        return usable, payer.is_test == test, (payer.type == DENTAL) == dental

    return max(known, key=fit, default=None)


def asks_only_dental(patient: RequestPatient) -> bool:
    """Return whether the inquiry is about dental services only."""
    person = patient.dependent or patient.subscriber
    requested = {
        services.code("service_types", w) for b in person.RequestedBenefits for w in b.Type
    }
    return bool(requested) and requested <= services.DENTAL_SERVICES


def _code(list: str, name: str | None, default: str) -> str:
    return (services.code(list, name) if name else None) or default


def clean_text(text: str | None) -> str:
    """Return a text in the characters that X12 can carry; empty for None."""
    return clean(text)[0] if text else ""
