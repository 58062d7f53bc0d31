//! A node of a team store: its state, its clock, its images, and the tokens that it knows.

#[cfg(feature = "postgres")]
use std::path::Path;

use super::Engine;
#[cfg(feature = "postgres")]
use crate::error::Error;
use crate::error::Result;
#[cfg(feature = "postgres")]
use crate::progress::{Progress, cancel_point};
#[cfg(feature = "postgres")]
use crate::records::Compared;
use crate::records::in_one_call;
use crate::text::token_hash;
use crate::types::{Millis, NodeState, TokenRights};

impl Engine {
    /// How this node is doing; `None` where the records are in the store's folder.
    pub fn node(&self) -> Option<NodeState> {
        self.store.records.node()
    }

    /// Runs a call of a client: all that it reads on this thread is read with one question to the server of a team.
    pub fn in_one_call<T>(&self, call: impl FnOnce(&Engine) -> T) -> T {
        in_one_call(|| call(self))
    }

    /// The present time, by the clock of the settings; on a node of a team, by that of its server as far as it is known.
    pub fn now(&self) -> Millis {
        self.store.now()
    }

    /// The folder of the store.
    pub fn root(&self) -> &std::path::Path {
        self.store.paths.root()
    }

    /// Text that stays the same while the store does: a restored copy has another one.
    pub fn lineage(&self) -> &str {
        self.store.records.lineage()
    }

    /// How far the clock of a team is ahead of this machine's, in milliseconds.
    pub fn clock_ahead(&self) -> Millis {
        self.store.records.clock_ahead()
    }

    /// The rights of a token that a client sends; `None` if the team store has no such token, or it has ended. A revoked token
    /// is known as such after the next pull.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn token_rights(&self, token: &str) -> Result<Option<TokenRights>> {
        self.store.records.token_rights(&token_hash(token), self.store.now())
    }
}

#[cfg(feature = "postgres")]
impl Engine {
    /// Compares the copy of this node with the server, and makes it the same.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if this is no node; [`Error::Server`](crate::Error::Server) if the server
    /// cannot be asked; [`Error::Cancelled`](crate::Error::Cancelled): what was compared until then stays.
    pub fn compare_with_server(&self, progress: &dyn Progress) -> Result<Compared> {
        self.store.records.compare(progress)
    }

    /// Leaves an image of this node in a folder, which replaces the last one: a new node whose settings name the folder
    /// begins with it. Returns its length in bytes. It holds all memories of the team.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if this is no node; [`Error::Io`](crate::Error::Io);
    /// [`Error::Held`](crate::Error::Held) while another process writes the indexes;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn leave_image(&self, folder: &Path, progress: &dyn Progress) -> Result<u64> {
        self.store.records.follow(progress)?;
        let cancelled = || cancel_point(progress).map(|()| false);
        match self.store.lock.acquire_unless(progress, cancelled)? {
            Some(guard) => self.store.as_writer(guard, |guard| self.store.leave_image(guard, folder, progress)),
            None => Err(Error::Cancelled),
        }
    }
}

