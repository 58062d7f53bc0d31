//! The commands for people, one per file.

pub mod add;
pub mod backup;
pub mod bench;
pub mod browse;
pub mod chain;
pub mod completions;
pub mod delete;
pub mod demo;
pub mod digest;
pub mod doctor;
pub mod export;
pub mod get;
pub mod history;
pub mod import;
pub mod link;
pub mod list;
pub mod outdated;
pub mod purge;
pub mod rebuild;
pub mod reembed;
pub mod restore;
pub mod rollback;
pub mod search;
pub mod setup;
pub mod stats;
pub mod undo;
pub mod unlink;
pub mod update;

mod app;
mod connect;
mod deadline;
mod fields;
mod format;
mod import_report;
mod links;
mod places;
mod plot;
mod progress;
mod quality;
mod table;

pub use app::App;
