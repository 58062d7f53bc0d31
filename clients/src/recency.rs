//! The recency buffer: before a conversation is compacted, its newest messages are kept whole, and the others are handed
//! over to be summed up.

use std::collections::HashMap;

use memorist_sources::formats::clean::clean;
use serde_json::Value;

/// How many messages are kept by default.
pub const DEFAULT_SIZE: usize = 10;

/// A conversation in two parts. One after the other they are what it was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecencyBuffer {
    /// The older messages.
    pub to_summarize: Vec<Value>,
    /// The newest messages.
    pub preserved: Vec<Value>,
}

/// Keeps the newest `size` messages. A result is never cut from its call: if it is kept, so are the call and what is
/// between them, even if these are more messages. Understands `tool_calls` and messages of a `tool` as OpenAI has them,
/// `tool_use` and `tool_result` as Anthropic has them, `function_call` with its `call_id`, and `toolCall` as Gimli has it.
///
/// ```
/// use memorist_clients::recency::apply_recency_buffer;
/// use serde_json::json;
///
/// let messages = vec![
///     json!({ "role": "user", "content": "Which files are there?" }),
///     json!({ "role": "assistant", "tool_calls": [{ "id": "c1", "function": { "name": "ls" } }] }),
///     json!({ "role": "tool", "tool_call_id": "c1", "content": "a.md" }),
/// ];
/// let buffer = apply_recency_buffer(messages, 1);
/// assert_eq!((buffer.to_summarize.len(), buffer.preserved.len()), (1, 2));
/// ```
pub fn apply_recency_buffer(mut messages: Vec<Value>, size: usize) -> RecencyBuffer {
    let starts = starts(&messages);
    let mut first = messages.len().saturating_sub(size);
    let mut at = messages.len();
    while at > first {
        at -= 1;
        first = first.min(starts[at]);
    }
    let preserved = messages.split_off(first);
    RecencyBuffer { to_summarize: messages, preserved }
}

/// For each message, the first one that it must not be cut from: itself, or that of a call whose result it has. An id that
/// is used again means the nearest call before.
fn starts(messages: &[Value]) -> Vec<usize> {
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut starts = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let mut start = at;
        for part in parts(message) {
            match part {
                ToolPart::Call(id) => drop(calls.insert(id, at)),
                ToolPart::Result(Some(id)) => start = start.min(calls.get(id).copied().unwrap_or(at)),
                // Older interfaces have no id: its call is right before it.
                ToolPart::Result(None) => start = start.min(at.saturating_sub(1)),
            }
        }
        starts.push(start);
    }
    starts
}

