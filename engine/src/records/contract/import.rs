//! Records and links of another store.

use super::*;
use crate::records::rules::import::{Aliases, import, import_links};
use crate::types::{AccessKind, Accessed, Earlier, Imported, LinkKind, Portable, PortableLink, Replaced};

const ULIDS: [&str; 3] = ["01HF7YAT00AAAAAAAAAAAAAAAA", "01HF7YAT00BBBBBBBBBBBBBBBB", "01HF7YAT00CCCCCCCCCCCCCCCC"];

/// A record of another store with this many versions before it, and an embedding of two dimensions.
fn portable(ulid: &str, text: &str, earlier: usize) -> Portable {
    let before = |version: usize| Earlier {
        version: version as i64,
        since: NOW - 10,
        replaced: Replaced { at: NOW - 5, reason: "update".into() },
        text: new(&format!("{text} {version}")),
    };
    Portable {
        ulid: ulid.into(),
        version: earlier as i64 + 1,
        text: new(text),
        created_at: NOW - 20,
        updated_at: NOW - 5,
        access_count: 3,
        last_accessed_at: Some(NOW - 1),
        earlier: (1..=earlier).map(before).collect(),
        accesses: vec![Accessed { at: NOW - 1, kind: AccessKind::Get, score: None, query: None }],
        embedding: Some(vec![0.0, 1.0]),
        passages: Vec::new(),
    }
}

fn run<S: Subject>(store: &S, records: &[Portable], model: ModelId, aliases: &mut Aliases) -> Vec<Imported> {
    let outcomes = import(store.authority(), records, Some(model), &Viewer::OWNER, false, aliases, NOW).unwrap();
    outcomes.into_iter().map(Result::unwrap).collect()
}

fn an_import_run_twice_changes_nothing_the_second_time(store: &impl Subject) {
    let model = store.adopt(2);
    let records = [portable(ULIDS[0], "one", 2), portable(ULIDS[1], "two", 0)];
    assert_eq!(run(store, &records, model, &mut Aliases::default()), [Imported::Created, Imported::Created]);
    let record = store.record(1, NOW).unwrap();
    assert_eq!((record.ulid.as_str(), record.version, record.access_count), (ULIDS[0], 3, 3));
    assert_eq!((record.created_at, record.updated_at), (NOW - 20, NOW - 5));
    assert_eq!((store.count("versions"), store.count("access_log")), (2, 2));
    assert_eq!(store.vectors(model, &[1.into()]), [(1.into(), vec![0.0, 1.0])]);
    let before = store.contents();
    assert_eq!(run(store, &records, model, &mut Aliases::default()), [Imported::Unchanged, Imported::Unchanged]);
    assert_eq!(store.contents(), before);
    store.assert_sound();
}

/// A record with these texts, each with the moment when it became the newest.
fn history(texts: &[(Millis, &str)]) -> Portable {
    let earlier = texts.windows(2).zip(1..).map(|(pair, version)| Earlier {
        version,
        since: pair[0].0,
        replaced: Replaced { at: pair[1].0, reason: "update".into() },
        text: new(pair[0].1),
    });
    let (created_at, (updated_at, newest)) = (texts[0].0, texts[texts.len() - 1]);
    let all = Portable { earlier: earlier.collect(), created_at, updated_at, ..portable(ULIDS[0], newest, 0) };
    Portable { version: texts.len() as i64, ..all }
}

fn a_history_that_goes_on_replaces_a_record(store: &impl Subject) {
    let model = store.adopt(2);
    let texts = [(NOW - 20, "one"), (NOW - 15, "two"), (NOW - 10, "three"), (NOW - 5, "four")];
    run(store, &[history(&texts[..2])], model, &mut Aliases::default());
    let head = store.head();
    assert_eq!(run(store, &[history(&texts)], model, &mut Aliases::default()), [Imported::Replaced]);
    assert_eq!(store.log(head), [(1.into(), Change::Put { version: 4, new_text: true })]);
    assert_eq!((store.count("records"), store.count("versions"), store.count("embeddings")), (1, 3, 1));
    assert_eq!(run(store, &[history(&texts[..2])], model, &mut Aliases::default()), [Imported::Unchanged]);
    store.assert_sound();
}

