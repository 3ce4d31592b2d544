"""Segments and their elements as the X12 5010 standard defines them: our names, X12 types and lengths.

One entry per segment, in alphabetical order. How a guide uses them is defined in the guides.
"""

from clearlane.x12.grammar import DictionarySegment, dictionary_segment, make_seg

_MEASURE = (
    "  Unit: ID 2-2\n  Exponent: R 1-15\n  Multiplier: R 1-10\n"  # C001, the composite unit
    "  Second unit: ID 2-2\n  Second exponent: R 1-15\n  Second multiplier: R 1-10\n"
    "  Third unit: ID 2-2\n  Third exponent: R 1-15\n  Third multiplier: R 1-10\n"
    "  Fourth unit: ID 2-2\n  Fourth exponent: R 1-15\n  Fourth multiplier: R 1-10\n"
    "  Fifth unit: ID 2-2\n  Fifth exponent: R 1-15\n  Fifth multiplier: R 1-10\n"
)
_PROCEDURE = """
  Procedure code qualifier: ID 2-2
  Procedure code: AN 1-48
  Modifier: AN 2-2
  Second modifier: AN 2-2
  Third modifier: AN 2-2
  Fourth modifier: AN 2-2
  Description: AN 1-80
  End of a procedure code range: AN 1-48
"""  # C003

