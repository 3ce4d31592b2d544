"""The documents that ``get_by_doc_id`` returns: remittance advice and payer claim status.

    remittance_advice(document)                   # from the claim's part of an 835
    claim_status(document, fact)                  # from its part of a TA1, 999, 277CA or 277
    compose_documents(found)                      # the whole body, in pieces

A document is made from the claim's part of the file alone, so it holds no other client's data; the submitted claim
adds the caller's own fields to every complaint and adjustment.

Knows the names of these two documents in V3; knows no HTTP and no database.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec

from clearlane.api.v3 import code_names
from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.lifecycle import first_category
from clearlane.claims.responses import provenance
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.payments.model import ClaimPaymentFact
from clearlane.payments.read_claim_part import read_claim_part
from clearlane.pipeline.query.retrieve_documents import FoundDocuments, PayerDocument
from clearlane.x12 import codes
from clearlane.x12.reader.lexer import decode_part
from clearlane.x12.views import read_views, remittance, shared_types, status

JSON = dict[str, Any]
NO_DAY = "0001-01-01"

# The interface's names of a party's identifiers, by qualifier.
PAYER_IDS = {"XV": "CmsPlanId", "PI": "PayerId", "FI": "TaxIdNumber", "2U": "PayerId", "NF": "NaicId",
             "46": "ElectronicTransmitterIdNumber", "EO": "SubmitterIdNumber", "HI": "HealthIndustryNumber"}  # fmt: skip
PAYEE_IDS = {"XX": "NationalProviderId", "FI": "TaxIdNumber", "XV": "CmsPlanId", "SV": "ServiceProviderNumber",
             "TJ": "TaxIdNumber", "0B": "StateLicenseNumber", "PQ": "PayeeId", "D3": "PharmacyNumber"}  # fmt: skip
PATIENT_IDS = {"MI": "MemberId", "II": "StandardUniqueId", "34": "SocialSecurityNumber",
               "HN": "HealthInsuranceClaimNumber", "MR": "MedicaidRecipientId"}  # fmt: skip


async def compose_documents(found: FoundDocuments) -> AsyncIterator[bytes]:
    """Yield the body of the response in pieces: both lists, in the order of the documents."""
    yield b'{"RemittanceAdvices":['
    async for piece in _join(found.payments):
        yield piece
    yield b'],"PayerClaimStatuses":['
    async for piece in _join(found.statuses):
        yield piece
    yield b"]}"


async def _join(pages: AsyncIterator[list[PayerDocument]]) -> AsyncIterator[bytes]:
    """Yield the elements of an array, separated by commas, letting other calls run after each."""
    separator = b""
    async for page in pages:
        for document in page:
            yield separator + msgspec.json.encode(_element(document))
            separator = b","
            await asyncio.sleep(0)


def _element(document: PayerDocument) -> JSON:
    fact = document.fact
    if isinstance(fact, ClaimPaymentFact):
        return remittance_advice(document)
    return claim_status(document, fact)


def remittance_advice(document: PayerDocument) -> JSON:
    """Return the remittance advice of a claim from its part of an 835. ValueError if it holds no claim payment."""
    found, paid = read_claim_part(document.part)
    controls = document.line_controls
    payment = found.payment or remittance.RemittancePaymentView()
    patient, others = _shares(paid.all_adjustments)
    return {
        **_head(document),
        "Payer": _party(found.payer, PAYER_IDS),
        "Payee": _party(found.payee, PAYEE_IDS),
        "Patient": _person(paid.patient, PATIENT_IDS) | {"PatientAccountNumber": paid.number},
        "Insured": _person(paid.insured, PATIENT_IDS) if paid.insured else None,
        "PayerControlNumber": paid.payer_number,
        "PayerAction": code_names.payer_action("", paid.status),
        "PayerActionCode": paid.status,
        "PayerActionDescription": paid.status_words,
        "ForwardedTo": _party(paid.forwarded_to, PAYER_IDS) if paid.forwarded_to else None,
        "PaymentMethod": code_names.payment_method(payment.method),
        "PaymentReferenceNumber": found.trace.number if found.trace else "",
        "PaymentEffectiveDate": _day(payment.day),
        "PaymentAmount": _number(payment.amount),
        "TotalClaimAmount": _number(paid.charged),
        "PayerAmount": _number(paid.paid),
        "PatientAmount": _number(patient),
        "AdjustmentAmount": _number(others),
        "Adjustments": [_adjustment(one) for one in paid.adjustments],
        "RemarkCodes": _remarks(_claim_remarks(paid)),
        "Lines": [_line(one, controls) for one in paid.lines],
        "Explanations": _explanations(
            provenance.explain_adjustments(paid, document.claim, controls)
        ),
        "X12Document": decode_part(document.part),
    }


def claim_status(document: PayerDocument, fact: Fact) -> JSON:
    """Return the claim status from a 277CA or 277, or from a TA1 or 999 about the file."""
    claim, controls = document.claim, document.line_controls
    tiers = {
        tier.level.code: tier
        for one in _sets(document.part)
        if isinstance(one, status.StatusSetView)
        for tier in _all(one.tiers)
        if tier.level
    }
    report = next(
        (one for code in ("23", "22", "PT") if code in tiers for one in tiers[code].reports), None
    )
    return {
        **_head(document),
        "Type": fact.source,
        "Payer": _named(tiers.get("20"), PAYER_IDS) or _of_claim(claim, "2010BB", "PayerId"),
        "Payee": _named(tiers.get("19"), PAYEE_IDS) or _of_claim(claim, "2010AA", "NationalProviderId"),
        "Patient": _patient(tiers, claim) | {"PatientAccountNumber": fact.claim.account_number},
        "PayerControlNumber": fact.claim.payer_control_number,
        "PayerAction": code_names.payer_action(first_category(fact.codes)),
        "State": _state(fact),
        "StatusDate": _day(fact.day or fact.at.date()),
        "TotalClaimAmount": None if fact.charged is None else fact.charged / 100,
        "Statuses": [_code(code.category, code.status, code.entity) for code in fact.codes],
        "Lines": [_status_line(one, controls) for one in (report.lines if report else ())],
        "Explanations": _explanations(provenance.explain_complaints(fact, claim, controls)),
        "X12Document": decode_part(document.part),
    }  # fmt: skip


def _state(fact: Fact) -> str:
    """Return the state that a response gives. What a clearinghouse passes on is not the payer's acceptance."""
    if fact.is_passed_on:
        return _STATES[FactKind.SENT]
    return fact.verdict.value if fact.kind is FactKind.STATUS else _STATES[fact.kind]


