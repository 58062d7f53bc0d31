//! The content of a note, before it is written in a syntax.

use super::names::{Name, title};
use crate::code::{LANGUAGES, code};
use crate::draws::Draws;
use crate::prose::{self, Prose};

/// A note that is not written yet.
pub(super) struct Draft {
    pub tags: Vec<String>,
    pub blocks: Vec<Block>,
}

/// A part of a note.
pub(super) enum Block {
    Heading {
        level: usize,
        text: String,
    },
    Paragraph(String),
    /// Items, each with its depth from 0 on.
    List {
        is_numbered: bool,
        items: Vec<(usize, String)>,
    },
    Tasks(Vec<(bool, String)>),
    /// The first row names the columns.
    Table(Vec<[String; 3]>),
    Code {
        language: &'static str,
        text: String,
    },
    Quote(String),
    Links(Vec<Name>),
}

impl Draft {
    /// Draws the blocks of a note, and puts the fact among them as a paragraph.
    pub fn of(name: &Name, seed: u64, fact: Option<String>, draws: &mut Draws) -> Draft {
        // `note` draws the fact from the first fork.
        let _ = draws.fork();
        let mut tags = vec![name.topic.name.to_owned()];
        for _ in 0..draws.below(4) {
            let tag = prose::tag(name.topic, draws).replace(' ', "-");
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        let size = match draws.below(100) {
            _ if name.is_daily => 200 + draws.below(700),
            0..4 => 12_000 + draws.below(43_000),
            4..30 => 500 + draws.below(1_500),
            _ => 1_500 + draws.below(5_500),
        };
        let mut page = Page { name, seed, is_cjk: draws.percent(7), level: 1, size: 0, blocks: Vec::new() };
        while page.size < size {
            page.section(draws);
        }
        let mut blocks = page.blocks;
        if let Some(fact) = fact {
            blocks.insert(draws.below(blocks.len() + 1), Block::Paragraph(fact));
        }
        Draft { tags, blocks }
    }
}

/// The blocks so far.
struct Page<'a> {
    name: &'a Name,
    seed: u64,
    is_cjk: bool,
    /// The level of the last heading.
    level: usize,
    /// Approximate size in bytes.
    size: usize,
    blocks: Vec<Block>,
}

impl Page<'_> {
    fn section(&mut self, draws: &mut Draws) {
        if !self.name.is_daily || draws.percent(30) {
            // A heading is at most one level below the one before.
            self.level = 2 + draws.below(self.level.min(4));
            let text = title(&self.sentence(draws));
            self.add(text.len(), Block::Heading { level: self.level, text });
        }
        for _ in 0..1 + draws.below(4) {
            self.block(draws);
        }
    }

    fn add(&mut self, size: usize, block: Block) {
        self.size += size + 4;
        self.blocks.push(block);
    }

    fn block(&mut self, draws: &mut Draws) {
        match draws.below(100) {
            0..50 => {
                let sentences = if self.name.is_daily { 1 } else { 1 + draws.below(5) };
                let text = self.sentences(sentences, draws);
                self.add(text.len(), Block::Paragraph(text));
            }
            50..68 => {
                let is_numbered = draws.percent(25);
                let mut depth = 0;
                let items: Vec<_> = (0..2 + draws.below(6))
                    .map(|place| {
                        depth = if place == 0 || is_numbered { 0 } else { draws.below(depth + 2).min(2) };
                        (depth, self.sentence(draws))
                    })
                    .collect();
                let size = items.iter().map(|(_, text)| text.len() + 4).sum();
                self.add(size, Block::List { is_numbered, items });
            }
            68..74 => {
                let tasks: Vec<_> =
                    (0..2 + draws.below(4)).map(|_| (draws.percent(50), self.sentence(draws))).collect();
                let size = tasks.iter().map(|(_, text)| text.len() + 6).sum();
                self.add(size, Block::Tasks(tasks));
            }
            74..80 => {
                let mut rows = vec![["what", "how much", "remark"].map(str::to_owned)];
                for _ in 0..2 + draws.below(5) {
                    let tag = prose::tag(self.name.topic, draws);
                    rows.push([tag, draws.below(900).to_string(), title(&self.sentence(draws))]);
                }
                self.add(rows.len() * 60, Block::Table(rows));
            }
            80..89 => {
                let language = *draws.pick(&LANGUAGES);
                let pieces = 1 + draws.below(3);
                let text = code(language, pieces, draws);
                self.add(text.len() + 10, Block::Code { language, text });
            }
            89..94 => {
                let text = self.sentences(2, draws);
                self.add(text.len(), Block::Quote(text));
            }
            _ if self.name.index == 0 => {}
            _ => {
                let links: Vec<_> =
                    (0..1 + draws.below(3)).map(|_| Name::of(self.seed, draws.below(self.name.index))).collect();
                self.add(links.len() * 70, Block::Links(links));
            }
        }
    }

    fn sentence(&self, draws: &mut Draws) -> String {
        if self.is_cjk && draws.percent(70) {
            return Prose::get().sentence(Prose::get().cjk, draws);
        }
        prose::on(self.name.topic, draws)
    }

    fn sentences(&self, count: usize, draws: &mut Draws) -> String {
        let sentences: Vec<String> = (0..count).map(|_| self.sentence(draws)).collect();
        sentences.join(" ")
    }
}
