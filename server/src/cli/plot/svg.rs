//! The plot as an SVG document.

use std::fmt::Write;

use super::axes::Axes;
use super::{Plot, Point, Role};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 56.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 60.0;
/// Approximate width of a label's character, and its line height.
const CHARACTER: f64 = 7.0;
const LINE: f64 = 14.0;

/// Light and dark background: the viewer's setting decides.
const STYLE: &str = "\
.ground{fill:#ffffff}.text{fill:#1f2328}.faint{fill:#59636e}.grid{stroke:#d8dee4}.axis{stroke:#59636e}\
.curve{stroke:#0969da}.effort{fill:#0969da}.level{fill:#ffffff;stroke:#1f2328}.own{fill:#bc4c00}\
@media (prefers-color-scheme:dark){\
.ground{fill:#0d1117}.text{fill:#e6edf3}.faint{fill:#9198a1}.grid{stroke:#2a313c}.axis{stroke:#9198a1}\
.curve{stroke:#4493f8}.effort{fill:#4493f8}.level{fill:#0d1117;stroke:#e6edf3}.own{fill:#f0883e}}";

pub fn draw(plot: &Plot) -> String {
    let axes = Axes::of(plot);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut svg, plot, &axes);
    svg
}

fn x(at: f64) -> f64 {
    LEFT + at * (WIDTH - LEFT - RIGHT)
}

fn y(at: f64) -> f64 {
    HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM)
}

fn write_all(svg: &mut String, plot: &Plot, axes: &Axes) -> std::fmt::Result {
    let title = escaped(&plot.title);
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="13">"#
    )?;
    writeln!(svg, "<title>{title}</title>\n<style>{STYLE}</style>")?;
    writeln!(svg, r#"<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>"#)?;
    writeln!(svg, r#"<text class="text" x="{LEFT}" y="26" font-size="15" font-weight="600">{title}</text>"#)?;
    writeln!(svg, r#"<text class="faint" x="{LEFT}" y="{}">{}</text>"#, TOP - 16.0, escaped(&plot.time))?;
    write_legend(svg)?;
    write_axes(svg, plot, axes)?;

    let place = |point: &Point| (x(axes.recall.at(point.recall)), y(axes.time.at(point.micros)));
    let curve: Vec<_> = plot.curve().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    writeln!(
        svg,
        r#"<polyline class="curve" fill="none" stroke-width="2" stroke-linejoin="round" points="{}"/>"#,
        curve.join(" ")
    )?;
    let order = [Role::Effort, Role::Level, Role::Own].map(|role| plot.points.iter().filter(move |at| at.role == role));
    let placed: Vec<_> = order.into_iter().flatten().map(|point| (point, place(point))).collect();
    placed.iter().try_for_each(|(point, at)| write_symbol(svg, point.role, *at))?;
    let mut taken: Vec<Area> = placed.iter().map(|(_, (x, y))| Area::around(*x, *y)).collect();
    placed.iter().rev().try_for_each(|(point, at)| write_label(svg, point, *at, &mut taken))?;
    svg.write_str("</svg>\n")
}

fn write_legend(svg: &mut String) -> std::fmt::Result {
    let baseline = TOP - 16.0;
    let entries = [(Role::Effort, 190.0, "ef"), (Role::Level, 146.0, "level"), (Role::Own, 84.0, "your setting")];
    for (role, before, name) in entries {
        let x = WIDTH - RIGHT - before;
        write_symbol(svg, role, (x - 12.0, baseline - 4.0))?;
        writeln!(svg, r#"<text class="faint" x="{x}" y="{baseline}">{name}</text>"#)?;
    }
    Ok(())
}

fn write_axes(svg: &mut String, plot: &Plot, axes: &Axes) -> std::fmt::Result {
    let (left, right, top, bottom) = (x(0.0), x(1.0), y(1.0), y(0.0));
    for (at, name) in &axes.time.ticks {
        let y = y(*at);
        writeln!(svg, r#"<path class="grid" d="M{left:.1} {y:.1}H{right:.1}"/>"#)?;
        writeln!(
            svg,
            r#"<text class="faint" x="{:.1}" y="{:.1}" text-anchor="end">{name}</text>"#,
            left - 10.0,
            y + 4.0
        )?;
    }
    for (at, name) in &axes.recall.ticks {
        let x = x(*at);
        writeln!(svg, r#"<path class="grid" d="M{x:.1} {top:.1}V{bottom:.1}"/>"#)?;
        writeln!(svg, r#"<text class="faint" x="{x:.1}" y="{:.1}" text-anchor="middle">{name}</text>"#, bottom + 20.0)?;
    }
    writeln!(svg, r#"<path class="axis" fill="none" d="M{left:.1} {top:.1}V{bottom:.1}H{right:.1}"/>"#)?;
    let middle = f64::midpoint(left, right);
    writeln!(
        svg,
        r#"<text class="text" x="{middle:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
        bottom + 44.0,
        escaped(&plot.recall)
    )
}

fn write_symbol(svg: &mut String, role: Role, (x, y): (f64, f64)) -> std::fmt::Result {
    match role {
        Role::Effort => writeln!(svg, r#"<circle class="effort" cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#),
        Role::Level => writeln!(svg, r#"<circle class="level" cx="{x:.1}" cy="{y:.1}" r="5" stroke-width="1.5"/>"#),
        Role::Own => writeln!(svg, r#"<path class="own" d="M{x:.1} {:.1}l7 7l-7 7l-7 -7z"/>"#, y - 7.0),
    }
}

/// Writes the label of a point if there is room: `ef` values to the right of the curve, the others to the left.
fn write_label(svg: &mut String, point: &Point, (x, y): (f64, f64), taken: &mut Vec<Area>) -> std::fmt::Result {
    let width = point.label.chars().count() as f64 * CHARACTER;
    let [left, right] = [x - 11.0 - width, x + 11.0];
    // An `ef` label is a little lower, because the curve rises to the right.
    let (near, far, level) = if point.role == Role::Effort { (right, left, 10.0) } else { (left, right, 0.0) };
    let places = [(near, level), (near, -LINE), (near, 0.0), (near, LINE), (far, 0.0), (far, LINE), (far, -LINE)];
    let areas = places.map(|(left, down)| Area { left, top: y + down - LINE / 2.0, width, height: LINE });
    let free = areas.into_iter().find(|area| area.is_inside() && !taken.iter().any(|other| area.meets(other)));
    let Some(area) = free else { return Ok(()) };
    let (class, anchor) = if point.role == Role::Effort { ("faint", "start") } else { ("text", "start") };
    let (anchor, at) = if area.left < x { ("end", area.left + width) } else { (anchor, area.left) };
    let baseline = area.top + LINE - 3.0;
    taken.push(area);
    writeln!(
        svg,
        r#"<text class="{class}" x="{at:.1}" y="{baseline:.1}" text-anchor="{anchor}">{}</text>"#,
        escaped(&point.label)
    )
}

struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Area {
    /// The area of a symbol.
    fn around(x: f64, y: f64) -> Self {
        Area { left: x - 5.0, top: y - 5.0, width: 10.0, height: 10.0 }
    }

    fn is_inside(&self) -> bool {
        self.left > LEFT && self.left + self.width < WIDTH && self.top > TOP - LINE && self.top + self.height < y(0.0)
    }

    fn meets(&self, other: &Area) -> bool {
        let apart = |from: f64, length: f64, other: f64, its: f64| from + length <= other || other + its <= from;
        !apart(self.left, self.width, other.left, other.width) && !apart(self.top, self.height, other.top, other.height)
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
