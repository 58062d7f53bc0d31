//! `memorist chain`: the memories linked to a memory, as a tree.

use comfy_table::Table;

use super::app::Maintenance;
use super::{App, format, links, table};
use crate::args::Chain;
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{ChainHit, ChainParams, ChainResult, Int};

pub fn run(app: &App, args: &Chain) -> Outcome {
    let params = ChainParams {
        id: Int(args.id),
        direction: args.direction,
        max_depth: args.depth.map(Int),
        limit: args.limit.map(Int),
        max_tokens: args.max_tokens.map(Int),
        detail: args.detail,
        ..ChainParams::default()
    };
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::chain(&engine, &app.settings().context, params)?;
    engine.close();
    app.answer(&result, result.error.as_deref(), text)
}

fn text(chain: &ChainResult) -> String {
    let mut table = table::table(&["link", "id", "kind", "memory"]);
    if let Some((start, others)) = chain.results.split_first() {
        add(&mut table, String::new(), start);
        Tree { start: start.memory.id, others }.branch(&mut table, start.memory.id, "");
    }
    table::align_right(&mut table, &[1]);
    let count = format::memories(chain.results.len() as u64);
    let more = match &chain.warnings[..] {
        [] if chain.truncated => "; more with --limit".to_owned(),
        warnings => warnings.iter().map(|warning| format!("\nnote: {warning}")).collect(),
    };
    format!("{}\n{count}{more}", table.trim_fmt())
}

struct Tree<'a> {
    start: i64,
    others: &'a [ChainHit],
}

impl Tree<'_> {
    /// Adds what is one link away from the memory `id`, each with its own subtree.
    fn branch(&self, table: &mut Table, id: i64, before: &str) {
        let mut next = self.others.iter().filter(|hit| self.before(hit) == id).peekable();
        while let Some(hit) = next.next() {
            let (knot, stem) = if next.peek().is_some() { ("├─ ", "│  ") } else { ("└─ ", "   ") };
            let says = hit.path.last().map_or("", |step| links::says(step.link_type, step.direction));
            add(table, format!("{before}{knot}{says}"), hit);
            self.branch(table, hit.memory.id, &format!("{before}{stem}"));
        }
    }

    /// The previous memory on the path from the start.
    fn before(&self, hit: &ChainHit) -> i64 {
        hit.path.iter().rev().nth(1).map_or(self.start, |step| step.id)
    }
}

fn add(table: &mut Table, link: String, hit: &ChainHit) {
    let memory = &hit.memory;
    let text = memory.content.as_deref().map(links::line).unwrap_or_default();
    table::add_row(table, vec![link, memory.id.to_string(), memory.entry_type.to_string(), text]);
}
