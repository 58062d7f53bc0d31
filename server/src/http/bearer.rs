//! The token that a request is sent with.

use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};

use super::answer::Refusal;

/// The token that a client sends.
pub fn sent(headers: &HeaderMap) -> Option<&[u8]> {
    let header = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = header.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

/// A request without a token that is known.
pub fn unauthorized(why: &'static str) -> Refusal {
    Refusal { status: StatusCode::UNAUTHORIZED, header: Some((WWW_AUTHENTICATE, "Bearer")), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_a_client_sends_as_its_bearer() {
        let token = |sent: &str| {
            let headers: HeaderMap = [(AUTHORIZATION, sent.parse().unwrap())].into_iter().collect();
            super::sent(&headers).map(|token| String::from_utf8(token.to_vec()).unwrap())
        };
        for scheme in ["Bearer ", "bearer  "] {
            assert_eq!(token(&format!("{scheme}0123456789abcdef ")).as_deref(), Some("0123456789abcdef"));
        }
        for other in ["", "Bearer", "0123456789abcdef", "Basic 0123456789abcdef"] {
            assert_eq!(token(other), None, "{other}");
        }
        assert_eq!(super::sent(&HeaderMap::new()), None);
    }
}
