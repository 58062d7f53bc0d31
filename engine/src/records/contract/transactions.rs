//! All or nothing, for every operation that writes; and work that a database runs again.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::time::Duration;

use regex::Regex;

use super::*;
use crate::progress::NoProgress;
use crate::records::meta;
use crate::records::rules::access::{Access, count_accesses, record_access};
use crate::records::rules::import::{Aliases, import};
use crate::records::rules::{embeddings, expiry, links, next_model, purge, recalled, save, update};
use crate::records::transaction::{Each, Work};
use crate::types::{AccessKind, GivenFields, LinkKind, Portable, Save};

/// Fails at one of the statements of each transaction.
struct FailsAt<'a, A> {
    authority: &'a A,
    statement: usize,
}

impl<A: Authority> Authority for FailsAt<'_, A> {
    fn run(&self, work: &mut Work<'_>) -> Result<()> {
        self.authority.run(&mut |tx| work(&FailingTx { tx, left: Cell::new(Some(self.statement)) }))
    }

    fn run_unsynced(&self, timeout: Duration, work: &mut Work<'_>) -> Result<()> {
        let mut failing = |tx: &dyn Tx| work(&FailingTx { tx, left: Cell::new(Some(self.statement)) });
        self.authority.run_unsynced(timeout, &mut failing)
    }
}

/// Fails every statement after the first failed one with an error that hides the cause, as PostgreSQL does.
struct FailingTx<'a> {
    tx: &'a dyn Tx,
    left: Cell<Option<usize>>,
}

impl FailingTx<'_> {
    fn step(&self) -> Result<()> {
        let left = self.left.get().ok_or_else(|| Error::unreadable("the transaction has failed already"))?;
        self.left.set(left.checked_sub(1));
        if left == 0 { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl Select for FailingTx<'_> {
    fn select(&self, sql: &str, values: &[Value<'_>], each: &mut Each<'_>) -> Result<()> {
        self.step()?;
        self.tx.select(sql, values, each)
    }
}

impl Tx for FailingTx<'_> {
    fn keeps_tombstones(&self) -> bool {
        self.tx.keeps_tombstones()
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        self.step()?;
        self.tx.execute(sql, values)
    }

    fn insert(&self, sql: &str, values: &[Value<'_>]) -> Result<i64> {
        self.step()?;
        self.tx.insert(sql, values)
    }
}

/// Runs each transaction twice, as a server does when the first one lost against another.
struct RunsTwice<'a, S>(&'a S);

impl<S: Subject> Authority for RunsTwice<'_, S> {
    fn run(&self, work: &mut Work<'_>) -> Result<()> {
        let (store, authority) = (self.0, self.0.authority());
        let lost = store.keeping_numbers(|| authority.run(&mut |tx| work(tx).and(Err(Error::Cancelled))));
        assert!(lost.is_err());
        authority.run(work)
    }

    fn run_unsynced(&self, timeout: Duration, work: &mut Work<'_>) -> Result<()> {
        let (store, authority) = (self.0, self.0.authority());
        let lose = || authority.run_unsynced(timeout, &mut |tx| work(tx).and(Err(Error::Cancelled)));
        assert!(store.keeping_numbers(lose).is_err());
        authority.run_unsynced(timeout, work)
    }
}

/// A store for [`operate`].
fn prepare<S: Subject>(store: &S) {
    let model = store.adopt(1);
    for text in ["one", "two", "three", "four", "five"] {
        store.add(&NewRecord { tags: vec!["tag".into()], ..new(text) }, NOW);
    }
    store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("brief") }, NOW);
    store.add(&NewRecord { expires_at: Some(NOW + 1), ..new("briefer") }, NOW);
    assert_eq!(store.embed(model, 1), 7);
    store.update(1, &content("uno"), NOW).unwrap();
    store.link(Link { from: 1.into(), kind: LinkKind::Related, to: 2.into() }, &Viewer::OWNER, NOW).unwrap();
}

/// Operations that write: [`operate`] runs one, in a single transaction, and returns its result for comparison.
const OPERATIONS: usize = 20;

