"""Every finding the engine itself can report: its severity, its SNIP type and its code in an acknowledgement.

The code is the one a 999 or a TA1 carries: IK403 for an element, IK304 for a segment, IK502 for ST and SE, AK905 for GS
and GE, TA105 for ISA and IEA. Findings that need several segments at once are in ``rules/``. Knows no file.
"""

from dataclasses import dataclass

from clearlane.kernel.finding import Severity
from clearlane.kernel.rule_registry import FindingType, RuleRegistry

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


@dataclass(frozen=True, slots=True)
class FileFindingType(FindingType):
    """A finding of the engine, with its SNIP type and its code in an acknowledgement."""

    snip: int
    code: str = ""


# What payers write and a receiver can read all the same: a warning in these kinds of file.
RECEIVED_KINDS = frozenset({"271", "277", "277CA", "835", "999"})
WARNINGS_WHEN_RECEIVED = frozenset({"ELM-UNUSED"})

FINDING_TYPES: RuleRegistry[FileFindingType] = RuleRegistry(FileFindingType, [
    # The file.
    FileFindingType("FILE-EMPTY", ERROR, "A file holds at least one interchange, which begins with ISA.", 1),
    FileFindingType("FILE-JUNK", ERROR, "Nothing but blanks comes before, between and after interchanges.", 1, "024"),
    FileFindingType("FILE-HEADER", ERROR, "An ISA has 16 elements and defines four different separators.", 1, "022"),
    FileFindingType("FILE-CUT", ERROR, "The last segment of a file, and of an interchange, ends with the terminator.", 1, "023"),
    FileFindingType("FILE-LONG", ERROR, "A segment fits the limit of the reader.", 1, "024"),
    FileFindingType("FILE-BLANK", WARNING, "No terminator follows another: there are no empty segments.", 1),
    FileFindingType("FILE-INDENT", WARNING, "No blanks come before the id of a segment.", 1),
    FileFindingType("FILE-MARK", WARNING, "A file begins with ISA, not with a byte order mark.", 1),
    FileFindingType("FILE-MEMORY", ERROR, "The part of a set that must be kept in memory at once fits the limit of the reader.", 1),
    FileFindingType("LIMIT-FINDINGS", WARNING, "The number of findings per set is limited.", 1),
    # The interchange.
    FileFindingType("ISA-WIDTH", ERROR, "Each ISA element has its fixed width, filled with blanks.", 1, "022"),
    FileFindingType("ISA-01", ERROR, "ISA01 is a known authorization qualifier.", 1, "010"),
    FileFindingType("ISA-03", ERROR, "ISA03 is a known security qualifier.", 1, "012"),
    FileFindingType("ISA-05", ERROR, "ISA05 is a known sender qualifier.", 1, "005"),
    FileFindingType("ISA-06", ERROR, "ISA06 names the sender.", 1, "006"),
    FileFindingType("ISA-07", ERROR, "ISA07 is a known receiver qualifier.", 1, "007"),
    FileFindingType("ISA-08", ERROR, "ISA08 names the receiver.", 1, "008"),
    FileFindingType("ISA-09", ERROR, "ISA09 is a day, YYMMDD.", 1, "014"),
    FileFindingType("ISA-10", ERROR, "ISA10 is a time, HHMM.", 1, "015"),
    FileFindingType("ISA-11", ERROR, "ISA11 is a repetition separator such as ^, unlike the other separators.", 1, "016"),
    FileFindingType("ISA-12", ERROR, "ISA12 is 00501, unless the interchange holds a TA1 alone.", 1, "017"),
    FileFindingType("ISA-13", ERROR, "ISA13 is nine digits.", 1, "018"),
    FileFindingType("ISA-14", ERROR, "ISA14 is 0 or 1.", 1, "019"),
    FileFindingType("ISA-15", ERROR, "ISA15 is P or T.", 1, "020"),
    FileFindingType("ISA-HIPAA", WARNING, "ISA01, ISA05 and ISA07 have codes of the shorter lists that HIPAA's guides have.", 2),
    FileFindingType("ISA-TWICE", ERROR, "A sender uses an interchange control number once.", 1, "025"),
    FileFindingType("ISA-EMPTY", ERROR, "An interchange holds at least one group, or a TA1.", 1, "024"),
    FileFindingType("IEA-MISSING", ERROR, "An interchange ends with an IEA.", 1, "022"),
    FileFindingType("IEA-COUNT", ERROR, "IEA01 is the number of groups.", 1, "021"),
    FileFindingType("IEA-CONTROL", ERROR, "IEA02 equals ISA13, digit for digit.", 1, "001"),
    FileFindingType("IEA-FORM", ERROR, "The IEA has two elements.", 1, "022"),
    FileFindingType("TA1-FORM", ERROR, "A TA1 has its five elements, each well-formed.", 1, "024"),
    FileFindingType("TA1-NOTE", ERROR, "The code of a TA1 agrees with its note: accepted without error, or with one.", 3, "024"),
    FileFindingType("STRAY", ERROR, "Every segment is in its envelope: sets in groups, groups in interchanges.", 1, "024"),
    # The group.
    # Which element decides the code of GS-FORM and GE-FORM (envelope.py); here is that of the control number or count.
    FileFindingType("GS-FORM", ERROR, "The GS has its eight elements, each well-formed.", 1, "6"),
    FileFindingType("GS-FUNCTION", ERROR, "GS01 is the functional identifier of the sets in the group.", 1, "1"),
    FileFindingType("GS-TWICE", ERROR, "A group control number is used once in an interchange.", 1, "19"),
    FileFindingType("GE-MISSING", ERROR, "A group ends with a GE.", 1, "3"),
    FileFindingType("GE-COUNT", ERROR, "GE01 is the number of sets.", 1, "5"),
    FileFindingType("GE-CONTROL", ERROR, "GE02 equals GS06, digit for digit.", 1, "4"),
    FileFindingType("GE-FORM", ERROR, "The GE has two elements, each well-formed.", 1, "5"),
    FileFindingType("GROUP-EMPTY", ERROR, "A group holds at least one set.", 1, "5"),
    # The set.
    FileFindingType("ST-CONTROL", ERROR, "ST02 is 4 to 9 characters.", 1, "7"),
    FileFindingType("ST-TWICE", ERROR, "ST02 is used once in a group.", 1, "23"),
    FileFindingType("ST-GUIDE", ERROR, "ST01 and the version name a guide that is known here.", 1, "I6"),
    FileFindingType("ST-EARLIER", INFO, "The version is no earlier name of its guide.", 2),
    FileFindingType("ST-LATER", INFO, "The version is the one that HIPAA adopted, not a later erratum of it.", 2),
    FileFindingType("ST-AGREE", ERROR, "ST03 equals GS08.", 2, "I6"),
    FileFindingType("SE-MISSING", ERROR, "A set ends with an SE.", 1, "2"),
    FileFindingType("SE-COUNT", ERROR, "SE01 is the number of segments, ST and SE included.", 1, "4"),
    FileFindingType("SE-CONTROL", ERROR, "SE02 equals ST02, character for character.", 1, "3"),
    # Segments.
    FileFindingType("SEG-ID", ERROR, "A segment begins with an id of two or three capital letters and digits.", 1, "1"),
    FileFindingType("SEG-UNKNOWN", ERROR, "The segment is one of those that the guide uses.", 1, "6"),
    FileFindingType("SEG-UNEXPECTED", ERROR, "The segment, with this qualifier, is allowed here.", 2, "2"),
    FileFindingType("SEG-ORDER", ERROR, "Segments come in the order of the guide.", 1, "7"),
    FileFindingType("SEG-MISSING", ERROR, "A required segment is present.", 2, "3"),
    FileFindingType("SEG-REPEAT", ERROR, "A segment is repeated no more often than the guide allows.", 1, "5"),
    FileFindingType("SEG-BARE", ERROR, "A segment holds at least one element.", 1, "8"),
    FileFindingType("SEG-TRAILING", ERROR, "No empty elements are at the end of a segment.", 1, "6"),
    FileFindingType("LOOP-MISSING", ERROR, "A required loop is present.", 2, "I7"),
    FileFindingType("LOOP-REPEAT", ERROR, "A loop is repeated no more often than the guide allows.", 1, "4"),
    # Elements.
    FileFindingType("ELM-MISSING", ERROR, "A required element is present.", 2, "1"),
    FileFindingType("ELM-UNUSED", ERROR, "An element that the guide does not use is empty.", 2, "I10"),
    FileFindingType("ELM-SURPLUS", ERROR, "A segment has no more elements than X12 gives it.", 1, "3"),
    FileFindingType("ELM-COMPONENTS", ERROR, "An element has no more components than X12 gives it.", 1, "13"),
    FileFindingType("ELM-TRAILING", ERROR, "No empty components are at the end of a composite.", 1, "6"),
    FileFindingType("ELM-REPEAT", ERROR, "An element is repeated no more often than the guide allows.", 1, "12"),
    FileFindingType("ELM-SHORT", ERROR, "An element is as long as its minimum.", 1, "4"),
    FileFindingType("ELM-LONG", ERROR, "An element is no longer than its maximum.", 1, "5"),
    FileFindingType("ELM-CHARACTER", ERROR, "An element holds characters of the X12 basic and extended sets only.", 1, "6"),
    FileFindingType("ELM-SIGN", WARNING, "An element holds plain signs: typographic quotes, dashes and blanks go out as plain ones.", 7),
    FileFindingType("ELM-NATIONAL", WARNING, "An element holds letters of English only: letters of other languages need an agreement.", 7),
    FileFindingType("ELM-BLANKS", WARNING, "An element neither begins nor ends with blanks.", 1),
    FileFindingType("ELM-CASE", WARNING, "Text is in capital letters; in free text and in web and mail addresses small letters are information only.", 7),
    FileFindingType("ELM-CODE", ERROR, "A code is one of those that the guide lists.", 2, "7"),
    FileFindingType("ELM-LIST", ERROR, "A code is one of its outside list.", 5, "7"),
    FileFindingType("ELM-DATE", ERROR, "A date is a day of the calendar.", 1, "8"),
    FileFindingType("ELM-TIME", ERROR, "A time is one of the day.", 1, "9"),
    FileFindingType("ELM-PERIOD", ERROR, "A date, time or period has the form that its qualifier names.", 1, "8"),
    FileFindingType("ELM-NUMBER", ERROR, "A number is digits, with a minus sign or a decimal point where allowed.", 1, "6"),
    FileFindingType("ELM-ZEROS", WARNING, "A number has no leading zeros.", 1),
    FileFindingType("ELM-CENTS", ERROR, "An amount has at most two decimals.", 1, "6"),
    FileFindingType("ELM-AMOUNT", ERROR, "An amount has at most ten digits, cents included.", 2, "5"),
    FileFindingType("ELM-UNITS", ERROR, "The units of a line have at most eight digits, three of them decimals.", 2, "5"),
    FileFindingType("SYN-P", ERROR, "Elements that belong together are all present or all empty.", 1, "2"),
    FileFindingType("SYN-R", ERROR, "At least one of some elements is present.", 1, "2"),
    FileFindingType("SYN-E", ERROR, "At most one of some elements is present.", 1, "10"),
    FileFindingType("SYN-C", ERROR, "An element that calls for others has them.", 1, "2"),
    FileFindingType("SYN-L", ERROR, "An element that calls for one of others has it.", 1, "2"),
    # Hierarchy.
    FileFindingType("HL-NUMBER", ERROR, "HL01 counts 1, 2, 3 through the set.", 1, "I12"),
    FileFindingType("HL-PARENT", ERROR, "HL02 is the HL01 of the level above.", 1, "I12"),
    FileFindingType("HL-CHILD", ERROR, "HL04 is 1 if a level below follows, else 0.", 1, "I12"),
    # What a file can carry but a payer may refuse.
    FileFindingType("VAL-NPI", WARNING, "An NPI is ten digits with a right check digit.", 5),
    FileFindingType("VAL-TAXONOMY", WARNING, "A taxonomy code is ten characters, the last an X.", 5),
    FileFindingType("VAL-BANK", WARNING, "A bank's routing number is nine digits with a right check digit.", 5),
    FileFindingType("VAL-PHONE", WARNING, "A telephone number of the United States or Canada is ten digits without punctuation, the first neither 0 nor 1.", 7),
    FileFindingType("VAL-ZIP", WARNING, "A United States ZIP code is five or nine digits.", 5),
    FileFindingType("VAL-ZIP4", WARNING, "The ZIP code of a billing provider or a place of service has nine digits.", 5),
    FileFindingType("VAL-STREET", WARNING, "A billing provider's address is a street, not a box.", 7),
])  # fmt: skip
