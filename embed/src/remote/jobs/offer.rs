//! The batch jobs of a provider, with its limits, its prefixes and its cache.

use std::sync::Arc;

use super::api::JobApi;
use super::caller::Caller;
use super::gemini::GeminiJobs;
use super::openai::OpenAiJobs;
use crate::jobs::{BatchJobs, EachVector, JobFailure, JobState, JobTerms};
use crate::normalise::normalise;
use crate::progress::Progress;
use crate::provider::Protocol;
use crate::remote::http::Stop;
use crate::remote::profile::Purpose;
use crate::remote::provider::Provider;
use crate::remote::text::cut;

/// Bytes that a request has besides its text, at most.
const BESIDES_TEXT: usize = 1_024;

/// The jobs of a provider.
pub(crate) struct Offer {
    provider: Arc<Provider>,
    api: Box<dyn JobApi>,
}

impl Offer {
    /// The jobs of this provider, if it takes them.
    pub fn of(provider: &Arc<Provider>) -> Option<Self> {
        let api: Box<dyn JobApi> = match provider.profile.settings.protocol {
            Protocol::OpenAi => Box::new(OpenAiJobs),
            Protocol::Gemini => Box::new(GeminiJobs),
            Protocol::Ollama | Protocol::Cohere => return None,
        };
        Some(Offer { provider: provider.clone(), api })
    }

    fn with<T>(&self, progress: &dyn Progress, ask: impl FnOnce(&Caller<'_>) -> T) -> T {
        let stop: Stop<'_> = &|| progress.cancelled();
        ask(&Caller { http: &self.provider.http, profile: &self.provider.profile, stop })
    }
}

impl BatchJobs for Offer {
    fn provider(&self) -> String {
        self.provider.profile.name()
    }

    fn terms(&self) -> JobTerms {
        self.provider.profile.settings.jobs.clone()
    }

    fn fitting(&self, texts: &[&str]) -> usize {
        let (most, bytes) = self.api.limits();
        let most = self.terms().max_texts.unwrap_or(most).clamp(1, most);
        let mut left = bytes;
        let fits = |text: &&&str| {
            // A character takes two bytes at most where it is escaped, but for control characters.
            let needed = serde_json::Value::from(**text).to_string().len() + BESIDES_TEXT;
            let fits = needed <= left;
            left = left.saturating_sub(needed);
            fits
        };
        texts.iter().take(most).take_while(fits).count()
    }

    fn are_kept(&self, texts: &[&str]) -> Vec<bool> {
        let Some(dims) = self.provider.dims() else { return vec![false; texts.len()] };
        self.provider.all_kept(texts, Purpose::Document, dims).iter().map(Option::is_some).collect()
    }

    fn keep(&self, vectors: &[(&str, &[f32])]) {
        self.provider.keep_of_job(vectors);
    }

    fn submit(&self, key: &str, texts: &[(&str, &str)], progress: &dyn Progress) -> Result<String, JobFailure> {
        self.with(progress, |caller| {
            let most = self.provider.most_tokens();
            let prefix = &caller.form().prefix;
            let request =
                |(id, text): &(&str, &str)| self.api.request(caller, id, &format!("{prefix}{}", cut(text, most)));
            self.api.submit(caller, key, &texts.iter().map(request).collect::<Vec<_>>())
        })
    }

    fn find(&self, key: &str, since: i64, progress: &dyn Progress) -> Result<Option<String>, JobFailure> {
        self.with(progress, |caller| self.api.find(caller, key, since))
    }

    fn look(&self, job: &str, progress: &dyn Progress) -> Result<JobState, JobFailure> {
        self.with(progress, |caller| self.api.look(caller, job))
    }

    fn fetch(
        &self,
        job: &str,
        ids: &[String],
        each: &mut EachVector<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<String>, JobFailure> {
        let (mut place, mut why) = (0, None);
        self.with(progress, |caller| {
            self.api.fetch(caller, job, &mut |made| {
                let id = made.id.as_ref().or_else(|| ids.get(place)).cloned();
                place += 1;
                let Some(id) = id else { return Ok(()) };
                let vector = made.vector.and_then(|numbers| {
                    let numbers: Option<Vec<f32>> = numbers.into_iter().collect();
                    let numbers = numbers.ok_or("its vector has something else than numbers")?;
                    match self.provider.dims() {
                        Some(dims) if dims != numbers.len() => {
                            Err(format!("its vector has {} numbers where {dims} belong", numbers.len()))
                        }
                        _ => normalise(numbers).map_err(|_| "its vector has no direction".to_owned()),
                    }
                });
                match vector {
                    Ok(vector) => each(&id, vector).map_err(JobFailure::Later),
                    Err(said) => {
                        why.get_or_insert(said);
                        Ok(())
                    }
                }
            })
        })?;
        Ok(why)
    }

    fn cancel(&self, job: &str, progress: &dyn Progress) -> Result<(), JobFailure> {
        self.with(progress, |caller| self.api.cancel(caller, job))
    }

    fn remove(&self, key: &str, job: Option<&str>, progress: &dyn Progress) -> Result<(), JobFailure> {
        self.with(progress, |caller| self.api.remove(caller, key, job))
    }
}
