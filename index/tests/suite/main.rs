//! The index as its callers see it.
//!
//! | module | question |
//! |---|---|
//! | `recall` | does it find what an exact scan finds: after merges, deletes, churn, on one thread and several? |
//! | `unusual` | does it keep the promise of a recall for data and queries unlike most? |
//! | `near_duplicates` | does it distinguish what hardly differs? |
//! | `merges` | does a merge lose anything of a graph that little is left of, or that was built with other options? |
//! | `filters` | does it find the nearest allowed vectors, however few are allowed? |
//! | `bounds` | the smallest, largest, emptiest and worst input |
//! | `model` | random operations against a map |
//! | `publish` | does a crash, a full disk or a racing reader see the old or the new, and nothing else? |
//! | `writers` | is there one writer of a folder at a time? |
//! | `progress` | does a merge report progress all the time, and end when it is stopped? |
//! | `damage` | is damage found, and harmless where it is not looked for? |
//! | `compatibility` | can files of every version still be read, and are later ones refused? |
//! | `real` | the same on real embeddings, where they are available |

#![expect(clippy::print_stdout, reason = "a test that fails shows what it has measured")]

/// Makes two tests of each function that takes a layout.
macro_rules! in_both_layouts {
    ($($test:ident),* $(,)?) => {
        mod standard {
            $(#[test] fn $test() { super::$test(memorist_index::Layout::Standard); })*
        }
        mod compact {
            $(#[test] fn $test() { super::$test(memorist_index::Layout::Compact); })*
        }
    };
}

mod bounds;
mod compatibility;
mod damage;
mod filters;
mod merges;
mod model;
mod near_duplicates;
mod progress;
mod publish;
mod real;
mod recall;
mod support;
mod unusual;
mod writers;
