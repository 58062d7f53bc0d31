//! The content of a client's file with our part, and without it.

use serde_json::{Value, json};

use super::block;
use super::ledger::{Ledger, Record, Written, sha256};
use super::trouble::Trouble;
use crate::format::{Entry, Format, Presence, Slot};
use crate::program::NAME;

/// A file without our part, which a record lists.
#[derive(Debug, PartialEq)]
pub struct Without {
    /// The content that is left; `None` if no file is to be left.
    pub content: Option<Vec<u8>>,
    /// The record of the parts that were changed by hand since, and stay.
    pub edited: Option<Record>,
    /// [`Trouble::Edited`] for each of these parts.
    pub troubles: Vec<Trouble>,
}

/// Takes our part out of `current`: restores the exact content from before if nobody else has changed the file since,
/// and otherwise removes our part alone.
pub fn without(ledger: &Ledger, record: &Record, current: Option<&[u8]>) -> Result<Without, Trouble> {
    let hash = current.map(sha256);
    let exact = record.versions().find(|version| hash.as_ref() == Some(&version.after));
    if let Some(version) = exact {
        return without_version(ledger, version, current);
    }
    let mut found = without_version(ledger, record, current)?;
    // What one version says was edited may be as an older one wrote it.
    for version in record.versions().skip(1) {
        found = without_version(ledger, version, found.content.as_deref())?;
    }
    Ok(found)
}

fn without_version(ledger: &Ledger, record: &Record, current: Option<&[u8]>) -> Result<Without, Trouble> {
    let plain = |content: Option<Vec<u8>>| Without { content, edited: None, troubles: Vec::new() };
    let Some(current) = current else { return Ok(plain(None)) };
    if sha256(current) == record.after {
        match record.base.as_ref().and_then(|base| ledger.kept(base)) {
            Some(content) => return Ok(plain(Some(content))),
            None if record.created => return Ok(plain(None)),
            None => {}
        }
    }
    let text = std::str::from_utf8(current).map_err(|_| Trouble::NotText)?;
    match &record.written {
        Written::Entries { format, entries, made, frame } => {
            without_entries(record, (*format, text), (entries, made, frame))
        }
        Written::File => Ok(Without {
            content: Some(current.to_owned()),
            edited: Some(record.clone()),
            troubles: vec![Trouble::Edited(record.path.display().to_string())],
        }),
        Written::Block(ours) => match block::remove(text, ours) {
            Some(rest) if rest.trim().is_empty() && record.created => Ok(plain(None)),
            Some(rest) => Ok(plain(Some(rest.into_bytes()))),
            None if block::has_block(text) => Ok(Without {
                content: Some(current.to_owned()),
                edited: Some(record.clone()),
                troubles: vec![Trouble::Edited("the paragraph between the marks".to_owned())],
            }),
            None => Ok(plain(Some(current.to_owned()))),
        },
    }
}

fn without_entries(
    record: &Record,
    (format, text): (Format, &str),
    (entries, made, frame): (&[Entry], &[Entry], &[Entry]),
) -> Result<Without, Trouble> {
    let mut text = text.to_owned();
    let (mut kept, mut troubles) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry.presence(&format.read(&text)?)? {
            Presence::Missing => {}
            Presence::Same => text = format.remove(&text, entry)?,
            Presence::Other(_) => {
                troubles.push(Trouble::Edited(entry.shown()));
                kept.push(entry.clone());
            }
        }
    }
    for empty in made.iter().rev() {
        if let Ok(Presence::Same) = empty.presence(&format.read(&text)?) {
            text = format.remove(&text, empty)?;
        }
    }
    let left = format.read(&text)?;
    let is_frame = |(name, _): (&String, &Value)| frame.iter().any(|entry| entry.slot == Slot::Member(name.clone()));
    let is_empty =
        left.as_object().is_some_and(|members| members.iter().all(is_frame)) && !format.may_have_comment(&text);
    let content = (!(record.created && is_empty && kept.is_empty())).then(|| text.into_bytes());
    let edited = (!kept.is_empty()).then(|| Record {
        written: Written::Entries { format, entries: kept, made: made.to_vec(), frame: frame.to_vec() },
        ..record.clone()
    });
    Ok(Without { content, edited, troubles })
}