#[cfg(all(test, unix, feature = "postgres"))]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use memorist_embed::HashEmbedder;
    use postgres_testing::Database;
    use tempfile::TempDir;

    use super::*;
    use crate::address::ServerAddress;
    use crate::config::{Config, TeamSettings};
    use crate::progress::NoProgress;
    use crate::team::TeamServer;
    use crate::types::{NewRecord, Query, Scope, Viewer};

    struct EngineNode {
        engine: Engine,
        folder: TempDir,
    }

    fn team(test: &str) -> Option<Database<'static>> {
        Some(postgres_testing::shared(test)?.database_from("team", |address| {
            TeamServer::new(ServerAddress::parse(address).unwrap()).init().unwrap();
        }))
    }

    fn node(team: &Database<'_>, images: Option<&Path>) -> EngineNode {
        let folder = tempfile::tempdir().unwrap();
        EngineNode { engine: open(folder.path(), team, images), folder }
    }

    fn open(folder: &Path, team: &Database<'_>, images: Option<&Path>) -> Engine {
        open_following(folder, team, images, &[])
    }

    fn open_following(folder: &Path, team: &Database<'_>, images: Option<&Path>, follow: &[&str]) -> Engine {
        let mut config = Config::without_model();
        config.team = Some(TeamSettings {
            follow: follow.iter().map(|project| (*project).to_owned()).collect(),
            images: images.map(Into::into),
            ..TeamSettings::new(ServerAddress::parse(&team.address()).unwrap(), "test")
        });
        Engine::open_with_embedder(folder.join("node"), config, Arc::new(HashEmbedder::new(64))).unwrap()
    }

    fn found(engine: &Engine, query: &str) -> Vec<String> {
        engine.search(&Query::new(query)).unwrap().hits.into_iter().map(|hit| hit.record.content).collect()
    }

    fn add(engine: &Engine, text: &str) {
        engine.add(&NewRecord::new(text)).unwrap();
    }

    #[test]
    fn a_node_searches_and_indexes_memories_saved_on_another() {
        let Some(team) = team("a_node_searches_and_indexes_memories_saved_on_another") else { return };
        let (first, second) = (node(&team, None), node(&team, None));
        for at in 0..40 {
            let (writer, reader) = if at % 2 == 0 { (&first, &second) } else { (&second, &first) };
            let text = format!("The harbour office {at} opens at nine");
            add(&writer.engine, &text);
            assert_eq!(found(&reader.engine, &format!("harbour office {at} opens"))[0], text);
        }
        for node in [&first, &second] {
            node.engine.embed_pending(&NoProgress).unwrap();
            node.engine.flush(&NoProgress).unwrap();
            let stats = node.engine.index_stats().unwrap();
            assert_eq!((stats.documents, stats.vectors, stats.unapplied), (40, 40, 0));
            let diagnosis = node.engine.doctor(false, &NoProgress).unwrap();
            assert!(diagnosis.is_sound(), "{diagnosis:?}");
        }
        assert_eq!(found(&first.engine, "harbour 7"), found(&second.engine, "harbour 7"));
    }

    /// 39.9: a store that lost its database is refused. A node is a cache, and gets it from the server.
    #[test]
    fn a_node_that_lost_its_database_fills_itself_again() {
        let Some(team) = team("a_node_that_lost_its_database") else { return };
        let EngineNode { engine, folder } = node(&team, None);
        add(&engine, "The ferry leaves at noon");
        engine.embed_pending(&NoProgress).unwrap();
        engine.flush(&NoProgress).unwrap();
        engine.close();
        std::fs::remove_file(folder.path().join("node/memory.db")).unwrap();
        assert!(folder.path().join("node/keywords").exists());
        assert_eq!(found(&open(folder.path(), &team, None), "ferry"), ["The ferry leaves at noon"]);
    }

    #[test]
    fn a_new_node_begins_with_an_image_and_is_compared() {
        let Some(team) = team("a_new_node_begins_with_an_image") else { return };
        let images = tempfile::tempdir().unwrap();
        let first = node(&team, None);
        for at in 0..30 {
            add(&first.engine, &format!("The ferry of berth {at} leaves at noon"));
        }
        first.engine.embed_pending(&NoProgress).unwrap();
        found(&first.engine, "a query of this node alone");
        first.engine.flush_accesses(&NoProgress).unwrap();
        assert!(first.engine.leave_image(images.path(), &NoProgress).unwrap() > 0);
        add(&first.engine, "Saved after the image");
        first.engine.leave_image(images.path(), &NoProgress).unwrap();
        add(&first.engine, "Saved after the second image");
        assert_eq!(std::fs::read_dir(images.path()).unwrap().count(), 1, "one, and nothing unfinished");
        let second = node(&team, Some(images.path()));
        let stats = second.engine.index_stats().unwrap();
        assert_eq!((stats.documents, stats.vectors), (31, 31), "its indexes were not built");
        assert_eq!(found(&second.engine, "saved after the second image")[0], "Saved after the second image");
        assert_ne!(first.engine.node().unwrap().node, second.engine.node().unwrap().node);
        let database = std::fs::read(second.folder.path().join("node/memory.db")).unwrap();
        assert!(!String::from_utf8_lossy(&database).contains("this node alone"), "a query of the other node");
        assert_eq!(second.engine.compare_with_server(&NoProgress).unwrap().differed, 0);
        assert!(second.engine.doctor(false, &NoProgress).unwrap().is_sound());
        drop(second.folder);
    }

    #[test]
    fn an_offline_search_is_dated_and_fails_on_an_empty_node() {
        let Some(cluster) = postgres_testing::start("an_offline_search_is_dated", Default::default()) else { return };
        let team = cluster.database_from("team", |address| {
            TeamServer::new(ServerAddress::parse(address).unwrap()).init().unwrap();
        });
        let one = node(&team, None);
        add(&one.engine, "The tide table of the harbour");
        let warnings = || one.engine.search(&Query::new("tide table")).unwrap().warnings;
        assert!(!warnings().iter().any(|warning| warning.contains("results are from")));
        cluster.stop(postgres_testing::Stop::Immediate);
        let said = warnings();
        assert!(
            said.iter().any(|warning| warning.contains("results are from 2") && warning.contains("cannot be reached")),
            "{said:?}"
        );
        let empty = node(&team, None);
        let refused = empty.engine.search(&Query::new("tide table")).unwrap_err().to_string();
        assert!(refused.contains("cannot be reached"), "not \"nothing found\": {refused}");
    }

    #[test]
    fn a_purge_is_finished_by_every_node() {
        let Some(team) = team("a_purge_is_finished_by_every_node") else { return };
        let (first, second) = (node(&team, None), node(&team, None));
        add(&first.engine, "the xylophone is hidden");
        add(&first.engine, "all else");
        second.engine.flush(&NoProgress).unwrap();
        assert_eq!(found(&second.engine, "xylophone").len(), 2);
        let purged = first
            .engine
            .viewed_by(&Viewer::OWNER)
            .purge(&crate::types::Purge::Text("xylophone".into()), &NoProgress)
            .unwrap();
        assert!(purged.records == 1 && purged.complete, "{purged:?}");
        let holds = |node: &EngineNode| holds(&node.folder.path().join("node"), "xylophone");
        assert!(!holds(&first));
        let since = Instant::now();
        while holds(&second) || second.engine.store.records.unfinished_purge().unwrap().is_some() {
            assert!(since.elapsed() < Duration::from_secs(30), "the other node still has it");
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(found(&second.engine, "all else")[0], "all else");
    }

    /// 40.3.
    #[test]
    fn an_unfollowed_project_is_erased_from_the_files() {
        let Some(team) = team("an_unfollowed_project_is_erased") else { return };
        let writer = node(&team, None);
        for project in ["atlas", "hermes"] {
            let scope = Scope { agent: None, project: Some(project.into()) };
            let text = format!("the xylophone plays for {project}s");
            writer.engine.add(&NewRecord { scope, ..NewRecord::new(text) }).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let holds = || holds(&folder.path().join("node"), "hermess");
        let engine = open_following(folder.path(), &team, None, &["hermes"]);
        assert_eq!(found(&engine, "xylophone"), ["the xylophone plays for hermess"]);
        engine.embed_pending(&NoProgress).unwrap();
        engine.flush(&NoProgress).unwrap();
        engine.close();
        assert!(holds());
        let engine = open_following(folder.path(), &team, None, &["atlas"]);
        assert_eq!(found(&engine, "xylophone"), ["the xylophone plays for atlass"]);
        let since = Instant::now();
        while holds() || engine.store.records.unfinished_purge().unwrap().is_some() {
            assert!(since.elapsed() < Duration::from_secs(30), "the node still has it");
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(found(&engine, "xylophone"), ["the xylophone plays for atlass"]);
    }

    /// Issue 40, item 1: its files would be read into a project of somebody else.
    #[test]
    fn a_forged_source_of_this_node_is_reported_and_not_read() {
        let Some(team) = team("a_forged_source_of_this_node") else { return };
        let one = node(&team, None);
        add(&one.engine, "The harbour office");
        team.execute(&format!(
            "INSERT INTO memorist.node_sources (node, kind, path, project, added_at) VALUES ('{}', 0, '/etc', 'atlas', 1);
             UPDATE memorist.records SET tags = 'no list'",
            one.engine.node().unwrap().node
        ));
        assert_eq!(one.engine.sources().unwrap(), []);
        assert_eq!(one.engine.source_stats().unwrap().len(), 1, "it is there");
        assert_eq!(found(&one.engine, "harbour office").len(), 1, "and nothing else fails");
        let diagnosis = one.engine.doctor(false, &NoProgress).unwrap();
        let said = diagnosis.checks[0].details.join("\n");
        assert!(diagnosis.is_sound() && said.contains("the source /etc was not added on this node"), "{diagnosis:?}");
        assert!(said.contains("records 1 of the team store cannot be applied here"), "{said}");
    }

    fn holds(folder: &Path, text: &str) -> bool {
        let has_text = |file| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).contains(text);
        walk(folder).into_iter().any(has_text)
    }

    fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => files.extend(walk(&path)),
                path => files.push(path),
            }
        }
        files
    }
}
