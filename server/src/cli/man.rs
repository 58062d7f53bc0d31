//! `memorist man`: the manual pages of all commands, made of what `--help` says.

use std::fs;

use clap::{Command, CommandFactory};
use serde_json::json;

use super::App;
use crate::args::{Cli, Man};
use crate::exit::{Failure, Outcome};

/// Runs the command. `version` is what `--version` says.
pub fn run(app: &App, args: &Man, version: &'static str) -> Outcome {
    let folder = &args.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(whole(Cli::command().version(version)), folder))
        .map_err(|error| Failure::file(folder, &error))?;
    let page = folder.join("memorist.1");
    app.output().result(&json!({ "folder": folder }), |_| format!("`man {}` shows the first page", page.display()))?;
    Ok(0)
}

/// A command as a page shows it: with the options that the short help leaves out.
fn whole(command: Command) -> Command {
    let command = command.subcommand_value_name("COMMAND").subcommand_help_heading("COMMANDS").mut_subcommands(whole);
    command.mut_args(|argument| match (argument.get_long_help(), argument.get_help()) {
        (None, Some(help)) => {
            let help = help.clone();
            argument.long_help(help)
        }
        _ => argument,
    })
}
