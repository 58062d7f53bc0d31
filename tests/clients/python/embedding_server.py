"""A server that speaks the protocols of embedding providers, with the standard library alone: OpenAI, Gemini, Ollama and
Cohere. Its vectors are hashes of the letters of a text, three at a time, so texts with like words are near each other.

    with EmbeddingServer() as server:
        server.url          # http://127.0.0.1:PORT
        server.failure = (503, "down")      # each request is answered so, until it is None
        server.texts        # every text that was embedded
        server.jobs_end     # whether a batch job ends when somebody looks at it
"""

import base64
import hashlib
import json
import math
import re
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from batch_jobs import BatchJobs

KEY = "a-key-for-tests"
DIMENSIONS = 128
MODELS = ("text-embedding-3-small", "gemini-embedding-001", "gemini-embedding-2", "nomic-embed-text", "embed-v4.0")


class Refused(Exception):
    """An error answer: a status, a message and a code."""

    def __init__(self, status, message, code):
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


def vector(text, dimensions=DIMENSIONS):
    """A vector of length 1."""
    numbers = [0.0] * dimensions
    letters = "  " + " ".join(re.findall(r"[^\W_]+", text.lower())) + " "
    for at in range(len(letters) - 2):
        digest = hashlib.sha256(letters[at:at + 3].encode()).digest()
        numbers[int.from_bytes(digest[:4], "big") % dimensions] += 1 if digest[4] % 2 else -1
    length = math.sqrt(sum(number * number for number in numbers)) or 1.0
    return [number / length for number in numbers]


class Handler(BatchJobs, BaseHTTPRequestHandler):
    """Answers a request in the protocol of its path."""

    protocol_version = "HTTP/1.1"
    refused = Refused

    def log_message(self, *_):
        pass

    def handle_any(self):
        data = self.rfile.read(int(self.headers["content-length"] or 0))
        path = self.path.split("?")[0]
        try:
            if self.server.failure:
                raise Refused(*self.server.failure, "unavailable")
            status, answer = 200, self.jobs(self.command, path, data)
            if answer is None:
                answer = self.answer(path, json.loads(data or b"{}"))
        except Refused as error:
            status, answer = error.status, self.error(error)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET = do_DELETE = handle_any

    def error(self, error):
        """An error in the shape of the protocol."""
        if ":" in self.path:
            return {"error": {"code": error.status, "message": error.message, "status": error.code.upper()}}
        if "/api/" in self.path:
            return {"error": error.message}
        if self.path.endswith("/embed"):
            return {"message": error.message}
        return {"error": {"message": error.message, "type": error.code, "param": None, "code": error.code}}

    def answer(self, path, body):
        if path.endswith("/api/show"):
            self.known(body["model"])
            return {"model_info": {"bert.context_length": 2048}, "capabilities": ["embedding"]}
        if path.endswith("/api/embed"):
            self.known(body["model"])
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            made = self.made(texts, body.get("dimensions"))
            return {"model": body["model"], "embeddings": made, "prompt_eval_count": len(texts)}
        if path.endswith("/embeddings"):
            return self.openai(body)
        if match := re.search(r"/models/([^:/]+):(embedContent|batchEmbedContents)$", path):
            return self.gemini(*match.groups(), body)
        if path.endswith("/embed"):
            self.authorised(f"Bearer {KEY}", self.headers["authorization"])
            self.known(body["model"])
            if len(body["texts"]) > 96 or body.get("input_type") not in ("search_document", "search_query"):
                raise Refused(400, "too many texts, or no input_type", "bad_request")
            made = self.made(body["texts"], body.get("output_dimension"))
            return {"id": "1", "texts": body["texts"], "embeddings": {"float": made}, "response_type": "embeddings_by_type",
                    "meta": {"api_version": {"version": "2"}}}
        raise Refused(404, "no such path", "not_found")

    def openai(self, body):
        self.authorised(f"Bearer {KEY}", self.headers["authorization"])
        self.known(body["model"])
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if not texts or len(texts) > 2048 or "" in texts:
            raise Refused(400, "'input' is empty, or too long", "invalid_request_error")
        made = self.made(texts, body.get("dimensions"))
        if body.get("encoding_format") == "base64":
            made = [base64.b64encode(struct.pack(f"<{len(one)}f", *one)).decode() for one in made]
        data = [{"object": "embedding", "index": at, "embedding": one} for at, one in enumerate(made)]
        # The order is not promised.
        data.reverse()
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return {"object": "list", "data": data, "model": body["model"], "usage": usage}

    def gemini(self, model, operation, body):
        self.authorised(KEY, self.headers["x-goog-api-key"])
        self.known(model)
        requests = body["requests"] if operation == "batchEmbedContents" else [body]
        if len(requests) > 100:
            raise Refused(400, "at most 100 requests", "invalid_argument")
        # The parts of one content are one text.
        texts = ["".join(part["text"] for part in request["content"]["parts"]) for request in requests]
        wanted = requests[0].get("outputDimensionality") or requests[0].get("embedContentConfig", {}).get("outputDimensionality")
        # Not of length 1, as those of less than all dimensions.
        made = [{"values": [7 * number for number in one]} for one in self.made(texts, wanted)]
        return {"embeddings": made} if operation == "batchEmbedContents" else {"embedding": made[0]}

    def made(self, texts, dimensions):
        for text in texts:
            if "unspeakable" in text:
                raise Refused(400, "this text is not embedded", "invalid_request_error")
        self.server.texts.extend(texts)
        return [vector(text, dimensions or DIMENSIONS) for text in texts]

    def known(self, model):
        if model.removesuffix(":latest") not in MODELS:
            raise Refused(404, f'model "{model}" not found, try pulling it first', "model_not_found")

    def authorised(self, wanted, given):
        if given != wanted:
            raise Refused(401, "Incorrect API key provided", "invalid_api_key")


class EmbeddingServer(ThreadingHTTPServer):
    """The server, on a free port of this machine."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.failure, self.texts = None, []
        self.key, self.files, self.jobs, self.jobs_made, self.jobs_end = KEY, {}, {}, 0, True

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
