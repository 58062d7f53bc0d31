//! Memorizer's skills, contacts and projects.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::body::{Fields, MAX_ITEMS, json as parsed};
use super::database::StoreDatabase;
use super::mend::{is_blank, list};
use super::out::{Out, Outcome};
use super::table::Row;
use super::types::{Memory, Report, reference};

pub const TABLES: [&str; 3] = ["skills", "contacts", "projects"];

const SKILL: [&str; 13] = [
    "id", "agent_id", "name", "description", "enabled", "trigger_type", "trigger_config", "instructions",
    "required_tools", "execution_plan", "max_steps", "created_at", "updated_at",
];
const CONTACT: [&str; 9] = ["id", "agent_id", "name", "email", "company", "role", "type", "created_at", "updated_at"];
const PROJECT: [&str; 12] = [
    "id", "agent_id", "name", "status", "type", "description", "primary_contact_id", "participants", "company",
    "priority", "created_at", "updated_at",
];

/// A person whose name begins like this would be read as a reference by an import.
const ULID_PREFIX: &str = "ulid:";

/// Reads the three tables: contacts first, for projects refer to them.
///
/// # Errors
/// Errors of the database and of the receiver.
pub fn read<E>(database: &StoreDatabase, out: &mut Out<'_, E>) -> Outcome<E> {
    let mut contacts = HashSet::new();
    if let Some(table) = database.table("contacts")? {
        table.each(&["id"], |row| {
            let memory = contact(row, &mut out.report);
            let key = memory.key.clone();
            out.memory(memory)?;
            if out.has(&key) {
                contacts.insert(key);
            }
            Ok(())
        })?;
        table.count_unknown_columns(&CONTACT, &mut out.report)?;
    }
    if let Some(table) = database.table("projects")? {
        table.each(&["id"], |row| {
            let memory = project(row, &contacts, &mut out.report);
            out.memory(memory)
        })?;
        table.count_unknown_columns(&PROJECT, &mut out.report)?;
    }
    if let Some(table) = database.table("skills")? {
        table.each(&["id"], |row| {
            let memory = skill(row, &mut out.report);
            out.memory(memory)
        })?;
        table.count_unknown_columns(&SKILL, &mut out.report)?;
    }
    Ok(())
}

/// A memory of a table's row, with its agent and times.
pub fn of_row(kind: &str, row: &Row<'_>, report: &mut Report) -> Memory {
    Memory {
        kind: kind.into(),
        agent: report.owner(row.get("agent_id")),
        created_at: report.time(row.get("created_at")),
        updated_at: report.time(row.get("updated_at")),
        last_accessed_at: report.time(row.get("last_accessed_at")),
        ..Memory::new(format!("{kind}:{}", row.key("id")), "")
    }
}

fn labels(fields: &mut Fields, names: &[&str], row: &Row<'_>, report: &mut Report) {
    for name in names {
        let label = report.label(row.get(name)).unwrap_or_default();
        fields.label(name, &label);
    }
}

fn contact(row: &Row<'_>, report: &mut Report) -> Memory {
    let mut memory = of_row("contact", row, report);
    let mut fields = Fields::new();
    labels(&mut fields, &["name", "email", "company", "role"], row, report);
    match report.label(row.get("type")).as_deref() {
        Some(known @ ("work" | "personal" | "ignored")) => fields.label("type", known),
        Some(other) => {
            report.count("types of contacts that memorist does not have (kept as a tag)");
            report.tag(&mut memory.tags, other);
        }
        None => {}
    }
    let text = report.context(row.first(&["email", "company", "role"])).unwrap_or_default();
    fields.give(&mut memory, &["name"], text);
    memory
}

