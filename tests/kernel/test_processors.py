"""How many processors a process may use."""

import os

import pytest

from clearlane.kernel.processors import count_processors

BOUND = len(os.sched_getaffinity(0))


def a_tree(folder, groups, files):
    (folder / "groups").write_text(groups)
    for name, text in files.items():
        file = folder / "tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder / "groups", folder / "tree"


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/own\n", {"own/cpu.max": "50000 100000\n"}, 1),
        ("0::/own\n", {"own/cpu.max": "9900000 100000\n"}, BOUND),
        ("0::/own\n", {"own/cpu.max": "max 100000\n"}, BOUND),
        ("0::/\n", {}, BOUND),
        (
            "5:memory:/own\n4:cpu,cpuacct:/own\nwrong\n",
            {
                "cpu,cpuacct/own/cpu.cfs_quota_us": "20000\n",
                "cpu,cpuacct/own/cpu.cfs_period_us": "100000\n",
            },
            1,
        ),
        (
            "4:cpu,cpuacct:/\n",
            {
                "cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
                "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            BOUND,
        ),
    ],
)
def test_the_share_of_a_control_group_counts(tmp_path, groups, files, expected):
    assert count_processors(*a_tree(tmp_path, groups, files)) == expected


def test_without_control_groups_the_processors_count(tmp_path):
    assert count_processors(tmp_path / "none", tmp_path) == BOUND
