//! Cline 3.65 and its command line, November 2026: the editor's extension and the command line have a file each. Hooks are
//! executables, one of a name.

use crate::Client;
use crate::format::Format;
use crate::place::Place;
use crate::profile::{Content, Files, Part, Profile, Role, standard_entry};
use crate::program::Program;

const COMMAND_LINE: Place = Place::Home(".cline/data/settings/cline_mcp_settings.json");
const EXTENSION: Place =
    Place::Application("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json");

/// Cline.
pub const PROFILE: Profile = Profile {
    client: Client::Cline,
    title: "Cline",
    programs: &["cline"],
    signs: &[Place::Home(".cline"), Place::Application("Code/User/globalStorage/saoudrizwan.claude-dev")],
    parts: &[
        Part::entries(Role::Server, Files::Each(&[COMMAND_LINE, EXTENSION]), Format::Json, standard_entry),
        hook(&[Place::Home("Documents/Cline/Hooks/UserPromptSubmit")], |program| script(program, "prompt")),
        hook(&[Place::Home("Documents/Cline/Hooks/TaskStart")], |program| script(program, "start")),
        hook(&[Place::Home("Documents/Cline/Hooks/TaskResume")], |program| script(program, "start")),
        hook(&[Place::Home("Documents/Cline/Hooks/TaskComplete")], |program| script(program, "end")),
        hook(&[Place::Home("Documents/Cline/Hooks/TaskCancel")], |program| script(program, "end")),
        hook(&[Place::Home("Documents/Cline/Hooks/PreCompact")], |program| script(program, "compact")),
    ],
    advice: "hooks run if they are enabled in its settings",
};

const fn hook(place: &'static [Place], text: fn(&Program) -> String) -> Part {
    Part { role: Role::Hooks, files: Files::First(place), content: Content::File { text, executable: true } }
}

fn script(program: &Program, event: &str) -> String {
    format!(
        "#!/bin/sh\n# Written by `memorist connect`, removed by `memorist disconnect`.\nexec {}\n",
        program.hook_line(Client::Cline, event)
    )
}
