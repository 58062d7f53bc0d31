//! A folder in the BEIR format. A text may also have a `session` and a `turn`.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use memorist_engine::types::{Kind, NewRecord};
use serde::Deserialize;

use super::set::{Judged, Set};

#[derive(Deserialize)]
struct BeirText {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
    session: Option<String>,
    turn: Option<i64>,
}

pub fn set(path: &Path) -> Set {
    let read = |name: &str| fs::read_to_string(path.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let parse = |name: &str| -> Vec<BeirText> {
        read(name).lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{name}: {e}"))).collect()
    };
    let (corpus, queries) = (parse("corpus.jsonl"), parse("queries.jsonl"));
    let places: HashMap<&str, usize> = corpus.iter().enumerate().map(|(at, text)| (text.id.as_str(), at)).collect();
    let mut judged: HashMap<String, BTreeMap<usize, u8>> = HashMap::new();
    let files = fs::read_dir(path.join("qrels")).expect("qrels").map(|entry| entry.expect("an entry").path());
    for file in files {
        for line in fs::read_to_string(&file).expect("qrels").lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let [query, text, grade] = parts[..] else { continue };
            if let (Some(place), Ok(grade @ 1..)) = (places.get(text), grade.trim().parse()) {
                judged.entry(query.to_owned()).or_default().insert(*place, grade);
            }
        }
    }
    let queries = queries
        .into_iter()
        .filter_map(|query| judged.remove(&query.id).map(|answers| Judged { text: query.text, answers }));
    let name = path.file_name().map_or_else(|| "folder".into(), |name| name.to_string_lossy().into_owned());
    let queries = queries.collect();
    let text_of = |text: &BeirText| [text.title.as_str(), text.text.as_str()].join(" ").trim().to_owned();
    let texts = corpus.iter().map(|text| NewRecord {
        // A turn may be said twice.
        kind: if text.session.is_some() { Kind::Conversation } else { Kind::Fact },
        session: text.session.clone(),
        turn: text.turn,
        ..NewRecord::new(text_of(text))
    });
    Set { name, texts: texts.collect(), queries, ..Set::default() }
}
