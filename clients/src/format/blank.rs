//! Long runs of blank lines. The editor of JSON takes a time quadratic in their number, and so does a diff: both work on
//! a text that has few of each run, and an edit of that text is done again in the whole one.

use std::borrow::Cow;

/// Line ends that stay at each end of a run.
const KEPT: usize = 8;

/// A text with long runs of blank lines made short.
pub(crate) struct Thin<'a> {
    whole: &'a str,
    /// The short text.
    pub(crate) text: Cow<'a, str>,
    /// Where in the short text bytes are missing, and how many.
    cuts: Vec<(usize, usize)>,
}

impl<'a> Thin<'a> {
    /// Makes the runs of a text short, also those within comments.
    pub(crate) fn new(whole: &'a str) -> Self {
        let (mut text, mut cuts, mut at) = (String::new(), Vec::new(), 0);
        for run in runs(whole) {
            text.push_str(&whole[at..run.start]);
            cuts.push((text.len(), run.len()));
            at = run.end;
        }
        if cuts.is_empty() {
            return Thin { whole, text: Cow::Borrowed(whole), cuts };
        }
        text.push_str(&whole[at..]);
        Thin { whole, text: Cow::Owned(text), cuts }
    }

    /// The whole text with the change that made `edited` of the short one.
    pub(crate) fn edited(&self, edited: &str) -> String {
        let (old, new) = (self.text.as_bytes(), edited.as_bytes());
        let same = |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(old, new)| old == new).count();
        let start = edited.floor_char_boundary(same(&mut old.iter().zip(new)));
        let end = same(&mut old[start..].iter().rev().zip(new[start..].iter().rev()));
        let end = new.len() - edited.ceil_char_boundary(new.len() - end);
        let from = self.in_whole(start);
        let to = self.in_whole(old.len() - end);
        [&self.whole[..from], &edited[start..new.len() - end], &self.whole[to..]].concat()
    }

    /// A place of the short text in the whole one: before what is missing there.
    fn in_whole(&self, place: usize) -> usize {
        place + self.cuts.iter().take_while(|(cut, _)| *cut < place).map(|(_, missing)| missing).sum::<usize>()
    }
}

/// The part of each run that is taken out, from the start of a line to the start of another.
fn runs(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_blank = line.ends_with('\n') && line.trim_ascii().is_empty();
        if is_blank {
            starts.push(at);
        } else {
            runs.extend(long(&starts));
            starts.clear();
        }
        at += line.len();
    }
    runs.extend(long(&starts));
    runs
}

/// The middle of a run whose blank lines start here.
fn long(starts: &[usize]) -> Option<std::ops::Range<usize>> {
    (starts.len() > 2 * KEPT).then(|| starts[KEPT]..starts[starts.len() - KEPT])
}
