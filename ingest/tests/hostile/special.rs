//! Pipes, devices, links, and packed files.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::Shape;

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
