//! A note as an org file.

use super::blocks::{Block, Draft};
use super::marks::Marks;
use super::names::Name;

const MARKS: Marks = Marks { indent: "   ", done: 'X', rule: "|---+---+---|" };

pub(super) fn write(name: &Name, draft: &Draft) -> String {
    let tags = draft.tags.join(":").replace('-', "_");
    let mut out = format!("#+TITLE: {}\n#+DATE: <{}>\n#+FILETAGS: :{tags}:\n", name.title, name.day);
    for block in &draft.blocks {
        out.push('\n');
        match block {
            Block::Heading { level, text } => out += &format!("{} {text}\n", "*".repeat(level - 1)),
            Block::Paragraph(text) => out += &format!("{text}\n"),
            Block::List { is_numbered, items } => MARKS.list(*is_numbered, items, &mut out),
            Block::Tasks(tasks) => MARKS.tasks(tasks, &mut out),
            Block::Table(rows) => MARKS.table(rows, &mut out),
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
