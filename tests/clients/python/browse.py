"""Drives `memorist browse` in a pseudo terminal: types, reads the screen, follows links,
deletes, and leaves; and answers the question of `memorist purge`.

    browse.py PATH_TO_MEMORIST

Needs nothing but the standard library.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from check import TIMEOUT_SECONDS, Checks, binary_argument

COLUMNS, ROWS = 80, 24
MEMORIES = [
    ["User prefers dark mode for all applications", "--kind", "preference", "--tag", "ui", "--project", "atlas"],
    ["The login page issues OAuth tokens for authentication", "--kind", "decision", "--context", "The new web site"],
    ["Ana went for a run along the river", "--kind", "event", "--project", "borealis"],
    ["暗い画面 is what Ken likes", "--kind", "preference"],
]
SEQUENCE = re.compile(rb"\x1b\[([?<>=]?)([0-9;]*)([A-Za-z])")

DOWN, RIGHT, ALT_LEFT, HOME = b"\x1b[B", b"\x1b[C", b"\x1b[1;3D", b"\x1b[H"
DELETE, HELP, TAB, BACKSPACE = b"\x1b[3~", b"\x1bOP", b"\t", b"\x7f"
ENTER, ESCAPE, CONTROL_C, CONTROL_D, CONTROL_U, CONTROL_Y = b"\r", b"\x1b", b"\x03", b"\x04", b"\x15", b"\x19"


class Terminal:
    """The program in a pseudo terminal, and its screen: as much of a terminal as the program uses."""

    def __init__(self, binary, store, *args, command="browse", **variables):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        environment = os.environ | {"MEMORIST_STORE": str(store), "TERM": "xterm-256color"} | variables
        self.process = subprocess.Popen(
            [binary, command, *args], stdin=self.slave, stdout=self.slave, stderr=self.slave, env=environment,
            start_new_session=True,
        )
        self.bytes = b""
        self.seen = b""
        self.modes = set()
        self.cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def type(self, keys):
        os.write(self.master, keys if isinstance(keys, bytes) else keys.encode())

    def read(self, seconds):
        """Reads the program's output, for some time or until it has ended."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.master], [], [], min(left, 0.05))[0]:
                return
            data = os.read(self.master, 65536)
            self.seen += data
            self.bytes += data
            self.show()

    def show(self):
        while self.bytes:
            if self.bytes.startswith(b"\x1b"):
                found = SEQUENCE.match(self.bytes)
                if not found:
                    return
                self.obey(found[1], found[2], found[3])
                self.bytes = self.bytes[found.end():]
                continue
            text, escape, rest = self.bytes.partition(b"\x1b")
            # A character may be incomplete.
            whole = text if escape else text[:len(text.decode(errors="ignore").encode())]
            for character in whole.decode(errors="replace"):
                self.put(character)
            self.bytes = text[len(whole):] + escape + rest
            if not escape:
                return

    def obey(self, mark, numbers, letter):
        numbers = [int(number or 0) for number in numbers.split(b";")]
        if mark == b"?" and letter in b"hl":
            (self.modes.add if letter == b"h" else self.modes.discard)(numbers[0])
        elif letter == b"H":
            self.row, self.column = (max(number, 1) - 1 for number in (numbers + [1])[:2])
        elif letter == b"J":
            self.cells = [[" "] * COLUMNS for _ in range(ROWS)]

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row = min(self.row + 1, ROWS - 1)
        elif self.row < ROWS and self.column < COLUMNS:
            self.cells[self.row][self.column] = character
            wide = unicodedata.east_asian_width(character) in "WF"
            if wide and self.column + 1 < COLUMNS:
                self.cells[self.row][self.column + 1] = ""
            self.column += 2 if wide else 1

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def shows(self, *wanted, without=()):
        """Waits until the screen shows every one of these, and none of those."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < end:
            screen = "\n".join(self.lines())
            if all(text in screen for text in wanted) and not any(text in screen for text in without):
                return True
            if self.process.poll() is not None:
                return False
            self.read(0.05)
        return False

    def ended(self):
        """How the program ended."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        self.read(0.2)
        return self.process.poll()


def memorist(binary, store, *args, **options):
    environment = os.environ | {"MEMORIST_STORE": str(store)}
    return subprocess.run([binary, *args], env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                          **options)


