//! The packed weights: made from the fetched ones once, and mapped since.

use std::sync::Arc;

use memorist_bert::{Kernel, Model, PACKED_VERSION, Shape};
use memorist_durable::{ABANDONED, PrivateFolder, sweep};
use parking_lot::RwLock;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::provision::SourceFile;

/// Names the instructions to use instead of the fastest ones, for comparisons.
const KERNEL_VARIABLE: &str = "MEMORIST_KERNEL";

/// How a model is packed.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// The sizes of its network.
    pub shape: Shape,
    /// Makes the packed weights from the fetched file.
    pub pack: fn(Vec<u8>) -> Result<Vec<u8>>,
}

/// A packed model, which is packed again if it turns out to be damaged.
pub struct PackedModel {
    recipe: Recipe,
    fetched: SourceFile,
    model: RwLock<Arc<Model>>,
}

impl PackedModel {
    /// Opens the packed weights, or makes them.
    ///
    /// # Errors
    /// As [`open_or_make`].
    pub fn open(recipe: Recipe, fetched: &SourceFile) -> Result<Self> {
        let model = RwLock::new(Arc::new(open_or_make(recipe, fetched)?));
        Ok(PackedModel { recipe, fetched: fetched.clone(), model })
    }

    /// The model as it is now.
    pub fn model(&self) -> Arc<Model> {
        self.model.read().clone()
    }

    /// Runs the model. Weights that were damaged meanwhile are packed again, once.
    pub fn run<T>(&self, work: impl Fn(&Model) -> Result<T, memorist_bert::Error>) -> Result<T> {
        match work(&self.model()) {
            Err(memorist_bert::Error::Unusable(why)) => {
                tracing::warn!("{why}; it is packed again");
                let made = Arc::new(make(self.recipe, &self.fetched)?);
                *self.model.write() = made.clone();
                Ok(work(&made)?)
            }
            made => Ok(made?),
        }
    }
}

/// Opens the packed weights of a model whose fetched ones are in `file`, or makes them if they are missing or damaged.
///
/// # Errors
/// If the fetched weights are missing, or not the expected ones; if the environment names instructions that this processor
/// does not have.
pub fn open_or_make(recipe: Recipe, file: &SourceFile) -> Result<Model> {
    let kernel = kernel()?;
    match open(recipe, file) {
        Ok(model) => Ok(model.with_kernel(kernel)),
        Err(why) => {
            tracing::debug!("{} is packed: {why}", file.path().display());
            make(recipe, file)
        }
    }
}

/// Makes the packed weights from the fetched ones, which are compared with their hash.
///
/// # Errors
/// As [`open_or_make`].
pub fn make(recipe: Recipe, file: &SourceFile) -> Result<Model> {
    let kernel = kernel()?;
    let fetched = file.read()?;
    let source = Sha256::digest(&fetched).into();
    let packed = (recipe.pack)(fetched)?;
    let model = place(file, &packed).and_then(|()| open(recipe, file)).or_else(|error| {
        // A folder that cannot be written to, or files that cannot be mapped: each process has a copy of its own then.
        tracing::debug!("the packed weights are not shared: {error}");
        Model::from_packed(packed, recipe.shape, &source).map_err(Error::from)
    })?;
    Ok(model.with_kernel(kernel))
}

/// The packed file, in the folder of the fetched one. Programs of another version have their own.
fn packed_file() -> String {
    format!("model.packed-{PACKED_VERSION}")
}

fn open(recipe: Recipe, file: &SourceFile) -> Result<Model> {
    let source = file.sha256().ok_or_else(|| Error::Failed("a model with a name has no hash".to_owned()))?;
    let folder = folder_of(file)?;
    let name = packed_file();
    let file = folder.open_own(&name).map_err(|error| Error::io(folder.path().join(&name), error))?;
    Ok(Model::open(&file, recipe.shape, &source)?)
}

fn place(fetched: &SourceFile, packed: &[u8]) -> Result<()> {
    let folder = folder_of(fetched)?;
    sweep(folder.path(), ABANDONED);
    let name = packed_file();
    let path = folder.path().join(&name);
    let new = folder.new_file(&name).map_err(|error| Error::io(&path, error))?;
    std::io::Write::write_all(&mut new.file(), packed).map_err(|error| Error::io(&path, error))?;
    new.replace().map(drop).map_err(|error| Error::io(&path, error.into()))
}

fn folder_of(fetched: &SourceFile) -> Result<PrivateFolder> {
    let folder = memorist_durable::folder_of(fetched.path());
    PrivateFolder::open(folder).map_err(|error| Error::io(folder, error))
}

/// The instructions to run with.
fn kernel() -> Result<Kernel> {
    let Some(name) = std::env::var(KERNEL_VARIABLE).ok().filter(|name| !name.is_empty()) else {
        return Ok(Kernel::detect());
    };
    let available = Kernel::available();
    available.iter().find(|kernel| kernel.name() == name).copied().ok_or_else(|| {
        let names: Vec<_> = available.iter().map(|kernel| kernel.name()).collect();
        Error::Failed(format!("{KERNEL_VARIABLE} is {name}, but this processor has {}", names.join(", ")))
    })
}

impl From<memorist_bert::Error> for Error {
    fn from(error: memorist_bert::Error) -> Self {
        Error::Failed(error.to_string())
    }
}
