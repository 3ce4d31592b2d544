"""What an upstream clearinghouse writes when it passes claims on: a 277CA of its own, and a report in words.

It takes every claim of a payer that it serves and refuses others; whether the payer takes them is the payer's answer.
Knows cases; knows no clock.
"""

from datetime import datetime

from msgspec.structs import replace

from clearlane.sandbox.model import Case, File, Profile, Refusal, total
from clearlane.sandbox.responses import status277ca
from clearlane.x12.writer.writer import Envelope

UNKNOWN_PAYER = Refusal(
    category="A3", status="153", entity="PR", message="Payer is not served by this clearinghouse."
)


def acknowledge(profile: Profile, file: File, envelope: Envelope) -> bytes:
    """Return the interchange of the 277CA of receipt."""
    cases = [_relayed(profile, case) for case in file.cases]
    return status277ca.write(profile, file, cases, envelope, status277ca.CLEARINGHOUSE)


def report(profile: Profile, file: File, at: datetime) -> bytes:
    """Return the report in words, a line for each claim."""
    lines = [
        f"{profile.name.upper()}    CLAIM SUBMISSION REPORT    {at:%m/%d/%Y %H:%M}",
        "",
        f"{'PAYER':<8}{'TRACE NUMBER':<22}{'ACCOUNT':<22}{'CHARGE':>12}  STATUS",
    ]
    for case in file.cases:
        claim = case.claim
        taken = "REJECTED" if _relayed(profile, case).refusals else "ACCEPTED BY CLEARINGHOUSE"
        lines.append(
            f"{claim.payer:<8}{claim.number:<22}{claim.account:<22}{claim.charge:>12}  {taken}"
        )
    charged = total(case.claim.charge for case in file.cases)
    lines += ["", f"CLAIMS {len(file.cases)}    TOTAL {charged}", ""]
    return "\r\n".join(lines).encode("ascii", errors="replace")


def _relayed(profile: Profile, case: Case) -> Case:
    known = case.claim.payer in profile.served
    return replace(case, refusals=() if known else (UNKNOWN_PAYER,))
