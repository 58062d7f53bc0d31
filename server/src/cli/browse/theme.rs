//! The colours of the screen. With NO_COLOR (<https://no-color.org>) there are none, and weight replaces them.

use ratatui::style::{Color, Style};

/// The styles of everything that is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    color: bool,
}

impl Theme {
    /// With colours, or without.
    pub fn new(color: bool) -> Self {
        Theme { color }
    }

    /// As the environment says.
    pub fn of_environment() -> Self {
        Theme::new(std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
    }

    /// The title of the focused part.
    pub fn focused(self) -> Style {
        self.tint(Style::new().bold(), Color::Cyan)
    }

    /// Secondary text: labels, rules, keys.
    pub fn faint(self) -> Style {
        Style::new().dim()
    }

    pub fn relevance(self) -> Style {
        self.tint(Style::new(), Color::Green)
    }

    pub fn kind(self) -> Style {
        self.tint(Style::new(), Color::Blue)
    }

    /// The chosen row or link.
    pub fn chosen(self) -> Style {
        Style::new().reversed()
    }

    /// The chosen row while the focus is on the memory.
    pub fn resting(self) -> Style {
        Style::new().bold()
    }

    pub fn notice(self) -> Style {
        self.tint(Style::new().bold(), Color::Yellow)
    }

    fn tint(self, style: Style, color: Color) -> Style {
        if self.color { style.fg(color) } else { style }
    }
}
