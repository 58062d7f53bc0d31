"""The command line: the script `memorist`, or `python -m memorist`. Agents wait for it, so it imports as little as it can."""

import os
import sys

from ._memorist import run_program


def main() -> None:
    """Runs the command of this process, and ends it."""
    if os.name == "posix":
        # Of a stream that is closed, the next file that is opened would get the number.
        for stream in range(3):
            try:
                os.fstat(stream)
            except OSError:
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    run_program(_own_command(), sys.argv[1:])


def _own_command() -> list[str]:
    """The words that start this program again: its script, or this module where there is none."""
    script = sys.argv[0]
    if os.path.basename(script) == "__main__.py" and sys.prefix != sys.base_prefix:
        script = os.path.join(os.path.dirname(sys.executable), "memorist")
    if os.path.basename(script) == "memorist":
        for file in (script, f"{script}.exe"):
            if os.path.isfile(file):
                return [os.path.abspath(file)]
    # The folder in which an agent works may have a module of any name.
    without_folder = "-P" if sys.version_info >= (3, 11) else "-I"
    return [sys.executable, without_folder, "-m", "memorist"]


if __name__ == "__main__":
    main()
