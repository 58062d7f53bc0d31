//! Titles and paths of notes, and links between them.

use jiff::civil::{Date, date};

use crate::draws::{Draws, Purpose};
use crate::prose;
use crate::vocabulary::Topic;

/// One note in this many is about a day.
const DAYS: usize = 5;
/// The most characters of a title.
const MAX_TITLE: usize = 56;
const PROJECTS: [&str; 12] = [
    "nova-ledger", "atlas-sync", "harbor", "quillpad", "tidepool", "mosaic", "greenhouse", "lantern", "meridian",
    "kestrel", "orchard", "Half marathon",
];

/// The syntax that a note is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Markdown,
    Org,
    Plain,
}

/// Properties of a note that are known before it is written.
pub(super) struct Name {
    pub index: usize,
    pub topic: &'static Topic,
    pub title: String,
    pub path: String,
    /// When it was begun.
    pub day: Date,
    pub is_daily: bool,
    pub syntax: Syntax,
}

impl Name {
    /// Draws the name of note `index`.
    pub fn of(seed: u64, index: usize) -> Name {
        let mut draws = Draws::of(seed, Purpose::NoteName, index as u64);
        let topic = prose::topic(&mut draws);
        let day = day(index / DAYS);
        if index.is_multiple_of(DAYS) {
            let path = format!("Daily/{}/{}.md", day.strftime("%Y/%m"), day);
            return Name { index, topic, title: day.to_string(), path, day, is_daily: true, syntax: Syntax::Markdown };
        }
        let title = title(&prose::on(topic, &mut draws));
        let folder = match draws.below(10) {
            0..=3 => format!("Projects/{}/", draws.pick(&PROJECTS)),
            4 => format!("Projects/{}/meetings/{}/", draws.pick(&PROJECTS), day.year()),
            5..=6 => format!("Areas/{}/", topic.name),
            7 => format!("Archive/{}/{}/{}/", day.year(), topic.name, prose::tag(topic, &mut draws)),
            8 => "Inbox/".to_owned(),
            _ => String::new(),
        };
        let (syntax, end) = match draws.below(25) {
            0 => (Syntax::Org, "org"),
            1 => (Syntax::Plain, "txt"),
            _ => (Syntax::Markdown, "md"),
        };
        let stem = if draws.percent(50) { title.clone() } else { title.to_lowercase().replace(' ', "-") };
        // The number makes paths differ, also where small and capital letters are the same.
        let path = format!("{folder}{stem} {index}.{end}");
        Name { index, topic, title, path, day, is_daily: false, syntax }
    }

    /// The name of its file without the ending.
    pub fn stem(&self) -> &str {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem)
    }

    /// The path from its folder to another note, with spaces written as in an address.
    pub fn path_to(&self, other: &Name) -> String {
        let (mut from, mut to) = (self.path.as_str(), other.path.as_str());
        while let (Some((folder, rest)), Some((other, other_rest))) = (from.split_once('/'), to.split_once('/')) {
            if folder != other {
                break;
            }
            (from, to) = (rest, other_rest);
        }
        "../".repeat(from.matches('/').count()) + &to.replace(' ', "%20")
    }
}

/// The day `number` days after the first.
fn day(number: usize) -> Date {
    let first = date(2015, 1, 1);
    first.checked_add(jiff::Span::new().days(number.min(2_000_000) as i64)).unwrap_or(first)
}

/// The beginning of a sentence, of letters and digits only.
pub(super) fn title(sentence: &str) -> String {
    let mut title = String::new();
    for word in sentence.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty()).take(7) {
        if title.chars().count() + word.chars().count() >= MAX_TITLE {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    title
}
