//! An entry of a settings file, and how it changes the settings that are read.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::refused::Refused;

/// An entry of ours in a settings file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The keys that lead to its container.
    pub path: Vec<String>,
    /// Its place in the container.
    pub slot: Slot,
    pub value: Value,
}

/// The place of an entry in its container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slot {
    /// A member of an object, of this name.
    Member(String),
    /// An item of a list.
    Item,
}

/// Whether an entry is in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Presence {
    /// It is not.
    Missing,
    /// As it should be.
    Same,
    /// Something else has its name.
    Other(Value),
}

impl Entry {
    /// A member of the object that `path` leads to.
    pub fn member(path: &[&str], name: &str, value: Value) -> Self {
        Entry { path: path.iter().map(|&key| key.to_owned()).collect(), slot: Slot::Member(name.to_owned()), value }
    }

    /// An item of the list that `path` leads to.
    pub fn item(path: &[&str], value: Value) -> Self {
        Entry { path: path.iter().map(|&key| key.to_owned()).collect(), slot: Slot::Item, value }
    }

    /// Whether it is in the settings that were read.
    ///
    /// # Errors
    /// When a value on its path is of another type.
    pub fn presence(&self, read: &Value) -> Result<Presence, Refused> {
        let Some(container) = self.container(read)? else { return Ok(Presence::Missing) };
        let found = match &self.slot {
            Slot::Member(name) => container.get(name),
            Slot::Item => {
                let items = container.as_array().map_or(&[][..], Vec::as_slice);
                let has_our_name =
                    |item: &&Value| self.value.get("name").is_some() && item.get("name") == self.value.get("name");
                items.iter().find(|item| **item == self.value).or_else(|| items.iter().find(has_our_name))
            }
        };
        Ok(match found {
            None => Presence::Missing,
            Some(value) if *value == self.value => Presence::Same,
            Some(value) => Presence::Other(value.clone()),
        })
    }

    /// Its container; `None` if that is missing or null.
    fn container<'a>(&self, read: &'a Value) -> Result<Option<&'a Value>, Refused> {
        let mut value = read;
        for (depth, key) in self.path.iter().enumerate() {
            value = match value.get(key) {
                None | Some(Value::Null) => return Ok(None),
                Some(value) => value,
            };
            let is_last = depth + 1 == self.path.len();
            let fits = if is_last && self.slot == Slot::Item { value.is_array() } else { value.is_object() };
            if !fits {
                return Err(self.wrong_type(depth));
            }
        }
        Ok(Some(value))
    }

    /// The error that the value at this key of the path is of another type than it should be.
    pub(super) fn wrong_type(&self, depth: usize) -> Refused {
        let is_list = depth + 1 == self.path.len() && self.slot == Slot::Item;
        let wanted = if is_list { "a list" } else { "an object" };
        Refused::InTheWay(format!("`{}` is not {wanted}", self.path[..=depth].join(".")))
    }

    /// Adds it to the settings that were read, as the first or the last item of a list.
    pub(super) fn put(&self, read: &mut Value, first: bool) -> Result<(), Refused> {
        if self.presence(read)? != Presence::Missing && self.slot != Slot::Item {
            return Err(Refused::InTheWay(format!("there is a `{}` already", self.shown())));
        }
        let mut value = read;
        for (depth, key) in self.path.iter().enumerate() {
            let is_list = depth + 1 == self.path.len() && self.slot == Slot::Item;
            let empty = || if is_list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
            let members = value.as_object_mut().ok_or_else(|| self.wrong_type(depth.saturating_sub(1)))?;
            value = members.entry(key.clone()).or_insert_with(empty);
            if value.is_null() {
                *value = empty();
            }
        }
        match (&self.slot, value) {
            (Slot::Member(name), Value::Object(members)) => drop(members.insert(name.clone(), self.value.clone())),
            (Slot::Item, Value::Array(items)) => items.insert(if first { 0 } else { items.len() }, self.value.clone()),
            _ => return Err(Refused::Unsafe),
        }
        Ok(())
    }

    /// Removes it from the settings that were read.
    pub(super) fn take(&self, read: &mut Value) -> Result<(), Refused> {
        if self.presence(read)? != Presence::Same {
            return Err(Refused::InTheWay(format!("`{}` is not as it was written", self.shown())));
        }
        let mut value = read;
        for key in &self.path {
            value = value.get_mut(key).ok_or(Refused::Unsafe)?;
        }
        match (&self.slot, value) {
            (Slot::Member(name), Value::Object(members)) => drop(members.shift_remove(name)),
            (Slot::Item, Value::Array(items)) => {
                let at = items.iter().rposition(|item| *item == self.value).ok_or(Refused::Unsafe)?;
                items.remove(at);
            }
            _ => return Err(Refused::Unsafe),
        }
        Ok(())
    }

    /// Removes each container on its path that has no members from the settings that were read.
    pub(super) fn prune(&self, read: &mut Value) {
        for depth in (0..self.path.len()).rev() {
            let above = self.path[..depth].iter().try_fold(&mut *read, |value, key| value.get_mut(key));
            let Some(Value::Object(members)) = above else { continue };
            if members.get(&self.path[depth]).is_some_and(|found| found.as_object().is_some_and(Map::is_empty)) {
                members.shift_remove(&self.path[depth]);
            }
        }
    }

    /// `mcpServers.memorist`, or the path of its list.
    pub fn shown(&self) -> String {
        let mut keys = self.path.clone();
        if let Slot::Member(name) = &self.slot {
            keys.push(name.clone());
        }
        keys.join(".")
    }
}
