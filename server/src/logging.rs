//! Diagnostics on stderr. Silent in normal operation: clients of a stdio server show stderr output as an error.

use tracing_subscriber::EnvFilter;

use crate::escape::EscapingWriter;

/// The module that warns about a provider.
pub const PROVIDER: &str = "memorist_embed::remote::breaker";

/// Starts logging. RUST_LOG decides; else `filter`. `None`: nothing is logged, whatever RUST_LOG says.
pub fn start(filter: Option<&str>) {
    memorist_engine::log_contained_panics();
    let Some(filter) = filter else { return };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(filter));
    // No ANSI escapes: stderr is often a client's log file. A closed stderr must not become a panic.
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| EscapingWriter(std::io::stderr()))
        .with_ansi(false)
        .log_internal_errors(false)
        .try_init();
    // This fails only if a subscriber is set already, which is then used.
    drop(started);
}

/// The filter for a number of `--verbose`, if neither RUST_LOG nor the configuration says otherwise. The protocol
/// library warns about mistakes of clients, which matters only on request.
pub fn filter(verbose: u8, quiet: bool, configured: Option<&str>) -> String {
    match (verbose, quiet, configured) {
        (0, true, _) => "off".into(),
        (0, false, Some(level)) => level.into(),
        (0, false, None) => "warn,rmcp=off".into(),
        (1, _, _) => "info".into(),
        (2, _, _) => "debug".into(),
        _ => "trace".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_override_the_configuration() {
        assert_eq!(filter(0, false, None), "warn,rmcp=off");
        assert_eq!(filter(0, false, Some("info")), "info");
        assert_eq!(filter(1, false, Some("error")), "info");
        assert_eq!(filter(0, true, Some("info")), "off");
    }
}
