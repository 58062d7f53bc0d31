//! Everything for another store, and from one.

use super::Engine;
use super::records::save_allowed;
use crate::error::{Error, Result};
use crate::records::{Aliases, ModelId};
use crate::sync::{Wake, now};
use crate::types::exchange::check_model;
use crate::types::{Export, Exported, Imported, Model, Portable, PortableLink, Viewer};

impl Engine {
    /// Calls `visit` with memories and links, with all that belongs to them, as they are at one moment, while others read
    /// and write. The order is that of [`Exported`]: two equal stores give the same.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the bound of the filter that is not kept; and the first error of `visit`, which ends it.
    pub fn export<E: From<Error>>(
        &self,
        export: &Export,
        visit: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<(), E> {
        export.filter.validate()?;
        let snapshot = self.sync.records.snapshot()?;
        snapshot.export(export, now(), visit)?;
        Ok(snapshot.check_unchanged()?)
    }

    /// Begins to merge what was exported into this store, for `viewer`, who must see the scope of each memory.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a name of the viewer is none.
    pub fn import(&self, viewer: Viewer) -> Result<Import<'_>> {
        viewer.validate()?;
        Ok(Import { engine: self, viewer, keep_shared: false, model: None, aliases: Aliases::default() })
    }
}

/// An import under way. Each call is a transaction of its own: stopped at any moment, it can be begun again, and does the
/// rest. The same import again changes nothing.
pub struct Import<'a> {
    engine: &'a Engine,
    viewer: Viewer,
    keep_shared: bool,
    model: Option<ModelId>,
    aliases: Aliases,
}

impl Import<'_> {
    /// Says which model made the embeddings that come. Returns what to tell people when they are of no use here, because
    /// the store's model is another: they are passed over then, and made anew.
    ///
    /// # Errors
    /// [`Error::Invalid`] when that is no model.
    pub fn model(&mut self, model: &Model) -> Result<Option<String>> {
        check_model(model)?;
        self.model = self.engine.sync.shared_model(model)?;
        let why = || {
            let name = &model.name;
            format!("the embeddings that came along were made by another model, {name}: they are made anew")
        };
        Ok(self.model.is_none().then(why))
    }

    /// Replaces no memory that belongs to no agent: it is refused instead.
    pub fn keep_shared(&mut self) {
        self.keep_shared = true;
    }

    /// Merges memories. One outcome per memory, in order; a refused one does not stop the others. Of a memory that is
    /// there in an older version the incoming one takes the place, with its versions and accesses; one that is there in
    /// the same version or a newer one stays as it is. What [`Imported::Waits`] is to be offered again at the end.
    ///
    /// # Errors
    /// Those of the database. Refused with [`Error::Invalid`] is what no call could save, and with [`Error::Duplicate`] a
    /// newer version whose text another memory has.
    pub fn records(&mut self, records: &[Portable]) -> Result<Vec<Result<Imported>>> {
        let sensitive = self.engine.config.sensitive;
        let allow = |portable| sensitive.portable(portable);
        let store = &self.engine.sync.records;
        let import = |allowed: Vec<_>| {
            store.import(&allowed, self.model, &self.viewer, self.keep_shared, &mut self.aliases, now())
        };
        let outcomes = save_allowed(records, allow, import)?;
        self.engine.worker.send(Wake::Written);
        Ok(outcomes)
    }

    /// Makes links between memories that are there. One outcome per link, in order; a refused one does not stop the others.
    ///
    /// # Errors
    /// Those of the database. Refused with [`Error::Invalid`] is a link to what is not there.
    pub fn links(&mut self, links: &[PortableLink]) -> Result<Vec<Result<Imported>>> {
        self.engine.sync.records.import_links(links, &self.viewer, &self.aliases, now())
    }
}
