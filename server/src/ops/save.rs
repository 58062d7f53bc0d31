//! Saving, also of texts that exist already or resemble others.

use memorist_engine::types::{
    AddOutcome, GivenFields, LinkKind, MIN_PLAUSIBLE_MILLIS, Millis, NewRecord, RecordId, RecordUpdate, Save, Saved,
    Scope, Similar, UpdateOutcome, Viewer,
};
use memorist_engine::{Engine, Error, Result};

use super::Context;
use crate::wire::{self, AddParams, AddResult, Caller, Int, Suggestion, UpdateParams};
use crate::wording::{self, Worded as _};

/// Most memories named that resemble a new one.
const SUGGESTED: usize = 3;
/// Characters above which a text is too long to be found by all of its meaning.
const LONG_CHARS: usize = 2_000;

/// `memory_add`: saves, links, and names memories that resemble the new one. A memory that has the text already takes over the
/// given fields.
pub fn add(engine: &Engine, context: &Context, params: AddParams) -> Result<AddResult> {
    let caller = context.defaults.caller(&params.project, &params.agent)?;
    add_all(engine, context, vec![to_save(engine, caller, params)?])?.swap_remove(0)
}

/// Saves several memories in one transaction. A refused one does not stop the others.
pub fn add_all(engine: &Engine, context: &Context, saves: Vec<Save>) -> Result<Vec<Result<AddResult>>> {
    let saved = engine.save(&saves)?;
    let each = saves.iter().zip(saved);
    Ok(each.map(|(save, saved)| Ok(added(engine, context, save, saved?))).collect())
}

/// The save for these parameters of a caller.
pub fn to_save(engine: &Engine, caller: Caller, params: AddParams) -> Result<Save> {
    let Caller { viewer, scope } = caller;
    let (links, given) = (links(&params), Some(given_fields(&params)));
    Ok(Save { record: new_record(engine, scope, params)?, links, given, viewer })
}

fn new_record(engine: &Engine, scope: Scope, params: AddParams) -> Result<NewRecord> {
    let record = wire::new_record(params.by_clock(engine.clock_ahead()), scope)?;
    check_expiry(engine, record.expires_at)?;
    Ok(record)
}

/// The answer to a save that was done.
fn added(engine: &Engine, context: &Context, Save { record, links, viewer, .. }: &Save, saved: Saved) -> AddResult {
    let id = saved.added.id;
    let mut result = result_of(engine, context, &saved.added, viewer);
    result.notes.extend(unfollowed(engine, record));
    if result.created {
        let (warnings, suggestions) = named(id, engine.viewed_by(viewer).related(id, SUGGESTED));
        // Of several that are saved at once, a later one names an earlier one, as if they came one by one.
        let is_news = |one: &Suggestion| one.id < result.id && links.iter().all(|(_, other)| other.get() != one.id);
        result.warnings = if suggestions.iter().all(is_news) { warnings } else { Vec::new() };
        result.suggestions = suggestions.into_iter().filter(is_news).collect();
        if record.content.chars().nth(LONG_CHARS).is_some() {
            result.notes.push(format!(
                "it has {} characters: several short memories are found better than a long one",
                record.content.chars().count()
            ));
        }
    }
    match saved.updated {
        Some(Ok(outcome)) => result.notes.extend(taken_over(&outcome)),
        Some(Err(error)) => {
            result.notes.push(format!("its other fields were not taken over: {}", error.worded()));
        }
        None => {}
    }
    for (&(kind, other), linked) in links.iter().zip(saved.links) {
        match linked {
            Ok(_) => result.linked.push((kind, other)),
            Err(error) => result.notes.push(format!("not linked ({kind} {other}): {}", error.worded())),
        }
    }
    match engine.new_foreign_memories() {
        Ok(foreign) => result.notes.extend(foreign.map(wording::foreign)),
        Err(error) => tracing::debug!("the languages of the memories are unknown: {error}"),
    }
    result.warnings = result.notes.iter().cloned().chain(result.warnings).collect();
    result
}

