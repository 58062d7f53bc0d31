//! Export to and import from other stores.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;

use super::records::screen_and_save;
use super::{Engine, Memories};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::records::rules::{import, tombstones};
use crate::records::{Aliases, ModelId};
use crate::sensitive::Sensitive;
use crate::sync::Message;
use crate::types::exchange::check_model;
use crate::types::{
    Carried, Export, Exported, Filter, Imported, Model, Portable, PortableLink, PortableTombstone, Purged, Stamps,
    UlidBytes, Viewer,
};

impl Engine {
    /// Calls `visit` with memories and links and everything that belongs to them, as of one moment, while others read
    /// and write. The order is that of [`Exported`]: two equal stores export the same.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound of the filter that is violated; and the first error of `visit`, which ends
    /// it.
    pub fn export<E: From<Error>>(
        &self,
        export: &Export,
        visit: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<(), E> {
        export.filter.validate()?;
        let snapshot = self.store.records.snapshot()?;
        snapshot.export(export, self.store.now(), visit)?;
        Ok(snapshot.check_unchanged()?)
    }

    /// The states of the memories that another machine of the same person may have, and of those that are gone. Two stores whose
    /// stamps are equal have the same memories.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound of the filter that is violated.
    pub fn stamps(&self, filter: &Filter) -> Result<Stamps> {
        filter.validate()?;
        self.store.records.snapshot()?.stamps(filter, self.store.now())
    }

    /// Calls `visit` with all that another machine needs to take these memories over, as of one moment: tombstones, memories, links.
    ///
    /// # Errors
    /// As [`Engine::export`].
    pub fn export_states<E: From<Error>>(
        &self,
        wanted: &BTreeSet<UlidBytes>,
        filter: &Filter,
        embeddings: bool,
        visit: impl FnMut(Carried) -> Result<(), E>,
    ) -> Result<(), E> {
        filter.validate()?;
        let snapshot = self.store.records.snapshot()?;
        snapshot.export_states(wanted, filter, embeddings, self.store.now(), visit)?;
        Ok(snapshot.check_unchanged()?)
    }
}

impl<'a> Memories<'a> {
    /// Starts an import of an export into this store, for the viewer, who must see the scope of each memory.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a name of the viewer is invalid.
    pub fn import(&self) -> Result<Import<'a>> {
        self.viewer.validate()?;
        let sensitive = self.engine.config.sensitive;
        let aliases = Aliases::default();
        Ok(Import {
            engine: self.engine,
            viewer: self.viewer,
            keep_shared: false,
            sensitive,
            redacted: 0,
            model: None,
            aliases,
        })
    }
}

/// A running import. Each call is a separate transaction. An interrupted import can be repeated, and does the rest;
/// repeating a complete one changes nothing.
pub struct Import<'a> {
    engine: &'a Engine,
    viewer: &'a Viewer,
    keep_shared: bool,
    sensitive: Sensitive,
    redacted: u64,
    model: Option<ModelId>,
    aliases: Aliases,
}

impl Import<'_> {
    /// Sets the model of the incoming embeddings. Returns a note for people if they cannot be used because the store
    /// has another model: they are skipped then, and computed again.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the model is invalid.
    pub fn model(&mut self, model: &Model) -> Result<Option<String>> {
        check_model(model)?;
        self.model = self.engine.store.shared_model(model)?;
        let why = || {
            let name = &model.name;
            format!("the imported embeddings were made by another model, {name}: they are computed again")
        };
        Ok(self.model.is_none().then(why))
    }

    /// Refuses to replace memories that belong to no agent.
    pub fn keep_shared(&mut self) {
        self.keep_shared = true;
    }

    /// The memories are those of another system: what should stay secret is redacted, whatever the settings say, and what
    /// was deleted here stays deleted.
    pub fn of_another_system(&mut self) {
        self.sensitive = Sensitive::Redact;
        self.aliases.keep_deleted();
    }

    /// Brings back memories that were deleted here, each as a version of its own.
    pub fn restore_deleted(&mut self) {
        self.aliases.restore_deleted();
    }

    /// How many of the memories offered so far held what should stay secret, and were redacted.
    pub fn redacted(&self) -> u64 {
        self.redacted
    }

    /// Merges memories. One outcome per memory, in order; a refused one does not stop the others. An incoming memory
    /// that has all versions of the one here replaces it, with its versions and accesses; one that has no other versions
    /// changes nothing. If each has versions that the other lacks, the one here gets all of them. Offer
    /// [`Imported::Waits`] again at the end.
    ///
    /// # Errors
    /// Errors of the database. A memory is refused with [`Error::Invalid`] if no call could save it, and with
    /// [`Error::Duplicate`] if its newer version has the text of another memory.
    pub fn records(&mut self, records: &[Portable]) -> Result<Vec<Result<Imported>>> {
        let (sensitive, redacted) = (self.sensitive, Cell::new(self.redacted));
        let screen = |portable| {
            let screened = sensitive.portable(portable)?;
            redacted.update(|before| before + u64::from(matches!(screened, Cow::Owned(_))));
            Ok(screened)
        };
        let store = &self.engine.store.records;
        let import = |screened: Vec<_>| {
            import::import(
                store,
                &screened,
                self.model,
                self.viewer,
                self.keep_shared,
                &mut self.aliases,
                self.engine.store.now(),
            )
        };
        let outcomes = screen_and_save(records, screen, import)?;
        self.redacted = redacted.get();
        self.engine.worker.send(Message::Written);
        Ok(outcomes)
    }

    /// Creates links between existing memories. One outcome per link, in order; a refused one does not stop the others.
    ///
    /// # Errors
    /// Errors of the database. A link to a missing memory is refused with [`Error::Invalid`].
    pub fn links(&mut self, links: &[PortableLink]) -> Result<Vec<Result<Imported>>> {
        let store = &self.engine.store;
        import::import_links(&store.records, links, self.viewer, &self.aliases, store.now())
    }

    /// Takes over what is gone in the other store, before its memories are offered. One outcome per tombstone, in order:
    /// [`Imported::Deleted`] where something is gone here now, [`Imported::Replaced`] where only a tombstone is new. What was
    /// purged there stays until [`Import::purge`].
    ///
    /// # Errors
    /// Errors of the database; [`Error::Invalid`] for a team's store, which keeps none.
    pub fn tombstones(&mut self, tombstones: &[PortableTombstone]) -> Result<Vec<Result<Imported>>> {
        let store = &self.engine.store;
        let (viewer, aliases) = (self.viewer, &self.aliases);
        let outcomes = import::import_tombstones(&store.records, tombstones, viewer, aliases, store.now())?;
        self.engine.worker.send(Message::Written);
        Ok(outcomes)
    }

    /// Purges what the other store has purged, once its memories were offered: memories, and earlier versions.
    ///
    /// # Errors
    /// As [`Memories::purge`].
    pub fn purge(&mut self, progress: &dyn Progress) -> Result<Purged> {
        let mut all = Purged { complete: true, ..Purged::default() };
        for purge in tombstones::to_purge(&self.engine.store.records)? {
            let purged = self.engine.viewed_by(self.viewer).purge(&purge, progress)?;
            all.records += purged.records;
            all.versions += purged.versions;
            all.queries += purged.queries;
            all.complete &= purged.complete;
            all.remaining_files = purged.remaining_files;
        }
        Ok(all)
    }
}
