//! Which requests are answered, by their heads: those that this machine's browsers send from the page itself. Web pages of
//! other origins are refused, also those of this machine, and so are names that lead here by DNS rebinding.

use http::header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{Method, StatusCode};

use crate::http::{LOOPBACK, Refusal, asked};

/// Where the functions are.
pub const API: &str = "/api/";
/// The sender of a request, as a browser names it.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Whether it is for a whole page.
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The requests of a listener on loopback.
pub struct Guard {
    port: u16,
}

impl Guard {
    pub fn new(port: u16) -> Self {
        Guard { port }
    }

    /// Why a request with this head is refused, whatever its token is, if it is.
    pub fn refuses(&self, head: &Parts) -> Option<Refusal> {
        self.check_host(head).and_then(|()| check_origin(head)).and_then(|()| check_site(head)).err()
    }

    fn check_host(&self, head: &Parts) -> Result<(), Refusal> {
        let host = asked(head)?;
        // Browsers leave out the port that HTTP has anyway.
        let is_ours = LOOPBACK.contains(&host.name.as_str()) && host.port.unwrap_or(80) == self.port;
        let why = "this Host is not allowed: open the address that `memorist explore` printed";
        if is_ours { Ok(()) } else { Err(Refusal::new(StatusCode::FORBIDDEN, why)) }
    }
}

/// A function is called by POST with JSON: no form and no plain request of another page can send that.
pub fn check_call(head: &Parts) -> Result<(), Refusal> {
    if head.method != Method::POST {
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed: use POST"));
    }
    let mut kinds = head.headers.get_all(CONTENT_TYPE).iter();
    let is_json = match (kinds.next(), kinds.next()) {
        (Some(kind), None) => kind.to_str().is_ok_and(is_json),
        _ => false,
    };
    let why = "send parameters as application/json";
    if is_json { Ok(()) } else { Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why)) }
}

fn is_json(kind: &str) -> bool {
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// A page says its origin with every POST. It must be that of the page which this listener serves, by the same name.
fn check_origin(head: &Parts) -> Result<(), Refusal> {
    let own = head.headers.get(HOST).map(|host| [b"http://", host.as_bytes()].concat().to_ascii_lowercase());
    let is_own = |origin: &[u8]| own.as_ref().is_some_and(|own| *own == origin.to_ascii_lowercase());
    match head.headers.get_all(ORIGIN).iter().all(|origin| is_own(origin.as_bytes())) {
        true => Ok(()),
        false => Err(Refusal::new(StatusCode::FORBIDDEN, "requests from this Origin are not allowed")),
    }
}

/// A browser also says where a request comes from. A person may come to the page from anywhere: a link, a file, the address
/// bar. It has no data, and cannot be framed.
fn check_site(head: &Parts) -> Result<(), Refusal> {
    let is_call = head.uri.path().starts_with(API);
    let is_visit = head.uri.path() == "/"
        && head.method == Method::GET
        && head.headers.get(DESTINATION).is_some_and(|destination| destination == "document");
    let allows = |site: &[u8]| site == b"same-origin" || (!is_call && (site == b"none" || is_visit));
    match head.headers.get_all(SITE).iter().all(|site| allows(site.as_bytes())) {
        true => Ok(()),
        false => Err(Refusal::new(StatusCode::FORBIDDEN, "only requests of the page itself are allowed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(method: Method, path: &str, headers: &[(&str, &str)]) -> Parts {
        let request = http::Request::builder().method(method).uri(path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap().into_parts().0
    }

    fn status(path: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let method = if path.starts_with(API) { Method::POST } else { Method::GET };
        Guard::new(7070).refuses(&head(method, path, headers)).map(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn only_names_of_this_machine_with_the_own_port_are_answered() {
        for host in ["127.0.0.1:7070", "localhost:7070", "LOCALHOST:7070", "[::1]:7070"] {
            assert_eq!(status("/api/list", &[("host", host)]), None, "{host}");
        }
        for host in ["127.0.0.1", "127.0.0.1:7071", "evil.example:7070", "localhost.evil.example:7070", "0.0.0.0:7070"]
        {
            assert_eq!(status("/api/list", &[("host", host)]), Some(403), "{host}");
            assert_eq!(status("/", &[("host", host)]), Some(403), "{host}");
        }
        for hosts in [&[][..], &[("host", "localhost:7070"), ("host", "evil.example:7070")], &[("host", "a b")]] {
            assert_eq!(status("/", hosts), Some(400), "{hosts:?}");
        }
        let (own, port) = (Guard::new(80), [("host", "localhost")]);
        assert_eq!(own.refuses(&head(Method::GET, "/", &port)), None, "a browser leaves out port 80");
    }

    #[test]
    fn only_the_page_itself_is_answered() {
        let origin = |origin| status("/api/list", &[("host", "localhost:7070"), ("origin", origin)]);
        assert_eq!(origin("http://localhost:7070"), None);
        for other in [
            "http://localhost:7071", "http://localhost", "http://127.0.0.1:7070", "https://localhost:7070",
            "http://localhost:7070.evil.example", "http://evil.example", "null", "",
        ] {
            assert_eq!(origin(other), Some(403), "{other}");
        }
        let both = [("host", "localhost:7070"), ("origin", "http://localhost:7070"), ("origin", "http://evil.example")];
        assert_eq!(status("/api/list", &both), Some(403));
    }

    #[test]
    fn cross_site_requests_are_refused_except_links_to_the_page() {
        let site = |path, site| status(path, &[("host", "localhost:7070"), ("sec-fetch-site", site)]);
        assert_eq!(
            (site("/api/list", "same-origin"), site("/app.js", "same-origin"), site("/", "none")),
            (None, None, None)
        );
        for other in ["cross-site", "same-site", "none", ""] {
            assert_eq!(site("/api/list", other), Some(403), "{other}");
        }
        for path in ["/", "/app.js"] {
            assert_eq!(site(path, "cross-site"), Some(403), "{path}");
        }
        let visit = |path| {
            let sent = [("host", "localhost:7070"), ("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")];
            status(path, &sent)
        };
        assert_eq!((visit("/"), visit("/app.js"), visit("/api/list")), (None, Some(403), Some(403)), "from a link");
    }

    #[test]
    fn a_call_is_a_post_of_json() {
        let call = |method, kinds: &[(&str, &str)]| check_call(&head(method, "/api/list", kinds)).err();
        let status = |refusal: Option<Refusal>| refusal.map(|refusal| refusal.status.as_u16());
        for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
            assert_eq!(call(Method::POST, &[("content-type", kind)]), None, "{kind}");
        }
        for kind in
            ["text/plain", "application/x-www-form-urlencoded", "text/plain; application/json", "application/jsonx"]
        {
            assert_eq!(status(call(Method::POST, &[("content-type", kind)])), Some(415), "{kind}");
        }
        let two = [("content-type", "application/json"), ("content-type", "text/plain")];
        assert_eq!((status(call(Method::POST, &two)), status(call(Method::POST, &[]))), (Some(415), Some(415)));
        for method in [Method::GET, Method::PUT, Method::OPTIONS, Method::DELETE, Method::HEAD] {
            assert_eq!(status(call(method, &[("content-type", "application/json")])), Some(405));
        }
    }
}
