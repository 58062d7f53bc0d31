//! Events of memories over time.

use jiff::tz::TimeZone;
use memorist_engine::types::{Happened, Timeline};
use memorist_engine::{Engine, Result};

use super::super::{Context, plain_filter};
use crate::wire::explore::{Bucket, TimelineResult};
use crate::wire::{self, ListParams};

/// Counts the events of the memories of a list by day, week or month, in this machine's time zone.
pub fn timeline(engine: &Engine, context: &Context, params: ListParams) -> Result<TimelineResult> {
    // The offset of today: a day of the other half of the year may begin an hour off.
    let offset = TimeZone::system().to_offset(jiff::Timestamp::now());
    let Timeline { unit, buckets } =
        engine.timeline(&plain_filter(context, &params)?, i64::from(offset.seconds()) * 1_000)?;
    let bucket = |Happened { start, saved, changed, superseded, expired, deleted }| Bucket {
        start,
        saved: saved.into_iter().map(|(kind, count)| (kind.to_string(), wire::count(count))).collect(),
        changed: wire::count(changed),
        superseded: wire::count(superseded),
        expired: wire::count(expired),
        deleted: wire::count(deleted),
    };
    Ok(TimelineResult { unit: unit.as_str(), buckets: buckets.into_iter().map(bucket).collect() })
}
