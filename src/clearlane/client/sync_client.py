"""The client for threads: each call of V3 as a method.

Carries conversations over a transport and knows nothing else: what is said stands in ``talk``.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

from clearlane.client import account as accounts
from clearlane.client import calls, limits
from clearlane.client.account import Account
from clearlane.client.benefits import EligibilityRequest
from clearlane.client.build import Kind, document_kind
from clearlane.client.calls import PayerList
from clearlane.client.errors import ClearlaneError
from clearlane.client.https import HttpTransport
from clearlane.client.models import (
    ClaimStatus,
    ClaimSubmission,
    Deleted,
    EligibilityAnswer,
    EnrollmentAnswer,
    InstanceToken,
    LoginUrl,
    Payer,
    PayerDocuments,
)
from clearlane.client.protocol import Heard, Pause, Speaker, Talk, as_day, windows
from clearlane.client.retry import Retry
from clearlane.client.transport import Transport

T = TypeVar("T")


class Client:
    """A vendor's connection to a service that speaks V3."""

    def __init__(
        self,
        account: Account,
        *,
        transport: Transport | None = None,
        retry: Retry | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.account = account
        self._transport = transport or HttpTransport(account.ca_file)
        self._sleep = sleep
        self._speaker = Speaker(account, retry or Retry())

    @classmethod
    def connect(
        cls,
        base_url: str,
        *,
        key: str,
        password: str,
        site: str,
        ca_file: Path | str | None = None,
        **options: Any,
    ) -> "Client":
        """A client from an address and credentials; ``ca_file`` is the authority to trust alone."""
        return cls(
            Account(
                base_url=base_url,
                key=key,
                password=password,
                site=site,
                ca_file=str(ca_file) if ca_file else None,
            ),
            **options,
        )

    @classmethod
    def from_sandbox(cls, data: Path | str | None = None, **options: Any) -> "Client":
        """A client of the sandbox that runs on a data directory (by default ``CLEARLANE_DATA``)."""
        return cls(accounts.from_sandbox(data), **options)

    @classmethod
    def from_environment(cls, **options: Any) -> "Client":
        """A client from ``CLEARLANE_CLIENT_URL``, ``_KEY``, ``_PASSWORD``, ``_SITE``, ``_CA_FILE``."""
        return cls(accounts.from_environment(), **options)

    def at_site(self, site: str) -> "Client":
        """The same vendor for another site, over the same connections; closing one closes both."""
        return Client(
            replace(self.account, site=site),
            transport=self._transport,
            retry=self._speaker.retry,
            sleep=self._sleep,
        )

    def __repr__(self) -> str:
        return f"Client({self.account.base_url!r}, key={self.account.key!r}, site={self.account.site!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    # --- payers -----------------------------------------------------------------------------------

    def payers(self, kind: Kind | str = Kind.MEDICAL) -> list[Payer]:
        """The payers that claims can be sent to."""
        return self._run(self._speaker.say(calls.payers(PayerList.LIVE, kind)))

    def test_payers(self, kind: Kind | str = Kind.MEDICAL) -> list[Payer]:
        """The test payers of a sandbox."""
        return self._run(self._speaker.say(calls.payers(PayerList.TEST, kind)))

    def eligibility_payers(self, kind: Kind | str = Kind.MEDICAL) -> list[Payer]:
        """The payers that answer eligibility requests."""
        return self._run(self._speaker.say(calls.payers(PayerList.ELIGIBILITY, kind)))

    # --- claims -----------------------------------------------------------------------------------

    def submit_medical_claims(self, claims: Any) -> ClaimSubmission:
        """Submit one medical claim, several, or a whole document."""
        return self._run(self._speaker.say(calls.submission(Kind.MEDICAL, claims)))

    def submit_dental_claims(self, claims: Any) -> ClaimSubmission:
        """Submit one dental claim, several, or a whole document."""
        return self._run(self._speaker.say(calls.submission(Kind.DENTAL, claims)))

    def submit_document(self, document: Mapping[str, Any]) -> ClaimSubmission:
        """Submit a document to the call that its ``DocumentType`` names."""
        call = calls.submission(document_kind(document), document)
        return self._run(self._speaker.say(call))

    def claim_status(self, start: date | str, end: date | str) -> list[ClaimStatus]:
        """Where the claims created from one day to another stand, both included."""
        return self._run(self._speaker.say(calls.status(start, end)))

    def iter_status(
        self, start: date | str, end: date | str, *, days: int = limits.STATUS_DAYS
    ) -> Iterator[ClaimStatus]:
        """The same one by one, asked for in pieces of some days, so that a long time fits in memory."""
        for first, last in windows(as_day(start), as_day(end), days):
            yield from self.claim_status(first, last)

    def payer_documents(self, ids: Iterable[str]) -> PayerDocuments:
        """What payers wrote, by the ``RelatedDocumentId`` of status records."""
        return self._run(self._speaker.say(calls.documents(ids)))

    # --- eligibility ------------------------------------------------------------------------------

    def submit_eligibility(
        self, request: EligibilityRequest | Mapping[str, Any]
    ) -> EligibilityAnswer:
        """Ask payers about patients; the service answers within about 55 seconds with what it has."""
        return self._run(self._speaker.say(calls.eligibility(request)))

    def eligibility_responses(self, request_id: int) -> EligibilityAnswer:
        """Everything that has arrived for a request."""
        return self._run(self._speaker.say(calls.eligibility_responses(request_id)))

    def wait_for_eligibility(
        self,
        about: EligibilityAnswer | EligibilityRequest | Mapping[str, Any] | int,
        *,
        seconds: float = limits.WAIT_SECONDS,
    ) -> EligibilityAnswer:
        """Wait until every response is in: for an answer, its RequestId, or a request to submit first.

        Raises :class:`StillWaiting`, with what has arrived, when the time is over.
        """
        return self._run(self._speaker.wait_for_eligibility(about, seconds))

    # --- enrollment and proxy login ---------------------------------------------------------------

    def submit_enrollments(self, enrollments: Any) -> EnrollmentAnswer:
        """Submit one enrollment, several, or a whole request."""
        return self._run(self._speaker.say(calls.enrollments(enrollments)))

    def create_instance_token(self, instance_id: UUID | str, instance_name: str) -> InstanceToken:
        """A token for an installation (deprecated by the interface)."""
        return self._run(self._speaker.say(calls.create_token(instance_id, instance_name)))

    def login_url(self, instance_id: UUID | str, token: str) -> LoginUrl:
        """A one-time address of the login page (deprecated by the interface)."""
        return self._run(self._speaker.say(calls.login_url(instance_id, token)))

    def delete_instance_token(self, instance_id: UUID | str) -> Deleted:
        """Remove a token (deprecated by the interface)."""
        return self._run(self._speaker.say(calls.delete_token(instance_id)))

    def _run(self, talk: Talk[T]) -> T:
        """Carry a conversation to its end."""
        heard: Heard = None
        while True:
            try:
                step = talk.send(heard)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            if isinstance(step, Pause):
                self._sleep(step.seconds)
                heard = None
                continue
            try:
                heard = self._transport.send(step)
            except ClearlaneError as fault:
                heard = fault
