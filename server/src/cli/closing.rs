//! How to connect an agent to this program: the end of the demo's output.

use std::path::Path;
use std::slice;

use memorist_durable::ThisProgram;
use serde_json::json;

/// The text, for this program, with the store in the folder `store` unless it is the default one.
pub fn text(program: &ThisProgram, store: Option<&Path>) -> String {
    let before = &program.before;
    let program = program.file.display().to_string();
    let mut options = Vec::new();
    if let Some(store) = store {
        options.extend(["--store".to_owned(), store.display().to_string()]);
    }
    let arguments = [&before[..], &["serve".to_owned()], &options[..]].concat();
    let settings = json!({ "mcpServers": { "memorist": { "command": program, "args": arguments } } });
    format!(
        "To connect your clients (shows each change of their settings, then asks):\n\n  {}\n\nor add this to the \
         settings of your MCP client\n\n{settings:#}\n\nSeveral agents may use one store at the same time. One server \
         for all of them, over HTTP:\n\n  {} --http 127.0.0.1:8765      (then connect to http://127.0.0.1:8765/mcp)",
        [slice::from_ref(&program), &before[..], &["connect".to_owned()], &options[..]].concat().join(" "),
        [slice::from_ref(&program), &arguments[..]].concat().join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_are_json_that_starts_the_server() {
        let program = ThisProgram { file: "/opt/a \"b\"/memorist".into(), ..ThisProgram::default() };
        let text = text(&program, Some(Path::new("/my/store")));
        let (start, end) = (text.find('{').unwrap(), text.rfind('}').unwrap());
        let settings: serde_json::Value = serde_json::from_str(&text[start..=end]).unwrap();
        let server = &settings["mcpServers"]["memorist"];
        assert_eq!(server["command"], "/opt/a \"b\"/memorist");
        assert_eq!(server["args"], json!(["serve", "--store", "/my/store"]));
        assert!(text.contains("/memorist connect --store /my/store\n"), "{text}");
        assert!(text.contains("/memorist serve --store /my/store --http 127.0.0.1:8765 "), "{text}");
    }

    #[test]
    fn an_interpreter_is_told_what_to_run() {
        let before = ["-m", "memorist"].map(Into::into).to_vec();
        let text = text(&ThisProgram { file: "/bin/python3".into(), before, ..ThisProgram::default() }, None);
        assert!(text.contains("\n  /bin/python3 -m memorist connect\n"), "{text}");
        assert!(text.contains("  /bin/python3 -m memorist serve --http 127.0.0.1:8765 "), "{text}");
        let (start, end) = (text.find('{').unwrap(), text.rfind('}').unwrap());
        let settings: serde_json::Value = serde_json::from_str(&text[start..=end]).unwrap();
        assert_eq!(settings["mcpServers"]["memorist"]["args"], json!(["-m", "memorist", "serve"]));
    }
}
