//! Memories about files, commands and errors, and sessions of actions that are about these, or about something like them.

mod wordings;

use crate::draws::{Draws, Purpose};
use wordings::{Wordings, sets};

/// An action that an agent is about to do, or one that has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentAction {
    /// It changes the file at this path in the work tree.
    Edit(String),
    /// It runs this line.
    Run(String),
    /// A command failed with this text.
    Failed(String),
}

/// A kind of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionClass {
    /// A memory has the path of the file.
    FileByPath,
    /// A memory has the name of the file.
    FileByName,
    /// A memory has the command, with other options.
    Command,
    /// A memory has the code of the error.
    ErrorByCode,
    /// A memory has words of the error.
    ErrorByWords,
    /// A memory has the path of a file of this name in another folder.
    SameNameElsewhere,
    /// A memory is about another file of the folder.
    OtherFileOfFolder,
    /// A memory is about something else that the program does.
    OtherSubcommand,
    /// The line only looks.
    Looks,
    /// A memory has the code, and is about another cause.
    OtherCause,
    /// The session has it already.
    Again,
    /// Nothing is saved about it.
    NothingSaved,
}

impl ActionClass {
    /// All of them: first those that a memory is about.
    pub const ALL: [ActionClass; 12] = [
        ActionClass::FileByPath,
        ActionClass::FileByName,
        ActionClass::Command,
        ActionClass::ErrorByCode,
        ActionClass::ErrorByWords,
        ActionClass::SameNameElsewhere,
        ActionClass::OtherFileOfFolder,
        ActionClass::OtherSubcommand,
        ActionClass::Looks,
        ActionClass::OtherCause,
        ActionClass::Again,
        ActionClass::NothingSaved,
    ];

    /// Whether a memory is about such actions.
    pub fn has_memory(self) -> bool {
        (self as usize) < WITH_MEMORY
    }

