//! The file format of the reference memory server (`@modelcontextprotocol/server-memory`, its `memory.json`):
//!
//! ```json
//! {"type":"entity","name":"Anna","entityType":"person","observations":["speaks Polish","lives in Krakow"]}
//! {"type":"relation","from":"Anna","to":"Acme","relationType":"works at"}
//! ```
//!
//! Each observation becomes a fact, `Anna: speaks Polish`, tagged with the name and the type of its entity; an entity
//! without observations becomes one fact, `Anna (person)`. A relation becomes a memory of the kind relationship, `Anna
//! works at Acme`, tagged with both names, and linked as `related` to the memories of either if these are few.

use memorist_engine::types::{Kind, NewRecord, Scope};
use serde::Deserialize;

/// The source of these memories.
const SOURCE: &str = "knowledge graph";

/// An entity and its observations.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entity {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(default)]
    pub entity_type: String,
    /// Its observations.
    #[serde(default)]
    pub observations: Vec<String>,
}

/// A relation between two entities.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Relation {
    /// The name of one.
    pub from: String,
    /// The name of the other.
    pub to: String,
    /// The text between the names, as in "works at".
    pub relation_type: String,
}

impl Entity {
    /// The memories that it becomes.
    pub fn records(&self, scope: &Scope) -> Vec<NewRecord> {
        let Entity { name, entity_type, observations } = self;
        let tags = labels(&[name, entity_type]);
        let record = |content| of_graph(content, Kind::Fact, tags.clone(), scope);
        match (&observations[..], entity_type.trim()) {
            ([], "") => vec![record(name.clone())],
            ([], entity_type) => vec![record(format!("{name} ({entity_type})"))],
            (observations, _) => observations.iter().map(|said| record(format!("{name}: {said}"))).collect(),
        }
    }
}

impl Relation {
    /// The memory that it becomes.
    pub fn record(&self, scope: &Scope) -> NewRecord {
        let Relation { from, to, relation_type } = self;
        of_graph(format!("{from} {relation_type} {to}"), Kind::Relationship, labels(&[from, to]), scope)
    }
}

fn of_graph(content: String, kind: Kind, tags: Vec<String>, scope: &Scope) -> NewRecord {
    NewRecord { kind, tags, source: SOURCE.into(), scope: scope.clone(), ..NewRecord::new(content) }
}

fn labels(names: &[&String]) -> Vec<String> {
    names.iter().filter(|name| !name.trim().is_empty()).map(|name| (*name).clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_observation_is_a_memory_that_names_its_entity() {
        let entity = |observations: &[&str]| {
            let observations = observations.iter().map(|said| (*said).to_owned()).collect();
            Entity { name: "Anna".into(), entity_type: "person".into(), observations }.records(&Scope::default())
        };
        let records = entity(&["speaks Polish", "lives in Krakow"]);
        assert_eq!(records[0].content, "Anna: speaks Polish");
        assert_eq!(records[1].tags, ["Anna", "person"]);
        assert_eq!(entity(&[])[0].content, "Anna (person)");
        let bare = Entity { name: "Anna".into(), entity_type: String::new(), observations: vec![] };
        assert_eq!(bare.records(&Scope::default())[0].content, "Anna");
        assert_eq!(bare.records(&Scope::default())[0].tags, ["Anna"]);
    }

    #[test]
    fn a_relation_reads_as_a_sentence() {
        let relation = Relation { from: "Anna".into(), to: "Acme".into(), relation_type: "works at".into() };
        let record = relation.record(&Scope::default());
        assert_eq!((record.content.as_str(), record.kind), ("Anna works at Acme", Kind::Relationship));
    }
}
