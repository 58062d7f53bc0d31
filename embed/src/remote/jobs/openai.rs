//! The batches of OpenAI, and of what is compatible with it: a file of requests makes a file of answers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{Each, JobApi, Made};
use super::caller::{Caller, is_plain};
use crate::jobs::{JobFailure, JobState};
use crate::remote::dialect::Numbers;
use crate::remote::reason::known;

/// The batch jobs of OpenAI.
pub(super) struct OpenAiJobs;

/// The field of a batch's metadata with our key.
const KEY: &str = "memorist";
/// A job made so long before its key was noted, by another clock, is found still.
const CLOCKS_DIFFER: i64 = 24 * 60 * 60;
/// Separates the parts of an upload. A line of JSON does not have it: it has no line breaks.
const BOUNDARY: &str = "memorist-7f9c2ba4e88f827d616045507605853e";

#[derive(Deserialize)]
struct OpenAiFile {
    id: String,
    #[serde(default)]
    filename: String,
}

#[derive(Deserialize)]
struct OpenAiBatch {
    id: String,
    status: String,
    #[serde(default)]
    created_at: i64,
    #[serde(default)]
    metadata: Value,
    input_file_id: Option<String>,
    output_file_id: Option<String>,
    error_file_id: Option<String>,
    #[serde(default)]
    errors: Value,
    #[serde(default)]
    request_counts: Value,
}

/// A page of a list.
#[derive(Deserialize)]
struct ListPage<T> {
    data: Vec<T>,
    #[serde(default)]
    has_more: bool,
}

/// A line of a file of answers, or of one of errors.
#[derive(Deserialize)]
struct ResultLine {
    custom_id: String,
    response: Option<Response>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status_code: u16,
    #[serde(default)]
    body: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum EncodedEmbedding {
    Packed(String),
    Plain(Numbers),
}

fn file_name(key: &str) -> String {
    format!("memorist-{key}.jsonl")
}

fn batch(caller: &Caller<'_>, job: &str) -> Result<Option<OpenAiBatch>, JobFailure> {
    match is_plain(job) {
        true => caller.get(&format!("batches/{job}")),
        false => Ok(None),
    }
}

/// Calls `each` with the items of a list, newest first, until it returns false.
fn list<T: serde::de::DeserializeOwned>(
    caller: &Caller<'_>,
    operation: &str,
    id: impl Fn(&T) -> &str,
    each: &mut dyn FnMut(&T) -> bool,
) -> Result<(), JobFailure> {
    let mut after = String::new();
    loop {
        let Some(page) = caller.get::<ListPage<T>>(&format!("{operation}limit=100{after}"))? else { return Ok(()) };
        if !page.data.iter().all(&mut *each) || !page.has_more {
            return Ok(());
        }
        match page.data.last().map(&id).filter(|id| is_plain(id)) {
            Some(last) => after = format!("&after={last}"),
            None => return Ok(()),
        }
    }
}

/// The code in the first of these places.
fn code(value: &Value, places: &[&str]) -> Option<String> {
    places.iter().find_map(|place| known(value.pointer(place)?.as_str()?)).map(str::to_owned)
}

fn made(line: &[u8]) -> Option<Made> {
    let line: ResultLine = serde_json::from_slice(line).ok()?;
    let vector = match line.response {
        Some(Response { status_code: 200, body }) => {
            vector(&body).ok_or_else(|| "its vector cannot be read".to_owned())
        }
        // Not its message, which may repeat the text or the key.
        Some(Response { status_code, body }) => {
            let code = code(&body, &["/error/code", "/error/type"]).map_or(String::new(), |code| format!(", {code}"));
            Err(format!("status {status_code}{code}"))
        }
        None => Err(code(&line.error?, &["/code"]).unwrap_or_else(|| "no reason is given".to_owned())),
    };
    Some(Made { id: Some(line.custom_id), vector })
}

fn vector(body: &Value) -> Option<Numbers> {
    let embedding = body.pointer("/data/0/embedding")?;
    match EncodedEmbedding::deserialize(embedding).ok()? {
        EncodedEmbedding::Plain(numbers) => Some(numbers),
        EncodedEmbedding::Packed(text) => {
            let bytes = STANDARD.decode(text).ok()?;
            let (numbers, rest) = bytes.as_chunks::<4>();
            rest.is_empty().then(|| numbers.iter().map(|bytes| Some(f32::from_le_bytes(*bytes))).collect())
        }
    }
}

impl JobApi for OpenAiJobs {
    fn limits(&self) -> (usize, usize) {
        // 200 MB are allowed; a file is made in memory.
        (50_000, 100 << 20)
    }

    fn request(&self, caller: &Caller<'_>, id: &str, text: &str) -> String {
        let mut body = json!({ "model": caller.model(), "input": text, "encoding_format": "base64" });
        body.as_object_mut().expect("an object").extend(caller.form().fields.clone());
        json!({ "custom_id": id, "method": "POST", "url": "/v1/embeddings", "body": body }).to_string()
    }

