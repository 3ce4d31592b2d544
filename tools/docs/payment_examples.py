"""Payments to practice with: claims to send together, and the payments that come back, computed by hand.

The table is documentation, and a test holds the simulated payer to it. Amounts are written out, not computed: that
would only show that a program agrees with itself. Knows no scenario, no file and no clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExampleClaim:
    """A claim to send: the insured's id that selects what happens, and the charges of its lines."""

    insured_id: str
    charges: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplePayment:
    """A payment that comes back, some days after the claims."""

    day: int
    amount: str
    claims_paid: str
    claims: str
    """What each claim is paid, in words for people."""
    adjustments: tuple[tuple[str, str], ...] = ()
    """PLB reasons, and their effect on the payment: minus takes away."""
    difference: str = "0.00"
    """Amount less claims and adjustments."""
    is_duplicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentExample:
    """Claims of one billing provider that go out in one file, and their payments."""

    title: str
    claims: tuple[ExampleClaim, ...]
    payments: tuple[ExamplePayment, ...]
    note: str = ""


_THREE_LINES = ("100.00", "80.00", "60.00")

PAYMENT_EXAMPLES: tuple[PaymentExample, ...] = (
    PaymentExample(
        title="Many claims, an overpayment recovered, interest, a balance from before",
        claims=(
            ExampleClaim("3001", _THREE_LINES),
            ExampleClaim("3002", _THREE_LINES),
            ExampleClaim("3019", ("100.00",)),
            ExampleClaim("3020", ("200.00",)),
            ExampleClaim("3021", ("90.00",)),
        ),
        payments=(
            ExamplePayment(
                day=14,
                amount="675.60",
                claims_paid="743.60",
                claims="`3001` 240.00; `3002` 113.60, the patient owes 78.40, 48.00 is written off; `3019` 100.00; `3020` 200.00; `3021` 90.00",
                adjustments=(("WO", "-40.00"), ("L6", "2.00"), ("FB", "-30.00")),
            ),
        ),
    ),
    PaymentExample(
        title="A denied and a partly paid claim in one check",
        claims=(ExampleClaim("3018", ("100.00",)), ExampleClaim("3014", ("100.00", "80.00"))),
        payments=(
            ExamplePayment(
                day=14,
                amount="100.00",
                claims_paid="100.00",
                claims="`3018` 0.00, denied (CO-197); `3014` 100.00, its second line denied (CO-50 80.00)",
            ),
        ),
    ),
    PaymentExample(
        title="Reversal and correction in one file",
        claims=(ExampleClaim("3008", _THREE_LINES),),
        payments=(
            ExamplePayment(day=14, amount="240.00", claims_paid="240.00", claims="240.00"),
            ExamplePayment(
                day=28,
                amount="0.00",
                claims_paid="-60.00",
                claims="-240.00 taken back, 180.00 paid again",
                adjustments=(("FB", "60.00"),),
            ),
        ),
        note="The correction is in force: 180.00 paid, 60.00 written off. The provider owes the payer 60.00, which lowers the next payment.",
    ),
    PaymentExample(
        title="Reversal and correction in two files",
        claims=(ExampleClaim("3022", _THREE_LINES),),
        payments=(
            ExamplePayment(day=14, amount="240.00", claims_paid="240.00", claims="240.00"),
            ExamplePayment(
                day=28,
                amount="0.00",
                claims_paid="-240.00",
                claims="-240.00 taken back",
                adjustments=(("FB", "240.00"),),
            ),
            ExamplePayment(
                day=29,
                amount="0.00",
                claims_paid="180.00",
                claims="180.00 paid again",
                adjustments=(("FB", "-180.00"),),
            ),
        ),
        note="Between day 28 and day 29 the claim is taken back. The correction is then in force, as above; 60.00 are left to be withheld.",
    ),
    PaymentExample(
        title="A check that does not balance",
        claims=(ExampleClaim("3023", ("100.00",)),),
        payments=(
            ExamplePayment(
                day=14,
                amount="110.00",
                claims_paid="100.00",
                claims="100.00",
                difference="10.00",
            ),
        ),
    ),
    PaymentExample(
        title="The same file again",
        claims=(ExampleClaim("3015", ("100.00",)),),
        payments=(
            ExamplePayment(day=14, amount="100.00", claims_paid="100.00", claims="100.00"),
            ExamplePayment(
                day=15, amount="100.00", claims_paid="100.00", claims="100.00", is_duplicate=True
            ),
        ),
        note="100.00 in all.",
    ),
    PaymentExample(
        title="The same payment again in another file",
        claims=(ExampleClaim("3024", ("100.00",)),),
        payments=(
            ExamplePayment(day=14, amount="100.00", claims_paid="100.00", claims="100.00"),
            ExamplePayment(
                day=15, amount="100.00", claims_paid="100.00", claims="100.00", is_duplicate=True
            ),
        ),
        note="100.00 in all.",
    ),
    PaymentExample(
        title="A payment of nothing",
        claims=(ExampleClaim("3025", ("100.00",)),),
        payments=(
            ExamplePayment(
                day=14,
                amount="0.00",
                claims_paid="0.00",
                claims="0.00, the patient owes 100.00 (PR-1)",
            ),
        ),
    ),
    PaymentExample(
        title="One check over two sites",
        claims=(ExampleClaim("3001", ("100.00",)), ExampleClaim("3002", _THREE_LINES)),
        payments=(
            ExamplePayment(
                day=14,
                amount="213.60",
                claims_paid="213.60",
                claims="`3001` 100.00; `3002` 113.60",
            ),
        ),
        note="Send one claim from each of two sites, with the same billing provider and before the next file goes out: the first site's part is 100.00, the other's 113.60.",
    ),
)


def payment_examples_page() -> Iterator[str]:
    """Yield the part of the sandbox's reference page that shows the examples, as lines of Markdown."""
    yield "## Payments to practice with"
    yield ""
    yield (
        "Claims of one billing provider that leave in one file are paid by one check on each day. Send those of a row "
        "together, to a provider that the payer owes nothing and that owes it nothing; amounts are of the lines."
    )
    yield ""
    yield "| What | Claims to send | Day | Claims | Provider adjustments | Amount of the payment |"
    yield "|---|---|---|---|---|---|"
    for example in PAYMENT_EXAMPLES:
        sent = "<br>".join(
            f"`{claim.insured_id}`: {' + '.join(claim.charges)}" for claim in example.claims
        )
        for at, payment in enumerate(example.payments):
            first = (example.title, sent) if at == 0 else ("", "")
            adjusted = "<br>".join(f"{reason} {amount}" for reason, amount in payment.adjustments)
            claims = payment.claims.replace("; ", "<br>")
            cells = (*first, str(payment.day), claims, adjusted or "none", _amount(payment))
            yield f"| {' | '.join(cells)} |"
    yield ""
    for example in PAYMENT_EXAMPLES:
        if example.note:
            yield f"* {example.title}: {example.note}"
    yield ""


def _amount(payment: ExamplePayment) -> str:
    if payment.is_duplicate:
        return f"{payment.amount}, a duplicate: it counts nothing"
    if payment.difference != "0.00":
        return f"{payment.amount}, and {payment.difference} of it is not explained"
    return payment.amount
