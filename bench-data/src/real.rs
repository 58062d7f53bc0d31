//! Loads shared real data: 100,000 sentence embeddings with queries and exact answers, as `.npy` and `.npz` files.
//!
//! The files are not part of the repository. [`DIRECTORY_VARIABLE`] names their directory; benches and examples then
//! use them, and [`crate::vectors`] otherwise.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The environment variable that names the directory.
pub const DIRECTORY_VARIABLE: &str = "MEMORIST_SHARED_DATA";

/// Real embeddings with their ground truth.
#[derive(Debug, Clone, PartialEq)]
pub struct RealData {
    /// Values of a vector.
    pub dims: usize,
    /// The vectors, one after another; the row is the id.
    pub base: Vec<f32>,
    /// The queries, one after another.
    pub queries: Vec<f32>,
    /// Known neighbours of each query: the width of the two tables below.
    pub depth: usize,
    /// Ids of the nearest rows of each query, nearest first.
    pub neighbours: Vec<u32>,
    /// Inner products with them.
    pub similarities: Vec<f32>,
    /// Sets of allowed ids, with the nearest among them.
    pub filters: Vec<Filter>,
}

/// A set of allowed ids and the exact answers under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// How many percent of the base are allowed, as the file names it: `50`, `10`, `1`, `0.1`.
    pub percent: String,
    /// The allowed ids, ascending.
    pub allowed: Vec<u32>,
    /// Known neighbours of each query.
    pub depth: usize,
    /// Ids of the nearest allowed rows of each query, nearest first.
    pub neighbours: Vec<u32>,
    /// Inner products with them.
    pub similarities: Vec<f32>,
}

/// The directory that the environment names, if it does. An empty variable counts as not set.
pub fn directory() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from)
}

/// Loads the data of `directory`; `None` if there is none in it. Unreadable or inconsistent files are an error.
pub fn load(directory: &Path) -> io::Result<Option<RealData>> {
    let path = |name: &str| directory.join(name);
    if !path("emb_base_100k.f16.npy").exists() {
        return Ok(None);
    }
    let base = read_file(&path("emb_base_100k.f16.npy"))?;
    let queries = read_file(&path("emb_query_1k.f32.npy"))?;
    let neighbours = read_file(&path("gt_ids_1k.npy"))?;
    let similarities = read_file(&path("gt_sims_1k.npy"))?;
    let consistent = base.columns == queries.columns
        && queries.rows() == neighbours.rows()
        && neighbours.columns == similarities.columns
        && neighbours.rows() == similarities.rows();
    if !consistent {
        return Err(invalid("the shapes of the vectors, queries and answers disagree".to_owned()));
    }
    Ok(Some(RealData {
        dims: base.columns,
        base: base.floats()?,
        queries: queries.floats()?,
        depth: neighbours.columns,
        neighbours: neighbours.ids()?,
        similarities: similarities.floats()?,
        filters: load_filters(&path("filters.npz"))?,
    }))
}

/// The texts of the queries, in the order of their vectors.
pub fn query_texts(directory: &Path) -> io::Result<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Line {
        text: String,
    }
    let lines = std::fs::read_to_string(directory.join("query_texts_1k.jsonl"))?;
    lines.lines().map(|line| Ok(serde_json::from_str::<Line>(line)?.text)).collect()
}

fn load_filters(path: &Path) -> io::Result<Vec<Filter>> {
    let mut archive = zip::ZipArchive::new(File::open(path)?)?;
    let mut percents = Vec::new();
    for name in archive.file_names() {
        let name = name?;
        percents.extend(name.strip_prefix("ids_").and_then(|rest| rest.strip_suffix(".npy")).map(str::to_owned));
    }
    percents.sort();
    let mut member = |name: String| read(archive.by_name(&format!("{name}.npy"))?);
    let filters = percents.into_iter().map(|percent| {
        let neighbours = member(format!("gt_ids_{percent}"))?;
        Ok(Filter {
            allowed: member(format!("ids_{percent}"))?.ids()?,
            depth: neighbours.columns,
            neighbours: neighbours.ids()?,
            similarities: member(format!("gt_sims_{percent}"))?.floats()?,
            percent,
        })
    });
    filters.collect()
}

/// An array of one or two dimensions, still as bytes.
struct Array {
    kind: String,
    /// The last dimension.
    columns: usize,
    bytes: Vec<u8>,
}

fn read_file(path: &Path) -> io::Result<Array> {
    let context = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    File::open(path).and_then(read).map_err(context)
}

