//! Files: their contents are saved once, and stay as long as they are in the file, and not longer.
use super::*;
use crate::progress::NoProgress;
use crate::records::rules::files::{add_source, miss_files, remove_read, remove_source, save_readings};
use crate::records::rules::import::{Aliases, import};
use crate::records::rules::purge::purge_ids;
use crate::types::{
    FileChanges, FileContent, FileReading, FileStamp, Imported, Kind, NewSource, Origin, Place, Portable, SourceId,
    SourceKind,
};

fn origin(of: &str) -> Origin {
    let mut bytes = [0; 16];
    bytes[..of.len()].copy_from_slice(of.as_bytes());
    Origin::from_bytes(bytes)
}

/// A chunk whose text says which it is, on this line.
fn chunk(text: &str, line: u64) -> NewRecord {
    NewRecord { kind: Kind::Chunk, place: Some(Place::new(origin(text), "/notes/a.md", line, line)), ..new(text) }
}

/// A turn of a session with this id and text.
fn turn(id: &str, session: &str, text: &str) -> NewRecord {
    let place = Some(Place::new(origin(id), "/log/a.jsonl", 1, 1));
    NewRecord { kind: Kind::Conversation, session: Some(session.into()), place, ..new(text) }
}

fn source(store: &impl Subject, kind: SourceKind) -> SourceId {
    let format = (kind == SourceKind::Sessions).then(|| "claude-code".to_owned());
    let new = NewSource { kind, path: "/notes".into(), format, globs: Vec::new(), scope: Scope::default() };
    add_source(store.authority(), &new, NOW).unwrap().0
}

fn reading(file: Option<i64>, content: FileContent) -> FileReading {
    let stamp = FileStamp { size: 1, modified: 2, identity: (3, u64::MAX) };
    FileReading { file, stamp, ..FileReading::new("/notes/a.md", content) }
}

fn save(store: &impl Subject, source: SourceId, reading: FileReading) -> FileChanges {
    save_readings(store.authority(), source, &[reading], NOW).unwrap().unwrap().remove(0)
}

fn chunks(store: &impl Subject, source: SourceId, chunks: &[NewRecord]) -> FileChanges {
    let file = store.write(|tx| tx.first("SELECT id FROM files", &[], |row| row.get(0)));
    save(store, source, reading(file, FileContent::Chunks(chunks.to_vec())))
}

fn turns(store: &impl Subject, source: SourceId, turns: &[NewRecord], whole: bool) -> FileChanges {
    let content = FileContent::Turns { turns: turns.to_vec(), whole };
    save(store, source, FileReading { path: "/log/a.jsonl".into(), ..reading(None, content) })
}

/// The texts of a thread in order, with ids and lines.
fn thread(store: &impl Subject, session: &str) -> Vec<(String, RecordId, u64)> {
    let sql = "SELECT id FROM records WHERE session = ?1 ORDER BY turn, id";
    let ids: Vec<RecordId> = store.write(|tx| tx.all(sql, &[session.into()], |row| row.get(0)));
    let records = ids.into_iter().filter_map(|id| store.record(id, NOW));
    records.map(|record| (record.content, record.id, record.place.map_or(0, |place| place.first_line))).collect()
}

fn texts(store: &impl Subject, session: &str) -> String {
    thread(store, session).into_iter().map(|(text, ..)| text).collect::<Vec<_>>().join(" ")
}

