//! Parses one JSON-RPC message, a line on stdio or the body of a POST. None stays without a response: an unreadable
//! message is refused with its id, if one can be found.

pub use memorist_ingest::sources::json::repair;
use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, CompleteRequestParams, CustomRequest, GetMeta,
    GetPromptRequestParams, InitializeRequestParams, JsonRpcMessage, PaginatedRequestParams, ReadResourceRequestParams,
};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::{Value, json};

/// Longest message: a memory of 1 MiB with every second character escaped, and room for the rest.
pub const MESSAGE_BYTES: usize = 4 << 20;

/// Most values in a message. In memory each takes many times its size on the wire.
const VALUES: usize = 100_000;

/// Longest id that is recognised in an unreadable message.
const ID_BYTES: usize = 256;

/// Codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// Why there is no message.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Send this response.
    Refused(String),
    /// No response is expected: an empty line, or a broken response to a request.
    Silent,
}

/// Parses a message after [`repair`].
pub fn read(text: &[u8]) -> Result<ClientJsonRpcMessage, Unreadable> {
    let text = trim(text);
    if text.is_empty() {
        return Err(Unreadable::Silent);
    }
    let refused = |code, why: String| {
        let mut envelope = Envelope::default();
        envelope.feed(text);
        Err(envelope.refuse(code, &why))
    };
    if let Err(error) = std::str::from_utf8(text) {
        return refused(PARSE_ERROR, format!("the message is not UTF-8: {error}"));
    }
    if text.len() > VALUES && separators(text) > VALUES {
        return refused(INVALID_REQUEST, format!("a message has at most {VALUES} values; send less at once"));
    }
    let error = match serde_json::from_slice(text) {
        Ok(message) => {
            return match wrong_params(&message) {
                None => Ok(message),
                Some(why) => refused(INVALID_PARAMS, why),
            };
        }
        Err(error) => error,
    };
    match serde_json::from_slice::<Value>(text) {
        Ok(Value::Array(batch)) => Err(Unreadable::Refused(refuse_batch(&batch))),
        Ok(_) => {
            refused(INVALID_REQUEST, format!("the message is not a JSON-RPC 2.0 request with a usable id: {error}"))
        }
        // The parser has no other name for it.
        Err(error) if error.classify() == Category::Syntax && error.to_string().contains("recursion limit") => {
            refused(INVALID_PARAMS, format!("the message is nested too deeply: {error}"))
        }
        Err(error) => refused(PARSE_ERROR, format!("the message is not JSON: {error}")),
    }
}

/// Without a byte order mark and surrounding space.
pub fn trim(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii()
}

/// Commas outside of strings: about as many as values.
fn separators(text: &[u8]) -> usize {
    let (mut in_string, mut escaped, mut count) = (false, false, 0);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b',' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

/// The error in the parameters of a known method. The library mistakes such a request for one of an unknown method.
fn wrong_params(message: &ClientJsonRpcMessage) -> Option<String> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(CustomRequest { method, params, .. }) = &request.request else { return None };
    let params = params.as_ref().unwrap_or(&Value::Null);
    let error = match method.as_str() {
        // The newer era has no such method.
        "initialize" if request.request.get_meta().protocol_version().is_some() => return None,
        "initialize" => InitializeRequestParams::deserialize(params).err(),
        "tools/call" => CallToolRequestParams::deserialize(params).err(),
        "prompts/get" => GetPromptRequestParams::deserialize(params).err(),
        "resources/read" => ReadResourceRequestParams::deserialize(params).err(),
        "completion/complete" => CompleteRequestParams::deserialize(params).err(),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            PaginatedRequestParams::deserialize(params).err()
        }
        _ => return None,
    };
    let why = error.map_or_else(|| "they cannot be read".to_owned(), |error| error.to_string());
    Some(format!("params of {method}: {why}"))
}

/// Each request of a batch is refused with its own id: batches were removed from MCP with 2025-06-18.
fn refuse_batch(batch: &[Value]) -> String {
    const WHY: &str = "batches are not supported; send every request in its own message";
    let requests = batch.iter().filter(|message| message.get("method").is_some());
    let ids = requests.filter_map(|request| request.get("id"));
    let answers: Vec<String> = ids.map(|id| refusal(&id.to_string(), INVALID_REQUEST, WHY)).collect();
    if answers.is_empty() { refusal("null", INVALID_REQUEST, WHY) } else { format!("[{}]", answers.join(",")) }
}

/// An error response. The id is JSON.
fn refusal(id: &str, code: i32, why: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, json!({ "code": code, "message": why }))
}

