//! Rules 2 and 3: a search that begins after an acknowledgement, on any node, finds it; and nothing that it should not.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use memorist_engine::types::{EmbeddingState, Mode, NewRecord, Query, SearchReply};

use super::{make, node, setup};
use crate::process::WORDS;
use crate::support::{Store, number_from};
use crate::{filters, model, racing};

#[test]
fn acknowledged_writes_are_found_by_the_next_search_on_any_node() {
    const TEST: &str = "acknowledged_writes_are_found_by_the_next_search_on_any_node";
    let Some(cluster) = postgres_testing::shared(TEST) else { return };
    let team = cluster.database_from("memorist", make);
    let pooler = cluster.pgbouncer(TEST, team.name());
    let pooled = pooler.as_ref().map_or_else(|| team.address(), |pooler| pooler.address());
    let nodes = [team.address(), pooled.clone(), pooled].map(|address| node(&address));
    let span = Duration::from_secs(number_from("MEMORIST_TEAM_SECONDS", 4));
    let (by_words, by_meaning) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let started = Instant::now();
        for writer in 0..8 {
            let (nodes, by_words, by_meaning) = (&nodes, &by_words, &by_meaning);
            scope.spawn(move || {
                for at in 0.. {
                    if started.elapsed() > span {
                        break;
                    }
                    let text = format!("{} {} unique{writer}x{at}", WORDS[at % 8], WORDS[at / 8 % 8]);
                    let saved = nodes[writer % 3].engine.add(&NewRecord::new(text.clone())).unwrap();
                    let other = &nodes[(writer + 1 + at % 2) % 3];
                    let search =
                        |mode| other.engine.search(&Query { mode, limit: 3, ..Query::new(text.as_str()) }).unwrap();
                    let best = |reply: &SearchReply| reply.hits.first().map(|hit| hit.record.id);
                    let reply = search(Mode::Keyword);
                    assert_eq!(best(&reply), Some(saved.id), "{text}: {:?} {:?}", reply.tier, reply.warnings);
                    by_words.fetch_add(1, Ordering::Relaxed);
                    if saved.embedding == EmbeddingState::Ready {
                        assert_eq!(best(&search(Mode::Vector)), Some(saved.id), "{text}");
                        by_meaning.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let (by_words, by_meaning) = (by_words.into_inner(), by_meaning.into_inner());
    eprintln!("{by_words} found by words, {by_meaning} by meaning");
    assert!(by_words > 40 && by_meaning > 20);
}

#[test]
fn a_filter_holds_on_two_nodes_that_write() {
    let Some(cluster) = postgres_testing::shared("a_filter_holds_on_two_nodes_that_write") else { return };
    let team = cluster.database_from("memorist", make);
    let nodes: [Store; 2] = [node(&team.address()), node(&team.address())];
    racing::race(&nodes[0], &nodes[1].engine);
}

#[test]
fn each_filter_and_scope_means_the_same_on_another_node() {
    let Some(cluster) = postgres_testing::shared("each_filter_and_scope_means_the_same_on_another_node") else {
        return;
    };
    for compare in [filters::compare_filters, filters::compare_scopes, filters::refuse_invisible] {
        let team = cluster.database_from("memorist", make);
        compare(&node(&team.address()), &node(&team.address()));
    }
}

#[test]
fn two_nodes_find_what_a_plain_model_says() {
    let Some(cluster) = postgres_testing::shared("two_nodes_find_what_a_plain_model_says") else { return };
    // Each sequence begins with an empty store.
    let teams = RefCell::new(Vec::new());
    model::check(4, || {
        let team = cluster.database_from("memorist", make);
        let pair = model::Pair::of_two_folders(setup(&team.address()));
        teams.borrow_mut().push(team);
        pair
    });
}
