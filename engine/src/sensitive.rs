//! Passwords, keys and the like in new records are refused, or redacted.
//!
//! | file | job |
//! |---|---|
//! | `text.rs` | the findings in a text, and the text without them |
//! | `json.rs` | the findings in a body, and the body without them |

mod json;
mod text;

use std::borrow::Cow;

use memorist_secrets::redact;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::text::{in_text, redacted};
use crate::body::Body;
use crate::error::{Error, Result};
use crate::types::{
    Accessed, Earlier, FileReading, NewRecord, NewSource, Place, Portable, RecordUpdate, Replaced, Scope,
};

/// The policy for sensitive data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensitive {
    /// It is refused. The error names its type, and never shows it.
    #[default]
    #[serde(rename = "reject", alias = "refuse")]
    Refuse,
    /// It is saved as `[redacted: ...]`.
    Redact,
}

/// Bytes that are kept of a query.
pub(crate) const MAX_LOGGED_BYTES: usize = 1 << 10;

/// The part of a query that the access log and the search log keep: its beginning only, because it is written with every
/// result; and no secret, as queries may be pasted. Applying it twice changes nothing.
pub(crate) fn logged_query(query: &str) -> String {
    let mut kept = redact(query).replace('\0', " ");
    kept.truncate(kept.floor_char_boundary(MAX_LOGGED_BYTES));
    kept
}

impl Sensitive {
    /// The record as it may be saved.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field and what is in it.
    pub fn new_record<'a>(self, new: &'a NewRecord) -> Result<Cow<'a, NewRecord>> {
        check_scope(&new.scope)?;
        let texts = [
            ("content", Some(new.content.as_str())),
            ("context", new.context.as_deref()),
            ("source", Some(new.source.as_str())),
            ("session", new.session.as_deref()),
        ];
        let place = new.place.iter().flat_map(Place::texts).map(|text| ("place", Some(text)));
        let found = first(texts.into_iter().chain(labelled(&new.tags)).chain(place), new.body.as_ref());
        let allowed = match self.decide(found)? {
            None => Cow::Borrowed(new),
            Some(Redacting) => Cow::Owned(NewRecord {
                content: redacted(&new.content),
                context: new.context.as_deref().map(redacted),
                source: redacted(&new.source),
                session: new.session.as_deref().map(redacted),
                tags: new.tags.iter().map(|tag| redacted(tag)).collect(),
                body: new.body.clone().map(redacted_body).transpose()?,
                place: new.place.clone().map(redacted_place),
                ..new.clone()
            }),
        };
        if let Some(text) = allowed.body.as_ref().and_then(|body| Body::text_of_unchecked(allowed.kind, body))
            && text != allowed.content
        {
            check_text_of_body(&text)?;
        }
        Ok(allowed)
    }

    /// A memory from another store as it may be saved, including its earlier versions and its queries. If its newest text
    /// is redacted, its embeddings are dropped.
    ///
    /// # Errors
    /// As [`Sensitive::new_record`].
    pub(crate) fn portable<'a>(self, portable: &'a Portable) -> Result<Cow<'a, Portable>> {
        let text = self.new_record(&portable.text)?;
        let earlier: Vec<_> = portable.earlier.iter().map(|earlier| self.earlier(earlier)).collect::<Result<_>>()?;
        let is_borrowed = |earlier: &Cow<'_, Earlier>| matches!(earlier, Cow::Borrowed(_));
        let same_text = matches!(text, Cow::Borrowed(_));
        let accesses = accesses(&portable.accesses);
        if same_text && earlier.iter().all(is_borrowed) && matches!(accesses, Cow::Borrowed(_)) {
            return Ok(Cow::Borrowed(portable));
        }
        Ok(Cow::Owned(Portable {
            text: text.into_owned(),
            earlier: earlier.into_iter().map(Cow::into_owned).collect(),
            embedding: portable.embedding.clone().filter(|_| same_text),
            passages: if same_text { portable.passages.clone() } else { Vec::new() },
            ulid: portable.ulid.clone(),
            accesses: accesses.into_owned(),
            ..*portable
        }))
    }

    fn earlier<'a>(self, earlier: &'a Earlier) -> Result<Cow<'a, Earlier>> {
        let number = earlier.version;
        let in_versions = |error: Error| Error::invalid("versions", format!("{number}: {error}"));
        let text = self.new_record(&earlier.text).map_err(in_versions)?;
        let reason = self.reason(&earlier.replaced.reason).map_err(in_versions)?;
        if matches!((&text, &reason), (Cow::Borrowed(_), Cow::Borrowed(_))) {
            return Ok(Cow::Borrowed(earlier));
        }
        let replaced = Replaced { at: earlier.replaced.at, reason: reason.into_owned() };
        Ok(Cow::Owned(Earlier { text: text.into_owned(), replaced, ..*earlier }))
    }

    /// The reason for replacing a version, as it may be kept.
    ///
    /// # Errors
    /// As [`Sensitive::new_record`].
    pub(crate) fn reason(self, reason: &str) -> Result<Cow<'_, str>> {
        Ok(match self.decide(first([("reason", Some(reason))], None))? {
            None => Cow::Borrowed(reason),
            Some(Redacting) => redact(reason),
        })
    }

    /// The change as it may be made. The text of a body is left to [`check_text_of_body`], once the record is known.
    ///
    /// # Errors
    /// As [`Sensitive::new_record`].
    pub(crate) fn update<'a>(self, update: &'a RecordUpdate) -> Result<Cow<'a, RecordUpdate>> {
        let texts = [
            ("content", update.content.as_deref()),
            ("context", update.context.as_ref().and_then(Option::as_deref)),
            ("source", update.source.as_deref()),
            ("reason", update.reason.as_deref()),
        ];
        let tags = [update.tags.as_deref().unwrap_or_default(), &update.add_tags].concat();
        let fields = Value::Object(update.body_fields.clone());
        let found = first(texts.into_iter().chain(labelled(&tags)), update.body.as_ref().and_then(Option::as_ref))
            .or_else(|| first([], Some(&fields)));
        Ok(match self.decide(found)? {
            None => Cow::Borrowed(update),
            Some(Redacting) => Cow::Owned(RecordUpdate {
                content: update.content.as_deref().map(redacted),
                context: update.context.clone().map(|context| context.as_deref().map(redacted)),
                source: update.source.as_deref().map(redacted),
                reason: update.reason.as_deref().map(redacted),
                tags: update.tags.as_ref().map(|tags| tags.iter().map(|tag| redacted(tag)).collect()),
                add_tags: update.add_tags.iter().map(|tag| redacted(tag)).collect(),
                body: update.body.clone().map(|body| body.map(redacted_body).transpose()).transpose()?,
                body_fields: match redacted_body(fields)? {
                    Value::Object(fields) => fields,
                    _ => Map::new(),
                },
                ..update.clone()
            }),
        })
    }

    fn decide(self, found: Option<SecretMatch>) -> Result<Option<Redacting>> {
        match (self, found) {
            (_, None) => Ok(None),
            (Sensitive::Redact, Some(_)) => Ok(Some(Redacting)),
            (Sensitive::Refuse, Some(SecretMatch { field, what })) => Err(Error::invalid(
                field,
                format!(
                    "contains a secret ({what}); remove it, or set secrets = \"redact\" to redact secrets \
                     automatically"
                ),
            )),
        }
    }
}

