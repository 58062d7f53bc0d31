//! A file that is changed, and whether a text names it.

use super::lists::ORDINARY_FILES;
use crate::recall::words::has;

/// A shorter name says too little.
const LEAST_CHARS: usize = 6;

/// A file by the parts of its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// The last one is its name.
    parts: Vec<String>,
    /// Number of the last parts that lead from the folder of the work tree to the file.
    below: usize,
}

impl NamedFile {
    /// The file at an absolute path in the work tree `tree`; without a tree, or at a relative path, all parts count.
    pub fn new(path: &str, tree: Option<&str>) -> Option<Self> {
        let parts_of = |path: &str| -> Vec<String> {
            let parts = path.split(is_separator).filter(|part| !matches!(*part, "" | "."));
            parts.map(str::to_owned).collect()
        };
        let (parts, tree) = (parts_of(path), tree.map(parts_of).unwrap_or_default());
        let is_usable = !parts.is_empty() && !parts.iter().any(|part| part == "..");
        let below = parts.strip_prefix(&*tree).filter(|below| !below.is_empty()).map_or(parts.len(), <[String]>::len);
        is_usable.then_some(NamedFile { parts, below })
    }

    /// Its path in the work tree.
    pub fn path(&self) -> String {
        self.parts[self.parts.len() - self.below..].join("/")
    }

    /// The words to search for: its name, and its folder.
    pub fn query(&self) -> String {
        self.parts[self.parts.len().saturating_sub(2.min(self.below))..].join("/")
    }

    /// Whether one of the texts names this file: by its path or the end of it, or by its name alone if no text has another file of
    /// that name. A name that many folders have needs the whole path in the tree.
    pub fn is_in<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> bool {
        let name = self.parts.last().map_or("", String::as_str);
        // In a large tree, many files end with `src/lib.rs`.
        let is_in_tree = self.below < self.parts.len();
        let least = if is_telling(name) {
            1
        } else if is_in_tree {
            self.below
        } else {
            2
        };
        let mut is_named = false;
        let mut is_other_named = false;
        for text in texts {
            for (at, _) in text.match_indices(name).filter(|(at, _)| ends_name(&text[at + name.len()..])) {
                match self.mention(&text[..at]) {
                    Mention::Path(known) if known >= least => return true,
                    Mention::Path(_) => {}
                    Mention::Name => is_named = true,
                    Mention::OtherFile => is_other_named = true,
                    Mention::PartOfWord => {}
                }
            }
        }
        is_named && !is_other_named && least == 1
    }

    /// The mention that `before` leads to, a text that ends where the name begins.
    fn mention(&self, mut before: &str) -> Mention {
        let mut known = 1;
        loop {
            let Some(folder) = before.strip_suffix(is_separator) else {
                return match (begins_name(before), known) {
                    (true, 1) => Mention::Name,
                    (true, _) => Mention::Path(known),
                    // The beginning of a folder or of a name may be another word.
                    (false, 1) => Mention::PartOfWord,
                    (false, _) => Mention::OtherFile,
                };
            };
            let part = self.parts.iter().rev().nth(known);
            if let Some(rest) = part.and_then(|part| folder.strip_suffix(part.as_str())) {
                before = rest;
                known += 1;
                continue;
            }
            let is_home_or_here = folder.strip_suffix(['.', '~']).is_some_and(begins_name);
            return match known {
                1 if is_home_or_here => Mention::Name,
                _ if is_home_or_here || known > self.below => Mention::Path(known),
                _ if begins_name(folder) && (known == self.below || known == self.parts.len()) => Mention::Path(known),
                _ => Mention::OtherFile,
            };
        }
    }
}

/// A place in a text that has the name of a file.
enum Mention {
    /// With the last parts of the path of the file: so many.
    Path(usize),
    /// Without a folder.
    Name,
    /// With the path of another file.
    OtherFile,
    /// The name is the end of a longer one.
    PartOfWord,
}

/// Whether a name alone tells which file is meant.
pub(super) fn is_telling(name: &str) -> bool {
    let is_ordinary = || has(ORDINARY_FILES, &name.to_ascii_lowercase());
    name.contains(['.', '_']) && name.chars().count() >= LEAST_CHARS && !is_ordinary()
}

fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// Whether a name or a path can begin after this text.
fn begins_name(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || "_-.@~$%/\\".contains(c))
}

/// Whether a name ends before this text.
fn ends_name(after: &str) -> bool {
    let mut next = after.chars();
    match next.next() {
        Some('.' | '-' | '@') => !next.next().is_some_and(|c| c.is_alphanumeric() || c == '_'),
        Some(c) => !c.is_alphanumeric() && !"_/\\~".contains(c),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_a_file_by_its_path_or_a_telling_name() {
        let file = NamedFile::new("/home/ana/atlas/src/billing/retry.rs", Some("/home/ana/atlas")).unwrap();
        assert_eq!((file.path().as_str(), file.query().as_str()), ("src/billing/retry.rs", "billing/retry.rs"));
        for text in [
            "src/billing/retry.rs caps at 3",
            "see `billing/retry.rs:42`.",
            "retry.rs: three tries",
            "in ./src/billing/retry.rs, and (retry.rs)",
            "/home/ana/atlas/src/billing/retry.rs",
            "/Users/bob/atlas/src/billing/retry.rs",
            "~/atlas/src/billing/retry.rs",
            "/src/billing/retry.rs",
            "src\\billing\\retry.rs",
        ] {
            assert!(file.is_in([text]), "{text}");
        }
        for text in [
            "src/mail/retry.rs caps at 3, retry.rs is slow",
            "other/src/billing/retry.rs",
            "mybilling/retry.rs",
            "retry.rs.bak",
            "pre-retry.rs and x_retry.rs",
            "src/billing/retry.rs/old",
            "../billing2/retry.rs",
            "Retry the billing",
            "",
        ] {
            assert!(!file.is_in([text]), "{text}");
        }
        assert!(file.is_in(["other words", "retry.rs"]), "in a context or a tag");
    }

    #[test]
    fn a_name_that_many_folders_have_needs_its_folder() {
        let file = NamedFile::new("/p/server/src/main.rs", Some("/p")).unwrap();
        assert!(file.is_in(["server/src/main.rs"]) && !file.is_in(["src/main.rs starts it"]));
        let manifest = NamedFile::new("/p/package.json", Some("/p")).unwrap();
        assert!(manifest.is_in(["package.json is sorted"]) && !manifest.is_in(["ui/package.json is sorted"]));
        assert!(!NamedFile::new("/p/ui/package.json", Some("/p")).unwrap().is_in(["package.json is sorted"]));
        assert!(!file.is_in(["main.rs starts it"]) && !file.is_in(["client/src/main.rs"]));
        let root = NamedFile::new("/p/src/main.rs", Some("/p")).unwrap();
        assert!(!root.is_in(["server/src/main.rs"]) && root.is_in(["p/src/main.rs"]));
        for (name, expected) in [("retry.rs", true), ("a.rs", false), ("README.md", false), ("deploy", false)] {
            assert_eq!(is_telling(name), expected, "{name}");
        }
        assert_eq!(NamedFile::new("/p/../q/x.rs", None), None);
        assert_eq!(NamedFile::new("", None), None);
    }
}
