//! The branch of a conversation that its person sees last: edits and other answers make a tree of messages.

use std::collections::{HashMap, HashSet};

/// A message of a tree, as far as its position in it goes.
pub struct MessageLink<'a> {
    pub id: &'a str,
    /// The identifier of the message before it.
    pub parent: Option<&'a str>,
    /// Its time, in Unix milliseconds.
    pub at: Option<i64>,
}

/// The numbers of the messages from the first one to `last`, in their order. If there is no such message, to the newest message
/// that no other follows.
pub fn branch(links: &[MessageLink<'_>], last: Option<&str>) -> Vec<usize> {
    let numbers: HashMap<&str, usize> = links.iter().enumerate().map(|(number, link)| (link.id, number)).collect();
    let parents: HashSet<&str> = links.iter().filter_map(|link| link.parent).collect();
    let newest = || {
        let leaves = (0..links.len()).filter(|&number| !parents.contains(links[number].id));
        leaves.max_by_key(|&number| (links[number].at, number))
    };
    let mut next = last.and_then(|last| numbers.get(last).copied()).or_else(newest);
    let mut numbers_of_branch = Vec::new();
    let mut seen = HashSet::new();
    while let Some(number) = next.filter(|number| seen.insert(*number)) {
        numbers_of_branch.push(number);
        next = links[number].parent.and_then(|parent| numbers.get(parent).copied());
    }
    numbers_of_branch.reverse();
    numbers_of_branch
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(links: &[(&'static str, &'static str, i64)], last: Option<&str>) -> String {
        let link = |&(id, parent, at): &(_, &'static str, _)| {
            let parent = (!parent.is_empty()).then_some(parent);
            MessageLink { id, parent, at: Some(at) }
        };
        let links: Vec<_> = links.iter().map(link).collect();
        branch(&links, last).into_iter().map(|number| links[number].id).collect()
    }

    #[test]
    fn a_branch_leads_from_the_first_message_to_the_last() {
        let tree = [("a", "", 1), ("b", "a", 2), ("c", "a", 3), ("d", "b", 5), ("e", "c", 4), ("f", "e", 4)];
        assert_eq!(of(&tree, Some("e")), "ace");
        assert_eq!(of(&tree, None), "abd", "the newest");
        assert_eq!(of(&tree, Some("nowhere")), "abd");
        assert_eq!(of(&[], None), "");
        let circle = [("a", "c", 1), ("b", "a", 2), ("c", "b", 3)];
        assert_eq!(of(&circle, Some("c")), "abc");
        assert_eq!(of(&circle, None), "", "a circle has no end");
    }
}