/// Reads `.npy` version 1.0: magic, version, length of the header, the header as a Python dictionary, the values in C order.
fn read(mut file: impl Read) -> io::Result<Array> {
    let mut start = [0; 10];
    file.read_exact(&mut start)?;
    if &start[..8] != b"\x93NUMPY\x01\x00" {
        return Err(invalid("not a .npy file of version 1.0".to_owned()));
    }
    let mut header = vec![0; usize::from(u16::from_le_bytes([start[8], start[9]]))];
    file.read_exact(&mut header)?;
    let header = String::from_utf8_lossy(&header);
    let after = |key: &str| {
        let rest = header.split_once(key).map(|(_, rest)| rest.trim_start());
        rest.ok_or_else(|| invalid(format!("the .npy header has no {key}")))
    };
    let kind = after("'descr':")?.split('\'').nth(1).unwrap_or_default().to_owned();
    if !after("'fortran_order':")?.starts_with("False") {
        return Err(invalid("only C order is read".to_owned()));
    }
    let shape = after("'shape':")?.trim_start_matches('(').split(')').next().unwrap_or_default();
    let shape: Result<Vec<usize>, _> =
        shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(str::parse).collect();
    let shape = shape.map_err(|error| invalid(format!("the .npy shape: {error}")))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let array = Array { kind, columns: shape.last().copied().unwrap_or(1).max(1), bytes };
    let expected = shape.iter().product::<usize>() * array.width()?;
    if array.bytes.len() == expected {
        Ok(array)
    } else {
        Err(invalid(format!("{} bytes of values where the shape asks for {expected}", array.bytes.len())))
    }
}

impl Array {
    fn width(&self) -> io::Result<usize> {
        match self.kind.as_str() {
            "<f2" => Ok(2),
            "<f4" | "<i4" | "<u4" => Ok(4),
            other => Err(invalid(format!("values of type {other} are not read"))),
        }
    }

    fn rows(&self) -> usize {
        self.width().map_or(0, |width| self.bytes.len() / width / self.columns)
    }

    fn floats(&self) -> io::Result<Vec<f32>> {
        match self.kind.as_str() {
            "<f2" => Ok(self.bytes.as_chunks().0.iter().map(|&bytes| half_to_f32(u16::from_le_bytes(bytes))).collect()),
            "<f4" => Ok(self.bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()),
            other => Err(invalid(format!("floats expected, not {other}"))),
        }
    }

    fn ids(&self) -> io::Result<Vec<u32>> {
        match self.kind.as_str() {
            "<i4" | "<u4" => Ok(self.bytes.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect()),
            other => Err(invalid(format!("32-bit ids expected, not {other}"))),
        }
    }
}

/// The value of an IEEE 754 half: 1 sign bit, 5 of exponent, 10 of fraction.
fn half_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    match exponent {
        // zero and subnormals: the fraction counts units of 2^-24
        0 => {
            let magnitude = fraction as f32 / (1u32 << 24) as f32;
            f32::from_bits(magnitude.to_bits() | sign)
        }
        0x1f => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        // the exponents' biases are 15 and 127
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_converted() {
        let known = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x2e66, 0.099_975_586),
            (0x83ff, -6.097_555e-5),
        ];
        for (bits, value) in known {
            assert_eq!(half_to_f32(bits), value, "{bits:#06x}");
        }
        assert!(half_to_f32(0x8000).is_sign_negative());
        assert_eq!(half_to_f32(0x7c00), f32::INFINITY);
        assert!(half_to_f32(0x7e00).is_nan());
    }

    fn npy(kind: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        bytes
    }

    #[test]
    fn a_directory_is_loaded_and_a_damaged_one_refused() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(load(directory.path()).unwrap(), None);
        let write = |name: &str, bytes: &[u8]| std::fs::write(directory.path().join(name), bytes).unwrap();
        write("emb_base_100k.f16.npy", &npy("<f2", "2, 2", &[0, 0x3c, 0, 0, 0, 0, 0, 0xbc]));
        write("emb_query_1k.f32.npy", &npy("<f4", "1, 2", &[0, 0, 0x80, 0x3f, 0, 0, 0, 0]));
        write("gt_ids_1k.npy", &npy("<i4", "1, 1", &[0; 4]));
        write("gt_sims_1k.npy", &npy("<f4", "1, 1", &[0, 0, 0x80, 0x3f]));
        let mut archive = zip::ZipWriter::new(File::create(directory.path().join("filters.npz")).unwrap());
        for (name, kind, shape, value) in [
            ("ids_50", "<u4", "1,", [1, 0, 0, 0]),
            ("gt_ids_50", "<i4", "1, 1", [1, 0, 0, 0]),
            ("gt_sims_50", "<f4", "1, 1", [0; 4]),
        ] {
            let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            archive.start_file(format!("{name}.npy"), stored).unwrap();
            io::Write::write_all(&mut archive, &npy(kind, shape, &value)).unwrap();
        }
        archive.finish().unwrap();

        let data = load(directory.path()).unwrap().unwrap();
        assert_eq!((data.dims, data.depth), (2, 1));
        assert_eq!(data.base, [1.0, 0.0, 0.0, -1.0]);
        assert_eq!((data.queries, data.neighbours, data.similarities), (vec![1.0, 0.0], vec![0], vec![1.0]));
        assert_eq!(data.filters.len(), 1);
        assert_eq!((data.filters[0].percent.as_str(), &data.filters[0].allowed[..]), ("50", &[1][..]));

        write("emb_query_1k.f32.npy", &npy("<f4", "1, 2", &[0; 7]));
        let error = load(directory.path()).unwrap_err().to_string();
        assert!(error.contains("emb_query_1k.f32.npy") && error.contains("7 bytes"), "{error}");
    }
}
