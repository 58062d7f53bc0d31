//! One scale for the cosines of every model.
//!
//! Two unrelated texts have a cosine of 0.1 by one model, of 0.4 or 0.75 by others, and of 0.6 by the first one too if both are in a
//! language that it does not know. So a cosine alone says nothing about relevance. [`similarity`](QueryScale::similarity) places it
//! on the scale of the default model in English, for which the constants of relevance, recall and duplicates were fitted.
//!
//! When a store adopts a model, [`CosineScale::measure`] embeds the sentences of `sentences.tsv`: unrelated statements in 40
//! languages, hexadecimal numbers, emoji and code, and unrelated questions in ten of the languages. It keeps
//!
//! - the *level* of each question: the mean cosine to the statements of the group that is nearest to it, without the best of them;
//! - the *known* languages: those whose level is within two spreads of the lowest;
//! - the *mean* and the *spread* (standard deviation) of the cosines between questions and statements of a known language;
//! - the vectors of the statements, so that each query gets a level of its own.
//!
//! A cosine is then shifted and stretched so that mean and spread are those of the default model in English
//! (`STANDARD`). If the level of the query is above that of the known languages by more than chance, as with a language that the
//! model does not know, all its cosines are lower by the same difference. The share of a query that the model reads as unknown
//! tokens pulls its similarities towards the mean. The map never falls as the cosine rises.
//!
//! | file | job |
//! |---|---|
//! | `statements.rs` | the built-in sentences, and the vectors of the statements |
//! | `query.rs` | [`QueryScale`]: how the cosines of one query are read |
//! | `model.rs` | [`CosineScale`]: what is known of a model |
//! | `measure.rs` | how that is measured |
//! | `file.rs` | the file that keeps it |

mod file;
mod measure;
mod model;
mod query;
mod statements;

pub use model::CosineScale;
pub use query::QueryScale;
