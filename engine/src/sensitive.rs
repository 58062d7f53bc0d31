//! What is done about passwords, keys and the like in what is to be saved: refused by name, or taken out.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::secrets::{redact, scan};
use crate::types::{Earlier, NewRecord, Portable, RecordUpdate, Replaced};

/// What is done about sensitive data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensitive {
    /// It is refused. The error names what it is, and never shows it.
    #[default]
    Refuse,
    /// It is saved as `[redacted: ...]`.
    Redact,
}

impl Sensitive {
    /// The record as it may be saved.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the field and what is in it.
    pub fn new_record<'a>(self, new: &'a NewRecord) -> Result<Cow<'a, NewRecord>> {
        let texts = [("content", Some(&new.content)), ("context", new.context.as_ref()), ("source", Some(&new.source))];
        let found = first(texts.into_iter().chain(labelled(&new.tags)), new.body.as_ref());
        Ok(match self.decide(found)? {
            None => Cow::Borrowed(new),
            Some(Redacting) => Cow::Owned(NewRecord {
                content: redacted(&new.content),
                context: new.context.as_deref().map(redacted),
                source: redacted(&new.source),
                tags: new.tags.iter().map(|tag| redacted(tag)).collect(),
                body: new.body.clone().map(redacted_json),
                ..new.clone()
            }),
        })
    }

    /// A memory from another store as it may be saved, its earlier versions too. What is taken out of its newest text takes
    /// the embedding along.
    ///
    /// # Errors
    /// As [`Sensitive::new_record`].
    pub fn portable<'a>(self, portable: &'a Portable) -> Result<Cow<'a, Portable>> {
        let text = self.new_record(&portable.text)?;
        let earlier: Vec<_> = portable.earlier.iter().map(|earlier| self.earlier(earlier)).collect::<Result<_>>()?;
        let is_borrowed = |earlier: &Cow<'_, Earlier>| matches!(earlier, Cow::Borrowed(_));
        let same_text = matches!(text, Cow::Borrowed(_));
        if same_text && earlier.iter().all(is_borrowed) {
            return Ok(Cow::Borrowed(portable));
        }
        Ok(Cow::Owned(Portable {
            text: text.into_owned(),
            earlier: earlier.into_iter().map(Cow::into_owned).collect(),
            embedding: portable.embedding.clone().filter(|_| same_text),
            ulid: portable.ulid.clone(),
            accesses: portable.accesses.clone(),
            ..*portable
        }))
    }

    fn earlier<'a>(self, earlier: &'a Earlier) -> Result<Cow<'a, Earlier>> {
        let number = earlier.version;
        let in_versions = |error: Error| Error::invalid("versions", format!("{number}: {error}"));
        let text = self.new_record(&earlier.text).map_err(in_versions)?;
        let reason = &earlier.replaced.reason;
        let found = self.decide(first([("reason", Some(reason))], None)).map_err(in_versions)?;
        if found.is_none() && matches!(text, Cow::Borrowed(_)) {
            return Ok(Cow::Borrowed(earlier));
        }
        let replaced = Replaced { at: earlier.replaced.at, reason: redacted(reason) };
        Ok(Cow::Owned(Earlier { text: text.into_owned(), replaced, ..*earlier }))
    }

    /// The change as it may be made.
    ///
    /// # Errors
    /// As [`Sensitive::new_record`].
    pub fn update<'a>(self, update: &'a RecordUpdate) -> Result<Cow<'a, RecordUpdate>> {
        let context = update.context.as_ref().and_then(Option::as_ref);
        let texts = [
            ("content", update.content.as_ref()),
            ("context", context),
            ("source", update.source.as_ref()),
            ("reason", update.reason.as_ref()),
        ];
        let tags = update.tags.as_deref().unwrap_or_default();
        let found = first(texts.into_iter().chain(labelled(tags)), update.body.as_ref().and_then(Option::as_ref));
        Ok(match self.decide(found)? {
            None => Cow::Borrowed(update),
            Some(Redacting) => Cow::Owned(RecordUpdate {
                content: update.content.as_deref().map(redacted),
                context: update.context.clone().map(|context| context.as_deref().map(redacted)),
                source: update.source.as_deref().map(redacted),
                reason: update.reason.as_deref().map(redacted),
                tags: update.tags.as_ref().map(|tags| tags.iter().map(|tag| redacted(tag)).collect()),
                body: update.body.clone().map(|body| body.map(redacted_json)),
                ..update.clone()
            }),
        })
    }

    fn decide(self, found: Option<Found>) -> Result<Option<Redacting>> {
        match (self, found) {
            (_, None) => Ok(None),
            (Sensitive::Redact, Some(_)) => Ok(Some(Redacting)),
            (Sensitive::Refuse, Some(Found { field, what })) => Err(Error::invalid(
                field,
                format!(
                    "holds what should stay secret ({what}); leave it out, or set sensitive = \"redact\" to have it taken out"
                ),
            )),
        }
    }
}

/// Something is to be taken out.
struct Redacting;

/// What was found first, and in which field.
struct Found {
    field: &'static str,
    what: &'static str,
}

fn labelled(tags: &[String]) -> impl Iterator<Item = (&'static str, Option<&String>)> {
    tags.iter().map(|tag| ("tags", Some(tag)))
}

fn first<'a>(
    texts: impl IntoIterator<Item = (&'static str, Option<&'a String>)>,
    body: Option<&Value>,
) -> Option<Found> {
    let in_texts = texts.into_iter().find_map(|(field, text)| {
        let finding = scan(text?).into_iter().next()?;
        Some(Found { field, what: finding.what })
    });
    in_texts.or_else(|| body.and_then(in_json).map(|what| Found { field: "body", what }))
}

fn redacted(text: &str) -> String {
    redact(text).into_owned()
}

/// What is found in a JSON value. A text is looked at with the name it stands under, too: `"password": "..."`.
fn in_json(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => scan(text).first().map(|finding| finding.what),
        Value::Array(items) => items.iter().find_map(in_json),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| named(name, value).or_else(|| in_json(value))),
        _ => None,
    }
}

fn named(name: &str, value: &Value) -> Option<&'static str> {
    scan(&format!("{name}: {}", value.as_str()?)).first().map(|finding| finding.what)
}

fn redacted_json(value: Value) -> Value {
    match value {
        Value::String(text) => redacted(&text).into(),
        Value::Array(items) => items.into_iter().map(redacted_json).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| {
                let value = redacted_json(value);
                let value = named(&name, &value).map_or(value, |what| format!("[redacted: {what}]").into());
                (name, value)
            };
            fields.into_iter().map(field).collect::<serde_json::Map<_, _>>().into()
        }
        other => other,
    }
}
