//! Whether a person has trusted our hooks in Codex, which skips all others without a word. For each hook that was ever trusted its
//! `config.toml` has a hash, under the file, the event and the place of the hook there (Codex 0.171, November 2026). What the hash
//! is of is for Codex alone to say: a hook that has changed since looks like one that has not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::format::Format;

/// Whether each hook of this file that runs memorist was trusted, as it is now or as it was once; `None` if there is none, or a
/// file cannot be read.
pub fn were_trusted(config: &Path, hooks: &Path) -> Option<bool> {
    let ours = keys(&read(Format::Json, hooks)?);
    if ours.is_empty() {
        return None;
    }
    let config = if config.exists() { read(Format::Toml, config)? } else { Value::Null };
    let real = |path: &Path| path.canonicalize().ok();
    let states = config["hooks"]["state"].as_object().into_iter().flatten();
    let trusted: BTreeSet<String> = states
        .filter(|(_, state)| state["trusted_hash"].is_string())
        .filter_map(|(key, _)| split(key))
        .filter_map(|(path, key)| (real(&path) == real(hooks)).then_some(key))
        .collect();
    Some(ours.is_subset(&trusted))
}

fn read(format: Format, path: &Path) -> Option<Value> {
    format.read(&fs::read_to_string(path).ok()?).ok()
}

/// `FILE:EVENT:GROUP:HOOK` as the file and the rest.
fn split(key: &str) -> Option<(PathBuf, String)> {
    let (at, _) = key.rmatch_indices(':').nth(2)?;
    Some((PathBuf::from(&key[..at]), key[at + 1..].to_owned()))
}

/// `EVENT:GROUP:HOOK` of each hook that runs memorist, with the event as `config.toml` writes it: `session_start`.
fn keys(hooks: &Value) -> BTreeSet<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut keys = BTreeSet::new();
    for (event, groups) in hooks["hooks"].as_object().into_iter().flatten() {
        for (group, value) in list(groups).iter().enumerate() {
            for (at, hook) in list(&value["hooks"]).iter().enumerate() {
                if hook["command"].as_str().is_some_and(|command| command.contains(" hook codex ")) {
                    keys.insert(format!("{}:{group}:{at}", snake_case(event)));
                }
            }
        }
    }
    keys
}

fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `config.toml` of Codex where it trusts these hooks.
    fn config(hooks: &Path, keys: &[&str]) -> String {
        let mut text = "[hooks.state]\n".to_owned();
        for key in keys {
            text += &format!("\n[hooks.state.'{}:{key}']\ntrusted_hash = \"sha256:5f38\"\n", hooks.display());
        }
        text
    }

    #[test]
    fn trust_of_hooks_is_read_from_the_settings_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [settings, hooks, other] = ["config.toml", "hooks.json", "other.json"].map(|name| folder.path().join(name));
        let ours = |name: &str| format!(r#"{{ "command": "/m hook codex {name}" }}"#);
        let text = format!(
            r#"{{ "hooks": {{ "SessionStart": [{{ "hooks": [{{ "command": "theirs" }}] }}, {{ "hooks": [{}] }}],
               "Stop": [{{ "hooks": [{{ "command": "theirs" }}, {}] }}] }} }}"#,
            ours("start"),
            ours("stop")
        );
        let trusted = |text: &str| {
            fs::write(&settings, text).unwrap();
            were_trusted(&settings, &hooks)
        };
        assert_eq!(trusted(""), None, "there are no hooks");
        fs::write(&hooks, r#"{ "hooks": { "Stop": [{ "hooks": [{ "command": "theirs" }] }] } }"#).unwrap();
        assert_eq!(trusted(""), None, "there is none of ours");
        fs::write(&hooks, &text).unwrap();
        fs::write(&other, &text).unwrap();
        let both = ["session_start:1:0", "stop:0:1"];
        assert_eq!(trusted(&config(&hooks, &both)), Some(true));
        assert_eq!(trusted(&config(&hooks, &both[..1])), Some(false));
        assert_eq!(trusted(&config(&hooks, &["session_start:0:0", "stop:0:0"])), Some(false), "those of others");
        assert_eq!(trusted(&config(&other, &both)), Some(false), "those of another file");
        assert_eq!(trusted(&config(&hooks, &both).replace("trusted_hash", "enabled")), Some(false));
        assert_eq!(trusted("[mcp_servers]"), Some(false));
        assert_eq!(trusted("nonsense"), None);
        fs::remove_file(&settings).unwrap();
        assert_eq!(were_trusted(&settings, &hooks), Some(false));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_behind_a_link_is_the_same_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        fs::write(
            real.join("hooks.json"),
            r#"{ "hooks": { "Stop": [{ "hooks": [{ "command": "/m hook codex stop" }] }] } }"#,
        )
        .unwrap();
        fs::write(real.join("config.toml"), config(&real.join("hooks.json"), &["stop:0:0"])).unwrap();
        assert_eq!(were_trusted(&link.join("config.toml"), &link.join("hooks.json")), Some(true));
    }
}
