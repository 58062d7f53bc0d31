//! The resources of the suite.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceTemplate};
use serde_json::json;

use super::answers::{PNG, complete};

const SCHEME: &str = "test://";
const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";

/// The resources that are listed.
pub fn all() -> [Resource; 2] {
    let listed = |uri: &str, name: &str, kind: &str| {
        Resource::new(uri, name).with_description("A fixture of the conformance suite").with_mime_type(kind)
    };
    [listed(TEXT, "static-text", "text/plain"), listed(BINARY, "static-binary", "image/png")]
}

pub fn template() -> ResourceTemplate {
    ResourceTemplate::new("test://template/{id}/data", "template")
        .with_description("A fixture of the conformance suite")
        .with_mime_type("application/json")
}

/// Whether this URI is of a fixture.
pub fn is_one(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

/// The contents; `None` if there is no such fixture.
pub fn read(uri: &str) -> Result<Option<ReadResourceResult>, ErrorData> {
    let contents = match uri {
        TEXT => {
            let text = "This is the content of the static text resource.";
            json!({ "uri": uri, "mimeType": "text/plain", "text": text })
        }
        BINARY => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        _ => {
            let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let Some(id) = id else { return Ok(None) };
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
        }
    };
    complete(json!({ "contents": [contents] })).map(Some)
}
