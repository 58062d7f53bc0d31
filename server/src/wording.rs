//! Errors of the engine in the words of this program: parameters by the names that clients send, remedies as commands.

use memorist_engine::types::SearchReply;
use memorist_engine::{Error, Remedy};

/// The text of an error, for people and for models.
pub trait Worded {
    /// What is wrong, and what to do about it.
    fn worded(&self) -> String;
}

impl Worded for Error {
    fn worded(&self) -> String {
        let text = match self {
            Error::Invalid { field, why } => format!("{}: {why}", parameter(field)),
            other => other.to_string(),
        };
        match self.remedy() {
            Some(remedy) => format!("{text}; {}", command(remedy)),
            None => text,
        }
    }
}

impl Worded for String {
    fn worded(&self) -> String {
        self.clone()
    }
}

/// The warnings of a search, with what can be done about them.
pub fn warnings(reply: &SearchReply) -> Vec<String> {
    let remedy = reply.remedy.map(|remedy| format!("to search by meaning: {}", command(remedy)));
    reply.warnings.iter().cloned().chain(remedy).collect()
}

/// What a remedy is with this program.
pub fn command(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SetUpModel => "`memorist setup` fetches it",
        Remedy::UseAnotherCache => "another cache folder is named with --cache",
        Remedy::ConfigureModel => {
            "name a folder that has model.onnx and tokenizer.json with the setting `model`, or remove that setting"
        }
        Remedy::EmbedMemories => "`memorist search` fetches the model, where it may, and embeds them",
        Remedy::AddMemories => "save some with `memorist add` or `memorist import`, or name another store",
        Remedy::Rebuild => "`memorist rebuild` rebuilds it from the records at once",
        Remedy::Repair => {
            "`memorist doctor --repair` saves what can be read into a clean database and keeps this one; or put a backup \
             in its place"
        }
        Remedy::RepairCopy => {
            "copy it as memory.db into an empty folder, and `memorist doctor --repair --store FOLDER` saves what can be \
             read of it"
        }
        Remedy::Reembed => {
            "name the store's model in the setting `model`, or change the store to this one with `memorist reembed`"
        }
        _ => "see `memorist doctor`",
    }
}

/// The parameter that is the engine's `field`: `max_depth` is `maxDepth`.
fn parameter(field: &str) -> String {
    match field {
        "kind" => return "entryType".to_owned(),
        "link_kind" => return "linkType".to_owned(),
        _ => {}
    }
    let mut parts = field.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (initial, rest) = part.split_at(part.len().min(1));
        name + &initial.to_ascii_uppercase() + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_parameter_and_the_command() {
        let error = Error::invalid("min_similarity", "2 is outside -1 to 1");
        assert_eq!(error.worded(), "minSimilarity: 2 is outside -1 to 1");
        assert_eq!(Error::invalid("kind", "unknown kind").worded(), "entryType: unknown kind");
        let error: Error = memorist_engine::embed::Error::NotSetUp("no embedding model is set up".into()).into();
        assert_eq!(error.worded(), "no embedding model is set up; `memorist setup` fetches it");
        assert_eq!(Error::Cancelled.worded(), "cancelled");
    }
}
