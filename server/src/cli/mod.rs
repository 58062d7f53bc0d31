//! The commands for people, one verb a file.

pub mod add;
pub mod backup;
pub mod bench;
pub mod browse;
pub mod completions;
pub mod delete;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod get;
pub mod import;
pub mod list;
pub mod rebuild;
pub mod reembed;
pub mod restore;
pub mod search;
pub mod setup;
pub mod stats;
pub mod update;

mod app;
mod connect;
mod deadline;
mod format;
mod import_report;
mod plot;
mod progress;
mod table;

pub use app::App;
