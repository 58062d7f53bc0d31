//! A note as plain text.

use super::blocks::{Block, Draft};
use super::names::Name;

pub(super) fn write(name: &Name, draft: &Draft) -> String {
    let mut out = format!("{}\n{}\n", name.title, "=".repeat(name.title.chars().count()));
    for block in &draft.blocks {
        out.push('\n');
        match block {
            Block::Heading { text, .. } => out += &format!("{}\n", text.to_uppercase()),
            Block::Paragraph(text) => out += &format!("{text}\n"),
            Block::List { items, .. } => {
                items.iter().for_each(|(depth, text)| out += &format!("{}* {text}\n", "  ".repeat(*depth)));
            }
            Block::Tasks(tasks) => {
                tasks.iter().for_each(|(is_done, text)| {
                    out += &format!("{} {text}\n", if *is_done { "done:" } else { "open:" });
                });
            }
            Block::Table(rows) => rows.iter().for_each(|row| out += &format!("{}\n", row.join("\t"))),
            Block::Code { text, .. } => text.lines().for_each(|line| out += &format!("    {line}\n")),
            Block::Quote(text) => out += &format!("\"{text}\"\n"),
            Block::Links(links) => links.iter().for_each(|link| out += &format!("See {}.\n", link.path)),
        }
    }
    out
}
