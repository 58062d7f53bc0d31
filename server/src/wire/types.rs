//! Kinds as the types of another system. All profiles share one store, and each profile shows all of it: a kind that
//! its system does not know becomes the nearest type that it does. The table from kind to type is in the file of each
//! profile; this module maps it both ways.

use std::collections::BTreeMap;

use memorist_engine::types::Kind;

/// The kinds that are shown as one of `types`.
pub fn kinds_shown_as<T: From<Kind> + PartialEq>(types: &[T]) -> Vec<Kind> {
    Kind::ALL.into_iter().filter(|kind| types.contains(&T::from(*kind))).collect()
}

/// Counts by kind, as counts by the names of the types.
pub fn by_type<T: From<Kind> + Into<Kind>>(by_kind: BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let mut by_type = BTreeMap::new();
    for (kind, number) in by_kind {
        // A type has the name of the kind that it saves.
        let name = kind.parse().map_or(kind, |kind: Kind| T::from(kind).into().to_string());
        *by_type.entry(name).or_default() += number;
    }
    by_type
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Serialize;

    use super::super::{krolik, memorizer, mudpuppy};
    use super::*;

    /// Each type is shown for the kind with its name, which is the one that it saves; and every kind has a type.
    fn check<T: From<Kind> + Into<Kind> + PartialEq + Copy + Debug + Serialize>(types: &[T]) {
        for shown in types {
            let saved: Kind = (*shown).into();
            assert_eq!(serde_json::to_value(shown).unwrap(), saved.as_str());
            assert_eq!(T::from(saved), *shown);
        }
        assert_eq!(kinds_shown_as(types), Kind::ALL);
        let each: usize = types.iter().map(|shown| kinds_shown_as(&[*shown]).len()).sum();
        assert_eq!(each, Kind::ALL.len());
        let counts = by_type::<T>(Kind::ALL.iter().map(|kind| (kind.to_string(), 1)).collect());
        assert_eq!(counts.len(), types.len());
        assert_eq!(counts.values().sum::<i64>(), Kind::ALL.len() as i64);
    }

    #[test]
    fn every_kind_has_one_type_in_every_profile() {
        use {krolik::MemoryType, memorizer::Category, mudpuppy::EntryType};
        check(&EntryType::ALL);
        check(&Category::ALL);
        check(&MemoryType::ALL);
    }
}
