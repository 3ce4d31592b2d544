"""``clearlane x12`` on files alone.

Also tests `cli/x12/x12`, `cli/x12/x12_check` and `cli/x12/x12_files`.
"""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clearlane.cli.x12 import x12, x12_files
from clearlane.kernel import limits
from clearlane.x12 import views
from clearlane.x12.checker.check import check
from tests.cases import every_case
from tests.corpus import corpus_files
from tests.patience import PATIENCE_SECONDS
from tests.x12.samples837 import interchange, plain
from tests.x12.views.test_views import CLAIMS, REMITTANCE, VERDICTS, file

# The claim rules warn of a billing provider without an NPI.
CLEAN = (
    interchange("837P", [plain("837P")])
    .replace("NM1*85*2*LARKSPUR DENTAL~", "NM1*85*2*LARKSPUR DENTAL*****XX*1679576722~")
    .encode()
)
KEYS = [
    "rule", "severity", "snip", "interchange", "group", "set", "segment", "file_segment", "loop",
    "segment_id", "element", "component", "repetition", "kind", "message",
]  # fmt: skip


def run(*arguments, stdin=b""):
    return CliRunner().invoke(x12.app, [str(a) for a in arguments], input=stdin)


@pytest.fixture
def clean(tmp_path):
    path = tmp_path / "clean.837"
    path.write_bytes(CLEAN)
    return path


@pytest.fixture
def faulty(tmp_path):
    path = tmp_path / "faulty.837"
    path.write_bytes(CLEAN.replace(b"BHT*0019", b"BHT*0020"))
    return path


@pytest.fixture
def warned(tmp_path):
    path = tmp_path / "warned.837"
    # A short postal code is what a payer may refuse, not what breaks the file.
    path.write_bytes(CLEAN.replace(b"*537031020~\nREF", b"*53703~\nREF", 1))
    assert (check(path.read_bytes()).errors, check(path.read_bytes()).warnings) == (0, 1)
    return path


def test_check_reports_nothing_wrong(clean):
    result = run("check", clean)
    assert result.exit_code == 0
    assert result.output == f"{clean}: 0 errors, 0 warnings\n"


def test_check_shows_what_is_wrong_in_a_table(faulty):
    result = run("check", faulty)
    assert result.exit_code == 1
    first, heading, row = result.output.splitlines()
    assert first == f"{faulty}: 1 error, 0 warnings"
    assert heading.split() == ["NUMBER", "SEGMENT", "ELEMENT", "SEVERITY", "FINDING"]
    assert row.split()[:5] == ["4", "BHT", "(837)", "01", "error"]


def test_check_counts_warnings_only_when_strict(warned):
    assert run("check", warned).exit_code == 0
    assert run("check", "--strict", warned).exit_code == 1


def test_check_answers_an_object_a_line_for_each_file(clean, faulty, tmp_path):
    result = run("check", "--json", clean, faulty, tmp_path / "nowhere")
    assert result.exit_code == 2
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert list(first) == ["file", "readable", "errors", "warnings", "findings"]
    assert (first["file"], first["readable"], first["findings"]) == (str(clean), True, [])
    assert (second["errors"], second["warnings"]) == (1, 0)
    (finding,) = second["findings"]
    assert list(finding) == KEYS
    assert (finding["file_segment"], finding["segment_id"], finding["element"]) == (4, "BHT", 1)
    assert (finding["severity"], finding["set"], finding["segment"]) == ("error", 1, 2)
    assert not third["readable"]
    assert third["findings"][0]["message"].endswith("there is no such file")


def test_check_reads_standard_input():
    assert run("check", stdin=CLEAN).output == "standard input: 0 errors, 0 warnings\n"
    assert run("check", "-", stdin=CLEAN).exit_code == 0


@pytest.mark.parametrize("command", ["describe", "json", "ack", "reformat", "redact"])
def test_a_missing_file_and_a_directory_are_reported_in_a_sentence(command, tmp_path):
    for name, words in ((tmp_path / "nowhere", "no such file"), (tmp_path, "directory")):
        result = run(command, name)
        assert result.exit_code == 2
        assert words in result.stderr
        assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["check", "describe", "json", "ack", "reformat", "redact"])
