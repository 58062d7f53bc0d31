//! A store whose records a server has, for a team: its address, and the section `[team]` of the settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::SignedDuration;
use memorist_engine::config::{ExportFormat, Reads, ServerAddress, TeamSettings};
use memorist_engine::types::{Exported, Reach, Scope};
use serde::Deserialize;

use crate::lacking;
use crate::wire::ExportLine;

/// An answer may not be older than this.
const OLDEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest name of a node.
const NAME_CHARS: usize = 64;

/// A file that `memorist import` reads.
#[derive(Debug)]
struct ExportLines;

impl ExportFormat for ExportLines {
    fn header(&self) -> String {
        export_line(&ExportLine::header(None))
    }

    fn line(&self, exported: Exported) -> String {
        export_line(&exported.into())
    }
}

fn export_line(line: &ExportLine) -> String {
    serde_json::to_string(line).expect("texts and numbers")
}

/// The settings about team stores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TeamSection {
    /// The projects whose memories this node has.
    #[serde(alias = "follow")]
    pub projects: Vec<String>,
    /// "latest", or how old an answer may be.
    #[serde(alias = "reads")]
    pub max_staleness: Option<String>,
    /// Where nodes leave and find base backups.
    #[serde(alias = "image")]
    pub base_backup_folder: Option<PathBuf>,
    #[serde(alias = "node")]
    pub node_name: Option<String>,
}

/// Where the name of a store stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameOrigin {
    /// In an argument, which every user of the machine sees in the list of processes.
    Argument,
    Environment,
    /// In `memorist.toml`.
    File,
}

impl TeamSection {
    /// The team whose store this is; `None` for a folder. In `teams` each keeps what is not in its copy.
    ///
    /// # Errors
    /// Says what is wrong, without a password.
    pub fn resolve(
        &self,
        store: &Path,
        named: NameOrigin,
        teams: Option<PathBuf>,
    ) -> Result<Option<TeamSettings>, String> {
        let Some(address) = store.to_str().filter(|store| ServerAddress::is_one(store)) else { return Ok(None) };
        lacking::TEAM.require()?;
        let address = ServerAddress::parse(address).map_err(|error| error.to_string())?;
        let seen = match named {
            _ if !address.has_password() => None,
            NameOrigin::Environment => None,
            NameOrigin::Argument => {
                Some("--store: every user of this machine sees the password in the list of processes (`ps`)")
            }
            NameOrigin::File => Some("store: passwords do not belong in memorist.toml"),
        };
        if let Some(seen) = seen {
            return Err(format!(
                "{seen}; write {}, and give the password in a line of ~/.pgpass (or the file that PGPASSFILE names), in \
                 PGPASSWORD, or with the whole address in MEMORIST_STORE",
                address.without_password()
            ));
        }
        let wrong = |key: &str, why: String| format!("[team] {key} in the configuration: {why}");
        for project in &self.projects {
            let scope = Scope { project: Some(project.clone()), agent: None };
            scope.validate().map_err(|error| wrong("projects", error.to_string()))?;
            if project == Reach::EVERY {
                return Err(wrong("projects", "leave it out to replicate every project".to_owned()));
            }
        }
        let lost_folder = teams.map(|teams| teams.join(address.folder_name()));
        let node_name = node_name(self.node_name.as_deref()).map_err(|why| wrong("node_name", why))?;
        let mut settings = TeamSettings::new(address, node_name);
        settings.lost = &ExportLines;
        settings.lost_folder = lost_folder;
        settings.follow.clone_from(&self.projects);
        settings.reads = reads(self.max_staleness.as_deref()).map_err(|why| wrong("max_staleness", why))?;
        settings.images.clone_from(&self.base_backup_folder);
        Ok(Some(settings))
    }
}

