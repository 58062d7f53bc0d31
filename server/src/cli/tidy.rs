//! `memorist tidy`: what there is to tidy up, applied by choice, and undone as a whole.

use std::io::{self, Read};
use std::path::Path;

use memorist_durable::open_plain;
use memorist_engine::Engine;
use serde_json::json;

use super::app::Maintenance;
use super::{App, format, links};
use crate::args::Tidy;
use crate::exit::{Failure, Kind, Outcome};
use crate::wire::tidy::{Do, Proposal, TidyPlan, TidyResult, TidyRun};
use crate::{atomic_file, ops::tidy};

/// Bytes of a plan at most.
const MOST_BYTES: u64 = 256 << 20;
/// Proposals that are shown of many.
const NAMED: usize = 10;

pub fn run(app: &App, args: Tidy) -> Outcome {
    if args.only.is_some() && args.apply == Some(None) {
        let way_out = "write a plan with --out plan.json, and give --apply plan.json";
        return Err(Failure::input(format!("--only: needs a plan; {way_out}")));
    }
    let engine = app.existing(Maintenance::On)?;
    match (&args.apply, &args.undo) {
        (_, Some(run)) if run == "list" => app.output().result(&tidy::runs(&engine)?, |runs| listed(runs))?,
        (_, Some(run)) => {
            let bars = app.bars()?;
            let viewer = app.settings().context.defaults.own_viewer();
            let undone = tidy::undo(&engine, &viewer, run, &bars);
            drop(bars);
            app.output()
                .result(&undone?, |result| format!("undone: {}{}", proposals(result.done), left_alone(result)))?;
        }
        (Some(plan), None) => {
            if !apply(app, &engine, plan.as_deref(), &args)? {
                return Ok(Kind::Cancelled.code());
            }
        }
        (None, None) => show(app, &engine, &args)?,
    }
    engine.close();
    Ok(0)
}

/// Shows what there is to tidy up. Changes nothing.
fn show(app: &App, engine: &Engine, args: &Tidy) -> Result<(), Failure> {
    let viewer = app.settings().context.defaults.own_viewer();
    let bars = app.bars()?;
    let plan = tidy::plan(engine, &viewer, args.limit.into(), &bars)?;
    drop(bars);
    let file = match &args.out {
        None => return app.output().result(&plan, text),
        Some(file) if file == Path::new("-") => return app.output().document(&plan),
        Some(file) => file,
    };
    let failure = |error: serde_json::Error| Failure::file(file, &error.into());
    atomic_file::write(&app.settings().store, file, |out| serde_json::to_writer_pretty(out, &plan).map_err(failure))?;
    let apply = plan.proposals.iter().filter(|proposal| proposal.apply).count();
    let written = json!({ "file": file.display().to_string(), "proposals": plan.proposals.len(), "apply": apply });
    app.output().result(&written, |_| {
        let (count, file) = (proposals(plan.proposals.len() as u64), file.display());
        format!("{count} in {file}, of which {apply} would be applied; set \"apply\" where you agree, then: memorist tidy --apply {file}")
    })
}

/// Returns false if the person does not want to.
fn apply(app: &App, engine: &Engine, file: Option<&Path>, args: &Tidy) -> Result<bool, Failure> {
    let viewer = app.settings().context.defaults.own_viewer();
    let bars = app.bars()?;
    let plan = match file {
        Some(file) => read(file)?,
        None => tidy::copies(engine, &viewer, &bars)?,
    };
    let only = args.only.as_ref().map(|numbers| &numbers.0);
    let chosen = tidy::chosen(engine, &plan, only)?;
    if !chosen.is_empty() && !args.yes {
        let mut question = first(&chosen);
        question += &format!("Apply {}? `memorist tidy --undo` undoes it.", proposals(chosen.len() as u64));
        if !app.output().confirm(&question, "--yes")? {
            app.output().note("nothing was changed");
            return Ok(false);
        }
    }
    let applied = tidy::apply(engine, &viewer, &plan, only, &bars);
    drop(bars);
    app.output().result(&applied?, |result| {
        let way_back = result.run.as_ref().map_or_else(String::new, |run| {
            let them = if result.done == 1 { "it" } else { "them" };
            format!("; `memorist tidy --undo {run}` undoes {them}")
        });
        format!("applied: {}{way_back}{}", proposals(result.done), left_alone(result))
    })?;
    Ok(true)
}

