//! `memorist team`: the server of a team store.

use std::path::Path;

use memorist_engine::Compared;
use memorist_engine::config::TeamSettings;
use memorist_engine::team::{Member, Migrated, NewToken, ServerStatus, TeamServer, Token};
use memorist_engine::types::{Reach, Rights, TokenRights};
use serde_json::{Value, json};

use super::app::Maintenance;
use super::standing::status_document;
use super::{App, format, table};
use crate::args::{Global, MemberCommand, TeamArgs, TeamCommand, TokenAdd, TokenCommand};
use crate::exit::{Failure, Outcome};
use crate::random;

pub fn run(app: &App, args: &TeamArgs, global: &Global) -> Outcome {
    let team = team(app)?;
    let server = TeamServer::new(team.address.clone());
    match &args.command {
        TeamCommand::Init => migrated(app, team, &server.init()?),
        TeamCommand::Migrate => migrated(app, team, &server.migrate()?),
        TeamCommand::Status => {
            let status = server.status()?;
            app.output().result(&status_document(&status), |_| status_text(team, &status))?;
            Ok(0)
        }
        TeamCommand::Resync => resync(app),
        TeamCommand::BaseBackup { folder } => base_backup(app, team, folder.as_deref()),
        TeamCommand::Vacuum => {
            server.rewrite()?;
            app.output().result(&json!({ "rewritten": true }), |_| {
                "the server's files no longer contain purged rows; its WAL, standbys, archives and backups do until \
                 they are removed"
                    .to_owned()
            })?;
            Ok(0)
        }
        TeamCommand::Member(member) => members(app, &server, &member.command),
        TeamCommand::Token(token) => match &token.command {
            TokenCommand::Add(args) => add_token(app, &server, args, global),
            TokenCommand::List => {
                let tokens = server.tokens()?;
                let document = json!({ "tokens": tokens.iter().map(token_document).collect::<Vec<_>>() });
                app.output().result(&document, |_| token_table(&tokens))?;
                Ok(0)
            }
            TokenCommand::Revoke { id } => {
                let revoked = server.revoke_token(*id)?;
                let missing = (!revoked).then(|| format!("no token {id}; `memorist team token list` shows the tokens"));
                app.answer(&json!({ "id": id, "revoked": revoked }), missing.as_deref(), |_| {
                    format!("revoked token {id}; nodes reject it within seconds")
                })
            }
        },
    }
}

fn team(app: &App) -> Result<&TeamSettings, Failure> {
    app.settings().engine.team.as_ref().ok_or_else(|| {
        Failure::input("not a team store; pass --store postgres://USER@HOST/DATABASE, or set `store` in memorist.toml")
    })
}

fn migrated(app: &App, team: &TeamSettings, migrated: &Migrated) -> Outcome {
    let Migrated { store_id, before, format } = migrated;
    let document = json!({ "storeId": store_id, "formatBefore": before, "format": format });
    app.output().result(&document, |_| {
        let address = &team.address;
        match before {
            0 => format!("{address} is a team store now: {store_id}, format {format}"),
            same if same == format => format!("{address} is a team store already: {store_id}, format {format}"),
            older => format!("{address}: upgraded from format {older} to format {format}"),
        }
    })?;
    Ok(0)
}

fn members(app: &App, server: &TeamServer, command: &MemberCommand) -> Outcome {
    let document = |members: &[Member]| {
        let all = members.iter().map(|member| json!({ "role": member.role, "projects": member.projects }));
        json!({ "members": all.collect::<Vec<_>>() })
    };
    match command {
        MemberCommand::Add { role, projects } => {
            let member = Member { role: role.clone(), projects: projects.clone() };
            server.admit(&member)?;
            app.output().result(&document(&[member]), |_| format!("{role} sees {}", projects.join(", ")))?;
        }
        MemberCommand::List => {
            let members = server.members()?;
            app.output().result(&document(&members), |_| match members.is_empty() {
                true => "only the owner of the tables; `memorist team member add` grants access to others".to_owned(),
                false => {
                    let line = |member: &Member| format!("{:<12} {}", member.role, member.projects.join(", "));
                    members.iter().map(line).collect::<Vec<_>>().join("\n")
                }
            })?;
        }
        MemberCommand::Remove { role } => {
            server.expel(role)?;
            app.output().result(&json!({ "removed": role }), |_| format!("{role} has no access any more"))?;
        }
    }
    Ok(0)
}

fn base_backup(app: &App, team: &TeamSettings, folder: Option<&Path>) -> Outcome {
    let folder = folder.or(team.images.as_deref()).ok_or_else(|| {
        Failure::input("name a folder for the base backup, or set `base_backup_folder` below [team] in memorist.toml")
    })?;
    let engine = app.engine(Maintenance::Off)?;
    let bars = app.bars()?;
    let bytes = engine.leave_image(folder, &bars)?;
    engine.close();
    drop(bars);
    app.output().result(&json!({ "folder": folder, "bytes": bytes }), |_| {
        format!(
            "wrote a base backup of {} to {}; it has every memory of the local replica",
            format::bytes(bytes),
            folder.display()
        )
    })?;
    Ok(0)
}

