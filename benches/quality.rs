//! How well searches find: recall, MRR and nDCG per mode, with intervals; what each step of the ranking adds, and how the whole
//! compares with each side alone; and how well the best relevance tells whether a store has an answer at all.
//!
//! Each set is a store of its own, embedded by the default model:
//!
//! | set | memories | queries |
//! |---|---|---|
//! | `facts` | made memories of all kinds | half by meaning, half by their words |
//! | `sessions` | memories that an agent saved in six made sessions | its later questions |
//! | `identifiers` | the memories of `facts`, and 500 that a code, a path, a phrase or a name tells apart | with it, in a sentence |
//! | `conversations` | the turns of made conversations of two speakers | for answers that have no word of their question |
//! | `chats`, two | messages of a user, who asks for help, and long replies of an assistant | for what the user said, in other words |
//! | `changes` | made memories, and facts with what superseded them | for what is so now |
//! | `long`, four | 200 memories of 2,000 words with a fact in the first, the middle or the last third | for it, in other words; once with a rare word |
//! | a folder | `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv`: the BEIR format | those with judgements |
//!
//! Run: `cargo bench --bench quality`, with `MEMORIST_QUALITY_FOLDER=DIR` for a folder of your own (or several, with `:`
//! between them), or with `MEMORIST_QUALITY_SET=NAME` for the sets whose names begin like this.

/// The parts, beside this file.
mod quality {
    pub mod abstention;
    pub mod folder;
    pub mod made;
    pub mod saved;
    pub mod sessions;
    pub mod set;
    pub mod steps;
}

use std::path::Path;

use bench_data::Style;
use quality::saved::SavedSet;
use quality::set::Set;
use quality::{abstention, folder, made, sessions, steps};

fn main() {
    let sets: Vec<Set> = match std::env::var("MEMORIST_QUALITY_FOLDER") {
        Ok(folders) => folders.split(':').map(|path| folder::set(Path::new(path))).collect(),
        Err(_) => {
            let mut sets =
                vec![made::facts(), sessions::set(), made::identifiers(), made::conversations(), made::changes()];
            sets.extend([made::SEED, made::SEED + 1].map(made::chats));
            sets.extend((0..3).map(|third| made::long(third, Style::Meaning)));
            sets.push(made::long(1, Style::Both));
            sets
        }
    };
    let wanted = std::env::var("MEMORIST_QUALITY_SET").unwrap_or_default();
    for set in sets.into_iter().filter(|set| set.name.starts_with(&wanted)) {
        let is_long = set.name.starts_with("long");
        let saved = SavedSet::new(set);
        steps::print(&saved);
        // A long memory that comes back would have to be embedded again.
        if !is_long {
            abstention::print(&saved);
        }
    }
}
