//! Words of a person in the results of tools: reasons to reject a call, and answers to questions of the agent; and the plans that
//! the agent gives to a tool.
//!
//! Few lines have any of these, and results are long. So only a line that has one of the marks is parsed for them.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::field::{Field, parse};
use super::super::records::{join, trimmed};

/// How a result begins that rejects a call.
const REJECTED: &str = "The user doesn't want to proceed with this tool use.";
/// Behind which stands the reason, or the plan as the person has changed it.
const SAID: [&str; 3] = [
    "To tell you how to proceed, the user said:",
    "The user provided the following reason for the rejection:",
    "## Approved Plan (edited by user):",
];
/// How the result begins in which the plan may stand.
const APPROVED: &str = "User has approved your plan";
/// A note that the program adds behind a reason.
const NOTE: &str = "\n\nNote: The user's next message may contain";
/// Text of the program where a person wants to talk about the questions.
const TALK: &str = "The user wants to clarify these questions.";
/// How answers begin and end in the text of a result.
const ANSWERED: [&str; 2] = ["User has answered your questions:", "Your questions have been answered:"];
const GO_ON: &str = "You can now continue with";
/// The tool to which the agent gives its plan.
const PLAN: &str = "ExitPlanMode";
/// Answers of one result that are kept.
const MAX_ANSWERS: usize = 100;

/// The words of a person in the results of a line.
pub fn said(line: &[u8]) -> Option<String> {
    let marks = SAID.iter().chain(&ANSWERED).copied().chain(["\"answers\""]);
    if !marks.map(str::as_bytes).any(|mark| memmem::find(line, mark).is_some()) {
        return None;
    }
    let mut mended = Vec::new();
    let record: ToolRecord = parse(line, &mut mended)?;
    let result = record.tool_use_result.object();
    if let Some(answers) = result.and_then(|result| join(result.answers().filter_map(trimmed_owned))) {
        return Some(answers);
    }
    let blocks = record.message.object()?.content.elements().iter().filter_map(Field::object);
    let results = blocks.filter(|block| block.kind.text() == Some("tool_result"));
    join(results.flat_map(|block| block.texts()).filter_map(of_result))
}

/// The plan in a line of the agent.
pub fn plan(line: &[u8]) -> Option<String> {
    memmem::find(line, PLAN.as_bytes())?;
    let mut mended = Vec::new();
    let record: ToolRecord = parse(line, &mut mended)?;
    let blocks = record.message.object()?.content.elements().iter().filter_map(Field::object);
    let calls = blocks.filter(|block| block.kind.text() == Some("tool_use") && block.name.text() == Some(PLAN));
    join(calls.filter_map(|call| trimmed(call.input.object()?.plan.text()?)))
}

/// The words of a person in the text of a result.
fn of_result(text: &str) -> Option<String> {
    if text.starts_with(REJECTED) || text.starts_with(APPROVED) {
        let (_, said) = SAID.iter().find_map(|mark| text.split_once(mark))?;
        let said = said.split_once(NOTE).map_or(said, |(said, _)| said);
        return trimmed(said).filter(|said| !said.starts_with(TALK));
    }
    let answers = ANSWERED.iter().find_map(|mark| text.strip_prefix(mark))?;
    trimmed(answers.rsplit_once(GO_ON).map_or(answers, |(answers, _)| answers))
}

fn trimmed_owned(text: String) -> Option<String> {
    trimmed(&text)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolRecord<'a> {
    #[serde(borrow)]
    message: Field<'a, ToolMessage<'a>>,
    tool_use_result: Field<'a, Answered<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolMessage<'a> {
    #[serde(borrow)]
    content: Field<'a, ToolBlock<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    name: Field<'a>,
    text: Field<'a>,
    input: Field<'a, Input<'a>>,
    content: Box<Field<'a, ToolBlock<'a>>>,
}

impl ToolBlock<'_> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.elements().iter().filter_map(|element| match element {
            Field::Object(block) => block.text.text(),
            other => other.text(),
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Input<'a> {
    #[serde(borrow)]
    plan: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answered<'a> {
    #[serde(borrow)]
    answers: Field<'a, Pairs<'a>>,
    annotations: Field<'a, Pairs<'a>>,
}

impl Answered<'_> {
    /// Each question with its answer and the notes of the person.
    fn answers(&self) -> impl Iterator<Item = String> {
        let pairs = |pairs: &'_ Field<'_, Pairs<'_>>| -> Vec<(String, String)> {
            let all = pairs.object().map(|pairs| pairs.0.as_slice()).unwrap_or_default();
            all.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        let notes = pairs(&self.annotations);
        pairs(&self.answers).into_iter().map(move |(question, answer)| {
            let note = notes.iter().find(|(about, note)| *about == question && !note.is_empty());
            let note = note.map_or_else(String::new, |(_, note)| format!("\n{note}"));
            format!("{question}\n{answer}{note}")
        })
    }
}