/// Finds the id of a message that may be broken, or too long to be kept. The message is fed piece by piece.
#[derive(Debug, Default)]
pub struct Envelope {
    /// Open objects and arrays.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the next string in the outermost object is a key.
    at_key: bool,
    key: Vec<u8>,
    /// The value of `id`, while it is being read.
    value: Option<Vec<u8>>,
    id: Option<String>,
    is_request: bool,
    is_answer: bool,
    /// The outermost value is not an object.
    opaque: bool,
}

impl Envelope {
    /// Processes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.next(*byte);
        }
    }

    /// Refuses a message that is too long.
    pub fn too_long(&self) -> Unreadable {
        let mib = MESSAGE_BYTES >> 20;
        self.refuse(INVALID_REQUEST, &format!("a message has at most {mib} MiB; send less at once"))
    }

    fn refuse(&self, code: i32, why: &str) -> Unreadable {
        if self.is_answer && !self.is_request {
            // Responding to a response could go on forever.
            tracing::debug!("an answer that cannot be read: {why}");
            return Unreadable::Silent;
        }
        Unreadable::Refused(refusal(self.id.as_deref().unwrap_or("null"), code, why))
    }

    fn next(&mut self, byte: u8) {
        if self.opaque {
            return;
        }
        let in_string = self.in_string;
        let ends_value = !in_string && self.depth == 1 && matches!(byte, b',' | b'}');
        if ends_value {
            self.end_value();
        } else if let Some(value) = &mut self.value {
            value.push(byte);
            if value.len() > ID_BYTES {
                self.value = None;
            }
        }
        if in_string {
            self.next_in_string(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.at_key {
                    self.key.clear();
                }
            }
            b'{' | b'[' => {
                self.opaque = self.depth == 0 && byte == b'[';
                self.at_key = self.depth == 0;
                self.depth += 1;
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' if self.depth == 1 => self.at_key = true,
            b':' if self.depth == 1 && self.at_key => self.end_key(),
            _ => {}
        }
    }

    fn next_in_string(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.in_string = false,
            _ => {}
        }
        // Relevant keys are shorter.
        if self.in_string && self.at_key && self.depth == 1 && self.key.len() < 8 {
            self.key.push(byte);
        }
    }

    fn end_key(&mut self) {
        self.at_key = false;
        match self.key.as_slice() {
            b"id" if self.id.is_none() => self.value = Some(Vec::new()),
            b"method" => self.is_request = true,
            b"result" | b"error" => self.is_answer = true,
            _ => {}
        }
    }

    /// Only a string or a number is an id.
    fn end_value(&mut self) {
        let value = self.value.take().and_then(|value| String::from_utf8(value).ok());
        let id = value
            .filter(|value| matches!(serde_json::from_str::<Value>(value), Ok(Value::String(_) | Value::Number(_))));
        if let Some(id) = id {
            self.id = Some(id.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error_of(text: &[u8]) -> (Value, i64, String) {
        let Err(Unreadable::Refused(answer)) = read(&repair(text)) else {
            panic!("{} is not refused", String::from_utf8_lossy(text))
        };
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let error = &answer["error"];
        (answer["id"].clone(), error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        for (text, repaired) in [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\uDFFF and \udc00\ud800""#, r#""\ufffd and \ufffd\ufffd""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud800 \\\ud800""#, r#""\\ud800 \\\ufffd""#),
            (r#""\ud83d\n\u00e9""#, r#""\ufffd\n\u00e9""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""\ud800\u"#, r#""\ufffd\u"#),
            (r"\", r"\"),
        ] {
            assert_eq!(repair(text.as_bytes()), repaired.as_bytes(), "{text}");
        }
    }

    #[test]
    fn invalid_messages_are_refused_with_their_id() {
        let deep = format!(r#"{{"id":"a\"b","method":"x","params":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        for (text, id, code) in [
            (&b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\",\"params\":{\"a\":\"\xFF\"}}"[..], json!(7), -32700),
            (br#"{"id":8,"method":"x","params":{"a":NaN}}"#, json!(8), -32700),
            (br#"{"method":"x","params":{"id":1,"a":1e999},"id": "last" }"#, json!("last"), -32700),
            (deep.as_bytes(), json!("a\"b"), -32602),
            (br#"{"id":9,"method":"x"}"#, json!(9), -32600),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(1.5), -32600),
            (br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Value::Null, -32600),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null, -32600),
            (br#"{"jsonrpc":"2.0","id":12"#, Value::Null, -32700),
            (b"junk", Value::Null, -32700),
            (b"null", Value::Null, -32600),
            (b"[]", Value::Null, -32600),
            (b"\xEF\xBB\xBF{}", Value::Null, -32600),
        ] {
            let (found, got, _) = error_of(text);
            assert_eq!((found, got), (id, i64::from(code)), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn params_of_another_type_are_said_to_be_wrong() {
        for (method, params) in [
            ("tools/call", r#"{"name":7}"#),
            ("tools/call", r#"{"name":"x","arguments":[1]}"#),
            ("prompts/get", "{}"),
            ("resources/read", r#"{"uri":{}}"#),
            ("completion/complete", r#"{"ref":1}"#),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":4,"method":"{method}","params":{params}}}"#);
            let (id, code, why) = error_of(text.as_bytes());
            assert_eq!((id, code), (json!(4), -32602), "{text}");
            assert!(why.starts_with(&format!("params of {method}: ")), "{why}");
        }
        for whole in [r#"{"method":"tools/call","params":{"name":"x"}"#, r#"{"method":"of/others","params":{"a":1}"#] {
            read(format!(r#"{whole},"jsonrpc":"2.0","id":1}}"#).as_bytes()).unwrap();
        }
    }

    #[test]
    fn a_message_of_very_many_values_is_refused() {
        let of = |item: &str, count: usize| {
            let items = vec![item; count].join(",");
            format!(r#"{{"jsonrpc":"2.0","id":6,"method":"x/y","params":{{"a":[{items}]}}}}"#)
        };
        let (id, code, why) = error_of(of("1", VALUES + 10).as_bytes());
        assert_eq!((id, code), (json!(6), -32600));
        assert!(why.contains("100000 values"), "{why}");
        read(of("1", VALUES - 10).as_bytes()).unwrap();
        // Commas in strings do not count.
        read(of(r#""\",,,,,,,,,,,,""#, VALUES / 4).as_bytes()).unwrap();
    }

    #[test]
    fn each_request_of_a_batch_is_refused() {
        let batch = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"method":"x"},{"id":"b","method":"ping"}]"#;
        let Err(Unreadable::Refused(answers)) = read(batch) else { panic!("it is refused") };
        let answers: Vec<Value> = serde_json::from_str(&answers).unwrap();
        let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!("b")]);
        assert!(answers.iter().all(|answer| answer["error"]["code"] == -32600));
    }

    #[test]
    fn messages_without_a_response_are_not_answered() {
        for text in ["", "  \r", r#"{"id":1,"result":{},"x":NaN}"#, r#"{"jsonrpc":"2.0","error":7,"id":1}"#] {
            assert!(matches!(read(text.as_bytes()), Err(Unreadable::Silent)), "{text}");
        }
    }

    #[test]
    fn the_id_of_a_message_that_is_too_long_is_found_wherever_it_is() {
        for (before, after, id) in [
            (r#"{"jsonrpc":"2.0","id":3,"method":"x","params":""#, r#""}"#, json!(3)),
            (r#"{"method":"x","params":{"id":9,"a":""#, r#""},"jsonrpc":"2.0","id":"z"}"#, json!("z")),
            ("x", "", Value::Null),
        ] {
            let mut envelope = Envelope::default();
            envelope.feed(before.as_bytes());
            (0..1000).for_each(|_| envelope.feed(&[b'x'; 100]));
            envelope.feed(after.as_bytes());
            let Unreadable::Refused(answer) = envelope.too_long() else { panic!("it is refused") };
            assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["id"], id, "{answer}");
        }
    }

    proptest! {
        /// A request with random cuts and insertions: it is parsed, or refused with one line of JSON.
        #[test]
        fn any_bytes_are_read_or_refused(
            id in prop_oneof!["[0-9]{1,20}", "\"[ -~&&[^\"\\\\]]{0,20}\"", Just("null".to_owned()), Just("{}".to_owned())],
            params in ".{0,40}",
            junk in proptest::collection::vec(any::<u8>(), 0..6),
            at in any::<prop::sample::Index>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let whole = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{params:?}}}}}"#);
            let mut bytes = whole.clone().into_bytes();
            let place = at.index(bytes.len());
            bytes.splice(place..place, junk.iter().copied());
            bytes.truncate(bytes.len() - cut.index(bytes.len()) / 2);
            for bytes in [whole.as_bytes(), &bytes] {
                match read(&repair(bytes)) {
                    Ok(_) => {}
                    Err(Unreadable::Refused(answer)) => {
                        prop_assert!(!answer.contains('\n'));
                        let answer: Value = serde_json::from_str(&answer).unwrap();
                        prop_assert!(answer["error"]["code"].is_i64() && answer.get("id").is_some());
                    }
                    Err(Unreadable::Silent) => prop_assert!(false, "silent: {}", String::from_utf8_lossy(bytes)),
                }
            }
        }
    }
}
