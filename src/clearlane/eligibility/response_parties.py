"""Parties of a 271: names, numbers, addresses, contacts and specialties as fields of the response.

Knows parties; knows no level and no benefit.
"""

from collections.abc import Mapping

from clearlane.eligibility import field_mapping, response, services
from clearlane.eligibility.field_mapping import Extra, Fields
from clearlane.eligibility.qualifiers import ENTITY_IDS
from clearlane.eligibility.response import Information
from clearlane.eligibility.wire_struct import stamp
from clearlane.x12.views import shared_types


def named(
    party: shared_types.Party | None, roles: str, ids: Mapping[str, str], extra: Extra
) -> Fields:
    """The name and number of a party; the role too, where the level has a list of roles."""
    if party is None:
        return {}
    found: Fields = {
        "Type": services.name(roles, party.role) or None,
        "EntityType": services.name("entity_types", party.kind) or None,
        "CommonName": party.name or None,
        "FirstName": party.first or None,
        "MiddleName": party.middle or None,
        "Suffix": party.suffix or None,
    }
    if party.id:
        if party.id_qualifier in ids:
            found[ids[party.id_qualifier]] = party.id
        else:
            extra.append(Information(Qualifier=f"NM1:{party.id_qualifier}", Code=party.id))
    return found


def entity(party: shared_types.Party) -> response.BenefitEntity:
    extra: Extra = []
    found = named(party, "entities", ENTITY_IDS, extra)
    specialty(party, found, extra, "ProviderRole", "TaxonomyCode")
    field_mapping.references({}, party.references, found, extra, "")
    found["PhysicalAddress"] = address(party, extra)
    rest(party, extra, "contacts", "relationship")
    return response.BenefitEntity(
        **found,
        Relationship=party.relationship or None,
        Contacts=contacts(party) or None,
        AdditionalInformation=field_mapping.kept(extra),
    )


def address(party: shared_types.Party, extra: Extra) -> response.Address | None:
    if party.location or party.location_qualifier:
        extra.append(
            Information(
                Qualifier="N4:05",
                Code=party.location_qualifier or None,
                Text=party.location or None,
            )
        )
    if party.subdivision:
        extra.append(Information(Qualifier="N4:07", Code=party.subdivision))
    street = (*party.street, "", "")
    lines = (street[0], street[1], party.city, party.state, party.zip, party.country)
    if not any(lines):
        return None
    first, second, city, state, zip, country = (line or None for line in lines)
    return response.Address(
        Address1=first, Address2=second, City=city, State=state, PostalCode=zip, Country=country
    )


def contacts(party: shared_types.Party | None) -> tuple[response.Contact, ...]:
    """One element for each way to reach somebody."""
    return tuple(
        response.Contact(
            Name=contact.name or None,
            Type=services.name("contact_numbers", way.kind) or None,
            Number=way.number or None,
        )
        for contact in (party.contacts if party else ())
        for way in contact.numbers or (shared_types.ContactNumber(),)
    )


def specialty(
    party: shared_types.Party, found: Fields, extra: Extra, role: str, taxonomy: str
) -> None:
    """PRV: the role and the taxonomy; a number of another kind has no field."""
    told = party.specialty
    if told is None:
        return
    found[role] = services.name("provider_roles", told.role) or None
    if told.code and told.qualifier in {"PXC", "ZZ", ""}:
        found[taxonomy] = told.code
    elif told.code or told.qualifier:
        extra.append(
            Information(Qualifier="PRV", Code=told.qualifier or None, Text=told.code or None)
        )
    if told.state:
        extra.append(Information(Qualifier="PRV:04", Code=told.state))


# What a party may tell that its level has no field for.
_RARE = {
    "prefix": "NM1:06", "relationship": "NM1:10", "second_role": "NM1:11", "second_name": "NM1:12",
    "marital": "DMG:04", "sex": "DMG:03",
}  # fmt: skip


def rest(party: shared_types.Party | None, extra: Extra, *known: str) -> None:
    if party is None:
        return
    for name, place in _RARE.items():
        if name not in known and (value := getattr(party, name)):
            extra.append(Information(Qualifier=place, Text=value))
    if party.birth and "birth" not in known:
        extra.append(Information(Qualifier="DMG:02", Text=stamp(party.birth)))
    if "contacts" not in known:
        for contact in contacts(party):
            extra.append(Information(Qualifier="PER", Code=contact.Number, Text=contact.Name))
    for told in party.dates:
        extra.append(field_mapping.undated(told))
    field_mapping.unread(party.other, extra)
