"""The questions that the console asks before an act, and the reasons why other acts need none.

Rows of the table of pages name them. A sentence says what will happen, to whom, and whether it can be undone.
"""

from clearlane.console.frame.act_question import ActQuestion, AskFirst

# ---- why an act needs no question ----

REVIEWED = "Its own page shows what goes out; only that page's button sends it."
ADDS = "It adds something that the person typed, and changes nothing that exists."
UNDONE_BESIDE = "The same page undoes it."
NEEDS_CREDENTIALS = "It asks for the person's password or a code of their authenticator."
SENDS_NOTHING = "It looks or tests, and changes nothing."
REPEATS_SAFELY = "It repeats what the service does by itself, and nothing happens twice."
ONLY_THE_SANDBOX = "It concerns simulated payers alone."
ONLY_THE_WORKLIST = "It changes who works on a claim and when; the next answer brings a claim back."
OWN_SESSION = "It ends the session of the person who presses it, who can sign in again."

# ---- claims ----

CLAIM = "/claims/{number}"
RELEASE_CLAIM = AskFirst(
    back=CLAIM,
    question=ActQuestion(
        title="Release {subject}?",
        sentence="The claim goes to its payer with the next file. What a payer has cannot be taken back, only "
        "corrected or canceled there.",
        button="Release it",
    ),
)
CANCEL_CLAIM = AskFirst(
    back=CLAIM,
    question=ActQuestion(
        title="Cancel {subject} before it is sent?",
        sentence="The claim is never sent, and this cannot be undone. To bill these services, send a new claim.",
        button="Cancel the claim",
        no="Keep the claim",
    ),
)
DISCARD_DRAFT = AskFirst(
    back=CLAIM,
    by="do",
    questions={
        "discard": ActQuestion(
            title="Discard the draft?",
            sentence="What was typed for the correction of {number} is deleted, for everyone, and cannot be brought "
            "back. The claim itself stays as it is.",
            button="Discard the draft",
            no="Keep the draft",
        )
    },
)

# ---- enrollments ----

RECORD_ENROLLMENT = AskFirst(
    back="/enrollments/{id}",
    by="event",
    unasked=frozenset(),
    questions={
        "start": ActQuestion(
            title="Record that {subject} has the enrollment?",
            sentence="The vendor gets an event that the enrollment is at the payer. Record it only after it was sent.",
            button="Record it",
        ),
        "approve": ActQuestion(
            title="Record that {subject} approved?",
            sentence="From now on claims of this provider are sent to {subject}, and the vendor gets an event. A payer "
            "rejects the claims of a provider whom it has not approved.",
            button="Record the approval",
        ),
        "refuse": ActQuestion(
            title="Record that {subject} refused?",
            sentence="The vendor gets an event that the payer refused the enrollment, with the reason that you gave. Claims "
            "of this provider for {subject} are not accepted.",
            button="Record the refusal",
        ),
    },
)

# ---- connections and files ----

CONNECTION = "/payers/{type}/{payer}"
PAUSE_PAYER = AskFirst(
    back=CONNECTION,
    question=ActQuestion(
        title="Pause {subject}?",
        sentence="Nothing is sent to this payer until someone resumes it. Claims are accepted, and wait.",
        button="Pause",
    ),
)
RESUME_PAYER = AskFirst(
    back=CONNECTION,
    question=ActQuestion(
        title="Resume {subject}?",
        sentence="Everything that waits for this payer goes out now. What a payer has cannot be taken back.",
        button="Resume",
    ),
)
FILE_IN, FILE_OUT = "/files/in/{id}", "/files/out/{id}"
ACCEPT_FILE = AskFirst(
    back=FILE_IN,
    question=ActQuestion(
        title="Accept file {id}?",
        sentence="Its payments and answers are recorded on the claims that it names, and vendors get events. That "
        "cannot be undone. If you ticked it, the route trusts this sender from now on.",
        button="It is the payer's: accept",
    ),
)
ACCEPT_TEST_FILE = AskFirst(
    back=FILE_IN,
    question=ActQuestion(
        title="Post test file {id}?",
        sentence="The payer marked it as a test. Posted, its payments and answers count as real: they are recorded on "
        "the claims that it names, and vendors get events. That cannot be undone. The file stays marked as a test.",
        button="Post the test file",
    ),
)
DISCARD_FILE = AskFirst(
    back=FILE_IN,
    question=ActQuestion(
        title="Put file {id} aside for good?",
        sentence="Nothing more of it is recorded, and no one is asked about it again. The file itself is kept, and "
        "so is what was recorded of it before.",
        button="Put it aside",
    ),
)
RESEND_FILE = AskFirst(
    back=FILE_OUT,
    question=ActQuestion(
        title="Send file {id} again?",
        sentence="The payer gets every claim of this file once more. If it has the file already, it may deny them as "
        "duplicates. Ask the payer first.",
        button="Send it again",
    ),
)
CONFIRM_DELIVERY = AskFirst(
    back=FILE_OUT,
    question=ActQuestion(
        title="Record that the payer has file {id}?",
        sentence="Its claims count as sent, and the file is never sent again. If the payer does not have it, these "
        "claims are lost until someone notices.",
        button="The payer has it",
    ),
)

