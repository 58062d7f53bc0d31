//! Automatic recall (row T51): a turn is given what it needs, nothing twice, and mostly nothing.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{
    Filter, Kind, Link, LinkKind, NewRecord, Recall, RecallRequest, RecordId, RecordUpdate, SearchesQuery, Viewer,
};
use serde_json::Value;

use crate::meaning::{engine_with_model, model_cache};
use crate::support::{Store, another_process, document, memorist, text, words_only};

/// Saved memories, and turns that need them: in their words, and in others.
const NEEDED: [(&str, &str, &str); 6] = [
    (
        "Kestrel listens on port 4117 in staging",
        "which port does kestrel have in staging?",
        "how do I reach kestrel on the staging box?",
    ),
    (
        "Deploys of billing-api go out on Tuesdays, after the release meeting",
        "on which day do deploys of billing-api go out?",
        "when can my change to billing-api reach production?",
    ),
    ("Priya is on parental leave until March", "until when is Priya on leave?", "why doesn't Priya answer?"),
    (
        "Migrations of the ledger are run by hand with tools/migrate.sh",
        "how are migrations of the ledger run by hand?",
        "do I have to do anything after changing the schema of the ledger?",
    ),
    (
        "The nightly export is stored in the bucket acme-audit for 90 days",
        "for how many days is the nightly export stored?",
        "how far back can I look at nightly exports in acme-audit?",
    ),
    (
        "User prefers dark mode for all applications",
        "does the user prefer dark mode for applications?",
        "which theme does the user like?",
    ),
];

/// Turns that need nothing of it.
const NOT_NEEDED: [&str; 22] = [
    "ok",
    "go on",
    "yes, do that",
    "thanks",
    "fix the typo",
    "run the tests again",
    "no, leave it",
    "looks good, commit it",
    "show me the diff",
    "what do you mean?",
    "rename the variable count to total and add a docstring",
    "the compiler says: cannot borrow `items` as mutable because it is also borrowed as immutable",
    "sort the list by its second element",
    "how do I reverse a string in Python?",
    "make the error message more helpful",
    "what is the capital of Peru?",
    "write a haiku about leaves",
    "how many ounces are in a pound?",
    "tell me a joke about penguins",
    "wrap this in a try block and log the exception",
    "which port does the osprey service have?",
    "until when is Zbigniew on leave?",
];

/// Memories around those of the dialogue.
const AROUND: usize = 300;

/// Saves the dialogue's memories among others. Returns their ids.
fn fill(engine: &Engine) -> Vec<RecordId> {
    let ids = NEEDED.map(|(memory, ..)| engine.add(&NewRecord::new(memory)).unwrap().id);
    let others: Vec<_> = bench_data::memories(3, AROUND).map(|made| NewRecord::new(made.content)).collect();
    engine.add_batch(&others).unwrap();
    ids.to_vec()
}

fn recall(engine: &Engine, message: &str) -> Recall {
    engine.recall(&RecallRequest::new(message)).unwrap()
}

fn in_session(engine: &Engine, session: &str, message: &str) -> Vec<RecordId> {
    let request = RecallRequest { session: Some(session.into()), ..RecallRequest::new(message) };
    engine.recall(&request).unwrap().memories.iter().map(|memory| memory.record.id).collect()
}

fn given(recall: &Recall) -> Vec<RecordId> {
    recall.memories.iter().map(|memory| memory.record.id).collect()
}

/// How many of the turns get what they need: in its words; in others. And those that get what they do not need.
fn shares(engine: &Engine, ids: &[RecordId]) -> (usize, usize, Vec<&'static str>) {
    let has = |turn: &str, id: &RecordId| given(&recall(engine, turn)).contains(id);
    let asked = NEEDED.iter().zip(ids).filter(|((_, asked, _), id)| has(asked, id)).count();
    let others = NEEDED.iter().zip(ids).filter(|((.., turn), id)| has(turn, id)).count();
    (asked, others, NOT_NEEDED.into_iter().filter(|turn| !recall(engine, turn).is_silent()).collect())
}

#[test]
fn by_words_a_turn_gets_what_it_asks_for_and_others_get_nothing() {
    let store = Store::new(words_only());
    let ids = fill(&store.engine);
    store.engine.flush(&NoProgress).unwrap();
    let (asked, _, wrongly) = shares(&store.engine, &ids);
    assert!(asked >= 5 && wrongly.is_empty(), "{asked}, {wrongly:?}");
}

