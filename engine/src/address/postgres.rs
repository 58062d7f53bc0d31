//! Reads an address, and says how to connect.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{CONNECT_TIMEOUT, ServerAddress, TrustStore};
use crate::error::{Error, Result};

impl ServerAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// [`Error::Invalid`] says what is wrong with it, without its password.
    pub fn parse(address: &str) -> Result<Self> {
        let (plain, ours) = split_settings(address)?;
        let mut config: Config = plain.parse().map_err(|error: tokio_postgres::Error| invalid(reason(&error)))?;
        // Else the end of the password would be taken for the host, and shown.
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(invalid("write an @ of the user or the password as %40"));
        }
        if config.get_hosts().is_empty() {
            return Err(invalid("it names no host"));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(invalid("it names no database: postgres://USER@HOST/DATABASE"));
        }
        let is_local = config.get_hosts().iter().all(is_local);
        let tls = match ours.mode.as_deref() {
            None if is_local && ours.roots.is_none() => None,
            None | Some("verify-full") => Some(ours.roots.map_or(TrustStore::System, TrustStore::File)),
            Some("disable") => None,
            Some(other) => {
                let why = format!("sslmode is {other:?}; it can be verify-full or disable");
                return Err(invalid(why));
            }
        };
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        config.application_name("memorist").connect_timeout(CONNECT_TIMEOUT);
        config.tcp_user_timeout(CONNECT_TIMEOUT).keepalives_idle(Duration::from_secs(30));
        if config.get_hosts().len() > 1 && !plain.contains("target_session_attrs") {
            // Of several, the one that takes writes.
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let has_password = config.get_password().is_some();
        let (shown, without_password) = (shown(&config), without_password(address));
        Ok(ServerAddress { config, tls, shown, without_password, has_password })
    }

    /// How many hosts may have to be tried.
    pub(crate) fn hosts(&self) -> u32 {
        u32::try_from(self.config.get_hosts().len()).unwrap_or(1).max(1)
    }

    /// Says what to do if a server asks for a password and none is known.
    pub(crate) fn missing_password(&self) -> String {
        let line = passwords::names(&self.config).unwrap_or_default().join(":");
        let file = passwords::file().unwrap_or_else(|| "~/.pgpass".into());
        if passwords::is_exposed(&file) {
            let file = file.display();
            return format!(
                "it asks for a password, and {file} is not used, because others can read it: run `chmod 600 {file}`"
            );
        }
        format!(
            "it asks for a password, and none is known; add the line {line}:PASSWORD to {}, which nobody else may read \
             (chmod 600), or set PGPASSWORD",
            file.display()
        )
    }

    /// How to connect, but for the encryption.
    pub(crate) fn config(&self) -> Config {
        let mut config = self.config.clone();
        if !self.has_password
            && let Some(password) = passwords::find(&config)
        {
            config.password(password);
        }
        config
    }

    /// How to encrypt; `None` where it is switched off.
    pub(crate) fn encryption(&self) -> Result<Option<MakeRustlsConnect>> {
        let Some(roots) = &self.tls else { return Ok(None) };
        let mut store = RootCertStore::empty();
        match roots {
            TrustStore::System => {
                store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            TrustStore::File(path) => {
                for certificate in read_certificates(path)? {
                    store
                        .add(certificate)
                        .map_err(|error| invalid(format!("sslrootcert {}: {error}", path.display())))?;
                }
            }
        }
        if store.is_empty() {
            return Err(invalid("no certificate is trusted here; name a file of them with sslrootcert"));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| invalid(error.to_string()))?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Some(MakeRustlsConnect::new(config)))
    }
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let refuse = |error: rustls::pki_types::pem::Error| invalid(format!("sslrootcert {}: {error}", path.display()));
    let all = CertificateDer::pem_file_iter(path).map_err(refuse)?;
    all.collect::<Result<_, _>>().map_err(refuse)
}

impl PartialEq for ServerAddress {
    fn eq(&self, other: &Self) -> bool {
        let password = |address: &Self| address.config.get_password().map(<[u8]>::to_vec);
        self.without_password == other.without_password && password(self) == password(other)
    }
}

/// Settings that the parser of the client does not know.
#[derive(Default)]
struct Ours {
    mode: Option<String>,
    roots: Option<PathBuf>,
}

