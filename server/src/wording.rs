//! Errors of the engine in the words of this program: parameters by the names that clients send, remedies as commands.

use memorist_engine::types::{NearMiss, SearchReply, Threshold};
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
    let near_miss = reply.near_miss.as_ref().map(|NearMiss { id, threshold, minimum, reached, beginning, .. }| {
        let (what, threshold) = match threshold {
            Threshold::Similarity => ("nothing is as similar as", "minSimilarity"),
            Threshold::Score => ("nothing reaches", "minScore"),
            Threshold::Relevance => ("nothing reaches", "minRelevance"),
        };
        format!(
            "{what} {threshold} {minimum}: the nearest, memory {id}, has {reached}: \"{beginning}\"; to find it, lower \
             {threshold} to {reached}"
        )
    });
    reply.warnings.iter().cloned().chain(remedy).chain(near_miss).collect()
}

/// What is said about results of which none seems to answer the query.
pub fn doubt(hits: impl Iterator<Item = f64>) -> String {
    format!("what you look for may not be here: the best relevance is {:.2}", hits.fold(0.0, f64::max))
}

/// What a remedy is with this program.
pub fn command(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SetUpModel => "run `memorist setup`",
        Remedy::UseAnotherCache => "another cache folder can be named with --cache",
        Remedy::ConfigureModel => {
            "name a folder that has model.onnx and tokenizer.json with the setting `model`, or remove that setting; then \
             search once"
        }
        Remedy::EmbedMemories => "`memorist search` fetches the model, where it may, and embeds them",
        Remedy::AddMemories => "save some with `memorist add` or `memorist import`, or name another store",
        Remedy::Rebuild => "`memorist rebuild` rebuilds it from the records at once",
        Remedy::RemakeMap => "`memorist doctor --repair` removes it, and the explorer makes another",
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

/// The engine's fields that clients send under another name.
const RENAMED: [(&str, &str); 20] = [
    ("access_count", "accessCount"),
    ("created_at", "createdAt"),
    ("expires_at", "expiresAt"),
    ("keyword_weight", "keywordWeight"),
    ("kind", "entryType"),
    ("last_accessed_at", "lastAccessedAt"),
    ("link_kind", "linkType"),
    ("max_depth", "maxDepth"),
    ("min_confidence", "minConfidence"),
    ("min_importance", "minImportance"),
    ("min_score", "minScore"),
    ("min_relevance", "minRelevance"),
    ("min_similarity", "minSimilarity"),
    ("to_id", "toId"),
    ("body.due", "due"),
    ("body.status", "status"),
    ("updated_at", "updatedAt"),
    ("valid_from", "validFrom"),
    ("valid_to", "validTo"),
    ("vector_weight", "vectorWeight"),
];

/// The parameter that is `field` of the engine. A name of another origin, as within a body, is its own.
fn parameter(field: &str) -> &str {
    RENAMED.iter().find(|(engine, _)| *engine == field).map_or(field, |(_, wire)| wire)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_parameter_and_the_command() {
        let error = Error::invalid("min_similarity", "2 is outside -1 to 1");
        assert_eq!(error.worded(), "minSimilarity: 2 is outside -1 to 1");
        assert_eq!(Error::invalid("kind", "unknown kind").worded(), "entryType: unknown kind");
        for own in ["body.primary_contact_id", "user_message", "tags"] {
            assert_eq!(Error::invalid(own, "is empty").worded(), format!("{own}: is empty"));
        }
        let error: Error = memorist_engine::embed::Error::NotSetUp("no embedding model is set up".into()).into();
        assert_eq!(error.worded(), "no embedding model is set up; run `memorist setup`");
        assert_eq!(Error::Cancelled.worded(), "cancelled");
    }
}
