//! The fields of the index, the document of a record, and the payload of a commit.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, Schema, TantivyDocument, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, IndexBuilder, IndexSettings, Term};

use super::analysis;
use super::threads::{ThreadPlace, count_words, is_question};
use crate::error::{Error, Result};
use crate::types::{Kind, Record, RecordId, Seq, label};

/// The format version: fields, analysers and payload together. An index with another version is rebuilt.
pub(super) const FORMAT: u32 = 7;

pub(super) const KIND: &str = "kind";
pub(super) const IMPORTANCE: &str = "importance";
pub(super) const CONFIDENCE: &str = "confidence";
pub(super) const CREATED_AT: &str = "created_at";
pub(super) const UPDATED_AT: &str = "updated_at";
pub(super) const HAPPENS_FROM: &str = "happens_from";
pub(super) const HAPPENS_TO: &str = "happens_to";
pub(super) const TAG: &str = "tag";
pub(super) const PROJECT: &str = "project";
pub(super) const AGENT: &str = "agent";
pub(super) const ID: &str = "id";
pub(super) const THREAD: &str = "thread";
pub(super) const TURN: &str = "turn";
pub(super) const QUESTION: &str = "question";
pub(super) const WORDS: &str = "words";

const CONTENT_ANALYSER: &str = "memorist_content";
const DISTINCT_ANALYSER: &str = "memorist_distinct";
const IDENTIFIER_ANALYSER: &str = "memorist_identifier";
const RAW: &str = "raw";

/// The handles of the fields, in the order in which they were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) id: Field,
    pub(super) content: Field,
    pub(super) context: Field,
    pub(super) tags: Field,
    pub(super) exact: Field,
    kind: Field,
    importance: Field,
    confidence: Field,
    created_at: Field,
    updated_at: Field,
    tag: Field,
    project: Field,
    agent: Field,
    thread: Field,
    turn: Field,
    question: Field,
    words: Field,
    happens_from: Field,
    happens_to: Field,
}

impl Fields {
    pub(super) fn field(&self, place: SearchField) -> Field {
        match place {
            SearchField::Content => self.content,
            SearchField::Context => self.context,
            SearchField::Tags => self.tags,
            SearchField::Exact => self.exact,
        }
    }
}

/// A field that is searched for terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchField {
    Content,
    Context,
    Tags,
    Exact,
}

/// The schema and its handles.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let fast = NumericOptions::default().set_fast();
    let label = TextOptions::default().set_fast(RAW);
    let fields = Fields {
        id: builder.add_u64_field(ID, NumericOptions::default().set_fast().set_indexed()),
        content: builder.add_text_field("content", text(CONTENT_ANALYSER, IndexRecordOption::WithFreqsAndPositions)),
        context: builder.add_text_field("context", text(DISTINCT_ANALYSER, IndexRecordOption::WithFreqs)),
        tags: builder.add_text_field("tags", text(DISTINCT_ANALYSER, IndexRecordOption::WithFreqs)),
        exact: builder.add_text_field("exact", text(IDENTIFIER_ANALYSER, IndexRecordOption::WithFreqs)),
        kind: builder.add_u64_field(KIND, fast.clone()),
        importance: builder.add_i64_field(IMPORTANCE, fast.clone()),
        confidence: builder.add_f64_field(CONFIDENCE, fast.clone()),
        created_at: builder.add_i64_field(CREATED_AT, fast.clone()),
        updated_at: builder.add_i64_field(UPDATED_AT, fast.clone()),
        tag: builder.add_text_field(TAG, label.clone()),
        project: builder.add_text_field(PROJECT, label.clone()),
        agent: builder.add_text_field(AGENT, label),
        thread: builder.add_u64_field(THREAD, fast.clone()),
        turn: builder.add_i64_field(TURN, fast.clone()),
        question: builder.add_bool_field(QUESTION, fast.clone()),
        words: builder.add_u64_field(WORDS, fast.clone()),
        happens_from: builder.add_i64_field(HAPPENS_FROM, fast.clone()),
        happens_to: builder.add_i64_field(HAPPENS_TO, fast),
    };
    (builder.build(), fields)
}

