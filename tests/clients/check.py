"""What the programs here share: checks that print one line each, and an HTTP server to drive.

A line begins with `ok` or `FAIL`; `run` counts them.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from contextlib import contextmanager
from pathlib import Path

# Timeout for everything without one of its own. Only a server that hangs takes this long.
TIMEOUT_SECONDS = 60


class Checks:
    """Counts and prints checks under a heading."""

    def __init__(self, heading):
        self.heading = heading
        self.failed = 0

    def that(self, name, holds, detail=""):
        """One check. `detail` is shown when it fails. Returns whether it passed."""
        if holds:
            print(f"ok   {self.heading}: {name}", flush=True)
        else:
            self.failed += 1
            shown = detail if isinstance(detail, str) else repr(detail)
            print(f"FAIL {self.heading}: {name}: {' '.join(shown.split())[:600]}", flush=True)
        return bool(holds)

    def equal(self, name, got, wanted):
        """Holds when both are equal and, for numbers and truth values, of one JSON type."""
        same = json.dumps(got, sort_keys=True) == json.dumps(wanted, sort_keys=True)
        if isinstance(got, dict) and isinstance(wanted, dict) and got.keys() == wanted.keys():
            # A long object: only the differences are worth reading.
            got, wanted = ({key: value for key, value in one.items() if repr(got[key]) != repr(wanted[key])}
                           for one in (dict(got), dict(wanted)))
        return self.that(name, same, f"got {got!r}, wanted {wanted!r}")

    @contextmanager
    def section(self, name):
        """Turns an exception of the block into a failed check, so that the programs after it still run."""
        try:
            yield
        except Exception as error:
            self.that(name, False, "; ".join(causes(error)))

    def end(self):
        """Ends the program."""
        sys.exit(1 if self.failed else 0)


def run_all(heading, checks_of, binary):
    """Runs functions named `check_…`, each with checks and a folder of its own. Ends the program."""
    failed = 0
    for check in checks_of:
        checks = Checks(f"{heading} {check.__name__.removeprefix('check_')}")
        with tempfile.TemporaryDirectory() as folder, checks.section("runs to its end"):
            check(checks, binary, Path(folder))
        failed += checks.failed
    sys.exit(1 if failed else 0)


def causes(error):
    """The errors in a group of errors, which may be nested; an error alone is its own cause."""
    for cause in getattr(error, "exceptions", []):
        yield from causes(cause)
    if not hasattr(error, "exceptions"):
        place = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in place if Path(frame.filename).parent.name in ("clients", "python")] or place
        yield f"{type(error).__name__}: {error} (line {ours[-1].lineno})"


class HttpServer:
    """`memorist serve --http` on a free port. `checks` learns whether it was silent and ended well."""

    def __init__(self, checks, binary, store, *args, address="127.0.0.1:0", cwd=None, **variables):
        self.checks = checks
        environment = os.environ | {"MEMORIST_STORE": str(store)} | variables
        self.process = subprocess.Popen(
            [binary, "serve", "--http", address, *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=cwd,
        )
        self.lines = []
        self.announced = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.decode(errors="replace"))
            if line == b"}\n":
                self.announced.set()
        self.announced.set()

    def __enter__(self):
        self.announced.wait(TIMEOUT_SECONDS)
        self.said = "".join(self.lines)
        found = re.match(r"serving MCP at (http://[^/]+:(\d+)/mcp)\nsettings of a client, [^\n]*:\n(\{\n.*\n\}\n)",
                         self.said, re.DOTALL)
        if not found:
            self.process.kill()
            raise RuntimeError(f"the server did not say where it serves: {self.lines}")
        self.url, self.port = found[1], int(found[2])
        settings = json.loads(found[3])["mcpServers"]["memorist"]
        self.checks.equal("the settings of a client have its address", settings["url"], self.url)
        # The headers that a client needs.
        self.headers = settings.get("headers", {})
        return self

    def __exit__(self, *_):
        self.stop("the server ends well")

    def stop(self, name, within=5.0):
        """SIGTERM, and checks of its effects."""
        if self.process.stdout.closed:
            return
        self.process.send_signal(signal.SIGTERM)
        ends(self.checks, f"{name} on SIGTERM", self.process, within)
        self.reader.join(TIMEOUT_SECONDS)
        self.checks.equal("stdout of the HTTP server is empty", self.process.stdout.read().decode(errors="replace"), "")
        more = "".join(self.lines).removeprefix(self.said)
        self.checks.equal("stderr of the HTTP server says only where it serves", more, "")
        self.process.stdout.close()


def ends(checks, name, process, within, code=0):
    """Checks that a process ends on request, how, and how soon (in seconds)."""
    start = time.monotonic()
    try:
        ended = process.wait(TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        ended = "no exit"
    took = time.monotonic() - start
    checks.that(f"{name}: exit {code}, promptly", ended == code and took < within, f"exit {ended} after {took:.2f} s")


def binary_argument():
    """The program to test, from the command line. From here on the working folder belongs to no project: a server
    takes its project from its working folder."""
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(f"usage: {sys.argv[0]} PATH_TO_MEMORIST")
    binary = str(Path(sys.argv[1]).resolve())
    os.chdir(tempfile.gettempdir())
    return binary
