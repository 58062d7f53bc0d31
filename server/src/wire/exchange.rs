//! The format of `memorist export` and `memorist import`: JSON Lines, each an object with a `type`. Empty fields are
//! omitted. Times are Unix milliseconds; imports also accept ISO 8601 text.
//!
//! # What is exported
//!
//! The first line names the format, and with embeddings their model:
//!
//! ```json
//! {"type":"memorist","format":4,"model":{"name":"all-MiniLM-L6-v2","weightsSha256":"…","pooling":"mean","dims":384}}
//! ```
//!
//! Then each live memory, ordered by ULID, its global id: numbers (`id`) are local to a store.
//!
//! ```json
//! {"type":"record","ulid":"01J…","version":2,"content":"…","entryType":"fact","source":"manual","confidence":1.0,
//!  "importance":5,"createdAt":1767225600000,"updatedAt":1767225700000,"accessCount":0}
//! ```
//!
//! If present also: `context`, `tags`, `project`, `agent` (omitted: global), `expiresAt`, `validFrom`, `validTo` (since format 2),
//! `lastAccessedAt`; `session` and `turn`; `place`, of what was read from a file (since format 3);  `body`, in
//! which `"ulid:01J…"` is a reference to a memory; `versions`, the earlier ones, oldest first, each with `version`,
//! `since`, `until` and `reason` (when and why it was replaced) and its fields; `accesses`, each with `at`, `type` (get
//! or search), `score` and, in an export of every project and agent, `query`; and, on request, `embedding`, 16-bit floats in
//! base64 (up to format 3, an array of numbers), and, of a long text, `passages` (since format 4): those after its
//! beginning, each with its bytes of the content (`from`, `to`) and its `embedding`.
//!
//! Then each link between two of these memories, by `from`, type and `to`:
//!
//! ```json
//! {"type":"link","from":"01J…","linkType":"related","to":"01J…","createdAt":1767225600000}
//! ```
//!
//! Equal stores export equal bytes. Expired memories, and links and references to them, are omitted.
//!
//! # What is imported
//!
//! All of that; a memory must come before the links to it. A record needs `ulid`, `content` and `createdAt`. A new
//! memory is added. The versions of one that is here unite with those of the line; the last is the newest. A text that its scope
//! has under another ULID is not saved again: the existing memory stands for both, with the versions of both. What was deleted
//! here stays deleted, unless it was changed later elsewhere. So a second import changes nothing. A refused line is reported with its number and does not stop the others. A newer
//! format is refused as a whole.
//!
//! A line without `type` is a memory with the parameters of `memory_add`, except for links. Lines of the types `entity` and `relation`
//! are those of the reference memory server: see `knowledge_graph.rs`.

use memorist_engine::types::{Model, NewRecord, Portable, PortableLink, PortableTombstone};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use super::exchange_lines::{FORMAT, HeaderLine, LinkLine, RecordLine, Type};
use super::exchange_tombstones::{TombstoneLine, UnlinkLine};
use super::knowledge_graph::{Entity, Relation};
use super::params::AddParams;
use super::values::Int;
use super::{Defaults, new_record, parse_exactly};
use crate::wording::Worded as _;

/// A line of a file to import.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportLine {
    /// The header of an export, with the model of its embeddings.
    Header(Option<Model>),
    /// A memory with everything that belongs to it.
    Record(Box<Portable>),
    /// A link between two of them.
    Link(PortableLink),
    /// A memory with the parameters of `memory_add`.
    New(Box<NewRecord>),
    /// An entity and its observations.
    Entity(Entity),
    /// A relation between two entities.
    Relation(Relation),
    /// The end of a memory or a link, of another machine of the same person.
    Tombstone(PortableTombstone),
}

/// Why a line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// It is not a line of an import. The others may be.
    Line(String),
    /// The others cannot be read either.
    File(String),
}

