//! Who may use the HTTP server: on loopback every local process that does not come from a foreign web page; elsewhere
//! whoever has the token.

use std::hint::black_box;
use std::net::{SocketAddr, ToSocketAddrs};

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::exit::{Failure, Kind};

/// What was asked of the HTTP server.
pub struct Options {
    /// PORT, :PORT or HOST:PORT.
    pub address: String,
    /// What clients must send.
    pub token: Option<String>,
    /// Other names of this machine.
    pub allow_hosts: Vec<String>,
}

/// Where the server may listen, and whom it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Address to bind.
    pub address: SocketAddr,
    /// The token that every request must carry, where there is one.
    pub token: Option<String>,
    /// Values of `Host` that are answered: a web page that rebinds its name to this machine sends its own.
    pub hosts: Vec<String>,
    /// Whether names of this machine are among them that others use.
    pub names_others: bool,
    /// Values of `Origin` that are answered. Requests without one, which is all but browsers, pass.
    pub origins: Vec<String>,
}

impl Policy {
    /// Settles what is allowed; refuses an address that others can reach without a token.
    pub fn new(options: Options) -> Result<Self, Failure> {
        let address = resolve(&options.address)?;
        let token = options.token.filter(|token| !token.trim().is_empty());
        if !address.ip().is_loopback() && token.is_none() {
            return Err(Failure::input(format!(
                "{address} can be reached from other machines: set a token with --token or MEMORIST_TOKEN, or serve on \
                 127.0.0.1:{}",
                address.port()
            )));
        }
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).into();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        let names_others = !options.allow_hosts.is_empty();
        hosts.extend(options.allow_hosts);
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(String::from).into();
        Ok(Policy { address, token, hosts, names_others, origins })
    }
}

fn resolve(text: &str) -> Result<SocketAddr, Failure> {
    let port = text.strip_prefix(':').unwrap_or(text).parse::<u16>();
    if let Ok(port) = port {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let addresses = text.to_socket_addrs();
    let first = addresses.as_ref().ok().and_then(|all| all.clone().next());
    first.ok_or_else(|| {
        let why = addresses.err().map(|error| format!(" ({error})")).unwrap_or_default();
        Failure::new(Kind::Input, format!("--http {text}: not an address; give PORT or HOST:PORT{why}"))
    })
}

/// Lets requests pass that carry the token, all where none is set.
pub async fn authenticate(token: Option<String>, request: Request, next: Next) -> Response {
    let Some(token) = token else { return next.run(request).await };
    let header = request.headers().get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
    if header.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "))
        && same(header[7..].trim_ascii(), token.as_bytes())
    {
        return next.run(request).await;
    }
    let text = "send the server's token: Authorization: Bearer TOKEN\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], text).into_response()
}

/// Compares in a time that depends on the lengths alone, so that a token cannot be guessed byte by byte.
fn same(given: &[u8], secret: &[u8]) -> bool {
    let differences = given.iter().zip(secret).fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
    given.len() == secret.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(address: &str, token: Option<&str>) -> Result<Policy, Failure> {
        Policy::new(Options {
            address: address.into(),
            token: token.map(String::from),
            allow_hosts: vec!["box".into()],
        })
    }

    #[test]
    fn a_port_alone_is_loopback() {
        for text in ["8765", ":8765", "127.0.0.1:8765"] {
            assert_eq!(policy(text, None).unwrap().address, "127.0.0.1:8765".parse().unwrap(), "{text}");
        }
        assert!(policy("[::1]:8765", None).unwrap().address.ip().is_loopback());
        for text in ["", "nonsense", "127.0.0.1", "99999", "127.0.0.1:99999"] {
            assert!(policy(text, None).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_open_address_needs_a_token() {
        for token in [None, Some(""), Some("  ")] {
            let refused = policy("0.0.0.0:8765", token);
            let Err(Failure::Error { kind: Kind::Input, message }) = refused else { panic!("{refused:?}") };
            assert!(message.contains("--token") && message.contains("127.0.0.1:8765"), "{message}");
        }
        let open = policy("192.0.2.7:8765", Some("secret")).unwrap();
        assert!(open.hosts.contains(&"192.0.2.7".to_owned()) && open.hosts.contains(&"box".to_owned()));
        assert!(!policy("0.0.0.0:1", Some("secret")).unwrap().hosts.contains(&"0.0.0.0".to_owned()));
    }

    #[test]
    fn only_the_token_is_the_token() {
        assert!(same(b"secret", b"secret"));
        for other in ["", "secre", "secrets", "Secret", "xxxxxx"] {
            assert!(!same(other.as_bytes(), b"secret"), "{other}");
        }
    }
}
