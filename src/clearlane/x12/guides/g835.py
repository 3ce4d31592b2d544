"""835 005010X221A1: a payer reports what it paid, line by line, and why not more."""

from clearlane.x12.grammar import Guide, loop
from clearlane.x12.guides import common
from clearlane.x12.guides.dictionary import seg

_REFERENCE = "R={} R"
_DATE = "R={} R"
_ADJUSTMENT = (
    "R=CO|OA|PI|PR R=@carc R S S=@carc S S S=@carc S S S=@carc S S S=@carc S S S=@carc S S"
)
_PROCEDURE_KINDS = "AD|ER|HC|HP|IV|N4|NU|WK"
_REMARKS = "S S S S S"

# Why a payer takes from or adds to the payment as a whole (X12 element 426, as far as the guide admits it).
PROVIDER_ADJUSTMENTS = (
    "50|51|72|90|AH|AM|AP|B2|B3|BD|BN|C5|CR|CS|CT|CV|CW|DM|E3|FB|FC|GO|HM|IP|IR|IS|J1|L3|L6|LE|LS"
    "|OA|OB|PI|PL|RA|RE|SL|TL|WO|WU"
)
CLAIM_FILING = "12|13|14|15|16|17|AM|CH|DS|HM|LM|MA|MB|MC|OF|TV|VA|WC|ZZ"

_PAYER = loop(
    "1000A",
    "Payer",
    "R",
    1,
    seg("N1", "Payer", "R", 1, "R=PR R S=XV S"),
    seg("N3", "Payer address", "R", 1, common.ADDRESS),
    seg("N4", "Payer city, state and postal code", "R", 1, common.CITY),
    seg("REF", "Further payer identifier", "S", 4, _REFERENCE.format("2U|EO|HI|NF")),
    seg(
        "PER",
        "Payer business contact",
        "S",
        1,
        "R=CX S S=EM|FX|TE S S=EM|EX|FX|TE S S=EX S",
        key=(1, 0),
    ),
    seg(
        "PER",
        "Payer technical contact",
        "R",
        0,
        "R=BL S S=EM|TE|UR S S=EM|EX|FX|TE|UR S S=EM|EX|FX|UR S",
        key=(1, 0),
    ),
    seg("PER", "Payer web site", "S", 1, "R=IC - R=UR R", key=(1, 0)),
)

_PAYEE = loop(
    "1000B",
    "Payee",
    "R",
    1,
    seg("N1", "Payee", "R", 1, "R=PE R R=FI|XV|XX R"),
    seg("N3", "Payee address", "S", 1, common.ADDRESS),
    seg("N4", "Payee city, state and postal code", "S", 1, common.CITY),
    seg("REF", "Further payee identifier", "S", 0, _REFERENCE.format("0B|D3|PQ|TJ")),
    seg("RDM", "How the advice is delivered", "S", 1, "R=BM|EM|FT|OL S S"),
)

_LINE = loop(
    "2110",
    "Service line payment",
    "S",
    999,
    seg(
        "SVC",
        "Service line payment",
        "R",
        1,
        f"R(R={_PROCEDURE_KINDS}|N6|UI R S S S S - -) R R S S S(R={_PROCEDURE_KINDS} R S S S S S -) S",
    ),
    seg("DTM", "Service date", "S", 2, _DATE.format("150|151|472")),
    seg("CAS", "Line adjustment", "S", 99, _ADJUSTMENT),
    seg("REF", "Service identifier", "S", 8, _REFERENCE.format("1S|APC|BB|E9|G1|G3|LU|RB")),
    seg("REF", "Line control number", "S", 1, _REFERENCE.format("6R")),
    seg(
        "REF",
        "Rendering provider identifier of the line",
        "S",
        10,
        _REFERENCE.format("0B|1A|1B|1C|1D|1G|1H|1J|D3|G2|HPI|SY|TJ"),
    ),
    seg("REF", "Payer's policy that was applied", "S", 5, _REFERENCE.format("0K")),
    seg("AMT", "Further line amount", "S", 9, "R=B6|KH|T|T2|ZK|ZL|ZM|ZN|ZO R"),
    seg("QTY", "Further line quantity", "S", 6, "R=ZK|ZL|ZM|ZN|ZO R"),
    seg("LQ", "Remark code of the line", "S", 99, "R=HE|RX R"),
)

