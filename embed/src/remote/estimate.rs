//! Estimates of the cost of embedding.

use super::known::Known;
use super::profile::Profile;
use crate::error::Result;
use crate::provider::RemoteSettings;

/// Bytes of a token, on average over English.
const BYTES_PER_TOKEN: u64 = 4;

/// An estimate of the cost of embedding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Tokens.
    pub tokens: u64,
    /// Dollars, by the list price that this version knows; 0 on this machine; `None` if the price is not known.
    pub dollars: Option<f64>,
}

/// The cost of embedding `bytes` bytes of text.
///
/// # Errors
/// On an address that may not be used.
pub fn estimate(settings: &RemoteSettings, bytes: u64) -> Result<Estimate> {
    let profile = Profile::new(settings)?;
    let tokens = bytes.div_ceil(BYTES_PER_TOKEN);
    let is_own = profile.address.base == settings.protocol.default_url();
    let price = match (profile.address.is_local, is_own) {
        (true, _) => Some(0.0),
        (false, true) => Known::of(&settings.model).price,
        (false, false) => None,
    };
    Ok(Estimate { tokens, dollars: price.map(|price| price * tokens as f64 / 1e6) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Protocol;

    #[test]
    fn the_price_is_that_of_the_list_or_unknown() {
        let of = |url: Option<&str>, model: &str| {
            let mut settings = RemoteSettings::new("openai", Protocol::OpenAi);
            settings.url = url.map_or(settings.url, str::to_owned);
            settings.model = model.to_owned();
            estimate(&settings, 4_000_000).unwrap()
        };
        let small = "text-embedding-3-small";
        assert_eq!(of(None, small), Estimate { tokens: 1_000_000, dollars: Some(0.02) });
        assert_eq!(of(None, "text-embedding-9").dollars, None);
        assert_eq!(of(Some("https://resold.example/v1"), small).dollars, None);
        assert_eq!(of(Some("http://localhost:1234/v1"), "any").dollars, Some(0.0));
    }
}
