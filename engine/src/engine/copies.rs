//! Copies: memories of one owner that say the same in the same words.

use std::collections::HashMap;

use super::Engine;
use super::cleanup::kept_kinds;
use crate::error::Result;
use crate::progress::{Progress, cancel_point};
use crate::text::{Hash, nfc_hash};
use crate::types::{Copies, Filter, ListQuery, Record, RecordId, Viewer};

/// Memories that are read at once.
const CHUNK: usize = 500;

impl Engine {
    /// Every group of memories that differ in the case of first letters, punctuation and white space alone: of one owner and kind,
    /// with the same context, dates, status and body, of what `viewer` may change. Without what is superseded, what is mostly read
    /// from files, and memories with metadata, which a program keeps. Memories that are linked with each other are no group:
    /// somebody has seen them, and kept them.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is out of bounds; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn copies(&self, viewer: &Viewer, progress: &dyn Progress) -> Result<Vec<Copies>> {
        let filter = Filter { kinds: kept_kinds(), ..Filter::of(viewer.clone()) };
        filter.validate()?;
        let snapshot = self.store.records.snapshot()?;
        let now = self.store.now();
        let superseded = self.sets.superseded(viewer, &snapshot)?;
        progress.start(
            "comparing",
            Some(snapshot.list_count(&ListQuery { filter: filter.clone(), ..ListQuery::default() }, now)?),
        );
        let mut same: HashMap<Hash, Vec<RecordId>> = HashMap::new();
        let mut page = ListQuery { limit: CHUNK, filter, ..ListQuery::default() };
        loop {
            cancel_point(progress)?;
            let records = snapshot.list(&page, now)?;
            progress.advance(records.len() as u64);
            for record in &records {
                if viewer.changes(&record.scope) && !has_metadata(record) && !superseded.contains(record.id.key()) {
                    same.entry(key(record)).or_default().push(record.id);
                }
            }
            match records.last() {
                Some(last) if records.len() == CHUNK => page.after = last.id,
                _ => break,
            }
        }
        progress.finish();
        let mut groups: Vec<Vec<RecordId>> = same.into_values().filter(|ids| ids.len() > 1).collect();
        groups.sort_unstable();
        let mut found = Vec::new();
        for ids in groups {
            if snapshot.links_among(&ids, &Viewer::OWNER, now)?.is_empty() {
                found.extend(self.group(snapshot.records(&ids, now)?, viewer)?);
            }
        }
        Ok(found)
    }

    /// One with links stays before one without, then the more important, then the newest. A copy with a tag that it lacks is none.
    fn group(&self, mut records: Vec<Record>, viewer: &Viewer) -> Result<Option<Copies>> {
        let mut best = None;
        for (at, record) in records.iter().enumerate() {
            let is_linked = !self.links(record.id, viewer, 1)?.is_empty();
            best = best.max(Some((is_linked, record.importance, record.id, at)));
        }
        let Some((.., at)) = best else { return Ok(None) };
        let keep = records.remove(at);
        records.retain(|copy| copy.tags.iter().all(|tag| keep.tags.contains(tag)));
        Ok((!records.is_empty()).then_some(Copies { keep, others: records }))
    }
}

fn has_metadata(record: &Record) -> bool {
    record.body.as_ref().is_some_and(|body| body.get("metadata").is_some())
}

/// Equal for copies.
fn key(record: &Record) -> Hash {
    let Record { kind, scope, context, expires_at, valid, body, .. } = record;
    let body = body.as_ref().map(|body| body.to_json());
    nfc_hash(&format!("{kind:?} {scope:?} {context:?} {expires_at:?} {valid:?} {body:?} {}", plain(&record.content)))
}

