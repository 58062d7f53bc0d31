//! The models with a name, which this program runs itself: neither ONNX Runtime nor `tokenizers` is needed.
//!
//! | file | job |
//! |---|---|
//! | `kind` | what differs between the models |
//! | `packed` | the packed weights beside the fetched ones: opened, or made |
//! | `embedder` | the embedder |
//! | `reranker` | the reranker |

mod embedder;
mod kind;
mod packed;
mod reranker;

pub(crate) use embedder::{LocalEmbedder, packed_tokenizer};
pub(crate) use reranker::LocalReranker;