/// R20, R22, F19: the words of a chunk follow the log, and nothing is rebuilt.
fn an_edit_changes_one_chunk_and_keeps_the_others(store: &impl Subject) {
    let notes = source(store, SourceKind::Notes);
    let first = chunks(store, notes, &[chunk("a", 1), chunk("b", 5), chunk("c", 9)]);
    assert_eq!(first, FileChanges { added: 3, ..FileChanges::default() });
    let before = thread(store, "/notes/a.md");
    let logged = store.count("sync_log");
    let edited = chunks(store, notes, &[chunk("a", 1), chunk("B", 5), chunk("b2", 7), chunk("c", 19)]);
    assert_eq!(edited, FileChanges { added: 2, removed: 1, kept: 2, ..FileChanges::default() });
    let after = thread(store, "/notes/a.md");
    assert_eq!(texts(store, "/notes/a.md"), "a B b2 c");
    assert_eq!((after[0].1, after[3].1, after[3].2), (before[0].1, before[2].1, 19), "ids stay, lines follow");
    assert_eq!(store.count("sync_log"), logged + 3, "two new chunks and one that is gone; lines are in no index");
    let nothing = chunks(store, notes, &[chunk("a", 1), chunk("B", 5), chunk("b2", 7), chunk("c", 19)]);
    assert_eq!(nothing, FileChanges { kept: 4, ..FileChanges::default() });
    let turned = chunks(store, notes, &[chunk("c", 1), chunk("a", 5)]);
    assert_eq!((turned.kept, turned.removed, texts(store, "/notes/a.md").as_str()), (2, 2, "c a"), "in another order");
    let tagged = NewRecord { tags: vec!["t".into()], ..chunk("c", 1) };
    chunks(store, notes, &[tagged, chunk("a", 5)]);
    assert_eq!(store.record(before[2].1, NOW).unwrap().tags, ["t"]);
    store.assert_sound();
}

fn a_note_that_is_gone_takes_its_chunks_along(store: &impl Subject) {
    let notes = source(store, SourceKind::Notes);
    chunks(store, notes, &[chunk("a", 1), chunk("b", 2)]);
    let file = store.write(|tx| tx.first("SELECT id FROM files", &[], |row| row.get(0))).unwrap();
    assert_eq!(miss_files(store.authority(), notes, &[file], NOW).unwrap().removed, 2);
    assert_eq!((store.count("records"), store.count("files"), store.count("trash")), (0, 0, 0));
    assert_eq!(chunks(store, notes, &[chunk("a", 1)]).added, 1, "it is back");
    store.assert_sound();
}

fn what_moves_to_another_scope_moves_whole(store: &impl Subject) {
    let notes = source(store, SourceKind::Notes);
    chunks(store, notes, &[chunk("a", 1)]);
    let moved = NewRecord { scope: scope(None, Some("p")), ..chunk("a", 1) };
    assert_eq!(chunks(store, notes, &[moved]), FileChanges { added: 1, removed: 1, ..FileChanges::default() });
    assert_eq!(store.count("records"), 1);
    store.assert_sound();
}

fn a_turn_is_saved_once_and_outlives_its_file(store: &impl Subject) {
    let sessions = source(store, SourceKind::Sessions);
    turns(store, sessions, &[turn("1", "s", "one"), turn("2", "s", "two")], false);
    let again = turns(store, sessions, &[turn("2", "t", "two"), turn("3", "t", "three")], false);
    assert_eq!((again.kept, again.added), (1, 1), "a resumed session repeats what was said before");
    assert_eq!((texts(store, "s").as_str(), texts(store, "t").as_str()), ("one two", "three"));
    let grown = turns(store, sessions, &[turn("1", "s", "one, and more")], false);
    assert_eq!((grown.changed, texts(store, "s").as_str()), (1, "one, and more two"));
    let file = store.write(|tx| tx.first("SELECT id FROM files", &[], |row| row.get(0))).unwrap();
    miss_files(store.authority(), sessions, &[file], NOW + 9).unwrap();
    assert_eq!((store.count("records"), store.count("files")), (3, 1));
    let gone = store.write(|tx| tx.first("SELECT gone_at FROM files", &[], |row| row.get::<Millis>(0)));
    assert_eq!(gone, Some(NOW + 9));
    store.assert_sound();
}

