//! How the server of a team store stands, and this machine's copy: a part of `memorist doctor`.

use memorist_engine::NodeState;
use memorist_engine::team::{ServerStatus, TeamServer};
use serde_json::{Value, json};

use super::app::Maintenance;
use super::{App, format};
use crate::exit::Failure;
use crate::wording::Worded;

/// How the server stands, or why nobody knows; nothing where the records are in a folder.
pub struct TeamStatus(Option<Result<(ServerStatus, Option<NodeState>), String>>);

impl TeamStatus {
    /// Asks the server, and brings the copy up to date.
    pub fn of(app: &App) -> Self {
        let Some(team) = &app.settings().engine.team else { return TeamStatus(None) };
        let asked = TeamServer::new(team.address.clone()).status().map_err(|error| error.worded());
        TeamStatus(Some(asked.and_then(|status| {
            let node = node(app).map_err(|failure| failure.to_string())?;
            Ok((status, node))
        })))
    }

    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        !matches!(&self.0, Some(Err(_))) && self.error().is_none()
    }

    fn error(&self) -> Option<&str> {
        let (_, node) = self.0.as_ref()?.as_ref().ok()?;
        node.as_ref()?.error.as_deref()
    }

    /// The structured result, if there is a server.
    pub fn document(&self) -> Option<Value> {
        Some(match self.0.as_ref()? {
            Err(why) => json!({ "reachable": false, "problem": why }),
            Ok((status, node)) => {
                let age = node.as_ref().and_then(|node| node.age);
                let mut document = status_document(status);
                document["reachable"] = json!(true);
                document["copyAgeMillis"] = json!(age.map(|age| age.as_millis() as u64));
                document["clockAheadMillis"] = json!(node.as_ref().map(|node| node.clock_ahead));
                document["problem"] = json!(self.error());
                document
            }
        })
    }

    /// Lines for people.
    pub fn lines(&self) -> Vec<String> {
        let Some(standing) = &self.0 else { return Vec::new() };
        let line = |name: &str, text: String| format!("{name:<12} {text}");
        match standing {
            Err(why) => vec![line("team server", format!("NOT OK: {why}"))],
            Ok((status, node)) => {
                let verdict = if self.is_sound() { "ok" } else { "NOT OK" };
                let timeline = status.incarnation.timeline.map_or("-".to_owned(), |timeline| timeline.to_string());
                let mut lines = vec![
                    line("team server", verdict.to_owned()),
                    line(
                        "",
                        format!(
                            "PostgreSQL {}, format {}, timeline {timeline}, started {}",
                            status.version,
                            status.format,
                            format::time(Some(status.incarnation.started_at))
                        ),
                    ),
                    line("", format!("nodes seen: {}", status.nodes.len())),
                ];
                if let Some(age) = node.as_ref().and_then(|node| node.age) {
                    let age = u64::try_from(age.as_micros()).unwrap_or(u64::MAX);
                    lines.push(line("", format!("the local replica is {} old", format::micros(age))));
                }
                lines.extend(self.error().map(|why| line("", format!("this machine does not replicate: {why}"))));
                lines.extend(status.warnings().into_iter().map(|warning| line("", format!("warning: {warning}"))));
                lines
            }
        }
    }
}

fn node(app: &App) -> Result<Option<NodeState>, Failure> {
    let engine = app.engine(Maintenance::Off)?;
    // Whatever reads pulls first.
    engine.stats(&Default::default())?;
    let node = engine.node();
    engine.close();
    Ok(node)
}

/// The status of a server as JSON.
pub fn status_document(status: &ServerStatus) -> Value {
    let nodes = status
        .nodes
        .iter()
        .map(|node| json!({ "name": node.name, "version": node.version, "seenAt": format::time(Some(node.seen_at)) }));
    json!({
        "version": status.version,
        "storeId": status.store_id,
        "format": status.format,
        "minReader": status.min_reader,
        "incarnation": {
            "system": status.incarnation.system,
            "timeline": status.incarnation.timeline,
            "startedAt": format::time(Some(status.incarnation.started_at)),
        },
        "memories": status.memories,
        "bytes": status.bytes,
        "isStandby": status.is_standby,
        "standbys": {
            "following": status.standbys.following,
            "synchronous": status.standbys.synchronous,
            "awaited": status.standbys.are_awaited,
        },
        "synchronousCommit": status.synchronous_commit,
        "nodes": nodes.collect::<Vec<_>>(),
        "tokens": status.tokens,
        "warnings": status.warnings(),
    })
}
