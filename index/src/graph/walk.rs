//! Walks over a graph: down the upper levels, then a beam on one level (algorithms 2 and 5 of the HNSW paper).

use std::cmp::Reverse;

use super::Links;
use super::codes::{Codes, QueryCodes};
use super::ranked::Ranked;
use super::scratch::Scratch;
use crate::Slot;

/// Goes from `start` to the most similar slot that greedy steps reach, on each of `levels` in turn.
pub(crate) fn descend(
    links: &impl Links,
    codes: &Codes<'_>,
    query: QueryCodes<'_>,
    start: Slot,
    levels: impl Iterator<Item = u8>,
) -> Ranked {
    let mut best = Ranked::new(codes.similarity(query, start), start);
    for level in levels {
        loop {
            let here = best;
            links.each_neighbour(here.slot(), level, |slot| {
                if (slot as usize) < codes.count() {
                    best = best.max(Ranked::new(codes.similarity(query, slot), slot));
                }
            });
            if best == here {
                break;
            }
        }
    }
    best
}

/// Finds about the `ef` most similar slots on a level, from `start`; they are in the scratch's pool afterwards.
pub(crate) fn beam(
    links: &impl Links,
    codes: &Codes<'_>,
    query: QueryCodes<'_>,
    level: u8,
    ef: usize,
    start: Ranked,
    scratch: &mut Scratch,
) {
    let Scratch { visited, pool, fresh, .. } = scratch;
    visited.reset(codes.count());
    pool.reset(ef);
    visited.insert(start.slot());
    pool.insert(start);
    while let Some(slot) = pool.expand_next() {
        fresh.clear();
        links.each_neighbour(slot, level, |neighbour| {
            if visited.insert(neighbour) {
                codes.prefetch(neighbour);
                fresh.push(neighbour);
            }
        });
        if let Some(next) = pool.peek() {
            links.prefetch(next);
        }
        for &neighbour in fresh.iter() {
            pool.insert(Ranked::new(codes.similarity(query, neighbour), neighbour));
        }
    }
}

/// As [`beam`] on the lowest level, for the `ef` most similar slots that `accept` lets pass; the walk goes through the others.
/// They are in the scratch's `accepted` afterwards. Gives up, and returns false, after `budget` slots were looked at.
#[expect(clippy::too_many_arguments, reason = "a walk has that many sides, and one caller")]
pub(crate) fn filtered_beam(
    links: &impl Links,
    codes: &Codes<'_>,
    query: QueryCodes<'_>,
    ef: usize,
    start: Ranked,
    accept: impl Fn(Slot) -> bool,
    budget: usize,
    scratch: &mut Scratch,
) -> bool {
    let Scratch { visited, fresh, frontier, accepted, .. } = scratch;
    visited.reset(codes.count());
    frontier.clear();
    accepted.clear();
    visited.insert(start.slot());
    frontier.push(start);
    if accept(start.slot()) {
        accepted.push(Reverse(start));
    }
    let mut looked_at = 1;
    while let Some(here) = frontier.pop() {
        let is_full = accepted.len() >= ef;
        if is_full && accepted.peek().is_some_and(|&Reverse(worst)| here < worst) {
            break;
        }
        fresh.clear();
        links.each_neighbour(here.slot(), 0, |neighbour| {
            if visited.insert(neighbour) {
                codes.prefetch(neighbour);
                fresh.push(neighbour);
            }
        });
        if let Some(next) = frontier.peek() {
            links.prefetch(next.slot());
        }
        looked_at += fresh.len();
        if looked_at > budget {
            return false;
        }
        for &neighbour in fresh.iter() {
            let found = Ranked::new(codes.similarity(query, neighbour), neighbour);
            let worst = accepted.peek().map(|&Reverse(worst)| worst);
            if accepted.len() >= ef && worst.is_some_and(|worst| found < worst) {
                continue;
            }
            frontier.push(found);
            if accept(neighbour) {
                accepted.push(Reverse(found));
                if accepted.len() > ef {
                    accepted.pop();
                }
            }
        }
    }
    true
}