DICTIONARY: dict[str, DictionarySegment] = {
    "AAA": dictionary_segment(
        "Refusal of a request",
        """
Request can be processed: ID 1-1
Agency: ID 2-2
Reason of refusal: ID 2-2
What to do next: ID 1-1
""",
    ),
    "AK1": dictionary_segment(
        "Group that is acknowledged",
        """
Functional group: ID 2-2
Group control number: N0 1-9
Version: AN 1-12
""",
    ),
    "AK2": dictionary_segment(
        "Transaction set that is acknowledged",
        """
Transaction set: ID 3-3
Set control number: AN 4-9
Guide: AN 1-35
""",
    ),
    "AK9": dictionary_segment(
        "Verdict on the group",
        """
Verdict: ID 1-1
Sets announced: N0 1-6
Sets received: N0 1-6
Sets accepted: N0 1-6
Group error 1: ID 1-3
Group error 2: ID 1-3
Group error 3: ID 1-3
Group error 4: ID 1-3
Group error 5: ID 1-3
""",
    ),
    "AMT": dictionary_segment(
        "Amount",
        """
What the amount is: ID 1-3
Amount: R 1-18
Credit or debit: ID 1-1
""",
        key=(1, 0),
    ),
    "BHT": dictionary_segment(
        "Beginning of a hierarchical transaction",
        """
Order of the levels: ID 4-4
Purpose: ID 2-2
Reference number: AN 1-50
Date: DT 8-8
Time: TM 4-8
Type of transaction: ID 2-2
""",
    ),
    "BPR": dictionary_segment(
        "Payment order",
        """
Handling: ID 1-2
Amount: R 1-18
Credit or debit: ID 1-1
Payment method: ID 3-3
Payment format: ID 1-10
Sending bank qualifier: ID 2-2
Sending bank: AN 3-12
Sending account qualifier: ID 1-3
Sending account: AN 1-35
Originating company: AN 10-10
Originating company supplement: AN 9-9
Receiving bank qualifier: ID 2-2
Receiving bank: AN 3-12
Receiving account qualifier: ID 1-3
Receiving account: AN 1-35
Payment date: DT 8-8
Business function: ID 1-3
Return bank qualifier: ID 2-2
Return bank: AN 3-12
Return account qualifier: ID 1-3
Return account: AN 1-35
""",
        syntax="P0607 C0809 P1213 C1415 P1819 C2021",
    ),
    "CAS": dictionary_segment(
        "Adjustments of one group",
        "Group: ID 1-2\n" + "Reason: ID 1-5\nAmount: R 1-18\nQuantity: R 1-15\n" * 6,
        syntax="L050607 C0605 C0705 L080910 C0908 C1008 L111213 C1211 C1311 L141516 C1514 C1614"
        " L171819 C1817 C1917",
    ),
    "CL1": dictionary_segment(
        "Institutional claim codes",
        """
Type of admission: ID 1-1
Point of origin: ID 1-1
Patient status: ID 1-2
Nursing home residence: ID 1-1
""",
    ),
    "CLM": dictionary_segment(
        "Claim",
        """
Claim number of the submitter: AN 1-38
Total charge: R 1-18
Claim filing indicator: ID 1-2
Non-institutional claim type: ID 1-2
Place and frequency: C
  Place of service or type of bill: AN 1-2
  Kind of place code: ID 1-2
  Frequency: ID 1-1
Provider signature on file: ID 1-1
Assignment accepted: ID 1-1
Benefits assigned: ID 1-1
Release of information: ID 1-1
Source of the patient's signature: ID 1-1
Related causes: C
  Related cause: ID 2-3
  Second related cause: ID 2-3
  Third related cause: ID 2-3
  State of the accident: ID 2-2
  Country of the accident: ID 2-3
Special program: ID 2-3
Thirteenth answer: ID 1-1
Level of service: ID 1-3
Fifteenth answer: ID 1-1
Provider agreement: ID 1-1
Claim status: ID 1-2
Eighteenth answer: ID 1-1
Reason for submission: ID 2-2
Reason for delay: ID 1-2
""",
    ),
    "CLP": dictionary_segment(
        "Payment of one claim",
        """
Patient account number: AN 1-38
Claim status: ID 1-2
Charged: R 1-18
Paid: R 1-18
Patient responsibility: R 1-18
Claim filing indicator: ID 1-2
Payer claim number: AN 1-50
Facility type: AN 1-2
Claim frequency: ID 1-1
Patient status: ID 1-2
Diagnosis related group: ID 1-4
Group weight: R 1-15
Discharge fraction: R 1-10
Indicator: ID 1-1
""",
    ),
    "CN1": dictionary_segment(
        "Contract",
        """
Type of contract: ID 2-2
Contract amount: R 1-18
Contract percentage: R 1-6
Contract code: AN 1-50
Discount percentage: R 1-6
Contract version: AN 1-30
""",
    ),
    "CR1": dictionary_segment(
        "Ambulance transport",
        """
Unit of weight: ID 2-2
Patient weight: R 1-10
Transport code: ID 1-1
Reason for transport: ID 1-1
Unit of distance: ID 2-2
Distance: R 1-15
Origin address: AN 1-55
Destination address: AN 1-55
Purpose of a round trip: AN 1-80
Purpose of the stretcher: AN 1-80
""",
        syntax="P0102 P0506",
    ),
    "CR2": dictionary_segment(
        "Spinal manipulation",
        """
Treatment number in the series: N0 1-9
Treatments in the series: R 1-15
Level of subluxation: ID 2-3
Second level of subluxation: ID 2-3
Unit of the treatment period: ID 2-2
Treatment period: R 1-15
Treatments in the month: R 1-15
Patient condition: ID 1-1
Complication: ID 1-1
Description of the condition: AN 1-80
More on the condition: AN 1-80
X-ray available: ID 1-1
""",
        syntax="P0102 C0403 P0506",
    ),
    "CR3": dictionary_segment(
        "Certification of durable medical equipment",
        """
Type of certification: ID 1-1
Unit of time: ID 2-2
Months of need: R 1-15
Insulin dependence: ID 1-1
Description: AN 1-80
""",
        syntax="P0203",
    ),
    "CRC": dictionary_segment(
        "Conditions",
        """
Category: ID 2-2
Condition applies: ID 1-1
Condition: ID 2-3
Second condition: ID 2-3
Third condition: ID 2-3
Fourth condition: ID 2-3
Fifth condition: ID 2-3
""",
        key=(1, 0),
    ),
    "CTP": dictionary_segment(
        "Quantity and price",
        """
Class of trade: ID 2-2
Kind of price: ID 3-3
Unit price: R 1-17
Quantity: R 1-15
Unit: C
"""
        + _MEASURE
        + """
Price multiplier qualifier: ID 3-3
Multiplier: R 1-10
Amount: R 1-18
Basis of the unit price: ID 2-2
Condition value: AN 1-10
Multiple price quantity: N0 1-2
""",
        syntax="P0405 C0607 C0902 C1002 C1103",
    ),
    "CTX": dictionary_segment(
        "Context of an error",
        """
Context: C
  Name: AN 1-35
  Value: AN 1-35
Segment: ID 2-3
Segment position: N0 1-10
Loop: AN 1-4
Place in the segment: C
  Element: N0 1-2
  Component: N0 1-2
  Repetition: N0 1-4
Reference in the segment: C
  Data element 1: N0 1-4
  Data element 2: N0 1-4
""",
        key=(1, 1),
    ),
    "CUR": dictionary_segment(
        "Currency",
        """
Entity: ID 2-3
Currency: ID 3-3
Exchange rate: R 4-10
Second entity: ID 2-3
Second currency: ID 3-3
Exchange market: ID 3-3
"""
        + "Date qualifier: ID 3-3\nDate: DT 8-8\nTime: TM 4-8\n" * 5,
        syntax="C0807 C0907 L101112 C1110 C1210 L131415 C1413 C1513 L161718 C1716 C1816"
        " L192021 C2019 C2119",
    ),
    "DMG": dictionary_segment(
        "Birth and sex",
        """
Date format: ID 2-3
Birth date: TP 1-35
Sex: ID 1-1
Marital status: ID 1-1
Race or ethnicity: C
  Race or ethnicity: ID 1-1
  Code list: ID 1-3
  Code: AN 1-30
Citizenship: ID 1-2
Country: ID 2-3
Basis of verification: ID 1-2
Quantity: R 1-15
Code list: ID 1-3
Code: AN 1-30
""",
        syntax="P0102 P1011 C1105",
    ),
    "DN1": dictionary_segment(
        "Orthodontic treatment",
        """
Months of treatment: R 1-15
Months of treatment left: R 1-15
Third answer: ID 1-1
Orthodontic treatment indicator: AN 1-80
""",
    ),
    "DN2": dictionary_segment(
        "Tooth status",
        """
Tooth: AN 1-50
Status of the tooth: ID 1-2
Quantity: R 1-15
Date format: ID 2-3
Date: TP 1-35
Tooth numbering system: ID 1-3
""",
        syntax="P0405",
    ),
    "DTM": dictionary_segment(
        "Day or time",
        """
Kind of date: ID 3-3
Date: DT 8-8
Time: TM 4-8
Time zone: ID 2-2
Form of the period: ID 2-3
Period: TP 1-35
""",
        syntax="R020305 C0403 P0506",
        key=(1, 0),
    ),
    "DTP": dictionary_segment(
        "Date or period",
        """
What the date is: ID 3-3
Date format: ID 2-3
Date: TP 1-35
""",
        key=(1, 0),
    ),
    "EB": dictionary_segment(
        "Eligibility or benefit",
        """
Benefit: ID 1-2
Coverage level: ID 3-3
Service type: ID 1-2
Insurance type: ID 1-3
Plan description: AN 1-50
Time period: ID 1-2
Amount: R 1-18
Percentage as a fraction: R 1-10
Kind of quantity: ID 2-2
Quantity: R 1-15
Authorization needed: ID 1-1
In the plan's network: ID 1-1
Procedure: C
  Qualifier: ID 2-2
  Code: AN 1-48
  Modifier 1: AN 2-2
  Modifier 2: AN 2-2
  Modifier 3: AN 2-2
  Modifier 4: AN 2-2
  Description: AN 1-80
  Code at the end of a range: AN 1-48
Diagnosis pointers: C
  Pointer 1: N0 1-2
  Pointer 2: N0 1-2
  Pointer 3: N0 1-2
  Pointer 4: N0 1-2
""",
        syntax="P0910",
    ),
    "EQ": dictionary_segment(
        "Benefit asked about",
        """
Service type: ID 1-2
Procedure: C
  Qualifier: ID 2-2
  Code: AN 1-48
  Modifier 1: AN 2-2
  Modifier 2: AN 2-2
  Modifier 3: AN 2-2
  Modifier 4: AN 2-2
  Description: AN 1-80
  Code at the end of a range: AN 1-48
Coverage level: ID 3-3
Insurance type: ID 1-3
Diagnosis pointers: C
  Pointer 1: N0 1-2
  Pointer 2: N0 1-2
  Pointer 3: N0 1-2
  Pointer 4: N0 1-2
""",
        syntax="R0102",
    ),
    "FRM": dictionary_segment(
        "Answer on a form",
        """
Question: AN 1-20
Yes or no: ID 1-1
Text answer: AN 1-50
Date answer: DT 8-8
Percentage answer: R 1-6
""",
        syntax="R02030405",
    ),
    "GE": dictionary_segment(
        "End of a functional group",
        """
Number of transaction sets: N0 1-6
Group control number: N0 1-9
""",
    ),
    "GS": dictionary_segment(
        "Start of a functional group",
        """
Functional identifier: ID 2-2
Application sender: AN 2-15
Application receiver: AN 2-15
Date: DT 8-8
Time: TM 4-8
Group control number: N0 1-9
Responsible agency: ID 1-2
Guide version: AN 1-12
""",
    ),
    "HCP": dictionary_segment(
        "Pricing",
        """
Pricing method: ID 2-2
Allowed amount: R 1-18
Savings: R 1-18
Repricing organization: AN 1-50
Per diem or flat rate: R 1-9
Patient group code: AN 1-50
Patient group amount: R 1-18
Revenue code: AN 1-48
Procedure code qualifier: ID 2-2
Procedure code: AN 1-48
Unit: ID 2-2
Quantity: R 1-15
Reason for rejection: ID 2-2
Policy compliance: ID 1-2
Exception: ID 1-2
""",
        syntax="R0113 P0910 P1112",
    ),
    "HI": dictionary_segment(
        "Diagnosis, procedure and other health care codes",
        """
Health care code: C
  Code list: ID 1-3
  Code: AN 1-30
  Date format: ID 2-3
  Date: TP 1-35
  Amount: R 1-18
  Quantity: R 1-15
  Version: AN 1-30
  End of a code range: AN 1-30
  Present on admission: ID 1-1
"""
        * 12,
        key=(1, 1),
    ),
    "HL": dictionary_segment(
        "Level of the hierarchy",
        """
Number of this level: AN 1-12
Number of the level above: AN 1-12
Kind of level: ID 1-2
Levels below: ID 1-1
""",
        key=(3, 0),
    ),
    "HSD": dictionary_segment(
        "How often a service may be given",
        """
Kind of quantity: ID 2-2
Quantity: R 1-15
Unit: ID 2-2
Every how many units: R 1-6
Time period: ID 1-2
Number of periods: N0 1-3
Calendar pattern: ID 1-2
Time of day: ID 1-1
""",
        syntax="P0102 C0605",
    ),
    "IEA": dictionary_segment(
        "End of an interchange",
        """
Number of groups: N0 1-5
Interchange control number: N0 9-9
""",
    ),
    "III": dictionary_segment(
        "Additional information",
        """
Code list: ID 1-3
Code: AN 1-30
Category: ID 2-2
Text: AN 1-264
Quantity: R 1-15
Unit of measure: C
  Unit 1: ID 2-2
  Exponent 1: R 1-15
  Multiplier 1: R 1-10
  Unit 2: ID 2-2
  Exponent 2: R 1-15
  Multiplier 2: R 1-10
  Unit 3: ID 2-2
  Exponent 3: R 1-15
  Multiplier 3: R 1-10
  Unit 4: ID 2-2
  Exponent 4: R 1-15
  Multiplier 4: R 1-10
  Unit 5: ID 2-2
  Exponent 5: R 1-15
  Multiplier 5: R 1-10
Surface 1: ID 2-2
Surface 2: ID 2-2
Surface 3: ID 2-2
""",
        syntax="P0102 L030405",
    ),
    "IK3": dictionary_segment(
        "Segment in error",
        """
Segment: ID 2-3
Segment position: N0 1-10
Loop: AN 1-4
Segment error: ID 1-3
""",
    ),
    "IK4": dictionary_segment(
        "Element in error",
        """
Place in the segment: C
  Element: N0 1-2
  Component: N0 1-2
  Repetition: N0 1-4
Data element: N0 1-4
Element error: ID 1-3
Copy of the bad value: AN 1-99
""",
    ),
    "IK5": dictionary_segment(
        "Verdict on the set",
        """
Verdict: ID 1-1
Set error 1: ID 1-3
Set error 2: ID 1-3
Set error 3: ID 1-3
Set error 4: ID 1-3
Set error 5: ID 1-3
""",
    ),
    "INS": dictionary_segment(
        "Insured person",
        """
Is the subscriber: ID 1-1
Relationship: ID 2-2
Maintenance type: ID 3-3
Maintenance reason: ID 2-3
Benefit status: ID 1-1
Medicare status: C
  Medicare plan: ID 1-1
  Eligibility reason 1: ID 1-1
  Eligibility reason 2: ID 1-1
Continuation event: ID 1-2
Employment status: ID 2-2
Student status: ID 1-1
Handicapped: ID 1-1
Form of the date: ID 2-3
Date of death: TP 1-35
Confidentiality: ID 1-1
City: AN 2-30
State: ID 2-2
Country: ID 2-3
Birth sequence: N0 1-9
""",
        syntax="P1112",
    ),
    "ISA": dictionary_segment(
        "Start of an interchange",
        """
Authorization qualifier: ID 2-2
Authorization information: AN 10-10
Security qualifier: ID 2-2
Security information: AN 10-10
Sender qualifier: ID 2-2
Sender: AN 15-15
Receiver qualifier: ID 2-2
Receiver: AN 15-15
Date: DT 6-6
Time: TM 4-4
Repetition separator: AN 1-1
Control version: ID 5-5
Interchange control number: N0 9-9
Acknowledgement requested: ID 1-1
Usage: ID 1-1
Component separator: AN 1-1
""",
    ),
    "K3": dictionary_segment(
        "Fixed-format information",
        """
Fixed-format text: AN 1-80
Record format: ID 1-2
Unit: C
"""
        + _MEASURE,
    ),
    "LE": dictionary_segment(
        "End of a marked loop",
        """
Loop: AN 1-4
""",
    ),
    "LIN": dictionary_segment(
        "Item",
        "Line number: AN 1-20\n" + "Item code qualifier: ID 2-2\nItem code: AN 1-48\n" * 15,
        syntax="P0405 P0607 P0809 P1011 P1213 P1415 P1617 P1819 P2021 P2223 P2425 P2627 P2829 P3031",
    ),
    "LQ": dictionary_segment(
        "Code of a named list",
        """
Code list: ID 1-3
Code: AN 1-30
""",
        syntax="C0102",
    ),
    "LS": dictionary_segment(
        "Start of a marked loop",
        """
Loop: AN 1-4
""",
    ),
    "LX": dictionary_segment(
        "Line number",
        """
Number: N0 1-6
""",
    ),
    "MEA": dictionary_segment(
        "Measurement",
        """
What was measured: ID 2-2
Kind of measurement: ID 1-3
Measured value: R 1-20
Unit: C
"""
        + _MEASURE
        + """
Lowest value: R 1-20
Highest value: R 1-20
Significance: ID 2-2
Attribute: ID 2-2
Position: ID 2-2
Method or device: ID 2-4
Code list: ID 1-3
Code: AN 1-30
""",
        syntax="R03050608 L050412 L060412 L07030506 E0803 P1112",
    ),
    "MIA": dictionary_segment(
        "Inpatient adjudication",
        """
Covered days: R 1-15
Operating outlier amount: R 1-18
Lifetime psychiatric days: R 1-15
DRG amount: R 1-18
Remark: AN 1-50
Disproportionate share amount: R 1-18
Pass-through amount: R 1-18
Capital amount: R 1-18
Capital federal amount: R 1-18
Capital hospital amount: R 1-18
Capital disproportionate share amount: R 1-18
Old capital amount: R 1-18
Capital medical education amount: R 1-18
Hospital-specific DRG amount: R 1-18
Cost report days: R 1-15
Federal DRG amount: R 1-18
Capital outlier amount: R 1-18
Indirect teaching amount: R 1-18
Professional component not payable: R 1-18
Second remark: AN 1-50
Third remark: AN 1-50
Fourth remark: AN 1-50
Fifth remark: AN 1-50
Capital exception amount: R 1-18
""",
    ),
    "MOA": dictionary_segment(
        "Outpatient adjudication",
        """
Reimbursement rate: R 1-10
HCPCS payable amount: R 1-18
Remark: AN 1-50
Second remark: AN 1-50
Third remark: AN 1-50
Fourth remark: AN 1-50
Fifth remark: AN 1-50
End-stage renal disease amount: R 1-18
Professional component not payable: R 1-18
""",
    ),
    "MPI": dictionary_segment(
        "Military service",
        """
Information status: ID 1-1
Employment status: ID 2-2
Branch of service: ID 1-1
Description: AN 1-80
Rank: ID 2-2
Form of the date: ID 2-3
Date: TP 1-35
""",
        syntax="P0607",
    ),
    "MSG": dictionary_segment(
        "Message",
        """
Text: AN 1-264
Printer control: ID 2-2
Number: N0 1-9
""",
        syntax="C0302",
    ),
    "N1": dictionary_segment(
        "Name of a party",
        """
Party: ID 2-3
Name: AN 1-60
Identifier qualifier: ID 1-2
Identifier: AN 2-80
Relationship between parties: ID 2-2
Second party: ID 2-3
""",
        syntax="R0203 P0304",
        key=(1, 0),
    ),
    "N3": dictionary_segment(
        "Street address",
        """
Address line: AN 1-55
Second address line: AN 1-55
""",
    ),
    "N4": dictionary_segment(
        "City, state, ZIP code",
        """
City: AN 2-30
State or province: ID 2-2
Postal code: ID 3-15
Country: ID 2-3
Location qualifier: ID 1-2
Location: AN 1-30
Country subdivision: ID 1-3
""",
        syntax="E0207 C0605 C0704",
    ),
    "NM1": dictionary_segment(
        "Name of a person or organization",
        """
Entity: ID 2-3
Person or organization: ID 1-1
Last name or organization name: AN 1-60
First name: AN 1-35
Middle name: AN 1-25
Name prefix: AN 1-10
Name suffix: AN 1-10
Identifier qualifier: ID 1-2
Identifier: AN 2-80
Relationship between entities: ID 2-2
Second entity: ID 2-3
Second name: AN 1-60
""",
        syntax="P0809 C1110 C1203",
        key=(1, 0),
    ),
    "NTE": dictionary_segment(
        "Note",
        """
Kind of note: ID 3-3
Text: AN 1-80
""",
        key=(1, 0),
    ),
    "OI": dictionary_segment(
        "Other insurance coverage",
        """
Claim filing indicator: ID 1-2
Reason for submission: ID 2-2
Benefits assigned: ID 1-1
Source of the patient's signature: ID 1-1
Provider agreement: ID 1-1
Release of information: ID 1-1
""",
    ),
    "PAT": dictionary_segment(
        "Patient",
        """
Relationship to the subscriber: ID 2-2
Patient location: ID 1-1
Employment status: ID 2-2
Student status: ID 1-1
Date format: ID 2-3
Date of death: TP 1-35
Unit of weight: ID 2-2
Patient weight: R 1-10
Pregnant: ID 1-1
""",
        syntax="P0506 P0708",
    ),
    "PER": dictionary_segment(
        "Contact",
        """
Function of the contact: ID 2-2
Contact name: AN 1-60
Kind of contact number: ID 2-2
Contact number: AN 1-256
Second kind of contact number: ID 2-2
Second contact number: AN 1-256
Third kind of contact number: ID 2-2
Third contact number: AN 1-256
Contact reference: AN 1-20
""",
        syntax="P0304 P0506 P0708",
    ),
    "PLB": dictionary_segment(
        "Adjustment of the payment",
        """
Provider: AN 1-50
Fiscal period end: DT 8-8
Adjustment 1: C
  Reason: ID 2-2
  Reference: AN 1-50
Amount 1: R 1-18
Adjustment 2: C
  Reason: ID 2-2
  Reference: AN 1-50
Amount 2: R 1-18
Adjustment 3: C
  Reason: ID 2-2
  Reference: AN 1-50
Amount 3: R 1-18
Adjustment 4: C
  Reason: ID 2-2
  Reference: AN 1-50
Amount 4: R 1-18
Adjustment 5: C
  Reason: ID 2-2
  Reference: AN 1-50
Amount 5: R 1-18
Adjustment 6: C
  Reason: ID 2-2
  Reference: AN 1-50
Amount 6: R 1-18
""",
        syntax="P0506 P0708 P0910 P1112 P1314",
    ),
    "PRV": dictionary_segment(
        "Provider specialty",
        """
Role of the provider: ID 1-3
Specialty code qualifier: ID 2-3
Specialty code: AN 1-50
State or province: ID 2-2
Specialty: C
  Specialty: AN 1-3
  Agency qualifier: ID 2-2
  Certified: ID 1-1
Provider organization: ID 3-3
""",
        syntax="P0203",
    ),
    "PS1": dictionary_segment(
        "Purchased service",
        """
Provider of the purchased service: AN 1-50
Purchased service charge: R 1-18
State or province: ID 2-2
""",
    ),
    "PWK": dictionary_segment(
        "Attachment",
        """
Kind of report: ID 2-2
How the report travels: ID 1-2
Copies needed: N0 1-2
Entity: ID 2-3
Control number qualifier: ID 1-2
Attachment control number: AN 2-80
Description: AN 1-80
Actions: C
  Action: ID 1-2
  Second action: ID 1-2
  Third action: ID 1-2
  Fourth action: ID 1-2
  Fifth action: ID 1-2
Request category: ID 1-2
""",
        syntax="P0506",
    ),
    "QTY": dictionary_segment(
        "Quantity",
        """
What is counted: ID 2-2
Quantity: R 1-15
Unit: C
"""
        + _MEASURE
        + """
Free text: AN 1-30
""",
        syntax="R0204 E0204",
        key=(1, 0),
    ),
    "RDM": dictionary_segment(
        "How the advice is delivered",
        """
Delivery method: ID 1-2
Name: AN 1-60
Address or number: AN 1-256
First reference: C
  Qualifier 1: ID 2-3
  Reference 1: AN 1-50
  Qualifier 2: ID 2-3
  Reference 2: AN 1-50
  Qualifier 3: ID 2-3
  Reference 3: AN 1-50
Second reference: C
  Qualifier 1: ID 2-3
  Reference 1: AN 1-50
  Qualifier 2: ID 2-3
  Reference 2: AN 1-50
  Qualifier 3: ID 2-3
  Reference 3: AN 1-50
""",
    ),
    "REF": dictionary_segment(
        "Reference number",
        """
What the number is: ID 2-3
Number: AN 1-50
Description: AN 1-80
Second reference: C
  What the second number is: ID 2-3
  Second number: AN 1-50
  What the third number is: ID 2-3
  Third number: AN 1-50
  What the fourth number is: ID 2-3
  Fourth number: AN 1-50
""",
        syntax="R0203",
        key=(1, 0),
    ),
    "SBR": dictionary_segment(
        "Subscriber and coverage",
        """
Payer's place in the order of payment: ID 1-1
Relationship to the subscriber: ID 2-2
Group or policy number: AN 1-50
Group name: AN 1-60
Type of insurance: ID 1-3
Coordination of benefits: ID 1-1
Seventh answer: ID 1-1
Employment status: ID 2-2
Claim filing indicator: ID 1-2
""",
    ),
    "SE": dictionary_segment(
        "End of a transaction set",
        """
Number of segments: N0 1-10
Set control number: AN 4-9
""",
    ),
    "ST": dictionary_segment(
        "Start of a transaction set",
        """
Transaction set: ID 3-3
Set control number: AN 4-9
Guide version: AN 1-35
""",
    ),
    "STC": dictionary_segment(
        "Status of a claim or line",
        """
Status 1: C
  Category: AN 1-30
  Status: AN 1-30
  Entity: ID 2-3
  Code list: ID 1-3
Status date: DT 8-8
Action: ID 1-2
Charged: R 1-18
Paid: R 1-18
Decision date: DT 8-8
Payment method: ID 3-3
Payment date: DT 8-8
Check number: AN 1-16
Status 2: C
  Category: AN 1-30
  Status: AN 1-30
  Entity: ID 2-3
  Code list: ID 1-3
Status 3: C
  Category: AN 1-30
  Status: AN 1-30
  Entity: ID 2-3
  Code list: ID 1-3
Message: AN 1-264
""",
    ),
    "SV1": dictionary_segment(
        "Professional service",
        """
Procedure: C
"""
        + _PROCEDURE
        + """
Charge: R 1-18
Unit: ID 2-2
Units or minutes: R 1-15
Place of service: AN 1-2
Type of service: ID 1-2
Diagnosis pointers: C
  Diagnosis pointer: N0 1-2
  Second diagnosis pointer: N0 1-2
  Third diagnosis pointer: N0 1-2
  Fourth diagnosis pointer: N0 1-2
Amount: R 1-18
Emergency: ID 1-1
Multiple procedures: ID 1-2
EPSDT service: ID 1-1
Family planning service: ID 1-1
Review: ID 1-2
Local review value: AN 1-2
Copay exempt: ID 1-1
Shortage area: ID 1-1
Reference number: AN 1-50
Postal code: ID 3-15
Second amount: R 1-18
Level of care: ID 1-1
Provider agreement: ID 1-1
""",
        syntax="P0304",
    ),
    "SV2": dictionary_segment(
        "Institutional service",
        """
Revenue code: AN 1-48
Procedure: C
"""
        + _PROCEDURE
        + """
Charge: R 1-18
Unit: ID 2-2
Units or days: R 1-15
Unit rate: R 1-10
Non-covered charge: R 1-18
Eighth answer: ID 1-1
Nursing home residence: ID 1-1
Level of care: ID 1-1
""",
        syntax="R0102 P0405",
    ),
    "SV3": dictionary_segment(
        "Dental service",
        """
Procedure: C
"""
        + _PROCEDURE
        + """
Charge: R 1-18
Place of service: AN 1-2
Areas of the oral cavity: C
  Area of the oral cavity: ID 1-3
  Second area: ID 1-3
  Third area: ID 1-3
  Fourth area: ID 1-3
  Fifth area: ID 1-3
Prosthesis, crown or inlay: ID 1-1
Number of times: R 1-15
Description: AN 1-80
Copay exempt: ID 1-1
Provider agreement: ID 1-1
Tenth answer: ID 1-1
Diagnosis pointers: C
  Diagnosis pointer: N0 1-2
  Second diagnosis pointer: N0 1-2
  Third diagnosis pointer: N0 1-2
  Fourth diagnosis pointer: N0 1-2
""",
    ),
    "SV5": dictionary_segment(
        "Durable medical equipment",
        """
Procedure: C
"""
        + _PROCEDURE
        + """
Unit: ID 2-2
Length of need: R 1-15
Rental price: R 1-18
Purchase price: R 1-18
Rental period: ID 1-1
Prognosis: ID 1-1
""",
        syntax="R0405 C0604",
    ),
    "SVC": dictionary_segment(
        "Service line",
        """
Procedure: C
  Qualifier: ID 2-2
  Code: AN 1-48
  Modifier 1: AN 2-2
  Modifier 2: AN 2-2
  Modifier 3: AN 2-2
  Modifier 4: AN 2-2
  Description: AN 1-80
  Code at the end of a range: AN 1-48
Charged: R 1-18
Paid: R 1-18
Revenue code: AN 1-48
Units paid: R 1-15
Procedure as charged: C
  Qualifier: ID 2-2
  Code: AN 1-48
  Modifier 1: AN 2-2
  Modifier 2: AN 2-2
  Modifier 3: AN 2-2
  Modifier 4: AN 2-2
  Description: AN 1-80
  Code at the end of a range: AN 1-48
Units charged: R 1-15
""",
    ),
    "SVD": dictionary_segment(
        "Line as another payer decided it",
        """
Payer: AN 2-80
Paid amount: R 1-18
Procedure paid for: C
"""
        + _PROCEDURE
        + """
Revenue code: AN 1-48
Units paid for: R 1-15
Line it was bundled into: N0 1-6
""",
    ),
    "TA1": dictionary_segment(
        "Acknowledgement of an interchange",
        """
Interchange control number: N0 9-9
Date: DT 6-6
Time: TM 4-4
Acknowledgement: ID 1-1
Note: ID 3-3
""",
    ),
    "TOO": dictionary_segment(
        "Tooth",
        """
Tooth numbering system: ID 1-3
Tooth: AN 1-30
Surfaces: C
  Surface: ID 1-2
  Second surface: ID 1-2
  Third surface: ID 1-2
  Fourth surface: ID 1-2
  Fifth surface: ID 1-2
""",
        syntax="P0102",
    ),
    "TRN": dictionary_segment(
        "Trace number",
        """
Kind of trace: ID 1-2
Trace number: AN 1-50
Originating company: AN 10-10
Supplement: AN 1-50
""",
    ),
    "TS2": dictionary_segment(
        "Further sums of one provider",
        """
DRG amount: R 1-18
Federal specific amount: R 1-18
Hospital specific amount: R 1-18
Disproportionate share amount: R 1-18
Capital amount: R 1-18
Indirect medical education amount: R 1-18
Outlier days: R 1-15
Day outlier amount: R 1-18
Cost outlier amount: R 1-18
Average DRG length of stay: R 1-15
Discharges: R 1-15
Cost report days: R 1-15
Covered days: R 1-15
Non-covered days: R 1-15
Medicare secondary pass-through amount: R 1-18
Average DRG weight: R 1-15
PPS capital federal DRG amount: R 1-18
PPS capital hospital DRG amount: R 1-18
PPS disproportionate share DRG amount: R 1-18
""",
    ),
    "TS3": dictionary_segment(
        "Sums of one provider",
        """
Provider: AN 1-50
Facility type: AN 1-2
Fiscal period end: DT 8-8
Claims: R 1-15
Charged: R 1-18
Covered charges: R 1-18
Non-covered charges: R 1-18
Denied charges: R 1-18
Provider payment: R 1-18
Interest: R 1-18
Contractual adjustment: R 1-18
Gramm-Rudman reduction: R 1-18
Medicare secondary payer amount: R 1-18
Blood deductible: R 1-18
Non-laboratory charges: R 1-18
Coinsurance: R 1-18
HCPCS reported charges: R 1-18
HCPCS payable amount: R 1-18
Deductible: R 1-18
Professional component: R 1-18
Medicare secondary patient liability met: R 1-18
Patient reimbursement: R 1-18
Periodic interim payment claims: R 1-15
Periodic interim payment adjustment: R 1-18
""",
    ),
}

seg = make_seg(DICTIONARY)
