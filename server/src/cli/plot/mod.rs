//! Recall against time, as a plot: in the terminal and as SVG.
//!
//! | file | job |
//! |---|---|
//! | `data.rs` | the data |
//! | `axes.rs` | the ranges of the axes, and their ticks |
//! | `terminal.rs` | the plot in characters |
//! | `svg.rs` | the plot as an SVG document |

mod axes;
mod data;
mod svg;
mod terminal;

pub use data::{Plot, Point, Role};

impl Plot {
    /// In 80 columns of text, with colours on request.
    pub fn text(&self, coloured: bool) -> String {
        terminal::draw(self, coloured)
    }

    /// As an SVG document that is legible on light and dark ground.
    pub fn svg(&self) -> String {
        svg::draw(self)
    }
}

#[cfg(test)]
mod tests;
