//! `memorist recall`: what a turn of an agent would be given.

use std::io::Read;
use std::path::Path;

use super::App;
use super::app::Maintenance;
use crate::args::Recall;
use crate::exit::{Failure, Outcome};
use crate::ops;
use crate::wire::{Int, RecallParams};

/// Bytes that are read of a message. Only its ends are looked at.
const MOST_BYTES: u64 = 64 << 20;

pub fn run(app: &App, args: Recall) -> Outcome {
    let params = RecallParams {
        user_message: message(&args.message.join(" "))?,
        recent_messages: Some(args.before),
        max_results: args.max_results.map(Int),
        max_tokens: args.max_tokens.map(Int),
        min_score: args.min_relevance,
        session: args.session,
        ..RecallParams::default()
    };
    let engine = app.existing(Maintenance::On)?;
    let result = ops::recall(&engine, &app.settings().context, params)?;
    engine.close();
    if !app.output().json {
        result.warnings.iter().for_each(|warning| app.output().note(warning));
    }
    match &result.context {
        None if !app.output().json => app.output().note("no relevant memories"),
        _ => app.output().result(&result, |result| result.context.clone().unwrap_or_default())?,
    }
    Ok(0)
}

/// The text of an argument, or of stdin when it is `-`, whatever bytes it has.
fn message(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock().take(MOST_BYTES);
    stdin.read_to_end(&mut bytes).map_err(|error| Failure::file(Path::new("stdin"), &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
