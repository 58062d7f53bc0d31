"""A bundle for Claude Desktop and other clients that install MCP servers with a click: `memorist-VERSION-SYSTEM-MACHINE.mcpb`, a zip
of a manifest, the program and the model."""

import json
import time
import zipfile

from .common import AUTHOR, DESCRIPTION, LICENCES, OUT, REPOSITORY, ROOT, VERSION, WORK, copy, fresh, source_date
from .licences import of_model, third_party
from .stage import THIRD_PARTY


def make(stages):
    """Makes that of each platform."""
    for stage in stages:
        if stage.target.is_static:
            continue  # Of Linux, a client knows one kind.
        folder = fresh(WORK / "bundle" / stage.target.platform)
        copy(stage.program, folder / "server/bin" / stage.target.file, 0o755)
        # Where the program looks: share beside bin.
        for file in [stage.model.weights, stage.model.tokenizer]:
            copy(file, folder / "server/share/memorist" / file.name)
        for name in LICENCES:
            copy(ROOT / name, folder / name)
        (folder / THIRD_PARTY).write_text(third_party(stage.target, "memorist", others=[of_model(stage.model.weights, stage.model.tokenizer)]))
        (folder / "manifest.json").write_text(json.dumps(manifest(stage.target), indent=2) + "\n")
        pack(folder, OUT / f"memorist-{VERSION}-{stage.target.platform}.mcpb")


def manifest(target):
    """What a client reads."""
    program = f"server/bin/{target.file}"
    tools = json.loads((ROOT / "server/src/mcp/profiles/core.json").read_text())
    return {
        "manifest_version": "0.3",
        "name": "memorist",
        "display_name": "memorist",
        "version": VERSION,
        "description": DESCRIPTION,
        "author": {"name": AUTHOR},
        "license": "MIT OR Apache-2.0",
        "repository": {"type": "git", "url": REPOSITORY},
        "homepage": REPOSITORY,
        "server": {
            "type": "binary",
            "entry_point": program,
            "mcp_config": {
                "command": f"${{__dirname}}/{program}",
                "args": ["serve"],
                "env": {"MEMORIST_STORE": "${user_config.store}"},
            },
        },
        "user_config": {
            "store": {
                "type": "directory",
                "title": "Folder of the memories",
                "description": "Empty: the usual folder of this computer, shared with your other agents",
                "required": False,
                "default": "",
            }
        },
        "tools": [{"name": tool["name"], "description": tool["description"]} for tool in tools],
        "compatibility": {"platforms": [target.npm[0]]},
    }


def pack(folder, to):
    """Zips a folder. The same files give the same bytes."""
    at = time.gmtime(max(source_date(), 315_532_800))[:6]
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as bundle:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = zipfile.ZipInfo(file.relative_to(folder).as_posix(), at)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100000 | file.stat().st_mode & 0o777) << 16
            bundle.writestr(info, file.read_bytes())
