//! Parts that a build may lack, and how to get them.

/// The way to a build with every part.
const WAY: &str = "build it with `cargo build --release --features full`, or install a package";

/// The terminal browser.
pub const BROWSER: BuildPart = BuildPart { name: "terminal browser", is_built: cfg!(feature = "browse") };
/// The runtime of a user's own model.
pub const OWN_MODELS: BuildPart =
    BuildPart { name: "runtime for ONNX models of your own", is_built: cfg!(feature = "onnx") };
/// The reader of PDFs.
pub const PDF: BuildPart = BuildPart { name: "reader of PDF files", is_built: cfg!(feature = "pdf") };
/// The client of PostgreSQL.
pub const TEAM: BuildPart =
    BuildPart { name: "support for team stores on PostgreSQL", is_built: cfg!(feature = "team") };

/// A part of the program, behind a feature of the same name.
#[derive(Debug, Clone, Copy)]
pub struct BuildPart {
    name: &'static str,
    is_built: bool,
}

impl BuildPart {
    /// Refuses what needs the part, if this build lacks it.
    ///
    /// # Errors
    /// Names the part, and says how to get it.
    pub fn require(self) -> Result<(), String> {
        if self.is_built { Ok(()) } else { Err(self.missing()) }
    }

    /// Names the part that is missing, and says how to get it.
    pub fn missing(self) -> String {
        format!("this build of memorist has no {}; {WAY}", self.name)
    }
}

/// A line of `memorist --version --verbose`: the parts that this build lacks.
pub fn line() -> String {
    line_of(&[BROWSER, OWN_MODELS, PDF, TEAM])
}

fn line_of(parts: &[BuildPart]) -> String {
    let missing: Vec<_> = parts.iter().filter(|part| !part.is_built).map(|part| part.name).collect();
    match missing.is_empty() {
        true => "lacks: nothing".to_owned(),
        false => format!("lacks: {}; to have all, {WAY}", missing.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: BuildPart = BuildPart { is_built: false, ..BROWSER };
    const BUILT: BuildPart = BuildPart { is_built: true, ..PDF };

    #[test]
    fn a_missing_part_is_named_with_the_way_to_get_it() {
        let why = MISSING.require().unwrap_err();
        assert!(why.starts_with("this build of memorist has no terminal browser; ") && why.ends_with(WAY), "{why}");
        assert_eq!(BUILT.require(), Ok(()));
    }

    #[test]
    fn the_version_lists_missing_parts_only() {
        assert_eq!(line_of(&[BUILT]), "lacks: nothing");
        assert_eq!(line_of(&[MISSING, BUILT]), format!("lacks: terminal browser; to have all, {WAY}"));
    }
}
