"""The two ways in which a claim is put on paper. Knows no form: commands that need no claim load it."""

from enum import StrEnum


class SheetType(StrEnum):
    """The two ways in which a claim is put on paper."""

    PREPRINTED = "preprinted"
    PLAIN = "plain"


SHEET_WORDS = {
    SheetType.PREPRINTED: "the texts alone, placed for the pre-printed form",
    SheetType.PLAIN: "a list of the boxes for people, not for submission",
}
