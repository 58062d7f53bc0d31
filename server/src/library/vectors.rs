//! Saving and changing with vectors that the program has made, and saving many.

use memorist_engine::Result;
use memorist_engine::config::ModelSource;
use memorist_engine::embed::ModelIdentity;
use memorist_engine::types::{AddOutcome, EmbeddingState, Model, NewRecord};
use serde_json::{Map, Value, json};

use super::open::{Library, own_model};

use crate::ops;
use crate::tools::{Problem, ProblemKind, parse_params, to_json};
use crate::wire::{self, AddParams, GetParams, UpdateParams, UpdateResult};

impl Library {
    /// Saves a memory with the vector of its text, as the tool does but for links and merges.
    ///
    /// # Errors
    /// Errors of the tool, and if the vector is not one of the store's model.
    pub fn add_with(&self, given: Map<String, Value>, vector: &[f32]) -> Result<Value, Problem> {
        let record = self.record(given)?;
        self.adopt_model(vector.len(), || self.engine.check_add_with(&record, vector))?;
        let mut outcome = self.engine.add_with(&record, vector)?;
        self.stands_for_the_whole(&mut outcome.embedding);
        self.context.log_saved(&self.engine, &outcome);
        Ok(added(&outcome))
    }

    /// Saves many memories in one transaction: one outcome for each, in order. A refused one is an object with `error`, and
    /// does not stop the others. Each has a vector of the program, or none has.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn add_many(&self, given: Vec<Map<String, Value>>, vectors: Option<&[&[f32]]>) -> Result<Value, Problem> {
        let each: Vec<_> = given.into_iter().map(|given| self.record(given)).collect();
        let is_read: Vec<bool> = each.iter().map(Result::is_ok).collect();
        let (read, refused): (Vec<_>, Vec<_>) = each.into_iter().partition(Result::is_ok);
        let read: Vec<NewRecord> = read.into_iter().flatten().collect();
        let outcomes = match vectors {
            Some(vectors) => {
                let vectors = vectors.iter().zip(&is_read).filter(|(_, is_read)| **is_read);
                self.add_batch_with(&read, &vectors.map(|(vector, _)| *vector).collect::<Vec<_>>())?
            }
            None => self.engine.add_batch(&read)?.into_iter().map(|outcome| Ok(outcome?)).collect(),
        };
        let mut outcomes = outcomes.into_iter();
        let mut refused = refused.into_iter().filter_map(Result::err);
        let outcome = |is_read: &bool| match is_read {
            true => outcomes.next().map(|outcome| match outcome {
                Ok(outcome) => {
                    self.context.log_saved(&self.engine, &outcome);
                    added(&outcome)
                }
                Err(problem) => json!({ "error": problem.message }),
            }),
            false => refused.next().map(|problem| json!({ "error": problem.message })),
        };
        Ok(is_read.iter().filter_map(outcome).collect())
    }

    fn add_batch_with(
        &self,
        new: &[NewRecord],
        vectors: &[&[f32]],
    ) -> Result<Vec<Result<AddOutcome, Problem>>, Problem> {
        // The first that is sure to be saved says how many dimensions a new store has.
        let mut refused = Vec::new();
        for (new, vector) in new.iter().zip(vectors) {
            match self.adopt_model(vector.len(), || self.engine.check_add_with(new, vector)) {
                Ok(()) => break,
                Err(problem) if problem.kind == ProblemKind::InvalidInput => refused.push(problem),
                Err(problem) => return Err(problem),
            }
        }
        if !refused.is_empty() && refused.len() == new.len() {
            return Ok(refused.into_iter().map(Err).collect());
        }
        let mut outcomes = self.engine.add_batch_with(new, vectors)?;
        outcomes.iter_mut().flatten().for_each(|outcome| self.stands_for_the_whole(&mut outcome.embedding));
        Ok(outcomes.into_iter().map(|outcome| Ok(outcome?)).collect())
    }

    /// Where nothing embeds, a vector of the program is all that a long text will have.
    fn stands_for_the_whole(&self, embedding: &mut EmbeddingState) {
        if self.nothing_embeds() {
            *embedding = EmbeddingState::Ready;
        }
    }

    /// Changes a memory, with the vector of its new text.
    ///
    /// # Errors
    /// Errors of the tool, and if the vector is not one of the store's model.
    pub fn update_with(&self, given: Map<String, Value>, vector: &[f32]) -> Result<Value, Problem> {
        let params: UpdateParams = parse_params(given)?;
        let id = params.id.0.into();
        let viewer = self.context.defaults.viewer(&params.project, &params.agent)?;
        let update = ops::to_update(&self.engine, params)?;
        self.adopt_model(vector.len(), || self.engine.viewed_by(&viewer).check_update_with(id, &update, vector))?;
        let mut outcome = self.engine.viewed_by(&viewer).update_with(id, &update, vector)?;
        self.stands_for_the_whole(&mut outcome.embedding);
        to_json(&UpdateResult::of(&outcome))
    }

    /// The vector of a memory, of length 1; `None` while it has none. Takes the parameters of `get`.
    ///
    /// # Errors
    /// If there is no such memory that is seen.
    pub fn vector(&self, given: Map<String, Value>) -> Result<Option<Vec<f32>>, Problem> {
        let params: GetParams = parse_params(given)?;
        let viewer = self.context.defaults.viewer(&params.project, &params.agent)?;
        Ok(self.engine.viewed_by(&viewer).vector(params.id.0.into())?)
    }

    /// The vectors that the store's model makes of queries.
    ///
    /// # Errors
    /// If there is no model, or it fails.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Problem> {
        Ok(texts.iter().map(|text| self.engine.embed_query(text)).collect::<Result<_>>()?)
    }

    fn record(&self, given: Map<String, Value>) -> Result<NewRecord, Problem> {
        let params: AddParams = parse_params(given)?;
        if params.supersedes.is_some() || params.contradicts.is_some() || params.related.is_some() {
            let why =
                "supersedes, contradicts and related are for single memories without a vector; link them afterwards";
            return Err(Problem::input(why));
        }
        let caller = self.context.defaults.caller(&params.project, &params.agent)?;
        Ok(wire::new_record(params.by_clock(self.engine.clock_ahead()), caller.scope)?)
    }

    fn nothing_embeds(&self) -> bool {
        self.settings.engine.model.source == ModelSource::None
    }

    /// A store without a model gets that of the program's vectors, if nothing else embeds, once `check` is passed: what is
    /// refused must not say how many dimensions the store has.
    fn adopt_model(&self, dims: usize, check: impl FnOnce() -> Result<()>) -> Result<(), Problem> {
        match self.own_model() {
            Some(name) => {
                // A vector of the wrong length is no vector of another model.
                let dims = match self.engine.dimensions() {
                    Ok(known) => known,
                    Err(_) => {
                        check()?;
                        dims
                    }
                };
                Ok(self.engine.adopt_model(&model_of(name, dims))?)
            }
            None => Ok(()),
        }
    }

    /// Checks that a vector of the program is of the store's model, as a search compares it with those of the store.
    pub(super) fn check_model(&self) -> Result<(), Problem> {
        let own_model = self.own_model().zip(self.engine.dimensions().ok());
        Ok(self.engine.check_model(own_model.map(|(name, dims)| model_of(name, dims)).as_ref())?)
    }

    /// The name of the model of the program's vectors, if nothing else embeds.
    fn own_model(&self) -> Option<&str> {
        self.own_model.as_deref().filter(|_| self.nothing_embeds())
    }
}

fn model_of(name: &str, dims: usize) -> Model {
    let ModelIdentity { name, weights_sha256, pooling, dims } = own_model(name, dims);
    Model { name, weights_sha256, pooling, dims }
}

fn added(outcome: &AddOutcome) -> Value {
    json!({
        "id": outcome.id.get(),
        "created": outcome.created,
        "duplicate": !outcome.created,
        "embedding": outcome.embedding,
    })
}
