//! Answers hooks of clients, in the process of the hook and in a server alike.

use memorist_clients::Client;
use memorist_clients::hooks::{self, Event};
use memorist_engine::types::{DigestQuery, Filter, Kind, ListOnly, ListOrder, ListQuery, Record, RecordId, Viewer};
use memorist_engine::{Engine, Result};

use super::superseded;
use crate::wire::{self, HookRequest};

/// Most bytes that a hook prints.
pub const MOST_BYTES: usize = 2_048;
/// Memories below a heading of the text that a session starts with.
const SECTION: usize = 5;

/// The answer to a hook, and the memories that are noted once it is printed.
#[derive(Debug, Default)]
pub struct HookOutput {
    /// The output; `None` if there is nothing to say.
    pub text: Option<String>,
    /// The memories in it, with their versions, that are not to come again.
    pub given: Vec<(RecordId, i64)>,
}

/// Answers a hook. What its session was given is noted by [`delivered`].
pub fn answer(engine: &Engine, request: &HookRequest) -> Result<HookOutput> {
    let Ok(client) = request.client.parse::<Client>() else { return Ok(HookOutput::default()) };
    if let Some(session) = request.session.as_deref().filter(|_| request.lost_context) {
        // A store that others write to: then some memories do not come again.
        if let Err(error) = engine.forget_recalled(session) {
            tracing::warn!("the memories given to a session could not be reset: {error}");
        }
    }
    match request.event {
        Event::Prompt => recall(engine, client, request),
        // What is resumed begins with what it started with.
        Event::Start if !request.resumed => start(engine, client, request),
        Event::Before | Event::Failed => remind(engine, client, request),
        Event::Start | Event::Stop | Event::End | Event::Compact => Ok(HookOutput::default()),
    }
}

/// Notes what a session was given.
pub fn delivered(engine: &Engine, request: &HookRequest, answered: &HookOutput) -> Result<()> {
    match request.session.as_deref() {
        Some(session) => engine.note_recalled(session, &answered.given),
        None => Ok(()),
    }
}

fn recall(engine: &Engine, client: Client, request: &HookRequest) -> Result<HookOutput> {
    let Some(wanted) = request.recall() else { return Ok(HookOutput::default()) };
    let mut given = engine.recall_unnoted(&wanted)?;
    let mut shown = 0;
    let text = fitted(client, request.event, |most| {
        let (block, number) = wire::recall_block(&given, most)?;
        shown = number;
        Some(block)
    });
    given.memories.truncate(if text.is_some() { shown } else { 0 });
    Ok(HookOutput { text, given: given.given() })
}

/// The memory of exactly the file, the command or the error of an action, noted already. Without a session, it would come every
/// time: then there is none.
fn remind(engine: &Engine, client: Client, request: &HookRequest) -> Result<HookOutput> {
    let Some(session) = &request.session else { return Ok(HookOutput::default()) };
    let found = engine.viewed_by(&request.viewer()).remind(session, &request.subjects())?;
    let text = found.and_then(|found| fitted(client, request.event, |most| wire::reminder_block(&found, most)));
    Ok(HookOutput { text, given: Vec::new() })
}

/// The text that a session starts with: preferences, open tasks, and the decisions, patterns and bug fixes of the project.
fn start(engine: &Engine, client: Client, request: &HookRequest) -> Result<HookOutput> {
    let viewer = request.viewer();
    let project = viewer.project.name().map(str::to_owned);
    let preferences = preferences(engine, &viewer)?;
    let open = engine.list(&ListQuery {
        only: Some(ListOnly::Open),
        order: ListOrder::Due,
        limit: SECTION,
        filter: Filter::of(viewer.clone()),
        project: project.clone(),
        ..ListQuery::default()
    })?;
    let digest =
        engine.digest(&DigestQuery { project, feature: None, viewer: viewer.clone(), with_superseded: false })?;
    let sections = [
        ("Preferences", preferences),
        ("Open tasks", open),
        ("Decisions", digest.key_decisions),
        ("Patterns", digest.active_patterns),
        ("Bug fixes", digest.recent_bugfixes),
    ];
    let mut shown = Vec::new();
    let text = fitted(client, request.event, |most| {
        let (block, given) = wire::start_block(&viewer, &sections, most)?;
        shown = given;
        Some(block)
    });
    let given = if text.is_some() { shown } else { Vec::new() };
    Ok(HookOutput { text, given })
}

/// The preferences that no other memory supersedes, those that changed last first.
fn preferences(engine: &Engine, viewer: &Viewer) -> Result<Vec<Record>> {
    let mut found = engine.list(&ListQuery {
        order: ListOrder::Updated,
        // Some of them are superseded.
        limit: 4 * SECTION,
        filter: Filter { kinds: vec![Kind::Preference], ..Filter::of(viewer.clone()) },
        ..ListQuery::default()
    })?;
    let ids: Vec<RecordId> = found.iter().map(|record| record.id).collect();
    let superseded = superseded(engine, &ids, viewer)?;
    found.retain(|record| !superseded.contains(&record.id));
    found.truncate(SECTION);
    Ok(found)
}

/// The output for a text, which gets less room until all of it fits.
fn fitted(client: Client, event: Event, mut text: impl FnMut(usize) -> Option<String>) -> Option<String> {
    let mut most = MOST_BYTES;
    loop {
        let printed = hooks::write(client, event, &text(most)?)?;
        if printed.len() <= MOST_BYTES {
            return Some(printed);
        }
        // The form may take two bytes for one of the text.
        most = most * MOST_BYTES / printed.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_fits_in_the_form_of_every_client() {
        for client in hooks::CLIENTS {
            for letter in ["\"", "\u{1}", "x", "灯"] {
                let printed = fitted(client, Event::Start, |most| Some(letter.repeat(most / letter.len()))).unwrap();
                assert!(printed.len() <= MOST_BYTES && printed.len() > MOST_BYTES / 4, "{client}: {}", printed.len());
            }
            let least = |most: usize| (most > MOST_BYTES / 2).then(|| "\u{1}".repeat(most));
            assert_eq!(
                fitted(client, Event::Start, least).is_some(),
                matches!(client, Client::Codex | Client::Opencode)
            );
            assert_eq!(fitted(client, Event::Stop, |_| Some(String::new())), None);
        }
    }
}
