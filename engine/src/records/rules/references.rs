//! References in bodies, and the rule that a scope has one profile.

use super::scopes::scope_id;
use crate::body::Body;
use crate::error::{Error, Result};
use crate::records::lookup;
use crate::records::rows::kind_code;
use crate::records::transaction::{SelectExt, Tx};
use crate::types::{Kind, Millis, Record, RecordId, Scope, Viewer};

/// Checks a body against the records around it: it refers to contacts that its own scope sees, and a scope has one
/// profile. `own` is the record that has the body already; references to `known` are not checked.
pub(super) fn check_body(
    tx: &dyn Tx,
    body: Option<&Body>,
    scope: &Scope,
    own: Option<RecordId>,
    known: &[RecordId],
    now: Millis,
) -> Result<()> {
    let Some(body) = body else { return Ok(()) };
    let viewer = Viewer::of(scope);
    for (field, id) in body.references().into_iter().filter(|(_, id)| !known.contains(id)) {
        let is_contact = lookup::live(tx, id, &viewer, now)?.is_some_and(|record| record.kind == Kind::Contact);
        if !is_contact {
            return Err(Error::invalid(
                field,
                format!("{id} is not a contact that this memory's project and agent see"),
            ));
        }
    }
    if body.kind() == Kind::Profile {
        let key = [scope_id(tx, scope)?.into(), kind_code(Kind::Profile).into(), own.into(), now.into()];
        if let Some(id) = tx.first(OTHER_PROFILE, &key, |row| row.get::<RecordId>(0))? {
            return Err(Error::invalid("kind", format!("its scope has a profile already: {id}; update that one")));
        }
    }
    Ok(())
}

/// Another live profile of a scope.
pub(crate) const OTHER_PROFILE: &str = "SELECT id FROM records WHERE scope_id = ?1 AND kind = ?2 AND body IS NOT NULL
     AND id IS DISTINCT FROM ?3 AND (expires_at IS NULL OR expires_at > ?4)";

/// The records that a record refers to.
pub(super) fn references(record: &Record) -> Vec<RecordId> {
    record.body.iter().flat_map(Body::references).map(|(_, id)| id).collect()
}
