//! The address of a provider, checked.

use std::net::IpAddr;

use http::Uri;

use crate::error::{Error, Result};
use crate::provider::RemoteSettings;

/// The address of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Scheme, host, port and path, without a slash at its end.
    pub base: String,
    /// The question mark and the parameters behind it.
    pub query: String,
    /// Whether it is on this machine.
    pub is_local: bool,
}

impl Address {
    /// Reads the address of the settings. An error does not show it: it may have a password.
    pub fn of(settings: &RemoteSettings) -> Result<Self> {
        let refused =
            |why: &str| Error::Unavailable(format!("the `url` of the embedding provider {}: {why}", settings.name));
        let uri: Uri =
            settings.url.trim().parse().map_err(|_| refused("it is not an address; write it as https://HOST/PATH"))?;
        let (scheme, authority) = match (uri.scheme_str(), uri.authority()) {
            (Some(scheme @ ("http" | "https")), Some(authority)) => (scheme, authority),
            _ => return Err(refused("it must begin with https:// or http://")),
        };
        if authority.as_str().contains('@') {
            return Err(refused("it has a password in it; put keys into `api_key_env` or `api_key_file` instead"));
        }
        let parameters = uri.query().unwrap_or_default().split('&').map(|pair| pair.split('=').next().unwrap_or(pair));
        if let Some(name) = parameters.into_iter().find(|name| is_key(name)) {
            let why =
                format!("`{name}=` has a key in it; put it into `api_key_env`, `api_key_file` or a header instead");
            return Err(refused(&why));
        }
        let is_local = is_loopback(authority.host());
        let sends_secrets = settings.key.is_some() || !settings.headers.is_empty();
        if scheme == "http" && !is_local && sends_secrets && !settings.allow_http {
            return Err(refused(
                "the key would be sent unencrypted over the network; use https://, or set `allow_http = true` if nobody \
                 else can listen",
            ));
        }
        let path = uri.path().trim_end_matches('/');
        let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
        Ok(Address { base: format!("{scheme}://{}{path}", authority.as_str().to_lowercase()), query, is_local })
    }

    /// The address of one operation.
    pub fn join(&self, operation: &str) -> String {
        format!("{}/{operation}{}", self.base, self.query)
    }
}

/// Whether a parameter of an address usually has a key. `api-version` does not.
fn is_key(name: &str) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit(['-', '_']).next().unwrap_or_default();
    matches!(last, "key" | "apikey" | "token" | "secret" | "password" | "sig" | "signature")
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{Protocol, Secret};

    fn of(url: &str, key: Option<&str>) -> Result<Address> {
        let mut settings = RemoteSettings::new("openai", Protocol::OpenAi);
        settings.url = url.to_owned();
        settings.key = key.map(Secret::new);
        Address::of(&settings)
    }

    #[test]
    fn an_address_is_normalised_and_joined() {
        let address = of("https://API.example.com/v1/?api-version=3", None).unwrap();
        assert_eq!(address.join("embeddings"), "https://api.example.com/v1/embeddings?api-version=3");
        assert_eq!(of("https://api.example.com/v1", None).unwrap().base, address.base);
        for (url, is_local) in [
            ("http://localhost:1234/v1", true),
            ("http://127.0.0.2:1", true),
            ("http://[::1]:11434", true),
            ("http://192.168.1.9:8000", false),
            ("http://localhost.example.com", false),
        ] {
            assert_eq!(of(url, None).unwrap().is_local, is_local, "{url}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_shown() {
        // In parts, so that no password stands in these sources.
        let url = ["https://ann:", "hunter2", "@example.com/v1"].concat();
        let error = of(&url, None).unwrap_err().to_string();
        assert!(error.contains("api_key_file") && !error.contains("hunter2") && !error.contains("ann:"), "{error}");
        for wrong in ["", "api.example.com", "ftp://example.com", "https://", "file:///etc/passwd"] {
            assert!(of(wrong, None).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_in_an_address_is_refused_and_not_shown() {
        for name in ["key", "api_key", "API-Key", "apikey", "access_token", "subscription-key", "sig"] {
            let error =
                of(&format!("https://example.com/v1?api-version=3&{name}=abc123"), None).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("api_key_file") && !error.contains("abc123"), "{error}");
        }
        assert!(of("https://example.com/v1?api-version=3&keyed=1&monkey=2", None).is_ok());
    }

    #[test]
    fn a_key_is_not_sent_unencrypted_to_another_machine() {
        let error = of("http://example.com/v1", Some("k")).unwrap_err().to_string();
        assert!(error.contains("unencrypted") && error.contains("allow_http"), "{error}");
        assert!(of("http://127.0.0.1:8000/v1", Some("k")).is_ok());
        assert!(of("http://example.com/v1", None).is_ok());
        let mut settings = RemoteSettings::new("openai", Protocol::OpenAi);
        (settings.url, settings.key, settings.allow_http) = ("http://lan/v1".into(), Some(Secret::new("k")), true);
        assert!(Address::of(&settings).is_ok());
    }
}
