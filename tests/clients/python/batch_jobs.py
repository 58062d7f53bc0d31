"""The batch jobs of OpenAI and Gemini, for `embedding_server.py`: files and batches, in memory. A job ends when somebody looks
at it, unless `server.jobs_end` is false; a text with "unspeakable" fails alone."""

import email
import json
import time

TEXTS = 50_000


class BatchJobs:
    """What a request handler answers about jobs. The handler has `openai`, `gemini`, `authorised` and `server`."""

    def jobs(self, method, path, data):
        """The answer to a request about a job or a file: bytes or JSON; `None` if it is about something else."""
        parts = path.strip("/").split("/")[1:]
        files, jobs = self.server.files, self.server.jobs
        if parts[:1] == ["files"]:
            self.key_of_openai()
            if method == "POST":
                return self.upload(data)
            if len(parts) == 1:
                return {"object": "list", "data": [about for about, _ in files.values()], "has_more": False}
            about, content = self.there(files, parts[1])
            if method == "DELETE":
                del files[parts[1]]
                return {"id": parts[1], "object": "file", "deleted": True}
            return content if parts[2:] == ["content"] else about
        if parts[:1] == ["models"] and parts[-1].endswith(":asyncBatchEmbedContent"):
            return self.make_of_gemini(parts[1].partition(":")[0], json.loads(data)["batch"])
        if parts[:1] != ["batches"]:
            return None
        if method == "POST" and len(parts) == 1:
            self.key_of_openai()
            return self.make_of_openai(json.loads(data))
        if len(parts) == 1:
            mine = [self.seen(job) for job in reversed(jobs.values()) if job["is_gemini"] == self.is_gemini()]
            return {"operations": mine} if self.is_gemini() else {"object": "list", "data": mine, "has_more": False}
        name, _, verb = parts[1].partition(":")
        job = self.there(jobs, name)
        if verb == "cancel" or parts[2:] == ["cancel"]:
            self.end(job, "cancelled")
        elif method == "DELETE":
            del jobs[name]
            return {}
        elif self.server.jobs_end:
            self.end(job, "completed")
        return self.seen(job)

    def is_gemini(self):
        return self.headers["x-goog-api-key"] is not None

    def key_of_openai(self):
        self.authorised(f"Bearer {self.server.key}", self.headers["authorization"])

    def there(self, things, name):
        if name not in things:
            raise self.refused(404, f"no such thing: {name}", "not_found")
        return things[name]

    def add_file(self, name, purpose, content):
        about = {"id": f"file-{len(self.server.files)}-{time.monotonic_ns()}", "object": "file", "bytes": len(content),
                 "created_at": int(time.time()), "filename": name, "purpose": purpose, "status": "processed"}
        self.server.files[about["id"]] = about, content
        return about

    def upload(self, data):
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        parts = email.message_from_bytes(head + data).get_payload()
        fields = {part.get_param("name", header="content-disposition"): part for part in parts}
        if fields["purpose"].get_payload() != "batch":
            raise self.refused(400, "purpose is not batch", "invalid_request_error")
        return self.add_file(fields["file"].get_filename(), "batch", fields["file"].get_payload(decode=True))

    def make_of_openai(self, body):
        _, content = self.there(self.server.files, body["input_file_id"])
        if (body["endpoint"], body["completion_window"]) != ("/v1/embeddings", "24h"):
            raise self.refused(400, "no such endpoint or window", "invalid_request_error")
        lines = [json.loads(line) for line in content.splitlines()]
        if len(lines) > TEXTS or any((line["method"], line["url"]) != ("POST", "/v1/embeddings") for line in lines):
            raise self.refused(400, "too many lines, or others than embeddings", "invalid_request_error")
        return self.make(False, [(line["custom_id"], line["body"]) for line in lines], {
            "object": "batch", "endpoint": body["endpoint"], "input_file_id": body["input_file_id"],
            "completion_window": "24h", "metadata": body.get("metadata"), "output_file_id": None, "error_file_id": None})

    def make_of_gemini(self, model, batch):
        requests = batch["inputConfig"]["requests"]["requests"]
        keyed = [(one.get("metadata", {}).get("key"), {"model": model, **one["request"]}) for one in requests]
        return self.make(True, keyed, {"model": f"models/{model}", "displayName": batch["displayName"]})

    def make(self, is_gemini, requests, about):
        name = f"job{len(self.server.jobs)}-{time.monotonic_ns()}"
        job = {"name": name, "is_gemini": is_gemini, "status": "in_progress", "requests": requests, "about": about,
               "answers": [], "created": int(time.time())}
        self.server.jobs[name] = job
        self.server.jobs_made += 1
        return self.seen(job)

    def end(self, job, status):
        if job["status"] != "in_progress":
            return
        job["status"] = status
        good, bad = [], []
        for key, body in job["requests"] if status == "completed" else []:
            try:
                answer = self.gemini(body["model"].removeprefix("models/"), "embedContent", body) if job["is_gemini"] \
                    else self.openai(body)
                (good if not job["is_gemini"] else job["answers"]).append(self.line(job, key, answer))
            except self.refused as error:
                (bad if not job["is_gemini"] else job["answers"]).append(self.failed_line(job, key, error))
        for place, lines in [("output_file_id", good), ("error_file_id", bad)]:
            if lines:
                content = "".join(json.dumps(line) + "\n" for line in lines).encode()
                job["about"][place] = self.add_file(f"{job['name']}.jsonl", "batch_output", content)["id"]

    def line(self, job, key, answer):
        if job["is_gemini"]:
            return {"metadata": {"key": key}, "response": answer}
        return {"id": f"request-{key}", "custom_id": key, "error": None,
                "response": {"status_code": 200, "request_id": "1", "body": answer}}

    def failed_line(self, job, key, error):
        if job["is_gemini"]:
            return {"metadata": {"key": key}, "error": {"code": error.status, "message": error.message}}
        body = {"error": {"message": error.message, "code": error.code}}
        return {"id": f"request-{key}", "custom_id": key, "error": None,
                "response": {"status_code": error.status, "request_id": "1", "body": body}}

    def seen(self, job):
        if job["is_gemini"]:
            states = {"in_progress": "RUNNING", "completed": "SUCCEEDED", "cancelled": "CANCELLED"}
            output = {"inlinedEmbedContentResponses": {"inlinedResponses": job["answers"]}} if job["answers"] else None
            metadata = {**job["about"], "name": f"batches/{job['name']}", "output": output,
                        "state": f"BATCH_STATE_{states[job['status']]}"}
            return {"name": f"batches/{job['name']}", "metadata": metadata, "done": job["status"] != "in_progress"}
        count = {"total": len(job["requests"]), "completed": 0, "failed": 0}
        return {"id": job["name"], "status": job["status"], "created_at": job["created"], "request_counts": count, **job["about"]}