    fn submit(&self, caller: &Caller<'_>, key: &str, requests: &[String]) -> Result<String, JobFailure> {
        let mut body = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{BOUNDARY}\r\n\
             content-disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\
             content-type: application/jsonl\r\n\r\n",
            file_name(key)
        );
        for request in requests {
            body.push_str(request);
            body.push('\n');
        }
        body.push_str(&format!("\r\n--{BOUNDARY}--\r\n"));
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let file: OpenAiFile = caller.upload("files", body.into_bytes(), kind)?;
        let wanted = json!({
            "input_file_id": file.id,
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
            "metadata": { KEY: key },
        });
        Ok(caller.make::<OpenAiBatch>("batches", wanted.to_string())?.id)
    }

    fn find(&self, caller: &Caller<'_>, key: &str, since: i64) -> Result<Option<String>, JobFailure> {
        let mut found = None;
        list(caller, "batches?", |batch: &OpenAiBatch| &batch.id, &mut |batch: &OpenAiBatch| {
            if batch.metadata[KEY] == key {
                found = Some(batch.id.clone());
            }
            found.is_none() && batch.created_at >= since / 1_000 - CLOCKS_DIFFER
        })?;
        Ok(found)
    }

    fn look(&self, caller: &Caller<'_>, job: &str) -> Result<JobState, JobFailure> {
        let Some(batch) = batch(caller, job)? else { return Ok(JobState::Gone) };
        let count = |name: &str| batch.request_counts[name].as_u64().unwrap_or(0);
        let said = known(&batch.status).unwrap_or("in another state").replace('_', " ");
        Ok(match batch.status.as_str() {
            "completed" => JobState::Ended { is_complete: true, said },
            "expired" | "cancelled" => JobState::Ended { is_complete: false, said },
            "failed" => JobState::Failed(code(&batch.errors, &["/data/0/code"]).unwrap_or(said)),
            _ => JobState::Running { done: count("completed") + count("failed"), said },
        })
    }

    fn fetch(&self, caller: &Caller<'_>, job: &str, each: &mut Each<'_>) -> Result<(), JobFailure> {
        let Some(batch) = batch(caller, job)? else { return Ok(()) };
        for file in [batch.output_file_id, batch.error_file_id].into_iter().flatten().filter(|file| is_plain(file)) {
            let url = caller.url(&format!("files/{file}/content"));
            caller.lines(url, &mut |line| made(line).map_or(Ok(()), &mut *each))?;
        }
        Ok(())
    }

    fn cancel(&self, caller: &Caller<'_>, job: &str) -> Result<(), JobFailure> {
        if is_plain(job) { caller.tell(&format!("batches/{job}/cancel")) } else { Ok(()) }
    }

    fn remove(&self, caller: &Caller<'_>, key: &str, job: Option<&str>) -> Result<(), JobFailure> {
        let mut files = Vec::new();
        match job {
            Some(job) => {
                if let Some(batch) = batch(caller, job)? {
                    files
                        .extend([batch.input_file_id, batch.output_file_id, batch.error_file_id].into_iter().flatten());
                }
            }
            None => {
                let name = file_name(key);
                list(caller, "files?purpose=batch&", |file: &OpenAiFile| &file.id, &mut |file: &OpenAiFile| {
                    files.extend((file.filename == name).then(|| file.id.clone()));
                    true
                })?;
            }
        }
        files.iter().filter(|file| is_plain(file)).try_for_each(|file| caller.delete(&format!("files/{file}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: Value) -> Option<Result<Numbers, String>> {
        made(line.to_string().as_bytes()).map(|made| made.vector)
    }

    #[test]
    fn a_line_is_a_vector_or_a_reason_or_nothing() {
        let with = |embedding: Value| {
            let body = json!({ "data": [{ "embedding": embedding, "index": 0 }] });
            read(json!({ "custom_id": "a", "response": { "status_code": 200, "body": body }, "error": null }))
        };
        let numbers = Some(Ok(vec![Some(1.0), Some(-2.0)]));
        assert_eq!(with(json!([1, -2])), numbers);
        assert_eq!(with(json!("AACAPwAAAMA=")), numbers);
        for wrong in [json!("AACAPwA="), json!("?"), json!({}), Value::Null] {
            assert!(with(wrong).unwrap().is_err());
        }
        let failed = json!({ "status_code": 400, "body": { "error": { "message": "my diary", "code": "too_long" } } });
        assert_eq!(read(json!({ "custom_id": "a", "response": failed })), Some(Err("status 400, too_long".into())));
        let expired = json!({ "code": "batch_expired", "message": "my diary" });
        assert_eq!(read(json!({ "custom_id": "a", "error": expired })), Some(Err("batch_expired".into())));
        assert!(read(json!({ "response": null })).is_none() && made(b"{").is_none() && made(b"").is_none());
    }
}
