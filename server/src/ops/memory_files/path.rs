//! Paths below `/memories`. Nothing of them is on the disk.

use memorist_engine::types::MAX_SEARCHED_BYTES;
use memorist_secrets::scan;
use unicode_normalization::UnicodeNormalization as _;

const ROOT: &str = "/memories";
/// The folder whose names are searches.
const SEARCH: &str = "/memories/search";

/// A path of a file or folder, normalised: `/memories`, or that with parts behind it, without a `/` at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPath(String);

impl MemoryPath {
    /// The folder that all files are in.
    pub fn root() -> Self {
        MemoryPath(ROOT.to_owned())
    }

    /// Reads a path as a model writes it. Repeated slashes and one at the end are left out.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(given: &str) -> Result<Self, String> {
        let given: String = given.nfc().collect();
        let below = given.strip_prefix(ROOT).filter(|below| below.is_empty() || below.starts_with('/'));
        let below = below.ok_or_else(|| format!("Path must start with {ROOT}, got: {given}"))?;
        let mut path = ROOT.to_owned();
        for part in below.split('/').filter(|part| !part.is_empty()) {
            let is_escape = part == "." || part == ".." || part.to_ascii_lowercase().contains("%2e");
            if is_escape || part.contains(|c: char| c.is_control() || c == '\\') {
                return Err(format!("Path {given:?} has a part that no memory file has: {part:?}"));
            }
            path.push('/');
            path.push_str(part);
        }
        if path.len() > MAX_SEARCHED_BYTES {
            return Err(format!("Path has {} bytes; at most {MAX_SEARCHED_BYTES}", path.len()));
        }
        Ok(MemoryPath(path))
    }

    /// As [`MemoryPath::parse`], of a file or folder that may be made.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse_new(given: &str) -> Result<Self, String> {
        let path = MemoryPath::parse(given)?;
        if path.is_of_searches() {
            return Err(format!("{SEARCH} is for searches: view {SEARCH}/WORDS; choose another path"));
        }
        match scan(&path.0).first() {
            Some(found) => Err(format!("The path seems to hold a secret ({}); choose another one", found.what)),
            None => Ok(path),
        }
    }

    /// The words of a path that is a search; they may be empty.
    pub fn search(given: &str) -> Option<&str> {
        let words = given.strip_prefix(SEARCH)?;
        (words.is_empty() || words.starts_with('/')).then(|| words.trim_matches('/').trim())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        self.0 == ROOT
    }

    /// Whether a file can have it.
    pub fn is_of_a_file(&self) -> bool {
        !self.is_root() && !self.is_of_searches()
    }

    fn is_of_searches(&self) -> bool {
        self.0 == SEARCH || self.is_in(SEARCH)
    }

    /// Whether it is below this folder.
    pub fn is_in(&self, folder: &str) -> bool {
        self.0.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The folders that it is in, but `/memories`, from the outermost on.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').skip(2).map(|(at, _)| &self.0[..at])
    }

    /// The words in it: "customer refund policy" of `/memories/customer/refund_policy.md`.
    pub fn words(&self) -> String {
        let name = self.0.rfind('/').unwrap_or_default();
        let end = self.0[name..].rfind('.').map_or(self.0.len(), |dot| name + dot);
        let path = self.0[..end].strip_prefix(ROOT).unwrap_or(&self.0);
        let words: Vec<_> = path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised() {
        for (given, path) in [
            ("/memories", "/memories"),
            ("/memories/", "/memories"),
            ("/memories//a///b.md/", "/memories/a/b.md"),
            ("/memories/.hidden", "/memories/.hidden"),
            ("/memories/a b, c", "/memories/a b, c"),
            ("/memories/cafe\u{301}", "/memories/caf\u{e9}"),
            ("/memories/...", "/memories/..."),
        ] {
            assert_eq!(MemoryPath::parse(given).unwrap().as_str(), path, "{given}");
        }
    }

    #[test]
    fn paths_outside_and_odd_ones_are_refused() {
        let long = format!("/memories/{}", "x".repeat(1_100));
        let hostile = [
            "", "/", "a.md", "memories/a.md", "./memories/a.md", "/memoriesx/a.md", "/MEMORIES/a.md", "/etc/passwd",
            "/memories/..", "/memories/../etc/passwd", "/memories/a/../../etc/passwd", "/memories/.",
            "/memories/a/./b", "/memories/%2e%2e/etc/passwd", "/memories/%2E%2e/x", "/memories/..%2fetc/%2e",
            "/memories/a\\b", "\\memories\\a", "/memories\\..\\a", "/memories/a\0b", "/memories/a\nb",
            "/memories/a\tb", "/memories/\u{7f}", "/memories/\u{85}x", "\u{feff}/memories/a", " /memories/a",
            "file:///memories/a", "C:/memories/a", "~/memories/a", "//memories/a", &long,
        ];
        for path in hostile {
            assert!(MemoryPath::parse(path).is_err(), "{path:?}");
        }
        for path in ["/memories/search", "/memories/search/a.md", "/memories/search/"] {
            assert!(MemoryPath::parse_new(path).unwrap_err().contains("searches"), "{path:?}");
        }
        assert_eq!(MemoryPath::parse_new("/memories/searches").unwrap().as_str(), "/memories/searches");
    }

    #[test]
    fn a_path_has_words_and_folders() {
        let path = MemoryPath::parse("/memories/customer/eu/refund_policy.md").unwrap();
        assert_eq!(path.words(), "customer eu refund policy");
        assert_eq!(path.folders().collect::<Vec<_>>(), ["/memories/customer", "/memories/customer/eu"]);
        assert_eq!(MemoryPath::parse("/memories/v1.2/notes").unwrap().words(), "v1 2 notes");
        assert_eq!(MemoryPath::parse("/memories/a.md").unwrap().folders().count(), 0);
        assert_eq!(MemoryPath::search("/memories/search/how to deploy"), Some("how to deploy"));
        assert_eq!(MemoryPath::search("/memories/search/a/b"), Some("a/b"));
        assert_eq!(MemoryPath::search("/memories/search/ "), Some(""));
        assert_eq!(MemoryPath::search("/memories/search"), Some(""));
        assert_eq!(MemoryPath::search("/memories/searches"), None);
    }
}
