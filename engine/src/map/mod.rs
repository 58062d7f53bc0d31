//! A map of all memories: a place on a plane for each, so that what is alike is near.
//!
//! Made from the neighbours that the vector index finds, as UMAP does (McInnes, Healy, Melville 2018), and then kept: a memory
//! that is new or has changed is placed by its neighbours, one that is deleted leaves, and nothing else moves. A new layout is
//! only made when somebody asks for it. The same vectors give the same map: bit for bit with one build on one kind of processor,
//! and with the same segments of the index.
//!
//! Near is not nearest: of the true 15 nearest of a memory, a quarter are among the 50 nearest on the map.
//!
//! | file | job |
//! |---|---|
//! | `random.rs` | numbers that look random |
//! | `graph.rs` | how strongly neighbours belong together |
//! | `descent.rs` | moves what belongs together near |
//! | `start.rs` | where points start |
//! | `file.rs` | **the format**: a map, and the file that keeps it |
//! | `frame.rs` | the square that is shown |
//! | `neighbours.rs` | the nearest memories, by the index |
//! | `layout.rs` | places for all at once |
//! | `placing.rs` | places for new ones |
//! | `view.rs` | the map as a viewer sees it |
//! | `phrases.rs` | phrases that memories share |
//! | `labels.rs` | labels of the regions |
//! | `keeper.rs` | the map of a store, shared by processes |

mod descent;
mod file;
mod frame;
mod graph;
mod keeper;
mod labels;
mod layout;
mod neighbours;
mod phrases;
mod placing;
mod random;
mod start;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use file::{Map, Point};
pub(crate) use frame::Frame;
pub(crate) use keeper::{Keeper, Seen, examine};
pub(crate) use labels::labels;
pub use labels::{MapLabel, MapLabels};
pub(crate) use layout::{Start, lay_out};
pub(crate) use neighbours::nearest_allowed;
pub(crate) use placing::Ground;
pub use view::{CHANGED, MapView, PLACED_LATER, SUPERSEDED};
