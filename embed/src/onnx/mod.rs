//! Models that ONNX Runtime runs.
//!
//! | file | job |
//! |---|---|
//! | `tokenize` | text to token numbers, and the plan of batches |
//! | `open_file` | open files for libraries that need a name |
//! | `pooling` | token vectors to one vector of length 1 |
//! | `embedder` | the embedder: sessions of the runtime, batches, threads |

mod embedder;
mod open_file;
mod pooling;
mod tokenize;

pub(crate) use embedder::OnnxEmbedder;
#[cfg(all(test, feature = "provision"))]
pub(crate) use tokenize::TextTokenizer;
