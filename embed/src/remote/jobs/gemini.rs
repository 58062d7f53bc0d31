//! The batches of Gemini: requests within the request for the job, answers within the job, or in a file of their own.

use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{Each, JobApi, Made};
use super::caller::{Caller, is_plain};
use crate::jobs::{JobFailure, JobState};
use crate::remote::dialect::Numbers;
use crate::remote::gemini::path;
use crate::remote::reason::known;

/// The batch jobs of Gemini.
pub(super) struct GeminiJobs;

/// A job, as an operation that takes long.
#[derive(Deserialize)]
struct Operation {
    name: String,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    response: Value,
    #[serde(default)]
    error: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OperationPage {
    #[serde(default)]
    operations: Vec<Operation>,
    #[serde(default)]
    next_page_token: String,
}

impl Operation {
    /// A part of what the job has made: it stands beside the job or in what describes it.
    fn output(&self, place: &str) -> Option<&Value> {
        let described = self.metadata.get("output");
        [Some(&self.response), described].into_iter().flatten().find_map(|output| output.pointer(place))
    }

    /// The name of the file with what it has made.
    fn file(&self) -> Option<&str> {
        let file = self.output("/responsesFile")?.as_str()?;
        Some(file).filter(|file| is_plain(file))
    }
}

fn operation(caller: &Caller<'_>, job: &str) -> Result<Option<Operation>, JobFailure> {
    match is_plain(job) {
        true => caller.get(job),
        false => Ok(None),
    }
}

fn made(answer: &Value) -> Option<Made> {
    let id = ["/metadata/key", "/key"].iter().find_map(|place| answer.pointer(place)?.as_str()).map(str::to_owned);
    // Not its message, which may repeat the text or the key.
    let why = answer.get("error").map(|error| format!("error {}", error["code"].as_i64().unwrap_or_default()));
    let values = answer.pointer("/response/embedding/values").or_else(|| answer.pointer("/embedding/values"));
    let vector = match (values, why) {
        (Some(values), _) => Numbers::deserialize(values).map_err(|_| "its vector cannot be read".to_owned()),
        (None, Some(why)) => Err(why),
        (None, None) if id.is_some() => Err("it has no vector".to_owned()),
        (None, None) => return None,
    };
    Some(Made { id, vector })
}

impl JobApi for GeminiJobs {
    fn limits(&self) -> (usize, usize) {
        // 20 MB are allowed. The answers of so few texts fit into one.
        (2_000, 15 << 20)
    }

    fn request(&self, caller: &Caller<'_>, id: &str, text: &str) -> String {
        let mut request = json!({ "model": path(caller.model()), "content": { "parts": [{ "text": text }] } });
        request.as_object_mut().expect("an object").extend(caller.form().fields.clone());
        json!({ "request": request, "metadata": { "key": id } }).to_string()
    }

    fn submit(&self, caller: &Caller<'_>, key: &str, requests: &[String]) -> Result<String, JobFailure> {
        let (name, requests) = (json!(key), requests.join(","));
        let body =
            format!(r#"{{"batch":{{"displayName":{name},"inputConfig":{{"requests":{{"requests":[{requests}]}}}}}}}}"#);
        let operation = format!("{}:asyncBatchEmbedContent", path(caller.model()));
        Ok(caller.make::<Operation>(&operation, body)?.name)
    }

    fn find(&self, caller: &Caller<'_>, key: &str, _since: i64) -> Result<Option<String>, JobFailure> {
        let mut token = String::new();
        loop {
            let Some(page) = caller.get::<OperationPage>(&format!("batches?pageSize=100{token}"))? else {
                return Ok(None);
            };
            let found = page.operations.into_iter().find(|operation| operation.metadata["displayName"] == key);
            if found.is_some() || page.next_page_token.is_empty() || !is_plain(&page.next_page_token) {
                return Ok(found.map(|operation| operation.name));
            }
            token = format!("&pageToken={}", page.next_page_token);
        }
    }

    fn look(&self, caller: &Caller<'_>, job: &str) -> Result<JobState, JobFailure> {
        let Some(operation) = operation(caller, job)? else { return Ok(JobState::Gone) };
        let state = operation.metadata["state"].as_str().unwrap_or_default();
        let said =
            known(state.rsplit("_STATE_").next().unwrap_or_default()).unwrap_or("in another state").to_lowercase();
        let count = |name: &str| {
            let count = &operation.metadata["batchStats"][name];
            count.as_u64().or_else(|| count.as_str()?.parse().ok()).unwrap_or(0)
        };
        Ok(match said.as_str() {
            "succeeded" => JobState::Ended { is_complete: true, said },
            "cancelled" | "expired" => JobState::Ended { is_complete: false, said },
            "failed" => JobState::Failed(
                known(operation.error["status"].as_str().unwrap_or_default()).unwrap_or(&said).to_owned(),
            ),
            _ => JobState::Running { done: count("successfulRequestCount") + count("failedRequestCount"), said },
        })
    }

    fn fetch(&self, caller: &Caller<'_>, job: &str, each: &mut Each<'_>) -> Result<(), JobFailure> {
        let Some(operation) = operation(caller, job)? else { return Ok(()) };
        if let Some(file) = operation.file() {
            let (host, version) = caller.profile.address.base.rsplit_once('/').unwrap_or_default();
            let url = format!("{host}/download/{version}/{file}:download?alt=media");
            return caller.lines(url, &mut |line| match serde_json::from_slice(line) {
                Ok(answer) => made(&answer).map_or(Ok(()), &mut *each),
                Err(_) => Ok(()),
            });
        }
        let places = ["/inlinedEmbedContentResponses/inlinedResponses", "/inlinedResponses/inlinedResponses"];
        let answers = places.iter().find_map(|place| operation.output(place)?.as_array());
        answers.into_iter().flatten().filter_map(made).try_for_each(each)
    }

    fn cancel(&self, caller: &Caller<'_>, job: &str) -> Result<(), JobFailure> {
        if is_plain(job) { caller.tell(&format!("{job}:cancel")) } else { Ok(()) }
    }

    fn remove(&self, caller: &Caller<'_>, _key: &str, job: Option<&str>) -> Result<(), JobFailure> {
        let Some(operation) = job.map_or(Ok(None), |job| operation(caller, job))? else { return Ok(()) };
        if let Some(file) = operation.file() {
            caller.delete(file)?;
        }
        caller.delete(&operation.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_vector_or_a_reason_or_nothing() {
        let read = |answer: Value| made(&answer).map(|made| (made.id, made.vector));
        let vector = json!({ "embedding": { "values": [1, 2] } });
        let numbers = vec![Some(1.0), Some(2.0)];
        let keyed = json!({ "metadata": { "key": "a" }, "response": vector });
        assert_eq!(read(keyed), Some((Some("a".into()), Ok(numbers.clone()))));
        assert_eq!(read(json!({ "key": "a", "response": vector })), Some((Some("a".into()), Ok(numbers.clone()))));
        assert_eq!(read(json!({ "response": vector })), Some((None, Ok(numbers))), "by its place");
        let failed = json!({ "metadata": { "key": "a" }, "error": { "code": 400, "message": "my diary" } });
        assert_eq!(read(failed), Some((Some("a".into()), Err("error 400".into()))));
        assert_eq!(read(json!({})), None);
    }
}
