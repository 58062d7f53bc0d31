//! How the agents of this machine stand: a part of `memorist doctor`.

use memorist_clients::Client;
use memorist_clients::connect::{self, Ledger, State, Status};
use serde_json::{Value, json};

use super::connect::Setting;
use crate::args::Global;
use crate::exit::Failure;

/// How each client of this machine stands, or why nobody knows.
pub struct Clients(Result<Vec<Status>, String>);

/// All that are found.
pub fn all(global: &Global) -> Clients {
    Clients(statuses(global).map_err(|failure| failure.to_string()))
}

fn statuses(global: &Global) -> Result<Vec<Status>, Failure> {
    let setting = Setting::this(global, Vec::new())?;
    let ledger = Ledger::read(&setting.ledger).map_err(|error| Failure::input(error.to_string()))?;
    Ok(Client::ALL.into_iter().filter_map(|client| connect::status(client, &ledger, &setting.around())).collect())
}

impl Clients {
    /// The structured result.
    pub fn document(&self) -> Value {
        match &self.0 {
            Ok(all) => json!(all),
            Err(why) => json!({ "problem": why }),
        }
    }

    /// A line for each, and more where something is wrong.
    pub fn text(&self) -> String {
        let all = match &self.0 {
            Err(why) => return format!("clients      {why}"),
            Ok(all) if all.is_empty() => return "clients      none was found on this machine".to_owned(),
            Ok(all) => all,
        };
        let mut lines = Vec::new();
        for status in all {
            lines.push(format!("{:<14} {}", status.client.name(), head(status)));
            lines.extend(status.remarks.iter().map(|remark| format!("{:<14} {remark}", "")));
            for problem in &status.problems {
                lines.push(format!("{:<14} PROBLEM in {}: {}", "", problem.path.display(), problem.what));
                lines.push(format!("{:<14} way out: {}", "", problem.way_out));
            }
        }
        if all.iter().any(|status| status.registered == State::No && status.problems.is_empty()) {
            lines.push("`memorist connect` registers what is not registered".to_owned());
        }
        lines.join("\n")
    }
}

fn head(status: &Status) -> String {
    let registered = match status.registered {
        State::Yes => "registered",
        State::ByHand => "registered by hand",
        State::Edited => "registered, and edited by hand since",
        State::Partly => "registered in some of its files",
        State::No => "not registered",
    };
    let hooked = match status.hooked {
        None => "has no hooks",
        Some(State::Yes) => "hooked",
        Some(State::ByHand) => "hooked by hand",
        Some(State::Edited) => "hooked, and edited by hand since",
        Some(State::Partly) => "hooked at some events",
        Some(State::No) => "not hooked",
    };
    format!("{registered}, {hooked}")
}
