//! Figures for an operator, as OpenMetrics text: what was called, how long it took, what failed, and how the store stands.

use std::time::Duration;

use crate::serving::Access;
use memorist_engine::Engine;
use memorist_engine::types::Filter;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode, encode_registry};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// The content type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Upper bounds, in seconds.
const BUCKETS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The figures of a server.
pub struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Histogram, fn() -> Histogram>,
    errors: Family<Failed, Counter>,
}

/// The labels of a call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    access: &'static str,
}

/// The kind of error that is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Failed {
    kind: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("memorist");
        let calls = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        let errors = Family::<Failed, Counter>::default();
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "This program", version);
        registry.register_with_unit("call", "Calls of tools, searches among them", Unit::Seconds, calls.clone());
        registry.register("errors", "Failed calls and requests, by reason", errors.clone());
        Metrics { registry, calls, errors }
    }
}

impl Metrics {
    /// A tool was called, and took this long.
    pub fn called(&self, tool: &str, access: Access, took: Duration) {
        let access = match access {
            Access::Read => "read",
            Access::Write => "write",
        };
        self.calls.get_or_create(&CallLabels { tool: tool.to_owned(), access }).observe(took.as_secs_f64());
    }

    pub fn failed(&self, kind: &'static str) {
        self.errors.get_or_create(&Failed { kind }).inc();
    }

    /// All figures, with those of the store as it is now.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn text(&self, engine: &Engine) -> memorist_engine::Result<String> {
        let mut text = String::new();
        encode_registry(&mut text, &self.registry).expect("a String takes all text");
        encode(&mut text, &of_store(engine)?).expect("a String takes all text");
        Ok(text)
    }
}

/// The figures of a store as it is.
fn of_store(engine: &Engine) -> memorist_engine::Result<Registry> {
    let mut registry = Registry::with_prefix("memorist");
    let stats = engine.index_stats()?;
    for (name, help, number) in [
        ("memories", "Live memories", engine.stats(&Filter::default())?.total),
        ("index_lag_entries", "Log entries that are not indexed yet", stats.unapplied),
        ("index_vectors", "Vectors in the published index", stats.vectors),
        ("index_documents", "Documents in the published index", stats.documents),
        ("rejected_texts", "Texts that the embedding model rejected", stats.refused),
    ] {
        registry.register(name, help, ConstGauge::new(i64::try_from(number).unwrap_or(i64::MAX)));
    }
    let Some(node) = engine.node() else { return Ok(registry) };
    registry.register("replication_pulls", "Requests of the replica to the primary", ConstCounter::new(node.pulls));
    registry.register(
        "replication_pull_failures",
        "Requests to the primary that failed",
        ConstCounter::new(node.failed),
    );
    let took = ConstCounter::new(node.pulled.as_secs_f64());
    registry.register_with_unit("replication_pull", "Total time of these requests", Unit::Seconds, took);
    if let Some(age) = node.age {
        let age = ConstGauge::new(age.as_secs_f64());
        registry.register_with_unit("replica_lag", "Age of the replica", Unit::Seconds, age);
    }
    let is_down = ConstGauge::new(i64::from(node.error.is_some()));
    registry.register("primary_down", "Whether the last request to the primary failed", is_down);
    Ok(registry)
}

#[cfg(test)]
mod tests {
    use memorist_engine::config::Config;
    use memorist_engine::types::NewRecord;

    use super::*;

    #[test]
    fn the_figures_are_open_metrics() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path(), Config::without_model()).unwrap();
        engine.add(&NewRecord::new("the amber key")).unwrap();
        let metrics = Metrics::default();
        metrics.called("memory_search", Access::Read, Duration::from_millis(3));
        metrics.called("memory_search", Access::Read, Duration::from_secs(99));
        metrics.called("memory_add", Access::Write, Duration::from_millis(30));
        metrics.failed("busy");
        let text = metrics.text(&engine).unwrap();
        for line in [
            "# TYPE memorist_call_seconds histogram",
            "# UNIT memorist_call_seconds seconds",
            "memorist_call_seconds_count{tool=\"memory_search\",access=\"read\"} 2",
            "memorist_call_seconds_bucket{le=\"0.0025\",tool=\"memory_search\",access=\"read\"} 0",
            "memorist_call_seconds_bucket{le=\"0.005\",tool=\"memory_search\",access=\"read\"} 1",
            "memorist_call_seconds_bucket{le=\"+Inf\",tool=\"memory_search\",access=\"read\"} 2",
            "memorist_call_seconds_count{tool=\"memory_add\",access=\"write\"} 1",
            "memorist_errors_total{kind=\"busy\"} 1",
            "memorist_memories 1",
            "# TYPE memorist_index_lag_entries gauge",
            "memorist_rejected_texts 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