fn a_whole_reading_removes_what_was_taken_back(store: &impl Subject) {
    let sessions = source(store, SourceKind::Sessions);
    turns(store, sessions, &[turn("1", "s", "one"), turn("2", "s", "two")], true);
    store.add(&NewRecord { session: Some("s".into()), ..new("by hand") }, NOW);
    let other = Place { path: "/log/b.jsonl".into(), ..Place::new(origin("9"), "", 1, 1) };
    save(
        store,
        sessions,
        FileReading {
            path: other.path.clone(),
            ..reading(
                None,
                FileContent::Turns {
                    turns: vec![NewRecord { place: Some(other), ..turn("9", "s", "other file") }],
                    whole: true,
                },
            )
        },
    );
    assert_eq!(turns(store, sessions, &[turn("1", "s", "one"), turn("3", "s", "three")], true).removed, 1);
    assert_eq!(texts(store, "s"), "one by hand other file three");
    store.assert_sound();
}

/// Without a turn, a reading names no session.
fn a_session_that_was_taken_back_whole_is_gone(store: &impl Subject) {
    let sessions = source(store, SourceKind::Sessions);
    let of_other = Place { path: "/log/b.jsonl".into(), ..Place::new(origin("9"), "", 1, 1) };
    let other = NewRecord { place: Some(of_other), ..turn("9", "s", "other file") };
    turns(store, sessions, &[turn("1", "s", "one"), turn("2", "t", "two"), other], true);
    store.add(&NewRecord { session: Some("s".into()), ..new("by hand") }, NOW);
    let file = store.write(|tx| tx.first("SELECT id FROM files", &[], |row| row.get(0)));
    let reading = |whole| {
        let content = FileContent::Turns { turns: Vec::new(), whole };
        save(store, sessions, FileReading { path: "/log/a.jsonl".into(), ..reading(file, content) })
    };
    assert_eq!(reading(false), FileChanges::default(), "nothing is new");
    assert_eq!(reading(true), FileChanges { removed: 2, ..FileChanges::default() });
    assert_eq!((texts(store, "s").as_str(), texts(store, "t").as_str()), ("other file by hand", ""));
    store.assert_sound();
}

fn what_somebody_deleted_is_not_read_again(store: &impl Subject) {
    let sessions = source(store, SourceKind::Sessions);
    let said = [turn("1", "s", "one"), turn("2", "s", "two"), turn("3", "s", "three")];
    turns(store, sessions, &said, false);
    let ids: Vec<RecordId> = thread(store, "s").into_iter().map(|(_, id, _)| id).collect();
    trash::delete(store.authority(), ids[0], None, &Viewer::OWNER, NOW).unwrap();
    purge_ids(store.authority(), &[ids[1]], &Viewer::OWNER, &NoProgress).unwrap();
    let again = turns(store, sessions, &said, false);
    assert_eq!((again.added, again.kept, again.forgotten), (0, 1, 2));
    trash::restore(store.authority(), ids[0], &Viewer::OWNER, NOW).unwrap();
    assert_eq!(store.count("forgotten"), 1, "what was purged");
    assert_eq!(remove_read(store.authority(), &ids).unwrap(), 2);
    let again = turns(store, sessions, &said, false);
    assert_eq!((again.added, again.forgotten), (2, 1), "what a source takes along may come back");
    store.assert_sound();
}

/// A deleted turn that was read again is not restored beside its new record; once that is deleted, it is.
fn what_is_there_again_is_not_restored_beside_it(store: &impl Subject) {
    let said = turn("1", "s", "one");
    let deleted = store.add(&said, NOW).id;
    let delete = |id| trash::delete(store.authority(), id, None, &Viewer::OWNER, NOW).unwrap();
    let restore = |id, viewer: &Viewer| trash::restore(store.authority(), id, viewer, NOW);
    delete(deleted);
    let again = store.add(&said, NOW).id;
    let refused = restore(deleted, &Viewer::OWNER).unwrap_err();
    assert!(
        matches!(&refused, Error::Invalid { why, .. } if why.contains(&format!("as memory {again};"))),
        "{refused}"
    );
    delete(again);
    assert_eq!(restore(deleted, &Viewer::OWNER).unwrap().id, deleted);
    delete(deleted);
    let theirs = NewRecord { scope: scope(None, Some("theirs")), ..said };
    assert!(store.add(&theirs, NOW).created);
    let restored = restore(deleted, &Viewer::in_project("ours")).unwrap();
    assert_eq!((restored.content.as_str(), restored.place), ("one", None), "what is out of view is not named");
    store.assert_sound();
}

