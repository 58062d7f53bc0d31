//! Notes and agents' transcripts: where they are, and how they are read into chunks and turns. Knows nothing of a store.
//!
//! | module | job |
//! |---|---|
//! | [`foreign`] | the only code that opens a file which somebody else can write |
//! | [`machine`] | the home folder and the environment, which say where agents keep their files |
//! | [`formats`] | transcripts: one parser an agent, each gives [`formats::Turn`]s |
//! | [`moving`] | the stores of other memory systems |
//! | [`walk`] | the files below a folder that are notes, with `.gitignore` and limits |
//! | [`pdf`] | the text of a PDF, page by page |
//! | [`notes`] | a note's blocks: headings, paragraphs, lists, fences |
//! | [`chunks`] | blocks packed into chunks of a number of tokens |
//! | [`tokens`] | how tokens are counted |
//! | [`discover`] | what is on this machine |
//! | [`json`] | how many values a JSON text has |
//! | [`fuzzing`] | what the fuzz targets call |

pub mod chunks;
mod database;
pub mod discover;
pub mod foreign;
pub mod formats;
#[doc(hidden)]
pub mod fuzzing;
mod hash;
pub mod json;
pub mod machine;
pub mod moving;
pub mod notes;
pub mod pdf;
pub mod tokens;
pub mod walk;
