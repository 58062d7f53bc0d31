//! `memorist add`: save a memory.

use memorist_engine::types::{Kind, NewRecord};

use super::App;
use super::app::{self, Maintenance, text_or_stdin};
use super::deadline;
use crate::args::Add;
use crate::exit::{Failure, Outcome};
use crate::ops;
use crate::wire::{AddParams, AddResult, Int};

pub fn run(app: &App, args: Add) -> Outcome {
    let params = params(args)?;
    let engine = app.engine(Maintenance::Off)?;
    let result = ops::add(&engine, &app.settings().context, params)?;
    let project = app.settings().context.defaults.project();
    app.output().result(&result, |result| text(result, project))?;
    result.warnings.iter().for_each(|warning| app.output().note(warning));
    deadline::settle(engine, result.embedding);
    Ok(0)
}

fn params(args: Add) -> Result<AddParams, Failure> {
    let fields = args.fields;
    let text = args.text.map(text_or_stdin).transpose()?;
    let body = fields.body.map(app::body).transpose()?;
    let content = match (text, &body) {
        (Some(text), _) => text,
        // clap makes sure that one of the two is there.
        (None, body) => {
            NewRecord::of_body(fields.kind.unwrap_or(Kind::Fact), body.clone().unwrap_or_default())?.content
        }
    };
    Ok(AddParams {
        content,
        entry_type: fields.kind,
        source: fields.source,
        context: fields.context,
        confidence: fields.confidence,
        importance: fields.importance,
        tags: Some(fields.tags),
        expires_at: fields.expires_at,
        valid_from: fields.valid_from,
        valid_to: fields.valid_to,
        status: fields.status,
        due: fields.due,
        supersedes: some(args.supersedes),
        contradicts: some(args.contradicts),
        related: some(args.related),
        body,
        metadata: fields.metadata.map(app::metadata).transpose()?,
        session: args.session,
        turn: args.turn.map(Int),
        ..AddParams::default()
    })
}

fn some(ids: Vec<i64>) -> Option<Vec<Int>> {
    Some(ids.into_iter().map(Int).collect::<Vec<_>>()).filter(|ids| !ids.is_empty())
}

fn text(result: &AddResult, project: Option<&str>) -> String {
    let id = result.id;
    match project {
        _ if !result.created => format!("memory {id} has this text already"),
        Some(project) => format!("saved as memory {id} in project {project}"),
        None => format!("saved as memory {id}"),
    }
}
