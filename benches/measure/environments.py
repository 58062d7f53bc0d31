"""A virtual environment for each library, so that none sees the dependencies of another."""

import hashlib
import subprocess
import sys
from pathlib import Path

from .machine import ROOT

FOLDER = ROOT / "target/stores/venv"
NUMPY = "numpy==2.4.6"
#: What pip installs for each.
REQUIREMENTS = {
    "zvec": ["zvec==0.8.0"],
    "qdrant-edge": ["qdrant-edge-py==0.9.0"],
    "lancedb": ["lancedb==0.40.0"],
    "chroma": ["chromadb==1.5.9"],
    # Many builds of Python cannot load extensions into their own SQLite.
    "sqlite-vec": ["sqlite-vec==0.1.9", "pysqlite3-binary==0.5.4.post2"],
    "hnswlib": ["hnswlib==0.8.0"],
    "usearch": ["usearch==2.26.6"],
    "faiss": ["faiss-cpu==1.15.1"],
    "symphonyqg": ["rabitqlib==0.7.1"],
    "svs": ["scalable-vs==0.5.0"],
    "deglib": ["deglib==0.2.6"],
    "alayalite": ["alayalite==1.0.4"],
    # ScaNN without TensorFlow. A search in Google's own package takes longer.
    "scann": ["scann-core==0.2.1"],
    # pip compiles it, for minutes.
    "lorann": ["lorann==1.0.1"],
}
#: Those that are in the environment of another.
SHARED = {"symphonyqg-8bit": "symphonyqg", "memorist-compact": "memorist"}


class Missing(Exception):
    """It cannot be installed here."""


def wheel(given=None):
    """The wheel of memorist: the one that is given, or the newest that was built here."""
    if given:
        return Path(given).resolve()
    built = [*ROOT.glob("target/wheels/memorist-*.whl"), *ROOT.glob("target/packages/out/memorist-*.whl")]
    if not built:
        raise Missing("there is no wheel of memorist in target/wheels or target/packages/out; build one, or name it: --wheel")
    return max(built, key=lambda file: file.stat().st_mtime)


def python(name, memorist=None):
    """The interpreter of an environment, which is made where it is absent or has other versions."""
    name = SHARED.get(name, name)
    wanted = [str(wheel(memorist))] if name == "memorist" else REQUIREMENTS[name]
    state = "\n".join([*wanted, NUMPY, sys.version])
    if name == "memorist":
        state += hashlib.sha256(Path(wanted[0]).read_bytes()).hexdigest()
    folder = FOLDER / name
    interpreter, stamp = folder / "bin/python", folder / "installed"
    if stamp.exists() and stamp.read_text() == state:
        return interpreter
    print(f"installing {' '.join(Path(part).name for part in wanted)}", file=sys.stderr)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted, NUMPY]
        subprocess.run(pip, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Missing(f"cannot be installed: {error}") from error
    stamp.write_text(state)
    return interpreter