fn reads(text: Option<&str>) -> Result<Reads, String> {
    let Some(text) = text.filter(|text| *text != "latest") else { return Ok(Reads::Latest) };
    let age = text.parse::<SignedDuration>().ok().and_then(|age| Duration::try_from(age).ok());
    age.filter(|age| !age.is_zero() && *age <= OLDEST)
        .map(Reads::Within)
        .ok_or_else(|| format!("{text:?} is neither \"latest\" nor how old an answer may be, such as \"5s\" or \"2m\""))
}

/// The name of this machine, if none is given.
fn node_name(given: Option<&str>) -> Result<String, String> {
    let Some(name) = given else {
        let name = whoami::hostname().ok().filter(|name| is_name(name));
        return Ok(name.unwrap_or_else(|| "node".to_owned()));
    };
    match is_name(name) {
        true => Ok(name.to_owned()),
        false => {
            Err(format!("{name:?} is not a valid name: use up to {NAME_CHARS} characters without control characters"))
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.chars().count() <= NAME_CHARS && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "postgres://ana@db.example/team";

    fn section(text: &str) -> TeamSection {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_folder_is_no_team() {
        assert!(TeamSection::default().resolve(Path::new("/srv/team"), NameOrigin::Argument, None).unwrap().is_none());
    }

    #[test]
    fn a_team_has_an_address_and_what_the_section_says() {
        let given = section(
            "projects = [\"atlas\"]\nmax_staleness = \"5s\"\nbase_backup_folder = \"/images\"\nnode_name = \"box\"",
        );
        let team = given.resolve(Path::new(ADDRESS), NameOrigin::File, None).unwrap().unwrap();
        assert_eq!((team.address.to_string().as_str(), team.node_name.as_str()), (ADDRESS, "box"));
        assert_eq!((team.follow, team.reads), (vec!["atlas".to_owned()], Reads::Within(Duration::from_secs(5))));
        assert_eq!(team.images, Some("/images".into()));
        let usual = TeamSection::default().resolve(Path::new(ADDRESS), NameOrigin::File, None).unwrap().unwrap();
        assert!(usual.reads == Reads::Latest && usual.follow.is_empty() && !usual.node_name.is_empty());
    }

    #[test]
    fn earlier_names_of_team_settings_still_work() {
        let earlier = section("follow = [\"atlas\"]\nreads = \"5s\"\nimage = \"/images\"\nnode = \"box\"");
        let now =
            "projects = [\"atlas\"]\nmax_staleness = \"5s\"\nbase_backup_folder = \"/images\"\nnode_name = \"box\"";
        assert_eq!(earlier, section(now));
    }

    #[test]
    fn a_password_is_taken_from_the_environment_alone() {
        let address = Path::new("postgres://ana:changeme@db.example/team?sslmode=disable");
        for named in [NameOrigin::Argument, NameOrigin::File] {
            let said = TeamSection::default().resolve(address, named, None).unwrap_err();
            assert!(
                !said.contains("changeme") && said.contains("MEMORIST_STORE") && said.contains("PGPASSFILE"),
                "{said}"
            );
            assert!(said.contains("postgres://ana@db.example/team?sslmode=disable"), "{said}");
        }
        TeamSection::default().resolve(address, NameOrigin::Environment, None).unwrap().unwrap();
    }

    #[test]
    fn invalid_team_settings_name_the_key() {
        for (text, key) in [
            ("max_staleness = \"soon\"", "max_staleness"),
            ("max_staleness = \"0s\"", "max_staleness"),
            ("max_staleness = \"-5s\"", "max_staleness"),
            ("max_staleness = \"2 days\"", "max_staleness"),
            ("projects = [\"\"]", "projects"),
            ("projects = [\"*\"]", "projects"),
            ("node_name = \" \"", "node_name"),
            ("node_name = \"a\\u001bb\"", "node_name"),
        ] {
            let said = section(text).resolve(Path::new(ADDRESS), NameOrigin::File, None).unwrap_err();
            assert!(said.contains(&format!("[team] {key}")), "{text}: {said}");
        }
        assert!(toml::from_str::<TeamSection>("reeds = \"5s\"").is_err());
    }
}
