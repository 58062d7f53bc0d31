//! Saving and changing with vectors of the caller, and reading them.

use super::records::screen_and_save;
use super::{Engine, Memories};
use crate::error::{Error, Result};
use crate::records::rules::{add, update};
use crate::records::{Changed, ModelId};
use crate::sync::Message;
use crate::types::embedding::{is_one, length};
use crate::types::exchange::check_model;
use crate::types::{AddOutcome, Model, NewRecord, RecordId, RecordUpdate, UpdateOutcome};

impl Engine {
    /// Saves a record with an embedding of the caller: `vector` is the embedding of its text by the store's model.
    ///
    /// # Errors
    /// As [`Engine::add`], and if `vector` does not have the model's dimensions or has a number that is not finite, or if
    /// another record has the text with another vector: there is one for each text. [`Error::ModelMismatch`] if the
    /// configured model is not the store's.
    pub fn add_with(&self, new: &NewRecord, vector: &[f32]) -> Result<AddOutcome> {
        self.add_batch_with(std::slice::from_ref(new), &[vector])?.swap_remove(0)
    }

    /// Saves many records in one transaction, each with an embedding of the caller, as [`Engine::add_with`] does. One
    /// outcome per record, in order; a refused record or vector does not stop the others.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are not as many vectors as records; [`Error::ModelMismatch`] if the configured model is
    /// not the store's.
    pub fn add_batch_with(&self, new: &[NewRecord], vectors: &[&[f32]]) -> Result<Vec<Result<AddOutcome>>> {
        if new.len() != vectors.len() {
            let why = format!("there are {} vectors for {} texts; give one for each", vectors.len(), new.len());
            return Err(Error::invalid("embedding", why));
        }
        let (model, dims) = self.model_for_own_vectors()?;
        let sensitive = self.config.sensitive;
        let each: Vec<_> = new.iter().zip(vectors).collect();
        let screen = |(new, vector): &(&'_ NewRecord, &&[f32])| {
            let vector = unit(vector, dims)?;
            Ok((sensitive.new_record(new)?.into_owned(), vector))
        };
        let save = |screened: Vec<_>| add::add_batch_with(&self.store.records, model, &screened, self.store.now());
        let outcomes = screen_and_save(&each, screen, save)?;
        self.worker.send(Message::Written);
        Ok(outcomes)
    }

    /// Checks whether [`Engine::add_with`] would take a record and its vector in a store whose model has as many dimensions.
    ///
    /// # Errors
    /// Errors of [`Engine::add_with`].
    pub fn check_add_with(&self, new: &NewRecord, vector: &[f32]) -> Result<()> {
        self.config.sensitive.new_record(new)?.validate()?;
        unit(vector, vector.len()).map(drop)
    }

    /// Makes `model` the one that the store's vectors belong to, if the store has none: for a program that embeds by
    /// itself and configures no model here.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`] if the store has another.
    pub fn adopt_model(&self, model: &Model) -> Result<()> {
        check_model(model)?;
        self.store.records.model(model).map(drop)
    }

    /// Checks that the store's vectors are of `model`, or of the configured one without it. A store may have none yet.
    ///
    /// # Errors
    /// [`Error::ModelMismatch`] if the store has another.
    pub fn check_model(&self, model: Option<&Model>) -> Result<()> {
        match model {
            Some(model) => self.store.records.known_model(model).map(drop),
            None => self.model_of_own_vectors().map(drop),
        }
    }

    /// The model, and its dimensions, that new vectors of the caller belong to. A store without a model takes the
    /// configured one.
    fn model_for_own_vectors(&self) -> Result<(ModelId, usize)> {
        if self.store.model()?.is_none() {
            self.store.decide()?;
            self.store.embedder()?;
        }
        Ok(self.model_of_own_vectors()?.unwrap_or((0.into(), 0)))
    }

    /// The model, and its dimensions, that vectors of the caller belong to: the configured one, which must be the
    /// store's; without one the store's, trusting the caller.
    pub(super) fn model_of_own_vectors(&self) -> Result<Option<(ModelId, usize)>> {
        let store = &self.store;
        let model = if store.host_in_use()?.is_available() { store.model_at_hand()? } else { store.model()? };
        Ok(model.map(|(id, model)| (id, model.dims)))
    }
}

impl Memories<'_> {
    /// Changes a record, with an embedding of the caller: `vector` is that of the text that it has afterwards. It alone may be
    /// new.
    ///
    /// # Errors
    /// As [`Memories::update`] and [`Engine::add_with`].
    pub fn update_with(&self, id: RecordId, update: &RecordUpdate, vector: &[f32]) -> Result<UpdateOutcome> {
        let (model, dims) = self.engine.model_for_own_vectors()?;
        let vector = unit(vector, dims)?;
        self.viewer.validate()?;
        let update = self.engine.config.sensitive.update(update)?;
        // The vector alone may be new.
        update.validate_fields()?;
        let now = self.engine.store.now();
        let Changed { before, after } =
            update::update_with(&self.engine.store.records, id, &update, self.viewer, (model, &vector), now)?;
        self.engine.finish_change(Some(before), after)
    }

    /// The vector of a record, of length 1: of its beginning, where the text is long. `None` while it has none.
    ///
    /// # Errors
    /// [`Error::NotFound`], also if the viewer does not see it.
    pub fn vector(&self, id: RecordId) -> Result<Option<Vec<f32>>> {
        self.require(id)?;
        match self.engine.store.model()? {
            Some((model, _)) => self.engine.store.records.copy().snapshot()?.embedding(model, id),
            None => Ok(None),
        }
    }

    /// Checks whether [`Memories::update_with`] would take an update and its vector, in a store whose model has as many
    /// dimensions.
    ///
    /// # Errors
    /// Errors of [`Memories::update_with`].
    pub fn check_update_with(&self, id: RecordId, update: &RecordUpdate, vector: &[f32]) -> Result<()> {
        self.engine.config.sensitive.update(update)?.validate_fields()?;
        self.require(id)?;
        unit(vector, vector.len()).map(drop)
    }
}

/// A vector of the caller, with length 1. One that has it but for rounding stays as it is.
pub(super) fn unit(vector: &[f32], dims: usize) -> Result<Vec<f32>> {
    let length = length(vector);
    if vector.len() != dims || !length.is_finite() || length == 0.0 {
        let why = format!("must be {dims} finite numbers, not all 0; it has {}", vector.len());
        return Err(Error::invalid("embedding", why));
    }
    if is_one(length) {
        return Ok(vector.to_vec());
    }
    Ok(vector.iter().map(|number| number / length).collect())
}