/// Parses a line. Bounds are checked by the engine, except for a memory with the parameters of `memory_add`.
///
/// # Errors
/// [`Unread`] says what is wrong with the line.
pub fn read(line: &str, defaults: &Defaults) -> Result<ImportLine, Unread> {
    /// Forks of the reference memory server write lines without a type.
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Typed {
        r#type: Option<Value>,
        name: Option<IgnoredAny>,
        entity_type: Option<IgnoredAny>,
        observations: Option<IgnoredAny>,
        from: Option<IgnoredAny>,
        relation_type: Option<IgnoredAny>,
    }
    let refuse = |error| Unread::Line(error);
    if !line.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok() {
        return Err(refuse("is not a JSON object".into()));
    }
    let typed = serde_json::from_str::<Typed>(line);
    let typed = typed.map_err(|error| refuse(format!("is not JSON: {}", without_line(&error))))?;
    let r#type = typed.r#type.map(serde_json::from_value).transpose();
    match r#type.map_err(|error| refuse(format!("type: {error}")))? {
        None if typed.relation_type.is_some() && typed.from.is_some() => {
            fields(line).map(ImportLine::Relation).map_err(refuse)
        }
        None if typed.name.is_some() && (typed.entity_type.is_some() || typed.observations.is_some()) => {
            fields(line).map(ImportLine::Entity).map_err(refuse)
        }
        None => added(line, defaults).map(|new| ImportLine::New(Box::new(new))).map_err(refuse),
        Some(Type::Memorist) => header(line),
        Some(Type::Record) => {
            fields::<RecordLine>(line).map(|line| ImportLine::Record(Box::new(line.into()))).map_err(refuse)
        }
        Some(Type::Link) => fields::<LinkLine>(line).map(|line| ImportLine::Link(line.into())).map_err(refuse),
        Some(Type::Entity) => fields(line).map(ImportLine::Entity).map_err(refuse),
        Some(Type::Relation) => fields(line).map(ImportLine::Relation).map_err(refuse),
        Some(Type::Tombstone) => {
            fields::<TombstoneLine>(line).map(|line| ImportLine::Tombstone(line.into())).map_err(refuse)
        }
        Some(Type::Unlink) => fields::<UnlinkLine>(line).map(|line| ImportLine::Tombstone(line.into())).map_err(refuse),
    }
}

fn added(line: &str, defaults: &Defaults) -> Result<NewRecord, String> {
    let params = fields::<AddParams>(line)?;
    let linked =
        [("supersedes", &params.supersedes), ("contradicts", &params.contradicts), ("related", &params.related)];
    if let Some((name, _)) = linked.iter().find(|(_, ids)| ids.as_ref().is_some_and(|ids| !ids.is_empty())) {
        return Err(format!("{name}: a number cannot identify a memory in a file; import lines of the type link"));
    }
    let record = defaults.caller(&params.project, &params.agent);
    let record = record.and_then(|caller| new_record(params, caller.scope)).map_err(|error| error.worded())?;
    record.validate().map_err(|error| error.worded())?;
    Ok(record)
}

fn header(line: &str) -> Result<ImportLine, Unread> {
    #[derive(Deserialize)]
    struct Format {
        format: Int,
    }
    let Int(format) = fields::<Format>(line).map_err(Unread::Line)?.format;
    if format > FORMAT {
        return Err(Unread::File(format!(
            "it is of format {format}, of a newer memorist, and this one reads up to {FORMAT}; update memorist"
        )));
    }
    let header = fields::<HeaderLine>(line).map_err(Unread::Line)?;
    Ok(ImportLine::Header(header.into_model()))
}

/// The fields of a line. Numbers keep every bit only if they are parsed from the text directly.
fn fields<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| {
        let object = serde_json::from_str::<Map<String, Value>>(line);
        let explained = object.ok().and_then(|object| parse_exactly::<T>(object).err());
        explained.unwrap_or_else(|| without_line(&error))
    })
}

/// The error without its line number, which is relative to the line and would be mistaken for that of the file.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

#[cfg(test)]
mod tests {
    use memorist_engine::types::{AccessKind, Accessed, Earlier, Exported, PortablePassage, Replaced};

    use super::super::ExportLine;
    use super::*;