/// Takes `sslmode` and `sslrootcert` out of an address.
fn split_settings(address: &str) -> Result<(String, Ours)> {
    let Some((plain, query)) = address.split_once('?') else { return Ok((address.to_owned(), Ours::default())) };
    let mut ours = Ours::default();
    let mut others = Vec::new();
    for setting in query.split('&').filter(|setting| !setting.is_empty()) {
        match setting.split_once('=') {
            Some(("sslmode", mode)) => ours.mode = Some(mode.to_owned()),
            Some(("sslrootcert", path)) => ours.roots = Some(absolute(decoded(path)?)?),
            _ => others.push(setting),
        }
    }
    let query = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
    Ok((plain.to_owned() + &query, ours))
}

/// The processes that use an address work in different folders.
fn absolute(path: String) -> Result<PathBuf> {
    let path = PathBuf::from(path);
    if path.is_absolute() { Ok(path) } else { Err(invalid("sslrootcert must be a whole path, from / on")) }
}

/// The text of an address that was parsed, as its parser divides it.
fn without_password(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let rest = match rest.split_once('@') {
        Some((who, rest)) => format!("{}@{rest}", who.split(':').next().unwrap_or_default()),
        None => rest.to_owned(),
    };
    let Some((rest, settings)) = rest.split_once('?') else { return format!("{scheme}://{rest}") };
    let settings: Vec<_> = settings.split('&').filter(|setting| !setting.starts_with("password=")).collect();
    let mark = if settings.is_empty() { "" } else { "?" };
    format!("{scheme}://{rest}{mark}{}", settings.join("&"))
}

/// A value of an address, in which `%2F` is a slash.
fn decoded(value: &str) -> Result<String> {
    let decoded = percent_decode_str(value).decode_utf8().map_err(|_| invalid("a value of it is not UTF-8"))?;
    Ok(decoded.into_owned())
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// An address for people.
fn shown(config: &Config) -> String {
    let user = config.get_user().map_or(String::new(), |user| format!("{user}@"));
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let name = match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        };
        match ports.get(at).or(ports.first()) {
            Some(5432) | None => name,
            Some(port) => format!("{name}:{port}"),
        }
    });
    let hosts = hosts.collect::<Vec<_>>().join(",");
    format!("postgres://{user}{hosts}/{}", config.get_dbname().unwrap_or_default())
}

/// Why the client cannot read an address: its sources, for these do not repeat it.
fn reason(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| "it cannot be read".to_owned(), ToString::to_string)
}

fn invalid(why: impl Into<String>) -> Error {
    Error::Invalid { field: "store", why: format!("the address of the team store: {}", why.into()) }
}

/// Passwords that are not in the address.
mod passwords {
    use std::fs;
    use std::path::{Path, PathBuf};

    use tokio_postgres::Config;
    use tokio_postgres::config::Host;

    /// As the clients of PostgreSQL look for it.
    pub(super) fn find(config: &Config) -> Option<String> {
        let set = std::env::var("PGPASSWORD").ok().filter(|password| !password.is_empty());
        set.or_else(|| in_file(&read(&file()?)?, config))
    }

    /// The text of the file, unless others can read it.
    pub(super) fn read(path: &Path) -> Option<String> {
        if is_exposed(path) {
            let path = path.display();
            tracing::warn!("{path} is not used for passwords, because others can read it: run `chmod 600 {path}`");
            return None;
        }
        fs::read_to_string(path).ok().filter(|_| path.is_file())
    }

    /// Whether others can read a file that is there.
    #[cfg(unix)]
    pub(super) fn is_exposed(path: &Path) -> bool {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
    }

    /// Windows has no such modes.
    #[cfg(not(unix))]
    pub(super) fn is_exposed(_: &Path) -> bool {
        false
    }

    /// The file that may have the password.
    pub(super) fn file() -> Option<PathBuf> {
        let named = std::env::var_os("PGPASSFILE").filter(|path| !path.is_empty());
        named.map(PathBuf::from).or_else(|| std::env::home_dir().map(|home| home.join(".pgpass")))
    }

    /// The host, port, database and user of a line that fits.
    pub(super) fn names(config: &Config) -> Option<[String; 4]> {
        let host = match config.get_hosts().first()? {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(_) => "localhost".to_owned(),
        };
        let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
        Some([host, port, config.get_dbname()?.to_owned(), config.get_user()?.to_owned()])
    }

