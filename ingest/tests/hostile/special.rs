//! Pipes, devices, links, and packed files.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::texts::{self, Shape};

pub const FILES: [Shape; 6] = [
    ("a pipe", |file| {
        assert!(Command::new("mkfifo").arg(file).status().unwrap().success());
    }),
    ("a link to /dev/zero", |file| symlink("/dev/zero", file).unwrap()),
    ("a link to /dev/random", |file| symlink("/dev/random", file).unwrap()),
    ("a link out of the folder", |file| symlink("/proc/kallsyms", file).unwrap()),
    ("a link to itself", |file| symlink(file.file_name().unwrap(), file).unwrap()),
    ("a folder", |file| fs::create_dir(file).unwrap()),
];

pub const PACKED: [Shape; 6] = [
    ("nothing", |file| fs::write(file, "").unwrap()),
    ("16 GiB of one letter", |file| frame(file, 0x58, b'x', 128 << 10)),
    ("16 GiB of line breaks", |file| frame(file, 0x58, b'\n', 128 << 10)),
    ("a window of 2 GiB", |file| frame(file, 0xA8, b'x', 1)),
    ("no end", |file| fs::write(file, [&FRAME[..], &[0x58, 0x04, 0, 0]].concat()).unwrap()),
    ("no packed text", |file| fs::write(file, "text\n".repeat(1_000)).unwrap()),
];

pub const ARCHIVES: [Shape; 3] = [
    ("300 MiB of short conversations", |file| {
        archive(file, &["conversations.json"], &format!("[{}", format!("{},\n", texts::TALK).repeat(1_500_000)));
    }),
    ("a conversation of 300 MiB", |file| archive(file, &["conversations.json"], &"{\"a\":".repeat(60 << 20))),
    ("40,000 files", |file| {
        let names: Vec<_> = (0..40_000).map(|number| format!("conversations-{number}.json")).collect();
        archive(file, &names, &format!("[{}]", texts::TALK));
    }),
];

fn archive(file: &Path, names: &[impl AsRef<str>], text: &str) {
    let mut archive = ZipWriter::new(File::create(file).unwrap());
    for name in names {
        archive.start_file(name.as_ref(), SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
}

/// The number that a frame of Zstandard begins with, and a header without a checksum.
const FRAME: [u8; 5] = [0x28, 0xB5, 0x2F, 0xFD, 0];

/// A frame of blocks of 128 KiB that repeat one byte, each in 4 bytes.
fn frame(file: &Path, window: u8, byte: u8, blocks: u32) {
    let mut out = BufWriter::new(File::create(file).unwrap());
    out.write_all(&FRAME).unwrap();
    out.write_all(&[window]).unwrap();
    for number in 1..=blocks {
        let header = (128 << 10) << 3 | 1 << 1 | u32::from(number == blocks);
        out.write_all(&header.to_le_bytes()[..3]).unwrap();
        out.write_all(&[byte]).unwrap();
    }
    out.flush().unwrap();
}
