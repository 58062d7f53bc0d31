//! The packed weights: made from the fetched ones once, and mapped since.

use memorist_bert::{Kernel, Model, pack};
use memorist_durable::PrivateFolder;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::provision::SourceFile;

/// The packed file, in the folder of the fetched one. Its format has a version of its own.
const PACKED_FILE: &str = "model.packed";
/// Names the instructions to use instead of the fastest ones, for comparisons.
const KERNEL_VARIABLE: &str = "MEMORIST_KERNEL";

/// Opens the packed weights of `model`, or makes them if they are missing, damaged or of another version.
///
/// # Errors
/// If the fetched weights are missing, or not the expected ones.
pub fn open_or_make(model: &SourceFile) -> Result<Model> {
    match open(model) {
        Ok(model) => Ok(model),
        Err(why) => {
            tracing::debug!("{} is packed: {why}", model.path().display());
            make(model)
        }
    }
}

/// Makes the packed weights from the fetched ones, which are compared with their hash.
pub fn make(model: &SourceFile) -> Result<Model> {
    let onnx = model.read()?;
    let source = Sha256::digest(&onnx).into();
    let packed = pack(onnx).map_err(failed)?;
    if let Err(error) = place(model, &packed) {
        // A folder that cannot be written to: each process has a copy of its own then.
        tracing::debug!("{PACKED_FILE} is not kept: {error}");
        return Model::from_packed(packed, &source).map_err(failed).and_then(with_kernel);
    }
    drop(packed);
    open(model)
}

fn open(model: &SourceFile) -> Result<Model> {
    let source = model.sha256().ok_or_else(|| Error::Failed("the default model has no hash".to_owned()))?;
    let folder = folder_of(model)?;
    let path = folder.path().join(PACKED_FILE);
    let file = folder.open_own(PACKED_FILE).map_err(|error| Error::io(&path, error))?;
    Model::open(&file, &source).map_err(failed).and_then(with_kernel)
}

fn place(model: &SourceFile, packed: &[u8]) -> Result<()> {
    let folder = folder_of(model)?;
    let path = folder.path().join(PACKED_FILE);
    let new = folder.new_file(PACKED_FILE).map_err(|error| Error::io(&path, error))?;
    std::io::Write::write_all(&mut new.file(), packed).map_err(|error| Error::io(&path, error))?;
    new.replace().map(drop).map_err(|error| Error::io(&path, error.into()))
}

fn folder_of(model: &SourceFile) -> Result<PrivateFolder> {
    let folder = memorist_durable::folder_of(model.path());
    PrivateFolder::open(folder).map_err(|error| Error::io(folder, error))
}

fn with_kernel(model: Model) -> Result<Model> {
    let Some(name) = std::env::var(KERNEL_VARIABLE).ok().filter(|name| !name.is_empty()) else { return Ok(model) };
    let available = Kernel::available();
    match available.iter().find(|kernel| kernel.name() == name) {
        Some(kernel) => Ok(model.with_kernel(*kernel)),
        None => {
            let names: Vec<_> = available.iter().map(|kernel| kernel.name()).collect();
            Err(Error::Failed(format!("{KERNEL_VARIABLE} is {name}, but this processor has {}", names.join(", "))))
        }
    }
}

fn failed(error: memorist_bert::Error) -> Error {
    Error::Failed(error.to_string())
}
