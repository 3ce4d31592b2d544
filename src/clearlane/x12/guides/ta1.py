"""TA1: a receiver reports whether it could read an interchange.

The segment is between ISA and IEA, outside any functional group and transaction set, so there is no guide to parse by: the
envelope checks use this one segment.
"""

from clearlane.x12.guides.dictionary import seg

# 000 to 031 are the notes of the X12 standard's interchange list (element I18).
NOTES = "|".join(f"{note:03}" for note in range(32))

SEGMENT = seg("TA1", "Verdict on an interchange", "S", 0, f"R R R R=A|E|R R={NOTES}")
