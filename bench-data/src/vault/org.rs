//! A note as an org file.

use super::blocks::{Block, Draft};
use super::names::Name;

pub(super) fn write(name: &Name, draft: &Draft) -> String {
    let tags = draft.tags.join(":").replace('-', "_");
    let mut out = format!("#+TITLE: {}\n#+DATE: <{}>\n#+FILETAGS: :{tags}:\n", name.title, name.day);
    for block in &draft.blocks {
        out.push('\n');
        match block {
            Block::Heading { level, text } => out += &format!("{} {text}\n", "*".repeat(level - 1)),
            Block::Paragraph(text) => out += &format!("{text}\n"),
            Block::List { is_numbered, items } => {
                for (number, (depth, text)) in items.iter().enumerate() {
                    let bullet = if *is_numbered { format!("{}.", number + 1) } else { "-".to_owned() };
                    out += &format!("{}{bullet} {text}\n", "   ".repeat(*depth));
                }
            }
            Block::Tasks(tasks) => {
                for (is_done, text) in tasks {
                    out += &format!("- [{}] {text}\n", if *is_done { 'X' } else { ' ' });
                }
            }
            Block::Table(rows) => {
                for (number, row) in rows.iter().enumerate() {
                    out += &format!("| {} |\n", row.join(" | "));
                    if number == 0 {
                        out += "|---+---+---|\n";
                    }
                }
            }
            Block::Code { language, text } => out += &format!("#+BEGIN_SRC {language}\n{text}#+END_SRC\n"),
            Block::Quote(text) => out += &format!("#+BEGIN_QUOTE\n{text}\n#+END_QUOTE\n"),
            Block::Links(links) => {
                for link in links {
                    out += &format!("See [[file:{}][{}]].\n", name.path_to(link).replace("%20", " "), link.title);
                }
            }
        }
    }
    out
}
