//! The page's files. They have no data, so that everybody may have them.

pub struct PageFile {
    path: &'static str,
    /// Its content type.
    pub kind: &'static str,
    pub bytes: &'static [u8],
}

/// Made of the sources in `explorer/`, and committed: building this program needs no Node.js.
const FILES: &[PageFile] = &[
    PageFile {
        path: "/",
        kind: "text/html; charset=utf-8",
        bytes: include_bytes!("../../../explorer/dist/index.html"),
    },
    PageFile {
        path: "/app.js",
        kind: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../../../explorer/dist/app.js"),
    },
    PageFile {
        path: "/app.css",
        kind: "text/css; charset=utf-8",
        bytes: include_bytes!("../../../explorer/dist/app.css"),
    },
    PageFile { path: "/icon.svg", kind: "image/svg+xml", bytes: include_bytes!("../../../explorer/dist/icon.svg") },
];

pub fn file(path: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.path == path)
}
