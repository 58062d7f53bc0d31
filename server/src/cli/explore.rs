//! `memorist explore`: the memory in a browser.

use super::App;
use crate::args::Explore;
use crate::exit::Outcome;
use crate::explorer::{self, ExplorerOptions};

pub fn run(app: &App, args: &Explore) -> Outcome {
    // The page can save the first memory, unless it only reads.
    if args.read_only {
        app.require_store()?;
    }
    let options = ExplorerOptions { port: args.port, open: !args.no_open, read_only: args.read_only };
    explorer::run(app.settings().clone(), options)
}
