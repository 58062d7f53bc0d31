//! The target quality of a vector search: the one knob between speed and recall.

use std::fmt;

use memorist_index::Effort;
use serde::de::{Deserialize, Deserializer, Unexpected, Visitor};

/// The lowest recall that can be requested.
const LEAST_RECALL: f64 = 0.5;

/// Target recall of a vector search: the share of the true nearest neighbors to find. More takes longer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Quality {
    /// Nine in ten of them.
    Fast,
    /// Nearly all of them.
    #[default]
    Balanced,
    /// All but a few in a thousand.
    High,
    /// About this share of them, 0.5 to 1.0.
    Recall(f32),
    /// A fixed number of candidates in the graph walk, for experts. `ef` in the HNSW paper.
    Ef(usize),
    /// All of them: every vector is compared.
    Exact,
}

impl Quality {
    /// The named levels, the fastest first.
    pub const LEVELS: [Quality; 3] = [Quality::Fast, Quality::Balanced, Quality::High];

    /// The target recall, 0.5 to 1.0. `None` if the effort is given instead.
    pub fn target(self) -> Option<f32> {
        match Effort::from(self) {
            Effort::Recall(share) => Some(share),
            Effort::Exact => Some(1.0),
            Effort::Ef(_) => None,
        }
    }
}

impl From<Quality> for Effort {
    fn from(quality: Quality) -> Self {
        match quality {
            Quality::Fast => Effort::FAST,
            Quality::Balanced => Effort::BALANCED,
            Quality::High => Effort::HIGH,
            Quality::Recall(share) => Effort::Recall(share),
            Quality::Ef(ef) => Effort::Ef(ef),
            Quality::Exact => Effort::Exact,
        }
    }
}

/// Formats it as in the settings (`balanced`, `0.98`), and as `ef 200` or `exact`.
impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quality::Fast => f.write_str("fast"),
            Quality::Balanced => f.write_str("balanced"),
            Quality::High => f.write_str("high"),
            Quality::Recall(share) => write!(f, "{share}"),
            Quality::Ef(ef) => write!(f, "ef {ef}"),
            Quality::Exact => f.write_str("exact"),
        }
    }
}

/// A level by its name, or a recall.
impl<'de> Deserialize<'de> for Quality {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrShare)
    }
}

struct NameOrShare;

impl Visitor<'_> for NameOrShare {
    type Value = Quality;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for level in Quality::LEVELS {
            write!(f, "\"{level}\", ")?;
        }
        write!(f, "or the share of the true neighbors to find, a number from {LEAST_RECALL:.1} to 1.0")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Quality, E> {
        let level = Quality::LEVELS.into_iter().find(|level| level.to_string() == name);
        level.ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }

    fn visit_f64<E: serde::de::Error>(self, share: f64) -> Result<Quality, E> {
        if !(LEAST_RECALL..=1.0).contains(&share) {
            return Err(E::invalid_value(Unexpected::Float(share), &self));
        }
        Ok(Quality::Recall(share as f32))
    }

    fn visit_i64<E: serde::de::Error>(self, share: i64) -> Result<Quality, E> {
        self.visit_f64(share as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, share: u64) -> Result<Quality, E> {
        self.visit_f64(share as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quality_is_a_name_or_a_share() {
        let read = |json: &str| serde_json::from_str::<Quality>(json).unwrap();
        for level in Quality::LEVELS {
            assert_eq!(read(&format!("\"{level}\"")), level);
        }
        assert_eq!(
            (read("0.98"), read("1"), read("0.5")),
            (Quality::Recall(0.98), Quality::Recall(1.0), Quality::Recall(0.5))
        );
        for refused in ["\"best\"", "0.49", "1.01", "97", "-1", "true", "\"0.9\"", "null"] {
            let error = serde_json::from_str::<Quality>(refused).unwrap_err().to_string();
            let allowed = "\"fast\", \"balanced\", \"high\", or the share of the true neighbors to find, a number from 0.5 to 1.0";
            assert!(error.contains(allowed), "{refused}: {error}");
        }
    }

    #[test]
    fn levels_aim_higher_from_one_to_the_next() {
        let targets = Quality::LEVELS.map(|level| level.target().unwrap());
        assert!(targets.is_sorted_by(|a, b| a < b), "{targets:?}");
        assert_eq!((Quality::Recall(0.98).target(), Quality::Ef(80).target()), (Some(0.98), None));
        assert_eq!((Quality::Recall(0.98).to_string(), Quality::Ef(80).to_string()), ("0.98".into(), "ef 80".into()));
    }
}
