//! The plan and the results of `memorist tidy`.

use std::collections::BTreeMap;

use memorist_engine::types::{Kind, Millis, Record};
use serde::{Deserialize, Serialize};

use super::parse::parse_exactly;

/// The version of the format of plans.
const FORMAT: u32 = 1;
/// The text of a memory in a plan is cut after this number of characters.
const SHOWN_CHARS: usize = 2_000;

/// A plan of what to tidy up: made by a run that changes nothing, edited by a person or an agent, applied by another run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TidyPlan {
    /// "memorist-tidy".
    r#type: PlanType,
    format: u32,
    /// The store that it is for.
    pub store: String,
    /// When it was made, in Unix milliseconds.
    pub made_at: Millis,
    /// The proposals, the certain ones first.
    pub proposals: Vec<Proposal>,
    /// Whether there are more proposals than were asked for.
    #[serde(default)]
    pub more: bool,
    /// How many memories nobody found for 90 days, by kind. Nothing is proposed for them.
    #[serde(default)]
    pub never_found: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum PlanType {
    #[serde(rename = "memorist-tidy")]
    Tidy,
}

/// A change to a few memories, of which none is deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Proposal {
    /// Its number in the plan.
    pub n: u32,
    /// Whether it is applied. True at first for copies alone.
    pub apply: bool,
    /// The change.
    pub r#do: Do,
    /// With `supersede`, the id of the memory that stays in searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<i64>,
    /// With `supersede`, a new text for the one that stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The reason.
    pub why: String,
    /// The memories that it is about.
    pub memories: Vec<PlannedMemory>,
}

/// The change that a proposal makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Do {
    /// One memory supersedes the others, which no search finds any more.
    Supersede,
    /// The memories are linked as related, so that they are not proposed again.
    Link,
    /// A task gets the status dropped.
    Close,
    /// Nothing: somebody has to decide.
    Ask,
}

/// A memory as it was when the plan was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlannedMemory {
    /// Its id.
    pub id: i64,
    /// Its version. A memory with another one is left alone.
    pub version: i64,
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_type: Option<Kind>,
    /// When it was saved, in Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Millis>,
    /// Its project, unless it is global.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its agent, unless it is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its text, cut after 2,000 characters.
    #[serde(default)]
    pub text: String,
}

impl PlannedMemory {
    /// A memory as it is.
    pub fn of(record: &Record) -> Self {
        let mut text: String = record.content.chars().take(SHOWN_CHARS).collect();
        if text.len() < record.content.len() {
            text.push('…');
        }
        let Record { id, version, kind, created_at, scope, .. } = record;
        PlannedMemory {
            id: id.get(),
            version: *version,
            entry_type: Some(*kind),
            created_at: Some(*created_at),
            project: scope.project.clone(),
            agent: scope.agent.clone(),
            text,
        }
    }
}

impl TidyPlan {
    /// An empty plan.
    pub fn new(store: String, made_at: Millis) -> Self {
        TidyPlan {
            r#type: PlanType::Tidy,
            format: FORMAT,
            store,
            made_at,
            proposals: Vec::new(),
            more: false,
            never_found: BTreeMap::new(),
        }
    }

    /// A plan from JSON.
    ///
    /// # Errors
    /// The name of the field, and the reason.
    pub fn parse(json: &str) -> Result<Self, String> {
        let object = serde_json::from_str(json).map_err(|error| format!("is not a JSON object: {error}"))?;
        let plan: TidyPlan = parse_exactly(object)?;
        if plan.format != FORMAT {
            return Err(format!("format: {} is unknown, this memorist reads {FORMAT}", plan.format));
        }
        let mut numbers: Vec<u32> = plan.proposals.iter().map(|proposal| proposal.n).collect();
        numbers.sort_unstable();
        match numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("proposals: two have the number {}", pair[0])),
            None => Ok(plan),
        }
    }
}

/// A run of `tidy` that changed memories, or the undo of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TidyResult {
    /// The name of the run; `None` if nothing was changed.
    pub run: Option<String>,
    /// How many proposals were applied, or undone.
    pub done: u64,
    /// The others, and why.
    pub left: Vec<LeftAlone>,
}

/// A proposal that was left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftAlone {
    /// Its number.
    pub n: u32,
    /// The reason.
    pub why: String,
}

/// A run, as its journal has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TidyRun {
    /// Its name: when it began.
    pub run: String,
    /// How many proposals it applied.
    pub applied: u64,
    /// How many of them were undone.
    pub undone: u64,
    /// Why its journal cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn plan() -> Value {
        json!({ "type": "memorist-tidy", "format": 1, "store": "S", "madeAt": 1, "proposals": [
            { "n": 1, "apply": true, "do": "supersede", "keep": 2, "why": "w", "memories": [{ "id": 2, "version": 1 }] },
        ]})
    }

    #[test]
    fn a_plan_may_lack_texts() {
        let plan = TidyPlan::parse(&plan().to_string()).unwrap();
        assert_eq!((plan.proposals[0].keep, plan.proposals[0].memories[0].id), (Some(2), 2));
    }

    #[test]
    fn a_wrong_plan_is_refused_by_the_field() {
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut changed = plan();
            change(&mut changed);
            TidyPlan::parse(&changed.to_string()).unwrap_err()
        };
        type PlanEdit = &'static dyn Fn(&mut Value);
        let cases: [(&str, PlanEdit); 7] = [
            ("unknown field `colour`", &|plan| plan["colour"] = "red".into()),
            ("unknown field `delete`", &|plan| plan["proposals"][0]["delete"] = true.into()),
            ("proposals[0].do: unknown variant `delete`", &|plan| plan["proposals"][0]["do"] = "delete".into()),
            ("format: 2 is unknown", &|plan| plan["format"] = 2.into()),
            ("type: unknown variant `note`", &|plan| plan["type"] = "note".into()),
            ("proposals: two have the number 1", &|plan| {
                let same = plan["proposals"][0].clone();
                plan["proposals"].as_array_mut().unwrap().push(same);
            }),
            ("proposals[0].memories[0].version", &|plan| plan["proposals"][0]["memories"][0]["version"] = "x".into()),
        ];
        for (wanted, change) in cases {
            let why = refused(change);
            assert!(why.contains(wanted), "{why:?} lacks {wanted:?}");
        }
        assert!(TidyPlan::parse("[]").unwrap_err().contains("JSON object"));
    }
}
