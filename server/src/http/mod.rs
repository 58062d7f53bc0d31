//! HTTP, as the server of agents and the explorer both speak it: who may connect, and how much they may send.
//!
//! | file | job |
//! |---|---|
//! | `answer.rs` | answers, and refused requests |
//! | `connections.rs` | the connections of a listener, within limits |
//! | `body.rs` | bodies of requests, within limits |
//! | `hosts.rs` | names of this machine, and that which a request is sent to |
//! | `bearer.rs` | the token that a request is sent with |

mod answer;
mod bearer;
mod body;
mod connections;
mod hosts;

pub use answer::{Answer, Refusal, holding, plain};
pub use bearer::{sent, unauthorized};
pub use body::{Bodies, Body};
pub use connections::{Slot, serve};
pub use hosts::{Host, LOOPBACK, asked};