/// Saves a memory as it is, without a search for similar ones.
pub fn save(engine: &Engine, context: &Context, params: AddParams) -> Result<AddResult> {
    let Caller { viewer, scope } = context.defaults.caller(&params.project, &params.agent)?;
    let record = new_record(engine, scope, params)?;
    let outcome = engine.add(&record)?;
    let mut result = result_of(engine, context, &outcome, &viewer);
    result.notes.extend(unfollowed(engine, &record));
    Ok(result)
}

/// A note on a memory that is saved on a team's server, and not found on this node.
pub fn unfollowed(engine: &Engine, record: &NewRecord) -> Option<String> {
    let unfollowed = record.scope.project.as_ref().map(|project| engine.unfollowed(project));
    unfollowed.transpose().ok().flatten().flatten()
}

/// The result of a save, with its effects on other memories. Writes the memory's line of the daily log.
fn result_of(engine: &Engine, context: &Context, outcome: &AddOutcome, viewer: &Viewer) -> AddResult {
    let mut notes: Vec<String> = context.log_saved(engine, outcome).into_iter().collect();
    let seen = outcome.supersedes_again.iter().filter(|id| matches!(engine.viewed_by(viewer).get(**id), Ok(Some(_))));
    let again: Vec<String> = seen.map(ToString::to_string).collect();
    if !again.is_empty() {
        notes.push(format!("it was superseded and is current again; it now supersedes {}", again.join(", ")));
    }
    AddResult {
        id: outcome.id.get(),
        created: outcome.created,
        duplicate: !outcome.created,
        embedding: outcome.embedding,
        warnings: Vec::new(),
        suggestions: Vec::new(),
        notes,
        linked: Vec::new(),
    }
}

/// Memories that resemble a new one: warnings about duplicates, and suggestions for links. Empty if the search for them
/// fails, as the memory is saved anyway.
pub fn resembling(engine: &Engine, id: RecordId, viewer: &Viewer) -> (Vec<String>, Vec<Suggestion>) {
    named(id, engine.viewed_by(viewer).similar(id, SUGGESTED))
}

fn named(id: RecordId, similar: Result<Vec<Similar>>) -> (Vec<String>, Vec<Suggestion>) {
    match similar {
        Ok(similar) => wire::suggestions(&similar),
        Err(error) => {
            tracing::debug!("memories similar to {id} could not be searched: {error}");
            (Vec::new(), Vec::new())
        }
    }
}

/// The change that the parameters name. The engine checks its bounds.
///
/// # Errors
/// [`Error::Invalid`] if it would hide the memory.
pub fn to_update(engine: &Engine, params: UpdateParams) -> Result<RecordUpdate> {
    let update = wire::record_update(params.by_clock(engine.clock_ahead()))?;
    check_expiry(engine, update.expires_at.flatten())?;
    Ok(update)
}

/// Refuses an expiry in the past, which would hide the memory. A number that looks like seconds is refused by the engine.
fn check_expiry(engine: &Engine, at: Option<Millis>) -> Result<()> {
    match at {
        Some(at) if (MIN_PLAUSIBLE_MILLIS..=engine.now()).contains(&at) => {
            let at = wire::moment(at);
            let why = format!("{at} is in the past; omit it, or delete the memory instead");
            Err(Error::invalid("expires_at", why))
        }
        _ => Ok(()),
    }
}

/// The links that a new memory gets. The engine checks in its transaction that their other ends are there.
fn links(params: &AddParams) -> Vec<(LinkKind, RecordId)> {
    let given = [
        (LinkKind::Supersedes, &params.supersedes),
        (LinkKind::Contradicts, &params.contradicts),
        (LinkKind::Related, &params.related),
    ];
    let of_kind = |(kind, ids): (LinkKind, &Option<Vec<Int>>)| {
        let ids = ids.clone().unwrap_or_default();
        ids.into_iter().map(move |Int(id)| (kind, RecordId::from(id)))
    };
    given.into_iter().flat_map(of_kind).collect()
}

