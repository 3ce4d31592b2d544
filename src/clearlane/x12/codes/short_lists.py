"""Meanings of short code lists that the guides define themselves, by place: ``CLM05-2``, ``PER03``.

Lists a code only if it means the same in every guide that is known here. They explain, and decide nothing: which codes are
allowed where is in the guides. Knows no guide.
"""

from clearlane.x12.codes.element_lists import parse_place

_YES = "Y Yes; N No"
_RELEASE = "I Informed consent to release, by law; Y Signed statement on file"
_FORMS = "D8 A day; RD8 A period of days; DT A day and time; TM A time"
_IDENTIFIERS = (
    "24 Employer number; 34 Social security number; 46 Electronic transmitter number; AD Blue Cross and Blue Shield plan"
    " code; FA Facility number; FI Federal tax number; II Standard unique health number; MI Member number; MR Medicaid"
    " recipient number; NI NAIC company number; PI Payer number; PP Pharmacy processor number; SV Service provider number;"
    " XV National plan number; XX National provider identifier"
)
_ROUTING = "01 ABA routing number; 04 Canadian bank branch and institution"
_ACCOUNTS = "DA Demand deposit account; SG Savings account"
_CONTACTS = (
    "AP Other telephone; ED EDI access number; EM E-mail; EX Extension; FX Fax; HP Home telephone; TE Telephone; UR Web"
    " address; WP Work telephone"
)
_PROCEDURES = (
    "AD Dental procedure (CDT); ER Procedure of a jurisdiction; HC Procedure (CPT or HCPCS); HP HIPPS rate code; IV Home"
    " infusion product (HIEC); N4 National drug code; NU Revenue code; WK Alternative medicine code (ABC)"
)
_UNITS = (
    "DA Days; F2 International units; GR Grams; ME Milligrams; MJ Minutes; ML Milliliters; UN Units"
)
_TEETH = "JP Universal tooth numbering"
_PARTNERS = (
    "01 DUNS number; 14 DUNS number with suffix; 20 Health industry number; 27 Carrier number of CMS; 28 Fiscal"
    " intermediary number of CMS; 29 Medicare provider number; 30 Federal tax number; 33 NAIC company code; ZZ Mutually"
    " defined"
)
_DATES = (
    "009 Processed; 011 Shipped; 036 Expiration; 050 Received; 090 Care assumed; 091 Care relinquished; 096 Discharge;"
    " 102 Issued; 139 Estimated; 150 Service period begins; 151 Service period ends; 152 Effective date of change;"
    " 193 Period begins; 194 Period ends; 198 Completion; 232 Claim period begins; 233 Claim period ends;"
    " 290 Coordination of benefits; 291 Plan; 292 Benefit; 295 Primary care provider; 296 Return to work; 297 Last day"
    " worked; 304 Latest visit; 307 Eligibility; 314 Disability; 318 Added; 340 COBRA begins; 341 COBRA ends;"
    " 343 Premium paid to; 346 Plan begins; 347 Plan ends; 348 Benefit begins; 349 Benefit ends; 356 Eligibility begins;"
    " 357 Eligibility ends; 360 Disability begins; 361 Disability ends; 405 Production; 431 Onset of illness;"
    " 434 Statement; 435 Admission; 439 Accident; 441 Prior placement; 442 Death; 444 First visit; 446 Replacement;"
    " 452 Appliance placement; 453 Acute manifestation; 454 Initial treatment; 455 Last X-ray; 461 Last certification;"
    " 463 Therapy begins; 471 Prescription; 472 Service; 484 Last menstrual period; 573 Claim paid; 607 Certification"
    " revision; 738 Latest hemoglobin or hematocrit; 739 Latest serum creatinine"
)
_REFERENCES = (
    "0B State license number; 18 Plan number; 1A Blue Cross provider number; 1B Blue Shield provider number; 1C Medicare"
    " provider number; 1D Medicaid provider number; 1G UPIN; 1H CHAMPUS number; 1J Facility number; 1K Payer's claim"
    " number; 1L Group or policy number; 1W Member number; 28 Employee number; 2U Payer number; 3H Case number; 49 Family"
    " unit number; 4N Special payment reference; 6P Group number; 6R Line control number; 9A Repriced claim number;"
    " 9B Repriced line number; 9C Adjusted repriced claim number; 9D Adjusted repriced line number; 9F Referral number;"
    " APC Ambulatory payment classification; BB Authorization number; BLT Type of bill; BT Batch number; CE Class of"
    " contract; CT Contract number; D3 Pharmacy number (NCPDP); D9 Clearinghouse trace number; EA Medical record number;"
    " EI Employer number; EJ Patient account number; EO Submitter number; EV Receiver number; EW Mammography"
    " certification; F2 Version; F5 Medicare section 4081; F6 Medicare beneficiary number; F8 Original claim number of"
    " the payer; FJ Line item number; FY Claim office number; G1 Prior authorization; G2 Provider number of the payer;"
    " G3 Predetermination number; HPI National provider identifier; IG Policy number; LU Location number; LX"
    " Investigational device number; N6 Plan network number; NF NAIC code; NQ Medicaid recipient number; P4 Project code;"
    " PQ Payee number; PXC Taxonomy code; Q4 Prior identifier; RB Rate code; SY Social security number; T4 Signal code;"
    " TJ Federal tax number; VY Link sequence number; X4 CLIA number; XZ Prescription number; Y4 Agency claim number"
)
_HEALTH_CARE_CODES = (
    "ABF Diagnosis (ICD-10); ABJ Admitting diagnosis (ICD-10); ABK Principal diagnosis (ICD-10); ABN External cause"
    " (ICD-10); APR Reason for the visit (ICD-10); BBQ Other procedure (ICD-10); BBR Principal procedure (ICD-10); BE Value"
    " code; BF Diagnosis (ICD-9); BG Condition code; BH Occurrence code; BI Occurrence span code; BJ Admitting diagnosis"
    " (ICD-9); BK Principal diagnosis (ICD-9); BN External cause (ICD-9); BO Other anesthesia procedure; BP Principal"
    " anesthesia procedure; BQ Other procedure (ICD-9); BR Principal procedure (ICD-9); DR Diagnosis related group; PR"
    " Reason for the visit (ICD-9); TC Treatment code; TQ Dental diagnosis (SNODENT)"
)
_SURFACES = "B Buccal; D Distal; F Facial; I Incisal; L Lingual; M Mesial; O Occlusal"

