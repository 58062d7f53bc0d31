//! `memorist completions`: a completion script for a shell.

use clap::CommandFactory;

use super::App;
use crate::args::{Cli, Completions};
use crate::exit::Outcome;

pub fn run(app: &App, args: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "memorist", &mut script);
    app.output().own(&script)?;
    Ok(0)
}