/// The accesses as they may be kept. A query is never a reason to refuse its memory.
fn accesses(accesses: &[Accessed]) -> Cow<'_, [Accessed]> {
    let queries = || accesses.iter().filter_map(|access| access.query.as_deref());
    if queries().all(|query| logged_query(query) == query) {
        return Cow::Borrowed(accesses);
    }
    let kept = |access: &Accessed| Accessed { query: access.query.as_deref().map(logged_query), ..access.clone() };
    Cow::Owned(accesses.iter().map(kept).collect())
}

/// Refuses the text of a body if it contains a secret that no single field shows, as a title and its description may.
/// It cannot be redacted, as it is unknown which field should lose what.
///
/// # Errors
/// [`Error::Invalid`] names the body and what is in it.
pub(crate) fn check_text_of_body(text: &str) -> Result<()> {
    in_text(text).map_or(Ok(()), |what| Err(stays(what)))
}

/// Refuses a project or agent whose name contains a secret. It cannot be redacted: it identifies the owner of a memory.
pub(crate) fn check_scope(scope: &Scope) -> Result<()> {
    let names = [("agent", scope.agent.as_deref()), ("project", scope.project.as_deref())];
    check_names(names)
}

/// Refuses names that contain a secret and cannot be redacted, because something is found by them.
pub(crate) fn check_names<'a>(names: impl IntoIterator<Item = (&'static str, Option<&'a str>)>) -> Result<()> {
    first(names, None).map_or(Ok(()), |SecretMatch { field, what }| {
        Err(Error::invalid(field, format!("contains a secret ({what}); choose another name")))
    })
}

/// Refuses a source whose path, globs or scope contain a secret: its files are found by them.
pub(crate) fn check_source(source: &NewSource) -> Result<()> {
    check_scope(&source.scope)?;
    let globs = source.globs.iter().map(|glob| ("glob", Some(glob.as_str())));
    check_names([("path", Some(source.path.as_str()))].into_iter().chain(globs))
}

/// The reading of a file as it may be saved. Its records are left to [`Sensitive::new_record`].
///
/// # Errors
/// [`Error::Invalid`] if its path contains a secret. A sync skips such a file ([`is_secret`]).
pub(crate) fn reading(reading: FileReading) -> Result<FileReading> {
    check_names([&reading.path, &reading.thread].map(|path| ("path", Some(path.as_str()))))?;
    let problem = reading.problem.as_deref().map(redacted);
    let cursor = reading.cursor.map(json::redacted_cursor);
    Ok(FileReading { problem, cursor, ..reading })
}

/// Whether a text contains a secret.
pub fn is_secret(text: &str) -> bool {
    in_text(text).is_some()
}

/// A text without what should stay secret.
pub(crate) fn without_secrets(text: &str) -> String {
    redacted(text)
}

/// Something is to be redacted.
struct Redacting;

/// The first finding, and its field.
struct SecretMatch {
    field: &'static str,
    what: &'static str,
}

fn labelled(tags: &[String]) -> impl Iterator<Item = (&'static str, Option<&str>)> {
    tags.iter().map(|tag| ("tags", Some(tag.as_str())))
}

fn first<'a>(
    texts: impl IntoIterator<Item = (&'static str, Option<&'a str>)>,
    body: Option<&Value>,
) -> Option<SecretMatch> {
    let in_texts = texts.into_iter().find_map(|(field, text)| Some(SecretMatch { field, what: in_text(text?)? }));
    in_texts.or_else(|| body.and_then(json::find).map(|what| SecretMatch { field: "body", what }))
}

fn redacted_body(body: Value) -> Result<Value> {
    let body = json::redacted(body);
    json::find(&body).map_or(Ok(body), |what| Err(stays(what)))
}

fn redacted_place(mut place: Place) -> Place {
    place.texts_mut().for_each(|text| *text = redacted(text));
    place
}

fn stays(what: &str) -> Error {
    Error::invalid("body", format!("contains a secret ({what}) that cannot be redacted there; remove it"))
}

#[cfg(test)]
mod tests;