/// Frequencies and field norms are kept in every text field: without them tantivy's block-max pruning is off or wrong.
fn text(analyser: &str, option: IndexRecordOption) -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default().set_tokenizer(analyser).set_index_option(option).set_fieldnorms(true),
    )
}

/// A builder of indexes of our schema with our analysers.
pub(super) fn builder() -> IndexBuilder {
    // nothing is stored, so there is nothing to compress and no need for a compression thread
    let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
    let builder = Index::builder().schema(schema().0).settings(settings);
    builder.tokenizers(analysers()).fast_field_tokenizers(analysers())
}

/// Our analysers, by the names in the schema.
pub(super) fn analysers() -> TokenizerManager {
    // includes tantivy's own: `raw` is one, and a writer requires `default`
    let manager = TokenizerManager::default();
    manager.register(CONTENT_ANALYSER, analysis::content_analyser());
    manager.register(DISTINCT_ANALYSER, analysis::distinct_analyser());
    manager.register(IDENTIFIER_ANALYSER, analysis::identifier_analyser());
    manager
}

/// The term of a record's id. `None` for ids that no record has.
pub(super) fn id_term(fields: &Fields, id: RecordId) -> Option<Term> {
    Some(Term::from_field_u64(fields.id, u64::try_from(id.get()).ok()?))
}

/// The texts of a record by field; each field gets at most one text.
pub(super) struct Texts<'a> {
    pub(super) content: &'a str,
    /// The context, and the parts of what all texts have in camel case: they make no text longer, and count as much as what
    /// stands beside it.
    pub(super) context: Option<Cow<'a, str>>,
    /// All tags as one text, so that each term occurs once.
    pub(super) tags: Option<String>,
    /// The other three as one text from which identifiers are extracted, each once.
    pub(super) named: String,
}

impl<'a> Texts<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let context = record.context.as_deref();
        let tags = (!record.tags.is_empty()).then(|| record.tags.join("\n"));
        let texts = || [Some(record.content.as_str()), context, tags.as_deref()].into_iter().flatten();
        let named = texts().collect::<Vec<_>>().join("\n");
        let parts = analysis::parts_of_names(texts());
        let context = match (context, parts.is_empty()) {
            (context, true) => context.map(Cow::Borrowed),
            (None, false) => Some(Cow::Owned(parts)),
            (Some(context), false) => Some(Cow::Owned(format!("{context}\n{parts}"))),
        };
        Texts { content: &record.content, context, tags, named }
    }
}

/// A record as a document. Nothing is stored in it: the texts are in SQLite.
pub(super) fn document(fields: &Fields, record: &Record) -> Result<TantivyDocument> {
    let id = u64::try_from(record.id.get()).map_err(|_| Error::invalid("id", format!("{} is negative", record.id)))?;
    let mut document = TantivyDocument::default();
    let texts = Texts::of(record);
    document.add_u64(fields.id, id);
    document.add_text(fields.content, texts.content);
    if let Some(context) = texts.context {
        document.add_text(fields.context, context);
    }
    if let Some(tags) = texts.tags {
        document.add_text(fields.tags, tags);
    }
    document.add_text(fields.exact, texts.named);
    document.add_u64(fields.kind, kind_code(record.kind));
    document.add_i64(fields.importance, record.importance);
    document.add_f64(fields.confidence, record.confidence);
    document.add_i64(fields.created_at, record.created_at);
    document.add_i64(fields.updated_at, record.updated_at);
    for tag in &record.tags {
        document.add_text(fields.tag, tag_label(tag));
    }
    document.add_text(fields.project, scope_label(record.scope.project.as_deref()));
    document.add_text(fields.agent, scope_label(record.scope.agent.as_deref()));
    if let Some(place) = thread_place(record) {
        document.add_u64(fields.thread, place.thread);
        document.add_i64(fields.turn, place.turn);
        document.add_bool(fields.question, place.is_question);
        document.add_u64(fields.words, place.words.into());
    }
    if let Some((from, to)) = record.happening() {
        document.add_i64(fields.happens_from, from);
        document.add_i64(fields.happens_to, to);
    }
    Ok(document)
}

