//! The profiles of tools.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};
use serde::Deserialize;

/// The tools that a server offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ProfileName {
    /// The few tools that every session needs.
    #[default]
    Core,
    /// All tools.
    Full,
    /// Claude's memory tool: files below /memories.
    Files,
    /// The tools of Mudpuppy's memory.
    Mudpuppy,
    /// The tools of Memorizer.
    Memorizer,
    /// The tools of Krolik's memory.
    Krolik,
    /// The tools of Gimli's memory.
    Gimli,
}

/// Every profile, for help and completion, and the empty value.
pub fn profiles() -> PossibleValuesParser {
    let names = ProfileName::value_variants().iter().filter_map(ProfileName::to_possible_value);
    PossibleValuesParser::new(names.chain([PossibleValue::new("").hide(true)]))
}
