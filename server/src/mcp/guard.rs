//! Access control of the HTTP server: clients need the token and must not be foreign web pages. Only the head of a
//! request is checked.

use std::net::{SocketAddr, ToSocketAddrs};

use http::StatusCode;
use http::header::ORIGIN;
use http::request::Parts;

use crate::exit::{Failure, Kind};
use crate::http::{Host, LOOPBACK, Refusal, asked};

/// Options of the HTTP server.
pub struct PolicyOptions {
    /// PORT, :PORT or HOST:PORT.
    pub address: String,
    /// No token is required.
    pub without_token: bool,
    /// Other names of this machine.
    pub allow_hosts: Vec<String>,
}

/// The address to listen on, and the requests that are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Address to bind.
    pub address: SocketAddr,
    /// Whether the user allowed further names of this machine (`--allow-host`).
    pub has_allowed_hosts: bool,
    hosts: Vec<Host>,
}

impl Policy {
    /// Determines what is allowed; refuses an address that other machines can reach without a token.
    pub fn new(options: PolicyOptions) -> Result<Self, Failure> {
        let address = resolve(&options.address)?;
        if !address.ip().is_loopback() && options.without_token {
            return Err(Failure::input(format!(
                "other machines can reach {address}: omit --no-token, or serve on 127.0.0.1:{}",
                address.port()
            )));
        }
        let mut hosts: Vec<Host> = LOOPBACK.map(|name| Host { name: name.to_owned(), port: None }).into();
        if !address.ip().is_unspecified() {
            hosts.push(Host { name: address.ip().to_string(), port: None });
        }
        let has_allowed_hosts = !options.allow_hosts.is_empty();
        for text in &options.allow_hosts {
            hosts.push(Host::named(text).ok_or_else(|| {
                Failure::input(format!(
                    "--allow-host {text:?} is not a host; pass NAME or NAME:PORT, such as box.example"
                ))
            })?);
        }
        Ok(Policy { address, has_allowed_hosts, hosts })
    }

    /// Why a request with this head is refused, whatever its token is, if it is.
    pub fn refuses(&self, head: &Parts) -> Option<Refusal> {
        if let Err(refusal) = self.check_host(head) {
            return Some(refusal);
        }
        if !head.headers.get_all(ORIGIN).iter().all(|origin| origin.to_str().is_ok_and(is_local_origin)) {
            return Some(Refusal::new(StatusCode::FORBIDDEN, "requests from this Origin are not allowed"));
        }
        None
    }

    fn check_host(&self, head: &Parts) -> Result<(), Refusal> {
        let host = asked(head)?;
        if self.hosts.iter().any(|allowed| allowed.allows(&host)) {
            return Ok(());
        }
        Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "this Host is not allowed; start the server with --allow-host to accept it",
        ))
    }
}

/// Requests without an origin pass: only browsers send one.
fn is_local_origin(origin: &str) -> bool {
    Host::of_origin(origin).is_some_and(|host| LOOPBACK.contains(&host.name.as_str()))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(address: &str, without_token: bool) -> Result<Policy, Failure> {
        Policy::new(PolicyOptions { address: address.into(), without_token, allow_hosts: vec!["Box:81".into()] })
    }

    #[test]
    fn an_invalid_host_is_refused() {
        let allow = |host: &str| {
            Policy::new(PolicyOptions { address: "80".into(), without_token: false, allow_hosts: vec![host.into()] })
        };
        for host in
            ["", " ", "http://box.example", "box.example/", "me@box", "me@box:80", "box:port", "box:99999", "a b"]
        {
            let refused = allow(host);
            let Err(Failure::Error { kind: Kind::Input, message }) = refused else { panic!("{host:?}: {refused:?}") };
            assert!(message.contains("--allow-host") && message.contains("NAME:PORT"), "{message}");
        }
        for host in ["box", "box.example:80", "::1", "[fe80::1]:80", "192.0.2.7"] {
            allow(host).unwrap();
        }
    }

    fn status(headers: &[(&str, &str)]) -> Option<StatusCode> {
        let request =
            headers.iter().fold(http::Request::post("/mcp"), |request, (name, value)| request.header(*name, *value));
        let (head, ()) = request.body(()).unwrap().into_parts();
        policy("192.0.2.7:80", false).unwrap().refuses(&head).map(|refusal| refusal.status)
    }

    #[test]
    fn a_port_alone_is_loopback() {
        for text in ["8765", ":8765", "127.0.0.1:8765"] {
            assert_eq!(policy(text, true).unwrap().address, "127.0.0.1:8765".parse().unwrap(), "{text}");
        }
        assert!(policy("[::1]:8765", true).unwrap().address.ip().is_loopback());
        for text in ["", "nonsense", "127.0.0.1", "99999", "127.0.0.1:99999"] {
            assert!(policy(text, false).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_open_address_needs_a_token() {
        let refused = policy("0.0.0.0:8765", true);
        let Err(Failure::Error { kind: Kind::Input, message }) = refused else { panic!("{refused:?}") };
        assert!(message.contains("--no-token") && message.contains("127.0.0.1:8765"), "{message}");
        policy("0.0.0.0:8765", false).unwrap();
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]", "[::1]:80", "192.0.2.7", "box:81"] {
            assert_eq!(status(&[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "box", "box:82", "0.0.0.0", "127.0.0.1.evil.example:80"]
        {
            assert_eq!(status(&[("host", host)]), Some(StatusCode::FORBIDDEN), "{host}");
        }
        for hosts in [&[][..], &[("host", "")], &[("host", "localhost"), ("host", "evil.example")]] {
            assert_eq!(status(hosts), Some(StatusCode::BAD_REQUEST), "{hosts:?}");
        }
    }

    #[test]
    fn only_web_pages_of_this_machine_are_answered() {
        for origin in ["http://localhost", "http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:1"] {
            assert_eq!(status(&[("host", "localhost"), ("origin", origin)]), None, "{origin}");
        }
        for origin in
            ["http://evil.example", "https://localhost", "null", "", "localhost", "http://localhost.evil.example"]
        {
            let refused = status(&[("host", "localhost"), ("origin", origin)]);
            assert_eq!(refused, Some(StatusCode::FORBIDDEN), "{origin}");
        }
        let both = [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil.example")];
        assert_eq!(status(&both), Some(StatusCode::FORBIDDEN));
    }
}
