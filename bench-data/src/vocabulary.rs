//! The vocabulary files, compiled: the content of memories by topic.

use std::sync::LazyLock;

use crate::grammar::{Grammar, Names, Source, Template};

/// The kinds of memories.
pub(crate) const KINDS: [&str; 16] = [
    "fact", "preference", "event", "insight", "task", "relationship", "decision", "pattern", "bugfix", "background",
    "contact", "project", "skill", "profile", "conversation", "chunk",
];

const COMMON: &str = include_str!("vocabulary/common.txt");

const TOPICS: [(&str, &str); 10] = [
    ("software", include_str!("vocabulary/software.txt")),
    ("operations", include_str!("vocabulary/operations.txt")),
    ("cooking", include_str!("vocabulary/cooking.txt")),
    ("travel", include_str!("vocabulary/travel.txt")),
    ("health", include_str!("vocabulary/health.txt")),
    ("family", include_str!("vocabulary/family.txt")),
    ("finance", include_str!("vocabulary/finance.txt")),
    ("hobbies", include_str!("vocabulary/hobbies.txt")),
    ("machines", include_str!("vocabulary/machines.txt")),
    ("work", include_str!("vocabulary/work.txt")),
];

/// The subject of a group of memories.
pub(crate) struct Topic {
    pub name: &'static str,
    /// Its share of the memories, relative to the other topics' weights.
    pub weight: usize,
    /// The shapes of its memories, each with its kind.
    pub shapes: Vec<(&'static str, Template)>,
    /// Numbers of its lists; `talk` is what is said about it in conversations.
    pub tags: usize,
    pub context: usize,
    pub tail: Option<usize>,
    pub talk: usize,
}

pub(crate) struct Vocabulary {
    pub grammar: Grammar,
    pub topics: Vec<Topic>,
    pub weight: usize,
    /// Numbers of the common lists.
    pub lead: usize,
    pub tail: usize,
    pub agent: usize,
    pub source: usize,
    pub project_names: usize,
    /// Words and their synonyms.
    pub synonyms: Vec<(String, String)>,
}

impl Vocabulary {
    /// The built-in vocabulary, compiled at first use.
    pub fn get() -> &'static Vocabulary {
        static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
            compile().expect("the vocabulary is compiled into the program and every test of this crate compiles it")
        });
        &VOCABULARY
    }
}

/// Compiles the common lists. Returns their names, and the synonyms.
pub(crate) fn common(grammar: &mut Grammar) -> Result<(Names, Vec<String>), String> {
    let mut common = Source::parse(COMMON)?;
    let synonyms = common.sections.iter().position(|(name, _)| name == "synonym").ok_or("no synonyms")?;
    let synonyms = common.sections.remove(synonyms).1;
    let names = grammar.declare(&common, &Names::new());
    grammar.define(&common, &names)?;
    Ok((names, synonyms))
}

fn compile() -> Result<Vocabulary, String> {
    let mut grammar = Grammar::default();
    let (common_names, synonyms) = common(&mut grammar)?;
    let common_list = |name: &str| common_names.get(name).copied().ok_or_else(|| format!("no list {name:?}"));

    let mut topics = Vec::new();
    for (name, text) in TOPICS {
        let in_file = |error: String| format!("vocabulary/{name}.txt: {error}");
        let source = Source::parse(text).map_err(in_file)?;
        let names = grammar.declare(&source, &common_names);
        grammar.define(&source, &names).map_err(in_file)?;
        let list = |name: &str| names.get(name).copied().ok_or_else(|| in_file(format!("no section [{name}]")));
        let weight = source.settings.get("weight").and_then(|weight| weight.parse().ok());
        let own = |kind: &str| source.sections.iter().any(|(name, _)| name == kind);
        let mut shapes = Vec::new();
        for kind in KINDS.into_iter().filter(|kind| own(kind)) {
            shapes.extend(grammar.list(list(kind)?).iter().map(|shape| (kind, shape.clone())));
        }
        topics.push(Topic {
            name,
            weight: weight.ok_or_else(|| in_file("no weight".to_owned()))?,
            shapes,
            tags: list("tags")?,
            context: list("context")?,
            talk: list("talk")?,
            tail: own("tail").then(|| list("tail")).transpose()?,
        });
    }
    Ok(Vocabulary {
        weight: topics.iter().map(|topic| topic.weight).sum(),
        topics,
        lead: common_list("lead")?,
        tail: common_list("tail")?,
        agent: common_list("agent")?,
        source: common_list("source")?,
        project_names: common_list("projectname")?,
        synonyms: synonyms
            .iter()
            .map(|pair| pair.split_once('=').map(|(word, other)| (word.to_owned(), other.to_owned())))
            .collect::<Option<_>>()
            .ok_or("a synonym is written word=other")?,
        grammar,
    })
}
