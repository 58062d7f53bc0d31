//! The passages of long texts: what the window leaves out waits, is embedded once, and goes with its record.

use super::*;
use crate::passages::{self, further};
use crate::records::rules::next_model::{MAX_UNEMBEDDED_AT_SWITCH, begin_next_model, change_model, store_next};
use crate::records::rules::passages::cut_some;
use crate::records::rules::refused::set_aside;
use crate::records::rules::update;
use crate::types::Model;

/// A text of so many paragraphs, each some forty words.
fn long(paragraphs: usize) -> String {
    let paragraph = |n: usize| (0..40).map(|word| format!("word{} ", n * 40 + word)).collect::<String>() + ".";
    (0..paragraphs).map(paragraph).collect::<Vec<_>>().join("\n\n")
}

fn passages_of(store: &impl Subject, id: RecordId) -> Vec<passages::Passage> {
    store.write(|tx| models::of_record(tx, id))
}

fn waiting(store: &impl Subject) -> i64 {
    store.number("SELECT count(*) FROM passages WHERE embedding_id IS NULL")
}

fn the_passages_of_a_text_wait_after_the_beginnings_of_all(store: &impl Subject) {
    let model = store.adopt(3);
    let in_context = NewRecord { context: Some("a title".into()), ..new(&long(20)) };
    let (first, second) = (store.add(&in_context, NOW), store.add(&new("short"), NOW));
    let cut = further(in_context.context.as_deref(), &in_context.content);
    assert!(cut.len() > 5);
    assert_eq!(passages_of(store, first.id), cut);
    assert_eq!(passages_of(store, second.id), []);
    let pending = store.pending(NOW);
    assert_eq!(pending.iter().map(|one| one.record_id).collect::<Vec<_>>()[..3], [first.id, second.id, first.id]);
    assert_eq!(pending.len(), 2 + cut.len());
    for (one, passage) in pending[2..].iter().zip(&cut) {
        let bytes = passage.bytes.clone();
        assert_eq!((one.text.clone(), one.hash), (format!("a title\n{}", &in_context.content[bytes]), passage.hash));
    }
    let before = store.head();
    assert_eq!(store.embed(model, 3), 2);
    assert_eq!(store.log(before), [first.id, second.id].map(|id| (id, Change::Embed { model })), "each once");
    assert_eq!((store.pending(NOW), waiting(store)), (vec![], 0));
    assert_eq!(store.add(&in_context, NOW).embedding, EmbeddingState::Ready);
    store.assert_sound();
}

fn equal_passages_are_embedded_once_and_an_edit_embeds_those_around_it(store: &impl Subject) {
    let model = store.adopt(3);
    let text = long(60);
    let ids =
        ["one", "two"].map(|project| store.add(&NewRecord { scope: scope(None, Some(project)), ..new(&text) }, NOW).id);
    let count = further(None, &text).len() as i64;
    assert_eq!(store.pending(NOW).len() as i64, 1 + count);
    store.embed(model, 3);
    assert_eq!(store.count("embeddings"), 1 + count);
    let edited = text.replacen("word1200 ", "another word ", 1);
    store.update(ids[0], &content(&edited), NOW).unwrap();
    let changed = store.pending(NOW).len() as i64;
    assert!((2..=count / 2).contains(&changed), "{changed} of {count}");
    assert_eq!(store.embedding_state(ids[0]), EmbeddingState::Pending);
    store.embed(model, 3);
    store.assert_sound();
    // Those of the text before stay with the other record alone.
    store.delete(ids[1]);
    assert_eq!(store.count("embeddings"), 2 + further(None, &edited).len() as i64, "and its version's beginning");
    store.assert_sound();
}

fn nothing_is_left_of_passages_whose_record_is_gone_or_short(store: &impl Subject) {
    let model = store.adopt(3);
    let id = store.add(&new(&long(20)), NOW).id;
    store.embed(model, 3);
    let count = store.count("embeddings");
    store.update(id, &content("short"), NOW).unwrap();
    assert_eq!((store.count("passages"), store.count("embeddings")), (0, 1), "of the version before");
    store.assert_sound();
    update::roll_back(store.authority(), id, 1, None, None, &Viewer::OWNER, NOW).unwrap();
    assert_eq!(store.pending(NOW).len() as i64, count - 1, "the beginning is there still");
    store.embed(model, 3);
    store.assert_sound();
    store.delete(id);
    assert_eq!((store.count("passages"), store.count("embeddings")), (0, 0));
    trash::restore(store.authority(), id, &Viewer::OWNER, NOW).unwrap();
    assert_eq!(store.pending(NOW).len() as i64, count);
    store.embed(model, 3);
    store.assert_sound();
}

