//! Gemini CLI 0.61, November 2026. Hooks of `settings.json` were seen not to run, those of an extension do; their timeouts
//! are in milliseconds.

use serde_json::json;

use crate::Client;
use crate::format::Entry;
use crate::place::Place;
use crate::profile::{Part, Profile, Role, hook_entry, standard_entry};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::Gemini,
    title: "Gemini CLI",
    programs: &["gemini"],
    signs: &[Place::Home(".gemini/settings.json"), Place::Home(".gemini/tmp"), Place::Home(".gemini/extensions")],
    parts: &[
        Part::server(&[Place::Home(".gemini/settings.json")], standard_entry),
        Part::file(Role::Hooks, &[Place::Home(".gemini/extensions/memorist/gemini-extension.json")], extension),
        Part::file(Role::Hooks, &[Place::Home(".gemini/extensions/memorist/hooks/hooks.json")], hooks),
    ],
    advice: "start it again, in a folder that it trusts: elsewhere it starts no server",
};

fn extension(_: &Program) -> String {
    format!("{:#}\n", json!({ "name": NAME, "version": env!("CARGO_PKG_VERSION") }))
}

fn hooks(program: &Program) -> String {
    let events = [("BeforeAgent", "prompt"), ("SessionStart", "start"), ("AfterAgent", "stop"), ("SessionEnd", "end")];
    let mut file = json!({ "hooks": {} });
    for of in events {
        let Entry { value, .. } = hook_entry(program, Client::Gemini, of, 5_000);
        file["hooks"][of.0] = json!([value]);
    }
    format!("{file:#}\n")
}