fn project(row: &Row<'_>, contacts: &HashSet<String>, report: &mut Report) -> Memory {
    let mut memory = of_row("project", row, report);
    let mut fields = Fields::new();
    labels(&mut fields, &["name", "status", "type"], row, report);
    let description = report.content(row.get("description"));
    fields.text("description", description.trim());
    fields.value("primary_contact_id", known_contact(row.get("primary_contact_id"), contacts, report));
    fields.value("participants", participants(row.get("participants"), contacts, report));
    labels(&mut fields, &["company", "priority"], row, report);
    let name = report.text(row.get("name"));
    let text = [name.trim(), description.trim()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let text = report.content(&text.join(": ").into());
    fields.give(&mut memory, &["name"], text);
    memory
}

/// A reference to the contact with this id, or null.
fn known_contact(id: &Value, contacts: &HashSet<String>, report: &mut Report) -> Value {
    if is_blank(id) {
        return Value::Null;
    }
    let key = format!("contact:{}", report.text(id).trim());
    if contacts.contains(&key) {
        return reference(&key);
    }
    report.count("contacts of projects that are gone");
    Value::Null
}

/// The people of a project: names, and references to contacts.
fn participants(value: &Value, contacts: &HashSet<String>, report: &mut Report) -> Value {
    let mut people = Vec::new();
    for item in list(value) {
        let person = match &item {
            Value::Number(_) => known_contact(&item, contacts, report),
            Value::Object(person) => {
                let name = person.get("name").and_then(|name| report.label(name));
                name.map_or_else(
                    || known_contact(person.get("id").unwrap_or(&Value::Null), contacts, report),
                    Value::from,
                )
            }
            Value::String(text) if text.parse::<u64>().is_ok() => known_contact(&item, contacts, report),
            item => report.label(item).map_or(Value::Null, Value::from),
        };
        if person.as_str().is_some_and(|name| name.starts_with(ULID_PREFIX)) {
            report.count("participants whose names memorist cannot keep");
        } else if !person.is_null() && people.len() == MAX_ITEMS {
            report.count("participants beyond the 64 of a project");
        } else if !person.is_null() {
            people.push(person);
        }
    }
    if people.is_empty() { Value::Null } else { people.into() }
}

fn skill(row: &Row<'_>, report: &mut Report) -> Memory {
    let mut memory = of_row("skill", row, report);
    let texts = ["name", "description", "instructions"].map(|column| report.content(row.get(column)).trim().to_owned());
    let mut fields = Fields::new();
    fields.label("name", &texts[0]);
    fields.text("description", &texts[1]);
    fields.value("enabled", flag(row.get("enabled")));
    labels(&mut fields, &["trigger_type"], row, report);
    fields.value(
        "trigger_config",
        match structured(row.get("trigger_config")) {
            config @ (Value::Object(_) | Value::Null) => config,
            other => json!({ "value": other }),
        },
    );
    fields.text("instructions", &texts[2]);
    let mut tools = report.tags(row.get("required_tools"));
    tools.truncate(MAX_ITEMS);
    fields.value("required_tools", if tools.is_empty() { Value::Null } else { tools.into() });
    fields.value(
        "execution_plan",
        match structured(row.get("execution_plan")) {
            plan @ (Value::Object(_) | Value::Array(_) | Value::Null) => plan,
            other => json!([other]),
        },
    );
    match row.get("max_steps").as_i64() {
        Some(steps @ 1..) => fields.value("max_steps", steps.into()),
        Some(_) => report.count("numbers of steps below 1 (the default was taken)"),
        None => {}
    }
    let [name, description, instructions] = &texts;
    let first = [name.as_str(), description].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    let text = [first.as_str(), instructions].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let text = report.content(&text.join("\n").into());
    fields.give(&mut memory, &["name", "instructions"], text);
    memory
}

/// A flag as SQLite has it: 0 and 1, or a word.
fn flag(value: &Value) -> Value {
    match value {
        Value::Number(number) => (number.as_f64() != Some(0.0)).into(),
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "" => Value::Null,
            word => (!matches!(word, "0" | "false" | "no" | "off")).into(),
        },
        other => other.clone(),
    }
}

/// The JSON in a value, or the value itself if that is none.
fn structured(value: &Value) -> Value {
    if is_blank(value) { Value::Null } else { parsed(value).unwrap_or_else(|| value.clone()) }
}
