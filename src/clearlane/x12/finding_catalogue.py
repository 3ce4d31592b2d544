"""Every fault the engine itself can report: how much it weighs, its SNIP type and its code in an answer.

The code is what a 999 or a TA1 says: IK403 for an element, IK304 for a segment, IK502 for ST and SE,
AK905 for GS and GE, TA105 for ISA and IEA. Faults that need several segments at once are in ``rules/``.
Knows no file.
"""

from typing import NamedTuple

from clearlane.kernel.finding import Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class Kind(NamedTuple):
    """One sort of fault."""

    severity: Severity
    snip: int
    code: str
    sentence: str
    """What must be true."""


FAULTS: dict[str, Kind] = {
    # The file.
    "FILE-EMPTY": Kind(ERROR, 1, "", "A file holds at least one interchange, which begins with ISA."),
    "FILE-JUNK": Kind(ERROR, 1, "024", "Nothing but blanks stands before, between and after interchanges."),
    "FILE-HEADER": Kind(ERROR, 1, "022", "An ISA has 16 elements and tells four different separators."),
    "FILE-CUT": Kind(ERROR, 1, "023", "The last segment of a file, and of an interchange, ends with the terminator."),
    "FILE-LONG": Kind(ERROR, 1, "024", "A segment fits the limit of the reader."),
    "FILE-BLANK": Kind(WARNING, 1, "", "No terminator follows another: there are no empty segments."),
    "FILE-MEMORY": Kind(ERROR, 1, "", "The part of a set that must be held at once fits the limit of the reader."),
    "LIMIT-FINDINGS": Kind(WARNING, 1, "", "Only so many findings a set are told."),
    # The interchange.
    "ISA-WIDTH": Kind(ERROR, 1, "022", "Each ISA element has its fixed width, filled with blanks."),
    "ISA-01": Kind(ERROR, 1, "010", "ISA01 is a known authorisation qualifier."),
    "ISA-03": Kind(ERROR, 1, "012", "ISA03 is a known security qualifier."),
    "ISA-05": Kind(ERROR, 1, "005", "ISA05 is a known sender qualifier."),
    "ISA-06": Kind(ERROR, 1, "006", "ISA06 names the sender."),
    "ISA-07": Kind(ERROR, 1, "007", "ISA07 is a known receiver qualifier."),
    "ISA-08": Kind(ERROR, 1, "008", "ISA08 names the receiver."),
    "ISA-09": Kind(ERROR, 1, "014", "ISA09 is a day, YYMMDD."),
    "ISA-10": Kind(ERROR, 1, "015", "ISA10 is a time, HHMM."),
    "ISA-11": Kind(ERROR, 1, "026", "ISA11 is a repetition separator unlike the other separators."),
    "ISA-12": Kind(ERROR, 1, "017", "ISA12 is 00501."),
    "ISA-13": Kind(ERROR, 1, "018", "ISA13 is nine digits."),
    "ISA-14": Kind(ERROR, 1, "019", "ISA14 is 0 or 1."),
    "ISA-15": Kind(ERROR, 1, "020", "ISA15 is P or T."),
    "ISA-TWICE": Kind(ERROR, 1, "025", "A sender uses an interchange control number once."),
    "ISA-EMPTY": Kind(ERROR, 1, "024", "An interchange holds at least one group, or a TA1."),
    "IEA-MISSING": Kind(ERROR, 1, "022", "An interchange ends with an IEA."),
    "IEA-COUNT": Kind(ERROR, 1, "021", "IEA01 is the number of groups."),
    "IEA-CONTROL": Kind(ERROR, 1, "001", "IEA02 equals ISA13, digit for digit."),
    "IEA-FORM": Kind(ERROR, 1, "022", "The IEA has two elements."),
    "TA1-FORM": Kind(ERROR, 1, "024", "A TA1 has its five elements, each in form."),
    "TA1-NOTE": Kind(ERROR, 3, "024", "The verdict of a TA1 agrees with its note: accepted without error, or with one."),
    "STRAY": Kind(ERROR, 1, "024", "Every segment stands in its envelope: sets in groups, groups in interchanges."),
    # The group.
    "GS-FORM": Kind(ERROR, 1, "6", "The GS has its eight elements, each in form."),
    "GS-FUNCTION": Kind(ERROR, 1, "1", "GS01 is the functional identifier of the sets in the group."),
    "GS-TWICE": Kind(ERROR, 1, "19", "A group control number is used once in an interchange."),
    "GE-MISSING": Kind(ERROR, 1, "3", "A group ends with a GE."),
    "GE-COUNT": Kind(ERROR, 1, "5", "GE01 is the number of sets."),
    "GE-CONTROL": Kind(ERROR, 1, "4", "GE02 equals GS06, digit for digit."),
    "GE-FORM": Kind(ERROR, 1, "6", "The GE has two elements, each in form."),
    "GROUP-EMPTY": Kind(ERROR, 1, "5", "A group holds at least one set."),
    # The set.
    "ST-CONTROL": Kind(ERROR, 1, "7", "ST02 is 4 to 9 characters."),
    "ST-TWICE": Kind(ERROR, 1, "23", "ST02 is used once in a group."),
    "ST-GUIDE": Kind(ERROR, 1, "I6", "ST01 and the version name a guide that is known here."),
    "ST-EARLIER": Kind(INFO, 2, "", "The version is the current one of its guide."),
    "ST-AGREE": Kind(ERROR, 2, "I6", "ST03 equals GS08."),
    "SE-MISSING": Kind(ERROR, 1, "2", "A set ends with an SE."),
    "SE-COUNT": Kind(ERROR, 1, "4", "SE01 is the number of segments, ST and SE included."),
    "SE-CONTROL": Kind(ERROR, 1, "3", "SE02 equals ST02, character for character."),
    # Segments.
    "SEG-ID": Kind(ERROR, 1, "1", "A segment begins with an id of two or three capital letters and digits."),
    "SEG-UNKNOWN": Kind(ERROR, 1, "6", "The segment is one of those that the guide uses."),
    "SEG-UNEXPECTED": Kind(ERROR, 2, "2", "The segment, with this qualifier, has a place here."),
    "SEG-ORDER": Kind(ERROR, 1, "7", "Segments come in the order of the guide."),
    "SEG-MISSING": Kind(ERROR, 2, "3", "A required segment is there."),
    "SEG-REPEAT": Kind(ERROR, 1, "5", "A segment is repeated no more often than the guide allows."),
    "SEG-BARE": Kind(ERROR, 1, "8", "A segment holds at least one element."),
    "SEG-TRAILING": Kind(ERROR, 1, "8", "No empty elements stand at the end of a segment."),
    "LOOP-MISSING": Kind(ERROR, 2, "I7", "A required loop is there."),
    "LOOP-REPEAT": Kind(ERROR, 1, "4", "A loop is repeated no more often than the guide allows."),
    # Elements.
    "ELM-MISSING": Kind(ERROR, 2, "1", "A required element is there."),
    "ELM-UNUSED": Kind(ERROR, 2, "I10", "An element that the guide does not use is empty."),
    "ELM-SURPLUS": Kind(ERROR, 1, "3", "A segment has no more elements than X12 gives it."),
    "ELM-COMPONENTS": Kind(ERROR, 1, "13", "An element has no more components than X12 gives it."),
    "ELM-TRAILING": Kind(ERROR, 1, "6", "No empty components stand at the end of a composite."),
    "ELM-REPEAT": Kind(ERROR, 1, "12", "An element is repeated no more often than the guide allows."),
    "ELM-SHORT": Kind(ERROR, 1, "4", "An element is as long as its minimum."),
    "ELM-LONG": Kind(ERROR, 1, "5", "An element is no longer than its maximum."),
    "ELM-CHARACTER": Kind(ERROR, 1, "6", "An element holds characters of the X12 basic and extended sets only."),
    "ELM-BLANKS": Kind(WARNING, 1, "", "An element neither begins nor ends with blanks."),
    "ELM-CASE": Kind(WARNING, 7, "", "Text is in capital letters."),
    "ELM-CODE": Kind(ERROR, 2, "7", "A code is one of those that the guide lists."),
    "ELM-LIST": Kind(ERROR, 5, "7", "A code is one of its outside list."),
    "ELM-DATE": Kind(ERROR, 1, "8", "A date is a day of the calendar."),
    "ELM-TIME": Kind(ERROR, 1, "9", "A time is one of the day."),
    "ELM-PERIOD": Kind(ERROR, 1, "8", "A date, time or period has the form that its qualifier names."),
    "ELM-NUMBER": Kind(ERROR, 1, "6", "A number is digits, with a minus sign or a decimal point where allowed."),
    "ELM-ZEROS": Kind(WARNING, 1, "", "A number has no leading zeros."),
    "ELM-CENTS": Kind(ERROR, 1, "6", "An amount has at most two decimals."),
    "ELM-AMOUNT": Kind(ERROR, 2, "5", "An amount has at most ten digits, cents included."),
    "SYN-P": Kind(ERROR, 1, "2", "Elements that belong together are all there or all empty."),
    "SYN-R": Kind(ERROR, 1, "2", "At least one of some elements is there."),
    "SYN-E": Kind(ERROR, 1, "10", "At most one of some elements is there."),
    "SYN-C": Kind(ERROR, 1, "2", "An element that calls for others has them."),
    "SYN-L": Kind(ERROR, 1, "2", "An element that calls for one of others has it."),
    # Hierarchy.
    "HL-NUMBER": Kind(ERROR, 1, "I12", "HL01 counts 1, 2, 3 through the set."),
    "HL-PARENT": Kind(ERROR, 1, "I12", "HL02 is the HL01 of the level above."),
    "HL-CHILD": Kind(ERROR, 1, "I12", "HL04 is 1 where a level below follows and 0 where none does."),
    # What a file can carry but a payer may refuse.
    "VAL-NPI": Kind(WARNING, 5, "", "An NPI is ten digits with a right check digit."),
    "VAL-TAXONOMY": Kind(WARNING, 5, "", "A taxonomy code is ten characters, the last an X."),
    "VAL-PHONE": Kind(WARNING, 7, "", "A telephone number is ten digits without punctuation."),
    "VAL-ZIP": Kind(WARNING, 5, "", "A United States ZIP code is five or nine digits."),
    "VAL-ZIP4": Kind(WARNING, 5, "", "The ZIP code of a billing provider or a place of service has nine digits."),
    "VAL-STREET": Kind(WARNING, 7, "", "A billing provider's address is a street, not a box."),
}  # fmt: skip
