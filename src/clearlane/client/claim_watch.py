"""Wait for the final status of a claim: the steps of polling it, without I/O."""

from datetime import date, timedelta

from clearlane.client import calls, limits
from clearlane.client.errors import NotFound, StillWaiting
from clearlane.client.models import ClaimStatus
from clearlane.client.protocol import CallProtocol, CallSteps, Pause, to_date

FINAL = frozenset({"Complete", "Rejected"})
"""States after which nothing more is to come by itself."""


def wait_for_claim(
    protocol: CallProtocol, claim_id: str, *, created: date | str | None, seconds: float
) -> CallSteps[ClaimStatus]:
    """Poll until a claim is decided or rejected; by its ``Svc_VendorClaimId`` or its ``RequestId``.

    Statuses are listed by the day a claim was created: ``created``, or the service's today and yesterday.
    """
    clock = protocol.retry.clock
    began, wait = clock(), float(limits.FIRST_POLL_SECONDS)
    last = to_date(created) if created else (yield from protocol.today())
    first = last if created else last - timedelta(days=1)
    status: ClaimStatus | None = None
    while True:
        rows = yield from protocol.perform(calls.status(first, last))
        # An id that was corrected and sent again is in several rows; the newest is the last.
        for row in rows:
            if claim_id in {row.VendorClaimId, row.ClaimNumber}:
                status = row
        if status is not None and status.CurrentState in FINAL:
            return status
        passed = clock() - began
        if status is None and passed >= min(seconds, limits.UNKNOWN_CLAIM_SECONDS_MAX):
            raise NotFound(
                f"No claim with this id was created from {first} to {last}; give its day as created.",
                call="wait_for",
            )
        if passed >= seconds:
            state = status.CurrentState if status else ""
            raise StillWaiting(f"The claim is {state} after {seconds:g} seconds.", status)
        yield Pause(min(wait, seconds - passed))
        wait = min(wait * 2, float(limits.POLL_SECONDS_MAX))
