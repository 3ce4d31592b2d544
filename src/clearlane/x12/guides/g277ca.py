"""277CA 005010X214: a receiver reports which claims of a file it accepts, and why not the others.

The published examples of this guide leave out some dates and charges of the levels above the claim, give a submitter a name
suffix and trace a provider with type 2; none of that is an error here. Some payers keep the level codes and entities of the
277 (22 and 23, 1P, IL) and leave out the receipts; that can be read, and a rule warns of it.
"""

from clearlane.x12.grammar import loop
from clearlane.x12.guides import common, g276
from clearlane.x12.guides.dictionary import seg

_CODES = "R=@status_categories R=@statuses"
_RECEIVER_ENTITIES = "36|40|41|AY|PR"
_PROVIDER_ENTITIES = "36|40|41|77|82|85|87|AY|PR"
_CLAIM_ENTITIES = "03|1P|1Z|40|41|71|72|73|77|82|85|87|AY|DK|DN|DQ|FA|GB|HK|IL|LI|MSC|PR|PRP|QB|QC|QD|SEP|TL|TTP|TU"


def _verdict(entities: str, date: str, actions: str, charge: str, text: str = "-") -> str:
    """Return the usage of an STC of a claim acknowledgement."""
    further = f"S({_CODES} S=@entities)"
    return (
        f"R({_CODES} S={entities}) {date} R={actions} {charge} - - - - - {further} {further} {text}"
    )


_PATIENT = common.level(
    "2000D",
    "Patient",
    "S",
    0,
    "R R R=PT|22|23",
    common.party("2100D", "Patient name", "R=QC|IL R=1 R S S - S R=II|MI R"),
    loop(
        "2200D",
        "Claim",
        "R",
        0,
        seg("TRN", "Patient account number", "R", 1, g276.TRACE.format("2")),
        seg(
            "STC", "Verdict on the claim", "R", 0, _verdict(_CLAIM_ENTITIES, "R", "U|WQ", "R", "S")
        ),
        g276.reference("1K", "Payer claim number"),
        g276.reference("D9", "Clearinghouse claim number"),
        g276.reference("BLT", "Type of bill"),
        seg("DTP", "Service date of the claim", "S", 1, g276.PERIOD),
        loop(
            "2220D",
            "Service line",
            "S",
            0,
            seg("SVC", "Service line", "R", 1, f"{g276.PROCEDURE} R - S - - S"),
            seg(
                "STC", "Verdict on the line", "R", 0, _verdict(_CLAIM_ENTITIES, "S", "U", "-", "S")
            ),
            g276.reference("FJ", "Line control number"),
            g276.reference("XZ", "Prescription number"),
            seg("DTP", "Service date of the line", "S", 1, g276.PERIOD),
        ),
    ),
)

_PROVIDER = common.level(
    "2000C",
    "Billing provider",
    "S",
    0,
    "R R R=19 R=0|1",
    common.party("2100C", "Billing provider name", "R=85|1P R=1|2 R S S - S R=FI|SV|XX R"),
    loop(
        "2200C",
        "Verdict at the provider's level",
        "S",
        1,
        seg("TRN", "Trace number of the provider", "R", 1, g276.TRACE.format("1|2")),
        seg(
            "STC",
            "Verdict at the provider's level",
            "S",
            0,
            _verdict(_PROVIDER_ENTITIES, "-", "U|WQ", "S"),
        ),
        seg("REF", "Further identifier of the provider", "S", 3, "R=0B|1G|G2|LU|SY|TJ R"),
        seg("QTY", "Claims accepted", "S", 1, "R=QA R"),
        seg("QTY", "Claims rejected", "S", 1, "R=QC R"),
        seg("AMT", "Charges accepted", "S", 1, "R=YU R"),
        seg("AMT", "Charges refused", "S", 1, "R=YY R"),
    ),
    _PATIENT,
)

GUIDE = common.make_guide(
    "005010X214",
    "277CA",
    "HN",
    "Claim acknowledgement",
    seg("BHT", "Purpose and identity of the acknowledgement", "R", 1, "R=0085 R=08 R R R R=TH"),
    common.level(
        "2000A",
        "Information source",
        "R",
        1,
        "R - R=20 R=1",
        common.party("2100A", "Information source name", "R=AY|PR R=2 R - - - - R=46|FI|PI|XV R"),
        loop(
            "2200A",
            "Receipt of the file",
            "S",
            1,
            seg("TRN", "Trace number of the receipt", "R", 1, g276.TRACE.format("1")),
            seg("DTP", "Date the file was received", "R", 1, "R=050 R=D8 R"),
            seg("DTP", "Date the file was processed", "R", 1, "R=009 R=D8 R"),
        ),
        common.level(
            "2000B",
            "Information receiver",
            "R",
            1,
            "R R R=21 R=0|1",
            common.party("2100B", "Information receiver name", "R=41 R=1|2 R S S - S R=46 R"),
            loop(
                "2200B",
                "Verdict on the file",
                "S",
                1,
                seg("TRN", "Batch number of the file", "R", 1, g276.TRACE.format("2")),
                seg(
                    "STC",
                    "Verdict on the file",
                    "R",
                    0,
                    _verdict(_RECEIVER_ENTITIES, "S", "U|WQ", "S"),
                ),
                seg("QTY", "Claims accepted", "S", 1, "R=90 R"),
                seg("QTY", "Claims rejected", "S", 1, "R=AA R"),
                seg("AMT", "Charges accepted", "S", 1, "R=YU R"),
                seg("AMT", "Charges refused", "S", 1, "R=YY R"),
            ),
            _PROVIDER,
        ),
    ),
    unit="2000D",
)
