//! What the official conformance suite expects of a server beside what the product is: tools, prompts and resources with
//! agreed names and answers. They stand before the product's own handler, on its router, guard and limits, if the crate is
//! built with the feature `conformance`. `tests/clients/conformance` runs the suite.
//!
//! | file | job |
//! |---|---|
//! | `handler.rs` | the product's handler with the fixtures before it |
//! | `tools.rs` | the tools, and those that answer at once |
//! | `talking.rs` | tools that report, log, and ask the client during a call |
//! | `rounds.rs` | tools and a prompt that ask by an incomplete result, and its sealed state |
//! | `schemas.rs` | the forms and schemas of the agreement |
//! | `prompts.rs`, `resources.rs` | prompts and resources |

// The suite tests the older era, too.
#![expect(deprecated)]

mod handler;
mod prompts;
mod resources;
mod rounds;
mod schemas;
mod talking;
mod tools;

use rmcp::ErrorData;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use handler::WithFixtures;

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// One sample of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/// A result that is complete, from its JSON.
fn complete<T: DeserializeOwned>(mut json: Value) -> Result<T, ErrorData> {
    json["resultType"] = "complete".into();
    typed(json)
}

/// A message of the protocol from its JSON.
fn typed<T: DeserializeOwned>(json: Value) -> Result<T, ErrorData> {
    serde_json::from_value(json).map_err(|error| ErrorData::internal_error(format!("bad fixture: {error}"), None))
}
