"""What every package of a target has: the program, its manual pages, its completions."""

from dataclasses import dataclass
from pathlib import Path

from .common import LICENCES, ROOT, WORK, Problem, Target, copy, fresh, run
from .licences import third_party
from .model import Model

# Where each shell looks for completions, below a prefix.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/memorist",
    "zsh": "share/zsh/site-functions/_memorist",
    "fish": "share/fish/vendor_completions.d/memorist.fish",
}
DOC = "share/doc/memorist"
THIRD_PARTY = "THIRD-PARTY-LICENSES"


@dataclass
class Stage:
    """A folder in the form of a prefix, such as /usr/local."""

    target: Target
    folder: Path
    model: Model

    @property
    def program(self):
        return self.folder / "bin" / self.target.file

    def pages(self):
        """The manual pages."""
        return sorted((self.folder / "share/man/man1").iterdir())


def stage(targets, model):
    """The stages of all targets."""
    able = next((target for target in targets if target.runs_here), None)
    if able is None:
        raise Problem("none of these targets runs here, and one has to: it makes the manual pages and completions")
    if "lacks: nothing" not in run(able.program, "--version", "--verbose", capture_output=True, text=True).stdout:
        raise Problem(f"{able.program} lacks features that packages have; build it: cargo build --release --features full")
    stages = []
    for target in targets:
        folder = fresh(WORK / "stage" / target.name)
        copy(target.program, folder / "bin" / target.file, 0o755)
        run(able.program, "manual", folder / "share/man/man1", "--quiet", capture_output=True)
        for shell, path in COMPLETIONS.items():
            to = folder / path
            to.parent.mkdir(parents=True)
            to.write_bytes(run(able.program, "completions", shell, capture_output=True).stdout)
        for name in ["README.md", "CHANGELOG.md", *LICENCES]:
            copy(ROOT / name, folder / DOC / name)
        (folder / DOC / THIRD_PARTY).write_text(third_party(target, "memorist"))
        stages.append(Stage(target, folder, model))
    return stages