fn given_fields(params: &AddParams) -> GivenFields {
    GivenFields {
        kind: params.entry_type.is_some(),
        source: params.source.is_some(),
        context: params.context.as_ref().is_some_and(|context| !context.trim().is_empty()),
        confidence: params.confidence.is_some(),
        importance: params.importance.is_some(),
        expires_at: params.expires_at.is_some(),
    }
}

/// A note on the fields that a memory took over when its text was saved again, if any differ.
fn taken_over(outcome: &UpdateOutcome) -> Option<String> {
    let (before, now) = (outcome.before.as_ref()?, &outcome.record);
    let changed = [
        ("type", before.kind != now.kind),
        ("source", before.source != now.source),
        ("context", before.context != now.context),
        ("confidence", before.confidence != now.confidence),
        ("importance", before.importance != now.importance),
        ("tags", before.tags != now.tags),
        ("expiry", before.expires_at != now.expires_at),
        ("dates", before.valid != now.valid),
        ("status, due date or other fields", before.body != now.body),
    ];
    let changed: Vec<&str> = changed.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
    (!changed.is_empty()).then(|| format!("taken over: {} (version {} now)", changed.join(", "), now.version))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::tz::TimeZone;
    use memorist_engine::config::Config;
    use memorist_engine::embed::HashEmbedder;
    use memorist_engine::sensitive::Sensitive;
    use memorist_ingest::daily_log::DailyLog;
    use serde_json::{Value, json};

    use super::*;

    /// T12.
    #[test]
    fn a_new_memory_has_a_line_in_the_daily_log_as_it_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::without_model();
        config.sensitive = Sensitive::Redact;
        let engine = Engine::open(folder.path().join("store"), config).unwrap();
        let log = Arc::new(DailyLog::new(folder.path().join("log"), TimeZone::UTC));
        let context = Context { daily_log: Some(log.clone()), ..Context::default() };
        let save = |content: &str| {
            let params = serde_json::from_value::<AddParams>(json!({ "content": content, "source": "chat" }));
            add(&engine, &context, params.unwrap()).unwrap()
        };
        save("Ada mends sails");
        save("Ada mends sails");
        let secret = concat!("Tr0ub4", "dor&3");
        save(&format!("login: password = {secret}"));
        let file = std::fs::read_dir(folder.path().join("log")).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("** [fact] (chat) Ada mends sails\n") && text.contains("[redacted: "), "{text}");
        assert!(!text.contains(secret));
        std::fs::remove_dir_all(folder.path().join("log")).unwrap();
        std::fs::write(folder.path().join("log"), "in the way").unwrap();
        let saved = save("saved all the same");
        assert!(saved.created);
        // 39.5.
        assert!(saved.warnings[0].starts_with("it is saved, but has no line in the daily log: "), "{saved:?}");
    }

    /// The text is there, and its links are made, whatever becomes of the other fields: and that is said.
    #[test]
    fn fields_that_do_not_fit_a_saved_text_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::without_model();
        let engine = Engine::open_with_embedder(folder.path(), config, Arc::new(HashEmbedder::new(64))).unwrap();
        let save = |arguments: Value| {
            add(&engine, &Context::default(), serde_json::from_value::<AddParams>(arguments).unwrap()).unwrap()
        };
        let other = save(json!({ "content": "a sail" })).id;
        let text = "Ada mends sails";
        let ada = json!({ "content": text, "entryType": "contact", "body": { "name": "Ada" }, "context": "the loft" });
        let id = save(ada).id;
        let again = save(json!({ "content": text, "entryType": "skill", "related": [other] }));
        assert_eq!((again.id, again.linked.len()), (id, 1));
        assert!(again.notes[0].starts_with("its other fields were not taken over: "), "{:?}", again.notes);
        save(json!({ "content": text, "context": " " }));
        let record = engine.viewed_by(&Viewer::OWNER).get(id.into()).unwrap().unwrap();
        assert_eq!(record.context.as_deref(), Some("the loft"), "a blank one does not count");
    }
}
