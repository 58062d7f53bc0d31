//! The plan in a text of the agent, which the event of the same text lacks.

const OPEN: &str = "<proposed_plan>";
const CLOSE: &str = "</proposed_plan>";

/// A text with a plan.
pub struct WithPlan {
    /// The plan alone.
    pub plan: String,
    /// The texts that its event may have: without the plan, or without the marks around it.
    pub of_event: [String; 2],
}

/// The parts of a text, if it has a plan.
pub fn of(text: &str) -> Option<WithPlan> {
    let (before, rest) = text.split_once(OPEN)?;
    let (plan, after) = rest.split_once(CLOSE)?;
    let without = format!("{}\n\n{}", before.trim(), after.trim());
    let bare = format!("{before}{}{after}", plan.trim());
    let plan = format!("{OPEN}\n{}\n{CLOSE}", plan.trim());
    Some(WithPlan { plan, of_event: [without.trim().to_owned(), bare.trim().to_owned()] })
}