def test_what_is_no_x12_is_reported_in_a_sentence(command, tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear payer")
    result = run(command, path)
    assert result.exit_code == 2
    assert "cannot be read as X12" in result.output


def test_a_file_nobody_may_read_is_reported_in_a_sentence(monkeypatch, clean):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    assert "may not read it" in run("check", clean).stderr

    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", broken)
    assert "Input/output error" in run("describe", clean).stderr


def test_findings_without_a_place_have_a_row_too():
    result = run("check", stdin=b"junk ISA")
    assert result.exit_code == 2
    assert "FILE-" in result.output


def test_describe_explains_segments(tmp_path):
    result = run("describe", stdin=file("835", *REMITTANCE))
    assert result.exit_code == 0
    assert "2100 Claim payment" in result.output
    assert "CLP02  Claim status: 1  (" in result.output


def test_describe_answers_as_json():
    result = run("describe", "--json", stdin=file("835", *REMITTANCE))
    objects = [json.loads(line) for line in result.output.splitlines()]
    assert objects[0]["segment"] == "ISA"
    assert {"place", "name", "value", "words"} == set(objects[0]["parts"][0])


def test_json_shows_typed_values():
    (found,) = json.loads(run("json", stdin=file("835", *REMITTANCE)).output)
    view = found["groups"][0]["sets"][0]["view"]
    assert view["view"] == "remittance"
    assert view["payment"]["amount"] == "190"
    assert view["totals"]["balance"] == "0"


def test_json_lines_come_one_by_one():
    result = run("json", "--lines", stdin=file("837P", *CLAIMS))
    objects = [json.loads(line) for line in result.output.splitlines()]
    assert [next(key for key in one if key in {"part", "unit", "view"}) for one in objects] == [
        "part", "part", "part", "unit", "part", "unit", "view",
    ]  # fmt: skip


def test_json_lines_report_when_too_much_belongs_together(monkeypatch):
    monkeypatch.setattr(limits, "SEGMENTS_HELD_MAX", 2)
    unknown = file("835", *REMITTANCE).replace(b"005010X221A1", b"004010X091")
    result = run("json", "--lines", stdin=unknown)
    assert result.exit_code == 2
    assert "more than 2 segments" in result.stderr


def test_diff_shows_changes_and_its_exit_status(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(file("837P", *CLAIMS))
    rows = [row.replace("CLM*A1*200", "CLM*A1*201") for row in CLAIMS if not row.startswith("NTE")]
    two.write_bytes(file("837P", *rows).replace(b"000000017", b"000000018"))
    same = run("diff", one, one)
    assert (same.exit_code, same.output) == (0, "no differences\n")
    result = run("diff", "--ignore-envelopes", one, two)
    assert result.exit_code == 1
    assert "CLM02 Total charge: 200 became 201" in result.output
    assert "NTE Claim note removed: ADD*NOTE" in result.output
    assert result.output.endswith("1 changed, 1 removed\n")
    as_json = json.loads(run("diff", "--json", one, two).output)
    assert {change["place"] for change in as_json} == {"ISA13", "IEA02", "CLM02", "NTE"}
    assert run("diff", one, tmp_path / "nowhere").exit_code == 2
    (tmp_path / "letter").write_text("Dear payer")
    assert run("diff", one, tmp_path / "letter").exit_code == 2


def test_diff_shows_a_whole_loop_that_went(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(file("837P", *CLAIMS))
    two.write_bytes(file("837P", *CLAIMS[: CLAIMS.index("HL*3*2*23*0")]))
    assert "2000C Patient level removed" in run("diff", one, two).output


def test_ack_writes_a_999_or_a_ta1(clean):
    nine = run("ack", clean).stdout_bytes
    (found,) = views.read_views(nine)
    (verdict,) = found.sets
    assert verdict.view.accepted
    assert check(nine).errors == 0
    ta1 = run("ack", "--ta1", "--control", "41", clean).stdout_bytes
    assert b"TA1*" in ta1
    assert b"000000041" in ta1
    broken = run("ack", stdin=CLEAN.replace(b"*00501*", b"*00599*", 1)).stdout_bytes
    assert b"TA1*" in broken


def test_reformat_changes_separators_and_lines(clean):
    lines = run("reformat", clean).stdout_bytes
    assert lines == CLEAN
    one = run("reformat", "--element", "|", "--no-newline", clean).stdout_bytes
    assert one == CLEAN.replace(b"\n", b"").replace(b"*", b"|")
    result = run("reformat", "--element", "A", clean)
    assert result.exit_code == 1
    assert "separator" in result.stderr


def test_redact_gives_the_same_each_time_and_follows_its_key(clean):
    first = run("redact", clean).stdout_bytes
    assert first == run("redact", clean).stdout_bytes == run("redact", stdin=CLEAN).stdout_bytes
    keyed = run("redact", "--key", "one", clean).stdout_bytes
    assert keyed == run("redact", "--key", "one", clean).stdout_bytes != first
    assert check(first).errors == check(keyed).errors == 0


def test_check_takes_folders_and_patterns_and_sums_up(tmp_path, clean, faulty):
    inner = tmp_path / "inbox" / "deep"
    inner.mkdir(parents=True)
    for place, content in (
        (inner / "b.837", CLEAN),
        (inner / "a.837", faulty.read_bytes()),
        (inner / ".hidden", b"ISA"),
        (inner.parent / "README.md", b"Dear payer"),
        (inner.parent / "empty.837", b""),
    ):
        place.write_bytes(content)
    result = run("check", clean, tmp_path / "inbox", clean)
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    named = [line.split(":")[0].removeprefix(f"{tmp_path}/") for line in lines if ".837: " in line]
    assert named == ["clean.837", "inbox/empty.837", "inbox/deep/a.837", "inbox/deep/b.837"]
    megabytes = x12_files.megabytes(2 * len(CLEAN) + faulty.stat().st_size)
    assert lines[-4:] == [
        f"4 files, {megabytes} MB, {3 * CLEAN.count(b'~')} segments",
        "  2 without errors, 1 with errors, 1 that cannot be read, 1 left out (no X12)",
        "  1 error, 0 warnings",
        "  most frequent: ELM-CODE 1",
    ]
    assert "README.md: left out, it holds no X12" in result.stderr
    pattern = tmp_path / "inbox" / "**" / "b.*"
    assert run("check", pattern).output == f"{inner / 'b.837'}: 0 errors, 0 warnings\n"
    for name, words in (("none*.837", "no file matches"), ("nothing", "no file in this folder")):
        (tmp_path / "nothing").mkdir(exist_ok=True)
        refused = run("check", tmp_path / name)
        assert refused.exit_code == 2
        assert words in refused.stderr


def test_a_name_with_pattern_characters_is_a_file_where_there_is_one(tmp_path):
    path = tmp_path / "claims [1].837"
    path.write_bytes(CLEAN)
    assert run("check", path).exit_code == 0


def test_check_refuses_more_files_than_it_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(x12_files, "FILES_PER_RUN_MAX", 1)
    for name in "ab":
        (tmp_path / name).write_bytes(CLEAN)
    result = run("check", tmp_path)
    assert result.exit_code == 2
    assert "more than 1 files" in result.stderr


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_one_line_on_a_terminal_and_nothing_elsewhere(clean, faulty):
    now = [0.0]
    size = clean.stat().st_size
    screen = Terminal()
    progress = x12_files.ReadProgress(
        [str(clean), str(faulty)], screen=screen, seconds=lambda: now[0]
    )
    progress.open(str(clean))
    progress.advance(size // 2, 20)
    assert not screen.getvalue()  # What is quick shows nothing.
    now[0] = 30.0
    progress.advance(size - size // 2, 41)
    mb = x12_files.megabytes
    shown = f"1 of 2 files  {mb(size)} of {mb(2 * size)} MB  41 segments  0:30 left  clean.837"
    assert screen.getvalue() == x12_files.ERASE_LINE + shown
    progress.close()
    assert screen.getvalue().endswith(shown + x12_files.ERASE_LINE)
    progress.open(str(faulty))
    progress.advance(1, 2)  # Too soon for another line.
    assert progress.segments == 43
    assert screen.getvalue().count("files") == 1
    silent = x12_files.ReadProgress([str(clean)], seconds=lambda: now[0])
    now[0] += 60
    silent.advance(size, 41)
    assert silent.line(60) == f"{mb(size)} of {mb(size)} MB  41 segments  0:00 left  "
    stream = x12_files.ReadProgress(["-"], seconds=lambda: now[0])
    stream.advance(5_000_000, 7)
    assert stream.line(1) == "5.0 MB  7 segments  "
    assert [x12_files.duration(s) for s in (0.2, 61, 3_725)] == ["0:01", "1:01", "1:02:05"]


def test_commands_show_progress_only_where_somebody_looks(clean, monkeypatch, capsys):
    monkeypatch.setattr(x12_files, "PROGRESS_AFTER_SECONDS", 0)
    assert b"".join(x12_files.read_or_stop(str(clean))) == CLEAN
    assert not capsys.readouterr().err
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert b"".join(x12_files.read_or_stop(str(clean))) == CLEAN
    assert "MB" in screen.getvalue()
    assert screen.getvalue().endswith(x12_files.ERASE_LINE)


def test_a_terminal_shows_that_input_is_awaited(monkeypatch, capsys):
    class Keyboard:
        buffer = io.BytesIO(CLEAN)

        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Keyboard())
    assert b"".join(x12_files.read_chunks("-")) == CLEAN
    assert "Ctrl-D" in capsys.readouterr().err


def test_every_command_has_help_with_an_example():
    for name in ("check", "describe", "html", "json", "diff", "ack", "reformat", "redact"):
        result = run(name, "--help")
        assert result.exit_code == 0
        assert f"clearlane x12 {name}" in " ".join(result.output.split())
    assert "describe" in run("--help").output


def test_the_command_starts_without_server_libraries():
    code = (
        "import sys, clearlane.cli.x12.x12, clearlane.x12.views, clearlane.x12.show.redact\n"
        "heavy = {'sqlalchemy', 'starlette', 'dbos', 'uvicorn', 'pydantic', 'httpx', 'cryptography'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0


@every_case("sample", corpus_files("999", "TA1", "277CA", "837D"))
def test_every_command_takes_the_public_files(sample):
    assert run("check", sample.path).exit_code in {0, 1}
    for command in ("describe", "json", "ack", "redact", "reformat"):
        assert run(command, sample.path).exit_code in {0, 1}
    assert VERDICTS
