//! Questions that the agent asks with a tool, and the answers of a person.

use serde::Deserialize;

use super::super::field::{Field, parse};
use super::super::records::join;

/// The tool that asks.
pub const TOOL: &str = "request_user_input";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Questions<'a> {
    #[serde(borrow)]
    questions: Field<'a, Question<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Question<'a> {
    #[serde(borrow)]
    question: Field<'a>,
}

/// The questions of a call, by its arguments.
pub fn asked(arguments: &str) -> Option<String> {
    let mut mended = Vec::new();
    let asked: Questions = parse(arguments.as_bytes(), &mut mended)?;
    let questions = asked.questions.elements().iter().filter_map(Field::object);
    join(questions.filter_map(|question| question.question.text().map(str::to_owned)))
}

/// The answers of a person, by the output of the call: `{"answers":{"<id>":{"answers":["Blue"]}}}`.
pub fn answered(output: &str) -> Option<String> {
    // The answers of a few questions: a larger output has something else.
    const MAX: usize = 64 << 10;
    let output: serde_json::Value = serde_json::from_str(output.get(..MAX).map_or(output, |_| "")).ok()?;
    let answers = output.get("answers")?.as_object()?.values();
    let texts = answers.filter_map(|answer| answer.get("answers")?.as_array());
    join(texts.filter_map(|texts| {
        let texts: Vec<_> =
            texts.iter().filter_map(serde_json::Value::as_str).filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }))
}
