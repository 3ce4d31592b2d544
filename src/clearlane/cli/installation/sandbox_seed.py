"""Two months of a practice's life in a sandbox: claims of every scenario, what payers answer, and what people do then.

Everything goes over the API of a running sandbox and its clock, as a vendor's program would do it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from typing import Any

from clearlane.claims.forms import form_of_kind
from clearlane.claims.forms.sample_variation import SampleWish, sample_claim
from clearlane.claims.forms.samples import BILLING_NPI
from clearlane.claims.kinds import ClaimKind
from clearlane.cli.command.progress import ShowProgress
from clearlane.client import ClearlaneError, Client, eligibility_request
from clearlane.client.testing.sandbox_control import SandboxControl

WEEKS = 8
WEEK = timedelta(days=7)
CLAIMS, CLAIMS_MAX = 80, 2_000
SERVICE_DAYS_AGO = (1, 2, 3, 5, 6)
KINDS = (
    ClaimKind.MEDICAL,
    ClaimKind.MEDICAL,
    ClaimKind.DENTAL,
    ClaimKind.MEDICAL,
    ClaimKind.INSTITUTIONAL,
)
"""The kinds of claims that the payers' plans decide, in turns."""
STOPPED = 2
"""Claims at the end, of which one is held back and one canceled."""
ALONE = "3006"
"""Its payer refuses the whole file, so it has a file of its own."""
TYPING_ERROR = "3016"
"""Rejected until the patient's birth date is another."""
BIRTH = "1971-04-09"
MEMBERS = ("II4711", "1004", "1007", "W200300400")
"""Who is asked about: an active member, one who is not found, one with all kinds of benefits, another."""
PROVIDER, PAYER = "Fernhill Family Practice", "TST01"


@dataclass(frozen=True, slots=True)
class SeededClaim:
    """A claim to be sent: its id, kind, scenario and week."""

    id: str
    kind: ClaimKind
    scenario: str
    week: int


@dataclass(slots=True)
class Seeded:
    """What was done."""

    submitted: int = 0
    accepted: int = 0
    questions: int = 0
    done: list[str] = field(default_factory=list)
    """What people did, in words."""
    labels: Counter[str] = field(default_factory=Counter)


def plan_claims(count: int, scenarios: Sequence[str], run: str) -> list[SeededClaim]:
    """Return the claims of two months: every scenario once, between claims that the plans decide, over the weeks."""
    # Mixed, so that denials and rejections are in every week.
    wanted = [*scenarios[::3], *scenarios[1::3], *scenarios[2::3]]
    others = count - len(wanted)
    if others < STOPPED:
        least = len(wanted) + STOPPED
        raise ValueError(f"At least {least} claims are needed: every scenario has one.")
    every = max(1, (count - STOPPED) // len(wanted))
    rows: list[tuple[ClaimKind, str]] = []
    plain = 0
    while len(rows) < count:
        if wanted and (len(rows) % every == 0 or plain == others):
            rows.append((ClaimKind.MEDICAL, wanted.pop(0)))
        else:
            rows.append((KINDS[plain % len(KINDS)], ""))
            plain += 1
    sent = count - STOPPED
    return [
        SeededClaim(f"{run}-{at + 1}", kind, scenario, min(WEEKS, at * WEEKS // sent))
        for at, (kind, scenario) in enumerate(rows)
    ]


class SandboxSeed:
    """Sends the claims week by week, lets time pass, and does what a biller would do."""

    def __init__(self, client: Client, control: SandboxControl, show: ShowProgress) -> None:
        self._client = client
        self._control = control
        self._show = show
        self._numbers: dict[str, str] = {}
        self.seeded = Seeded()

    def run(self, claims: Sequence[SeededClaim]) -> Seeded:
        """Live through two months; return what was done."""
        was_frozen = self._control.clock()["Frozen"]
        self._control.clock(Frozen=True)
        try:
            for week in range(WEEKS):
                self._week(week, [each for each in claims if each.week == week], len(claims))
            self._stop([each for each in claims if each.week == WEEKS])
        finally:
            self._control.clock(Frozen=was_frozen)
        for claim in self._client.claims.find():
            if claim.vendor_claim_id in self._numbers:
                self.seeded.labels[claim.label] += 1
        return self.seeded

    def _week(self, week: int, claims: Sequence[SeededClaim], total: int) -> None:
        words = f"Week {week + 1} of {WEEKS}"
        together = [each for each in claims if each.scenario != ALONE]
        alone = [each for each in claims if each.scenario == ALONE]
        self._show(self.seeded.submitted, total, words)
        self._submit(together)
        self._ask(MEMBERS[week % len(MEMBERS)])
        self._control.advance("1d")
        self._submit(alone)
        self._show(self.seeded.submitted, total, words)
        self._control.advance(WEEK - timedelta(days=1))
        self._work(claims)

    def _submit(self, claims: Sequence[SeededClaim]) -> None:
        today = date.fromisoformat(self._control.clock()["Now"][:10])
        for kind in dict.fromkeys(each.kind for each in claims):
            chosen = [each for each in claims if each.kind is kind]
            document = _document(kind, chosen, today)
            for result in self._client.claims.submit(document).claims:
                self.seeded.submitted += 1
                self.seeded.accepted += result.accepted
                if result.accepted:
                    self._numbers[result.vendor_claim_id] = result.claim_number

    def _ask(self, member: str) -> None:
        """Ask about the benefits of a patient."""
        question = eligibility_request(
            payer_id=PAYER,
            npi=BILLING_NPI,
            provider=PROVIDER,
            member_id=member,
            last_name="Arden",
            first_name="Rosa",
            birth_date=date(1986, 11, 22),
            test=True,
        )
        self._client.submit_eligibility(question)
        self.seeded.questions += 1

    def _work(self, claims: Sequence[SeededClaim]) -> None:
        """Correct the claim that has a typing error, as a biller does; the others are left to whoever opens the console."""
        for each in claims:
            number = self._numbers.get(each.id)
            if each.scenario == TYPING_ERROR and number:
                form = form_of_kind(each.kind)
                people = ("patient.birth", "subscriber.birth")
                birth = {form.locate(path): BIRTH for path in people}
                self._try("corrected", partial(self._client.claims.correct, number, birth))

    def _stop(self, claims: Sequence[SeededClaim]) -> None:
        """Send the last claims, and hold or cancel each before it goes out."""
        acts = {
            "held back": self._client.claims.hold,
            "canceled": self._client.claims.cancel,
        }
        for claim, (word, act) in zip(claims, acts.items(), strict=False):
            self._submit([claim])
            if number := self._numbers.get(claim.id):
                self._try(word, partial(act, number))

    def _try(self, word: str, act: Callable[[], object]) -> None:
        """Do what a person would; a claim that is further on by now is left as it is."""
        try:
            act()
        except ClearlaneError:
            return
        self.seeded.done.append(word)


def _document(kind: ClaimKind, claims: Sequence[SeededClaim], today: date) -> dict[str, Any]:
    form = form_of_kind(kind)
    rows = []
    for at, each in enumerate(claims):
        day = today - timedelta(days=SERVICE_DAYS_AGO[at % len(SERVICE_DAYS_AGO)])
        wish = SampleWish(scenario=each.scenario, day=day)
        rows.append(sample_claim(form, each.id, wish, today=today))
    return {"DocumentType": form.document_type, "Claims": rows}