/// A part of a message that belongs to another.
enum ToolPart<'a> {
    Call(&'a str),
    Result(Option<&'a str>),
}

/// The text of a person or of the agent in a message, with the role: `user` or `assistant`. Input and output of tools are
/// left out, and so is text that programs put around it.
pub fn said(message: &Value) -> Option<(&str, String)> {
    let message = inner(message);
    let role = message["role"].as_str().filter(|role| matches!(*role, "user" | "assistant"))?;
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => {
            let texts = list(blocks)
                .iter()
                .filter(|block| matches!(block["type"].as_str(), Some("text" | "input_text" | "output_text")));
            texts.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
    };
    Some((role, clean(&text)?))
}

/// Some keep a message within a record of their own.
fn inner(message: &Value) -> &Value {
    message.get("message").filter(|inner| inner.is_object()).unwrap_or(message)
}

fn parts(message: &Value) -> Vec<ToolPart<'_>> {
    let message = inner(message);
    let mut parts = Vec::new();
    for call in list(&message["tool_calls"]) {
        parts.extend(call["id"].as_str().map(ToolPart::Call));
    }
    if matches!(message["role"].as_str(), Some("tool" | "function" | "toolResult")) {
        let id = message["tool_call_id"].as_str().or_else(|| message["toolCallId"].as_str());
        // Blocks of a content may have the id instead.
        let has_blocks = list(&message["content"]).iter().any(|block| block["type"] == "tool_result");
        if id.is_some() || !has_blocks {
            parts.push(ToolPart::Result(id));
        }
    }
    for block in std::iter::once(message).chain(list(&message["content"])) {
        let id = |name: &str| block[name].as_str();
        match block["type"].as_str() {
            Some("tool_use" | "toolCall") => parts.extend(id("id").map(ToolPart::Call)),
            Some("function_call") => parts.extend(id("call_id").map(ToolPart::Call)),
            Some("tool_result") => parts.push(ToolPart::Result(id("tool_use_id"))),
            Some("function_call_output") => parts.push(ToolPart::Result(id("call_id"))),
            _ => {}
        }
    }
    parts
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A call and its results, in the form of one interface each.
    fn call(form: usize, ids: &[String]) -> Value {
        let of = |block: fn(&String) -> Value| ids.iter().map(block).collect::<Vec<_>>();
        match form {
            0 => json!({ "role": "assistant", "tool_calls": of(|id| json!({ "id": id, "type": "function" })) }),
            1 => json!({ "role": "assistant", "content": of(|id| json!({ "type": "tool_use", "id": id })) }),
            _ => {
                json!({ "message": { "role": "assistant", "content": of(|id| json!({ "type": "toolCall", "id": id })) } })
            }
        }
    }

    fn result(form: usize, id: &str) -> Value {
        match form {
            0 => json!({ "role": "tool", "tool_call_id": id, "content": "done" }),
            1 => json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id }] }),
            _ => json!({ "message": { "role": "toolResult", "toolCallId": id } }),
        }
    }

    /// Turns: a text, or a call with results, of which others may come in between; some ids are used again.
    fn conversations() -> impl Strategy<Value = (Vec<Value>, Vec<(usize, usize)>)> {
        let turn = (0..3usize, 0..4usize, 0..3usize, 0..6usize);
        prop::collection::vec(turn, 0..30).prop_map(|turns| {
            let (mut messages, mut pairs) = (Vec::new(), Vec::new());
            for (form, results, between, reuse) in turns {
                let ids: Vec<String> = (0..results).map(|number| format!("call_{}", number + reuse)).collect();
                if ids.is_empty() {
                    messages.push(json!({ "role": "user", "content": format!("text {}", messages.len()) }));
                    continue;
                }
                let at = messages.len();
                messages.push(call(form, &ids));
                for id in &ids {
                    for _ in 0..between {
                        messages.push(json!({ "role": "user", "content": [{ "type": "text", "text": "meanwhile" }] }));
                    }
                    pairs.push((at, messages.len()));
                    messages.push(result(form, id));
                }
            }
            (messages, pairs)
        })
    }

    proptest! {
        /// H2: nothing is lost, the order is kept, no pair is split, and no more is kept than that needs.
        #[test]
        fn a_conversation_is_cut_once_and_between_pairs((messages, pairs) in conversations(), size in 0usize..40) {
            let buffer = apply_recency_buffer(messages.clone(), size);
            let cut = buffer.to_summarize.len();
            prop_assert_eq!([buffer.to_summarize, buffer.preserved].concat(), messages.clone());
            let splits = |cut: usize| pairs.iter().any(|&(call, result)| call < cut && cut <= result);
            prop_assert!(!splits(cut));
            let latest = messages.len().saturating_sub(size);
            prop_assert!(cut <= latest);
            prop_assert!((cut + 1..=latest).all(splits), "{} messages could be summed up", latest);
        }

        #[test]
        fn values_that_are_no_messages_keep_their_place(count in 0usize..20, size in 0usize..20) {
            let odd = [json!(null), json!(7), json!([1]), json!({ "role": ["tool"], "tool_calls": {}, "content": 3 })];
            let messages: Vec<Value> = odd.iter().cycle().take(count).cloned().collect();
            let buffer = apply_recency_buffer(messages.clone(), size);
            prop_assert_eq!(buffer.preserved.len(), size.min(count));
            prop_assert_eq!([buffer.to_summarize, buffer.preserved].concat(), messages);
        }
    }

    #[test]
    fn said_returns_only_texts_of_people_and_of_the_agent() {
        let block = |text: &str| json!({ "type": "text", "text": text });
        let blocks = json!([{ "type": "tool_result", "content": "x" }, block("one"), block("two")]);
        let messages = [
            json!({ "role": "user", "content": "why?<memorist-recall>old</memorist-recall>" }),
            json!({ "message": { "role": "assistant", "content": blocks } }),
            json!({ "role": "tool", "tool_call_id": "c", "content": "no" }),
            json!({ "role": "system", "content": "no" }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "content": "no" }] }),
            json!({ "role": "user", "content": 7 }),
        ];
        let texts: Vec<_> = messages.iter().filter_map(said).collect();
        assert_eq!(texts, [("user", "why?".to_owned()), ("assistant", "one\ntwo".to_owned())]);
    }

    #[test]
    fn ten_are_kept_whole() {
        let messages: Vec<Value> = (0..25).map(|at| json!({ "role": "user", "content": at.to_string() })).collect();
        let buffer = apply_recency_buffer(messages.clone(), DEFAULT_SIZE);
        assert_eq!(buffer.preserved, messages[15..]);
    }

    #[test]
    fn a_result_without_an_id_stays_with_what_is_before_it() {
        let messages = vec![
            json!({ "role": "user", "content": "how warm is it" }),
            json!({ "role": "assistant", "function_call": { "name": "weather" } }),
            json!({ "role": "function", "name": "weather", "content": "17" }),
        ];
        assert_eq!(apply_recency_buffer(messages, 1).preserved.len(), 2);
        let of_responses = vec![
            json!({ "type": "function_call", "call_id": "a" }),
            json!({ "type": "reasoning" }),
            json!({ "type": "function_call_output", "call_id": "a" }),
        ];
        assert_eq!(apply_recency_buffer(of_responses, 1).preserved.len(), 3);
    }
}