    /// The first line that fits: `host:port:database:user:password`, with `*` for any, and `\` before `:` and `\`.
    pub(super) fn in_file(lines: &str, config: &Config) -> Option<String> {
        let own = names(config)?;
        lines.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let fields = fields(line);
            let (password, names) = fields.split_last().filter(|(_, names)| names.len() == own.len())?;
            let fits = names.iter().zip(&own).all(|(name, own)| name == "*" || name == own);
            fits.then(|| password.clone())
        })
    }

    fn fields(line: &str) -> Vec<String> {
        let mut fields = vec![String::new()];
        let mut chars = line.chars();
        while let Some(char) = chars.next() {
            let literal = if char == '\\' { chars.next() } else { Some(char) };
            match char {
                ':' if fields.len() < 5 => fields.push(String::new()),
                _ => fields.last_mut().expect("one at least").extend(literal),
            }
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(address: &str) -> String {
        ServerAddress::parse(address).unwrap_err().to_string()
    }

    #[test]
    fn an_address_shows_no_password() {
        let address = ServerAddress::parse("postgres://memorist:changeme@db.example:6432/team").unwrap();
        assert_eq!(address.to_string(), "postgres://memorist@db.example:6432/team");
        assert!(!format!("{address:?}").contains("changeme") && address.has_password());
        let same = ServerAddress::parse("postgres://memorist:placeholder@db.example:6432/team").unwrap();
        assert_eq!(address.folder_name(), same.folder_name());
        assert_ne!(address, same);
        for broken in [
            "postgres://a:changeme@db/team?nonsense=1",
            "postgres://a:changeme@db:none/team",
            "postgres://a:changeme@/",
            "postgres://a:x@changeme@db/team",
            "postgres://a:changeme@db/team?sslrootcert=ca.pem",
        ] {
            assert!(!refusal(broken).contains("changeme"), "{}", refusal(broken));
        }
    }

    #[test]
    fn the_rest_of_an_address_is_another_process_told() {
        let rest = |address: &str| ServerAddress::parse(address).unwrap().without_password().to_owned();
        for (address, expected) in [
            ("postgres://ana:changeme@db/team?sslmode=verify-full", "postgres://ana@db/team?sslmode=verify-full"),
            ("postgres://ana@db/team?password=changeme", "postgres://ana@db/team"),
            (
                "postgres://ana@db/team?connect_timeout=3&password=changeme&sslmode=disable",
                "postgres://ana@db/team?connect_timeout=3&sslmode=disable",
            ),
            ("postgresql://db:1,other:2/team", "postgresql://db:1,other:2/team"),
        ] {
            assert_eq!(rest(address), expected);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_passwords_that_others_can_read_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "*:*:*:*:changeme").unwrap();
        for (mode, is_used) in [(0o600, true), (0o640, false), (0o604, false), (0o400, true)] {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(passwords::read(file.path()).is_some(), is_used, "{mode:o}");
        }
        assert_eq!(passwords::read("/".as_ref()), None);
    }

    #[test]
    fn tls_verifies_remote_servers_by_default_but_not_loopback() {
        let tls = |address: &str| ServerAddress::parse(address).unwrap().tls;
        assert_eq!(tls("postgres://a@db.example/team"), Some(TrustStore::System));
        assert_eq!(tls("postgres://a@db.example/team?sslmode=verify-full"), Some(TrustStore::System));
        assert_eq!(tls("postgres://a@db.example/team?sslmode=disable"), None);
        assert_eq!(tls("postgres://a@127.0.0.1/team"), None);
        let drive = if cfg!(windows) { "C:" } else { "" };
        assert_eq!(
            tls(&format!("postgres://a@localhost/team?sslrootcert={drive}%2Fa%20b.pem")),
            Some(TrustStore::File(format!("{drive}/a b.pem").into()))
        );
        for mode in ["require", "prefer", "verify-ca"] {
            let said = refusal(&format!("postgres://a@db.example/team?sslmode={mode}"));
            assert!(said.contains("verify-full or disable"), "{said}");
        }
    }

    #[test]
    fn an_incomplete_address_is_rejected_with_the_reason() {
        assert!(refusal("postgres://a@db.example").contains("names no database"));
        assert!(refusal("postgres:///team").contains("names no host"));
        assert!(ServerAddress::is_one("postgresql://db/team") && !ServerAddress::is_one("/srv/team"));
    }

    #[test]
    fn a_password_is_found_in_the_file_of_passwords() {
        let config: Config = "postgres://ana@db.example:6432/team".parse().unwrap();
        let lines = "# a comment\nother:*:*:*:no\n*:6432:team:ana:s3\\:cr\\\\et:5\n*:*:*:*:late\n";
        assert_eq!(passwords::in_file(lines, &config).as_deref(), Some("s3:cr\\et:5"));
        assert_eq!(passwords::in_file("db.example:1:team:ana:no\nnonsense", &config), None);
    }
}
