"""The official Python client is notified of memories that another process changes: on stdio and over HTTP, in both protocol
eras.

    notices.py PATH_TO_MEMORIST
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from check import TIMEOUT_SECONDS, Checks, HttpServer, binary_argument


@asynccontextmanager
async def transport(binary, store, server):
    """A way to this HTTP server, or to one of its own on stdio."""
    if server:
        async with httpx2.AsyncClient(headers=server.headers, timeout=TIMEOUT_SECONDS) as web:
            yield streamable_http_client(server.url, http_client=web)
    else:
        environment = os.environ | {"MEMORIST_STORE": str(store)}
        yield stdio_client(StdioServerParameters(command=binary, args=["serve"], env=environment))


async def check(checks, binary, store, server):
    """What both eras report of an update by a command."""
    def command(*arguments):
        done = subprocess.run([binary, "--store", store, "--json", *arguments], check=True, capture_output=True,
                              timeout=TIMEOUT_SECONDS)
        return json.loads(done.stdout)

    name = "http" if server else "stdio"
    for mode in ("legacy", "auto"):
        number = command("add", f"The ferry leaves at eight ({name}, {mode}).")["id"]
        uri = f"memory://{number}"
        heard = asyncio.Queue()

        async def hear(message):
            heard.put_nowait(message)

        async def update(text):
            await asyncio.to_thread(command, "update", str(number), "--content", f"{text} ({name}, {mode})")

        async def read():
            return json.loads((await client.read_resource(uri)).contents[0].text)["content"]

        async with transport(binary, store, server) as way, Client(way, mode=mode, message_handler=hear) as client:
            if mode == "legacy":
                await client.subscribe_resource(uri)
                await update("It leaves at nine.")
                message = await asyncio.wait_for(heard.get(), TIMEOUT_SECONDS)
                checks.equal(f"{name} {mode}: the notice", [message.method, str(message.params.uri)],
                             ["notifications/resources/updated", uri])
                await client.unsubscribe_resource(uri)
            else:
                async with client.listen(resource_subscriptions=[uri]) as events:
                    await update("It leaves at nine.")
                    event = await asyncio.wait_for(anext(events), TIMEOUT_SECONDS)
                    checks.equal(f"{name} {mode}: the notice", [type(event).__name__, event.uri], ["ResourceUpdated", uri])
            checks.equal(f"{name} {mode}: what is read then", await read(), f"It leaves at nine. ({name}, {mode})")


def main():
    binary = binary_argument()
    os.environ["MEMORIST_MODEL"] = "none"
    # The older era is meant.
    warnings.filterwarnings("ignore", message=".* is removed as of 2026-07-28")
    checks = Checks("python notices")
    with tempfile.TemporaryDirectory() as folder, checks.section("the client runs to its end"):
        store = Path(folder) / "store"
        asyncio.run(check(checks, binary, store, None))
        with HttpServer(checks, binary, store) as server:
            asyncio.run(check(checks, binary, store, server))
    checks.end()


if __name__ == "__main__":
    main()
