//! A memory as a line: `#12 decision 0.83 2026-11-21 Sat: We deploy with Actions [deploy]`. Usual values are left out.

use std::fmt::Write;
use std::ops::Range;

use memorist_engine::snippet;
use memorist_engine::types::{Kind, Mark, Millis, Record, Scope};
use serde_json::Value;

use super::super::graph::link_phrase;
use super::super::place::{line_of_match, path_and_line};
use super::super::times::{day, moment};

/// Characters of another memory in a line.
const BEGINNING_CHARS: usize = 120;

/// How a memory is shown as a line.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryLine<'a> {
    /// Relevance to the query.
    pub relevance: Option<f64>,
    /// The reason for its rank, where the relevance does not say it.
    pub why: Option<&'a str>,
    /// Its status links: superseding and contradicting memories, and the reverse.
    pub marks: &'a [Mark],
    /// The scope of the call: a memory of it need not say so.
    pub scope: Option<&'a Scope>,
    /// The words to cut a long text around.
    pub query: &'a str,
    /// The bytes of it that are nearest to the query by meaning.
    pub passage: Option<&'a Range<usize>>,
    /// Whether the line says that it changed.
    pub changed: bool,
    /// Whether tags and importance are omitted, as searches do.
    pub unlabelled: bool,
    /// Whether the creation date is omitted.
    pub undated: bool,
    /// When it was deleted, or expired.
    pub gone: Option<(&'static str, Millis)>,
}

impl MemoryLine<'_> {
    /// The memory, its text cut to `most` characters.
    pub fn of(&self, record: &Record, most: usize) -> String {
        let mut line = self.head(record);
        let cut = snippet::cut_near(&record.content, self.passage, self.query, most);
        let text = cut.as_deref().unwrap_or(&record.content);
        let _ = write!(line, ": {}", indented(text));
        if cut.is_some() {
            let _ = write!(line, " ({} characters)", record.content.chars().count());
        }
        if let Some(context) = &record.context {
            let context = snippet::cut_to(context, self.query, most).unwrap_or_else(|| context.clone());
            let _ = write!(line, " (context: {})", indented(&context));
        }
        let labels = self.labels(record);
        if !labels.is_empty() {
            let _ = write!(line, " [{}]", labels.join("; "));
        }
        self.marks.iter().for_each(|mark| line.push_str(&marked(mark)));
        line
    }

    /// Number, type, relevance, dates.
    fn head(&self, record: &Record) -> String {
        let mut head = format!("#{}", record.id);
        if record.kind != Kind::Fact {
            let _ = write!(head, " {}", record.kind);
        }
        if let Some(task) = task(record) {
            let _ = write!(head, " ({task})");
        }
        if let Some(relevance) = self.relevance {
            let _ = write!(head, " {}", rounded(relevance));
        }
        if let Some(why) = self.why {
            let _ = write!(head, " ({why})");
        }
        let _ = match (record.valid.from, record.valid.to) {
            (None, None) if self.undated => Ok(()),
            (None, None) => write!(head, " {}", day(record.created_at)),
            (Some(from), None) if record.kind == Kind::Event => write!(head, " on {}", moment(from)),
            (Some(from), None) if from > memorist_engine::now() => write!(head, " from {}", moment(from)),
            (Some(from), None) => write!(head, " since {}", moment(from)),
            (None, Some(to)) => write!(head, " until {}", moment(to)),
            (Some(from), Some(to)) => write!(head, " from {} to {}", moment(from), moment(to)),
        };
        if self.changed && record.version > 1 {
            let at = Some(day(record.updated_at)).filter(|at| *at != day(record.created_at));
            let _ = write!(head, ", changed{}", at.map_or_else(String::new, |at| format!(" {at}")));
        }
        if let Some((how, at)) = self.gone {
            let _ = write!(head, ", {how} {}", day(at));
        } else if let Some(at) = record.expires_at {
            let _ = write!(head, ", expires {}", day(at));
        }
        head
    }

    /// Its type and dates.
    pub fn dates(&self, record: &Record) -> String {
        let head = self.head(record);
        head.split_once(' ').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    }

    /// Everything but the text and its context.
    pub fn without_text(&self, record: &Record) -> String {
        let (mut line, labels) = (self.head(record), self.labels(record));
        if !labels.is_empty() {
            let _ = write!(line, " [{}]", labels.join("; "));
        }
        line
    }

    fn labels(&self, record: &Record) -> Vec<String> {
        let mut labels = Vec::new();
        labels.extend(
            record
                .place
                .as_ref()
                .map(|place| path_and_line(&place.path, line_of_match(place, &record.content, self.query))),
        );
        if record.importance != 5 && !self.unlabelled {
            labels.push(format!("importance {}", record.importance));
        }
        if record.confidence < 1.0 {
            labels.push(format!("confidence {}", rounded(record.confidence)));
        }
        let own = |name: &Option<String>, of: fn(&Scope) -> &Option<String>| {
            name.is_some() && self.scope.is_none_or(|scope| of(scope) != name)
        };
        if own(&record.scope.project, |scope| &scope.project) {
            labels.push(format!("project {}", record.scope.project.as_deref().unwrap_or_default()));
        }
        if own(&record.scope.agent, |scope| &scope.agent) {
            labels.push(format!("agent {}", record.scope.agent.as_deref().unwrap_or_default()));
        }
        if !record.tags.is_empty() && !self.unlabelled {
            labels.push(record.tags.join(", "));
        }
        labels.iter().map(|label| one_line(label)).collect()
    }
}

/// The state of a task.
fn task(record: &Record) -> Option<String> {
    if record.kind != Kind::Task {
        return None;
    }
    let field = |name| record.body.as_ref().and_then(|body| body.get(name));
    let status = field("status").and_then(Value::as_str).unwrap_or("open");
    Some(match field("due").and_then(Value::as_i64) {
        Some(due) if status == "open" && due <= memorist_engine::now() => format!("overdue since {}", day(due)),
        Some(due) => format!("{status}, due {}", day(due)),
        None => status.to_owned(),
    })
}

fn marked(mark: &Mark) -> String {
    let how = link_phrase(mark.kind, mark.by_other);
    format!("\n  {how} #{}: {}", mark.other, quoted(&mark.beginning, BEGINNING_CHARS))
}

/// The beginning of a text, in quotes, on one line.
pub fn beginning(text: &str) -> String {
    quoted(text, BEGINNING_CHARS)
}

fn quoted(text: &str, most: usize) -> String {
    let text = one_line(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("\"{}…\"", text[..end].trim_end()),
        None => format!("\"{text}\""),
    }
}

/// A text without line breaks.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text whose lines after the first have a margin: none of them looks like another memory, or like a mark.
fn indented(text: &str) -> String {
    let breaks = ['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'];
    text.trim().replace("\r\n", "\n").replace(breaks, "\n  | ")
}

/// A number of 0 to 1, to three digits.
fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
