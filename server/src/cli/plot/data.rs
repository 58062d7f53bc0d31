//! The data of a plot: points of recall and time.

#[derive(Debug, Clone)]
pub struct Plot {
    pub title: String,
    /// The label of the horizontal axis.
    pub recall: String,
    /// The label of the vertical axis.
    pub time: String,
    /// The points, those of the curve from left to right.
    pub points: Vec<Point>,
}

#[derive(Debug, Clone)]
pub struct Point {
    /// 0 to 1.
    pub recall: f64,
    /// Microseconds, above 0.
    pub micros: f64,
    /// Its label, if there is room.
    pub label: String,
    pub role: Role,
}

/// The role of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An `ef` value: a point of the curve.
    Effort,
    /// A named quality.
    Level,
    /// The store's quality setting.
    Own,
}

impl Plot {
    /// The points of the curve.
    pub(super) fn curve(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.role == Role::Effort)
    }
}