fn operate(authority: &impl Authority, at: usize) -> Result<String> {
    let owner = &Viewer::OWNER;
    let later = NOW + 5;
    let link = Link { from: 2.into(), kind: LinkKind::Supersedes, to: 3.into() };
    let access = Access { id: 2.into(), kind: AccessKind::Get, score: None, query: None, counts: true };
    let hash = |text: &str| rows::hash_of_content(text);
    Ok(match at {
        0 => format!("{:?}", add_one(authority, &NewRecord { scope: scope(Some("a"), None), ..new("new") }, NOW)?),
        1 => format!("{:?}", add_one(authority, &new("two"), later)?),
        2 => format!("{:?}", add_one(authority, &new("brief"), later)?),
        3 => format!("{:?}", add::add_batch(authority, &[new("six"), new(""), new("seven")], NOW)?),
        4 => format!("{:?}", update_one(authority, 2.into(), &content("dos"), owner, later)?),
        5 => format!("{:?}", update::roll_back(authority, 1.into(), 1, None, None, owner, later)?),
        6 => format!("{:?}", links::link(authority, link, owner, NOW)?),
        7 => format!("{:?}", links::unlink(authority, link, owner, NOW)?),
        8 => format!("{:?}", record_access(authority, &[access, access], NOW)?),
        9 => format!("{:?}", count_accesses(authority, &[3, 3].map(RecordId::from), NOW)?),
        10 => format!("{:?}", embeddings::store_embeddings(authority, 1.into(), &[(hash("dos"), vec![1.0])])?),
        11 => format!("{:?}", next_model::begin_next_model(authority, &model(2))?),
        12 => format!("{:?}", next_model::store_next(authority, 2.into(), &[(hash("dos"), vec![1.0; 2])])?),
        13 => format!("{:?}", next_model::change_model(authority, 2.into(), Some(&Default::default()), 32, later)?),
        14 => {
            let mut aliases = Aliases::default();
            let merged = import(authority, &portables(), None, owner, false, &mut aliases, NOW)?;
            format!("{merged:?} {:?}", import(authority, &[] as &[Portable], None, owner, false, &mut aliases, NOW)?)
        }
        15 => {
            let removed = purge::purge_ids(authority, &[4, 4, 99].map(RecordId::from), owner, &NoProgress)?;
            format!("{} {} {:?}", removed.records, removed.versions, removed.patterns)
        }
        16 => format!(
            "{} {}",
            trash::delete(authority, 5.into(), None, owner, later)?.is_some(),
            expiry::remove_expired(authority, later, 9)?
        ),
        17 => format!("{:?}", recalled::note(authority, "session", &[(2.into(), 1), (3.into(), 1)], later)?),
        18 => {
            // A new text with a vector and links, and a text that is there and changes.
            let given = Some(GivenFields { importance: true, ..GivenFields::default() });
            let links = vec![(LinkKind::Related, 2.into()), (LinkKind::Related, 1.into())];
            let important = |text| NewRecord { importance: 9, ..new(text) };
            let save = |text| Save { record: important(text), links: links.clone(), given, viewer: Viewer::OWNER };
            let vectors = (2.into(), [(hash("whole"), vec![1.0; 2])].into_iter().collect());
            format!("{:?}", save::save(authority, &[save("whole"), save("dos")], Some(&vectors), later)?)
        }
        19 => {
            let vectors = (2.into(), HashMap::from(["deux", "trois"].map(|text| (hash(text), vec![1.0; 2]))));
            let updates = [(2, "deux"), (3, "trois")].map(|(id, text)| (id.into(), Cow::Owned(content(text))));
            format!("{:?}", update::update(authority, &updates, Some(&vectors), owner, later)?)
        }
        _ => unreachable!("there are {OPERATIONS}"),
    })
}

/// A duplicate, and a new record that lacks its earlier version.
fn portables() -> [Portable; 2] {
    let portable = |ulid: &str, text: &str, version| Portable::new(ulid, version, new(text), NOW);
    [portable("01HF7YAT00AAAAAAAAAAAAAAAA", "three", 1), portable("01HF7YAT00BBBBBBBBBBBBBBBB", "imported", 2)]
}

/// Whichever statement fails, a record and its log entry are both there or both absent, and so is everything else.
fn what_fails_leaves_nothing(store: &impl Subject) {
    prepare(store);
    for at in 0..OPERATIONS {
        let before = store.contents();
        for statement in 0.. {
            let failing = FailsAt { authority: store.authority(), statement };
            match store.keeping_numbers(|| operate(&failing, at)) {
                Ok(_) => {
                    assert!(statement > 0, "operation {at} runs statements");
                    break;
                }
                Err(Error::Cancelled) if at == 16 => {} // two transactions
                Err(Error::Cancelled) => assert_eq!(store.contents(), before, "operation {at}, statement {statement}"),
                Err(error) => panic!("operation {at}: {error}"),
            }
        }
    }
    store.assert_sound();
}

