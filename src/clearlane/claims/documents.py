"""The documents that ``get_by_doc_id`` answers: a remittance advice, a payer claim status.

    remittance_advice(part, head, claim)          # from the claim's part of an 835
    claim_status(part, head, fact, claim)         # from its part of a TA1, 999, 277CA or 277
    answer(advices, statuses)                     # the body

A document is made from the claim's part of the file alone (``part_of``), so nothing of another client can be in it;
the claim as it was submitted adds the caller's own fields to every complaint and adjustment.

Knows the wire names of these two shapes; knows no HTTP and no database.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from clearlane.claims import provenance
from clearlane.claims.extract import cut, part_of
from clearlane.claims.facts import Fact, Kind
from clearlane.claims.fields import Claim
from clearlane.claims.lifecycle import action
from clearlane.x12 import codes
from clearlane.x12.views import remittance as views_remittance
from clearlane.x12.views import shared_types, status, views

__all__ = ["Head", "answer", "claim_status", "cut", "paid_in", "part_of", "remittance_advice"]

JSON = dict[str, Any]
NO_DAY = "0001-01-01"
NAMES = 2
"""The column of the code lists that holds the interface's names."""

# How the interface names the identifiers of a party, by the qualifier that goes before them.
PAYER_IDS = {"XV": "CmsPlanId", "PI": "PayerId", "FI": "TaxIdNumber", "2U": "PayerId", "NF": "NaicId",
             "46": "ElectronicTransmitterIdNumber", "EO": "SubmitterIdNumber", "HI": "HealthIndustryNumber"}  # fmt: skip
PAYEE_IDS = {"XX": "NationalProviderId", "FI": "TaxIdNumber", "XV": "CmsPlanId", "SV": "ServiceProviderNumber",
             "TJ": "TaxIdNumber", "0B": "StateLicenseNumber", "PQ": "PayeeId", "D3": "PharmacyNumber"}  # fmt: skip
