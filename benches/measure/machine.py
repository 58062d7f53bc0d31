"""Where and when something was measured."""

import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Above this many processes that want to run, times are those of the others too.
QUIET = 0.7


def machine():
    """The processor, memory and system."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
        "os": _field("/etc/os-release", "PRETTY_NAME", "=") or platform.system(),
        "kernel": platform.release(),
    }


def moment():
    """The day and the commit; with ``+`` where the tree has changes."""
    changed = _git("status", "--porcelain", "--untracked-files=no")
    commit = _git("rev-parse", "--short", "HEAD") or "unknown"
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "commit": commit + ("+" if changed else ""),
    }


def load():
    """How many processes wanted to run during the last minute; None where the system does not say."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _git(*arguments):
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def _field(file, name, sign=":"):
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(sign)
        if key.strip() == name:
            return value.strip().strip('"')
    return None


def _memory():
    kib = _field("/proc/meminfo", "MemTotal")
    return round(int(kib.split()[0]) / (1 << 20)) if kib else None