fn an_edit_of_each_store_stays(store: &impl Subject) {
    let model = store.adopt(2);
    let start = [(NOW - 20, "on Mondays"), (NOW - 15, "on Tuesdays")];
    let ours = [&start[..], &[(NOW - 9, "on Wednesdays")]].concat();
    let theirs = [&start[..], &[(NOW - 8, "on Thursdays"), (NOW - 7, "on Fridays")]].concat();
    run(store, &[history(&ours)], model, &mut Aliases::default());
    let before = store.record(1, NOW).unwrap();
    let head = store.head();
    let united = Imported::United { id: 1.into(), version: 3 };
    let theirs = Portable { embedding: Some(vec![1.0, 0.0]), access_count: 0, ..history(&theirs) };
    assert_eq!(run(store, std::slice::from_ref(&theirs), model, &mut Aliases::default()), [united]);
    assert_eq!(store.log(head), [(1.into(), Change::Put { version: 5, new_text: true })]);
    let after = store.record(1, NOW).unwrap();
    assert_eq!((after.content.as_str(), after.version, after.created_at), ("on Fridays", 5, before.created_at));
    assert_eq!(after.access_count, before.access_count, "accesses are those of this store");
    assert_eq!(store.vectors(model, &[1.into()]), [(1.into(), vec![1.0, 0.0])]);
    let texts = "SELECT content FROM versions ORDER BY version";
    let texts = store.write(|tx| tx.all(texts, &[], |row| row.get::<String>(0)));
    assert_eq!(texts, ["on Mondays", "on Tuesdays", "on Wednesdays", "on Thursdays"]);
    for again in [theirs, history(&ours)] {
        assert_eq!(run(store, &[again], model, &mut Aliases::default()), [Imported::Unchanged]);
    }
    let older = [&start[..], &[(NOW - 14, "on Sundays")]].concat();
    let united = Imported::United { id: 1.into(), version: 3 };
    assert_eq!(run(store, &[history(&older)], model, &mut Aliases::default()), [united], "it is the older one");
    assert_eq!(store.record(1, NOW).unwrap().content, "on Fridays");
    assert_eq!(store.vectors(model, &[1.into()]), [(1.into(), vec![1.0, 0.0])]);
    assert_eq!(store.count("versions"), 5);
    store.assert_sound();
}

/// A number alone says that it goes on.
fn a_history_with_a_gap_replaces_a_record(store: &impl Subject) {
    let model = store.adopt(2);
    run(store, &[history(&[(NOW - 20, "one"), (NOW - 15, "two")])], model, &mut Aliases::default());
    let incomplete = Portable { earlier: vec![], version: 9, ..history(&[(NOW - 20, "nine")]) };
    let incomplete = Portable { updated_at: NOW - 1, ..incomplete };
    assert_eq!(run(store, &[incomplete], model, &mut Aliases::default()), [Imported::Replaced]);
    assert_eq!((store.record(1, NOW).unwrap().version, store.count("versions")), (9, 2));
    assert_eq!(store.number("SELECT count(*) FROM meta WHERE key = 'versions_lost' AND value = '[1]'"), 1);
    store.assert_sound();
}

/// A ULID stands for the record here that has its text, so that links find their ends.
fn links_lead_to_the_records_that_have_the_text_already(store: &impl Subject) {
    let model = store.adopt(2);
    let here = store.add(&new("same"), NOW).id;
    let brief = Portable { text: NewRecord { expires_at: Some(NOW), ..new("over") }, ..portable(ULIDS[2], "", 0) };
    let mut aliases = Aliases::default();
    let records = [portable(ULIDS[0], "same", 0), portable(ULIDS[1], "other", 0), brief];
    let outcomes = run(store, &records, model, &mut aliases);
    assert_eq!(outcomes, [Imported::Duplicate, Imported::Created, Imported::Expired]);
    let link = |from: usize, to: usize| {
        let (from, to) = (ULIDS[from].into(), ULIDS[to].into());
        PortableLink { from, kind: LinkKind::Related, to, created_at: NOW }
    };
    let links = |aliases| {
        let links = [link(0, 1), link(1, 0), link(1, 2)];
        import_links(store.authority(), &links, &Viewer::OWNER, aliases, NOW).unwrap()
    };
    let made = links(&aliases);
    assert!(matches!(made[..], [Ok(Imported::Created), Ok(Imported::Created), Ok(Imported::Expired)]), "{made:?}");
    assert_eq!(store.number(&format!("SELECT count(*) FROM links WHERE from_id = {here} OR to_id = {here}")), 2);
    assert!(matches!(links(&aliases)[..2], [Ok(Imported::Unchanged), Ok(Imported::Unchanged)]));
    // A later import knows no more than the store: which ULID a twin had, where it keeps tombstones.
    let later = links(&Aliases::default());
    let knows = store.authority().write(|tx| Ok(tx.keeps_tombstones())).unwrap();
    assert_eq!(later.iter().map(Result::is_ok).collect::<Vec<_>>(), [knows, knows, false], "{later:?}");
}

fn a_refused_record_does_not_stop_the_others(store: &impl Subject) {
    let model = store.adopt(2);
    let records = [
        Portable { text: new(" "), ..portable(ULIDS[0], "", 0) },
        Portable { embedding: Some(vec![1.0]), ..portable(ULIDS[1], "one", 0) },
        portable(ULIDS[2], "two", 0),
    ];
    let mut aliases = Aliases::default();
    let outcomes = import(store.authority(), &records, Some(model), &Viewer::OWNER, false, &mut aliases, NOW).unwrap();
    assert!(matches!(outcomes[..], [Err(_), Err(Error::Invalid { .. }), Ok(Imported::Created)]), "{outcomes:?}");
    assert_eq!(store.count("records"), 1);
    store.assert_sound();
}

on_every_database![
    an_import_run_twice_changes_nothing_the_second_time,
    a_history_that_goes_on_replaces_a_record,
    an_edit_of_each_store_stays,
    a_history_with_a_gap_replaces_a_record,
    links_lead_to_the_records_that_have_the_text_already,
    a_refused_record_does_not_stop_the_others,
];