_STATES = {
    FactKind.SENT: "sent",
    FactKind.ACCEPTED_999: "accepted",
    FactKind.SEND_AGAIN: "sent again",
    FactKind.CLAIM_REFUSED: "rejected",
    FactKind.SET_REFUSED: "rejected",
    FactKind.TA1_REFUSED: "rejected",
}


def _head(document: PayerDocument) -> JSON:
    return {
        "DocumentId": document.document_id,
        "VendorClaimId": form_of(document.claim).value(document.claim, "vendor_claim_id"),
        "ClearinghouseControlNumber": document.claim_number,
        "CreateDate": document.created_day.isoformat(),
    }


def _sets(part: bytes) -> Iterator[Any]:
    for interchange in read_views(part):
        for one in interchange.sets:
            yield one.view


def _all(tiers: Sequence[status.StatusLevelView]) -> Iterator[status.StatusLevelView]:
    for tier in tiers:
        yield tier
        yield from _all(tier.tiers)


# Parties.


def _party(party: shared_types.PartyView | None, names: dict[str, str]) -> JSON:
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


def _person(party: shared_types.PartyView | None, names: dict[str, str]) -> JSON:
    found: JSON = {"CommonName": "", "FirstName": "", "MiddleName": "", "Suffix": ""}
    if party is not None:
        found |= {
            "CommonName": party.name, "FirstName": party.first, "MiddleName": party.middle,
            "Suffix": party.suffix,
        }  # fmt: skip
        if party.id:
            found[names.get(party.id_qualifier, "OtherId")] = party.id
    return found


