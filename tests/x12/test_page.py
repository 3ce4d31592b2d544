"""A file as one page: whole, explained, escaped, and with every finding at its place.

Also tests `x12/show/page_summary` and `cli/x12/x12_html`.
"""

import re
import tracemalloc
from html.parser import HTMLParser
from random import Random

import pytest
from typer.testing import CliRunner

from clearlane.cli.x12 import x12, x12_html
from clearlane.x12.checker.check import check
from clearlane.x12.show import page, page_summary
from clearlane.x12.show.page import UnreadablePageError, write_page
from clearlane.x12.show.redact import Redactor
from tests.cases import by_profile, every_case
from tests.console import chromium
from tests.corpus import corpus_files
from tests.patience import PATIENCE_SECONDS
from tests.x12 import samples837
from tests.x12.injected_faults import FAULTS, inject
from tests.x12.views.test_views import CLAIMS, REMITTANCE, file

VOID = {"meta", "br", "!doctype"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "p", "br", "section", "dl",
    "div", "dt", "dd", "ul", "li", "span", "small", "a", "b", "details", "summary",
}  # fmt: skip
SMALL_BYTES_MAX = 8_000
LINKS = re.compile(r'href="([^"]*)"')


class Strict(HTMLParser):
    """A parser that insists on closed, known elements, and keeps the texts."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, tag
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


def html(data, **options):
    return "".join(write_page(lambda: data, title="claims.837", **options))


def notes(text):
    """Each sentence that stands at a segment, with the line of the segment."""
    found, line = [], 0
    for mark in re.finditer(r'id="s(\d+)"|<p class="note \w+">(.*?) <small>\[(.*?)\]', text):
        line = int(mark[1]) if mark[1] else line
        if mark[3]:
            found.append((line, mark[3]))
    return found


@every_case("sample", corpus_files()[:: by_profile(thorough=1, usual=3, quick=3)])
def test_a_page_of_a_public_file_is_whole_and_has_every_finding(sample):
    data = sample.path.read_bytes()
    text = html(data)
    findings = check(data).findings
    assert len(notes(text)) == len(findings)
    ids = re.findall(r' id="(s\d+)"', text)
    assert len(ids) == len(set(ids))
    # What is missing at the end of a set has a number and no segment.
    assert set(re.findall(r'href="#(s\d+)"', text)) <= {*ids, f"s{len(ids) + 1}"}
    if len(data) < SMALL_BYTES_MAX:
        Strict(text)


def test_findings_stand_at_their_segment_and_mark_their_element():
    fault = next(
        fault for fault in FAULTS if fault.rule == "X837-POINTER" and "837P" in fault.kinds
    )
    data, _ = inject("837P", fault)
    (finding,) = check(data).findings
    text = html(data)
    assert notes(text) == [(finding.position.file_segment, "X837-POINTER")]
    assert re.search(r'<div class="error"><dt><b>SV107-\d</b>', text)
    assert '<span class="label error">1 error</span>' in text
    at = finding.position
    assert f'<a href="#s{at.file_segment}">SV107-2 in 2400, segment {at.file_segment}</a>' in text
    missing, _ = inject("837P", next(fault for fault in FAULTS if fault.rule == "SEG-MISSING"))
    (finding,) = check(missing).findings
    at = finding.position
    name = f"{at.segment_id} in {at.loop}, segment {at.file_segment}"
    assert f'<a href="#s{at.file_segment}">{name}</a>' in html(missing)


def test_elements_are_explained_and_amounts_added_up():
    text = " ".join(Strict(html(file("835", *REMITTANCE))).texts)
    for words in (
        "835 Claim payment and remittance advice", "Processed as primary", "110.00", "190.00", "Trace number",
        "2024-05-01", "MEADOW MUTUAL", "Demand deposit account",
    ):  # fmt: skip
        assert words in text


def test_the_head_of_a_page_says_whose_file_it_is_and_what_it_has():
    facts = re.findall(r"<dt>(\w+)</dt><dd>(.*?)</dd>", html(file("837P", *CLAIMS)))
    assert facts[:9] == [
        ("Sender", "SENDER"), ("Receiver", "RECEIVER"), ("Sent", "2024-05-01 12:00"), ("Usage", "Test"),
        ("Transaction", "837P"), ("Version", "005010X222A1"), ("Sets", "1"), ("Claims", "2"), ("Charged", "300.00"),
    ]  # fmt: skip


def test_an_element_has_the_field_that_its_writer_names():
    def follow(guide):
        if guide.kind != "837P":
            return None
        return lambda loop, segment: {"CLM02": "the <total>"} if segment[0] == "CLM" else {}

    text = html(file("837P", *CLAIMS), name_fields=follow)
    assert '<dd class="f">from the &lt;total&gt;</dd>' in text
    assert "from the" not in html(file("835", *REMITTANCE), name_fields=follow)
    Strict(text)


def test_every_text_of_a_file_is_escaped():
    attack = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;\x07</style>"
    data = file("837P", *CLAIMS).replace(b"FERNHILL FAMILY PRACTICE", attack.encode())
    data = data.replace(b"NTE*ADD", b"<B>*ADD").replace(b"*L1~", b"*</details>~")
    text = "".join(write_page(lambda: data, title=attack))
    parsed = Strict(text)
    assert "<script" not in text
    assert "<img" not in text
    assert attack.replace("\x07", "\N{SYMBOL FOR BELL}") in parsed.texts
    assert "\x07" not in text


def test_a_page_loads_nothing():
    text = html(file("837P", *CLAIMS))
    assert "default-src 'none'" in text
    assert not re.findall(r"""\b(?:src|action|http-equiv="refresh")=|url\(|@import|https?:""", text)
    assert all(link.startswith("#") for link in LINKS.findall(text))


def test_a_redacted_page_shows_no_value_of_a_patient():
    data = file("837P", *CLAIMS)
    text = html(data, redactor=Redactor(b"key"))
    for value in (
        "ARDEN",
        "ROSA",
        "MILO",
        "FERNHILL",
        "1234567893",
        "19800101",
        "1980-01-01",
        "NOTE",
    ):
        assert value not in text
        assert value in html(data) or value == "1980-01-01"
    assert "CLM05-1" in text
    assert "pseudonyms" in text


def test_a_long_file_begins_folded_but_for_what_is_wrong(monkeypatch):
    monkeypatch.setattr(page, "SEGMENTS_OPEN_MAX", 10)
    fault = next(
        fault for fault in FAULTS if fault.rule == "X837-POINTER" and "837P" in fault.kinds
    )
    text = html(inject("837P", fault)[0])
    units = re.findall(r'<details class="loop unit"( open)?>.*?</summary>', text)
    assert sorted(units) == ["", " open"]
    assert len(re.findall(r'<details class="seg" id="s\d+" open>', text)) == 1
    assert re.search(r'class="loop unit" open>.*1 error</span></summary>', text)


def test_findings_beyond_the_limit_are_counted(monkeypatch):
    monkeypatch.setattr(page_summary, "FINDINGS_SHOWN_MAX", 2)
    monkeypatch.setattr(page_summary, "PLACES_PER_FINDING_MAX", 1)
    data = file("837P", *(row.replace("D8", "D9") for row in CLAIMS))
    sentences = html(data).count("<li") - 1  # one says how many findings are not shown
    monkeypatch.setattr(page, "FINDING_GROUPS_SHOWN_MAX", 1)
    text = html(data)
    kept = len(check(data).findings) - 2
    assert f"{kept} findings counted and not shown" in text
    assert f"{sentences - 1} other sentence" in text
    assert text.endswith("</details>\n</main></body></html>\n")
    assert len(notes(text)) == 2


def test_unknown_guides_several_interchanges_and_strays_are_shown(monkeypatch):
    monkeypatch.setattr(page_summary, "INTERCHANGES_SHOWN_MAX", 1)
    unknown = file("835", *REMITTANCE).replace(b"005010X221A1", b"004010X091")
    data = file("837P", *CLAIMS).replace(b"GE*", b"ZZ*STRAY~YY~GE*") + b"junk" + unknown
    text = html(data)
    parsed = Strict(text)
    assert "STRAY" in " ".join(parsed.texts)
    assert '<span class="sid">YY</span>' in text  # a segment without elements
    assert "sets of an unknown guide" in text
    assert "About the file" in text
    assert "1 interchange" in text


def test_what_is_no_x12_gives_no_page():
    with pytest.raises(UnreadablePageError):
        html(b"Dear payer")


def test_a_page_is_written_while_the_file_is_read():
    rows = samples837.claims(
        Random(1), "837P", subscribers=by_profile(thorough=60, usual=25, quick=15)
    )
    data = samples837.interchange("837P", [rows]).encode()
    pieces = write_page(
        lambda: (data[at : at + 4_096] for at in range(0, len(data), 4_096)), title="claims"
    )
    size = len(next(pieces))
    tracemalloc.start()
    size += sum(map(len, pieces))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 2


# The command.


def run(*arguments, stdin=b""):
    return CliRunner().invoke(x12.app, ["html", *map(str, arguments)], input=stdin)


def test_the_command_writes_a_page_to_a_file_or_to_standard_output(tmp_path):
    source, out = tmp_path / "claims.837", tmp_path / "claims.html"
    source.write_bytes(file("837P", *CLAIMS))
    result = run(source, "-o", out)
    assert (result.exit_code, result.output) == (0, "")
    assert out.stat().st_mode & 0o777 == 0o600
    assert "<title>claims.837</title>" in out.read_text(encoding="utf-8")
    assert run(source).stdout_bytes == out.read_bytes()
    assert "<title>standard input</title>" in run(stdin=source.read_bytes()).stdout
    redacted = run(source, "--redact").stdout
    assert "claims.837" not in redacted
    assert "ARDEN" not in redacted
    assert run("--redact", stdin=source.read_bytes()).stdout == redacted
    assert run(source, "--redact", "--key", "one").stdout != redacted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["claims.837", "claims.html"]


def test_what_the_command_cannot_do_is_reported_in_a_sentence(tmp_path, monkeypatch):
    source = tmp_path / "claims.837"
    source.write_bytes(file("837P", *CLAIMS))
    (tmp_path / "letter").write_text("Dear payer")
    for arguments, words in (
        ([tmp_path / "letter", "-o", tmp_path / "out.html"], "cannot be read as X12"),
        ([tmp_path / "nowhere"], "no such file"),
        ([source, "-o", source], "cannot take the place"),
        ([source, "-o", tmp_path / "no" / "out.html"], "cannot be written"),
        ([source, "-o", tmp_path], "directory"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["claims.837", "letter"]
    assert source.read_bytes() == file("837P", *CLAIMS)


def test_a_terminal_gets_no_page(monkeypatch, capsys):
    class Terminal:
        @staticmethod
        def isatty():
            return True

    monkeypatch.setattr(x12_html.sys, "stdout", Terminal)
    with pytest.raises(x12_html.stop.__globals__["typer"].Exit):
        x12_html.write_html("claims.837", "", redact=False, key="")
    assert "-o" in capsys.readouterr().err


# In a real browser.

playwright = pytest.importorskip(
    "playwright.sync_api", reason="no playwright: `make install` brings it"
)


def test_a_browser_shows_the_page_without_complaint_on_a_wide_and_a_narrow_screen(tmp_path):
    path = chromium.find()
    if path is None:
        pytest.skip(chromium.HOW)
    shown = tmp_path / "page.html"
    rows = [row.replace("CLM*A1*200", "CLM*A1*201") for row in CLAIMS]
    shown.write_text(html(file("837P", *rows)), encoding="utf-8")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=chromium.arguments(), chromium_sandbox=False
        )
        for width, scheme in ((1280, "light"), (360, "dark")):
            context = browser.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme
            )
            tab = context.new_page()
            tab.set_default_timeout(PATIENCE_SECONDS * 1_000)
            complaints = []
            tab.on("console", lambda line: complaints.append(line.text))
            tab.on("request", lambda request: complaints.append(request.url))
            tab.goto(shown.as_uri())
            assert complaints == [shown.as_uri()]
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            # The style sheet passes its own policy.
            assert (
                tab.evaluate("getComputedStyle(document.querySelector('main')).display") == "grid"
            )
            tab.locator(".findings a").first.click()
            assert tab.locator(".seg:target").is_visible()
        browser.close()
