"""Teeth: their names in the universal notation, which are front teeth, and the ISO notation.

The universal notation (X12's JP) numbers permanent teeth 1 to 32 from the upper right around to the lower
right, letters A to T name the primary ones; supernumerary teeth add 50 to the number or an S to the letter.
"""

from types import MappingProxyType

PERMANENT = tuple(str(number) for number in range(1, 33))
PRIMARY = tuple("ABCDEFGHIJKLMNOPQRST")
SUPERNUMERARY = (*(str(number) for number in range(51, 83)), *(letter + "S" for letter in PRIMARY))
TEETH = frozenset((*PERMANENT, *PRIMARY, *SUPERNUMERARY))

# Canine to canine: these teeth have an edge (incisal), the others a chewing face (occlusal).
_FRONT = frozenset((*map(str, range(6, 12)), *map(str, range(22, 28)), *"CDEFGH", *"MNOPQR"))
FRONT = frozenset(
    (
        *_FRONT,
        *(str(int(tooth) + 50) for tooth in _FRONT if tooth.isdigit()),
        *(tooth + "S" for tooth in _FRONT if tooth.isalpha()),
    )
)
FRONT_ONLY, BACK_ONLY = "I", "O"


def _quadrant(first: int, last: int) -> list[int]:
    step = 1 if last >= first else -1
    return list(range(first, last + step, step))


# ISO quadrants 1 to 4 count from the midline outwards; 5 to 8 are the primary ones.
_ISO_PERMANENT = (_quadrant(8, 1), _quadrant(9, 16), _quadrant(24, 17), _quadrant(25, 32))
_ISO_PRIMARY = ("EDCBA", "FGHIJ", "ONMLK", "PQRST")
FROM_ISO = MappingProxyType(
    {
        **{
            f"{quadrant}{place}": str(number)
            for quadrant, numbers in enumerate(_ISO_PERMANENT, start=1)
            for place, number in enumerate(numbers, start=1)
        },
        **{
            f"{quadrant}{place}": letter
            for quadrant, letters in enumerate(_ISO_PRIMARY, start=5)
            for place, letter in enumerate(letters, start=1)
        },
    }
)
"""The universal names of teeth by their ISO notation."""
