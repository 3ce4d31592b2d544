"""Tests `kernel/log`: the logger comes without libraries that color terminals, which stay there for others."""

import subprocess
import sys

LOADED = """
import sys
from clearlane.kernel.log import get_logger
get_logger().info("node started")
assert "rich" not in sys.modules, "loaded with the logger"
import rich
"""


def test_the_logger_loads_nothing_for_colors():
    subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True)
