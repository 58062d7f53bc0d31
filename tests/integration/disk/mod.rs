//! A disk that loses what was not synced, and one that fails: `shim.c` intercepts the C library calls of a child
//! process, below SQLite, tantivy and the vector files alike.
//!
//! | file | job |
//! |---|---|
//! | `shim.c` | records every change and sync, or makes one fail |
//! | `trace.rs` | the recorded changes, and what may be left of them after a power cut |
//! | `power_cut.rs` | a power cut at every sync |
//! | `refusing.rs` | every write, and every sync, fails once; the disk is full from any write on |

mod power_cut;
mod refusing;
mod trace;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The shim, compiled by the C compiler that the product itself needs.
static SHIM: LazyLock<PathBuf> = LazyLock::new(|| {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shim-{}.so", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/disk/shim.c");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compiled =
        Command::new(&compiler).args(["-O1", "-Wall", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(compiled.is_ok_and(|status| status.success()), "{} cannot be compiled by {compiler:?}", source.display());
    library
});

/// Makes the command run on this disk, for files below `root`.
fn on_disk<'a>(command: &'a mut Command, root: &Path) -> &'a mut Command {
    command.env("LD_PRELOAD", &*SHIM).env("MEMORIST_DISK_ROOT", root)
}