# By places (several in one key, separated by blanks): the codes and their meanings.
_ROWS: dict[str, str] = {
    "AAA01 CLM06 CRC02 EB11 EB12 INS01": _YES,
    "BHT01": (
        "0010 Source, receiver, provider, subscriber, dependent; 0019 Provider, subscriber, patient; 0022 Payer, provider,"
        " subscriber, dependent; 0085 Source, receiver, provider, patient"
    ),
    "BHT02": (
        "00 Original; 01 Cancellation; 06 Confirmation; 08 Status; 11 Response; 13 Request; 18 Reissue"
    ),
    "BHT06": (
        "31 Subrogation demand; CH Claims; DG Response; RP Encounters; RT Spend-down; TH Receipt acknowledgement"
    ),
    "BPR01": (
        "C Payment comes with the advice; H Notification only; I Advice only; P Prenotification of a transfer; U Split"
        " payment and advice; X Payment and advice as the handling party decides"
    ),
    "BPR03": "C Credit; D Debit",
    "BPR05": "CCP CCD+; CTX Corporate trade exchange",
    "BPR06 BPR12": _ROUTING,
    "BPR08 BPR14": _ACCOUNTS,
    "CLM05-2": "A Type of bill; B Place of service",
    "CLM07": "A Assigned; B Accepted for clinical laboratory services only; C Not assigned",
    "CLM08 OI03": f"{_YES}; W Not applicable",
    "CLM09 OI06": _RELEASE,
    "CTP05-1": _UNITS,
    "DMG01 DTP02": _FORMS,
    "DMG03": "F Female; M Male; U Unknown",
    "DN202": "E To be extracted; M Missing",
    "DN206 TOO01": _TEETH,
    "DTM01 DTP01": _DATES,
    "GS01": (
        "FA Acknowledgements; HB Eligibility responses; HC Claims; HN Claim statuses; HP Payments; HR Claim status requests;"
        " HS Eligibility inquiries"
    ),
    "GS07": "X Accredited standards committee X12",
    " ".join(f"HI{at:02}-1" for at in range(1, 13)): _HEALTH_CARE_CODES,
    "HL03": (
        "19 Provider of service; 20 Information source; 21 Information receiver; 22 Subscriber; 23 Dependent; PT Patient"
    ),
    "HL04": "0 No level below; 1 A level below follows",
    "HSD03": "DA Days; MO Months; VS Visits; WK Weeks; YR Years",
    "ISA01": "00 No authorization information; 03 Additional data",
    "ISA03": "00 No security information; 01 Password",
    "ISA05 ISA07": _PARTNERS,
    "ISA14": "0 No acknowledgement requested; 1 Acknowledgement requested",
    "ISA15": "P Production; T Test",
    "LIN02": "N4 National drug code",
    "LQ01": "HE Remark code; RX Reject code (NCPDP)",
    "N103 NM108": _IDENTIFIERS,
    "NM102": "1 Person; 2 Organization",
    "NTE01": (
        "ADD Additional information; ALG Allergies; CER Certification; DCP Goals, rehabilitation or discharge plans; DGN"
        " Diagnosis; TPO Notes of a third party"
    ),
    "PER01": "BL Technical department; CX Payer's claim office; IC Information contact",
    "PER03 PER05 PER07": _CONTACTS,
    "PRV01": (
        "AD Admitting; AS Assistant surgeon; AT Attending; BI Billing; CO Consulting; CV Covering; H Hospital; HH Home"
        " health care; LA Laboratory; OP Operating; OR Ordering; OT Other; P1 Pharmacist; P2 Pharmacy; PC Primary care"
        " physician; PE Performing; R Rural health clinic; RF Referring; SB Submitting; SK Skilled nursing facility; SU"
        " Supervising"
    ),
    "PRV02": "PXC Taxonomy code",
    "PWK02": (
        "AA Available on request at the provider; BM By mail; EL Electronically; EM By e-mail; FT By file transfer; FX By"
        " fax"
    ),
    "PWK05": "AC Attachment control number",
    "REF01 REF04-1": _REFERENCES,
    "SBR01": (
        "P Primary; S Secondary; T Tertiary; A Fourth; B Fifth; C Sixth; D Seventh; E Eighth; F Ninth; G Tenth; H Eleventh;"
        " U Unknown"
    ),
    "STC03": "U Reject; WQ Accept",
    "SV103 SV204 HCP11": _UNITS,
    "SV101-1 SV202-1 SV301-1 SVC01-1 SVC06-1 SVD03-1 EB13-1 EQ02-1": _PROCEDURES,
    "SV305": "I Initial placement; R Replacement",
    "TOO03-1 TOO03-2 TOO03-3 TOO03-4 TOO03-5": _SURFACES,
    "TRN01": "1 Trace number of this transaction; 2 Trace number of the transaction answered",
}


def _meanings(text: str) -> dict[str, str]:
    """Parse ``Y Yes; N No`` into codes and meanings."""
    pairs = (pair.strip().partition(" ") for pair in text.split(";"))
    return {code: words for code, _, words in pairs}


SHORT_LISTS: dict[tuple[str, int, int], dict[str, str]] = {
    parse_place(place): _meanings(text)
    for places, text in _ROWS.items()
    for place in places.split()
}
