"""The follower is strict: what it passes was really said."""

import pytest

from tests.journey.follower import Follower, steps

PAGE = """
```sh
make run
```

```sh
echo FIRST-1 C193NCA1FEDT685MHY1
```

```text
FIRST-1   C193NCRR1Y112VNNN75
```

1. In a list:

   ```sh
   echo shown C193NCRR1Y112VNNN75
   cat <<'END'
   2026-01-31 12:00:00 one
   two
   three and more
   END
   false   # exit status 1
   ```

   ```text
   shown C193NCRR1Y112VNNN75
   2027-05-05 01:02:03 one
   ...
   three ...
   ```

Words between.

```text
no output of anything
```
"""


@pytest.fixture
def reader(tmp_path):
    with Follower(tmp_path) as follower:
        yield follower


def test_steps_are_commands_and_what_stands_right_below_them():
    first, second = steps(PAGE)
    assert first.shown == ("FIRST-1   C193NCRR1Y112VNNN75",)
    assert len(second.commands) == 3
    assert "three and more\nEND" in second.commands[1]
    assert len(second.shown) == 4


def test_names_that_were_given_replace_those_that_are_shown(reader):
    assert "shown C193NCA1FEDT685MHY1" in reader.follow(PAGE)
    assert reader.names == {"C193NCRR1Y112VNNN75": "C193NCA1FEDT685MHY1"}


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (["two"], "one\ntwo\n"),
        (["one"], "one\ntwo\n"),
        (["one", "three"], "one\ntwo\nthree\n"),
        (["one", "..."], "two\n"),
        (["two", "...", "one"], "one\ntwo\n"),
        (["65.00"], "64.00\n"),
        (
            ["C193NCRR1Y112VNNN75", "C193NCRR1Y112VNNN75"],
            "C193NCA1FEDT685MHY1\nC1AAAAAAAAAAAAAAAAA\n",
        ),
    ],
)
def test_what_was_not_said_so_fails(reader, shown, said):
    with pytest.raises(AssertionError):
        reader.compare(tuple(shown), said)


def test_an_exit_status_that_is_not_shown_fails(reader):
    reader.type("false   # exit status 1")
    with pytest.raises(AssertionError):
        reader.type("false")
    with pytest.raises(AssertionError):
        reader.type("true   # exit status 1")


def test_one_shell_types_everything(reader):
    reader.type("export FAVORITE=larkspur")
    assert reader.type("echo $FAVORITE") == "larkspur\n"