def check_restored(checks, terminal, how):
    """The terminal is as it was: its settings, the main screen, the cursor, no pasting in brackets."""
    settings = termios.tcgetattr(terminal.slave)
    checks.that(f"{how}: the settings of the terminal are restored", settings == terminal.before)
    # 1049: the other screen; 2004: pasting in brackets; 25: the cursor.
    checks.equal(f"{how}: the screen and the cursor are back", sorted(terminal.modes - {25}), [])
    checks.that(f"{how}: the cursor is shown", 25 in terminal.modes, terminal.modes)


def check_search(checks, binary, store):
    with terminal_of(binary, store) as terminal:
        def shows(name, *wanted, without=()):
            checks.that(name, terminal.shows(*wanted, without=without), "\n".join(terminal.lines()))

        shows("it lists what the store holds", "4 memories; type to search", "Ana went")
        checks.that("on a screen of its own", {1049, 2004} <= terminal.modes, terminal.modes)
        shows("and shows the newest", "Memory 4", "importance  5 of 10", "project     any")
        terminal.type("oauth tok")
        shows("what is typed is searched for", "Search: oauth tok", "The login page issues")
        shows("and the best is shown", "Memory 2", "context     The new web site")
        terminal.type(CONTROL_U)
        terminal.type("暗い")
        shows("in any script", "Search: 暗い", "Memory 4", "preference    暗い画面", "3 weaker ones: F2")
        terminal.type(CONTROL_U)
        shows("an empty line lists again", "4 memories; type to search")
        terminal.type(DOWN)
        shows("the arrows choose", "Memory 3", "borealis")
        terminal.type(ENTER)
        shows("enter reads it in full", "fetched", without=["Memories"])
        terminal.type(ESCAPE)
        shows("escape goes back", "Memories")
        terminal.type(HELP)
        shows("the help key tells the keys", "Keys", "delete, asks first")
        terminal.type("x")
        shows("and any key closes that", "Memories", without=["Keys"])
        terminal.type(DELETE)
        shows("a deletion is confirmed by name", "Delete memory 3?", "Ana went for a run", "y Enter / n")
        terminal.type("n")
        shows("no keeps it", "2 of 4", without=["Delete memory"])
        checks.equal("in the store too", memorist(binary, store, "get", "3").returncode, 0)
        terminal.type(CONTROL_D)
        terminal.shows("Delete memory 3?")
        terminal.type(CONTROL_Y + b"yes" + ENTER)
        shows("typing on does not confirm", "y Enter / n")
        terminal.type("y")
        shows("a yes is to be confirmed", "Delete memory 3?", " Enter / n", without=["y Enter"])
        checks.equal("until then it is there", memorist(binary, store, "get", "3").returncode, 0)
        terminal.type(ENTER)
        shows("Enter deletes it", "deleted memory 3", "2 of 3", without=["Ana went"])
        checks.equal("in the store too (4: not there)", memorist(binary, store, "get", "3").returncode, 4)
        terminal.type(b"xdark" + HOME + DELETE)
        shows("in the search line a letter is deleted, and nothing asked", "Search: dark", "Memory 1", without=["Delete memory"])
        terminal.type(HOME + CONTROL_D + b"y")
        shows("and what is typed then is text", "Search: yark", without=["Delete memory", "deleted memory"])
        terminal.type(CONTROL_U)
        shows("all others are there", "3 memories; type to search")
        checks.that("nothing was logged across the screen", not re.search(b"WARN|ERROR|panicked", terminal.seen))
        terminal.type(ESCAPE)
        checks.equal("escape leaves with exit 0", terminal.ended(), 0)
        check_restored(checks, terminal, "escape")


