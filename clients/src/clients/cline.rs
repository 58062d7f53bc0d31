//! Cline 3.65 and its command line, November 2026: the editor's extension and the command line have a file each. Hooks are
//! executables, one of a name; on Windows scripts of PowerShell, the only ones that it runs there.

use crate::Client;
use crate::format::Format;
use crate::place::{Place, Platform};
use crate::profile::{Content, Files, Part, Profile, Role, standard_entry};
use crate::program::Program;

const COMMAND_LINE: Place = Place::Home(".cline/data/settings/cline_mcp_settings.json");
const EXTENSION: Place =
    Place::Application("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json");

pub const PROFILE: Profile = Profile {
    client: Client::Cline,
    title: "Cline",
    programs: &["cline"],
    signs: &[Place::Home(".cline"), Place::Application("Code/User/globalStorage/saoudrizwan.claude-dev")],
    parts: &[
        Part::entries(Role::Server, Files::Each(&[COMMAND_LINE, EXTENSION]), Format::Json, standard_entry),
        hook(&[Place::Script("Documents/Cline/Hooks/UserPromptSubmit")], |program| script(program, "prompt")),
        hook(&[Place::Script("Documents/Cline/Hooks/TaskStart")], |program| script(program, "start")),
        hook(&[Place::Script("Documents/Cline/Hooks/TaskResume")], |program| script(program, "start")),
        hook(&[Place::Script("Documents/Cline/Hooks/TaskComplete")], |program| script(program, "end")),
        hook(&[Place::Script("Documents/Cline/Hooks/TaskCancel")], |program| script(program, "end")),
        hook(&[Place::Script("Documents/Cline/Hooks/PreCompact")], |program| script(program, "compact")),
    ],
    advice: "hooks run if they are enabled in its settings",
};

const fn hook(place: &'static [Place], text: fn(&Program) -> String) -> Part {
    Part { role: Role::Hooks, files: Files::First(place), content: Content::File { text, executable: true } }
}

fn script(program: &Program, event: &str) -> String {
    let line = program.hook_line(Client::Cline, event);
    let (start, exec) = match program.platform {
        // Without the mark, PowerShell reads it in the code page of the system.
        Platform::Windows => ("\u{feff}", ""),
        _ => ("#!/bin/sh\n", "exec "),
    };
    format!("{start}# Written by `memorist connect`, removed by `memorist disconnect`.\n{exec}{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_on_windows_is_a_script_of_powershell() {
        let path = r"C:\a b\memorist.exe".into();
        let program = Program { path, before: vec![], options: vec![], serve: vec![], platform: Platform::Windows };
        let text = script(&program, "stop");
        assert!(
            text.starts_with("\u{feff}# ") && text.ends_with("\nC:/\"a b/memorist.exe\" hook cline stop\n"),
            "{text}"
        );
        let machine = memorist_sources::machine::Machine::new("/home/ana", []);
        let path = |platform| Place::Script("Hooks/TaskStart").path(&machine, platform).display().to_string();
        assert!(path(Platform::Windows).ends_with("TaskStart.ps1") && path(Platform::Linux).ends_with("TaskStart"));
    }
}
