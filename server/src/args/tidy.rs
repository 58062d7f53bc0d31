//! Tidying up.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;

/// `tidy`.
#[derive(Debug, Args)]
pub struct Tidy {
    /// Apply a plan written by --out (`-` reads stdin); without PLAN, hide the copies
    #[arg(long, value_name = "PLAN")]
    pub apply: Option<Option<PathBuf>>,
    /// Apply only these proposals of PLAN, for example 1,4-7
    #[arg(long, value_name = "NUMBERS", requires = "apply", value_parser = numbers)]
    pub only: Option<Numbers>,
    /// Write the plan to this JSON file; an existing file is replaced, `-` is stdout
    #[arg(long, value_name = "FILE", conflicts_with_all = ["apply", "undo"])]
    pub out: Option<PathBuf>,
    /// Undo the last run that changed something, or RUN; `--undo list` shows the names of runs
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last", conflicts_with = "apply")]
    pub undo: Option<String>,
    /// Maximum number of proposals that need a decision
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..))]
    pub limit: u16,
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
}

/// Numbers of proposals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers(pub BTreeSet<u32>);

/// Most numbers of a range: more than a plan has.
const MOST: u32 = 100_000;

/// Reads "1,4-7".
fn numbers(text: &str) -> Result<Numbers, String> {
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| format!("{:?} is not a number", text.trim()));
    let mut numbers = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last - first > MOST {
            return Err(format!("{part:?} is not a range of proposals, as 4-7"));
        }
        numbers.extend(first..=last);
    }
    Ok(Numbers(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_lists_and_ranges() {
        assert_eq!(numbers("1, 4-6,5"), Ok(Numbers(BTreeSet::from([1, 4, 5, 6]))));
        for wrong in ["", "x", "1,", "7-4", "-3", "1-", "0-4294967295", "1.5"] {
            assert!(numbers(wrong).is_err(), "{wrong:?}");
        }
    }
}
