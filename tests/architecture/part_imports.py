"""Which part of a package may import which other part of it, and why: the rows that ``test_architecture`` holds.

A part is a folder of the package. Modules directly in the package are "shared", but for those that are named in
``APART``, which count as parts of their own.
"""

APART = {"pipeline": {"installation_context", "work_context", "schedule"}}
"""Modules of pipeline that know the verbs: the contexts that faces and verbs are given, and the schedule."""

Rows = dict[tuple[str, str], str]


def imports(part: str, why: str, *importers: str) -> Rows:
    """Return a row for each part that imports ``part`` for the same reason."""
    return {(importer, part): why for importer in importers}


STATUS = "facts are recorded and read, and claims are loaded, in one way everywhere"
KIND_OF_WORK = "a row for each kind of work"

PART_IMPORTS: dict[str, Rows] = {
    "pipeline": {
        **imports(
            "work_context", "verbs take the work context", "access", "enrollment", "filing", "follow_up", "inbound", "inquiry", "intake",
            "notify", "operator", "outbound", "query", "retention", "sandbox", "secondary",
        ),
        **imports("shared", STATUS, "inbound", "intake", "operator", "outbound", "query", "secondary"),
        **imports("shared", "filing limits are read from headers and statuses of claims", "follow_up"),
        **imports("shared", "the context says within how many days payers answer", "work_context"),
        **imports("follow_up", "advancing the sandbox's clock runs what is due", "sandbox"),
        **imports("retention", "data are old by the periods of their vendors, and each purge records what it did", "inquiry", "intake", "notify", "operator"),
        **imports("retention", "operators are warned of a purge that fails or does not run", "query"),
        **imports("shared", "inquiries go out on the routes that claims use", "inquiry"),
        **imports("filing", "what is delivered, acknowledged or answered adds its leaves to the log of filings", "inbound", "inquiry", "outbound"),
        **imports("shared", "a proof is made of stored facts and documents", "filing"),
        **imports("query", "PDF files are made by one process", "filing"),
        **imports("filing", "advancing the sandbox's clock runs what is due", "sandbox"),
        **imports("shared", "an event names the vendor's claim id, which is read from the claim", "notify"),
        **imports("inquiry", "an answer in a file ends the inquiry that is open", "inbound"),
        **imports("inquiry", "a payer that does not answer is asked", "follow_up"),
        **imports("outbound", "an answer proves a delivery; a poll that works ends a pause", "inbound"),
        **imports("intake", "what goes back to the sender of a file is written as the answers to it are", "inbound"),
        **imports("inquiry", "the patients of 270 files are asked about as those of other requests are", "intake"),
        **imports("enrollment", "a claim waits until an enrollment counts", "follow_up"),
        **imports("intake", "a claim that waited for an enrollment is released as a person releases one", "follow_up"),
        **imports("shared", "why a claim has no ERA depends on the enrollment of its header's provider", "enrollment"),
        **imports("enrollment", "a payer may answer questions about claims of enrolled providers only", "inquiry"),
        **imports("enrollment", "a claim may need an enrolled provider, or take the ZIP code from there", "intake"),
        **imports("inquiry", "advancing the sandbox's clock runs what is due", "sandbox"),
        **imports("intake", "advancing the sandbox's clock writes the files that are due to sites", "sandbox"),
        **imports("intake", "a claim written by hand is submitted", "operator"),
        **imports("secondary", "advancing the sandbox's clock runs what is due", "sandbox"),
        **imports("intake", "a secondary claim is written, judged and stored as every claim is", "secondary"),
        **imports("query", "what the payer said last decides whether a claim may be sent again or canceled", "intake"),
        **imports("query", "what the payer before paid is read as payments are shown", "secondary"),
        **imports("inquiry", "a next payer that does not answer what was forwarded to it is asked", "secondary"),
        **imports("inbound", "a person replays a file", "operator"),
        **imports("inbound", "advancing the sandbox's clock runs what is due", "sandbox"),
        **imports("outbound", "a person sends a batch again", "operator"),
        **imports("outbound", "advancing the sandbox's clock runs what is due", "sandbox"),
        **imports("operator", "a simulated payer's answer to an enrollment is recorded as an operator records one", "sandbox"),
        **{("schedule", part): KIND_OF_WORK for part in ("filing", "follow_up", "inbound", "inquiry", "intake", "notify", "operator", "outbound", "query", "retention", "sandbox", "secondary")},
        **{("installation_context", part): "faces are given it" for part in ("query", "sandbox", "work_context")},
        **imports("inquiry", "the context holds the node's inquiry runner", "work_context"),
        **imports("intake", "the context holds the node's intake batcher", "work_context"),
        **imports("inbound", "the context holds the process that reads payers' files", "work_context"),
    },
    "store": {
        **imports(
            "database", "rows are read and written by statements in its transactions", "accounts", "audit", "claims",
            "delivery", "events", "files", "installation", "payments", "retention", "shared", "vault",
        ),
        **imports("retention", "what is under a legal hold is not purged", "claims", "events", "files", "shared"),
        **imports("vault", "patient data is sealed before it is stored, and hashed to be found", "claims", "delivery", "files", "installation", "payments"),
        **imports("vault", "a database is opened with its installation keys", "database"),
        **imports("vault", "the anchor is a private file", "audit"),
        **imports("audit", "every commit extends the audit chain and moves the anchor", "database"),
        **imports("audit", "a backup and a restore compare the chain with the anchor", "installation"),
        **imports("events", "every commit gives its events their numbers", "database"),
        **imports("installation", "a change of a snapshot raises its revision, which every node watches", "accounts", "delivery"),
        **imports("installation", "a new key waits until every node has loaded it", "vault"),
        **imports("delivery", "after a database was set back or restored, what may have been sent waits", "audit", "installation"),
        **imports("shared", "lists of claims are narrowed to those whose filing limit is near", "claims"),
        **imports("delivery", "a vendor's request numbers are a counter like control numbers", "shared"),
        **imports("claims", "daily sums are of the claims that all sums are of", "payments"),
        **imports("claims", "a batch takes claims from the queue", "delivery"),
        **imports("accounts", "a sandbox starts with an account", "installation"),
        **imports("payments", "payments that need attention are counted by their own condition", "installation"),
    },
    "console": {
        **imports("frame", "every page is requested, rendered and worded in one way", "account", "claims", "files", "new_claim", "operator", "patients", "payments", "shared"),
        **{("shared", part): "the table of pages collects its rows" for part in ("account", "claims", "files", "new_claim", "operator", "patients", "payments")},
        **imports("claims", "a new claim is written on the form of corrections, with the patient of a found claim", "new_claim"),
        **imports("claims", "a file lists its claims with the labels of claim pages", "files"),
        **imports("files", "a connection lists its files with the labels of their pages", "operator"),
        **imports("payments", "a claim's money and a found payment are worded as on payment pages", "claims"),
        **imports("shared", "an act changes the counts of the menu; the sandbox page offers the first steps", "operator"),
        **imports("shared", "an act changes the counts of the menu", "payments"),
    },
    "cli": {
        **imports(
            "command", "every command opens, prints and fails in one way", "account", "claim", "codes", "delivery",
            "doctor", "eligibility", "enrollment", "events", "file", "installation", "payer", "payment", "shared", "x12",
        ),
        **imports("events", "listen forwards events to a program", "claim"),
        **imports("payment", "PDFs of claims and payments are written in one way", "claim"),
        **imports("claim", "a claim is named on the command line in one way", "payment"),
        **imports("claim", "payers are searched by the calls of the service that claims use", "payer"),
        **imports("installation", "doctor gives the advice that serve gives at its start", "doctor"),
    },
    "claims": {
        **imports("shared", "the catalogue, codes, lifecycle and samples", "forms", "inquiry", "printing", "read", "responses", "rules", "write"),
        **imports("write", "a form names its placements", "forms", "shared"),
        **imports("forms", "what differs by form is asked of it", "read", "responses", "rules", "shared", "write"),
        **imports("write", "a complaint is traced through what was sent", "responses"),
        **imports("rules", "our own findings are explained as payers' are", "responses"),
        **imports("read", "rules tell repaired values from given ones", "rules", "shared"),
        **imports("responses", "the lifecycle folds facts", "shared"),
        **imports("responses", "an answer to a question is a status, and a fact of the claim", "inquiry"),
    },
    "x12": {
        **imports("shared", "tree, grammar, delimiters and the compiled guide", "checker", "guides", "reader", "rules", "show", "views", "writer"),
        **imports("codes", "code lists", "checker", "rules", "show", "views"),
        **imports("guides", "a file is read by its guide", "checker", "reader", "show"),
        **imports("checker", "reading finds what is wrong", "reader"),
        **imports("checker", "a compiled guide includes the checks of its elements", "shared"),
        **imports("rules", "a compiled guide includes its rules", "reader", "shared"),
        **imports("rules", "a TA1 has rules of its own", "checker"),
        **imports("reader", "a file is read before it is checked, shown or viewed", "checker", "show", "views"),
        **imports("writer", "an acknowledgement, a part of a file and a redacted file are written", "checker", "reader", "show"),
        **imports("checker", "findings are shown at their place", "show"),
        **{("shared", part): "the package's public names" for part in ("reader", "writer")},
    },
    "api": {
        **imports("frame", "every version and page is built from it", "operations", "pages", "shared", "v1", "v3"),
        **imports("http", "plain responses, bodies and streams", "frame", "operations", "pages", "shared", "v1", "v3"),
        **imports("frame", "a connection hands its requests to the application", "http"),
        **imports("operations", "requests are logged and counted", "frame", "http", "shared"),
        **imports("operations", "OpenAPI describes the health endpoints too", "pages"),
        **imports("shared", "the operations address knows the versions that are served", "operations"),
        **imports("pages", "a node serves them", "shared"),
        **imports("v1", "a version that a node serves", "shared"),
        **imports("v3", "a version that a node serves", "shared"),
    },
    "sandbox": {
        **imports("shared", "what a payer read and decided", "responses"),
        **imports("responses", "a payer answers by its plan", "shared"),
    },
}  # fmt: skip
