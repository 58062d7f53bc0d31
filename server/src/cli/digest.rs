//! `memorist digest`: a summary of a project's memories.

use super::App;
use super::app::Maintenance;
use crate::args::Digest;
use crate::exit::Outcome;
use crate::ops;
use crate::wire::{self, DigestParams, Int};

pub fn run(app: &App, args: Digest) -> Outcome {
    let max_tokens = args.max_tokens.map(Int);
    let params = DigestParams { feature: args.feature, max_tokens, ..DigestParams::default() };
    let engine = app.existing(Maintenance::Off)?;
    let result = ops::digest(&engine, &app.settings().context, params)?;
    app.note_unfollowed(&engine)?;
    engine.close();
    app.output().result(&result, |digest| wire::markdown(digest).trim_end().to_owned())?;
    Ok(0)
}