#[test]
fn with_the_model_a_turn_gets_what_it_needs_in_other_words_too() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    let ids = fill(&engine);
    engine.embed_pending(&NoProgress).unwrap();
    engine.flush(&NoProgress).unwrap();
    let (asked, others, wrongly) = shares(&engine, &ids);
    assert!(asked == 6 && others >= 5 && wrongly.is_empty(), "{asked}, {others}, {wrongly:?}");
    // In the words of a memory, but of something unknown, whose name has no mark but that the model has it in pieces.
    let unknown = recall(&engine, "which port does osprey have in staging?");
    assert!(unknown.is_silent(), "{unknown:?}");
}

/// Beside vectors, too; and the recall says what waits.
#[test]
fn memories_that_wait_for_their_embeddings_come_by_their_words() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_model(folder.path());
    let others: Vec<_> = bench_data::memories(3, AROUND).map(|made| NewRecord::new(made.content)).collect();
    engine.add_batch(&others).unwrap();
    engine.embed_pending(&NoProgress).unwrap();
    engine.close();
    let writer = words_only().open(folder.path()).unwrap();
    let mut config = Config::default();
    config.index_writer = false;
    config.model.cache_dir = Some(model_cache());
    let reader = Engine::open(folder.path(), config).unwrap();
    reader.prepare_model(&mut |plan| eprintln!("fetching {plan}"), &NoProgress).unwrap();
    assert!(recall(&reader, NEEDED[0].1).warnings.is_empty());
    let ids = NEEDED.map(|(memory, ..)| writer.add(&NewRecord::new(memory)).unwrap().id);
    let (asked, _, wrongly) = shares(&reader, &ids);
    assert!(asked >= 5 && wrongly.is_empty(), "{asked}, {wrongly:?}");
    let said = recall(&reader, NEEDED[0].1).warnings;
    assert!(said[0].ends_with(" memories are not embedded yet: keyword search only"), "{said:?}");
}

/// A store with three memories about a harbour, by words.
fn harbour() -> (Store, [RecordId; 3]) {
    let store = Store::new(words_only());
    let ids = [
        "The harbour office of Wick opens at nine on weekdays",
        "The harbour office of Wick opens at nine on weekdays, says the harbour master",
        "The harbour office of Wick opens at ten on Sundays",
    ]
    .map(|text| store.add(text));
    (store, ids)
}

const ASKED: &str = "when does the harbour office of Wick open on weekdays?";

#[test]
fn recall_injects_one_of_two_copies_and_names_contradictions() {
    let (store, [first, copy, other]) = harbour();
    let link = Link { from: other, kind: LinkKind::Contradicts, to: first };
    store.engine.viewed_by(&Viewer::OWNER).link(link).unwrap();
    let recall = recall(&store.engine, ASKED);
    assert_eq!(given(&recall).iter().filter(|id| [first, copy].contains(id)).count(), 1, "{recall:?}");
    let one = recall.memories.iter().find(|memory| memory.record.id != other).unwrap();
    assert_eq!(one.contradicted_by.is_empty(), one.record.id == copy, "{one:?}");
    assert!(recall.tokens > 0 && recall.tokens <= 60);
}

#[test]
fn recall_skips_superseded_memories() {
    let (store, [first, copy, other]) = harbour();
    for old in [first, copy] {
        let link = Link { from: other, kind: LinkKind::Supersedes, to: old };
        store.engine.viewed_by(&Viewer::OWNER).link(link).unwrap();
    }
    assert_eq!(given(&recall(&store.engine, "when does the harbour office of Wick open?")), [other]);
}

#[test]
fn a_memory_is_recalled_once_per_session_until_changed_or_reset() {
    let (store, _) = harbour();
    let first = in_session(&store.engine, "one", ASKED);
    assert!(!first.is_empty());
    // The copies that the first one stood for may follow.
    let again = in_session(&store.engine, "one", ASKED);
    assert!(first.iter().all(|id| !again.contains(id)), "{first:?} {again:?}");
    assert_eq!(in_session(&store.engine, "two", ASKED), first);
    assert_eq!(given(&recall(&store.engine, ASKED)), first, "without a session nothing is noted");
    let change = RecordUpdate { importance: Some(9), ..RecordUpdate::default() };
    store.engine.viewed_by(&Viewer::OWNER).update(first[0], &change).unwrap();
    assert!(in_session(&store.engine, "one", ASKED).contains(&first[0]), "it has changed");
    store.engine.forget_recalled("one").unwrap();
    assert_eq!(in_session(&store.engine, "one", ASKED), first);
}

