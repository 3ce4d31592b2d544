"""Map the parties of a 271 to fields of the response: names, ids, addresses, contacts and specialties.

Knows parties; knows no level and no benefit.
"""

from collections.abc import Mapping

from clearlane.api.v3.benefits import benefit_names, field_mapping, json_types
from clearlane.api.v3.benefits.field_mapping import Fields, Unmapped
from clearlane.api.v3.benefits.json_types import InformationJson, format_day_text
from clearlane.api.v3.benefits.qualifiers import ENTITY_IDS
from clearlane.x12.views import shared_types


def party_fields(
    party: shared_types.PartyView | None, ids: Mapping[str, str], unmapped: Unmapped
) -> Fields:
    """Return the name and id fields of a party."""
    if party is None:
        return {}
    found: Fields = {
        "EntityType": benefit_names.name("entity_types", party.kind) or None,
        "CommonName": party.name or None,
        "FirstName": party.first or None,
        "MiddleName": party.middle or None,
        "Suffix": party.suffix or None,
    }
    if party.id:
        if party.id_qualifier in ids:
            found[ids[party.id_qualifier]] = party.id
        else:
            unmapped.append(InformationJson(Qualifier=f"NM1:{party.id_qualifier}", Code=party.id))
    return found


def map_entity(party: shared_types.PartyView) -> json_types.BenefitEntityJson:
    unmapped: Unmapped = []
    found = party_fields(party, ENTITY_IDS, unmapped)
    map_specialty(party, found, unmapped, "ProviderRole", "TaxonomyCode")
    field_mapping.map_references({}, party.references, found, unmapped, "")
    found["PhysicalAddress"] = map_address(party, unmapped)
    add_unmapped_party(party, unmapped, "contacts", "relationship")
    return json_types.BenefitEntityJson(
        **found,
        Type=benefit_names.name("entities", party.role) or None,
        Relationship=party.relationship or None,
        Contacts=map_contacts(party) or None,
        AdditionalInformation=field_mapping.unmapped_or_unset(unmapped),
    )


def map_address(party: shared_types.PartyView, unmapped: Unmapped) -> json_types.AddressJson | None:
    if party.location or party.location_qualifier:
        unmapped.append(
            InformationJson(
                Qualifier="N4:05",
                Code=party.location_qualifier or None,
                Text=party.location or None,
            )
        )
    if party.subdivision:
        unmapped.append(InformationJson(Qualifier="N4:07", Code=party.subdivision))
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


def map_specialty(
    party: shared_types.PartyView, found: Fields, unmapped: Unmapped, role: str, taxonomy: str
) -> None:
    """Map a PRV: its role and taxonomy code; a number of another kind has no field."""
    specialty = party.specialty
    if specialty is None:
        return
    found[role] = benefit_names.name("provider_roles", specialty.role) or None
    if specialty.code and specialty.qualifier in {"PXC", "ZZ", ""}:
        found[taxonomy] = specialty.code
    elif specialty.code or specialty.qualifier:
        unmapped.append(
            InformationJson(
                Qualifier="PRV", Code=specialty.qualifier or None, Text=specialty.code or None
            )
        )
    if specialty.state:
        unmapped.append(InformationJson(Qualifier="PRV:04", Code=specialty.state))


# Elements of a party that some levels have no field for.
_RARE_ELEMENTS = {
    "prefix": "NM1:06", "relationship": "NM1:10", "second_role": "NM1:11", "second_name": "NM1:12",
    "marital": "DMG:04", "sex": "DMG:03",
}  # fmt: skip


def add_unmapped_party(
    party: shared_types.PartyView | None, unmapped: Unmapped, *mapped: str
) -> None:
    if party is None:
        return
    for name, place in _RARE_ELEMENTS.items():
        if name not in mapped and (value := getattr(party, name)):
            unmapped.append(InformationJson(Qualifier=place, Text=value))
    if party.birth and "birth" not in mapped:
        unmapped.append(InformationJson(Qualifier="DMG:02", Text=format_day_text(party.birth)))
    if "contacts" not in mapped:
        for contact in map_contacts(party):
            unmapped.append(
                InformationJson(Qualifier="PER", Code=contact.Number, Text=contact.Name)
            )
    for date in party.dates:
        unmapped.append(field_mapping.unmapped_date(date))
    field_mapping.add_unmapped_segments(party.other, unmapped)
