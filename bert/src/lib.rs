//! Runs the sentence models all-MiniLM-L6-v2 and multilingual-e5-small, and ms-marco-MiniLM-L-12-v2, which judges how well a text
//! answers a question, on the processor alone.
//!
//! The weights are packed ([`pack_minilm`], [`pack_e5`], [`pack_ms_marco`]) once into a file that is mapped, so that a process opens it in a millisecond and all
//! share one copy. Activations are rounded to 16 bits, a row at a time, so that vectors differ from those of the same
//! weights in floating point by less than a millionth. Texts of a batch are laid end to end: nothing is padded.
//!
//! A module imports only from the rows above its own:
//!
//! | row | module | job |
//! |---|---|---|
//! | 0 | [`error`], `shape` | errors; [`Shape`]: the sizes of a model |
//! | 1 | `format` | the packed file: what is where |
//! | 1 | `map` | a mapped file |
//! | 1 | `blocks` | numbers in 4 bits |
//! | 1 | `maths` | functions of many numbers at once |
//! | 2 | `initialisers` | the weights in an ONNX file |
//! | 2 | `e5_file` | [`E5File`]: the weights and the vocabulary of multilingual-e5-small |
//! | 2 | `kernel` | [`Kernel`]: products by AVX-512, AVX2, NEON, or without them |
//! | 3 | `pack` | makes the packed file |
//! | 3 | `weights` | reads the packed file |
//! | 4 | `linear`, `attention` | a product of tokens and a matrix; attention |
//! | 5 | `encoder` | from tokens to vectors, or to the logit of a pair |
//! | 6 | `model` | [`Model`]: what callers see |

mod attention;
mod blocks;
mod e5_file;
mod encoder;
pub mod error;
mod format;
mod initialisers;
mod kernel;
mod linear;
mod map;
mod maths;
mod model;
mod pack;
mod shape;
mod weights;

pub use e5_file::E5File;
pub use error::{Error, Result};
/// The version of the packed file.
pub use format::VERSION as PACKED_VERSION;
pub use kernel::Kernel;
pub use model::Model;
pub use pack::{e5::pack_e5, onnx::pack_minilm, onnx::pack_ms_marco};
pub use shape::Shape;
