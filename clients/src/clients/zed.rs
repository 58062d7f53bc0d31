//! Zed, November 2026. Its rules for all projects are in a database, so there is no instruction.

use crate::Client;
use crate::format::Entry;
use crate::place::Place;
use crate::profile::{Part, Profile, standard};
use crate::program::{NAME, Program};

pub const PROFILE: Profile = Profile {
    client: Client::Zed,
    title: "Zed",
    programs: &["zed", "zeditor"],
    signs: &[Place::Config("zed")],
    parts: &[Part::server(&[Place::Config("zed/settings.json")], server)],
    advice: "it starts the server by itself",
};

fn server(program: &Program) -> Vec<Entry> {
    vec![Entry::member(&["context_servers"], NAME, standard(program))]
}
