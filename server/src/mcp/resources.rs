//! Every memory as a resource, `memory://ID`, so that a person can attach one to a conversation.

use rmcp::model::ResourceTemplate;

const SCHEME: &str = "memory://";

/// The media type of a resource.
pub const MEDIA_TYPE: &str = "application/json";

/// The template that clients fill in.
pub fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{id}}"), "memory")
        .with_title("Memory")
        .with_description("One memory, whole, by its id")
        .with_mime_type(MEDIA_TYPE)
}

/// The id that a URI names.
pub fn id(uri: &str) -> Option<i64> {
    let digits = uri.strip_prefix(SCHEME)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_ids_are_resources() {
        assert_eq!(id("memory://42"), Some(42));
        for other in
            ["memory://", "memory://-1", "memory://+1", "memory://4 2", "memory://99999999999999999999", "x://1"]
        {
            assert_eq!(id(other), None, "{other}");
        }
        assert_eq!(template().uri_template, "memory://{id}");
    }
}