/// Two stores read the same file: a memory of the one is a memory of the other.
fn what_was_read_here_too_is_not_imported_again(store: &impl Subject) {
    let sessions = source(store, SourceKind::Sessions);
    turns(store, sessions, &[turn("1", "s", "one")], false);
    let portable = |text: NewRecord| Portable::new(ulid::Ulid::generate().to_string(), 1, text, NOW);
    let records = [portable(turn("1", "s", "one")), portable(turn("2", "s", "two"))];
    let outcomes =
        import(store.authority(), &records, None, &Viewer::OWNER, false, &mut Aliases::default(), NOW).unwrap();
    let outcomes: Vec<Imported> = outcomes.into_iter().map(Result::unwrap).collect();
    assert_eq!(outcomes, [Imported::Duplicate, Imported::Created]);
    assert_eq!(
        turns(store, sessions, &[turn("2", "s", "two")], false).kept,
        1,
        "and what was imported is not read again"
    );
    assert!(!store.add(&turn("2", "s", "two"), NOW).created);
    store.assert_sound();
}

fn a_source_is_there_once_and_goes_with_its_files(store: &impl Subject) {
    let notes = source(store, SourceKind::Notes);
    assert_eq!(source(store, SourceKind::Notes), notes);
    assert_ne!(source(store, SourceKind::Sessions), notes);
    chunks(store, notes, &[chunk("a", 1)]);
    assert_eq!(remove_source(store.authority(), notes, false).unwrap(), Some(vec!["/notes/a.md".to_owned()]));
    assert_eq!(remove_source(store.authority(), notes, false).unwrap(), None);
    assert_eq!((store.count("files"), store.count("records")), (0, 1));
    let late = save_readings(store.authority(), notes, &[reading(None, FileContent::Unchanged)], NOW).unwrap();
    assert_eq!((late, store.count("files")), (None, 0), "also while a process was still reading it");
    store.assert_sound();
}

/// The reasons why parts of a note were skipped stay as long as the note is unchanged.
fn what_was_passed_over_stays_with_the_note(store: &impl Subject) {
    let notes = source(store, SourceKind::Notes);
    let read = |file, why: Option<&'static str>, content| {
        let skipped = why.map(|why| (why, 1)).into_iter().collect();
        save(store, notes, FileReading { hash: Some([7; 32]), skipped, ..reading(file, content) });
        let known = |tx: &dyn Tx| tx.first("SELECT id, skipped FROM files", &[], |row| Ok((row.get(0)?, row.get(1)?)));
        store.write(known).unwrap()
    };
    let (file, skipped): (i64, Option<String>) = read(None, Some("no text"), FileContent::Chunks(Vec::new()));
    assert_eq!(skipped.as_deref(), Some("{\"no text\":1}"));
    assert_eq!(read(Some(file), None, FileContent::Unchanged), (file, skipped));
    assert_eq!(read(Some(file), None, FileContent::Chunks(vec![chunk("a", 1)])), (file, None));
    store.assert_sound();
}

/// A file that an outer source has by now does not lose its chunks with the inner one.
fn a_file_of_two_sources_stays_with_the_other(store: &impl Subject) {
    let inner = source(store, SourceKind::Notes);
    chunks(store, inner, &[chunk("a", 1)]);
    let new = NewSource {
        kind: SourceKind::Notes,
        path: "/".into(),
        format: None,
        globs: Vec::new(),
        scope: Scope::default(),
    };
    let outer = add_source(store.authority(), &new, NOW).unwrap().0;
    assert_eq!(save(store, outer, reading(None, FileContent::Chunks(vec![chunk("a", 1)]))).kept, 1);
    assert_eq!(miss_files(store.authority(), inner, &[1], NOW).unwrap().removed, 0);
    assert_eq!((store.count("records"), store.count("files")), (1, 1));
    assert_eq!(miss_files(store.authority(), outer, &[2], NOW).unwrap().removed, 1);
    store.assert_sound();
}

