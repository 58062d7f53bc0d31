//! `memorist update`: change a memory.

use memorist_engine::types::EmbeddingState;

use super::App;
use super::app::{self, Maintenance, text_or_stdin};
use super::deadline;
use super::links::line;
use crate::args::Update;
use crate::exit::{Failure, Outcome};
use crate::ops;
use crate::wire::{Int, Patch, UpdateParams, UpdateResult};

pub fn run(app: &App, args: Update) -> Outcome {
    let params = params(args)?;
    let engine = app.existing(Maintenance::Off)?;
    let context = &app.settings().context;
    let was =
        engine.viewed_by(&context.defaults.own_viewer()).get(params.id.0.into())?.map(|record| line(&record.content));
    let result = ops::update(&engine, context, params)?;
    let code = app.answer(&result, result.error.as_deref(), |result| text(result, was.as_deref()))?;
    deadline::settle(engine, result.embedding.unwrap_or(EmbeddingState::Ready));
    Ok(code)
}

fn params(args: Update) -> Result<UpdateParams, Failure> {
    let fields = args.fields;
    let tags = if args.no_tags { Some(Vec::new()) } else { Some(fields.tags).filter(|tags| !tags.is_empty()) };
    Ok(UpdateParams {
        id: Int(args.id),
        content: args.content.map(text_or_stdin).transpose()?,
        entry_type: fields.kind,
        source: fields.source,
        context: patch(fields.context, args.no_context),
        confidence: fields.confidence,
        importance: fields.importance,
        tags,
        add_tags: Some(args.add_tags),
        remove_tags: Some(args.remove_tags),
        valid_from: patch(fields.valid_from, false),
        valid_to: patch(fields.valid_to, false),
        status: fields.status,
        due: patch(fields.due, false),
        expect: args.expect.map(Into::into),
        expires_at: patch(fields.expires_at, args.no_expiry),
        body: patch(fields.body.map(app::body).transpose()?, args.no_body),
        metadata: patch(fields.metadata.map(app::metadata).transpose()?, args.no_metadata),
        reason: args.reason,
        ..UpdateParams::default()
    })
}

fn patch<T>(value: Option<T>, remove: bool) -> Patch<T> {
    match value {
        Some(value) => Patch::Value(value),
        None if remove => Patch::Null,
        None => Patch::Absent,
    }
}

fn text(result: &UpdateResult, was: Option<&str>) -> String {
    let was = was.map_or_else(String::new, |was| format!("; it was: {was}"));
    format!("updated memory {}, now version {}{was}", result.id.unwrap_or_default(), result.version.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn read(line: &str) -> UpdateParams {
        let Command::Update(args) = Cli::try_parse_from(line.split_whitespace()).unwrap().command else {
            panic!("not an update")
        };
        params(args).unwrap()
    }

    #[test]
    fn fields_can_be_set_removed_or_left_alone() {
        let update = read("memorist update 7 --content new --no-context --tag a");
        assert_eq!((update.id, update.content.as_deref()), (Int(7), Some("new")));
        assert_eq!(update.context, Patch::Null);
        assert_eq!(update.tags, Some(vec!["a".to_owned()]));
        assert!(update.expires_at.is_absent());
        assert_eq!(read("memorist update 7 --no-tags").tags, Some(Vec::new()));
        let update = read("memorist update 7 --importance 3 --reason doubt");
        assert_eq!((update.tags, update.body, update.reason.as_deref()), (None, Patch::Absent, Some("doubt")));
        assert_eq!(read("memorist update 7 --no-body").body, Patch::Null);
        let body = serde_json::json!({ "feature": "login" });
        assert_eq!(read(r#"memorist update 7 --body {"feature":"login"}"#).body, Patch::Value(body));
    }
}
