"""Every finding the engine itself can report: its severity, its SNIP type and its code in an acknowledgement.

The code is the one a 999 or a TA1 carries: IK403 for an element, IK304 for a segment, IK502 for ST and SE, AK905 for GS
and GE, TA105 for ISA and IEA. Findings that need several segments at once are in ``rules/``. Knows no file.
"""

from typing import NamedTuple

from clearlane.kernel.finding import Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class FindingType(NamedTuple):
    """One type of finding."""

    severity: Severity
    snip: int
    code: str
    sentence: str
    """What must be true."""


# What payers write and a receiver can read all the same: a warning in these kinds of file.
RECEIVED_KINDS = frozenset({"271", "277", "277CA", "835", "999"})
WARNINGS_WHEN_RECEIVED = frozenset({"ELM-UNUSED"})

FINDING_TYPES: dict[str, FindingType] = {
    # The file.
    "FILE-EMPTY": FindingType(ERROR, 1, "", "A file holds at least one interchange, which begins with ISA."),
    "FILE-JUNK": FindingType(ERROR, 1, "024", "Nothing but blanks comes before, between and after interchanges."),
    "FILE-HEADER": FindingType(ERROR, 1, "022", "An ISA has 16 elements and defines four different separators."),
    "FILE-CUT": FindingType(ERROR, 1, "023", "The last segment of a file, and of an interchange, ends with the terminator."),
    "FILE-LONG": FindingType(ERROR, 1, "024", "A segment fits the limit of the reader."),
    "FILE-BLANK": FindingType(WARNING, 1, "", "No terminator follows another: there are no empty segments."),
    "FILE-INDENT": FindingType(WARNING, 1, "", "No blanks come before the id of a segment."),
    "FILE-MARK": FindingType(WARNING, 1, "", "A file begins with ISA, not with a byte order mark."),
    "FILE-MEMORY": FindingType(ERROR, 1, "", "The part of a set that must be kept in memory at once fits the limit of the reader."),
    "LIMIT-FINDINGS": FindingType(WARNING, 1, "", "The number of findings per set is limited."),
    # The interchange.
    "ISA-WIDTH": FindingType(ERROR, 1, "022", "Each ISA element has its fixed width, filled with blanks."),
    "ISA-01": FindingType(ERROR, 1, "010", "ISA01 is a known authorisation qualifier."),
    "ISA-03": FindingType(ERROR, 1, "012", "ISA03 is a known security qualifier."),
    "ISA-05": FindingType(ERROR, 1, "005", "ISA05 is a known sender qualifier."),
    "ISA-06": FindingType(ERROR, 1, "006", "ISA06 names the sender."),
    "ISA-07": FindingType(ERROR, 1, "007", "ISA07 is a known receiver qualifier."),
    "ISA-08": FindingType(ERROR, 1, "008", "ISA08 names the receiver."),
    "ISA-09": FindingType(ERROR, 1, "014", "ISA09 is a day, YYMMDD."),
    "ISA-10": FindingType(ERROR, 1, "015", "ISA10 is a time, HHMM."),
    "ISA-11": FindingType(ERROR, 1, "026", "ISA11 is a repetition separator unlike the other separators."),
    "ISA-12": FindingType(ERROR, 1, "017", "ISA12 is 00501, unless the interchange holds a TA1 alone."),
    "ISA-13": FindingType(ERROR, 1, "018", "ISA13 is nine digits."),
    "ISA-14": FindingType(ERROR, 1, "019", "ISA14 is 0 or 1."),
    "ISA-15": FindingType(ERROR, 1, "020", "ISA15 is P or T."),
    "ISA-HIPAA": FindingType(WARNING, 2, "", "ISA01, ISA05 and ISA07 have codes of the shorter lists that HIPAA's guides have."),
    "ISA-TWICE": FindingType(ERROR, 1, "025", "A sender uses an interchange control number once."),
    "ISA-EMPTY": FindingType(ERROR, 1, "024", "An interchange holds at least one group, or a TA1."),
    "IEA-MISSING": FindingType(ERROR, 1, "022", "An interchange ends with an IEA."),
    "IEA-COUNT": FindingType(ERROR, 1, "021", "IEA01 is the number of groups."),
    "IEA-CONTROL": FindingType(ERROR, 1, "001", "IEA02 equals ISA13, digit for digit."),
    "IEA-FORM": FindingType(ERROR, 1, "022", "The IEA has two elements."),
    "TA1-FORM": FindingType(ERROR, 1, "024", "A TA1 has its five elements, each well-formed."),
    "TA1-NOTE": FindingType(ERROR, 3, "024", "The code of a TA1 agrees with its note: accepted without error, or with one."),
    "STRAY": FindingType(ERROR, 1, "024", "Every segment is in its envelope: sets in groups, groups in interchanges."),
    # The group.
    # Which element decides the code of GS-FORM and GE-FORM (envelope.py); here is that of the control number or count.
    "GS-FORM": FindingType(ERROR, 1, "6", "The GS has its eight elements, each well-formed."),
    "GS-FUNCTION": FindingType(ERROR, 1, "1", "GS01 is the functional identifier of the sets in the group."),
    "GS-TWICE": FindingType(ERROR, 1, "19", "A group control number is used once in an interchange."),
    "GE-MISSING": FindingType(ERROR, 1, "3", "A group ends with a GE."),
    "GE-COUNT": FindingType(ERROR, 1, "5", "GE01 is the number of sets."),
    "GE-CONTROL": FindingType(ERROR, 1, "4", "GE02 equals GS06, digit for digit."),
    "GE-FORM": FindingType(ERROR, 1, "5", "The GE has two elements, each well-formed."),
    "GROUP-EMPTY": FindingType(ERROR, 1, "5", "A group holds at least one set."),
    # The set.
    "ST-CONTROL": FindingType(ERROR, 1, "7", "ST02 is 4 to 9 characters."),
    "ST-TWICE": FindingType(ERROR, 1, "23", "ST02 is used once in a group."),
    "ST-GUIDE": FindingType(ERROR, 1, "I6", "ST01 and the version name a guide that is known here."),
    "ST-EARLIER": FindingType(INFO, 2, "", "The version is no earlier name of its guide."),
    "ST-LATER": FindingType(INFO, 2, "", "The version is the one that HIPAA adopted, not a later erratum of it."),
    "ST-AGREE": FindingType(ERROR, 2, "I6", "ST03 equals GS08."),
    "SE-MISSING": FindingType(ERROR, 1, "2", "A set ends with an SE."),
    "SE-COUNT": FindingType(ERROR, 1, "4", "SE01 is the number of segments, ST and SE included."),
    "SE-CONTROL": FindingType(ERROR, 1, "3", "SE02 equals ST02, character for character."),
    # Segments.
    "SEG-ID": FindingType(ERROR, 1, "1", "A segment begins with an id of two or three capital letters and digits."),
    "SEG-UNKNOWN": FindingType(ERROR, 1, "6", "The segment is one of those that the guide uses."),
    "SEG-UNEXPECTED": FindingType(ERROR, 2, "2", "The segment, with this qualifier, is allowed here."),
    "SEG-ORDER": FindingType(ERROR, 1, "7", "Segments come in the order of the guide."),
    "SEG-MISSING": FindingType(ERROR, 2, "3", "A required segment is present."),
    "SEG-REPEAT": FindingType(ERROR, 1, "5", "A segment is repeated no more often than the guide allows."),
    "SEG-BARE": FindingType(ERROR, 1, "8", "A segment holds at least one element."),
    "SEG-TRAILING": FindingType(ERROR, 1, "8", "No empty elements are at the end of a segment."),
    "LOOP-MISSING": FindingType(ERROR, 2, "I7", "A required loop is present."),
    "LOOP-REPEAT": FindingType(ERROR, 1, "4", "A loop is repeated no more often than the guide allows."),
    # Elements.
    "ELM-MISSING": FindingType(ERROR, 2, "1", "A required element is present."),
    "ELM-UNUSED": FindingType(ERROR, 2, "I10", "An element that the guide does not use is empty."),
    "ELM-SURPLUS": FindingType(ERROR, 1, "3", "A segment has no more elements than X12 gives it."),
    "ELM-COMPONENTS": FindingType(ERROR, 1, "13", "An element has no more components than X12 gives it."),
    "ELM-TRAILING": FindingType(ERROR, 1, "6", "No empty components are at the end of a composite."),
    "ELM-REPEAT": FindingType(ERROR, 1, "12", "An element is repeated no more often than the guide allows."),
    "ELM-SHORT": FindingType(ERROR, 1, "4", "An element is as long as its minimum."),
    "ELM-LONG": FindingType(ERROR, 1, "5", "An element is no longer than its maximum."),
    "ELM-CHARACTER": FindingType(ERROR, 1, "6", "An element holds characters of the X12 basic and extended sets only."),
    "ELM-NATIONAL": FindingType(WARNING, 7, "", "An element holds letters of English only: letters of other languages need an agreement."),
    "ELM-BLANKS": FindingType(WARNING, 1, "", "An element neither begins nor ends with blanks."),
    "ELM-CASE": FindingType(WARNING, 7, "", "Text is in capital letters; in free text and in web and mail addresses small letters are information only."),
    "ELM-CODE": FindingType(ERROR, 2, "7", "A code is one of those that the guide lists."),
    "ELM-LIST": FindingType(ERROR, 5, "7", "A code is one of its outside list."),
    "ELM-DATE": FindingType(ERROR, 1, "8", "A date is a day of the calendar."),
    "ELM-TIME": FindingType(ERROR, 1, "9", "A time is one of the day."),
    "ELM-PERIOD": FindingType(ERROR, 1, "8", "A date, time or period has the form that its qualifier names."),
    "ELM-NUMBER": FindingType(ERROR, 1, "6", "A number is digits, with a minus sign or a decimal point where allowed."),
    "ELM-ZEROS": FindingType(WARNING, 1, "", "A number has no leading zeros."),
    "ELM-CENTS": FindingType(ERROR, 1, "6", "An amount has at most two decimals."),
    "ELM-AMOUNT": FindingType(ERROR, 2, "5", "An amount has at most ten digits, cents included."),
    "ELM-UNITS": FindingType(ERROR, 2, "5", "The units of a line have at most eight digits, three of them decimals."),
    "SYN-P": FindingType(ERROR, 1, "2", "Elements that belong together are all present or all empty."),
    "SYN-R": FindingType(ERROR, 1, "2", "At least one of some elements is present."),
    "SYN-E": FindingType(ERROR, 1, "10", "At most one of some elements is present."),
    "SYN-C": FindingType(ERROR, 1, "2", "An element that calls for others has them."),
    "SYN-L": FindingType(ERROR, 1, "2", "An element that calls for one of others has it."),
    # Hierarchy.
    "HL-NUMBER": FindingType(ERROR, 1, "I12", "HL01 counts 1, 2, 3 through the set."),
    "HL-PARENT": FindingType(ERROR, 1, "I12", "HL02 is the HL01 of the level above."),
    "HL-CHILD": FindingType(ERROR, 1, "I12", "HL04 is 1 where a level below follows and 0 where none does."),
    # What a file can carry but a payer may refuse.
    "VAL-NPI": FindingType(WARNING, 5, "", "An NPI is ten digits with a right check digit."),
    "VAL-TAXONOMY": FindingType(WARNING, 5, "", "A taxonomy code is ten characters, the last an X."),
    "VAL-PHONE": FindingType(WARNING, 7, "", "A telephone number of the United States or Canada is ten digits without punctuation, the first neither 0 nor 1."),
    "VAL-ZIP": FindingType(WARNING, 5, "", "A United States ZIP code is five or nine digits."),
    "VAL-ZIP4": FindingType(WARNING, 5, "", "The ZIP code of a billing provider or a place of service has nine digits."),
    "VAL-STREET": FindingType(WARNING, 7, "", "A billing provider's address is a street, not a box."),
}  # fmt: skip
