//! A provider on this machine that takes batch jobs, in the protocols of OpenAI and Gemini. It counts what is to be paid.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use memorist_engine::embed::{Embedder, HashEmbedder, JobTerms, Protocol, RemoteSettings};
use serde_json::{Value, json};

/// Numbers per vector.
pub const DIMS: usize = 64;

/// A function that spoils the answers of a job, one for each text.
pub type Spoil = fn(&mut Vec<Value>);

/// The content and the behavior of the provider.
pub struct JobProviderState {
    protocol: Protocol,
    /// How often each text was paid.
    pub paid: BTreeMap<String, usize>,
    /// Texts that came one request after another.
    pub singly: usize,
    /// The status with which a job ends; `None` while it does not.
    pub status: Option<&'static str>,
    /// The fault in its answers.
    pub spoil: Spoil,
    /// Whether a submission is carried out and not answered.
    pub is_mute: bool,
    /// Whether submissions are refused.
    pub refuses: bool,
    /// The job whose cancellation is refused.
    pub uncancellable: Option<&'static str>,
    /// Whether Gemini puts what a job has made into a file, as OpenAI always does.
    pub has_result_files: bool,
    /// Jobs that were made.
    pub made: usize,
    /// How often somebody looked at a job.
    pub looks: usize,
    /// Files, with their names.
    pub files: BTreeMap<String, (String, Vec<u8>)>,
    pub jobs: BTreeMap<String, Job>,
}

pub struct Job {
    /// The metadata that was sent along.
    key: Value,
    input: Option<String>,
    /// Ids and texts.
    texts: Vec<(String, String)>,
    /// The status with which it has ended, and its files of answers and errors.
    pub ended: Option<&'static str>,
    files: [Option<String>; 2],
    answers: Vec<Value>,
}

#[derive(Clone)]
pub struct JobProvider {
    url: String,
    state: Arc<Mutex<JobProviderState>>,
}

impl JobProvider {
    pub fn start(protocol: Protocol) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let path = if protocol == Protocol::Gemini { "v1beta" } else { "v1" };
        let url = format!("http://{}/{path}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(JobProviderState {
            protocol,
            paid: BTreeMap::new(),
            singly: 0,
            status: Some("completed"),
            spoil: |_| {},
            is_mute: false,
            refuses: false,
            uncancellable: None,
            has_result_files: protocol == Protocol::OpenAi,
            made: 0,
            looks: 0,
            files: BTreeMap::new(),
            jobs: BTreeMap::new(),
        }));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        JobProvider { url, state }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn state(&self) -> MutexGuard<'_, JobProviderState> {
        self.state.lock().unwrap()
    }

    /// How many jobs were made, and how many texts came one request after another.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.made, state.singly)
    }

    /// Texts that were paid more than once.
    pub fn paid_twice(&self) -> Vec<String> {
        self.state().paid.iter().filter(|(_, times)| **times > 1).map(|(text, _)| text.clone()).collect()
    }
}

pub fn settings(protocol: Protocol, url: &str, model: &str) -> RemoteSettings {
    let mut settings = RemoteSettings::new(format!("{protocol:?}").to_lowercase(), protocol);
    (settings.url, settings.model, settings.dimensions) = (url.to_owned(), model.into(), Some(DIMS));
    settings.jobs =
        JobTerms { enabled: true, min_texts: 10, poll: std::time::Duration::from_millis(30), ..JobTerms::default() };
    settings
}

fn serve(stream: TcpStream, state: &Mutex<JobProviderState>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let (mut head, mut length) = (String::new(), 0);
        while reader.read_line(&mut head).is_ok_and(|read| read > 2) {
            let line = head.lines().last().unwrap_or_default().to_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut words = head.split_whitespace();
        let (Some(method), Some(path)) = (words.next(), words.next()) else { return };
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let Some((status, answer)) = state.lock().unwrap().answer(method, path, &body) else { return };
        let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n", answer.len());
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&answer)).is_err() {
            return;
        }
    }
}

fn is_memory(text: &str) -> bool {
    text != "test" && !text.ends_with('?')
}

fn numbers(text: &str) -> Vec<f32> {
    HashEmbedder::new(DIMS).embed_query(text).unwrap()
}

fn found(body: &Value) -> Option<(u16, Vec<u8>)> {
    Some((200, body.to_string().into_bytes()))
}

