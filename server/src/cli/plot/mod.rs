//! Recall against time, as a picture: in the terminal and as SVG.
//!
//! | file | job |
//! |---|---|
//! | `axes.rs` | what the axes span, and where their ticks are |
//! | `terminal.rs` | the picture in characters |
//! | `svg.rs` | the picture as an SVG document |

mod axes;
mod svg;
mod terminal;

/// What is drawn.
#[derive(Debug, Clone)]
pub struct Plot {
    /// What was measured.
    pub title: String,
    /// What the horizontal axis shows.
    pub recall: String,
    /// What the vertical axis shows.
    pub time: String,
    /// The points, those of the curve from left to right.
    pub points: Vec<Point>,
}

/// One point.
#[derive(Debug, Clone)]
pub struct Point {
    /// 0 to 1.
    pub recall: f64,
    /// Microseconds, above 0.
    pub micros: f64,
    /// What is written beside it, where there is room.
    pub label: String,
    /// What it stands for.
    pub role: Role,
}

/// What a point stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An effort: a point of the curve.
    Effort,
    /// A quality that has a name.
    Level,
    /// The quality that the store is set to.
    Own,
}

impl Plot {
    /// In 80 columns of text, with colours on request.
    pub fn text(&self, coloured: bool) -> String {
        terminal::draw(self, coloured)
    }

    /// As an SVG document that is legible on light and dark ground.
    pub fn svg(&self) -> String {
        svg::draw(self)
    }

    fn curve(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.role == Role::Effort)
    }
}

#[cfg(test)]
mod tests;
