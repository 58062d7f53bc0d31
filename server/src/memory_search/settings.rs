//! Settings of the tools of Gimli's profile.

use std::path::PathBuf;

use memorist_engine::embed::ModelSettings;
use memorist_engine::types::{Mode, Weights};
use memorist_ingest::settings::SyncSettings;

use crate::embedding::EmbeddingSection;

/// Settings of the tools of Gimli's profile. The defaults are those of its document.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySearch {
    /// Whether memory is searched at all.
    pub enabled: bool,
    /// Whether notes and saved memories are searched.
    pub memory: bool,
    /// Whether transcripts are.
    pub sessions: bool,
    pub max_results: usize,
    pub min_score: f64,
    /// Which indexes answer.
    pub mode: Mode,
    /// Weights of both sides.
    pub weights: Weights,
    /// Candidates of each side for each result.
    pub candidates: usize,
    /// How files are read, and when.
    pub sync: SyncSettings,
    /// The store, to read files into it.
    pub store: Option<PathBuf>,
    /// The embedding section, where the file has one.
    pub embedding: Option<EmbeddingSection>,
    /// Its model, whose tokens are counted.
    pub model: ModelSettings,
    /// The folder that paths are relative to.
    pub workspace: Option<PathBuf>,
    /// The folder below which its transcripts are.
    pub home: Option<PathBuf>,
}

impl Default for MemorySearch {
    fn default() -> Self {
        MemorySearch {
            enabled: true,
            memory: true,
            sessions: true,
            max_results: 6,
            min_score: 0.35,
            mode: Mode::Hybrid,
            weights: Weights::default(),
            candidates: 4,
            sync: SyncSettings::default(),
            store: None,
            embedding: None,
            model: ModelSettings::default(),
            workspace: None,
            home: None,
        }
    }
}