impl JobProviderState {
    /// The status and the answer; `None` to hang up.
    fn answer(&mut self, method: &str, path: &str, body: &[u8]) -> Option<(u16, Vec<u8>)> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = path.trim_start_matches('/');
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let json = || serde_json::from_slice::<Value>(body).unwrap();
        match (method, parts.as_slice()) {
            ("POST", ["embeddings"]) => {
                let texts = json()["input"].as_array().unwrap().clone();
                let entry = |(index, text): (usize, &Value)| json!({ "index": index, "embedding": numbers(self.pay(text.as_str().unwrap())) });
                let data: Vec<Value> = texts.iter().enumerate().map(entry).collect();
                self.singly += texts.iter().filter(|text| text.as_str().is_some_and(is_memory)).count();
                found(&json!({ "data": data }))
            }
            ("POST", ["models", model]) if model.ends_with(":batchEmbedContents") => {
                let requests = json()["requests"].as_array().unwrap().clone();
                let text = |request: &Value| request["content"]["parts"][0]["text"].as_str().unwrap().to_owned();
                let made: Vec<Value> =
                    requests.iter().map(|one| json!({ "values": numbers(self.pay(&text(one))) })).collect();
                self.singly += requests.iter().filter(|one| is_memory(&text(one))).count();
                found(&json!({ "embeddings": made }))
            }
            ("POST", ["models", model]) if model.ends_with(":asyncBatchEmbedContent") => self.make_of_gemini(&json()),
            ("POST", ["files"]) => {
                let id = format!("file-{}", self.files.len() + 100 * self.made);
                let text = String::from_utf8_lossy(body);
                let name = text.split("filename=\"").nth(1)?.split('"').next()?.to_owned();
                assert!(text.contains("name=\"purpose\"\r\n\r\nbatch\r\n"), "{text}");
                let content = text.split("jsonl\r\n\r\n").nth(1)?.split("\r\n--").next()?.as_bytes().to_vec();
                self.files.insert(id.clone(), (name.clone(), content));
                found(&json!({ "id": id, "object": "file", "filename": name, "purpose": "batch" }))
            }
            ("GET", ["files"]) => {
                let data: Vec<Value> =
                    self.files.iter().map(|(id, (name, _))| json!({ "id": id, "filename": name })).collect();
                found(&json!({ "data": data, "has_more": false }))
            }
            ("GET", ["files", id, "content"]) => Some((200, self.files.get(*id)?.1.clone())),
            ("GET", ["v1beta", "files", id]) => {
                assert_eq!(query, "alt=media");
                Some((200, self.files.get(id.strip_suffix(":download")?)?.1.clone()))
            }
            ("DELETE", ["files", id]) => match self.files.remove(*id) {
                Some(_) => found(&json!({ "id": id, "deleted": true })),
                None => Some((404, b"{}".to_vec())),
            },
            ("POST", ["batches"]) => self.make_of_openai(&json()),
            ("GET", ["batches"]) => self.list(query),
            ("POST", ["batches", id, "cancel"]) => self.cancel(id),
            ("POST", ["batches", id]) => self.cancel(id.strip_suffix(":cancel")?),
            ("DELETE", ["batches", id]) => {
                self.jobs.remove(*id);
                found(&json!({}))
            }
            ("GET", ["batches", id]) => {
                self.looks += 1;
                let id = (*id).to_owned();
                if !self.jobs.contains_key(&id) {
                    return Some((404, json!({ "error": { "message": "no such batch" } }).to_string().into_bytes()));
                }
                if let Some(status) = self.status {
                    self.finish(&id, status);
                }
                found(&self.described(&id))
            }
            other => panic!("{other:?}"),
        }
    }

    /// Counts a text, but for questions and for the one that is only to be answered.
    fn pay<'a>(&mut self, text: &'a str) -> &'a str {
        if is_memory(text) {
            *self.paid.entry(text.to_owned()).or_default() += 1;
        }
        text
    }

    fn make_of_openai(&mut self, body: &Value) -> Option<(u16, Vec<u8>)> {
        assert_eq!((&body["endpoint"], &body["completion_window"]), (&json!("/v1/embeddings"), &json!("24h")));
        let input = body["input_file_id"].as_str().unwrap().to_owned();
        let lines = String::from_utf8(self.files[&input].1.clone()).unwrap();
        let texts = lines.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["method"], &line["url"]), (&json!("POST"), &json!("/v1/embeddings")));
            assert_eq!(line["body"]["dimensions"], DIMS);
            (line["custom_id"].as_str().unwrap().to_owned(), line["body"]["input"].as_str().unwrap().to_owned())
        });
        self.make(body["metadata"].clone(), Some(input.clone()), texts.collect())
    }

    fn make_of_gemini(&mut self, body: &Value) -> Option<(u16, Vec<u8>)> {
        let batch = &body["batch"];
        let requests = batch["inputConfig"]["requests"]["requests"].as_array().unwrap();
        let texts = requests.iter().map(|one| {
            assert_eq!(one["request"]["outputDimensionality"], DIMS);
            let text = one["request"]["content"]["parts"][0]["text"].as_str().unwrap();
            (one["metadata"]["key"].as_str().unwrap().to_owned(), text.to_owned())
        });
        self.make(batch["displayName"].clone(), None, texts.collect())
    }

    fn make(&mut self, key: Value, input: Option<String>, texts: Vec<(String, String)>) -> Option<(u16, Vec<u8>)> {
        if self.refuses {
            return Some((400, json!({ "error": { "message": "no batches here" } }).to_string().into_bytes()));
        }
        self.made += 1;
        let id = format!("batch-{}", self.made);
        let job = Job { key, input, texts, ended: None, files: [None, None], answers: Vec::new() };
        self.jobs.insert(id.clone(), job);
        if self.is_mute { None } else { found(&self.described(&id)) }
    }

    fn cancel(&mut self, id: &str) -> Option<(u16, Vec<u8>)> {
        if self.uncancellable == Some(id) {
            return Some((400, json!({ "error": { "message": "this batch goes on" } }).to_string().into_bytes()));
        }
        self.finish(id, "cancelled");
        found(&self.described(id))
    }

    /// Ends a job: half of its texts are made where it is cut short, none where it fails.
    fn finish(&mut self, id: &str, status: &'static str) {
        let Some(job) = self.jobs.get_mut(id).filter(|job| job.ended.is_none()) else { return };
        job.ended = Some(status);
        let texts = job.texts.clone();
        let most = match status {
            "completed" => texts.len(),
            "failed" => 0,
            _ => texts.len() / 2,
        };
        let mut answers: Vec<Value> = texts[..most].iter().map(|(id, text)| self.answer_of(id, text)).collect();
        (self.spoil)(&mut answers);
        let lines = answers.iter().map(|answer| answer.as_str().map_or_else(|| answer.to_string(), str::to_owned));
        let lines = lines.map(|line| line + "\n").collect::<String>();
        if self.has_result_files && !answers.is_empty() {
            let name = format!("output-{id}");
            self.files.insert(name.clone(), (name.clone(), lines.into_bytes()));
            self.jobs.get_mut(id).unwrap().files[0] = Some(name);
        }
        self.jobs.get_mut(id).unwrap().answers = answers;
    }

    fn answer_of(&mut self, id: &str, text: &str) -> Value {
        let numbers = numbers(self.pay(text));
        match self.protocol {
            Protocol::OpenAi => {
                let body = json!({ "data": [{ "index": 0, "embedding": numbers }] });
                json!({ "custom_id": id, "response": { "status_code": 200, "body": body }, "error": null })
            }
            _ => json!({ "metadata": { "key": id }, "response": { "embedding": { "values": numbers } } }),
        }
    }

    fn described(&self, id: &str) -> Value {
        let job = &self.jobs[id];
        let status = job.ended.unwrap_or("in_progress");
        if self.protocol == Protocol::OpenAi {
            let [output, errors] = &job.files;
            return json!({ "id": id, "object": "batch", "status": status, "metadata": job.key, "created_at": 4_000_000_000u32,
                "input_file_id": job.input, "output_file_id": output, "error_file_id": errors,
                "errors": { "data": [{ "code": "x", "message": "the file is not accepted" }] } });
        }
        let state = match status {
            "completed" => "SUCCEEDED",
            "in_progress" => "RUNNING",
            "failed" => "FAILED",
            "expired" => "EXPIRED",
            _ => "CANCELLED",
        };
        let answers = match &job.files[0] {
            Some(file) => json!({ "responsesFile": format!("files/{file}") }),
            None => json!({ "inlinedResponses": { "inlinedResponses": job.answers } }),
        };
        json!({ "name": format!("batches/{id}"), "done": job.ended.is_some(), "response": answers,
            "error": { "message": "the requests are not accepted" },
            "metadata": { "displayName": job.key, "state": format!("BATCH_STATE_{state}") } })
    }

    fn list(&self, query: &str) -> Option<(u16, Vec<u8>)> {
        // One on a page, newest first.
        let ids: Vec<&String> = self.jobs.keys().rev().collect();
        let after =
            query.split(['&', '?']).find_map(|pair| pair.strip_prefix("after=").or(pair.strip_prefix("pageToken=")));
        let at = after.map_or(0, |after| ids.iter().position(|id| *id == after).unwrap() + 1);
        let page: Vec<Value> = ids.iter().skip(at).take(1).map(|id| self.described(id)).collect();
        let has_more = at + 1 < ids.len();
        found(&match self.protocol {
            Protocol::OpenAi => json!({ "data": page, "has_more": has_more }),
            _ => json!({ "operations": page, "nextPageToken": if has_more { ids[at].as_str() } else { "" } }),
        })
    }
}
