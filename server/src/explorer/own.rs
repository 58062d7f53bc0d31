//! The functions that are answered in JSON: a few tools, and the page's own.

use std::sync::LazyLock;

use memorist_engine::Engine;
use memorist_engine::progress::NoProgress;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{changing, map};
use crate::ops::{self, Context, explore};
use crate::serving::Access::{self, Read, Write};
use crate::tools::{self, Problem, call_strictly};

/// From parameters to the answer, both in JSON.
type Call = dyn Fn(&Engine, &Context, Map<String, Value>) -> Result<Value, Problem> + Send + Sync;

/// A function that is answered in JSON.
pub struct PageFunction {
    pub name: &'static str,
    /// Whether it can change memories or links.
    pub access: Access,
    pub call: Box<Call>,
}

/// Tools that the page calls as they are: none of them counts an access or keeps a search.
pub const SHARED: [&str; 6] = ["add", "list", "link", "unlink", "history", "stats"];

pub static FUNCTIONS: LazyLock<Vec<PageFunction>> = LazyLock::new(|| {
    let shared = SHARED.into_iter().filter_map(|name| {
        let tool = tools::named(name)?;
        let call = move |engine: &Engine, context: &Context, given| tool.call(engine, context, given);
        Some(PageFunction { name, access: tool.effect.access(), call: Box::new(call) })
    });
    let own = [
        strict(Read, "overview", explore::overview),
        strict(Read, "search", explore::search),
        strict(Read, "explain", explore::explain),
        strict(Read, "memory", explore::memory),
        strict(Read, "graph", explore::graph),
        strict(Read, "similar", explore::similar),
        strict(Read, "searches", explore::searches),
        strict(Read, "timeline", explore::timeline),
        strict(Read, "cleanup", explore::cleanup),
        strict(Read, "chain", ops::chain),
        strict(Read, "outdated", ops::outdated),
        strict(Write, "purge", |engine, context, params| ops::purge(engine, context, params, &NoProgress)),
        PageFunction { access: Read, name: "neighbors", call: Box::new(map::neighbors) },
        PageFunction { access: Read, name: "mapLabels", call: Box::new(map::labels) },
        PageFunction { access: Write, name: "merge", call: Box::new(changing::merge) },
        PageFunction { access: Write, name: "update", call: Box::new(changing::update) },
        PageFunction { access: Write, name: "delete", call: Box::new(changing::delete) },
        PageFunction { access: Write, name: "rollback", call: Box::new(changing::roll_back) },
        PageFunction { access: Write, name: "undo", call: Box::new(changing::undo) },
    ];
    own.into_iter().chain(shared).collect()
});

/// A function of `ops`. The page sends values of the right types.
fn strict<P: DeserializeOwned + 'static, R: Serialize + 'static>(
    access: Access,
    name: &'static str,
    operation: fn(&Engine, &Context, P) -> memorist_engine::Result<R>,
) -> PageFunction {
    let call = move |engine: &Engine, context: &Context, given| call_strictly(engine, context, given, operation);
    PageFunction { name, access, call: Box::new(call) }
}