    fn refusal(line: &str) -> String {
        match read(line, &Defaults::default()) {
            Err(Unread::Line(why)) => why,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_line_without_type_has_the_parameters_of_memory_add() {
        let line = r#"{"content":"x","entryType":"task","importance":7,"tags":["a"],"project":"apollo"}"#;
        let Ok(ImportLine::New(record)) = read(line, &Defaults::default()) else { panic!() };
        assert_eq!((record.importance, record.scope.project.as_deref()), (7, Some("apollo")));
    }

    /// 44.10: forks of the reference memory server leave the type out.
    #[test]
    fn a_line_of_a_graph_needs_no_type() {
        let read = |line: &str| read(line, &Defaults::default());
        let entity = read(r#"{"name":"Anna","entityType":"person","observations":["reads"]}"#);
        assert!(matches!(&entity, Ok(ImportLine::Entity(entity)) if entity.observations == ["reads"]), "{entity:?}");
        let relation = read(r#"{"from":"Anna","to":"Acme","relationType":"works at"}"#);
        assert!(matches!(&relation, Ok(ImportLine::Relation(relation)) if relation.to == "Acme"), "{relation:?}");
        assert!(matches!(read(r#"{"content":"x"}"#), Ok(ImportLine::New(_))));
    }

    #[test]
    fn a_bad_line_is_refused_with_a_reason() {
        let ulid = r#""ulid":"01J00000000000000000000000""#;
        for (line, reason) in [
            ("{", "is not JSON"),
            ("[1]", "is not a JSON object"),
            ("x", "is not JSON"),
            ("{}", "missing field `content`"),
            (r#"{"content":"x","colour":"red"}"#, "unknown field `colour`, expected one of `content`"),
            (r#"{"content":" "}"#, "content: is empty"),
            (r#"{"content":}"#, "is not JSON: expected value at column 12"),
            (r#"{"content":"x","importance":11}"#, "importance: 11 is outside 1 to 10"),
            (r#"{"content":"x","expiresAt":1738540800}"#, "looks like seconds"),
            (r#"{"content":"x","related":[1]}"#, "related: a number cannot identify a memory in a file"),
            (r#"{"content":"a\u0000b"}"#, "NUL"),
            (r#"{"type":"rumour"}"#, "unknown variant `rumour`, expected one of `memorist`, `record`"),
            (r#"{"type":7}"#, "invalid type: integer `7`"),
            (r#"{"type":"record","content":"x"}"#, "missing field `ulid`"),
            (&format!(r#"{{"type":"record",{ulid},"content":"x"}}"#), "missing field `createdAt`"),
            (&format!(r#"{{"type":"record",{ulid},"content":"x","createdAt":1738540800}}"#), "looks like seconds"),
            (
                &format!(r#"{{"type":"record",{ulid},"content":"x","createdAt":1738540800000,"versions":7}}"#),
                "versions: invalid type",
            ),
            (r#"{"type":"link","from":"a","to":"b","linkType":"knows","createdAt":1738540800000}"#, "`knows`"),
            (r#"{"type":"memorist"}"#, "missing field `format`"),
            (r#"{"type":"entity","name":7}"#, "name: invalid type"),
        ] {
            let error = refusal(line);
            assert!(error.contains(reason), "{line}: {error}");
        }
    }

    #[test]
    fn a_newer_format_is_refused_as_a_whole() {
        let read = read(r#"{"type":"memorist","format":5,"colour":"red"}"#, &Defaults::default());
        let Err(Unread::File(why)) = read else { panic!("{read:?}") };
        assert!(why.contains("format 5") && why.contains("update memorist"), "{why}");
    }

    /// D7.
    #[test]
    fn a_line_keeps_every_bit() {
        let text = NewRecord { confidence: 0.1 + 0.2, ..NewRecord::new("na\u{ef}ve \u{1F600} \u{2028} \"x\"") };
        let portable = Portable {
            ulid: "01J00000000000000000000000".into(),
            version: 7,
            text: text.clone(),
            created_at: 1_738_540_800_000,
            updated_at: 1_738_540_800_001,
            access_count: i64::MAX,
            last_accessed_at: None,
            earlier: vec![Earlier {
                version: 3,
                since: 1_738_540_800_000,
                replaced: Replaced { at: 1_738_540_800_001, reason: "r".into() },
                text,
            }],
            accesses: vec![Accessed {
                at: 1_738_540_800_000,
                kind: AccessKind::Search,
                score: Some(1.0 / 3.0),
                query: Some("q".into()),
            }],
            // Numbers of 16 bits: the least, and the nearest to a sixth.
            embedding: Some(vec![1.0, -0.0, 5.960_464_5e-8, 0.166_625_98]),
            passages: vec![PortablePassage { from: 3, to: 9, embedding: vec![1.0, 0.125] }],
        };
        let line = serde_json::to_string(&ExportLine::from(Exported::Record(Box::new(portable.clone())))).unwrap();
        assert!(line.starts_with(r#"{"type":"record","ulid":"01J00000000000000000000000","version":7,"content":"#));
        let Ok(ImportLine::Record(again)) = read(&line, &Defaults::default()) else { panic!("{line}") };
        assert_eq!(*again, portable);
        let bits = |portable: &Portable| -> Vec<u32> {
            portable.embedding.iter().flatten().map(|number| number.to_bits()).collect()
        };
        assert_eq!(bits(&again), bits(&portable));
    }
}