#[test]
#[ignore = "the next runs it in another process"]
fn another_opener_recalls_in_the_same_session() {
    let Some(folder) = std::env::var_os("MEMORIST_TEST_RECALL") else { return };
    let engine = words_only().open(folder.as_ref()).unwrap();
    eprintln!("given: {:?}", in_session(&engine, "one", ASKED));
}

#[test]
fn another_process_knows_what_a_session_has() {
    let (store, _) = harbour();
    let mut has = in_session(&store.engine, "one", ASKED);
    let name = "recall::another_opener_recalls_in_the_same_session";
    let output = another_process(name).env("MEMORIST_TEST_RECALL", store.folder.path()).output().unwrap();
    let said = text(&output.stderr).to_owned();
    let ids = said.split("given: [").nth(1).unwrap_or_else(|| panic!("{said}")).split(']').next().unwrap();
    let other: Vec<&str> = ids.split([',', ' ']).filter(|part| !part.is_empty()).collect();
    assert!(has.iter().all(|id| !other.contains(&&*format!("RecordId({id})"))), "{has:?} {other:?}");
    has.extend(in_session(&store.engine, "one", ASKED));
    assert!(has.iter().all(|id| has.iter().filter(|other| *other == id).count() == 1), "{has:?}");
}

#[test]
fn the_turns_of_the_session_that_asks_do_not_come() {
    let store = Store::new(words_only());
    let say = |session: &str| {
        let turn = NewRecord {
            kind: Kind::Conversation,
            session: Some(session.into()),
            ..NewRecord::new("The harbour office of Wick opens at nine on weekdays")
        };
        store.engine.add(&turn).unwrap().id
    };
    let [own, subagent, other] = ["one", "one/helper", "one and more"].map(say);
    let mut given = in_session(&store.engine, "one", ASKED);
    assert_eq!(given, [other]);
    given = in_session(&store.engine, "two", ASKED);
    assert_eq!(given.len(), 1, "copies");
    assert!([own, subagent, other].contains(&given[0]));
}

#[test]
fn a_viewer_is_given_what_it_sees() {
    let (store, ids) = harbour();
    let hidden = NewRecord {
        scope: memorist_engine::types::Scope { project: Some("wick".into()), agent: None },
        ..NewRecord::new("The harbour office of Wick opens at six on weekdays in summer")
    };
    let hidden = store.engine.add(&hidden).unwrap().id;
    let of = |viewer: Viewer| {
        let request = RecallRequest { filter: Filter::of(viewer), ..RecallRequest::new(ASKED) };
        given(&store.engine.recall(&request).unwrap())
    };
    assert!(of(Viewer::in_project("wick")).contains(&hidden));
    let elsewhere = of(Viewer::in_project("thurso"));
    assert!(!elsewhere.is_empty() && elsewhere.iter().all(|id| ids.contains(id)), "{elsewhere:?}");
}

#[test]
fn a_recall_is_no_access_and_no_search() {
    let (store, ids) = harbour();
    assert!(!in_session(&store.engine, "one", ASKED).is_empty());
    let store = store.reopen(words_only());
    let engine = &store.engine;
    assert_eq!(engine.searches(&SearchesQuery::new(Viewer::OWNER)).unwrap(), []);
    assert!(ids.iter().all(|id| engine.viewed_by(&Viewer::OWNER).get(*id).unwrap().unwrap().access_count == 0));
}

#[test]
fn the_number_and_the_tokens_are_kept() {
    let store = Store::new(words_only());
    for name in ["Ana", "Bo", "Cleo", "Dag", "Eve"] {
        let more = "and walks along the quay as far as the lighthouse every evening ".repeat(40);
        store.add(&format!("The harbour master {name} lives in house {} {more}", name.len() * 7 + name.len()));
    }
    let of = |max_results, max_tokens| {
        let request =
            RecallRequest { max_results, max_tokens, ..RecallRequest::new("in which house lives the harbour master?") };
        store.engine.recall(&request).unwrap()
    };
    assert_eq!(of(2, 500).memories.len(), 2);
    for most in [20, 100, 200, 500] {
        let recall = of(5, most);
        assert!((1..=most).contains(&recall.tokens), "{} of {most}", recall.tokens);
    }
}

