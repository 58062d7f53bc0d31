//! The functions that are not tools, or not quite.

use memorist_engine::progress::NoProgress;

use super::{changing, map};
use crate::ops::{self, explore};
use crate::tools::{Tool, call_strictly};

/// Tools that the page calls as they are: none of them counts an access or keeps a search.
pub const SHARED: &[&str] = &["add", "list", "link", "unlink", "history", "stats"];

/// The others.
pub const OWN: &[Tool] = &[
    Tool::reading("overview", |engine, context, given| call_strictly(engine, context, given, explore::overview)),
    Tool::reading("search", |engine, context, given| call_strictly(engine, context, given, explore::search)),
    Tool::reading("explain", |engine, context, given| call_strictly(engine, context, given, explore::explain)),
    Tool::reading("memory", |engine, context, given| call_strictly(engine, context, given, explore::memory)),
    Tool::reading("graph", |engine, context, given| call_strictly(engine, context, given, explore::graph)),
    Tool::reading("similar", |engine, context, given| call_strictly(engine, context, given, explore::similar)),
    Tool::reading("searches", |engine, context, given| call_strictly(engine, context, given, explore::searches)),
    Tool::reading("timeline", |engine, context, given| call_strictly(engine, context, given, explore::timeline)),
    Tool::reading("cleanup", |engine, context, given| call_strictly(engine, context, given, explore::cleanup)),
    Tool::reading("chain", |engine, context, given| {
        call_strictly(engine, context, given, |e, c, p| ops::chain(e, c, &p))
    }),
    Tool::reading("outdated", |engine, context, given| {
        call_strictly(engine, context, given, |e, c, p| ops::outdated(e, c, &p))
    }),
    Tool::reading("neighbors", map::neighbors),
    Tool::reading("mapLabels", map::labels),
    Tool::writing("purge", |engine, context, given| {
        call_strictly(engine, context, given, |e, c, p| ops::purge(e, c, p, &NoProgress))
    }),
    Tool::writing("merge", changing::merge),
    Tool::writing("update", changing::update),
    Tool::writing("delete", changing::delete),
    Tool::writing("rollback", changing::roll_back),
    Tool::writing("undo", changing::undo),
];
