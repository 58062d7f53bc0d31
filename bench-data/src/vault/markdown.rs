//! A note as Markdown.

use super::blocks::{Block, Draft};
use super::marks::Marks;
use super::names::Name;
use crate::draws::Draws;

/// The columns of a paragraph that its writer broke into lines. No fact is that long.
const WIDTH: usize = 88;

const MARKS: Marks = Marks { indent: "  ", done: 'x', rule: "|---|---:|---|" };

pub(super) fn write(name: &Name, draft: &Draft, draws: &mut Draws) -> String {
    let mut out = String::new();
    if draws.percent(if name.is_daily { 20 } else { 60 }) {
        front_matter(name, draft, draws.percent(50), &mut out);
    }
    out += &format!("# {}\n", name.title);
    let is_broken = draws.percent(25);
    for block in &draft.blocks {
        out.push('\n');
        match block {
            Block::Heading { level, text } => out += &format!("{} {text}\n", "#".repeat(*level)),
            Block::Paragraph(text) if is_broken => break_lines(text, &mut out),
            Block::Paragraph(text) => out += &format!("{text}\n"),
            Block::List { is_numbered, items } => MARKS.list(*is_numbered, items, &mut out),
            Block::Tasks(tasks) => MARKS.tasks(tasks, &mut out),
            Block::Table(rows) => MARKS.table(rows, &mut out),
            Block::Code { language, text } => out += &format!("```{language}\n{text}```\n"),
            Block::Quote(text) => out += &format!("> {text}\n"),
            Block::Links(links) => {
                for link in links {
                    out += &match link.index % 3 {
                        0 => format!("See [[{}]].\n", link.stem()),
                        1 => format!("More in [[{}|{}]].\n", link.stem(), link.title),
                        _ => format!("Compare [{}]({}).\n", link.title, name.path_to(link)),
                    };
                }
            }
        }
    }
    out
}

fn front_matter(name: &Name, draft: &Draft, is_list: bool, out: &mut String) {
    *out += &format!("---\ntitle: \"{}\"\ndate: {}\n", name.title, name.day);
    if is_list {
        *out += "tags:\n";
        draft.tags.iter().for_each(|tag| *out += &format!("  - {tag}\n"));
    } else {
        *out += &format!("tags: [{}]\n", draft.tags.join(", "));
    }
    *out += "---\n\n";
}

fn break_lines(text: &str, out: &mut String) {
    let mut column = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > 0 {
            let breaks = column + width >= WIDTH;
            out.push(if breaks { '\n' } else { ' ' });
            column = if breaks { 0 } else { column + 1 };
        }
        out.push_str(word);
        column += width;
    }
    out.push('\n');
}