/// The members of an object, by name.
struct Pairs<'a>(Vec<(Cow<'a, str>, Answer<'a>)>);

/// An answer: a text, several, or a note with it.
struct Answer<'a>(Field<'a, Noted<'a>>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct Noted<'a> {
    #[serde(borrow)]
    notes: Field<'a>,
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.0.elements().iter().filter_map(|one| match one {
            Field::Object(noted) => noted.notes.text(),
            other => other.text(),
        });
        formatter.write_str(&texts.collect::<Vec<_>>().join(", "))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Pairs<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while members.len() < MAX_ANSWERS {
                    match map.next_key::<Name>()? {
                        Some(Name(name)) => members.push((name, Answer(map.next_value()?))),
                        None => return Ok(Pairs(members)),
                    }
                }
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Pairs(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn result(content: Value, of_tool: Value) -> Option<String> {
        let blocks = json!([{ "type": "tool_result", "tool_use_id": "t", "content": content, "is_error": true }]);
        let line =
            json!({ "type": "user", "toolUseResult": of_tool, "message": { "role": "user", "content": blocks } });
        said(line.to_string().as_bytes())
    }

    /// 44.6: why a person rejects a call is what they say.
    #[test]
    fn the_reason_of_a_rejection_is_said() {
        let rejected = format!("{REJECTED} The tool use was rejected (eg. if it was a file edit).");
        for (text, expected) in [
            (
                format!("{rejected} {}\nUse the other crate.\n\nIt is kept.", SAID[0]),
                Some("Use the other crate.\n\nIt is kept."),
            ),
            (
                format!("{rejected} {}\nNo \"x\".\n\nNote: The user's next message may contain a correction.", SAID[0]),
                Some("No \"x\"."),
            ),
            (format!("{rejected} {}  not now", SAID[1]), Some("not now")),
            (format!("{rejected} STOP what you are doing."), None),
            (format!("{rejected} {}\n{TALK}\n They may have more.", SAID[0]), None),
            (format!("a log: {rejected} {}\nx", SAID[0]), None),
            (format!("{APPROVED}. You can now start.\n\n{}\n1. Less.", SAID[2]), Some("1. Less.")),
            (format!("{APPROVED}.\n\n## Approved Plan:\n1. More."), None),
        ] {
            assert_eq!(result(json!(text), json!(null)).as_deref(), expected, "{text}");
            let blocks = json!([{ "type": "text", "text": text }]);
            assert_eq!(result(blocks, json!("Error")).as_deref(), expected, "{text}");
        }
    }

    /// 44.6: answers are kept with their questions.
    #[test]
    fn answers_to_questions_are_said() {
        let answers = json!({ "answers": { "Which \"db\"?": "SQLite", "And which?": ["a", "b"], "No?": "" },
            "annotations": { "Which \"db\"?": { "preview": "p", "notes": "it is there" } }, "questions": [] });
        let text =
            "User has answered your questions: \"Q\"=\"A\". You can now continue with the user's answers in mind.";
        assert_eq!(
            result(json!(text), answers).as_deref(),
            Some("Which \"db\"?\nSQLite\nit is there\n\nAnd which?\na, b\n\nNo?")
        );
        assert_eq!(result(json!(text), json!({ "stdout": "x" })).as_deref(), Some("\"Q\"=\"A\"."));
        assert_eq!(result(json!("x"), json!({ "answers": 7, "annotations": [] })), None);
    }

    /// 44.6: the plan is what the agent says to the person.
    #[test]
    fn the_plan_is_said() {
        let of = |name: &str, input: Value| {
            let blocks = json!([{ "type": "tool_use", "name": name, "input": input }]);
            plan(json!({ "message": { "content": blocks } }).to_string().as_bytes())
        };
        assert_eq!(of("ExitPlanMode", json!({ "plan": "# Plan\n1. Do it.\n" })).as_deref(), Some("# Plan\n1. Do it."));
        assert_eq!(of("ExitPlanMode", json!({})), None);
        assert_eq!(of("Write", json!({ "plan": "ExitPlanMode" })), None);
    }

    #[test]
    fn an_object_of_many_members_is_read_up_to_a_number() {
        let many: String = (0..20_000).map(|number| format!("\"{number}\":\"x\",")).collect();
        let line = format!("{{\"toolUseResult\":{{\"answers\":{{{many}\"last\":[[[]]]}}}}}}");
        assert_eq!(said(line.as_bytes()).unwrap().lines().count(), 3 * MAX_ANSWERS - 1);
    }
}