/// Ten megabytes, NULs, lone surrogates as JSON writes them, and our own block: nothing is refused, and nothing panics.
#[test]
fn any_message_is_looked_at() {
    let (store, ids) = harbour();
    let filler = "lorem ipsum dolor ".repeat(600_000);
    let strange = [
        format!("{filler}\n{ASKED}"),
        format!("\0{ASKED}\0"),
        format!("<memorist-recall>{filler}</memorist-recall> {ASKED}"),
    ];
    for message in &strange[1..] {
        let given = given(&recall(&store.engine, message));
        assert!(given.contains(&ids[0]) || given.contains(&ids[1]), "{} bytes", message.len());
    }
    recall(&store.engine, &strange[0]);
    for nothing in ["", "\0", "<memorist-recall>The harbour office of Wick", "\u{fffd}\u{fffd}", "🦀", "\u{202e}"] {
        assert!(recall(&store.engine, nothing).is_silent(), "{nothing:?}");
    }
    let request = RecallRequest { max_results: 0, ..RecallRequest::new(ASKED) };
    assert!(store.engine.recall(&request).unwrap_err().to_string().contains("max_results"));
}

/// Others hold the store: the recall comes, and soon; it may come again.
#[test]
fn recall_works_without_noting_while_the_store_is_locked() {
    let (store, _) = harbour();
    let first = in_session(&store.engine, "zero", ASKED);
    let other = rusqlite::Connection::open(store.folder.path().join("memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let started = Instant::now();
    assert_eq!(in_session(&store.engine, "one", ASKED), first);
    assert!(started.elapsed() < Duration::from_millis(2_000), "{:?}", started.elapsed());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(in_session(&store.engine, "one", ASKED), first, "it was not noted");
}

#[test]
fn the_command_prints_the_block_or_says_that_nothing_is_known() {
    let (store, _) = harbour();
    let Store { engine, folder } = store;
    engine.close();
    let run = |arguments: &[&str]| memorist(folder.path(), arguments).output().unwrap();
    let said = run(&["recall", "when does the harbour office", "of Wick open on weekdays?", "--session", "s"]);
    let block = text(&said.stdout);
    assert!(
        block.starts_with("<memorist-recall>\n")
            && block.contains(": The harbour office of Wick opens")
            && said.status.success(),
        "{block}"
    );
    let nothing = run(&["recall", "go on"]);
    assert_eq!((text(&nothing.stdout), nothing.status.code()), ("", Some(0)));
    assert!(text(&nothing.stderr).contains("no relevant memories"), "{}", text(&nothing.stderr));
    let json: Value = document(&run(&["recall", ASKED, "--json", "--max-results", "1", "--max-tokens", "150"]));
    assert_eq!(json["memories"].as_array().unwrap().len(), 1);
    assert!(json["tokens"].as_i64().unwrap() <= 150 && json["context"].as_str().unwrap().contains("#"), "{json}");
    assert_eq!(document(&run(&["recall", ASKED, "--json", "--min-relevance", "1"]))["context"], Value::Null);
    assert_eq!(run(&["recall", ASKED, "--min-relevance", "2"]).status.code(), Some(2));
    // What finds no room is not noted: it comes when there is some.
    let within = |session: &str, tokens: &str| {
        let asked = run(&["recall", ASKED, "--json", "--session", session, "--max-tokens", tokens]);
        document(&asked)["memories"].clone()
    };
    assert_eq!(within("narrow", "50"), Value::Array(Vec::new()));
    assert_eq!(within("narrow", "500"), within("wide", "500"));
    assert_ne!(within("narrow", "500"), within("fresh", "500"), "nothing twice");
    let mut piped = memorist(folder.path(), &["recall", "-"]);
    let mut piped = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = piped.stdin.take().unwrap();
    stdin.write_all(&[ASKED.as_bytes(), b" \xff\xed\xa0\x80"].concat()).unwrap();
    drop(stdin);
    let output = piped.wait_with_output().unwrap();
    assert!(text(&output.stdout).contains("<memorist-recall>") && output.status.success());
}