PATIENT_IDS = {"MI": "MemberId", "II": "StandardUniqueId", "34": "SocialSecurityNumber",
               "HN": "HealthInsuranceClaimNumber", "MR": "MedicaidRecipientId"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What every document begins with."""

    document_id: str
    vendor_claim_id: str
    claim_number: str
    """Ours."""
    create_date: date
    controls: tuple[str, ...] = ()
    """``REF*6R`` of the claim's lines as they were sent."""


def answer(advices: Iterable[JSON] = (), statuses: Iterable[JSON] = ()) -> JSON:
    """The body of the answer."""
    return {"RemittanceAdvices": list(advices), "PayerClaimStatuses": list(statuses)}


def remittance_advice(part: bytes, head: Head, claim: Claim) -> JSON:
    """What an 835 says of the claim. ValueError where the part holds no claim payment."""
    found, paid = paid_in(part)
    payment = found.payment or views_remittance.Payment()
    patient, others = _shares(paid.all_adjustments)
    method = codes.column("payment_methods", NAMES).get(payment.method, payment.method)
    return {
        **_head(head),
        "Payer": _party(found.payer, PAYER_IDS),
        "Payee": _party(found.payee, PAYEE_IDS),
        "Patient": _person(paid.patient, PATIENT_IDS) | {"PatientAccountNumber": paid.number},
        "Insured": _person(paid.insured, PATIENT_IDS) if paid.insured else None,
        "PayerControlNumber": paid.payer_number,
        "PayerAction": _action(paid.status),
        "PayerActionCode": paid.status,
        "PayerActionDescription": paid.status_words,
        "ForwardedTo": _party(paid.forwarded_to, PAYER_IDS) if paid.forwarded_to else None,
        "PaymentMethod": method or None,
        "PaymentReferenceNumber": found.trace.number if found.trace else "",
        "PaymentEffectiveDate": _day(payment.day),
        "PaymentAmount": _number(payment.amount),
        "TotalClaimAmount": _number(paid.charged),
        "PayerAmount": _number(paid.paid),
        "PatientAmount": _number(patient),
        "AdjustmentAmount": _number(others),
        "Adjustments": [_adjustment(one) for one in paid.adjustments],
        "RemarkCodes": _remarks(_claim_remarks(paid)),
        "Lines": [_line(one, head) for one in paid.lines],
        "Explanations": _told(provenance.decision(paid, claim, head.controls)),
        "X12Document": part.decode("latin-1"),
    }


def paid_in(part: bytes) -> tuple[views_remittance.Remittance, views_remittance.Claim]:
    """The payment and the claim of a part. ValueError where it holds no claim payment."""
    found = next((one for one in _sets(part) if isinstance(one, views_remittance.Remittance)), None)
    paid = next(found.claims, None) if found else None
    if found is None or paid is None:
        raise ValueError("the part holds no claim payment")
    return found, paid


def claim_status(part: bytes, head: Head, fact: Fact, claim: Claim) -> JSON:
    """What a 277CA or 277 says of the claim, or a TA1 or 999 of the file it went in."""
    tiers = {
        tier.level.code: tier
        for one in _sets(part)
        if isinstance(one, status.Statuses)
        for tier in _all(one.tiers)
        if tier.level
    }
    report = next(
        (one for code in ("23", "22", "PT") if code in tiers for one in tiers[code].reports), None
    )
    return {
        **_head(head),
        "Type": fact.source,
        "Payer": _named(tiers.get("20"), PAYER_IDS) or _of_claim(claim, "2010BB", "PayerId"),
        "Payee": _named(tiers.get("19"), PAYEE_IDS) or _of_claim(claim, "2010AA", "NationalProviderId"),
        "Patient": _patient(tiers, claim) | {"PatientAccountNumber": fact.claim.account},
        "PayerControlNumber": fact.claim.payer_number,
        "PayerAction": action(fact.codes),
        "State": fact.verdict.value if fact.kind is Kind.STATUS else _STATES[fact.kind],
        "StatusDate": _day(fact.day or fact.at.date()),
        "TotalClaimAmount": None if fact.charged is None else fact.charged / 100,
        "Statuses": [_code(code.category, code.status, code.entity) for code in fact.codes],
        "Lines": [_status_line(one, head) for one in (report.lines if report else ())],
        "Explanations": _told(provenance.refusal(fact, claim, head.controls)),
        "X12Document": part.decode("latin-1"),
    }  # fmt: skip


_STATES = {
    Kind.SENT: "sent",
    Kind.ACCEPTED_999: "accepted",
    Kind.SEND_AGAIN: "sent again",
    Kind.CLAIM_REFUSED: "rejected",
    Kind.SET_REFUSED: "rejected",
    Kind.TA1_REFUSED: "rejected",
}


def _head(head: Head) -> JSON:
    return {
        "DocumentId": head.document_id,
        "VendorClaimId": head.vendor_claim_id,
        "ClearinghouseControlNumber": head.claim_number,
        "CreateDate": head.create_date.isoformat(),
    }


def _sets(part: bytes) -> Iterator[Any]:
    for interchange in views(part):
        for one in interchange.sets:
            yield one.view


def _all(tiers: Sequence[status.Tier]) -> Iterator[status.Tier]:
    for tier in tiers:
        yield tier
        yield from _all(tier.tiers)


# Parties.


def _party(party: shared_types.Party | None, names: dict[str, str]) -> JSON:
    if party is None:
        return {"Name": ""}
    found: JSON = {"Name": party.name}
    ids = [
        (party.id_qualifier, party.id),
        *((ref.qualifier, ref.value) for ref in party.references),
    ]
    for qualifier, value in ids:
        if value:
            found.setdefault(names.get(qualifier, "OtherId"), value)
    if party.street or party.city:
        first, second, *_ = (*party.street, "", "")
        found["PhysicalAddress"] = {
            "Address1": first, "Address2": second, "City": party.city, "State": party.state,
            "PostalCode": party.zip, "Country": party.country,
        }  # fmt: skip
    if party.contacts:
        found["Contacts"] = [
            {"Name": one.name, "Type": number.kind, "Number": number.number}
            for one in party.contacts
            for number in one.numbers
        ]
    return found


def _person(party: shared_types.Party | None, names: dict[str, str]) -> JSON:
    found: JSON = {"CommonName": "", "FirstName": "", "MiddleName": "", "Suffix": ""}
    if party is not None:
        found |= {
            "CommonName": party.name, "FirstName": party.first, "MiddleName": party.middle,
            "Suffix": party.suffix,
        }  # fmt: skip
        if party.id:
            found[names.get(party.id_qualifier, "OtherId")] = party.id
    return found


def _named(tier: status.Tier | None, names: dict[str, str]) -> JSON | None:
    return _party(tier.parties[0], names) if tier and tier.parties else None


def _patient(tiers: dict[str, status.Tier], claim: Claim) -> JSON:
    for code in ("PT", "23", "22"):
        if code in tiers and tiers[code].parties:
            return _person(tiers[code].parties[0], PATIENT_IDS)
    loop = "2010BA" if not provenance.values_at(claim, "2010CA/NM1/03") else "2010CA"
    return {
        "CommonName": provenance.values_at(claim, f"{loop}/NM1/03"),
        "FirstName": provenance.values_at(claim, f"{loop}/NM1/04"),
        "MiddleName": provenance.values_at(claim, f"{loop}/NM1/05"),
        "Suffix": provenance.values_at(claim, f"{loop}/NM1/07"),
        "MemberId": provenance.values_at(claim, "2010BA/NM1/09"),
    }


def _of_claim(claim: Claim, loop: str, id: str) -> JSON:
    """A party as the claim named it, where the answer does not."""
    return {
        "Name": provenance.values_at(claim, f"{loop}/NM1/03"),
        id: provenance.values_at(claim, f"{loop}/NM1/09"),
    }


# Amounts and codes.


def _shares(adjustments: Iterable[shared_types.Adjustment]) -> tuple[Decimal, Decimal]:
    """What is the patient's, and all the rest."""
    sums = {True: Decimal(), False: Decimal()}
    for one in adjustments:
        sums[one.group == "PR"] += one.amount or Decimal()
    return sums[True], sums[False]


def _adjustment(one: shared_types.Adjustment) -> JSON:
    return {
        "Group": one.group,
        "GroupDescription": codes.load("adjustment_groups").get(one.group, ""),
        "Reason": one.reason,
        "ReasonDescription": one.reason_words,
        "Amount": _number(one.amount),
        "Quantity": None if one.quantity is None else float(one.quantity),
    }


def _remarks(remarks: Iterable[shared_types.Remark]) -> list[JSON]:
    return [{"Code": one.code, "Description": one.code_words} for one in remarks]


def _claim_remarks(paid: views_remittance.Claim) -> Iterator[shared_types.Remark]:
    for decision in (paid.inpatient, paid.outpatient):
        yield from decision.remarks if decision else ()


def _line(line: views_remittance.Line, head: Head) -> JSON:
    patient, others = _shares(line.adjustments)
    first = next(
        (one for one in line.dates if one.qualifier in {"472", "150"}), shared_types.Dated()
    )
    last = next((one for one in line.dates if one.qualifier == "151"), first)
    return {
        **_numbered(line.control, head),
        **_procedure(line.procedure),
        "ServiceDateFrom": _day(first.start),
        "ServiceDateTo": _day(last.end or last.start),
        "Units": None if line.units is None else float(line.units),
        "ChargeAmount": _number(line.charged),
        "PayerAmount": _number(line.paid),
        "PatientAmount": _number(patient),
        "AdjustmentAmount": _number(others),
        "Adjustments": [_adjustment(one) for one in line.adjustments],
        "RemarkCodes": _remarks(line.remarks),
    }


def _status_line(line: status.Line, head: Head) -> JSON:
    control = next((ref.value for ref in line.references if ref.qualifier == "FJ"), "")
    found = [code for one in line.statuses for code in one.codes]
    return {
        **_numbered(control, head),
        **_procedure(line.procedure),
        "ChargeAmount": _number(line.charged),
        "Statuses": [_code(code.category, code.status, code.entity) for code in found],
    }


def _numbered(control: str, head: Head) -> JSON:
    number = head.controls.index(control) + 1 if control in head.controls else None
    return {"LineNumber": number, "LineControlNumber": control}


def _procedure(procedure: shared_types.Procedure | None) -> JSON:
    found = procedure or shared_types.Procedure()
    return {"ProcedureCode": found.code, "Modifiers": list(found.modifiers)}


def _code(category: str, code: str, entity: str) -> JSON:
    return {
        "Category": category,
        "CategoryDescription": codes.load("status_categories").get(category, ""),
        "Code": code,
        "Description": codes.load("statuses").get(code, ""),
        "Entity": entity,
        "EntityDescription": codes.load("entities").get(entity, ""),
    }


def _told(told: Iterable[provenance.Told]) -> list[JSON]:
    return [
        {
            "Code": one.code,
            "Line": one.line or None,
            "Amount": _number(one.amount),
            "Fields": [
                {"Location": f.path, "Label": f.label, "Form": f.form, "Box": f.box, "X12": f.place}
                for f in one.fields
            ],
            "Message": one.happened,
            "Action": one.todo,
        }
        for one in told
    ]


def _action(code: str) -> str:
    return codes.column("claim_payment_statuses", NAMES).get(code, code)


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def _day(day: date | None) -> str:
    return day.isoformat() if day else NO_DAY
