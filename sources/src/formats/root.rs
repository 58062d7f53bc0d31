//! The folder in which a session began: the agent may go elsewhere.

use std::ffi::OsStr;
use std::io::Read as _;

use serde::Deserialize;

use super::field::{Field, parse};
use crate::foreign::Foreign;

/// Bytes at the beginning of a transcript in which the folder is looked for.
const HEAD: u64 = 256 << 10;

#[derive(Default, Deserialize)]
#[serde(default)]
struct FolderRecord<'a> {
    #[serde(borrow)]
    cwd: Field<'a>,
    payload: Field<'a, WorkingFolder<'a>>,
    data: Field<'a, Data<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WorkingFolder<'a> {
    #[serde(borrow)]
    cwd: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data<'a> {
    #[serde(borrow)]
    context: Field<'a, WorkingFolder<'a>>,
}

/// The first working folder that a transcript of lines names.
pub fn first_folder(file: Foreign<'_>) -> Option<String> {
    if file.path.extension().and_then(OsStr::to_str) != Some("jsonl") {
        return None;
    }
    let mut head = Vec::new();
    file.open(u64::MAX).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    head.split(|&byte| byte == b'\n').find_map(|line| {
        let mut mended = Vec::new();
        let record: FolderRecord = parse(line, &mut mended)?;
        let of = record.payload.object().or_else(|| record.data.object()?.context.object());
        record.cwd.owned().or_else(|| of?.cwd.owned())
    })
}
