"""Map the parties of a 271 to fields of the response: names, ids, addresses, contacts and specialties.

Knows parties; knows no level and no benefit.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from clearlane.api.v3.benefits import benefit_names, field_mapping, json_types
from clearlane.api.v3.benefits.field_mapping import Fields
from clearlane.api.v3.benefits.json_types import InformationJson, format_day_text
from clearlane.api.v3.benefits.qualifiers import ENTITY_IDS
from clearlane.x12.views import shared_types


def party_fields(party: shared_types.PartyView | None, ids: Mapping[str, str]) -> Fields:
    """Return the name and id fields of a party."""
    if party is None:
        return {}
    found: Fields = {
        "EntityType": benefit_names.name("entity_types", party.kind) or None,
        "CommonName": party.name or None,
        "FirstName": party.first or None,
    }
    if party.id and party.id_qualifier in ids:
        found[ids[party.id_qualifier]] = party.id
    return found


def full_name(party: shared_types.PartyView | None) -> Fields:
    """Return the parts of a name that a related party has no fields for."""
    if party is None:
        return {}
    return {"MiddleName": party.middle or None, "Suffix": party.suffix or None}


def map_entity(party: shared_types.PartyView) -> json_types.BenefitEntityJson:
    """Return the element of ``BenefitEntities`` for a party of loop 2120."""
    return json_types.BenefitEntityJson(
        **party_fields(party, ENTITY_IDS),
        Type=benefit_names.name("entities", party.role) or None,
        PhysicalAddress=map_address(party),
        Contacts=map_contacts(party) or None,
    )


def entity_information(party: shared_types.PartyView) -> Iterator[InformationJson]:
    """Yield what a party of loop 2120 has no field for, each with the party's role."""
    for one in _unmapped_values(party):
        yield replace(one, Qualifier=f"{party.role}/{one.Qualifier}")


def map_address(party: shared_types.PartyView) -> json_types.AddressJson | None:
    """Return the address of a party; None if it has none."""
    street = (*party.street, "", "")
    parts = (street[0], street[1], party.city, party.state, party.zip, party.country)
    if not any(parts):
        return None
    first, second, city, state, zip, country = (part or None for part in parts)
    return json_types.AddressJson(
        Address1=first, Address2=second, City=city, State=state, PostalCode=zip, Country=country
    )


def map_contacts(party: shared_types.PartyView | None) -> tuple[json_types.ContactJson, ...]:
    """Return one element for each communication number (PER)."""
    return tuple(
        json_types.ContactJson(
            Name=contact.name or None,
            Type=benefit_names.name("contact_numbers", number.kind) or None,
            Number=number.number or None,
        )
        for contact in (party.contacts if party else ())
        for number in contact.numbers or (shared_types.ContactNumberView(),)
    )


def map_specialty(party: shared_types.PartyView, role: str, taxonomy: str) -> Fields:
    """Return the fields of a PRV: its role, and its taxonomy code; a number of another kind has no field."""
    specialty = party.specialty
    if specialty is None:
        return {}
    is_taxonomy = specialty.qualifier in {"PXC", "ZZ", ""}
    return {
        role: benefit_names.name("provider_roles", specialty.role) or None,
        taxonomy: (specialty.code or None) if is_taxonomy else None,
    }


# Elements of a party of loop 2120 that have no field.
_ELEMENTS = {
    "middle": "NM1:05", "prefix": "NM1:06", "suffix": "NM1:07", "relationship": "NM1:10",
    "second_role": "NM1:11", "second_name": "NM1:12", "sex": "DMG:03", "marital": "DMG:04",
    "subdivision": "N4:07",
}  # fmt: skip


def _unmapped_values(party: shared_types.PartyView) -> Iterator[InformationJson]:
    if party.id and party.id_qualifier not in ENTITY_IDS:
        yield InformationJson(Qualifier=f"NM1:{party.id_qualifier}", Code=party.id)
    for name, place in _ELEMENTS.items():
        if value := getattr(party, name):
            yield InformationJson(Qualifier=place, Text=value)
    if party.location or party.location_qualifier:
        code, text = party.location_qualifier or None, party.location or None
        yield InformationJson(Qualifier="N4:05", Code=code, Text=text)
    if party.birth:
        yield InformationJson(Qualifier="DMG:02", Text=format_day_text(party.birth))
    if party.specialty:
        role = benefit_names.name("provider_roles", party.specialty.role) or None
        yield InformationJson(Qualifier="PRV", Code=role, Text=party.specialty.code or None)
    yield from field_mapping.map_references({}, party.references, {}, "")
    yield from map(field_mapping.unmapped_date, party.dates)
    yield from field_mapping.unmapped_segments(party.other)
