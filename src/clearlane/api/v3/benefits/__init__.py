"""V3's eligibility response, made from the stored answers of payers.

``json_types`` has the JSON objects, ``qualifiers`` and ``benefit_names`` the tables of fields and names,
``response_builder`` fills the objects level by level, and ``compose_response`` writes the whole response in pieces.
"""
