//! A small grammar of texts: lists of templates, compiled once, expanded for each memory.
//!
//! A template is plain text with
//! - `{name}`: something from the list `name`; `{$name}`: the same item everywhere in one memory;
//! - `{3-90}`: a number in this range, with leading zeros where the lower bound is written with them;
//! - `(one|other|)`: a choice of wording, which may be nested and may be empty;
//! - `{number}`, `{moment}`, `{commit}`: the memory's mark.
//!
//! The content and its wording are drawn from two streams, so that a near-duplicate can say the same in other words.

use std::collections::BTreeMap;

use crate::draws::Draws;
use crate::mark::{Form, Mark};

/// A compiled template.
pub(crate) type Template = Vec<Part>;

/// A piece of a template.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(String),
    Draw(usize),
    Bound(usize),
    Range { low: usize, high: usize, width: usize },
    Choice(Vec<Template>),
    Mark(Form),
}

/// A vocabulary file, cut into its sections.
pub(crate) struct Source {
    /// Lines before the first section, as `key value`.
    pub settings: BTreeMap<String, String>,
    /// The items of each section, in order.
    pub sections: Vec<(String, Vec<String>)>,
}

impl Source {
    /// Cuts `text`: `#` begins a comment line, `[name]` a section; items end at a line's end or at `; `.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut source = Source { settings: BTreeMap::new(), sections: Vec::new() };
        for line in text.lines() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                source.sections.push((name.to_owned(), Vec::new()));
            } else if let Some((_, items)) = source.sections.last_mut() {
                items.extend(line.split("; ").map(|item| item.trim_end_matches(';').to_owned()));
            } else {
                let (key, value) = line.split_once(' ').ok_or_else(|| format!("not a setting: {line:?}"))?;
                source.settings.insert(key.to_owned(), value.to_owned());
            }
        }
        match source.sections.iter().find(|(_, items)| items.is_empty()) {
            Some((name, _)) => Err(format!("section [{name}] is empty")),
            None => Ok(source),
        }
    }
}

/// The lists of all files, by number.
#[derive(Debug, Default)]
pub(crate) struct Grammar {
    lists: Vec<Vec<Template>>,
}

/// The names of the lists that a file can use: its own before the common ones.
pub(crate) type Names = BTreeMap<String, usize>;

impl Grammar {
    /// Numbers the sections of `source`. They are compiled by [`Grammar::define`], once all names are known.
    pub fn declare(&mut self, source: &Source, common: &Names) -> Names {
        let mut names = common.clone();
        for (name, _) in &source.sections {
            names.insert(name.clone(), self.lists.len());
            self.lists.push(Vec::new());
        }
        names
    }

