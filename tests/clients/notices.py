"""Notices of memories that another process changes, on stdio and over HTTP, in both eras of the protocol. Standard library
only.

    notices.py PATH_TO_MEMORIST
"""

import http.client
import json
import os
import queue
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress

from check import TIMEOUT_SECONDS, HttpServer, binary_argument, run_all
from raw import INITIALIZE, INITIALIZED, Stdio, request

OLDER, NEWER = "2025-11-25", "2026-07-28"
ABOUT = {
    "io.modelcontextprotocol/protocolVersion": NEWER,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "notices", "version": "1"},
}
# A notice comes within a second. On a busy machine it may take longer.
SOON = 20.0
# How long to wait for what must not come: two rounds.
NEVER = 2.5
IMPORTED = 100_000
# Streams of clients with the same rights.
STREAMS = 128
# A round of notices a second, and a look at a digest every five.
SECONDS_A_DIGEST = 5


class Store:
    """A store that other processes change."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def run(self, *args, stdin=None):
        done = subprocess.run([self.binary, "--store", self.folder, "--json", *args], input=stdin, check=True,
                              capture_output=True, timeout=600)
        return json.loads(done.stdout or b"null")

    def add(self, text, *args):
        return self.run("add", text, *args)["id"]

    def update(self, number, text):
        self.run("update", str(number), "--content", text)


def uri(number):
    return f"memory://{number}"


def subscribe(number, wanted, method="resources/subscribe"):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"uri": wanted}}


def listen(number, *wanted):
    params = {"_meta": ABOUT, "notifications": {"resourceSubscriptions": list(wanted), "toolsListChanged": True}}
    return {"jsonrpc": "2.0", "id": number, "method": "subscriptions/listen", "params": params}


class Heard:
    """Messages as they come."""

    def __init__(self, checks, messages):
        self.checks, self.messages = checks, messages

    def next(self, within=SOON):
        try:
            return self.messages.get(timeout=within)
        except queue.Empty:
            return None

    def updated(self, name, wanted, subscription=None):
        """The next message is this notice."""
        got = self.next() or {}
        params = got.get("params", {})
        reported = [got.get("method"), params.get("uri"), params.get("_meta", {}).get("io.modelcontextprotocol/subscriptionId")]
        self.checks.equal(name, reported, ["notifications/resources/updated", wanted, subscription])

    def silent(self, name):
        """There is no message."""
        got = self.next(NEVER)
        self.checks.that(name, got is None, got)


def check_changes(checks, store, heard, first, second, subscription=None):
    """What is noticed of a memory that is subscribed to, and what of others."""
    store.update(first, f"The ferry leaves at nine. ({first})")
    heard.updated("an update", uri(first), subscription)
    store.run("get", str(first))
    store.update(second, f"Nobody has subscribed to memory {second}.")
    store.add(f"A third memory, beside {first} and {second}")
    heard.silent("nothing of a read, and nothing of other memories")
    store.run("link", str(first), "related", str(second))
    heard.updated("a link", uri(first), subscription)
    store.run("delete", str(first))
    heard.updated("a deletion", uri(first), subscription)
    heard.silent("each change is reported once")


def check_stdio(checks, binary, folder):
    store = Store(binary, folder / "store")
    for era in (OLDER, NEWER):
        first, second = store.add(f"The ferry leaves at eight ({era})."), store.add(f"Another memory ({era})")
        server = Stdio(checks, binary, folder / "store", handshake=era == OLDER)
        heard = Heard(checks, server.answers)
        if era == OLDER:
            refused = server.ask(subscribe(1, "file:///etc/passwd"))
            checks.that("a resource of others is refused", "error" in refused, refused)
            checks.equal("subscribed", server.ask(subscribe(2, uri(first)))["result"], {})
            check_changes(checks, store, heard, first, second)
            server.ask(subscribe(3, uri(second)))
            server.ask(subscribe(4, uri(second), "resources/unsubscribe"))
        else:
            server.send(listen("here", uri(first), "file:///etc/passwd"))
            accepted = heard.next()
            checks.equal("what is accepted is said first", [accepted["method"], accepted["params"]["notifications"]],
                         ["notifications/subscriptions/acknowledged", {"resourceSubscriptions": [uri(first)]}])
            check_changes(checks, store, heard, first, second, "here")
            server.send(listen("there", uri(second)))
            heard.next()
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "there"}})
            time.sleep(0.2)
        store.update(second, f"Something else ({era})")
        heard.silent("nothing after the end of a subscription")
        server.end(f"a subscriber of {era}")


class Events:
    """The messages of an event stream."""

    def __init__(self, server, method, body=None, **headers):
        self.messages = queue.Queue()
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_SECONDS)
        sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"} | server.headers
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, "/mcp", json.dumps(body) if body else None, sent)
        self.response = self.connection.getresponse()
        self.status = self.response.status
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for line in self.response:
                if line.startswith(b"data:") and line[5:].strip():
                    self.messages.put(json.loads(line[5:]))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass
        self.messages.put("the end")

    def close(self):
        if self.connection.sock:
            # The thread that reads has a hold on the socket.
            with suppress(OSError):
                self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()


def message(body):
    """The message of a response, whether it is a document or a stream."""
    if body.startswith(b"{"):
        return json.loads(body)
    lines = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    return json.loads(next(line for line in lines if line))


@contextmanager
def session(checks, server):
    """A session of the older era, and its headers."""
    status, headers, body = request(server)
    own = {"Mcp_Session_Id": headers["Mcp-Session-Id"], "MCP_Protocol_Version": OLDER}
    checks.equal("a client that initializes gets a session",
                 [status, bool(own["Mcp_Session_Id"]), message(body)["result"]["capabilities"]["resources"]],
                 [200, True, {"subscribe": True}])
    checks.equal("initialized", request(server, INITIALIZED, **own)[0], 202)
    yield own
    checks.equal("the session is ended", request(server, b"", "DELETE", **own)[0], 204)
    checks.equal("it is over", request(server, subscribe(9, uri(1)), **own)[0], 404)


def check_http(checks, binary, folder):
    store = Store(binary, folder / "store")
    with HttpServer(checks, binary, folder / "store") as server:
        first, second = store.add("The ferry leaves at eight."), store.add("Another memory")
        with session(checks, server) as own:
            stream = Events(server, "GET", **own)
            checks.equal("a stream for notices", stream.status, 200)
            answer = message(request(server, subscribe(1, uri(first)), **own)[2])
            checks.equal("subscribed", answer.get("result"), {})
            check_changes(checks, store, Heard(checks, stream.messages), first, second)
            stream.close()
        alone = message(request(server, subscribe(1, uri(second)), MCP_Protocol_Version=OLDER)[2])
        checks.that("without a session there are no notices, and it says so",
                    "initialize, and send the new id" in alone["error"]["message"], alone)
        checks.equal("without a session there is no stream", request(server, b"", "GET", MCP_Protocol_Version=OLDER)[0], 405)

        first, second = store.add("The ferry leaves at eight again."), store.add("Yet another memory")
        stream = Events(server, "POST", listen(7, uri(first)), MCP_Protocol_Version=NEWER,
                        Mcp_Method="subscriptions/listen")
        heard = Heard(checks, stream.messages)
        checks.equal("acknowledged", heard.next()["method"], "notifications/subscriptions/acknowledged")
        check_changes(checks, store, heard, first, second, 7)
        stream.close()

        # Streams that are open do not keep a server.
        request(server, **{})
        status, headers, _ = request(server)
        own = {"Mcp_Session_Id": headers["Mcp-Session-Id"], "MCP_Protocol_Version": OLDER}
        request(server, INITIALIZED, **own)
        waiting = [Events(server, "GET", **own),
                   Events(server, "POST", listen(8, uri(second)), MCP_Protocol_Version=NEWER,
                          Mcp_Method="subscriptions/listen")]
        heard = Heard(checks, waiting[1].messages)
        heard.next()
        server.stop("a server with open streams", within=2.5)
        last = heard.next()
        checks.that("a stream of the newer era ends with a result", "result" in last, last)


def check_many_streams(checks, binary, folder):
    """Clients that wait for notices take no room from calls."""
    store = Store(binary, folder / "store")
    number = store.add("The ferry leaves at eight.")
    with HttpServer(checks, binary, folder / "store") as server:
        waiting, refused = [], []
        for _ in range(2 * STREAMS + 20):
            _, headers, _ = request(server)
            own = {"Mcp_Session_Id": headers["Mcp-Session-Id"], "MCP_Protocol_Version": OLDER}
            request(server, INITIALIZED, **own)
            stream = Events(server, "GET", **own)
            (waiting if stream.status == 200 else refused).append(stream)
        checks.equal("as many streams as there may be", len(waiting), STREAMS)
        checks.equal("others go on without", sorted({stream.status for stream in refused}), [405])
        more = Events(server, "POST", listen(1, uri(number)), MCP_Protocol_Version=NEWER,
                      Mcp_Method="subscriptions/listen")
        checks.equal("a stream of the newer era waits", more.status, 503)
        ping = message(request(server, {"jsonrpc": "2.0", "id": 2, "method": "ping"}, **own)[2])
        checks.equal("calls go on", ping.get("result"), {})
        waiting.pop().close()
        end = time.monotonic() + SOON
        while (again := Events(server, "GET", **own)).status != 200 and time.monotonic() < end:
            time.sleep(0.1)
        checks.equal("a stream that ends makes room", again.status, 200)
        for stream in [again, *waiting]:
            stream.close()
        server.stop("a server whose streams have ended")


def check_scope(checks, binary, folder):
    """Nothing is reported of what the client cannot read."""
    store = Store(binary, folder / "store")
    own, other = store.add("Of Apollo", "--project", "apollo"), store.add("Of Gemini", "--project", "gemini")
    server = Stdio(checks, binary, folder / "store", "--project", "apollo", "--isolate")
    heard = Heard(checks, server.answers)
    for number, wanted in enumerate((own, other, other + 1), 1):
        checks.equal(f"subscribed to {number}, whether it can be read or not", server.ask(subscribe(number, uri(wanted)))["result"], {})
    store.update(other, "Of Gemini, and changed")
    store.add("Of Gemini, and new", "--project", "gemini")
    heard.silent("nothing of another project")
    store.update(own, "Of Apollo, and changed")
    heard.updated("a memory of its own", uri(own))
    server.end("a server of one project")
    with HttpServer(checks, binary, folder / "store", "--project", "apollo", "--isolate") as server:
        stream = Events(server, "POST", listen(1, "memory://digest/gemini", uri(own)), MCP_Protocol_Version=NEWER,
                        Mcp_Method="subscriptions/listen")
        heard = Heard(checks, stream.messages)
        checks.equal("a digest of another project is not accepted, and spoils nothing",
                     heard.next()["params"]["notifications"], {"resourceSubscriptions": [uri(own)]})
        store.update(own, "Of Apollo, and changed again")
        heard.updated("a memory of its own, beside it", uri(own), 1)
        stream.close()


def check_flood(checks, binary, folder):
    """However much is written, a resource is reported at most once a round."""
    store = Store(binary, folder / "store")
    number = store.add("The ferry leaves at eight.")
    server = Stdio(checks, binary, folder / "store")
    server.ask(subscribe(1, uri(number)))
    server.ask(subscribe(2, "memory://digest"))
    lines = "".join(json.dumps({"content": f"Memory {line} of the flood"}) + "\n" for line in range(IMPORTED))
    start = time.monotonic()
    store.run("import", "-", stdin=lines.encode())
    took = time.monotonic() - start
    time.sleep(SECONDS_A_DIGEST + NEVER)
    reported = []
    while not server.answers.empty():
        reported.append(server.answers.get()["params"]["uri"])
    most = took / SECONDS_A_DIGEST + 3
    checks.that(f"{IMPORTED} memories in {took:.0f} s: notices of the digest alone, {len(reported)}, at most {most:.0f}",
                set(reported) == {"memory://digest"} and len(reported) <= most, reported)
    store.update(number, "The ferry leaves at nine.")
    got = Heard(checks, server.answers)
    got.updated("and the next change is reported", uri(number))
    server.end("a subscriber in a flood")


def main():
    binary = binary_argument()
    os.environ["MEMORIST_MODEL"] = "none"
    run_all("notices", (check_stdio, check_http, check_many_streams, check_scope, check_flood), binary)


if __name__ == "__main__":
    main()
