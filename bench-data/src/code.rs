//! Pieces of source code, as they stand in notes, in answers and in what tools print.

use crate::draws::Draws;

const VERBS: [&str; 12] =
    ["parse", "load", "flush", "merge", "fetch", "apply", "retry", "hash", "drain", "render", "purge", "check"];
const NOUNS: [&str; 14] = [
    "order", "tenant", "cursor", "batch", "invoice", "token", "header", "chunk", "queue", "shard", "ledger", "widget",
    "offset", "schema",
];

/// The languages, as a fence names them.
pub(crate) const LANGUAGES: [&str; 7] = ["rust", "python", "sh", "toml", "sql", "json", "yaml"];

/// A name such as `parse_order`.
fn name(draws: &mut Draws) -> String {
    format!("{}_{}", draws.pick(&VERBS), draws.pick(&NOUNS))
}

/// A path such as `src/order/parse.rs`.
pub(crate) fn path(draws: &mut Draws) -> String {
    format!("src/{}/{}.rs", draws.pick(&NOUNS), draws.pick(&VERBS))
}

/// Returns some lines of code in a language, `pieces` times; they end with a line break.
pub(crate) fn code(language: &str, pieces: usize, draws: &mut Draws) -> String {
    let mut text = String::new();
    for _ in 0..pieces {
        let (name, noun, other) = (name(draws), *draws.pick(&NOUNS), *draws.pick(&NOUNS));
        let number = draws.below(5_000);
        text += &match language {
            "rust" => format!(
                "pub fn {name}({noun}: &str) -> Option<u64> {{\n    // {other}s begin at {number}\n    let {other} = \
                 {noun}.trim().parse::<u64>().ok()?;\n    ({other} >= {number}).then_some({other})\n}}\n"
            ),
            "python" => format!(
                "def {name}({noun}):\n    # {other}s begin at {number}\n    {other} = int({noun}.strip())\n    return \
                 {other} if {other} >= {number} else None\n"
            ),
            "sh" => format!(
                "for {noun} in {other}s/*.log; do\n  tail -n {number} \"${noun}\" | grep -c '{name}' || exit 1\ndone\n"
            ),
            "toml" => format!("[{noun}.{name}]\nlimit = {number}\n{other} = \"{noun}-{other}\"\n"),
            "sql" => format!(
                "SELECT {noun}.id, count(*) AS {name}\nFROM {noun} JOIN {other} USING (id)\nWHERE {other}.size > \
                 {number} GROUP BY {noun}.id;\n"
            ),
            "json" => format!("{{\"{name}\": {{\"{noun}\": {number}, \"{other}\": [\"{noun}\", null, true]}}}}\n"),
            _ => format!("{name}:\n  {noun}: {number}\n  {other}s:\n    - {noun}-{other}\n    - \"{number}\"\n"),
        };
    }
    text
}