    /// Compiles the sections of `source`, declared before as `names`.
    pub fn define(&mut self, source: &Source, names: &Names) -> Result<(), String> {
        for (name, items) in &source.sections {
            let list = names.get(name).ok_or_else(|| format!("section [{name}] was not declared"))?;
            self.lists[*list] = items.iter().map(|item| compile(item, names)).collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    pub fn list(&self, list: usize) -> &[Template] {
        &self.lists[list]
    }
}

fn compile(text: &str, names: &Names) -> Result<Template, String> {
    let mut characters = text.chars();
    let (template, end) = compile_until(&mut characters, names).map_err(|error| format!("{error} in {text:?}"))?;
    match end {
        None => Ok(template),
        Some(character) => Err(format!("stray {character:?} in {text:?}")),
    }
}

/// Compiles up to a `|` or `)` of the surrounding choice, which is returned, or to the end.
fn compile_until(characters: &mut std::str::Chars<'_>, names: &Names) -> Result<(Template, Option<char>), String> {
    let mut template = Template::new();
    let mut text = String::new();
    let mut end = None;
    while let Some(character) = characters.next() {
        match character {
            '{' => {
                let slot: String = characters.by_ref().take_while(|&character| character != '}').collect();
                template.extend((!text.is_empty()).then(|| Part::Text(std::mem::take(&mut text))));
                template.push(slot_part(&slot, names)?);
            }
            '(' => {
                template.extend((!text.is_empty()).then(|| Part::Text(std::mem::take(&mut text))));
                let mut alternatives = Vec::new();
                loop {
                    let (alternative, end) = compile_until(characters, names)?;
                    alternatives.push(alternative);
                    match end {
                        Some('|') => {}
                        Some(_) => break,
                        None => return Err("a choice is not closed".to_owned()),
                    }
                }
                template.push(Part::Choice(alternatives));
            }
            '|' | ')' => {
                end = Some(character);
                break;
            }
            _ => text.push(character),
        }
    }
    template.extend((!text.is_empty()).then_some(Part::Text(text)));
    Ok((template, end))
}

fn slot_part(slot: &str, names: &Names) -> Result<Part, String> {
    let list = |name: &str| names.get(name).copied().ok_or_else(|| format!("there is no list {name:?}"));
    if let Some((low, high)) = slot.split_once('-').filter(|_| slot.starts_with(|c: char| c.is_ascii_digit())) {
        let number = |text: &str| text.parse::<usize>().map_err(|error| format!("range {slot:?}: {error}"));
        let width = if low.starts_with('0') { low.len() } else { 0 };
        let (low, high) = (number(low)?, number(high)?);
        return if low < high { Ok(Part::Range { low, high, width }) } else { Err(format!("range {slot:?} is empty")) };
    }
    Ok(match slot {
        "number" => Part::Mark(Form::Number),
        "moment" => Part::Mark(Form::Moment),
        "commit" => Part::Mark(Form::Commit),
        // a memory is about one project
        "projectname" => Part::Bound(list(slot)?),
        _ => match slot.strip_prefix('$') {
            Some(name) => Part::Bound(list(name)?),
            None => Part::Draw(list(slot)?),
        },
    })
}

/// A memory's text while it is generated.
pub(crate) struct Expansion<'a> {
    grammar: &'a Grammar,
    mark: Mark,
    wording: Draws,
    bound: Vec<(usize, String)>,
    /// Whether the mark has been written.
    pub marked: bool,
    /// The text so far.
    pub text: String,
}

impl<'a> Expansion<'a> {
    pub fn new(grammar: &'a Grammar, mark: Mark, wording: Draws) -> Self {
        Expansion { grammar, mark, wording, bound: Vec::new(), marked: false, text: String::new() }
    }

    /// The stream that decides the wording.
    pub fn wording(&mut self) -> &mut Draws {
        &mut self.wording
    }

    /// The item of a list that this memory uses, if it was used.
    pub fn bound(&self, list: usize) -> Option<&str> {
        self.bound.iter().find(|(bound, _)| *bound == list).map(|(_, text)| text.as_str())
    }

    /// Makes `text` the item of a list that this memory uses.
    pub fn bind(&mut self, list: usize, text: &str) {
        self.bound.push((list, text.to_owned()));
    }

    /// Appends `template`. Its content depends on `content` only, whichever wording is chosen.
    pub fn expand(&mut self, template: &[Part], content: &mut Draws) {
        for part in template {
            match part {
                Part::Text(text) => self.text.push_str(text),
                Part::Range { low, high, width } => {
                    let number = low + content.below(high - low + 1);
                    self.text.push_str(&format!("{number:0width$}"));
                }
                Part::Choice(alternatives) => {
                    let chosen = self.wording.below(alternatives.len());
                    let mut content = content.fork();
                    self.expand(&alternatives[chosen], &mut content);
                }
                Part::Draw(list) => {
                    let mut content = content.fork();
                    let grammar = self.grammar;
                    self.expand(content.pick::<Template>(grammar.list(*list)), &mut content);
                }
                Part::Bound(list) => {
                    let mut content = content.fork();
                    match self.bound.iter().position(|(bound, _)| bound == list) {
                        Some(known) => self.text.push_str(&self.bound[known].1),
                        None => {
                            let start = self.text.len();
                            let grammar = self.grammar;
                            self.expand(content.pick::<Template>(grammar.list(*list)), &mut content);
                            self.bound.push((*list, self.text[start..].to_owned()));
                        }
                    }
                }
                Part::Mark(form) => {
                    self.mark.write(*form, &mut self.wording, &mut self.text);
                    self.marked = true;
                }
            }
        }
    }
}
