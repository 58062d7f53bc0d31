"""Times of calls, memory and disk, and workers that answer in lines of JSON."""

import json
import os
import statistics
import subprocess
import threading
import time
from pathlib import Path


def summary(values):
    """The median of rounds, with the least and the largest, without digits that are only of the arithmetic."""
    value, low, high = (float(f"{end:.9g}") for end in (statistics.median(values), min(values), max(values)))
    return {"value": value, "low": low, "high": high, "rounds": len(values)}


def percentile(values, percent):
    """The value that so many percent of the values are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


class Timed:
    """Times of calls, in seconds: of the clock, and of the processor in all threads of this process."""

    def __init__(self):
        self.wall, self.cpu = [], []

    def call(self, function, *arguments):
        """Calls it, and returns what it returns."""
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        result = function(*arguments)
        self.wall.append((time.perf_counter_ns() - wall) / 1e9)
        self.cpu.append((time.process_time_ns() - cpu) / 1e9)
        return result

    def percentiles(self):
        """The median and the 99th percentile of both."""
        return {
            f"{kind}_p{percent}": percentile(values, percent)
            for kind, values in (("wall", self.wall), ("cpu", self.cpu))
            for percent in (50, 99)
        }


def resident_mib():
    """The memory of this process, with the pages of mapped files; None where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), None)


def disk_mb(folder):
    """What the files of a folder take on disk."""
    sizes = (os.lstat(os.path.join(place, file)) for place, _, files in os.walk(folder) for file in files)
    return sum(getattr(size, "st_blocks", size.st_size / 512) * 512 for size in sizes) / 1e6


class WorkerFailed(Exception):
    """A worker said that it cannot, died, or was too slow."""


class Worker:
    """A process that is asked in lines of JSON and answers in lines of JSON.

    Lines that do not begin with ``{`` are what libraries print; its standard error goes to a file.
    """

    def __init__(self, command, log, environment=None, timeout=1800):
        self.timeout, self.log = timeout, Path(log)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        pipe = subprocess.PIPE
        with self.log.open("w") as errors:
            try:
                self.process = subprocess.Popen(
                    command, stdin=pipe, stdout=pipe, stderr=errors, text=True, bufsize=1, env=environment
                )
            except OSError as error:
                raise WorkerFailed(f"cannot be started: {error}") from error

    def ask(self, **command):
        """Sends a command, and returns the answer."""
        late = threading.Timer(self.timeout, self.process.kill)
        late.start()
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
            answer = next((line for line in self.process.stdout if line.startswith("{")), None)
        except OSError:
            answer = None
        finally:
            late.cancel()
        if answer is None:
            raise WorkerFailed(f"ended or was too slow; its last words: {self._last_words()}")
        answer = json.loads(answer)
        if "error" in answer:
            raise WorkerFailed(answer["error"])
        return answer

    def close(self):
        """Ends it, and waits for that."""
        try:
            self.process.stdin.close()
            self.process.wait(60)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _last_words(self):
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "none"


def serve(answer):
    """The other end: answers each line of standard input until there are no more.

    What a library prints must not look like an answer, so it is sent to standard error.
    """
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in iter(input_line, ""):
        try:
            result = answer(json.loads(line))
        except Exception as error:  # whatever a library raises is the answer
            result = {"error": f"{type(error).__name__}: {error}"[:500]}
        out.write(json.dumps(result) + "\n")


def input_line():
    """The next line of standard input; empty at its end."""
    import sys

    return sys.stdin.readline()
