//! Requests of a job, and their answers.

use std::time::Duration;

use http::Method;
use serde::de::DeserializeOwned;

use crate::jobs::JobFailure;
use crate::remote::failure::Failure;
use crate::remote::http::{Http, Request, Stop};
use crate::remote::profile::{Form, Profile, Purpose};
use crate::remote::provider::another_model;
use crate::remote::reason::unreadable;
use crate::remote::retry::{Attempts, judge, repeat};

/// Longest time of a request without a file, and of one with.
const TIMEOUT: Duration = Duration::from_secs(60);
const TIMEOUT_OF_FILES: Duration = Duration::from_secs(60 * 60);

/// Sends requests to a provider for a caller that may give up.
pub(super) struct Caller<'a> {
    pub http: &'a Http,
    pub profile: &'a Profile,
    pub stop: Stop<'a>,
}

impl Caller<'_> {
    pub fn model(&self) -> &str {
        &self.profile.settings.model
    }

    /// How a text is sent that is to be stored.
    pub fn form(&self) -> &Form {
        self.profile.form(Purpose::Document)
    }

    /// Reads the resource at `operation`; `None` if it does not exist.
    pub fn get<T: DeserializeOwned>(&self, operation: &str) -> Result<Option<T>, JobFailure> {
        self.repeated(Method::GET, operation, None)?.map(|body| parse(&body)).transpose()
    }

    /// The address of an operation. Its own query is added to that of the settings.
    pub fn url(&self, operation: &str) -> String {
        match operation.split_once('?') {
            Some((operation, query)) if self.profile.address.query.is_empty() => {
                format!("{}?{query}", self.profile.address.join(operation))
            }
            Some((operation, query)) => format!("{}&{query}", self.profile.address.join(operation)),
            None => self.profile.address.join(operation),
        }
    }

    /// Deletes the resource at `operation`, if it exists.
    pub fn delete(&self, operation: &str) -> Result<(), JobFailure> {
        self.repeated(Method::DELETE, operation, None).map(drop)
    }

    /// Sends a command that may be repeated.
    pub fn tell(&self, operation: &str) -> Result<(), JobFailure> {
        let body = (b"{}".to_vec(), JSON.to_owned());
        self.repeated(Method::POST, operation, Some(body)).map(drop)
    }

    /// Makes a job. It is requested once, and to its end: after a failure it is unknown whether it was made.
    pub fn make<T: DeserializeOwned>(&self, operation: &str, body: String) -> Result<T, JobFailure> {
        if (self.stop)() {
            return Err(JobFailure::Cancelled);
        }
        self.send(operation, body.into_bytes(), JSON.to_owned(), TIMEOUT, &|| false)
    }

    /// Uploads a file, in a body of this type.
    pub fn upload<T: DeserializeOwned>(&self, operation: &str, body: Vec<u8>, kind: String) -> Result<T, JobFailure> {
        self.send(operation, body, kind, TIMEOUT_OF_FILES, self.stop)
    }

    fn send<T: DeserializeOwned>(
        &self,
        operation: &str,
        body: Vec<u8>,
        kind: String,
        timeout: Duration,
        stop: Stop<'_>,
    ) -> Result<T, JobFailure> {
        let request = Request { method: Method::POST, url: self.url(operation), body: Some((body, kind)) };
        let answer = self.http.call(request, timeout, stop).and_then(|answer| judge(self.profile, answer));
        parse(&answer.map_err(failure)?)
    }

    /// Calls `each` with every line of a file. Fails if the file does not exist.
    pub fn lines(&self, url: String, each: &mut dyn FnMut(&[u8]) -> Result<(), JobFailure>) -> Result<(), JobFailure> {
        let request = Request { method: Method::GET, url, body: None };
        let mut ended = None;
        let read = self.http.lines(
            request,
            TIMEOUT_OF_FILES,
            &mut |line| {
                each(line).map_err(|failure| {
                    ended = Some(failure);
                    Failure::Cancelled
                })
            },
            self.stop,
        );
        match (ended, read) {
            (Some(ended), _) => Err(ended),
            (None, Ok(None)) => Ok(()),
            (None, Ok(Some(answer))) => match judge(self.profile, answer) {
                Err(other) => Err(failure(other)),
                Ok(_) => Ok(()),
            },
            (None, Err(other)) => Err(failure(other)),
        }
    }

    /// The answer; `None` if nothing exists at this address.
    fn repeated(
        &self,
        method: Method,
        operation: &str,
        body: Option<(Vec<u8>, String)>,
    ) -> Result<Option<Vec<u8>>, JobFailure> {
        let url = self.url(operation);
        let ask = || {
            let request = Request { method: method.clone(), url: url.clone(), body: body.clone() };
            let answer = self.http.call(request, TIMEOUT, self.stop)?;
            match answer.status {
                404 => Ok(None),
                _ => judge(self.profile, answer).map(Some),
            }
        };
        repeat(self.profile, Attempts::of(Purpose::Document), self.stop, ask).map_err(failure)
    }
}

const JSON: &str = "application/json";

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, JobFailure> {
    let unusable = |error| JobFailure::Later(format!("its answer cannot be used: {}", unreadable(&error)));
    serde_json::from_slice(body).map_err(unusable)
}

fn failure(failure: Failure) -> JobFailure {
    match failure {
        Failure::Later(why, _) | Failure::ServerError(why, _) => JobFailure::Later(why),
        Failure::OtherLength { found, known } => JobFailure::Refused(another_model(found, known)),
        Failure::Never(why) | Failure::Refused(why) => JobFailure::Refused(why),
        Failure::Cancelled => JobFailure::Cancelled,
    }
}

/// Whether a name that a provider gave can stand in an address as it is.
pub(super) fn is_plain(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.~/".contains(letter);
    !name.is_empty() && name.chars().all(is_letter) && !name.contains("..") && !name.starts_with('/')
}