/// The place of a record in its thread.
pub(super) fn thread_place(record: &Record) -> Option<ThreadPlace> {
    let (session, turn) = (record.session.as_deref()?, record.turn?);
    let mut hasher = Sha256::new();
    for label in [record.scope.agent.as_deref(), record.scope.project.as_deref(), Some(session)] {
        // No label has a NUL.
        hasher.update(scope_label(label));
        hasher.update([0]);
    }
    let hash: [u8; 32] = hasher.finalize().into();
    let (first, _) = hash.as_chunks::<8>();
    let (is_question, words) = (is_question(&record.content), count_words(&record.content));
    Some(ThreadPlace { thread: u64::from_le_bytes(first[0]), turn, is_question, words })
}

/// The position of a kind in [`Kind::ALL`].
pub(super) fn kind_code(kind: Kind) -> u64 {
    Kind::ALL.iter().take_while(|&&other| other != kind).count() as u64
}

/// A project or agent as a fast-field value: `=name`, or `-` for none, so that no name can be mistaken for none.
pub(super) fn scope_label(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("={}", label(name)),
        None => "-".to_owned(),
    }
}

/// A tag as a fast-field value.
pub(super) fn tag_label(tag: &str) -> String {
    label(tag).to_ascii_lowercase()
}

/// The payload of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Payload {
    /// See [`FORMAT`].
    pub(crate) format: u32,
    /// The id of the store that the index was built from. Earlier formats had none.
    #[serde(default)]
    pub(crate) store: String,
    /// The sync log is applied up to here.
    pub(crate) applied: Seq,
}

impl Payload {
    /// The payload of a commit in this format.
    pub(crate) fn new(store: &str, applied: Seq) -> Self {
        Payload { format: FORMAT, store: store.to_owned(), applied }
    }

    /// The text that is committed.
    pub(crate) fn to_text(&self) -> String {
        let store = serde_json::Value::from(self.store.as_str());
        format!("{{\"format\":{},\"store\":{store},\"applied\":{}}}", self.format, self.applied.get())
    }

    /// Reads a commit's payload, or says what is wrong with it.
    pub(crate) fn parse(text: Option<&str>) -> Result<Payload, String> {
        let text = text.ok_or("its first commit is missing")?;
        let payload: Payload = serde_json::from_str(text).map_err(|why| format!("its payload is damaged: {why}"))?;
        match payload.format {
            FORMAT => Ok(payload),
            other => Err(format!("it has format {other}, this program reads format {FORMAT}")),
        }
    }

    /// Reads the payload of a commit to an index of this store, or says what is wrong with it.
    pub(super) fn of_store(store: &str, text: Option<&str>) -> Result<Payload, String> {
        let payload = Payload::parse(text)?;
        if payload.store == store { Ok(payload) } else { Err("it was made from another store".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_read_as_written_and_refused_otherwise() {
        let text = Payload::new("01STORE", 41.into()).to_text();
        assert_eq!(text, "{\"format\":7,\"store\":\"01STORE\",\"applied\":41}");
        assert_eq!(Payload::parse(Some(&text)), Ok(Payload::new("01STORE", 41.into())));
        assert!(Payload::of_store("01STORE", Some(&text)).is_ok());
        assert!(Payload::of_store("01OTHER", Some(&text)).unwrap_err().contains("another store"));
        for other in ["{\"format\":2,\"applied\":41}", "{\"format\":8,\"applied\":41}"] {
            assert!(Payload::parse(Some(other)).unwrap_err().contains("this program reads format 7"), "{other}");
        }
        for damaged in [text.replace("41", "-1"), text.replace("applied", "implied"), String::new()] {
            assert!(Payload::parse(Some(&damaged)).unwrap_err().contains("damaged"), "{damaged}");
        }
        assert!(Payload::parse(None).unwrap_err().contains("first commit"));
    }
}
