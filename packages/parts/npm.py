"""npm's packages: `memorist` starts the program of `@memorist/linux-x64` or the like, beside which `@memorist/model` is.

npm installs what fits the platform. The program finds the model by its place, so a registered path needs no launcher.
"""

import json

from .common import AUTHOR, DESCRIPTION, LICENCES, OUT, REPOSITORY, ROOT, VERSION, WORK, copy, fresh, run
from .registry import NAME
from .stage import DOC, THIRD_PARTY

LICENCE = "MIT OR Apache-2.0"
# In each package.
COMMON = {
    "version": VERSION,
    "license": LICENCE,
    "author": AUTHOR,
    "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
    "homepage": REPOSITORY,
    "bugs": f"{REPOSITORY}/issues",
}


def make(stages):
    """Packs them."""
    folder = fresh(WORK / "npm")
    model = model_package(folder, stages[0].model)
    platforms = {}
    for stage in stages:
        target = stage.target
        system, machine = target.npm
        name = f"@memorist/{target.platform}"
        platforms[name] = VERSION
        package = folder / target.platform
        copy(stage.program, package / "bin" / stage.target.file, 0o755)
        copy(stage.folder / DOC / THIRD_PARTY, package / THIRD_PARTY)
        description = {
            "name": name,
            "description": f"The program of memorist for {target.shown}",
            "os": [system],
            "cpu": [machine],
            **({"libc": ["musl" if target.is_static else "glibc"]} if target.is_linux else {}),
            "dependencies": model,
        }
        readme = f"# {name}\n\nThe program of [memorist](../memorist) for {target.shown}. Install `memorist`.\n"
        pack(package, description, f"{readme}\n{target.caution}\n" if target.caution else readme)
    main = folder / "memorist"
    copy(ROOT / "packages/npm/memorist.js", main / "memorist.js", 0o755)
    pages = stages[0].pages()
    for page in pages:
        copy(page, main / "man" / page.name)
    description = {
        "name": "memorist",
        "mcpName": NAME,
        "description": DESCRIPTION,
        "keywords": ["mcp", "memory", "agents", "search", "embeddings"],
        "bin": {"memorist": "memorist.js"},
        "man": [f"./man/{page.name}" for page in pages],
        "engines": {"node": ">=18"},
        "optionalDependencies": platforms,
    }
    readme = (ROOT / "packages/npm/README.md").read_text()
    readme += "".join(f"- {stage.target.shown}. {stage.target.caution}".rstrip() + "\n" for stage in stages)
    pack(main, description, readme)


def model_package(folder, model):
    """Packs the model. Its version is that of the package it comes from, as it changes with that alone."""
    version = model.requirement.split("==")[1]
    package = folder / "model"
    # The folder in which the program looks.
    copy(model.weights, package / "memorist" / model.weights.name)
    copy(model.tokenizer, package / "memorist" / model.tokenizer.name)
    copy(model.licence, package / "LICENSE")
    description = {
        "name": "@memorist/model",
        "version": version,
        "description": "all-MiniLM-L6-v2 with int8 weights, the embedding model of memorist",
        "license": "Apache-2.0",
        # Its weights are of others.
        "author": None,
    }
    pack(package, description, (ROOT / "packages/model.md").read_text())
    return {"@memorist/model": version}


def pack(package, description, readme):
    """Makes the tarball."""
    description = {key: value for key, value in {**COMMON, **description}.items() if value is not None}
    if description["license"] == LICENCE:
        for name in LICENCES:
            copy(ROOT / name, package / name)
    (package / "README.md").write_text(readme)
    (package / "package.json").write_text(json.dumps(description, indent=2) + "\n")
    # Nothing is left out: the folder has what the package has.
    (package / ".npmignore").write_text("")
    run("npm", "pack", "--silent", "--pack-destination", OUT, cwd=package, capture_output=True)
