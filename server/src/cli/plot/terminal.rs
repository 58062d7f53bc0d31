//! The plot in characters: the curve in braille dots, the points and their labels above it.

use super::axes::Axes;
use super::{Plot, Point, Role};

/// Characters between the axes.
const COLUMNS: usize = 62;
const ROWS: usize = 16;
/// Characters to the right of them, for labels.
const MARGIN: usize = 8;
/// Characters of a time and the space after it.
const TIME: usize = 8;
/// Dots of a braille character, across and down.
const DOTS: (usize, usize) = (2, 4);
/// The bit of each of them, by row and column.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

struct Canvas {
    dots: Vec<[u8; COLUMNS]>,
    glyphs: Vec<[Option<(char, Role)>; COLUMNS + MARGIN]>,
}

pub fn draw(plot: &Plot, coloured: bool) -> String {
    let axes = Axes::of(plot);
    let mut canvas = Canvas { dots: vec![[0; COLUMNS]; ROWS], glyphs: vec![[None; COLUMNS + MARGIN]; ROWS] };
    let place = |point: &Point| {
        let row = (1.0 - axes.time.at(point.micros)) * (ROWS - 1) as f64;
        (axes.recall.at(point.recall) * (COLUMNS - 1) as f64, row)
    };
    let curve: Vec<_> = plot.curve().map(place).collect();
    curve.windows(2).for_each(|pair| canvas.line(pair[0], pair[1]));
    // Important points are drawn last, and get their label first.
    let order = [Role::Effort, Role::Level, Role::Own].map(|role| plot.points.iter().filter(move |at| at.role == role));
    let placed: Vec<_> = order.into_iter().flatten().map(|point| (point, place(point))).collect();
    placed
        .iter()
        .for_each(|(point, at)| canvas.glyphs[at.1.round() as usize][at.0.round() as usize] = Some(symbol(point.role)));
    placed.iter().rev().for_each(|(point, at)| canvas.label(point, at.0.round() as usize, at.1.round() as usize));

    let mut lines = vec![plot.time.clone()];
    for row in 0..ROWS {
        let tick = axes.time.ticks.iter().find(|(at, _)| ((1.0 - at) * (ROWS - 1) as f64).round() as usize == row);
        let axis = if tick.is_some() { '┤' } else { '│' };
        let name = tick.map(|(_, name)| name.as_str()).unwrap_or_default();
        lines.push(format!("{name:>0$} {axis}{1}", TIME - 1, canvas.row(row, coloured)).trim_end().to_owned());
    }
    lines.extend(recall_axis(&axes));
    let [effort, level, own] = [Role::Effort, Role::Level, Role::Own].map(|role| symbol(role).0);
    lines.push(format!("{:1$}{2}      {effort} ef   {level} level   {own} your setting", "", TIME + 1, plot.recall));
    lines.join("\n")
}

/// The horizontal axis with its ticks.
fn recall_axis(axes: &Axes) -> [String; 2] {
    let mut line: Vec<char> = format!("{:1$}└{2}", "", TIME, "─".repeat(COLUMNS)).chars().collect();
    let mut names = vec![' '; TIME + 1 + COLUMNS + MARGIN];
    for (at, name) in &axes.recall.ticks {
        let column = TIME + 1 + (at * (COLUMNS - 1) as f64).round() as usize;
        line[column] = '┬';
        let first = column - name.len() / 2;
        names[first..].iter_mut().zip(name.chars()).for_each(|(place, character)| *place = character);
    }
    [line.into_iter().collect(), names.into_iter().collect::<String>().trim_end().to_owned()]
}

fn symbol(role: Role) -> (char, Role) {
    match role {
        Role::Effort => ('•', role),
        Role::Level => ('○', role),
        Role::Own => ('◆', role),
    }
}

impl Canvas {
    /// A line of dots between two positions, in characters.
    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let [from, to] = [from, to].map(|(x, y)| ((x + 0.5) * DOTS.0 as f64, (y + 0.5) * DOTS.1 as f64));
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            let [x, y] = [(from.0, to.0), (from.1, to.1)].map(|(from, to)| (from + part * (to - from)) as usize);
            self.dots[y / DOTS.1][x / DOTS.0] |= BITS[y % DOTS.1][x % DOTS.0];
        }
    }

    /// Writes the label of a point if there is room: `ef` values to the right of the curve, the others to the left.
    fn label(&mut self, point: &Point, column: usize, row: usize) {
        let text: Vec<char> = point.label.chars().collect();
        let right = Some(column + 2);
        let left = column.checked_sub(text.len() + 1);
        let [near, far] = if point.role == Role::Effort { [right, left] } else { [left, right] };
        let places = [(row, near), (row, far), (row + 1, near), (row.wrapping_sub(1), near)];
        let free = places.into_iter().filter_map(|(row, first)| first.map(|first| (row, first)));
        let free = free.into_iter().find(|&(row, first)| self.is_free(row, first, text.len()));
        if let Some((row, first)) = free {
            let cells = text.into_iter().map(|character| Some((character, point.role)));
            self.glyphs[row][first..].iter_mut().zip(cells).for_each(|(place, cell)| *place = cell);
        }
    }

    /// Whether a text has room, with space around it.
    fn is_free(&self, row: usize, first: usize, length: usize) -> bool {
        let Some(glyphs) = self.glyphs.get(row) else { return false };
        let inside = first..first + length;
        let around = first.saturating_sub(1)..(first + length + 1).min(glyphs.len());
        inside.end <= glyphs.len()
            && inside.clone().all(|at| self.dots[row].get(at).is_none_or(|dots| *dots == 0))
            // The symbol of the point itself may be next to it.
            && inside.clone().all(|at| glyphs[at].is_none())
            && around.filter(|at| !inside.contains(at)).all(|at| glyphs[at].is_none_or(|(glyph, _)| !glyph.is_alphanumeric()))
    }

    fn row(&self, row: usize, coloured: bool) -> String {
        let mut text = String::new();
        for (column, glyph) in self.glyphs[row].iter().enumerate() {
            let dots = self.dots[row].get(column).copied().unwrap_or(0);
            let (glyph, role) = match glyph {
                Some(glyph) => *glyph,
                None if dots == 0 => {
                    text.push(' ');
                    continue;
                }
                None => (char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'), Role::Effort),
            };
            match coloured {
                true => text.push_str(&format!("\x1b[{}m{glyph}\x1b[0m", colour(role))),
                false => text.push(glyph),
            }
        }
        text
    }
}

/// The colour of a role, as terminals number them.
fn colour(role: Role) -> &'static str {
    match role {
        Role::Effort => "36",
        Role::Level => "1",
        Role::Own => "1;33",
    }
}
