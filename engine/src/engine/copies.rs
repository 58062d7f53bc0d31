//! Copies: memories of one owner that say the same in the same words.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::Memories;
use super::cleanup::kept_kinds;
use crate::error::Result;
use crate::progress::{Progress, cancel_point};
use crate::text::{Hash, nfc_hash};
use crate::types::{Copies, Filter, ListQuery, Record, RecordId, Viewer};

/// Memories that are read at once.
const CHUNK: usize = 500;

impl Memories<'_> {
    /// Every group of memories that say the same: their texts are equal but for the case of the first letter, a full stop at the
    /// end, and white space at the ends of lines. They are of one owner and kind, have the same context, dates, status and body, and
    /// the viewer may change them. Without what is superseded, what is mostly read
    /// from files, and memories with metadata, which a program keeps. Memories that are linked with each other are no group:
    /// somebody has seen them, and kept them.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) names what is out of bounds; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn copies(&self, progress: &dyn Progress) -> Result<Vec<Copies>> {
        let filter = Filter { kinds: kept_kinds(), ..Filter::of(self.viewer.clone()) };
        filter.validate()?;
        let snapshot = self.engine.store.records.snapshot()?;
        let now = self.engine.store.now();
        let superseded = self.engine.sets.superseded(self.viewer, &snapshot)?;
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
                if self.viewer.changes(&record.scope) && !record.has_metadata() && !superseded.contains(record.id.key())
                {
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
                found.extend(self.group(snapshot.records(&ids, now)?)?);
            }
        }
        Ok(found)
    }

    /// One with links stays before one without, then the more important, then the newest. A memory with a tag that it lacks is left out.
    fn group(&self, mut records: Vec<Record>) -> Result<Option<Copies>> {
        let mut best = None;
        for (at, record) in records.iter().enumerate() {
            let is_linked = !self.links(record.id, 1)?.is_empty();
            best = best.max(Some((is_linked, record.importance, record.id, at)));
        }
        let Some((.., at)) = best else { return Ok(None) };
        let keep = records.remove(at);
        records.retain(|copy| copy.tags.iter().all(|tag| keep.tags.contains(tag)));
        Ok((!records.is_empty()).then_some(Copies { keep, others: records }))
    }
}

/// Equal for copies.
fn key(record: &Record) -> Hash {
    let Record { kind, scope, context, expires_at, valid, body, .. } = record;
    let body = body.as_ref().map(|body| body.to_json());
    nfc_hash(&format!("{kind:?} {scope:?} {context:?} {expires_at:?} {valid:?} {body:?} {}", plain(&record.content)))
}

/// A text without what does not change what it says: white space at the ends of lines, a full stop at the end, and the case of the
/// first letter of a sentence. Everything else may matter: "No, deploy" and "No deploy", `:q!` and `:q`, "US" and "us".
fn plain(text: &str) -> String {
    let text: String = text.nfc().collect();
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    let text = lines.join("\n");
    let mut text = text.trim_end();
    if let Some(sentence) = text.strip_suffix('.')
        && sentence.ends_with(char::is_alphabetic)
    {
        text = sentence;
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_sentence = text.starts_with(first) && text.split_whitespace().nth(2).is_some();
    let mut letters = first.chars();
    match letters.next().filter(|first| is_sentence && first.is_uppercase()) {
        // Not "G", "US" or "readMe".
        Some(capital) if letters.clone().next().is_some() && letters.all(char::is_lowercase) => {
            capital.to_lowercase().chain(text[capital.len_utf8()..].chars()).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::engine::Engine;
    use crate::progress::NoProgress;
    use crate::types::{Kind, Link, LinkKind, NewRecord, RecordUpdate, Scope};

    #[test]
    fn texts_are_copies_only_if_they_say_the_same() {
        let same = [
            ("The ferry leaves at nine.", "the ferry leaves at nine"),
            ("one two three\r\nfour  \n", "One two three\nfour."),
            ("Größe zählt hier immer", "größe zählt hier immer."),
            ("Caf\u{e9} opens at nine", "Cafe\u{301} opens at nine"),
        ];
        for (one, other) in same {
            assert_eq!(nfc_hash(&plain(one)), nfc_hash(&plain(other)), "{one:?} and {other:?}");
        }
        let different = [
            ("port 5432", "port 5433"),
            ("5! ways", "5 ways"),
            ("quit with :q!", "quit with :q"),
            ("No, deploy on Friday", "No deploy on Friday"),
            ("Rollback? No. Deploy", "Rollback? No Deploy"),
            ("copy src/. there", "copy src/ there"),
            ("-5 degrees", "5 degrees"),
            ("x > 5", "x < 5"),
            ("C++ is used", "C is used"),
            ("US office is open", "us office is open"),
            ("the US office", "the us office"),
            ("set PATH", "set path"),
            ("press G to go", "press g to go"),
            ("G goes to the end", "g goes to the end"),
            ("True", "true"),
            ("is it done?", "is it done"),
            ("Είναι έτοιμο το έργο;", "Είναι έτοιμο το έργο."),
            ("stop it\nstart it", "start it\nstop it"),
            ("a:\n  b", "a:\nb"),
            ("  indented text here", "indented text here"),
            ("version 1.5", "version 15"),
            ("delete *.rs", "delete .rs"),
            ("rm \"old files\"", "rm old files"),
            ("country: \"no\"", "country: no"),
            ("a\t\tb", "a\tb"),
            ("not (yet)", "not yet"),
            ("don't", "dont"),
            ("x = 1,", "x = 1"),
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
        // Texts that are equal are one memory.
        let new = |spaces: usize| NewRecord::new(format!("The ferry leaves at nine{}\nfrom here.", " ".repeat(spaces)));
        let add = |new: &NewRecord| engine.add(new).unwrap().id;
        let first = add(&NewRecord::new("the ferry leaves at nine\nfrom here"));
        let named = |project: Option<&str>, agent: Option<&str>| Scope {
            project: project.map(str::to_owned),
            agent: agent.map(str::to_owned),
        };
        add(&NewRecord { scope: named(Some("atlas"), None), ..new(0) });
        add(&NewRecord { scope: named(None, Some("anna")), ..new(0) });
        add(&NewRecord { kind: Kind::Decision, ..new(1) });
        add(&NewRecord { context: Some("summer".into()), ..new(2) });
        add(&NewRecord { expires_at: Some(i64::MAX / 2), ..new(3) });
        for spaces in [4, 6] {
            add(&NewRecord { body: Some(serde_json::json!({ "metadata": { "a": 1 } })), ..new(spaces) });
        }
        let found = || engine.viewed_by(&Viewer::OWNER).copies(&NoProgress).unwrap();
        assert_eq!(found(), []);

        let second = add(&new(0));
        let third = add(&NewRecord { tags: vec!["sea".into()], ..new(5) });
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
            engine.viewed_by(&Viewer::OWNER).update(id, &update).unwrap();
        };
        importance(second, 9);
        assert_eq!(ids(&found()), [(second, vec![first])]);
        let other = add(&NewRecord::new("something else"));
        engine.viewed_by(&Viewer::OWNER).link(Link { from: other, to: first, kind: LinkKind::Related }).unwrap();
        assert_eq!(ids(&found()), [(first, vec![second])]);
        // Somebody has seen these.
        engine.viewed_by(&Viewer::OWNER).link(Link { from: first, to: second, kind: LinkKind::Related }).unwrap();
        assert_eq!(found(), []);
    }
}
