//! A person's words in the results of tools: answers to questions, and why a call is rejected.

use serde::Deserialize;

use super::super::field::Field;
use super::super::object::JoinedText;
use super::super::records::trimmed;

/// The tool that asks the person.
pub const QUESTION: &str = "question";
/// How the answers begin, and what stands behind them.
const ANSWERED: [&str; 2] = ["User has answered your questions:", "You can now continue with"];
/// How the error of a call begins that a person rejects with a reason.
pub const REJECTED: &str = "The user rejected permission to use this specific tool call with the following feedback:";

/// The state of a call. Its result is a text, or a list of blocks.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct CallState<'a> {
    output: JoinedText,
    content: JoinedText,
    #[serde(borrow)]
    error: Field<'a, CallError<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallError<'a> {
    #[serde(borrow)]
    message: Field<'a>,
}

impl CallState<'_> {
    /// The words of a person in the result of a tool.
    pub fn said(&self, tool: Option<&str>) -> Option<String> {
        let error = self.error.text().or_else(|| self.error.object()?.message.text());
        let output = self.output.0.as_deref().or(self.content.0.as_deref()).unwrap_or_default();
        if let Some(reason) = error.or(Some(output)).and_then(|text| text.strip_prefix(REJECTED)) {
            return trimmed(reason);
        }
        let answers = output.strip_prefix(ANSWERED[0]).filter(|_| tool == Some(QUESTION))?;
        trimmed(answers.rsplit_once(ANSWERED[1]).map_or(answers, |(answers, _)| answers))
    }
}
