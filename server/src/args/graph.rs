//! Links, chains and digests.

use clap::Args;
use memorist_engine::types::{Direction, LinkKind};

use super::values::{directions, id, link_kinds};
use crate::wire::Detail;

/// `link` and `unlink`.
#[derive(Debug, Args)]
pub struct Link {
    /// Id of the linking memory
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub from: i64,
    /// Link kind
    #[arg(value_parser = link_kinds())]
    pub kind: LinkKind,
    /// Id of the linked memory
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub to: i64,
}

/// `chain`.
#[derive(Debug, Args)]
pub struct Chain {
    /// Id of the memory to start from
    #[arg(allow_negative_numbers = true, value_parser = id)]
    pub id: i64,
    /// Direction of the links to follow: forward, backward or both [default: both]
    #[arg(short, long, value_name = "WAY", value_parser = directions())]
    pub direction: Option<Direction>,
    /// Maximum distance in links, 0 to 10 [default: 3]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub depth: Option<i64>,
    /// Maximum number of memories [default: 50]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
    /// Token budget for all memories
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_tokens: Option<i64>,
    /// Amount of text per memory
    #[arg(long, value_enum)]
    pub detail: Option<Detail>,
}

/// `outdated`.
#[derive(Debug, Args)]
pub struct Outdated {
    /// Only memories with a smaller id, for the next page
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = id)]
    pub before: Option<i64>,
    /// Maximum number of memories [default: 50]
    #[arg(short = 'n', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub limit: Option<i64>,
    /// Amount of text per memory
    #[arg(long, value_enum)]
    pub detail: Option<Detail>,
}

/// `digest`.
#[derive(Debug, Args)]
pub struct Digest {
    /// Only memories whose body names this feature
    #[arg(long, value_name = "NAME")]
    pub feature: Option<String>,
    /// Token budget [default: 1000]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub max_tokens: Option<i64>,
}
