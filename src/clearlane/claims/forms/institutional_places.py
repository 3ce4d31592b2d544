"""Where an 837I has what a payer's code is about: its lines begin with a revenue code, and its providers have loops of
their own.

    places_in_837i(("2400/{line}/02",))                # 2400/SV2/03, the charge

Knows codes and places; knows no claim.
"""

from collections.abc import Iterable, Mapping

LOOPS: Mapping[str, str] = {
    "85": "2010AA", "1P": "2010AA", "87": "2010AB", "IL": "2010BA", "QC": "2010CA", "PR": "2010BB", "GB": "2330A",
    "PRP": "2330B", "SEP": "2330B", "TTP": "2330B", "TU": "2330B",
    "71": "2310A", "72": "2310B", "82": "2310D", "77": "2310E", "FA": "2310E", "DN": "2310F", "P3": "2310F",
}  # fmt: skip
"""The loops of the entities of STC01-3."""
STATUS_PLACES: Mapping[str, tuple[str, ...]] = {
    "188": ("2300/DTP:434/03",), "228": ("2300/CLM/05",), "229": ("2300/CL1/02",), "230": ("2300/DTP:435/03",),
    "231": ("2300/CL1/01",), "232": ("2300/HI:ABJ/01",), "233": ("2300/DTP:096/03",), "234": ("2300/CL1/03",),
    "256": ("2300/HI:DR/01",), "455": ("2400/SV2/01",), "456": ("2300/HI:BE",), "460": ("2300/HI:BG",),
    "465": ("2300/HI:BBR/01",), "490": ("2300/HI:BBQ",), "513": ("2400/SV2/02",), "596": ("2400/SV2/07",),
    "673": ("2300/HI:APR",), "719": ("2300/HI:BH",), "720": ("2300/HI:BH",), "721": ("2300/HI:BI",),
    "722": ("2300/HI:BI",), "725": ("2300/HI:BE",), "726": ("2300/HI:BE",),
}  # fmt: skip
"""Statuses about what only institutional claims have."""
_PRINCIPAL, _OTHERS = "2300/HI:ABK/01", "2300/HI:ABF"
_DIAGNOSES: Mapping[str, tuple[str, ...]] = {
    "2300/HI": (_PRINCIPAL, _OTHERS),
    "2300/HI/01": (_PRINCIPAL,),
}
"""What is meant where an HI of another claim has diagnoses alone; here it may have any code of the stay."""
_MOVED = {
    "{line}/01": "SV2/02",
    "{line}/02": "SV2/03",
    "SV1/04": "SV2/05",
    "2310B/": "2310D/",
    "2310C/": "2310E/",
}
"""Parts of places in an 837P, and where an 837I has the same."""


def places_in_837i(places: Iterable[str], entity: str = "", status: str = "") -> list[str]:
    """Return the places of a code in an 837I; ``status`` is a code of a 277, which may have places of its own here."""
    return [
        _moved(place).format(e=LOOPS.get(entity, ""), line="SV2")
        for stated in STATUS_PLACES.get(status, tuple(places))
        for place in _DIAGNOSES.get(stated, (stated,))
    ]


def _moved(place: str) -> str:
    for before, after in _MOVED.items():
        place = place.replace(before, after)
    return place