def _named(tier: status.StatusLevelView | None, names: dict[str, str]) -> JSON | None:
    return _party(tier.parties[0], names) if tier and tier.parties else None


def _patient(tiers: dict[str, status.StatusLevelView], claim: Claim) -> JSON:
    for code in ("PT", "23", "22"):
        if code in tiers and tiers[code].parties:
            return _person(tiers[code].parties[0], PATIENT_IDS)
    loop = "2010BA" if not provenance.value_at(claim, "2010CA/NM1/03") else "2010CA"
    return {
        "CommonName": provenance.value_at(claim, f"{loop}/NM1/03"),
        "FirstName": provenance.value_at(claim, f"{loop}/NM1/04"),
        "MiddleName": provenance.value_at(claim, f"{loop}/NM1/05"),
        "Suffix": provenance.value_at(claim, f"{loop}/NM1/07"),
        "MemberId": provenance.value_at(claim, "2010BA/NM1/09"),
    }


def _of_claim(claim: Claim, loop: str, id: str) -> JSON:
    """Return a party as the claim names it, if the response does not."""
    return {
        "Name": provenance.value_at(claim, f"{loop}/NM1/03"),
        id: provenance.value_at(claim, f"{loop}/NM1/09"),
    }


# Amounts and codes.


def _shares(adjustments: Iterable[shared_types.AdjustmentView]) -> tuple[Decimal, Decimal]:
    """Return the patient's share of adjustments, and the rest."""
    sums = {True: Decimal(), False: Decimal()}
    for one in adjustments:
        sums[one.group == "PR"] += one.amount or Decimal()
    return sums[True], sums[False]


def _adjustment(one: shared_types.AdjustmentView) -> JSON:
    return {
        "Group": one.group,
        "GroupDescription": codes.load("adjustment_groups").get(one.group, ""),
        "Reason": one.reason,
        "ReasonDescription": one.reason_words,
        "Amount": _number(one.amount),
        "Quantity": None if one.quantity is None else float(one.quantity),
    }


def _remarks(remarks: Iterable[shared_types.RemarkView]) -> list[JSON]:
    return [{"Code": one.code, "Description": one.code_words} for one in remarks]


def _claim_remarks(paid: remittance.RemittanceClaimView) -> Iterator[shared_types.RemarkView]:
    for decision in (paid.inpatient, paid.outpatient):
        yield from decision.remarks if decision else ()


def _line(line: remittance.RemittanceLineView, controls: Sequence[str]) -> JSON:
    patient, others = _shares(line.adjustments)
    first = next(
        (one for one in line.dates if one.qualifier in {"472", "150"}), shared_types.DateView()
    )
    last = next((one for one in line.dates if one.qualifier == "151"), first)
    return {
        **_numbered(line.control, controls),
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


def _status_line(line: status.StatusLineView, controls: Sequence[str]) -> JSON:
    control = next((ref.value for ref in line.references if ref.qualifier == "FJ"), "")
    found = [code for one in line.statuses for code in one.codes]
    return {
        **_numbered(control, controls),
        **_procedure(line.procedure),
        "ChargeAmount": _number(line.charged),
        "Statuses": [_code(code.category, code.status, code.entity) for code in found],
    }


def _numbered(control: str, controls: Sequence[str]) -> JSON:
    number = controls.index(control) + 1 if control in controls else None
    return {"LineNumber": number, "LineControlNumber": control}


def _procedure(procedure: shared_types.ProcedureView | None) -> JSON:
    found = procedure or shared_types.ProcedureView()
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


def _explanations(explanations: Iterable[provenance.Explanation]) -> list[JSON]:
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
        for one in explanations
    ]


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def _day(day: date | None) -> str:
    return day.isoformat() if day else NO_DAY
