//! What is drawn: points of recall and time.

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
    /// The points of the curve.
    pub(super) fn curve(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.role == Role::Effort)
    }
}
