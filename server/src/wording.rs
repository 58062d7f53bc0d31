//! Errors of the engine in the words of this program: parameters by the names that clients send, remedies as commands.

use std::borrow::Cow;

use memorist_engine::types::{DOUBTFUL, ForeignMemories, Hit, NearMiss, Placed, SearchReply, Threshold, WEAK};
use memorist_engine::{Error, Remedy};

/// The text of an error, for people and for models.
pub trait Worded {
    /// Says what is wrong, and what to do about it.
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

/// The warnings of a search, with what can be done about them.
pub fn warnings(reply: &SearchReply) -> Vec<String> {
    let remedy = reply.remedy.map(|remedy| format!("to enable vector search: {}", command(remedy)));
    let near_miss = reply.near_miss.as_ref().filter(|missed| !is_weak(missed)).map(|NearMiss { id, threshold, minimum, actual, beginning, .. }| {
        let threshold = match threshold {
            Threshold::Similarity => "minSimilarity",
            Threshold::Score => "minScore",
            Threshold::Relevance => "minRelevance",
        };
        format!(
            "no hit reaches {threshold} {minimum}: the nearest, memory {id}, has {actual}: \"{beginning}\"; to find it, \
             lower {threshold} to {actual}"
        )
    });
    reply.warnings.iter().cloned().chain(remedy).chain(near_miss).collect()
}

/// Whether it was left out as weak, and not by a threshold of the call: [`Remarks`] say that.
fn is_weak(missed: &NearMiss) -> bool {
    missed.threshold == Threshold::Relevance && missed.minimum == WEAK
}

/// The nearest of what was left out as weak, for [`Remarks::nearest`].
pub fn nearest(reply: &SearchReply) -> Option<(i64, f64, &str)> {
    let missed = reply.near_miss.as_ref().filter(|missed| is_weak(missed))?;
    Some((missed.id.get(), missed.actual, &missed.beginning))
}

/// Remarks on a search beside its results.
pub struct Remarks<'a> {
    /// The relevance of each result.
    pub relevances: Vec<f64>,
    /// See [`SearchReply::no_answer`]; false on a later page.
    pub no_answer: bool,
    /// The nearest of those that are left out where none is shown: id, relevance, beginning.
    pub nearest: Option<(i64, f64, &'a str)>,
    /// See [`SearchReply::missing`].
    pub missing: &'a [String],
    /// See [`SearchReply::weaker`].
    pub weaker: usize,
}

impl Remarks<'_> {
    /// The lines, the most important first. `all` is what a caller gives to leave nothing out.
    pub fn lines(&self, all: &str) -> Vec<String> {
        let is_empty = self.relevances.is_empty();
        let names = self.missing.join(", ");
        let but = if is_empty { "" } else { "; these only resemble it" };
        let missing = (!names.is_empty()).then(|| format!("no memory mentions {names}{but}"));
        let nothing = match (is_empty, self.nearest) {
            (true, Some((id, actual, content))) => {
                Some(format!("probably not here: the nearest, memory {id}, has a relevance of {actual}: \"{content}\""))
            }
            (true, None) => Some("nothing found".to_owned()),
            (false, _) => self.no_answer.then(|| {
                let best = self.relevances.iter().copied().fold(0.0, f64::max);
                let is_by_reranker = self.missing.is_empty() && best >= DOUBTFUL;
                let read = if is_by_reranker { "the reranker finds no answer; " } else { "" };
                format!("probably not here: {read}the best relevance is {best:.2}")
            }),
        };
        let weaker = match self.weaker {
            0 => None,
            1 => Some(format!("1 weaker one: {all}")),
            some => Some(format!("{some} weaker ones: {all}")),
        };
        missing.into_iter().chain(nothing).chain(weaker).collect()
    }
}

/// Why a result stands where its relevance does not say so, in a few words; or which of the identifiers that no memory has it
/// merely resembles.
pub fn why(hit: &Hit, missing: &[String]) -> Option<String> {
    let resembled = missing.iter().find(|name| has_like(&hit.record.content, name));
    let placed = hit.placed.map(|placed| match placed {
        Placed::Exact => "exact match",
        Placed::Period => "in that period",
        Placed::Session => "part of a session",
        Placed::Kept => "a place kept for memories",
        Placed::Superseded => "superseded",
        Placed::Reranked => "reranked",
        Placed::Meaning => "nearer in meaning",
        Placed::Words => "more of the words",
    });
    resembled.map(|name| format!("resembles {name}")).or(placed.map(str::to_owned))
}

/// Characters of a text in which a name is looked for.
const LOOKED_AT: usize = 4 << 10;
/// Jaro-Winkler similarity from which a name resembles another: `KESTREL-10` and `KESTREL-12` have 0.96.
const LIKE: f64 = 0.85;

/// Whether a text has a name that is like this one.
fn has_like(text: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let text = text[..text.floor_char_boundary(LOOKED_AT)].to_lowercase();
    let words = text.split(|c: char| c.is_whitespace() || "()[]{},;\"'`".contains(c));
    let mut words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.any(|word| !word.is_empty() && strsim::jaro_winkler(word, &name) >= LIKE)
}

