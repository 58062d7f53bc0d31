//! Links, chains and digests.

use clap::Args;
use memorist_engine::types::{Direction, LinkKind};

use super::values::{directions, id, link_kinds};
use crate::wire::Detail;

/// `link` and `unlink`.
#[derive(Debug, Args)]
pub struct Link {
    /// The memory that says something of the other
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub from: i64,
    /// What it says
    #[arg(value_parser = link_kinds())]
    pub kind: LinkKind,
    /// The other
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub to: i64,
}

/// `chain`.
#[derive(Debug, Args)]
pub struct Chain {
    /// The id of the memory to start from
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
    /// Along links (forward), against them (backward) or both [default: both]
    #[arg(short, long, value_name = "WAY", value_parser = directions())]
    pub direction: Option<Direction>,
    /// Most links away, 0 to 10 [default: 3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub depth: Option<i64>,
    /// Most memories [default: 50]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
    /// Most tokens of all memories together
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_tokens: Option<i64>,
    /// How much text to return
    #[arg(long, value_enum)]
    pub detail: Option<Detail>,
}

/// `outdated`.
#[derive(Debug, Args)]
pub struct Outdated {
    /// Those with a smaller id than this
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = id)]
    pub before: Option<i64>,
    /// Most memories [default: 50]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
    /// How much text to return
    #[arg(long, value_enum)]
    pub detail: Option<Detail>,
}

/// `digest`.
#[derive(Debug, Args)]
pub struct Digest {
    /// Only memories whose body names this feature
    #[arg(long, value_name = "NAME")]
    pub feature: Option<String>,
    /// Most tokens of the text [default: 1000]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_tokens: Option<i64>,
}
