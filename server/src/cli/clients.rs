//! How the agents of this machine stand: a part of `memorist doctor`.

use std::path::Path;
use std::time::SystemTime;

use memorist_clients::Client;
use memorist_clients::connect::{self, Ledger, State, Status};
use memorist_engine::paths::StorePaths;
use serde::Serialize;
use serde_json::{Value, json};

use super::connect::Installation;
use crate::args::Global;
use crate::exit::Failure;
use crate::wire::When;

/// How each client of this machine stands, and when it last ran a hook; or why nobody knows.
pub struct ClientsReport(Result<Vec<ClientStanding>, String>);

/// How a client stands.
#[derive(Serialize)]
struct ClientStanding {
    #[serde(flatten)]
    status: Status,
    #[serde(rename = "lastCall", skip_serializing_if = "Option::is_none")]
    last_call: Option<When>,
}

/// All that are found, and their calls of the store in this folder.
pub fn all(global: &Global, store: &Path) -> ClientsReport {
    let standing = |status: Status| ClientStanding { last_call: last_call(store, status.client).map(When), status };
    let all = statuses(global).map(|all| all.into_iter().map(standing).collect());
    ClientsReport(all.map_err(|failure| failure.to_string()))
}

/// When the hooks of a client last called: the time of a file that they leave.
fn last_call(store: &Path, client: Client) -> Option<i64> {
    let file = StorePaths::new(store).hooks().join(format!("called-{client}"));
    let time = file.metadata().and_then(|found| found.modified()).ok()?;
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

fn statuses(global: &Global) -> Result<Vec<Status>, Failure> {
    let installation = Installation::this(global, Vec::new())?;
    let ledger = Ledger::read(&installation.ledger).map_err(|error| Failure::input(error.to_string()))?;
    Ok(Client::ALL
        .into_iter()
        .filter_map(|client| connect::status(client, &ledger, &installation.around(&[])))
        .collect())
}

impl ClientsReport {
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
        for ClientStanding { status, last_call } in all {
            let called = last_call.as_ref().map(|at| format!(", last call {at}")).unwrap_or_default();
            lines.push(format!("{:<14} {}{called}", status.client.name(), head(status)));
            for problem in &status.problems {
                lines.push(format!("{:<14} PROBLEM in {}: {}", "", problem.path.display(), problem.what));
                lines.push(format!("{:<14} fix: {}", "", problem.way_out));
            }
        }
        if all.iter().any(|ClientStanding { status, .. }| status.registered == State::No && status.problems.is_empty())
        {
            lines.push("`memorist connect` registers the missing ones".to_owned());
        }
        lines.join("\n")
    }
}

fn head(status: &Status) -> String {
    let registered = match status.registered {
        State::Yes => "registered",
        State::ByHand => "registered by hand",
        State::Edited => "registered, edited by hand since",
        State::Partly => "registered in some of its files",
        State::No => "not registered",
    };
    let hooked = match status.hooked {
        None => "has no hooks",
        Some(State::Yes) => "hooked",
        Some(State::ByHand) => "hooked by hand",
        Some(State::Edited) => "hooks registered, edited by hand since",
        Some(State::Partly) => "some hooks registered",
        Some(State::No) => "not hooked",
    };
    let trusted = match status.trusted {
        None => "",
        // The hash is of the hook as it was then.
        Some(true) => " and trusted (/hooks in Codex shows whether as they are now)",
        Some(false) => " but not trusted",
    };
    format!("{registered}, {hooked}{trusted}")
}
