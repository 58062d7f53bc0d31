//! The identity of the user's own model: computed once, and cached beside it.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::identity::ModelIdentity;

/// The file beside a custom `model.onnx` that caches its identity.
const REMEMBERED_FILE: &str = "model.identity.json";

/// An identity is valid as long as the weights file keeps its size and time.
#[derive(Serialize, Deserialize)]
struct Remembered {
    bytes: u64,
    modified_nanoseconds: u128,
    identity: ModelIdentity,
}

/// The identity cached beside `model`, unless the file has changed since.
pub(crate) fn recall(model: &Path) -> Option<ModelIdentity> {
    let json = fs::read(model.with_file_name(REMEMBERED_FILE)).ok()?;
    let remembered: Remembered = serde_json::from_slice(&json).ok()?;
    let now = stamp(model).ok()?;
    (now == (remembered.bytes, remembered.modified_nanoseconds)).then_some(remembered.identity)
}

/// Computes the identity of the weights in `model` with vectors of `dims` numbers, and caches it beside them if that
/// folder is writable.
#[cfg(feature = "onnx")]
pub(crate) fn establish(model: &Path, dims: usize) -> Result<ModelIdentity> {
    let (bytes, modified_nanoseconds) = stamp(model)?;
    let name =
        model.parent().and_then(Path::file_name).map_or_else(|| model.to_string_lossy(), |n| n.to_string_lossy());
    let identity = ModelIdentity {
        name: name.into_owned(),
        weights_sha256: super::cache::file_sha256(model)?,
        pooling: crate::named::MEAN_POOLING.to_owned(),
        dims,
    };
    let remembered = Remembered { bytes, modified_nanoseconds, identity };
    if let Ok(json) = serde_json::to_vec_pretty(&remembered)
        && let Err(error) = memorist_durable::replace(&model.with_file_name(REMEMBERED_FILE), &json)
    {
        tracing::debug!("the identity of {} is not remembered: {error}", model.display());
    }
    Ok(remembered.identity)
}

fn stamp(path: &Path) -> Result<(u64, u128)> {
    let at = fs::metadata(path).map_err(|error| Error::io(path, error))?;
    let modified = at.modified().map_err(|error| Error::io(path, error))?;
    Ok((at.len(), modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()))
}

#[cfg(all(test, feature = "onnx"))]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_remembered_until_the_weights_change() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.onnx");
        fs::write(&model, "weights").unwrap();
        assert_eq!(recall(&model), None);
        let identity = establish(&model, 12).unwrap();
        assert_eq!(identity.dims, 12);
        assert_eq!(identity.weights_sha256, "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c");
        assert_eq!(recall(&model), Some(identity.clone()));
        fs::write(&model, "other weights").unwrap();
        assert_eq!(recall(&model), None);
        assert_ne!(establish(&model, 12).unwrap().weights_sha256, identity.weights_sha256);
    }

    #[test]
    fn an_unreadable_note_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.onnx");
        fs::write(&model, "weights").unwrap();
        fs::write(folder.path().join(REMEMBERED_FILE), "{").unwrap();
        assert_eq!(recall(&model), None);
    }
}