def check_links(checks, binary, store):
    for link in (["2", "related", "1"], ["4", "contradicts", "2"]):
        checks.equal(f"link {' '.join(link)}", memorist(binary, store, "link", *link).returncode, 0)
    with terminal_of(binary, store, "oauth") as terminal:
        def shows(name, *wanted, without=()):
            checks.that(name, terminal.shows(*wanted, without=without), "\n".join(terminal.lines()))

        shows("a memory shows its links", "Memory 2", "→ related to 1: User prefers dark mode",
              "← contradicted by 4: 暗い画面 is what Ken")
        terminal.type(TAB)
        shows("in it, keys choose one", "←→ links")
        terminal.type(RIGHT)
        shows("and name the next keys", "Enter follow")
        terminal.type(ENTER)
        shows("enter follows it", "Memory 1, from 2", "← related to 2: The login page")
        terminal.type(BACKSPACE)
        shows("backspace goes back to where it was", "Memory 2", "Enter follow", without=["from 2"])
        terminal.type(RIGHT + ENTER)
        shows("the next one leads elsewhere", "Memory 4, from 2", "→ contradicts 2: The login page")
        terminal.type(ALT_LEFT)
        shows("Alt-left goes back too", "Memory 2", without=["from 2"])
        terminal.type(ESCAPE)
        shows("escape goes back to the list", "Tab memory")
        terminal.type(CONTROL_C)
        checks.equal("and Ctrl-C leaves with exit 0", terminal.ended(), 0)
    with terminal_of(binary, store, "oauth", "--project", "other") as terminal:
        checks.that("a link to another project's memory is not shown",
                    terminal.shows("Memory 2", "← contradicted by 4", without=["related to"]), terminal.lines())


def check_purge(checks, binary, store):
    """The question of `memorist purge`, which only a yes answers."""
    for answer, code, left in (("n", 130, 0), ("", 130, 0), ("yes", 0, 4)):
        with Terminal(binary, store, "1", command="purge") as terminal:
            asked = terminal.shows("1  User prefers dark mode", "cannot be undone. [y/N]")
            checks.that("purge asks by name", asked, terminal.lines())
            terminal.type(answer + "\n")
            checks.equal(f"the answer {answer!r} ends with exit {code}", terminal.ended(), code)
        checks.equal(f"after {answer!r} the memory is there (0) or not (4)",
                     memorist(binary, store, "get", "1").returncode, left)


def check_ends(checks, binary, store):
    with terminal_of(binary, store, "dark") as terminal:
        checks.that("the query of the command line is searched for", terminal.shows("Search: dark", "Memory 1"),
                    terminal.lines())
        terminal.type(CONTROL_C)
        checks.equal("Ctrl-C leaves with exit 0", terminal.ended(), 0)
        check_restored(checks, terminal, "Ctrl-C")
    with terminal_of(binary, store) as terminal:
        terminal.shows("type to search")
        terminal.process.send_signal(signal.SIGTERM)
        checks.equal("SIGTERM ends it with exit 130", terminal.ended(), 130)
        check_restored(checks, terminal, "SIGTERM")


def check_surroundings(checks, binary, store):
    with terminal_of(binary, store, "--project", "other") as terminal:
        checks.that("--project shows its own and global memories", terminal.shows("2 memories; type to search"),
                    terminal.lines())
        checks.that("and colours", b"\x1b[38;5;" in terminal.seen, terminal.seen[:200])
    with terminal_of(binary, store, "dark", NO_COLOR="1") as terminal:
        terminal.shows("Memory 1")
        # A colour, or what the library leaves of one that it swallows: a sequence that resets all attributes.
        coloured = re.findall(rb"\x1b\[(?:[34]8;[0-9;]*|;)m", terminal.seen)
        checks.equal("NO_COLOR is without", [sequence.decode() for sequence in coloured], [])
    refused = memorist(binary, store, "browse", stdin=subprocess.DEVNULL)
    checks.equal("without a terminal it is refused with the way out",
                 [refused.returncode, refused.stdout, "use `memorist search`" in refused.stderr], [2, "", True])
    refused = memorist(binary, store, "browse", "--json", stdin=subprocess.DEVNULL)
    checks.equal("with --json too", [refused.returncode, json.loads(refused.stdout)["error"]["kind"]], [2, "input"])


def terminal_of(binary, store, *args, **variables):
    # Each check sets colours itself, independent of the environment.
    return Terminal(binary, store, *args, **({"NO_COLOR": ""} | variables))


def main():
    binary = binary_argument()
    checks = Checks("browse")
    for check in (check_search, check_links, check_purge, check_ends, check_surroundings):
        with tempfile.TemporaryDirectory() as folder, checks.section(check.__name__):
            for memory in MEMORIES:
                added = memorist(binary, folder, "add", *memory)
                if added.returncode:
                    raise RuntimeError(added.stderr)
            check(checks, binary, folder)
    checks.end()


if __name__ == "__main__":
    main()