/// A text without what does not change what it says: the case of first letters, punctuation at the end of words, quotes, and
/// white space within lines. Lines keep their order and indentation: steps in another order, or code, say something else.
fn plain(text: &str) -> String {
    let line = |line: &str| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let words: Vec<String> = line.split_whitespace().map(plain_word).collect();
        format!("{indent}{}", words.join(" "))
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

fn plain_word(word: &str) -> String {
    const QUOTES: [char; 8] = ['"', '`', '“', '”', '„', '«', '»', '‟'];
    let unquoted = |word: &str| word.trim_matches(QUOTES).to_owned();
    let mut plain = unquoted(word);
    let ended = plain.trim_end_matches(['.', ',', ';', ':', '!']);
    // "src/." and "5!" keep their mark.
    if ended.ends_with(|last: char| last.is_alphabetic() || QUOTES.contains(&last))
        || word.ends_with(['.', ',', ';']) && ended.ends_with(char::is_alphanumeric)
    {
        plain = unquoted(ended);
    }
    // "US" is not "us", and "readMe" not "readme".
    let mut letters = plain.chars();
    match letters.next() {
        Some(first) if first.is_uppercase() && !letters.clone().any(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::progress::NoProgress;
    use crate::types::{Kind, Link, LinkKind, NewRecord, RecordUpdate, Scope};

    #[test]
    fn texts_are_copies_only_if_they_say_the_same() {
        let same = [
            ("The ferry leaves at 9.", "the ferry leaves at 9"),
            ("Use `cargo test`, always!", "use cargo test always"),
            ("“Tabs”  are\tused;", "tabs are used"),
            ("Größe: 5 m", "größe 5 m"),
            ("one\r\ntwo\n", "one\ntwo"),
        ];
        for (one, other) in same {
            assert_eq!(plain(one), plain(other), "{one:?} and {other:?}");
        }
        let different = [
            ("port 5432", "port 5433"),
            ("5! ways", "5 ways"),
            ("copy src/. there", "copy src/ there"),
            ("-5 degrees", "5 degrees"),
            ("x > 5", "x < 5"),
            ("C++ is used", "C is used"),
            ("the US office", "the us office"),
            ("set PATH", "set path"),
            ("is it done?", "is it done"),
            ("stop it\nstart it", "start it\nstop it"),
            ("a:\n  b", "a:\nb"),
            ("version 1.5", "version 15"),
            ("delete *.rs", "delete .rs"),
            ("not (yet)", "not yet"),
            ("don't", "dont"),
            ("", "!"),
        ];
        for (one, other) in different {
            assert_ne!(plain(one), plain(other), "{one:?} and {other:?}");
        }
    }

    #[test]
    fn copies_are_of_one_owner_kind_context_and_date() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        let new = |text: &str| NewRecord::new(text);
        let of = |scope: Scope| NewRecord { scope, ..new("The ferry leaves at nine.") };
        let add = |new: &NewRecord| engine.add(new).unwrap().id;
        let first = add(&new("the ferry leaves at nine"));
        let named = |project: Option<&str>, agent: Option<&str>| Scope {
            project: project.map(str::to_owned),
            agent: agent.map(str::to_owned),
        };
        add(&of(named(Some("atlas"), None)));
        add(&of(named(None, Some("anna"))));
        add(&NewRecord { kind: Kind::Decision, ..new("The ferry leaves at nine!") });
        add(&NewRecord { context: Some("summer".into()), ..new("The ferry leaves at nine;") });
        add(&NewRecord { expires_at: Some(i64::MAX / 2), ..new("The ferry leaves at nine,") });
        add(&NewRecord {
            body: Some(serde_json::json!({ "metadata": { "a": 1 } })),
            ..new("The ferry, leaves at nine")
        });
        let found = || engine.copies(&Viewer::OWNER, &NoProgress).unwrap();
        assert_eq!(found(), []);

        let second = add(&new("The ferry leaves at nine."));
        let third = add(&NewRecord { tags: vec!["sea".into()], ..new("The ferry leaves  at nine.") });
        let ids = |found: &[Copies]| {
            found
                .iter()
                .map(|one| (one.keep.id, one.others.iter().map(|other| other.id).collect::<Vec<_>>()))
                .collect::<Vec<_>>()
        };
        // The newest stays, and one with a tag that the one that stays lacks is no copy.
        assert_eq!(ids(&found()), [(third, vec![first, second])]);
        let importance = |id, importance| {
            let update = RecordUpdate { importance: Some(importance), ..RecordUpdate::default() };
            engine.update(id, &update, &Viewer::OWNER).unwrap();
        };
        importance(second, 9);
        assert_eq!(ids(&found()), [(second, vec![first])]);
        let other = add(&new("something else"));
        engine.link(Link { from: other, to: first, kind: LinkKind::Related }, &Viewer::OWNER).unwrap();
        assert_eq!(ids(&found()), [(first, vec![second])]);
        // Somebody has seen these.
        engine.link(Link { from: first, to: second, kind: LinkKind::Related }, &Viewer::OWNER).unwrap();
        assert_eq!(found(), []);
    }
}