fn work_that_runs_again_does_what_running_once_does<S: Subject>(store: &S) {
    let once = S::empty("the same in a second store").expect("as the first");
    prepare(store);
    prepare(&once);
    // Every store has ULIDs of its own.
    let ulids = Regex::new(r"x'[0-9a-f]{32}'|\b[0-9A-HJKMNP-TV-Z]{26}\b").unwrap();
    let masked = |text: &str| ulids.replace_all(text, "ULID").into_owned();
    let contents = |store: &S| store.contents().iter().map(|row| masked(row)).collect::<Vec<_>>();
    for at in 0..OPERATIONS {
        let twice = operate(&RunsTwice(store), at).unwrap();
        assert_eq!(masked(&twice), masked(&operate(once.authority(), at).unwrap()), "operation {at}");
        assert_eq!(contents(store), contents(&once), "operation {at}");
    }
    store.assert_sound();
}

fn numbers_rise_and_are_never_used_twice(store: &impl Subject) {
    let add = |text: &str| store.add(&new(text), NOW).id;
    let (one, two) = (add("one"), add("two"));
    let newest = || store.number("SELECT max(seq) FROM sync_log");
    let before = newest();
    assert!(store.delete(two) && store.delete(one));
    assert_eq!(newest(), before + 2);
    store.write(|tx| tx.execute("DELETE FROM sync_log", &[]));
    let three = add("three");
    assert!(three > two && one > RecordId::START && one < two);
    assert!(newest() > before + 2, "also after the log was trimmed");
}

fn a_transaction_sees_what_it_has_written_and_nobody_else_does(store: &impl Subject) {
    let put = "INSERT INTO meta (key, value) VALUES ('test', ?1)";
    let read = |tx: &dyn Tx| meta::integer(tx, "test");
    let failed = store.authority().write(|tx| {
        assert_eq!(tx.execute(put, &[7.into()])?, 1);
        assert_eq!(read(tx)?, Some(7));
        Err::<(), _>(Error::Cancelled)
    });
    assert!(matches!(failed, Err(Error::Cancelled)));
    assert_eq!(store.write(|tx| read(tx)), None);
}

/// A waiting statement is sent with a later one, or with the COMMIT.
fn a_statement_that_waits_is_seen_and_fails_its_transaction(store: &impl Subject) {
    let count = |tx: &dyn Tx| tx.first("SELECT count(*) FROM scopes", &[], |row| row.get::<i64>(0));
    let add = |tx: &dyn Tx, agent: &str| tx.queue("INSERT INTO scopes (agent) VALUES (?1)", &[agent.into()]);
    store.write(|tx| {
        tx.prefetch(&|tx| _ = count(tx))?;
        assert_eq!((count(tx)?, count(tx)?), (Some(1), Some(1)));
        add(tx, "one")?;
        assert_eq!(count(tx)?, Some(2), "not what was foreseen");
        add(tx, "two")
    });
    assert_eq!(store.count("scopes"), 3);
    let doubled = store.authority().write(|tx| {
        add(tx, "three")?;
        add(tx, "one")
    });
    assert!(doubled.is_err());
    assert_eq!(store.count("scopes"), 3, "all or nothing");
    store.write(|tx| add(tx, "three"));
    assert_eq!(store.count("scopes"), 4);
}

fn values_come_back_as_they_were_given(store: &impl Subject) {
    let values =
        [Value::Null, Value::Integer(i64::MIN), Value::Real(0.1), Value::Text("caf\u{e9}"), Value::Blob(&[0, 255])];
    store.write(|tx| {
        let all = tx.all("SELECT ?1, ?2, ?3, ?4, ?5", &values, |row| {
            let found: Vec<String> = (0..5).map(|at| format!("{:?}", row.value(at).unwrap())).collect();
            assert_eq!(row.get::<Option<i64>>(0)?, None);
            assert_eq!((row.get::<i64>(1)?, row.get::<f64>(2)?), (i64::MIN, 0.1));
            assert_eq!((row.get::<&str>(3)?, row.get::<[u8; 2]>(4)?), ("caf\u{e9}", [0, 255]));
            assert!(row.get::<i64>(3).is_err() && row.get::<&str>(0).is_err() && row.get::<[u8; 3]>(4).is_err());
            Ok(found)
        })?;
        assert_eq!(all, [values.map(|value| format!("{value:?}")).to_vec()]);
        Ok(())
    });
}

on_every_database![
    values_come_back_as_they_were_given,
    ; of the owner:
    what_fails_leaves_nothing,
    work_that_runs_again_does_what_running_once_does,
    numbers_rise_and_are_never_used_twice,
    a_transaction_sees_what_it_has_written_and_nobody_else_does,
    a_statement_that_waits_is_seen_and_fails_its_transaction,
];