fn read(file: &Path) -> Result<TidyPlan, Failure> {
    let mut json = String::new();
    let read = match file == Path::new("-") {
        true => io::stdin().lock().take(MOST_BYTES).read_to_string(&mut json),
        false => open_plain(file).and_then(|opened| opened.take(MOST_BYTES).read_to_string(&mut json)),
    };
    read.map_err(|error| Failure::file(file, &error))?;
    TidyPlan::parse(&json).map_err(|why| Failure::input(format!("{}: {why}", file.display())))
}

fn text(plan: &TidyPlan) -> String {
    let (certain, judged): (Vec<_>, Vec<_>) = plan.proposals.iter().partition(|proposal| proposal.apply);
    let mut text = String::new();
    if !certain.is_empty() {
        let hidden: usize = certain.iter().map(|proposal| proposal.memories.len() - 1).sum();
        text += &format!(
            "{} from searches:\n",
            number(
                hidden as u64,
                "memory has the text of another; `memorist tidy --apply` hides it",
                "memories have the texts of others; `memorist tidy --apply` hides them"
            )
        );
        text += &first(&certain);
    }
    if !judged.is_empty() {
        let more = if plan.more { " (there are more: --limit)" } else { "" };
        text += &format!(
            "{}{more}; `memorist tidy --out plan.json` writes a plan to decide in:\n",
            number(judged.len() as u64, "proposal needs a decision", "proposals need a decision")
        );
        judged.iter().for_each(|proposal| text += &described(proposal));
    }
    if plan.proposals.is_empty() {
        text += "nothing to tidy up\n";
    }
    let never: u64 = plan.never_found.values().sum();
    if never > 0 {
        let kinds: Vec<String> = plan.never_found.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let count = number(never, "memory was not found", "memories were not found");
        text += &format!("{count} for 90 days ({}); `memorist explore` lists them\n", kinds.join(", "));
    }
    text.truncate(text.trim_end().len());
    text
}

/// The first of many proposals.
fn first(proposals: &[&Proposal]) -> String {
    let mut text: String = proposals.iter().take(NAMED).map(|proposal| described(proposal)).collect();
    if proposals.len() > NAMED {
        text += &format!("        and {} more\n", format::thousands((proposals.len() - NAMED) as u64));
    }
    text
}

/// A proposal and its memories, a line each.
fn described(proposal: &Proposal) -> String {
    let mut text = format!("{:>6}  {}\n", proposal.n, proposal.why);
    for memory in &proposal.memories {
        let stays = proposal.r#do == Do::Supersede && proposal.keep == Some(memory.id);
        let mark = if stays { "keep" } else { "" };
        text += &format!("        {mark:>4} {:>8}  {}\n", memory.id, links::line(&memory.text));
    }
    text
}

fn left_alone(result: &TidyResult) -> String {
    result.left.iter().map(|left| format!("\nskipped:    {:>4}  {}", left.n, left.why)).collect()
}

fn listed(runs: &[TidyRun]) -> String {
    if runs.is_empty() {
        return "no runs yet".to_owned();
    }
    let line = |run: &TidyRun| match (&run.error, run.undone) {
        (Some(error), _) => format!("{}  cannot be read: {error}", run.run),
        (None, 0) => format!("{}  {}", run.run, proposals(run.applied)),
        (None, undone) => format!("{}  {}, {} undone", run.run, proposals(run.applied), format::thousands(undone)),
    };
    runs.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn proposals(count: u64) -> String {
    number(count, "proposal", "proposals")
}

fn number(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", format::thousands(count), if count == 1 { one } else { many })
}