_CLAIM = loop(
    "2100",
    "Claim payment",
    "R",
    0,
    seg(
        "CLP",
        "Claim payment",
        "R",
        1,
        f"R R=1|2|3|4|19|20|21|22|23|25 R R S R={CLAIM_FILING} R S S - S S S",
    ),
    seg("CAS", "Claim adjustment", "S", 99, _ADJUSTMENT),
    seg("NM1", "Patient name", "R", 1, "R=QC R=1 S S S - S S=34|HN|II|MI|MR S"),
    seg("NM1", "Insured name", "S", 1, "R=IL R=1|2 S S S - S R=FI|II|MI R"),
    seg("NM1", "Corrected name of patient or insured", "S", 1, "R=74 R=1|2 S S S - S S=C S"),
    seg(
        "NM1", "Rendering provider name", "S", 1, "R=82 R=1|2 S S S - S R=BD|BS|FI|MC|PC|SL|UP|XX R"
    ),
    seg(
        "NM1",
        "Carrier the claim was forwarded to",
        "S",
        1,
        "R=TT R=2 R - - - - R=AD|FI|NI|PI|PP|XV R",
    ),
    seg(
        "NM1",
        "Payer that should have been first",
        "S",
        1,
        "R=PR R=2 R - - - - R=AD|FI|NI|PI|PP|XV R",
    ),
    seg("NM1", "Other subscriber name", "S", 1, "R=GB R=1|2 S S S - S S=FI|II|MI S"),
    seg("MIA", "Inpatient decision", "S", 1, "R" + " S" * 23),
    seg("MOA", "Outpatient decision", "S", 1, f"S S {_REMARKS} S S"),
    seg(
        "REF",
        "Further claim identifier",
        "S",
        5,
        _REFERENCE.format("1L|1W|28|6P|9A|9C|BB|CE|EA|F8|G1|G3|IG|SY"),
    ),
    seg(
        "REF",
        "Rendering provider identifier",
        "S",
        10,
        _REFERENCE.format("0B|1A|1B|1C|1D|1G|1H|1J|D3|G2|LU"),
    ),
    seg("DTM", "Statement from or to date", "S", 2, _DATE.format("232|233")),
    seg("DTM", "Date the coverage ended", "S", 1, _DATE.format("036")),
    seg("DTM", "Date the claim was received", "S", 1, _DATE.format("050")),
    seg("PER", "Contact for this claim", "S", 2, "R=CX S R=EM|FX|TE R S=EM|EX|FX|TE S S=EX S"),
    seg("AMT", "Further claim amount", "S", 13, "R=AU|D8|DY|F5|I|NL|T|T2|ZK|ZL|ZM|ZN|ZO R"),
    seg("QTY", "Further claim quantity", "S", 14, "R=CA|CD|LA|LE|NE|NR|OU|PS|VS|ZK|ZL|ZM|ZN|ZO R"),
    _LINE,
)

_GROUP = loop(
    "2000",
    "Claims of one provider or kind",
    "S",
    0,
    seg("LX", "Header number", "R", 1, "R"),
    seg("TS3", "Sums of one provider", "S", 1, "R R R R R - - - - - - - S - S - S S - S S S S S"),
    seg("TS2", "Further sums of one provider", "S", 1, " ".join("S" * 19)),
    _CLAIM,
)

GUIDE = Guide(
    id="005010X221A1",
    kind="835",
    transaction="835",
    functional_id="HP",
    name="Claim payment and remittance advice",
    earlier_ids=("005010X221",),
    unit="2100",
    root=loop(
        "835",
        "Claim payment and remittance advice",
        "R",
        1,
        # An 835 names its guide in the GS only: ST03 is not used.
        seg("ST", "Start of the transaction set", "R", 1, "R=835 R"),
        seg(
            "BPR",
            "Payment",
            "R",
            1,
            "R=C|D|H|I|P|U|X R R=C|D R=ACH|BOP|CHK|FWT|NON S=CCP|CTX S=01|04 S S=DA S S S S=01|04 S S=DA|SG S R",
        ),
        seg("TRN", "Trace number of the payment", "R", 1, "R=1 R R S"),
        seg("CUR", "Foreign currency", "S", 1, "R=PR R=@currencies"),
        seg("REF", "Receiver identifier", "S", 1, _REFERENCE.format("EV")),
        seg("REF", "Version of the adjudication system", "S", 1, _REFERENCE.format("F2")),
        seg("DTM", "Production date", "S", 1, _DATE.format("405")),
        _PAYER,
        _PAYEE,
        _GROUP,
        seg(
            "PLB",
            "Adjustment of the payment",
            "S",
            0,
            f"R R R(R={PROVIDER_ADJUSTMENTS} S) R" + f" S(R={PROVIDER_ADJUSTMENTS} S) S" * 5,
        ),
        seg("SE", "End of the transaction set", "R", 1, "R R"),
    ),
)
