//! The systems and their names.

use std::fmt;
use std::str::FromStr;

/// A memory system whose store can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum System {
    Mudpuppy,
    Memorizer,
    /// Krolik's database of memories.
    Krolik,
    /// Gimli's index, one file an agent.
    Gimli,
    /// OpenClaw's index, one file an agent.
    Openclaw,
    /// The notes of a project of basic-memory.
    BasicMemory,
    /// The `memory.jsonl` of `@modelcontextprotocol/server-memory`.
    ServerMemory,
    /// mem0: an export, the local vector store, the history.
    Mem0,
    ClaudeMem,
}

impl System {
    pub const ALL: [System; 9] = [
        System::Mudpuppy,
        System::Memorizer,
        System::Krolik,
        System::Gimli,
        System::Openclaw,
        System::BasicMemory,
        System::ServerMemory,
        System::Mem0,
        System::ClaudeMem,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            System::Mudpuppy => "mudpuppy",
            System::Memorizer => "memorizer",
            System::Krolik => "krolik",
            System::Gimli => "gimli",
            System::Openclaw => "openclaw",
            System::BasicMemory => "basic-memory",
            System::ServerMemory => "server-memory",
            System::Mem0 => "mem0",
            System::ClaudeMem => "claude-mem",
        }
    }

    /// The expected store, for a person who gave something else.
    pub fn expected(self) -> &'static str {
        match self {
            System::Mudpuppy => "Mudpuppy's memory.db, an SQLite database with the table memory_entries",
            System::Memorizer => "Memorizer's memory.db, an SQLite database with the table facts",
            System::Krolik => "Krolik's SQLite database with the table memories",
            System::Gimli => {
                "an agent's index of Gimli (state/memory/AGENT.sqlite, with the table chunks), or their folder"
            }
            System::Openclaw => {
                "an agent's index of OpenClaw (memory/AGENT.sqlite, or agents/AGENT/agent/openclaw-agent.sqlite), or a \
                 folder of them"
            }
            System::BasicMemory => "a Markdown note of basic-memory, or the folder of a project",
            System::ServerMemory => {
                "the memory.jsonl (or memory.json) of server-memory, lines of entities and relations"
            }
            System::Mem0 => {
                "an export of mem0 (JSON), its history.db, the folder of its local Qdrant, or a folder of these"
            }
            System::ClaudeMem => "claude-mem's claude-mem.db, an SQLite database with the table observations",
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for System {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        System::ALL.into_iter().find(|system| system.name() == name).ok_or_else(|| {
            let known = System::ALL.map(System::name).join(", ");
            format!("{name:?} is no system that memorist can read; it knows {known}")
        })
    }
}