/// The text of a remedy, with commands of this program.
pub fn command(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SetUpModel => "run `memorist setup`",
        Remedy::UseAnotherCache => "choose another cache folder with --cache",
        Remedy::ConfigureModel => {
            "name a folder that has model.onnx and tokenizer.json with the setting `model`, or remove that setting; then \
             search once"
        }
        Remedy::EmbedMemories => "run `memorist backfill` to fetch the model and embed them",
        Remedy::AddMemories => "save some with `memorist add` or `memorist import`, or name another store",
        Remedy::Rebuild => "`memorist rebuild` rebuilds it from the records at once",
        Remedy::RebuildMap => "`memorist doctor --repair` removes it, and the web UI builds another",
        Remedy::Repair => {
            "`memorist doctor --repair` salvages it into a new database and keeps this one; or restore a backup"
        }
        Remedy::RepairCopy => {
            "copy it as memory.db into an empty folder, and run `memorist doctor --repair --store FOLDER` to salvage it"
        }
        Remedy::Restore => {
            "put memory.db back, or a backup with `memorist restore FILE`; to begin an empty store, move its folder away"
        }
        Remedy::MoveIn("mudpuppy") => "`memorist import --from mudpuppy FILE` brings its memories in",
        Remedy::MoveIn("memorizer") => "`memorist import --from memorizer FILE` brings its memories in",
        Remedy::MoveIn("krolik") => "`memorist import --from krolik FILE` brings its memories in",
        Remedy::MoveIn("openclaw") => "`memorist import --from openclaw FILE` brings its memories in",
        Remedy::MoveIn(_) => "`memorist import --from gimli FILE` brings its memories in",
        Remedy::Reembed => {
            "name the store's model in the setting `model`, or change the store to this one with `memorist reembed`"
        }
        Remedy::UseMultilingualModel => MULTILINGUAL,
        _ => "see `memorist doctor`",
    }
}

const MULTILINGUAL: &str = "`memorist reembed --model multilingual` switches the store to a model of about a hundred \
     languages (91 MB to download; 6 ms per query instead of 2)";

/// Suggests another model.
pub fn foreign(memories: ForeignMemories) -> String {
    let ForeignMemories { count, examined } = memories;
    format!(
        "{count} of the newest {examined} memories are in a language that the embedding model does not know, so only \
         keyword search finds them; {MULTILINGUAL}"
    )
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

/// The parameters whose options have another name, as the command line says it.
const OPTIONS: [(&str, &str); 18] = [
    ("entryType", "--kind"),
    ("expiresAt", "--expires-at"),
    ("keywordWeight", "--keyword-weight"),
    ("linkType", "KIND"),
    ("maxDepth", "--depth"),
    ("maxTokens", "--max-tokens"),
    ("minConfidence", "--min-confidence"),
    ("minImportance", "--min-importance"),
    ("minRelevance", "--min-relevance"),
    ("minScore", "--min-score"),
    ("minSimilarity", "--min-similarity"),
    ("neighbors", "--neighbors"),
    ("toId", "TO"),
    ("limit", "--limit"),
    ("cursor", "--cursor"),
    ("validFrom", "--valid-from"),
    ("validTo", "--valid-to"),
    ("vectorWeight", "--vector-weight"),
];

/// An error as the command line shows it: a parameter at its start has the name of its option.
pub fn with_option(message: &str) -> Cow<'_, str> {
    let option = |name: &str| OPTIONS.iter().find(|(parameter, _)| *parameter == name).map(|(_, option)| *option);
    match message.split_once(": ").and_then(|(name, why)| Some((option(name)?, why))) {
        Some((option, why)) => format!("{option}: {why}").into(),
        None => message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remarks(relevances: &[f64], rest: Remarks<'_>) -> Vec<String> {
        Remarks { relevances: relevances.to_vec(), ..rest }.lines("--all")
    }

    fn none() -> Remarks<'static> {
        Remarks { relevances: Vec::new(), no_answer: false, nearest: None, missing: &[], weaker: 0 }
    }

    #[test]
    fn an_error_on_the_command_line_names_the_option() {
        assert_eq!(with_option("minScore: 2 is outside 0 to 1"), "--min-score: 2 is outside 0 to 1");
        assert_eq!(with_option("toId: 1 is the memory itself"), "TO: 1 is the memory itself");
        for same in ["content: is empty", "no store: x", "minScore", "x: minScore: 2"] {
            assert_eq!(with_option(same), same);
        }
    }

    #[test]
    fn a_search_says_what_is_not_there_and_what_was_left_out() {
        assert!(remarks(&[0.9, 0.3], none()).is_empty());
        let doubted = remarks(&[0.11, 0.2], Remarks { no_answer: true, weaker: 8, ..none() });
        assert_eq!(doubted, ["probably not here: the best relevance is 0.20", "8 weaker ones: --all"]);
        assert_eq!(remarks(&[], Remarks { no_answer: true, ..none() }), ["nothing found"]);
        let read = "probably not here: the reranker finds no answer; the best relevance is 0.45";
        assert_eq!(remarks(&[0.45, 0.2], Remarks { no_answer: true, ..none() }), [read]);
        let nearest = Remarks { no_answer: true, nearest: Some((7, 0.06, "The harbour")), weaker: 1, ..none() };
        let nothing = "probably not here: the nearest, memory 7, has a relevance of 0.06: \"The harbour\"";
        assert_eq!(remarks(&[], nearest), [nothing, "1 weaker one: --all"]);
        let missing = ["KESTREL-12".to_owned(), "src/none.rs".to_owned()];
        let said = remarks(&[0.6], Remarks { missing: &missing, ..none() });
        assert_eq!(said, ["no memory mentions KESTREL-12, src/none.rs; these only resemble it"]);
    }

    #[test]
    fn a_name_that_is_like_a_missing_one_is_found_in_a_text() {
        for text in ["KESTREL-10 is slow", "see (kestrel-13)", "`Kestrel-1`: done."] {
            assert!(has_like(text, "KESTREL-12"), "{text}");
        }
        for text in ["the kettle is slow", "HRB-12", "12", ""] {
            assert!(!has_like(text, "KESTREL-12"), "{text}");
        }
    }

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
