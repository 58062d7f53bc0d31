//! `memorist doctor`: do records, vectors and keywords agree, and what can be salvaged if not? And how do the agents of this
//! machine stand?

use std::collections::BTreeSet;

use memorist_engine::Salvage;
use memorist_engine::doctor::{Check, Diagnosis};
use memorist_engine::types::RecordId;
use serde_json::{Value, json};

use super::app::Maintenance;
#[cfg(feature = "team")]
use super::standing::TeamStatus;
use super::{App, clients, format};
use crate::args::{Doctor, Global};
use crate::exit::{Kind, Outcome};
use crate::wording;

/// Ids named in a line of text; `--json` names all.
const NAMED: usize = 20;

/// Runs the command. Its exit code says whether the store is sound.
pub fn run(app: &App, args: &Doctor, global: &Global) -> Outcome {
    if let Some(why) = app.missing_store() {
        return without_store(app, &why, global);
    }
    let bars = app.bars()?;
    let diagnosis = memorist_engine::examine(&app.settings().store, app.config(Maintenance::Off), args.repair, &bars)?;
    drop(bars);
    let server = server(app);
    let sound = diagnosis.is_sound() && server.is_sound;
    let clients = clients::all(global, &app.settings().store);
    let mut document = document(&diagnosis);
    document["clients"] = clients.document();
    if let Some(server) = server.document {
        document["server"] = server;
    }
    app.output()
        .result(&document, |_| [vec![text(&diagnosis)], server.lines, vec![clients.text()]].concat().join("\n"))?;
    Ok(if sound { 0 } else { Kind::Store.code() })
}

/// The server of a team store.
struct ServerReport {
    is_sound: bool,
    document: Option<Value>,
    lines: Vec<String>,
}

#[cfg(feature = "team")]
fn server(app: &App) -> ServerReport {
    let standing = TeamStatus::of(app);
    ServerReport { is_sound: standing.is_sound(), document: standing.document(), lines: standing.lines() }
}

#[cfg(not(feature = "team"))]
fn server(_app: &App) -> ServerReport {
    ServerReport { is_sound: true, document: None, lines: Vec::new() }
}

/// How the agents stand, where there is no store. Nothing is wrong with that, unless somebody has named one.
fn without_store(app: &App, why: &str, global: &Global) -> Outcome {
    let is_sound = !app.settings().store_is_named;
    let clients = clients::all(global, &app.settings().store);
    let checks = json!([{ "name": "store", "ok": is_sound, "details": [why] }]);
    let document = json!({ "ok": is_sound, "checks": checks, "clients": clients.document() });
    app.output().result(&document, |_| {
        let verdict = if is_sound { "not there yet" } else { "NOT THERE" };
        let lines = lines_of("store", verdict.to_owned(), vec![why.to_owned()]);
        lines.chain([clients.text()]).collect::<Vec<_>>().join("\n")
    })?;
    Ok(if is_sound { 0 } else { Kind::Store.code() })
}

fn document(diagnosis: &Diagnosis) -> Value {
    let checks: Vec<_> = diagnosis
        .checks
        .iter()
        .map(|check| json!({ "name": check.name, "ok": check.ok, "details": details(check) }))
        .collect();
    let mut document = json!({ "ok": diagnosis.is_sound(), "checks": checks });
    if let Some(salvage) = &diagnosis.salvage {
        document["salvage"] = json!({
            "repaired": salvage.kept.is_some(),
            "memories": salvage.total(),
            "saved": salvage.records,
            "doubtful": salvage.doubtful,
            "unreadable": salvage.unreadable,
            "deleted": salvage.deleted,
            "versionsLost": salvage.versions_lost,
            "linksLost": salvage.links_lost,
            "toEmbed": salvage.to_embed,
            "damagedFile": salvage.kept.as_ref().map(|kept| &kept.damaged),
            "doubtfulFile": salvage.kept.as_ref().and_then(|kept| kept.doubtful.as_ref()),
        });
    }
    document
}

fn text(diagnosis: &Diagnosis) -> String {
    let mut lines: Vec<_> = diagnosis
        .checks
        .iter()
        .flat_map(|check| {
            let verdict = if check.ok { "ok" } else { "NOT OK" };
            lines_of(&check.name, verdict.to_owned(), details(check))
        })
        .collect();
    if let Some(salvage) = &diagnosis.salvage {
        let (head, details) = report(salvage);
        lines.extend(lines_of(if salvage.kept.is_some() { "saved" } else { "can be saved" }, head, details));
    }
    lines.join("\n")
}

/// The details of a check, and the way out.
fn details(check: &Check) -> Vec<String> {
    let remedy = check.remedy.map(|remedy| format!("fix: {}", wording::command(remedy)));
    check.details.iter().cloned().chain(remedy).collect()
}

fn lines_of(name: &str, head: String, details: Vec<String>) -> impl Iterator<Item = String> {
    let head = format!("{name:<12} {head}");
    std::iter::once(head).chain(details.into_iter().map(|detail| format!("{:<12} {detail}", "")))
}

/// Counts the records that were salvaged, or can be.
fn report(salvage: &Salvage) -> (String, Vec<String>) {
    let head = format!("{} of {}", format::thousands(salvage.records), format::memories(salvage.total()));
    let mut details = Vec::new();
    if !salvage.doubtful.is_empty() {
        details.push(format!("not salvaged, inconsistent: {}", ids(&salvage.doubtful)));
    }
    if !salvage.unreadable.is_empty() {
        details.push(format!("not salvaged, unreadable: {}", ids(&salvage.unreadable)));
    }
    if salvage.deleted > 0 {
        details.push(format!("deleted, still restorable: {}", format::memories(salvage.deleted)));
    }
    if !salvage.versions_lost.is_empty() {
        details.push(format!("without an earlier version: {}", ids(&salvage.versions_lost)));
    }
    if salvage.links_lost > 0 {
        details.push(format!("links not salvaged: {}", format::thousands(salvage.links_lost)));
    }
    if salvage.to_embed > 0 {
        details.push(format!("to be embedded again: {}", format::memories(salvage.to_embed)));
    }
    if let Some(kept) = &salvage.kept {
        details.push(format!("damaged database kept at: {}", kept.damaged.display()));
        if let Some(file) = &kept.doubtful {
            details.push(format!("inconsistent rows, one per line with the reason: {}", file.display()));
        }
    }
    (head, details)
}

/// `3 (17, 20, 31)`.
fn ids<'a>(all: impl IntoIterator<Item = &'a RecordId>) -> String {
    let all: BTreeSet<_> = all.into_iter().collect();
    let named: Vec<_> = all.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if all.len() > NAMED { ", ..." } else { "" };
    format!("{} ({}{more})", format::thousands(all.len() as u64), named.join(", "))
}
