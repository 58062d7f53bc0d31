"""The tests of other vector indexes, run on this one: what is the same for all must be so here, too.

No package has them: neither of both source distributions does. `MEMORIST_PEER_TESTS` names a folder with working copies,
`hnswlib` and `USearch`. What is different on purpose stands in `peers/hnswlib.py` and `peers/usearch/__init__.py`; so is
`bindings_test_bf_index.py` of hnswlib, which wants distances within 0.00001, as of vectors in 32 bits a number.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = os.environ.get("MEMORIST_PEER_TESTS")
HNSWLIB = "hnswlib/tests/python/bindings_test"
USEARCH = "USearch/python/scripts/test_index.py"

#: Files, and what of them is left out, since it is of something else than vectors and ids.
FILES = {
    **{f"{HNSWLIB}{name}.py": "" for name in ("", "_filter", "_getdata", "_labels", "_metadata", "_recall", "_replace")},
    **{f"{HNSWLIB}{name}.py": "" for name in ("_resize", "_spaces", "_stress_mt_replace")},
    # A helper of this file is taken for a test.
    f"{HNSWLIB}_pickle.py": "test_space_main",
    USEARCH: "duplicates or stats or buffer or save_load or multithread or clustering or mini_floats or copied or True",
}


@pytest.mark.skipif(FOLDER is None, reason="MEMORIST_PEER_TESTS does not name a folder with the tests of others")
@pytest.mark.parametrize("file", FILES)
def test_what_others_hold_holds_here(file: str, tmp_path: Path) -> None:
    peers = Path(__file__).parent / "peers"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    if FILES[file]:
        command += ["-k", f"not ({FILES[file]})"]
    run = subprocess.run(
        [*command, str(Path(FOLDER or "", file))],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(peers), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4_000:]
    assert " passed" in run.stdout