# ---- accounts and webhooks ----

ACCOUNTS = "/accounts"
NEW_PASSWORD = AskFirst(
    back=ACCOUNTS,
    question=ActQuestion(
        title="Make a new password for {subject}?",
        sentence="The new password is shown once. The old ones are refused after {hours} hours: calls that still use "
        "them fail from then on. With 0 hours that is at once.",
        button="Make a new password",
    ),
)
VENDOR_STATE = AskFirst(
    back=ACCOUNTS,
    by="to",
    unasked=frozenset(),
    questions={
        "disabled": ActQuestion(
            title="Revoke all credentials of {subject}?",
            sentence="Every call of this vendor is refused from now on: it cannot send claims or fetch payments. Its "
            "claims are kept, and payers go on with what was sent. The credentials can be accepted again.",
            button="Revoke all credentials",
        ),
        "active": ActQuestion(
            title="Accept the credentials of {subject} again?",
            sentence="Its live passwords work again at once, for all its sites. If one of them leaked, make a new one "
            "first.",
            button="Accept them again",
        ),
    },
)
SITE_STATE = AskFirst(
    back=ACCOUNTS,
    by="to",
    unasked=frozenset({"active"}),
    questions={
        "suspended": ActQuestion(
            title="Suspend {subject}?",
            sentence="New claims, eligibility inquiries and enrollments of this site are refused from now on. Claims "
            "that are on their way go on. The site can be activated again.",
            button="Suspend the site",
        )
    },
)
AGREEMENT = AskFirst(
    back=ACCOUNTS,
    by="to",
    unasked=frozenset(),
    questions={
        "revoked": ActQuestion(
            title="Revoke the agreement of {subject}?",
            sentence="Without the Business Associate Agreement its claims and inquiries are refused, and the console shows its claims "
            "and payments to no one. The agreement can be recorded again.",
            button="Revoke the agreement",
        ),
        "accepted": ActQuestion(
            title="Record the agreement of {subject}?",
            sentence="You state that the client has accepted the Business Associate Agreement. From now on its patient "
            "data is taken and sent to payers. The audit trail names you.",
            button="The client has accepted it",
        ),
    },
)
WEBHOOK = "/accounts/{vendor}/webhooks/{endpoint}"
NEW_WEBHOOK_SECRET = AskFirst(
    back=WEBHOOK,
    question=ActQuestion(
        title="Make a new secret?",
        sentence="The new secret is shown once and signs from now on; for a day the old one signs as well. "
        "After that day {subject} refuses events unless it knows the new one.",
        button="Make a new secret",
    ),
)
DISABLE_WEBHOOK = AskFirst(
    back=WEBHOOK,
    question=ActQuestion(
        title="Disable this endpoint?",
        sentence="Nothing is sent to {subject} until it is enabled again. The vendor gets an event about it and "
        "can read its events from the feed.",
        button="Disable it",
    ),
)

# ---- people ----

RESET_PERSON = AskFirst(
    back="/people",
    question=ActQuestion(
        title="Reset the sign-in of {subject}?",
        sentence="The password, second factor and recovery codes of {subject} stop working, and all open sessions end. "
        "You get a one-time address to hand over.",
        button="Reset the sign-in",
    ),
)
PERSON_STATE = AskFirst(
    back="/people",
    by="to",
    unasked=frozenset({"active"}),
    questions={
        "disabled": ActQuestion(
            title="Disable {subject}?",
            sentence="{subject} cannot sign in any more, and all open sessions end now. What was typed and not kept is "
            "lost. The person can be enabled again.",
            button="Disable",
        )
    },
)
END_SESSIONS = AskFirst(
    back="/people/{id}",
    question=ActQuestion(
        title="End all sessions of {subject}?",
        sentence="The person is signed out everywhere at once, and what was typed and not kept is lost. They can sign "
        "in again.",
        button="End all sessions",
    ),
)
END_OWN_SESSIONS = AskFirst(
    back="/me",
    question=ActQuestion(
        title="End your other sessions?",
        sentence="You are signed out everywhere but here, and what was typed there and not kept is lost.",
        button="End the others",
    ),
)
