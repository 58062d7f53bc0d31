"""The library is imported when something of it is first used: the command line, which is part of it, does without."""

import subprocess
import sys

USE = """
import sys
import memorist
assert "memorist.store" not in sys.modules and "numpy" not in sys.modules
assert set(memorist.__all__) <= set(dir(memorist))
assert memorist.errors.NotFound is memorist.NotFound
assert not hasattr(memorist, "nothing") and not hasattr(memorist, "_nothing")
names = {}
exec("from memorist import *", names)
assert set(memorist.__all__) <= set(names)
assert "numpy" not in sys.modules
"""


def test_the_library_is_imported_when_it_is_first_used() -> None:
    ran = subprocess.run([sys.executable, "-c", USE], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_module_is_the_program() -> None:
    command = [sys.executable, "-m", "memorist"]
    assert subprocess.run([*command, "--version"], capture_output=True, text=True).stdout.startswith("memorist ")
    wrong = subprocess.run([*command, "list", "--no-such"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout, "Usage: memorist list" in wrong.stderr) == (2, "", True)
