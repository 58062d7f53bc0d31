//! The commands for people, one per file; with the one that undoes it, where there is one.

pub mod add;
pub mod backfill;
pub mod backup;
pub mod bench;
mod benchmark;
#[cfg(feature = "browse")]
pub mod browse;
pub mod chain;
pub mod completions;
pub mod connect;
pub mod delete;
pub mod demo;
pub mod digest;
pub mod doctor;
pub mod explore;
pub mod export;
pub mod get;
pub mod history;
pub mod hook;
pub mod import;
pub mod link;
pub mod list;
pub mod man;
pub mod move_store;
pub mod outdated;
pub mod purge;
pub mod read_pdf;
pub mod rebuild;
pub mod recall;
pub mod reembed;
pub mod search;
pub mod search_log;
pub mod setup;
pub mod source;
pub mod stats;
pub mod sync;
pub mod sync_with;
#[cfg(feature = "team")]
pub mod team;
pub mod tidy;
pub mod undo;
pub mod update;

mod add_sources;
mod app;
mod clients;
mod closing;
mod deadline;
mod discover;
mod fields;
mod format;
mod hidden;
mod import_embed;
mod import_report;
mod import_store;
mod links;
mod places;
mod plot;
mod progress;
mod quality;
#[cfg(feature = "team")]
mod standing;
mod table;

pub use app::App;
