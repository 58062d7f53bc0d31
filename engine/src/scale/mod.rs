//! One scale for the cosines of every model.
//!
//! Two unrelated texts have a cosine of 0.1 by one model, of 0.4 or 0.75 by others, and of 0.6 by the first one too if both are in a
//! language that it does not know. So a cosine alone says nothing about relevance. [`similarity`](QueryScale::similarity) places it
//! on the scale of the default model in English, for which the constants of relevance, recall and duplicates were fitted.
//!
//! When a store adopts a model, [`CosineScale::measure`] embeds the sentences of `sentences.tsv`: unrelated statements in 40
//! languages, hexadecimal numbers, emoji and code; and in 22 of the languages a question about each of the first statements, in
//! other words.
//!
//! - A language is *known* if its questions stand out: the cosine to the statement that a question is about is above that to the
//!   others by a quarter of what it is in the best language. By the default model that is so in English alone; in all others it
//!   is at most a fifth. A language without questions is known if its statements are not nearer to one another than those of a
//!   known one.
//! - The *mean* and the *spread* (standard deviation) of the cosines of a question and the statements that it is not about come from
//!   the known languages, each by itself: how far apart the means of languages are is no spread of unrelated texts.
//! - The *level* of a text is its mean cosine to the statements in its own language: of the groups that are near to it, each
//!   counted by how much nearer it is to the text than to other statements (some groups are near to everything).
//!
//! A cosine is then shifted and stretched so that mean and spread are those of the default model in English (`STANDARD`), and shifted by
//! what the level of the query differs from that of the known languages by more than chance. So all cosines of a query in a language
//! that the model does not know are lowered by as much as all texts in that language are alike. The share of a query that the
//! model reads as unknown tokens pulls its similarities towards the mean. The map never falls as the cosine rises.
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