/// X5.
fn a_passage_that_is_refused_keeps_no_other_back(store: &impl Subject) {
    let model = store.adopt(3);
    let id = store.add(&new(&long(20)), NOW).id;
    let pending = store.pending(NOW);
    set_aside(store.authority(), model, &[(pending[2].hash, "no".to_owned())]).unwrap();
    assert_eq!(store.pending(NOW).len(), pending.len() - 1);
    store.embed(model, 3);
    assert_eq!((store.pending(NOW).len(), waiting(store)), (0, 1));
    let refused = store.write(|tx| models::refused(tx, NOW));
    assert_eq!(refused.iter().map(|one| (one.record_id, one.why.as_str())).collect::<Vec<_>>(), [(id, "no")]);
    store.assert_sound();
    store.delete(id);
    assert_eq!(store.number("SELECT count(*) FROM meta WHERE key = 'refused' AND value <> '{}'"), 0);
}

fn another_model_embeds_the_passages_too(store: &impl Subject) {
    let old = store.adopt(3);
    let (long, short) = (store.add(&new(&long(20)), NOW).id, store.add(&new("short"), NOW).id);
    store.embed(old, 3);
    let next = begin_next_model(store.authority(), &Model { weights_sha256: "e".repeat(64), ..super::model(2) });
    let next = next.unwrap().unwrap();
    let missing = |limit| store.write(|tx| models::missing(tx, next, RecordId::START, limit, NOW));
    let all = missing(99);
    assert_eq!(all.len() as i64, 2 + store.count("passages"));
    store_next(store.authority(), next, &vectors_of(&all[..4], 2)).unwrap();
    assert_eq!(missing(99), all[4..]);
    store_next(store.authority(), next, &vectors_of(&all[4..], 2)).unwrap();
    // An index that has all but one of the vectors: its record is indexed again.
    let keys = |id, number| passages::PassageKey::new(id, number).get();
    let indexed = (0..=passages_of(store, long).len() as u8).map(|number| keys(long, number)).chain([keys(short, 0)]);
    let indexed = indexed.filter(|key| *key != keys(long, 3)).collect();
    let before = store.head();
    assert!(change_model(store.authority(), next, Some(&indexed), MAX_UNEMBEDDED_AT_SWITCH, NOW).unwrap());
    assert_eq!(store.log(before), [(long, Change::Embed { model: next })]);
    assert_eq!((waiting(store), store.pending(NOW)), (0, vec![]));
    assert_eq!(store.count("embeddings") as usize, all.len());
    store.assert_sound();
}

/// The way of a store from before there were passages.
fn the_texts_of_before_are_cut_in_steps_and_nothing_is_embedded_again(store: &impl Subject) {
    let model = store.adopt(3);
    let texts = [long(20), "short".into(), long(30).replace("word", "other")];
    let ids = texts.each_ref().map(|text| store.add(&new(text), NOW).id);
    store.embed(model, 3);
    let beginnings = store.write(|tx| {
        let all = "DELETE FROM embeddings WHERE hash IN (SELECT hash FROM passages)";
        tx.execute(all, &[])?;
        tx.execute("DELETE FROM passages", &[])?;
        tx.execute("INSERT INTO meta (key, value) SELECT 'uncut', max(id) FROM records", &[])?;
        tx.all("SELECT id FROM embeddings ORDER BY id", &[], |row| row.get::<i64>(0))
    });
    store.assert_sound();
    assert_eq!((beginnings.len(), store.pending(NOW)), (3, vec![]));
    // One that is changed meanwhile is cut as it is now.
    store.update(ids[0], &content(&long(10)), NOW).unwrap();
    store.assert_sound();
    while cut_some(store.authority()).unwrap() {}
    assert!(!cut_some(store.authority()).unwrap());
    assert_eq!(store.number("SELECT count(*) FROM meta WHERE key = 'uncut'"), 0);
    store.assert_sound();
    let count = further(None, &long(10)).len() + further(None, &texts[2]).len();
    assert_eq!(store.pending(NOW).len(), 1 + count, "and the beginning that is new");
    store.embed(model, 3);
    assert_eq!(
        store.write(|tx| tx.all("SELECT id FROM embeddings ORDER BY id", &[], |row| row.get::<i64>(0)))[..3],
        beginnings
    );
    store.assert_sound();
    // Another version cuts all of them again.
    store.write(|tx| tx.execute("UPDATE meta SET value = 0 WHERE key = 'cutter'", &[]));
    store.write(|tx| tx.execute("UPDATE passages SET ends_at = ends_at - 1 WHERE record_id = ?1", &[ids[2].into()]));
    while cut_some(store.authority()).unwrap() {}
    assert_eq!(store.pending(NOW), [], "the texts are the same");
    store.assert_sound();
}

on_every_database![
    the_passages_of_a_text_wait_after_the_beginnings_of_all,
    equal_passages_are_embedded_once_and_an_edit_embeds_those_around_it,
    nothing_is_left_of_passages_whose_record_is_gone_or_short,
    ; of the owner:
    a_passage_that_is_refused_keeps_no_other_back,
    another_model_embeds_the_passages_too,
    the_texts_of_before_are_cut_in_steps_and_nothing_is_embedded_again,
];
