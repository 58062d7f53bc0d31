//! Completion of arguments of prompts, and of the project in the template of its digest. Only names that the server's
//! own searches would find are offered.

use memorist_engine::Engine;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompletionInfo, Reference};

use super::errors::protocol_error;
use super::profiles::Profile;
use super::prompts::{self, PromptDef};
use super::resources;
use crate::ops::Context;
use crate::wire::Patch;

/// The source of an argument's completions.
enum CompletionSource {
    Projects,
    Tags,
    Choices(Vec<String>),
}

/// Names that begin with the typed text, ignoring case.
pub fn complete(
    engine: &Engine,
    context: &Context,
    profile: &'static Profile,
    request: &CompleteRequestParams,
) -> Result<CompletionInfo, ErrorData> {
    let typed = request.argument.value.as_str();
    // A project that was filled in before selects the tags.
    let filled = request.context.as_ref().and_then(|context| context.get_argument("project"));
    let project = filled.filter(|name| !name.is_empty()).map_or(Patch::Absent, |name| Patch::Value(name.clone()));
    // One more than the maximum, to know whether there are more.
    const MOST: usize = CompletionInfo::MAX_VALUES + 1;
    let found = match source(profile, request)? {
        CompletionSource::Projects => {
            let found = context.defaults.own_viewers().map(|viewer| engine.viewed_by(&viewer).projects(typed, MOST));
            found.collect::<Result<Vec<_>, _>>().map(|found| found.concat())
        }
        CompletionSource::Tags => {
            let viewer = context.defaults.viewer(&project, &Patch::Absent);
            viewer.and_then(|viewer| engine.viewed_by(&viewer).tags(typed, MOST))
        }
        CompletionSource::Choices(mut choices) => {
            let typed = typed.to_lowercase();
            choices.retain(|choice| choice.starts_with(&typed));
            Ok(choices)
        }
    };
    let mut values = found.map_err(|error| protocol_error(&error))?;
    let more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    // The total is not counted.
    let total = if more { None } else { u32::try_from(values.len()).ok() };
    CompletionInfo::with_pagination(values, total, more).map_err(|why| ErrorData::internal_error(why, None))
}

fn source(profile: &'static Profile, request: &CompleteRequestParams) -> Result<CompletionSource, ErrorData> {
    let name = request.argument.name.as_str();
    let invalid = |why: String| ErrorData::invalid_params(why, None);
    match &request.r#ref {
        Reference::Prompt(reference) => {
            let prompt = PromptDef::of(profile, &reference.name).ok_or_else(|| prompts::unknown(&reference.name))?;
            let argument = prompt.arguments.iter().find(|argument| argument.name == name);
            let argument =
                argument.ok_or_else(|| invalid(format!("{name}: unknown argument of {}", reference.name)))?;
            Ok(match (prompt.choices(argument), name) {
                (Some(choices), _) => CompletionSource::Choices(choices.into_iter().map(str::to_owned).collect()),
                (None, "project") => CompletionSource::Projects,
                // A topic is often a tag.
                (None, _) => CompletionSource::Tags,
            })
        }
        Reference::Resource(resource) => match (resource.uri.as_str(), name) {
            (resources::DIGESTS, "project") => Ok(CompletionSource::Projects),
            // Ids mean nothing to a person.
            (resources::MEMORIES, "id") => Ok(CompletionSource::Choices(Vec::new())),
            (uri, _) => Err(invalid(format!("{name}: unknown variable of {uri}"))),
        },
        _ => Err(invalid("ref: neither a prompt nor a resource".into())),
    }
}
