//! The cosine scale of the store's model: measured once, kept in a file beside the indexes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memorist_embed::Embedder;

use super::store::{KnownScale, LastScale, ModelScale, Store, identity};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::records::{Model, ModelId};
use crate::scale::{CosineScale, QueryScale};

/// A provider embeds the built-in sentences when it has embedded so many texts at once: for a store of a few
/// memories they would cost more than these.
pub(super) const TEXTS_WORTH_A_SCALE: usize = 64;

/// How long no scale is looked for where there was none: another process may measure it meanwhile.
const UNTIL_NEXT_LOOK: Duration = Duration::from_secs(1);

/// How long a search waits for another thread that measures: the embedder of a program may take minutes.
const MEASURE_WAIT: Duration = Duration::from_secs(2);

impl Store {
    /// How the cosines of a query with this vector of the store's model are read. Cosines as they are, until the model has been
    /// measured; while another thread measures one that is quick, they say nothing.
    pub fn query_scale(&self, model: ModelId, vector: &[f32]) -> QueryScale {
        match self.scale_of(model) {
            Ok(ModelScale::Known(scale)) => scale.of_query(vector),
            Ok(ModelScale::Measuring) if self.host.is_quick() => QueryScale::MEASURING,
            Ok(ModelScale::Measuring | ModelScale::Unknown) => QueryScale::PLAIN,
            Err(error) => {
                tracing::warn!("cosines are not scaled: {error}");
                QueryScale::PLAIN
            }
        }
    }

    /// The scale of the store's model, which a search knows the id of: else each would read the model from the database, and look
    /// for the file.
    fn scale_of(&self, model: ModelId) -> Result<ModelScale> {
        let mut last = self.last_scale.lock();
        let is_known = |last: &LastScale| {
            let is_scale = matches!(last.scale, ModelScale::Known(_));
            last.model == model && (is_scale || last.looked_at.elapsed() < UNTIL_NEXT_LOOK)
        };
        if let Some(last) = last.as_ref().filter(|last| is_known(last)) {
            return Ok(last.scale.clone());
        }
        let scale = match self.model()? {
            Some((id, stored)) if id == model => self.look_up(&stored),
            _ => ModelScale::Unknown,
        };
        *last = Some(LastScale { model, scale: scale.clone(), looked_at: Instant::now() });
        Ok(scale)
    }

    /// The store's model and its scale, if it was measured.
    pub(super) fn scale(&self) -> Result<Option<(ModelId, Arc<CosineScale>)>> {
        let Some((id, model)) = self.model()? else { return Ok(None) };
        Ok(match self.look_up(&model) {
            ModelScale::Known(scale) => Some((id, scale)),
            ModelScale::Measuring | ModelScale::Unknown => None,
        })
    }

    fn look_up(&self, model: &Model) -> ModelScale {
        let Some(mut known) = self.scale.try_lock_for(MEASURE_WAIT) else { return ModelScale::Measuring };
        match self.known_scale(&mut known, &identity(model)) {
            Some(KnownScale::Scale(scale)) => ModelScale::Known(scale),
            Some(KnownScale::Failed(_)) | None => ModelScale::Unknown,
        }
    }

    /// Measures the model behind `embedder`, unless that was done, or another thread does. A failure is logged: the search goes
    /// on without.
    pub(super) fn measure(&self, embedder: &dyn Embedder, model: &Model, progress: &dyn Progress) {
        let identity = identity(model);
        let Some(mut known) = self.scale.try_lock_for(MEASURE_WAIT) else { return };
        if !embedder.is_measurable() || self.known_scale(&mut known, &identity).is_some() {
            return;
        }
        let measured = CosineScale::measure(embedder, identity.clone(), progress).map(Arc::new);
        *known = Some(match measured {
            Ok(scale) => {
                self.keep_scale(&scale);
                KnownScale::Scale(scale)
            }
            Err(Error::Cancelled) => return,
            Err(error) => {
                tracing::warn!("the scale of {} could not be measured: {error}", model.name);
                KnownScale::Failed(identity)
            }
        });
        drop(known);
        *self.last_scale.lock() = None;
    }

    /// The known scale of this model: from memory, or from the file.
    fn known_scale(&self, known: &mut Option<KnownScale>, model: &str) -> Option<KnownScale> {
        let is_of_model = |known: &KnownScale| match known {
            KnownScale::Scale(scale) => scale.model() == model,
            KnownScale::Failed(failed) => failed == model,
        };
        if !known.as_ref().is_some_and(is_of_model) {
            let bytes = memorist_durable::open_plain(&self.paths.scale()).ok().and_then(|file| read(&file).ok());
            let scale = bytes.and_then(|bytes| CosineScale::from_bytes(&bytes)).filter(|scale| scale.model() == model);
            *known = scale.map(|scale| KnownScale::Scale(Arc::new(scale)));
        }
        known.clone()
    }

    /// Keeps it for other processes, where this one may write.
    fn keep_scale(&self, scale: &CosineScale) {
        if !self.records.can_write() {
            return;
        }
        let path = self.paths.scale();
        let kept = memorist_durable::replace(&path, &scale.to_bytes());
        if let Err(error) = kept.map_err(|error| Error::io(&path, error.into())) {
            tracing::warn!("the scale of the model is measured again next time: {error}");
        }
    }
}

/// Bytes that are read of a file at most: enough for any model.
const MOST_BYTES: u64 = 16 << 20;

fn read(file: &std::fs::File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, MOST_BYTES), &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use memorist_embed::{HashEmbedder, ModelHost};

    use super::*;
    use crate::config::Config;
    use crate::paths::StorePaths;

    /// 37: a search that comes while the first one measures the model knows nothing of its cosines.
    #[test]
    fn cosines_say_nothing_while_a_quick_model_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let host = ModelHost::ready(Arc::new(HashEmbedder::new(16)));
        let store = Store::open(StorePaths::new(folder.path()), Config::without_model(), Some(host)).unwrap();
        let (embedder, model) = store.embedder().unwrap();
        let vector = embedder.embed_query("a heron").unwrap();
        let similarity = || store.query_scale(model, &vector).reading(1.0).similarity(0.9);
        let measured = similarity();
        *store.last_scale.lock() = None;
        let measuring = store.scale.lock();
        assert!(similarity() < 0.1 && similarity() < measured);
        drop(measuring);
        *store.last_scale.lock() = None;
        assert_eq!(similarity(), measured);
    }
}
