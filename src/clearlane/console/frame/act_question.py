"""Ask before an act that cannot be undone or that others feel: a page that says what will happen, and one button.

A row of the table of pages declares its question, or why its act needs none. The first POST shows the question with
the fields of the form; only the form of that page carries out the act. It works without a script.

Knows no page.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.forms import CSRF_FIELD
from clearlane.console.frame.page_request import PageRequest

CONFIRMED_FIELD = "confirmed"
CONFIRMED = "yes"
SUBJECT_FIELD = "called"
"""The hidden field in which a form names what its act concerns, as people call it."""
SUBJECT_NAMES = (SUBJECT_FIELD, "name", "payer", "endpoint", "id", "key", "number")
"""The fields of a form, then the parts of an address, that name what an act concerns; the first one filled counts."""
SUBJECT_CHARACTERS_MAX = 120
# Why an act needs no question: what a row says in place of one.
REVIEWED = "Its own page shows what goes out; only that page's button sends it."
ADDS = "It adds something that the person typed, and changes nothing that exists."
UNDONE_BESIDE = "The same page undoes it."
NEEDS_CREDENTIALS = "It asks for the person's password or a code of their authenticator."
SENDS_NOTHING = "It looks or tests, and changes nothing."
REPEATS_SAFELY = "It repeats what the service does by itself, and nothing happens twice."
ONLY_THE_SANDBOX = "It concerns simulated payers alone."
ONLY_THE_WORKLIST = "It changes who works on a claim and when; the next answer brings a claim back."
OWN_SESSION = "It ends the session of the person who presses it, who can sign in again."

FIELDS_OF_THE_FRAME = frozenset({CSRF_FIELD, "site", CONFIRMED_FIELD})


@dataclass(frozen=True, slots=True, kw_only=True)
class ActQuestion:
    """The question before one act. ``{subject}`` is what it concerns; other names in braces are fields of its form."""

    title: str
    sentence: str
    """What will happen, and whether it can be undone."""
    button: str
    no: str = "Do nothing"

    @property
    def takes_away(self) -> bool:
        """Whether the button takes something away, so that it is red."""
        return page_text.takes_away(self.button)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFirst:
    """The questions of a row: one, or by the value of the form's field that says what is to be done."""

    back: str
    """The address to which "Do nothing" leads; a part in braces is the part of the row's address."""
    question: ActQuestion | None = None
    by: str = ""
    """The field that says what is to be done."""
    questions: Mapping[str, ActQuestion] = field(default_factory=dict)
    """By the field's value."""
    figures: Callable[[PageRequest], Awaitable[Sequence[str]]] | None = None
    """Return what the act concerns now, in sentences with figures; None if there is nothing to count."""
    unasked: frozenset[str] | None = None
    """Values that are done at once; None if every value without a question is. Any other value is refused."""

    def find(self, value: str) -> ActQuestion | None:
        """Return the question for a value of the field; None for one that is done at once."""
        return self.question or self.questions.get(value)

    def refuses(self, value: str) -> bool:
        """Return whether a value names no act of the row."""
        known = self.question is not None or value in self.questions
        return not known and self.unasked is not None and value not in self.unasked


async def ask_first(request: PageRequest, ask: AskFirst) -> Response | None:
    """Return the question before the act of a form; None if it was answered, or if nothing is asked."""
    value = request.form.get(ask.by) if ask.by else ""
    if ask.refuses(value):
        return request.message(400, "Nothing was done", "There is no such choice.")
    question = ask.find(value)
    if question is None or request.form.get(CONFIRMED_FIELD) == CONFIRMED:
        return None
    words = _Words(request)
    query = request.http_request.url.query
    return request.render(
        "confirm.html",
        question.title.format_map(words),
        sentence=question.sentence.format_map(words),
        figures=await ask.figures(request) if ask.figures else (),
        button=question.button.format_map(words),
        no=question.no,
        takes_away=question.takes_away,
        action=request.path + (f"?{query}" if query else ""),
        back=ask.back.format_map({name: quote(text) for name, text in request.parts.items()}),
        fields=[pair for pair in request.form.pairs if pair[0] not in FIELDS_OF_THE_FRAME],
        confirmed=(CONFIRMED_FIELD, CONFIRMED),
    )


class _Words(dict[str, str]):
    """What a question's sentences name: fields of the form and parts of the address; empty for what is missing."""

    def __init__(self, request: PageRequest) -> None:
        given = {**request.parts, **dict(reversed(request.form.pairs))}
        super().__init__({name: text[:SUBJECT_CHARACTERS_MAX] for name, text in given.items()})
        self["subject"] = next((self[name] for name in SUBJECT_NAMES if self[name]), "this")

    def __missing__(self, name: str) -> str:
        return ""
