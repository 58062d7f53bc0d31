//! Names of this machine, and that which a request is sent to.

use std::net::Ipv6Addr;

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{StatusCode, Uri};

use super::answer::Refusal;

/// Names of this machine that are local to it.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A name of a machine, with a port or without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// In lower case, an IPv6 address without its brackets.
    pub name: String,
    /// Its port, if it has one.
    pub port: Option<u16>,
}

impl Host {
    /// `None` for an invalid Host. An IPv6 address may lack its brackets.
    pub fn named(text: &str) -> Option<Self> {
        if text.parse::<Ipv6Addr>().is_ok() {
            return Some(Host { name: bare(text), port: None });
        }
        let authority = text.parse::<Authority>().ok()?;
        let (host, port) = (authority.host(), authority.port_u16());
        // A user name, or an invalid port.
        let has_more = port.is_none() && host != text;
        (!host.is_empty() && !has_more && !text.contains('@')).then(|| Host::of(&authority))
    }

    /// The host of a web page; `None` if the page did not come over HTTP.
    pub fn of_origin(origin: &str) -> Option<Self> {
        let uri = origin.parse::<Uri>().ok()?;
        uri.authority().filter(|_| uri.scheme_str() == Some("http")).map(Host::of)
    }

    fn of(authority: &Authority) -> Self {
        Host { name: bare(authority.host()), port: authority.port_u16() }
    }

    /// Whether it has this name, and this port if this one has one.
    pub fn allows(&self, other: &Host) -> bool {
        self.name == other.name && (self.port.is_none() || self.port == other.port)
    }
}

fn bare(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

/// The host that a request is sent to. By it, DNS rebinding is recognised: such a web page sends its own name.
pub fn asked(head: &Parts) -> Result<Host, Refusal> {
    let mut sent = head.headers.get_all(HOST).iter().map(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let host = match (sent.next(), sent.next()) {
        (Some(only), None) => only,
        (None, _) => head.uri.authority().cloned(),
        _ => None,
    };
    host.as_ref().map(Host::of).ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "send one Host"))
}