/// A text with entries of ours.
#[derive(Debug)]
pub struct With {
    pub text: String,
    /// The entries that were added. Entries that were there already are not ours.
    pub entries: Vec<Entry>,
    /// The objects and lists that were made around them.
    pub made: Vec<Entry>,
    /// The entries that the client requires of the file, and that it lacked.
    pub frame: Vec<Entry>,
    /// The entries that a person has registered by hand, as [`Entry::shown`].
    pub by_hand: Vec<String>,
}

/// Adds entries to a text.
pub fn with_entries(format: Format, base: &str, frame: &[Entry], entries: &[Entry]) -> Result<With, Trouble> {
    let mut with = With { text: base.to_owned(), entries: vec![], made: vec![], frame: vec![], by_hand: vec![] };
    for entry in frame {
        if entry.presence(&format.read(&with.text)?)? == Presence::Missing {
            with.text = format.insert(&with.text, entry)?;
            with.frame.push(entry.clone());
        }
    }
    for entry in entries {
        let read = format.read(&with.text)?;
        match entry.presence(&read)? {
            Presence::Missing if hook_of_ours(entry, &read).is_none() => {
                with.made.extend(missing_containers(entry, &read));
                with.text = format.insert(&with.text, entry)?;
                with.entries.push(entry.clone());
            }
            Presence::Other(value) if !is_ours(&value) => return Err(Trouble::Taken(entry.shown())),
            _ => with.by_hand.push(entry.shown()),
        }
    }
    Ok(with)
}

/// The objects and lists on the path of an entry that are missing, the outermost first.
fn missing_containers(entry: &Entry, read: &Value) -> Vec<Entry> {
    let (mut missing, mut value) = (Vec::new(), read);
    for (depth, key) in entry.path.iter().enumerate() {
        value = &value[key.as_str()];
        if value.is_null() {
            let is_list = depth + 1 == entry.path.len() && entry.slot == Slot::Item;
            let empty = if is_list { json!([]) } else { json!({}) };
            let path: Vec<&str> = entry.path[..depth].iter().map(String::as_str).collect();
            missing.push(Entry::member(&path, key, empty));
        }
    }
    missing
}

/// The program that an entry of a server, or of a hook, runs: memorist, if that is one of several.
pub fn command_of(entry: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match &entry["command"] {
        Value::Array(words) => text(words.first()?),
        Value::String(line) if line.contains(" hook ") => first_word(line),
        Value::String(command) => Some(command.clone()),
        _ => text(&entry["cmd"]).or_else(|| {
            let items = entry["hooks"].as_array()?;
            command_of(items.iter().find(|item| is_ours(item)).or(items.first())?)
        }),
    }
}

/// The first word of a line for a shell, whose quotes are ours. PowerShell wants a `&` before one that begins with a quote.
fn first_word(line: &str) -> Option<String> {
    let line = line.strip_prefix("& ").unwrap_or(line);
    if let Some(quoted) = line.strip_prefix('\'') {
        return Some(quoted.split("' ").next()?.replace("'\\''", "'"));
    }
    let mut is_quoted = false;
    let end = line.find(|c| {
        is_quoted ^= c == '"';
        c == ' ' && !is_quoted
    });
    Some(line[..end.unwrap_or(line.len())].replace('"', ""))
}

/// Whether an entry runs memorist, also if a person wrote it.
pub fn is_ours(entry: &Value) -> bool {
    command_of(entry).is_some_and(|command| {
        let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
        name.trim_end_matches(".exe") == NAME || (name.starts_with("python") && runs_module(entry))
    })
}

/// Whether its arguments, which are a list or part of a line, have Python run the module of our name.
fn runs_module(entry: &Value) -> bool {
    let text = entry.to_string();
    text.contains(&format!(r#""-m","{NAME}""#)) || text.contains(&format!(" -m {NAME} "))
}

/// Whether a value is ours, or ours with members that a client's own command has added.
pub fn extends(value: &Value, ours: &Value) -> bool {
    let has = |(name, member): (&String, &Value)| value.get(name) == Some(member);
    value == ours || ours.as_object().is_some_and(|ours| ours.iter().all(has))
}

/// The hook that runs memorist in the list of `entry`, by any path and with any options.
pub fn hook_of_ours<'a>(entry: &Entry, read: &'a Value) -> Option<&'a Value> {
    let list = entry.path.iter().fold(read, |value, key| &value[key.as_str()]);
    let is_hook = entry.value.get("name").is_none() && entry.slot == Slot::Item;
    list.as_array().filter(|_| is_hook)?.iter().find(|item| is_ours(item))
}
