//! Passwords in the arguments of commands and in the files that they read.

use regex::Regex;

use super::finding::Finding;
use super::looks;

/// The name of a command, its end, or an option with a password; [`options`] distinguishes them.
macro_rules! command {
    ($name:literal, $option:literal) => {
        concat!(r"(?-u:\b)(?<command>", $name, r")[ \t]|\\\r?\n|(?<end>[\r\n|;]|&[&\s])|", $option)
    };
}

/// `curl -u user:password`, `http -a user:password`.
pub(super) const USER: &str = command!(
    "curl|wget|https?|xh",
    r#"(?:-[uUa]|--user|--proxy-user|--auth)[ \t=]*["']?[^\s:"']{1,64}:(?<value>[^\s"'`]{3,})"#
);

/// `mysql -pPASSWORD`: what follows without a space is the password.
pub(super) const MYSQL: &str = command!(
    "(?:mysql|mariadb)(?:-?(?:admin|dump|import|check|sh|show|slap|binlog))?",
    r#"-p["']?(?<value>[^\s"'`-][^\s"'`]{2,})"#
);

/// `sshpass -p PASSWORD`: a later `-p` belongs to the command that it runs.
pub(super) const SSHPASS: &str = r#"(?-u:\b)sshpass[ \t]+-p[ \t]*["']?([^\s"'`-][^\s"'`]{3,})"#;

/// Logins whose `-p` takes the password as a separate word.
pub(super) const LOGIN: &str = command!(
    r"(?:docker|podman|helm|nerdctl|skopeo|buildah|oras|az|oc|cf|argocd)[ \t][^\r\n|;&]{0,64}?login",
    r#"-p[ \t]*["']?(?<value>[^\s"'`-][^\s"'`]{3,})"#
);

/// `mongosh -p PASSWORD`.
pub(super) const MONGO: &str =
    command!("mongo(?:sh|dump|restore|export|import)?", r#"-p[ \t]+["']?(?<value>[^\s"'`-][^\s"'`]{3,})"#);

/// `sqlcmd -P PASSWORD`.
pub(super) const SQLCMD: &str = command!("sqlcmd", r#"-P[ \t]*["']?(?<value>[^\s"'`-][^\s"'`]{3,})"#);

/// `ldapsearch -w PASSWORD`.
pub(super) const LDAP: &str =
    command!("ldap(?:search|modify|add|delete|whoami|passwd)", r#"-w[ \t]+["']?(?<value>[^\s"'`-][^\s"'`]{3,})"#);

/// `redis-cli -a PASSWORD`.
pub(super) const REDIS: &str = command!("redis-cli", r#"-a[ \t]*["']?(?<value>[^\s"'`-][^\s"'`]{3,})"#);

/// `openssl enc -k PASSWORD`.
pub(super) const OPENSSL: &str = command!("openssl", r#"-k\b[ \t]*["']?(?<value>[^\s"'`-][^\s"'`]{3,})"#);

/// The value of every such option of the command, up to its end in the shell.
pub(super) fn options(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    let mut in_command = false;
    for captures in pattern.captures_iter(text) {
        if captures.name("command").is_some() || captures.name("end").is_some() {
            in_command = captures.name("command").is_some();
        } else if let Some(value) = captures.name("value").filter(|_| in_command) {
            let is_option = text[..captures.get_match().start()].ends_with([' ', '\t']);
            if is_option && is_password(value.as_str()) {
                found(Finding { what, range: value.range() });
            }
            in_command = !value.as_str().ends_with([';', '|', '&']);
        }
    }
}

/// The values of options that a word of a sentence or a port may follow as well: "mongosh -u app -p asks for it".
pub(super) fn likely_options(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    const PORT: usize = 5;
    options(what, pattern, text, &mut |finding| {
        let word = &text[finding.range.clone()];
        let is_port = word.len() <= PORT && word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_port && (looks::chosen(word) || looks::random(word)) {
            found(finding);
        }
    });
}

/// A word that is no placeholder, no place, and no port: `docker run --name mysql -p3306:3306`.
fn is_password(word: &str) -> bool {
    let is_port = word.contains(':') && word.bytes().all(|byte| byte.is_ascii_digit() || b".:/tcpud".contains(&byte));
    !is_port && !looks::is_placeholder(word) && !looks::template(word) && !looks::location(word)
}

/// A line of `.netrc`, or several.
pub(super) const NETRC: &str =
    r#"(?-u:\b)machine\s+\S{1,255}\s+login\s+\S{1,255}\s+(?:account\s+\S{1,255}\s+)?password\s+([^\s"'`]{3,})"#;

/// The group of every match that is neither a placeholder nor a variable.
pub(super) fn search(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for value in pattern.captures_iter(text).filter_map(|captures| captures.get(1)) {
        if is_password(value.as_str()) {
            found(Finding { what, range: value.range() });
        }
    }
}

/// `"auth": "<base64 of user:password>"`, as in Docker's settings.
pub(super) const DOCKER: &str = r#"\\?"auth\\?"[ \t]*:[ \t]*\\?"([A-Za-z0-9+/]{8,}={0,2})\\?""#;

/// Every match whose group is base64 of a user and a password.
pub(super) fn encoded(what: &'static str, pattern: &Regex, text: &str, found: &mut dyn FnMut(Finding)) {
    for value in pattern.captures_iter(text).filter_map(|captures| captures.get(1)) {
        if looks::encoded_credential(value.as_str()) {
            found(Finding { what, range: value.range() });
        }
    }
}
