"""The service imports and works in a process that the kernel refuses writable and executable memory, as the unit asks."""

import ctypes
import subprocess
import sys

import pytest

PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1


def test_the_service_lives_without_writable_and_executable_memory():
    """The unit says MemoryDenyWriteExecute: the kernel is asked for the same, then a server is imported and used."""
    program = f"""
import asyncio, ctypes, sys
if ctypes.CDLL(None).prctl({PR_SET_MDWE}, {PR_MDWE_REFUSE_EXEC_GAIN}, 0, 0, 0):
    sys.exit(77)
import argon2, asyncssh, cryptography.fernet, httptools, uvloop, zstandard
import clearlane.api.service, clearlane.wiring
argon2.PasswordHasher().hash("a password")
uvloop.run(asyncio.sleep(0))
key = asyncssh.generate_private_key("ssh-ed25519")
"""
    if not hasattr(ctypes.CDLL(None), "prctl"):
        pytest.skip("not Linux")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        pytest.skip("the kernel cannot refuse this memory (before 6.3)")
    assert (done.returncode, done.stderr) == (0, "")
