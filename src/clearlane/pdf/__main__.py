"""Make one PDF file in a process of its own: frames on the standard input, the file on the standard output.

    python -m clearlane.pdf 1796200000 < frames > file.pdf

The argument is the time that the file says it was made at, in seconds since 1970. Nothing is written before the
input is complete. A fault is named by its type on the standard error, never with what it was about.
"""

import os
import sys
from typing import BinaryIO

FAULT_STATUS = 3


def main(arguments: list[str], source: BinaryIO, out: BinaryIO) -> int:
    """Make a file and return the exit status."""
    # The PDF library reads the time of a file from here.
    os.environ["SOURCE_DATE_EPOCH"] = str(int(arguments[0]))
    try:
        make_file(source, out)
        out.flush()
    except Exception as fault:  # noqa: BLE001  a message or a traceback might name a patient
        sys.stderr.write(type(fault).__name__)
        return FAULT_STATUS
    return 0


def make_file(source: BinaryIO, out: BinaryIO) -> int:
    """Read frames, write the file that their heading asks for, and return the number of pages."""
    # Imported late: the process must know its time first.
    from clearlane.pdf.benefits_pdf import write_benefits_pdf
    from clearlane.pdf.claim_pdf import PaymentOfClaim, write_claim_pdf
    from clearlane.pdf.filing_pdf import write_filing_pdf
    from clearlane.pdf.form_pdf import write_form_pdf
    from clearlane.pdf.frames import (
        BenefitsFileHeading,
        ClaimFileHeading,
        FilingFileHeading,
        FormFileHeading,
        PaymentFileHeading,
        read_claim_payments,
        read_heading,
    )
    from clearlane.pdf.payment_pdf import write_payment_pdf
    from clearlane.pdf.sheet_pdf import write_sheet_pdf

    heading = read_heading(source)
    claim_payments = read_claim_payments(source)
    if isinstance(heading, PaymentFileHeading):
        return write_payment_pdf(heading.payment, heading.adjustments, claim_payments, out)
    if isinstance(heading, ClaimFileHeading):
        pairs = map(PaymentOfClaim._make, zip(heading.payments, claim_payments, strict=True))
        return write_claim_pdf(list(pairs), out)
    for _ in claim_payments:  # up to the end, which must be there
        raise ValueError("a file of this kind has no claim payments")
    if isinstance(heading, FilingFileHeading):
        return write_filing_pdf(heading, out)
    if isinstance(heading, FormFileHeading):
        return write_form_pdf(heading, out)
    if isinstance(heading, BenefitsFileHeading):
        return write_benefits_pdf(heading, out)
    return write_sheet_pdf(heading, out)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer))
