//! The default model, which this program runs itself: neither ONNX Runtime nor `tokenizers` is needed.
//!
//! | file | job |
//! |---|---|
//! | `packed` | the packed weights beside the fetched ones: opened, or made |
//! | `embedder` | the embedder |

mod embedder;
mod packed;

pub(crate) use embedder::LocalEmbedder;
