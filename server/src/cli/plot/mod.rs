//! Recall against time, as a picture: in the terminal and as SVG.
//!
//! | file | job |
//! |---|---|
//! | `data.rs` | what is drawn |
//! | `axes.rs` | what the axes span, and where their ticks are |
//! | `terminal.rs` | the picture in characters |
//! | `svg.rs` | the picture as an SVG document |

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