/// No record stays in a scope that the source no longer has.
fn another_owner_gets_what_was_read(store: &impl Subject) {
    let sessions = source(store, SourceKind::Sessions);
    turns(store, sessions, &[turn("1", "s", "one")], false);
    let own = scope(None, Some("p"));
    let new = NewSource {
        kind: SourceKind::Sessions,
        path: "/notes".into(),
        format: Some("claude-code".into()),
        globs: Vec::new(),
        scope: own.clone(),
    };
    assert_eq!(add_source(store.authority(), &new, NOW).unwrap(), (sessions, false));
    assert_eq!(store.number("SELECT modified FROM files"), -1, "it is read again");
    let moved = NewRecord { scope: own.clone(), ..turn("1", "s", "one") };
    assert_eq!(turns(store, sessions, std::slice::from_ref(&moved), false).changed, 1);
    assert_eq!(turns(store, sessions, std::slice::from_ref(&moved), false).kept, 1);
    assert_eq!(
        store.number("SELECT count(*) FROM records r JOIN scopes s ON s.id = r.scope_id WHERE s.project = 'p'"),
        1
    );
    store.assert_sound();
}

/// A file that is renamed keeps the thread of its chunks; a new one with its old name gets another.
fn a_renamed_file_keeps_its_chunks(store: &impl Subject) {
    let notes = source(store, SourceKind::Notes);
    chunks(store, notes, &[chunk("a", 1)]);
    let id = thread(store, "/notes/a.md")[0].1;
    let file = store.write(|tx| tx.first("SELECT id FROM files", &[], |row| row.get(0)));
    let moved = |text: &str| NewRecord { place: Some(Place::new(origin(text), "/notes/b.md", 1, 1)), ..chunk(text, 1) };
    let to_b = FileReading { path: "/notes/b.md".into(), ..reading(file, FileContent::Chunks(vec![moved("a")])) };
    assert_eq!(save(store, notes, to_b).kept, 1);
    assert_eq!(store.record(id, NOW).unwrap().place.unwrap().path, "/notes/b.md");
    let new_a = reading(None, FileContent::Chunks(vec![chunk("x", 1)]));
    let new_a = FileReading { thread: "/notes/a.md (2)".into(), ..new_a };
    assert_eq!(save(store, notes, new_a), FileChanges { added: 1, ..FileChanges::default() });
    assert_eq!((texts(store, "/notes/a.md").as_str(), texts(store, "/notes/a.md (2)").as_str()), ("a", "x"));
    store.assert_sound();
}

/// An invalid record is counted, and the rest of the file is saved.
fn a_record_that_is_refused_does_not_stop_its_file(store: &impl Subject) {
    let notes = source(store, SourceKind::Notes);
    let bad = NewRecord { content: " ".into(), ..chunk("b", 2) };
    let changes = chunks(store, notes, &[chunk("a", 1), bad]);
    assert_eq!((changes.added, changes.refused.into_values().sum::<u64>()), (1, 1));
    store.assert_sound();
}

on_every_database! {
    a_file_of_two_sources_stays_with_the_other,
    another_owner_gets_what_was_read,
    a_note_that_is_gone_takes_its_chunks_along,
    a_record_that_is_refused_does_not_stop_its_file,
    a_renamed_file_keeps_its_chunks,
    a_session_that_was_taken_back_whole_is_gone,
    a_source_is_there_once_and_goes_with_its_files,
    what_was_passed_over_stays_with_the_note,
    a_turn_is_saved_once_and_outlives_its_file,
    a_whole_reading_removes_what_was_taken_back,
    an_edit_changes_one_chunk_and_keeps_the_others,
    what_is_there_again_is_not_restored_beside_it,
    what_moves_to_another_scope_moves_whole,
    what_somebody_deleted_is_not_read_again,
    what_was_read_here_too_is_not_imported_again,
}
