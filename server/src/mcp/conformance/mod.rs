//! Fixtures that the official conformance suite expects of a server: tools, prompts and resources with agreed names and
//! answers. They stand before the product's own handler, on its router, guard and limits, if the crate is built with the
//! feature `conformance`. `tests/clients/conformance` runs the suite.
//!
//! | file | job |
//! |---|---|
//! | `handler.rs` | the product's handler with the fixtures before it |
//! | `tools.rs` | the tools, and those that answer at once |
//! | `talking.rs` | tools that report, log, and ask the client during a call |
//! | `rounds.rs` | tools and a prompt that ask by an incomplete result, and its sealed state |
//! | `lists.rs` | lists that a test changes |
//! | `answers.rs` | messages of the protocol from JSON |
//! | `schemas.rs` | the forms and schemas of the agreement |
//! | `prompts.rs`, `resources.rs` | prompts and resources |

// The suite tests the older era, too.
#![expect(deprecated)]

mod answers;
mod handler;
mod lists;
mod prompts;
mod resources;
mod rounds;
mod schemas;
mod talking;
mod tools;

pub use handler::WithFixtures;
pub use talking::talks;