    /// The share, in percent, that has to be right: the memory where there is one, else nothing.
    pub fn bar(self) -> usize {
        match self {
            ActionClass::ErrorByWords => 70,
            ActionClass::OtherCause => 80,
            class if class.has_memory() => 95,
            _ => 99,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionAction {
    /// The file, the line or the text.
    pub action: AgentAction,
    pub class: ActionClass,
    /// The memory that is about it, by its place in [`Actions::memories`].
    pub memory: Option<usize>,
}

/// Memories, and sessions that come later.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actions {
    /// The texts, each with its kind and its importance.
    pub memories: Vec<(String, &'static str, i64)>,
    /// The sessions, and whether each has wordings that the rules are chosen by.
    pub sessions: Vec<(bool, Vec<SessionAction>)>,
}

/// Classes with a memory.
const WITH_MEMORY: usize = 5;
/// Sessions of each set of wordings, and actions of a session.
const SESSIONS: usize = 60;
const LENGTH: usize = 40;
/// Actions of each class with a memory in a session: fewer in all than a session gets.
const OF_EACH: usize = 2;

pub fn actions(seed: u64) -> Actions {
    let mut all = Actions::default();
    for (number, wordings) in sets().iter().enumerate() {
        let mut draws = Draws::of(seed, Purpose::Action, number as u64);
        let saved = save(wordings, &mut all, &mut draws);
        for _ in 0..SESSIONS {
            all.sessions.push((number < 6, session(&saved, &mut draws)));
        }
    }
    all
}

/// The actions of a set of wordings that a memory is about, and those that it seems to be about.
#[derive(Default)]
struct Saved {
    /// Each class with a memory: its actions, some of them about one memory.
    about: [Vec<(AgentAction, usize)>; WITH_MEMORY],
    others: Vec<(ActionClass, AgentAction)>,
}

fn save(wordings: &Wordings, all: &mut Actions, draws: &mut Draws) -> Saved {
    let mut saved = Saved::default();
    let mut add = |text: String, kinds: &[&'static str]| {
        let kind = draws.pick(kinds);
        all.memories.push((text, kind, 3 + draws.below(7) as i64));
        all.memories.len() - 1
    };
    let of_files = ["decision", "bugfix", "pattern", "preference", "insight", "skill"];
    let of_errors = ["bugfix", "insight", "pattern"];
    let (folders, notes) = (wordings.folders.len(), wordings.of_files.len());
    let mut note = 0;
    let mut about = |name: &str| {
        note += 1;
        wordings.of_files[(note * 5 + note / notes) % notes].replace("{}", name)
    };
    for (at, name) in wordings.names.iter().chain(&wordings.ordinary).enumerate() {
        let path = |folder: usize| format!("{}/{name}", wordings.folders[(at + folder) % folders]);
        // The last names are known by the name alone, which is in one folder.
        if (10..wordings.names.len()).contains(&at) {
            let memory = add(about(name), &of_files);
            saved.about[1].push((AgentAction::Edit(path(0)), memory));
            continue;
        }
        for folder in [0, 3] {
            let memory = add(about(&path(folder)), &of_files);
            saved.about[0].push((AgentAction::Edit(path(folder)), memory));
        }
        for folder in [1, 5] {
            saved.others.push((ActionClass::SameNameElsewhere, AgentAction::Edit(path(folder))));
        }
    }
    for (at, folder) in wordings.folders.iter().enumerate() {
        let name = &wordings.names[at];
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "rs"));
        for path in [format!("{folder}/{stem}_old.{extension}"), format!("{folder}/new_{stem}.{extension}")] {
            saved.others.push((ActionClass::OtherFileOfFolder, AgentAction::Edit(path)));
        }
        saved.others.push((ActionClass::NothingSaved, AgentAction::Edit(format!("{folder}/README.md"))));
        saved.others.push((ActionClass::NothingSaved, AgentAction::Edit(format!("docs/chapter_{at}.md"))));
    }
    for command in &wordings.commands {
        let memory = add(command.memory.clone(), &of_files);
        saved.about[2].extend(command.lines.iter().map(|line| (AgentAction::Run(line.clone()), memory)));
        let others = command.others.iter().map(|line| (ActionClass::OtherSubcommand, AgentAction::Run(line.clone())));
        saved.others.extend(others);
    }
    let filled = |text: &str, at: usize| {
        let (id, port) = (&wordings.ids[at % wordings.ids.len()], &wordings.ports[at % wordings.ports.len()]);
        text.replace("{id}", id).replace("{port}", port)
    };
    for (at, coded) in wordings.coded.iter().enumerate() {
        for at in [at, at + 3, at + 5] {
            let memory = add(filled(&coded.memory, at), &of_errors);
            saved.about[3].push((AgentAction::Failed(filled(&coded.error, at)), memory));
        }
        saved.others.push((ActionClass::OtherCause, AgentAction::Failed(coded.other.clone())));
    }
    for (at, worded) in wordings.worded.iter().enumerate() {
        for at in [at, at + 1, at + 4] {
            let memory = add(filled(&worded.memory, at), &of_errors);
            saved.about[4].push((AgentAction::Failed(filled(&worded.error, at)), memory));
        }
    }
    for (at, other) in wordings.others.iter().enumerate() {
        for at in at..at + if other.contains("{id}") { 4 } else { 1 } {
            add(filled(other, at), &of_files);
        }
    }
    let run = |class, lines: &[String]| {
        lines.iter().map(move |line| (class, AgentAction::Run(line.clone()))).collect::<Vec<_>>()
    };
    saved.others.extend(run(ActionClass::Looks, &wordings.looks));
    saved.others.extend(run(ActionClass::NothingSaved, &wordings.unknown));
    for (at, error) in wordings.errors.iter().enumerate() {
        let failed = |at| (ActionClass::NothingSaved, AgentAction::Failed(filled(error, at)));
        saved.others.extend((at..at + if error.contains("{id}") { 4 } else { 1 }).map(failed));
    }
    saved
}

/// A session: its actions with a memory, each about another one, one of them again, and others among them.
fn session(saved: &Saved, draws: &mut Draws) -> Vec<SessionAction> {
    let mut actions: Vec<SessionAction> = Vec::new();
    for (class, about) in ActionClass::ALL.into_iter().zip(&saved.about) {
        while actions.iter().filter(|action| action.class == class).count() < OF_EACH {
            let (action, memory) = draws.pick(about).clone();
            if actions.iter().all(|other| other.memory != Some(memory)) {
                actions.push(SessionAction { action, class, memory: Some(memory) });
            }
        }
    }
    let others: Vec<ActionClass> =
        ActionClass::ALL.into_iter().filter(|class| !class.has_memory() && *class != ActionClass::Again).collect();
    while actions.len() < LENGTH - OF_EACH * WITH_MEMORY / 2 {
        let class = *draws.pick(&others);
        let of_class: Vec<_> = saved.others.iter().filter(|(other, _)| *other == class).collect();
        let (_, action) = draws.pick(&of_class);
        actions.push(SessionAction { action: action.clone(), class, memory: None });
    }
    for at in (1..actions.len()).rev() {
        actions.swap(at, draws.below(at + 1));
    }
    // Some of those that a memory is about come again.
    let given: Vec<AgentAction> =
        actions.iter().filter(|one| one.memory.is_some()).map(|one| one.action.clone()).collect();
    let again = given.into_iter().step_by(2);
    actions.extend(again.map(|action| SessionAction { action, class: ActionClass::Again, memory: None }));
    actions
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn actions_of_a_seed_have_every_class_chosen_and_held_out() {
        let all = actions(7);
        assert_eq!(all, actions(7));
        assert_ne!(all.sessions, actions(8).sessions);
        assert!((300..=1_800).contains(&all.memories.len()), "{}", all.memories.len());
        let texts: BTreeSet<_> = all.memories.iter().map(|(text, ..)| text).collect();
        assert_eq!(texts.len(), all.memories.len(), "no text twice");
        for class in ActionClass::ALL {
            for chosen in [true, false] {
                let of_part = all.sessions.iter().filter(|(is_choosing, _)| *is_choosing == chosen);
                let of_class = of_part.flat_map(|(_, actions)| actions).filter(|action| action.class == class);
                assert!(of_class.clone().count() >= 100, "{class:?}: {}", of_class.count());
                assert!(of_class.clone().all(|action| action.memory.is_some() == class.has_memory()));
            }
        }
        assert!(all.sessions.iter().all(|(_, actions)| actions.len() == LENGTH));
    }
}
