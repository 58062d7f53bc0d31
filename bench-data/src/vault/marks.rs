//! Lists, tasks and tables, which Markdown and org write nearly alike.

/// Differences of the two syntaxes.
pub(super) struct Marks {
    /// The indentation of an item, for each level below the first.
    pub indent: &'static str,
    /// The mark of a task that is done.
    pub done: char,
    /// The line below the names of a table's columns.
    pub rule: &'static str,
}

impl Marks {
    pub fn list(&self, is_numbered: bool, items: &[(usize, String)], out: &mut String) {
        for (number, (depth, text)) in items.iter().enumerate() {
            let bullet = if is_numbered { format!("{}.", number + 1) } else { "-".to_owned() };
            *out += &format!("{}{bullet} {text}\n", self.indent.repeat(*depth));
        }
    }

    pub fn tasks(&self, tasks: &[(bool, String)], out: &mut String) {
        for (is_done, text) in tasks {
            *out += &format!("- [{}] {text}\n", if *is_done { self.done } else { ' ' });
        }
    }

    pub fn table(&self, rows: &[[String; 3]], out: &mut String) {
        for (number, row) in rows.iter().enumerate() {
            *out += &format!("| {} |\n", row.join(" | "));
            if number == 0 {
                *out += &format!("{}\n", self.rule);
            }
        }
    }
}
