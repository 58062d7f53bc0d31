//! Links to files in text for terminals (OSC 8).

use std::env;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::Path;

use crate::escape;

/// A text that leads to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hyperlink {
    /// The text, as it is shown: a line of the output ends with it.
    shown: String,
    url: String,
}

impl Hyperlink {
    /// A link from this text to a file. `None` if its path is not absolute.
    pub fn to_file(shown: impl Into<String>, path: &str) -> Option<Self> {
        let is_absolute = Path::new(path).is_absolute() && !(cfg!(windows) && is_device(path));
        is_absolute.then(|| Hyperlink { shown: escape::text(&shown.into()).into_owned(), url: file_url(path) })
    }
}

/// Whether stdout is a terminal that shows links.
pub fn are_shown() -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_some_and(|name| name == "dumb");
    !is_set("NO_COLOR") && !is_dumb && io::stdout().is_terminal()
}

/// The text, which is escaped already, with each line that ends with a link's text leading to its file.
pub fn linked(text: &str, links: &[Hyperlink]) -> String {
    let line = |line: &str| {
        let ends = |link: &&Hyperlink| {
            line.strip_suffix(&link.shown).is_some_and(|before| before.is_empty() || before.ends_with(' '))
        };
        match links.iter().filter(ends).max_by_key(|link| link.shown.len()) {
            Some(Hyperlink { shown, url }) => {
                let before = &line[..line.len() - shown.len()];
                format!("{before}\u{1b}]8;;{url}\u{1b}\\{shown}\u{1b}]8;;\u{1b}\\")
            }
            None => line.to_owned(),
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Whether it names a device, or something else without a place in a URL.
fn is_device(path: &str) -> bool {
    let path = path.replace('\\', "/");
    (path.starts_with("//./") || path.starts_with("//?/")) && of_windows(&path).is_none()
}

/// A path of Windows with slashes: it begins with a drive, or is that of a share (UNC) and begins with two slashes. On others,
/// what begins with a slash is a path of theirs.
fn of_windows(path: &str) -> Option<String> {
    let slashed = path.replace('\\', "/");
    let has_drive = |path: &str| matches!(path.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic());
    if has_drive(&slashed) {
        return Some(slashed);
    }
    if !(path.starts_with(r"\\") || cfg!(windows) && path.starts_with("//")) {
        return None;
    }
    // Windows itself writes some in this way, without limits of length.
    match slashed.strip_prefix("//?/") {
        Some(long) if has_drive(long) => Some(long.to_owned()),
        Some(long) => {
            let (kind, share) = long.split_at_checked(4)?;
            kind.eq_ignore_ascii_case("unc/").then(|| format!("//{share}"))
        }
        None => (!slashed.starts_with("//./")).then_some(slashed),
    }
}

/// The URL of a file. What is neither a letter, a digit nor one of a few signs is encoded: nothing in it ends the link.
fn file_url(path: &str) -> String {
    let windows = of_windows(path);
    let is_of_windows = windows.is_some();
    let (start, path) = match windows {
        // A share begins with the name of its server, as a URL does.
        Some(path) => match path.strip_prefix("//") {
            Some(share) => ("file://", share.to_owned()),
            None => ("file:///", path),
        },
        None => ("file://", path.to_owned()),
    };
    let mut url = start.to_owned();
    for (at, byte) in path.bytes().enumerate() {
        let is_drives = is_of_windows && at == 1 && byte == b':';
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) || is_drives {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_link_and_cannot_end_it() {
        let path = "/a b/\u{1b}]8;;x\u{7}ü.md";
        let link = Hyperlink::to_file(format!("{path}:4"), path).unwrap();
        assert_eq!(link.url, "file:///a%20b/%1B%5D8%3B%3Bx%07%C3%BC.md");
        let text = escape::text(&format!("  1  {path}:4\nsays {path}:45\n{path}:4 and on")).into_owned();
        let shown = linked(&text, std::slice::from_ref(&link));
        let [first, others] = shown.split_once('\n').map(|(a, b)| [a, b]).unwrap();
        let url = &link.url;
        assert_eq!(first, format!("  1  \u{1b}]8;;{url}\u{1b}\\/a b/<U+001B>]8;;x<U+0007>ü.md:4\u{1b}]8;;\u{1b}\\"));
        assert!(!others.contains('\u{1b}'), "{others:?}");
        assert_eq!(Hyperlink::to_file("notes.md:1", "notes.md"), None);
    }

    #[test]
    fn paths_of_windows_are_links_too() {
        for (path, url) in [
            (r"C:\a b\c.md", "file:///C:/a%20b/c.md"),
            ("d:/notes/x:y.md", "file:///d:/notes/x%3Ay.md"),
            (r"\\server\share\c.md", "file://server/share/c.md"),
            (r"\\?\C:\long\c.md", "file:///C:/long/c.md"),
            (r"\\?\UNC\server\share\c.md", "file://server/share/c.md"),
            (r"\\?\unc\server\share\c.md", "file://server/share/c.md"),
            ("C:\\a/b.md", "file:///C:/a/b.md"),
            (r"/home/a\b.md", "file:///home/a%5Cb.md"),
        ] {
            assert_eq!(file_url(path), url, "{path}");
        }
        for path in [r"\\.\C:\x.md", r"\\?\Volume{0f}\x", r"\\?\é\x"] {
            assert!(is_device(path), "{path}");
        }
        for path in [r"C:notes.md", r"CC:\notes.md", r"\notes.md"] {
            assert!(of_windows(path).is_none() && !is_device(path), "{path}");
        }
    }
}
