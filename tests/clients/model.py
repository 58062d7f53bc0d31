#!/usr/bin/env python3
"""A model behind Anthropic's API that says "ok", to see what an agent sends to one.

    model.py FILE

Prints its address. Each request that has tools is a line of FILE: the names of those whose schemas it sends.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MESSAGE = {"id": "message", "type": "message", "role": "assistant", "stop_sequence": None,
           "usage": {"input_tokens": 1, "output_tokens": 1}}
TEXT = {"type": "text", "text": "ok"}


def events(model):
    """The answer, as a stream."""
    begun = MESSAGE | {"model": model, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT["text"]}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, kind, text):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        self.answer("application/json", "{}")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        tools = [tool["name"] for tool in request.get("tools", []) if not tool.get("defer_loading")]
        if tools:
            with open(sys.argv[1], "a", encoding="utf-8") as file:
                file.write(" ".join(sorted(tools)) + "\n")
        model = request.get("model", "")
        if request.get("stream"):
            lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events(model)]
            self.answer("text/event-stream", "".join(lines))
        else:
            whole = MESSAGE | {"model": model, "content": [TEXT], "stop_reason": "end_turn"}
            self.answer("application/json", json.dumps(whole))


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