fn resync(app: &App) -> Outcome {
    let engine = app.engine(Maintenance::Off)?;
    let bars = app.bars()?;
    let compared = engine.compare_with_server(&bars)?;
    engine.close();
    drop(bars);
    let Compared { ranges, differed, lost, lost_links } = compared;
    let document = json!({ "ranges": ranges, "differed": differed, "lost": lost, "lostLinks": lost_links });
    app.output().result(&document, |_| {
        let mut text = match differed {
            0 => "the local replica matches the server".to_owned(),
            _ => format!("the local replica differed in {differed} of {ranges} ranges, and was repaired"),
        };
        if lost + lost_links > 0 {
            text += &format!(
                "\nthe server had lost {} and {lost_links} links: they are kept in a file that the log names",
                format::memories(lost)
            );
        }
        text
    })?;
    Ok(0)
}

fn status_text(team: &TeamSettings, status: &ServerStatus) -> String {
    let system = status.incarnation.system.as_deref().unwrap_or("-");
    let timeline = status.incarnation.timeline.map_or_else(|| "-".to_owned(), |timeline| timeline.to_string());
    let synchronous = match status.standbys.synchronous {
        Some(count) => format!("{count} synchronous"),
        None => "this user may not see which are synchronous".to_owned(),
    };
    let mut lines = vec![
        format!("team store   {} ({})", team.address, status.store_id),
        format!("server       PostgreSQL {}, system {system}, timeline {timeline}", status.version),
        format!("started      {}", format::time(Some(status.incarnation.started_at))),
        format!("tables       format {}, {}", status.format, format::bytes(status.bytes)),
        format!("memories     {}", format::thousands(status.memories)),
        format!(
            "standbys     {}, {synchronous}; synchronous_commit is {}",
            status.standbys.following, status.synchronous_commit
        ),
        format!("tokens       {}", status.tokens),
        format!("nodes        {}", status.nodes.len()),
    ];
    for node in &status.nodes {
        let seen = format::time(Some(node.seen_at));
        lines.push(format!("             {} (memorist {}), seen {seen}", node.name, node.version));
    }
    lines.extend(status.warnings().into_iter().map(|warning| format!("warning      {warning}")));
    lines.join("\n")
}

/// Only what was typed binds a token: what the settings say is about this machine.
fn add_token(app: &App, server: &TeamServer, args: &TokenAdd, global: &Global) -> Outcome {
    let typed = |name: &str, values: Vec<String>| match values.as_slice() {
        [one] if one.is_empty() || one == Reach::EVERY => Vec::new(),
        _ if global.typed.contains(&name) => values,
        _ => Vec::new(),
    };
    let projects = typed("project", args.projects.clone());
    let agent = typed("agent", global.agent.iter().cloned().collect()).pop();
    let rights = if args.read_only { Rights::Read } else { Rights::Write };
    let secret = random::token()?;
    let token = server.add_token(&NewToken {
        token: &secret,
        label: args.label.clone(),
        rights: TokenRights { projects, agent, rights },
        days: (!args.no_expiry).then_some(args.days),
    })?;
    let mut document = token_document(&token);
    document["token"] = json!(secret);
    app.output().result(&document, |_| {
        format!(
            "token {} for {}\n\n  {secret}\n\nit is shown only once; clients send it as \"Authorization: Bearer \
             TOKEN\"",
            token.id,
            bound(&token)
        )
    })?;
    Ok(0)
}

fn token_document(token: &Token) -> Value {
    let TokenRights { projects, agent, rights } = &token.rights;
    json!({
        "id": token.id,
        "label": token.label,
        "project": projects.first(),
        "projects": projects,
        "agent": agent,
        "rights": rights,
        "createdAt": format::time(Some(token.created_at)),
        "expiresAt": token.expires_at.map(|at| format::time(Some(at))),
        "expired": token.has_expired,
    })
}

/// `projects atlas and borealis, agent scribe, read only, until 2026-01-01T00:00:00Z`.
fn bound(token: &Token) -> String {
    let TokenRights { projects, agent, rights } = &token.rights;
    let mut parts = Vec::new();
    match projects.as_slice() {
        [] => {}
        [project] => parts.push(format!("project {project}")),
        projects => parts.push(format!("projects {}", projects.join(" and "))),
    }
    parts.extend(agent.as_ref().map(|name| format!("agent {name}")));
    if parts.is_empty() {
        parts.push("every project and agent".to_owned());
    }
    parts.extend((*rights == Rights::Read).then(|| "read only".to_owned()));
    parts.extend(token.expires_at.map(|at| format!("until {}", format::time(Some(at)))));
    parts.join(", ")
}

fn token_table(tokens: &[Token]) -> String {
    if tokens.is_empty() {
        return "no tokens; `memorist team token add` creates one".to_owned();
    }
    let mut table = table::table(&["id", "label", "for", "made", "state"]);
    for token in tokens {
        let state = if token.has_expired { "expired" } else { "valid" };
        let made = format::time(Some(token.created_at));
        table::add_row(
            &mut table,
            vec![token.id.to_string(), token.label.clone(), bound(token), made, state.to_owned()],
        );
    }
    table::align_right(&mut table, &[0]);
    table.trim_fmt()
}
