"""`server.json` for the official registry of MCP servers. It has no packages itself, and checks who owns those that it names: the name
of the server is in npm's `package.json` and in the README of the wheel."""

import json

from .common import DESCRIPTION, OUT, REPOSITORY, VERSION

# The account that publishes, and the project.
NAME = "io.github." + REPOSITORY.removeprefix("https://github.com/")
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def make(_):
    """Writes it."""
    package = {
        "identifier": "memorist",
        "version": VERSION,
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "serve"}],
    }
    server = {
        "$schema": SCHEMA,
        "name": NAME,
        "title": "memorist",
        "description": DESCRIPTION,
        "repository": {"url": REPOSITORY, "source": "github"},
        "version": VERSION,
        "packages": [
            {"registryType": "npm", "runtimeHint": "npx", **package},
            {"registryType": "pypi", "runtimeHint": "uvx", **package},
        ],
    }
    (OUT / "server.json").write_text(json.dumps(server, indent=2) + "\n")
