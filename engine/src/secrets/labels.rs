//! The names of secrets, in code and in several languages.

use std::sync::LazyLock;

use regex::Regex;

use super::finding::VALID;

/// The words that say what a value is. The longer name comes first: what ends in `secret` may go on with `key`.
pub(super) const LABEL: &str = concat!(
    // What a person chose.
    r"(?i-u:pass[_ -]?(?:word|wd|phrase|code)|[_-]pass\b|pwd|(?:seed|recovery)[_ -]phrase|(?:\b|_)pw\b",
    r"|passwort|kennwort|(?:mot|mots)[_ ]de[_ ]passe|wachtwoord|\bsenha|\bclave\b|parola(?: d'ordine)?)",
    r"|(?i:contrase[nñ]a|has[lł]o|парол[ьяе]|密[码碼]|口令|パスワード|비밀번호)",
    // After the user it is no test that passes.
    r"|(?i:\b(?:user(?:name)?|login|account|e?-?mail)[ \t]*[:=]?[ \t]*[^\s:=]{1,64}[ \t]+pass\b)",
    // What a machine drew.
    r"|(?i-u:(?:api|app|access|private|auth|account|encryption|signing|signature|master|shared|session|service",
    r"|client|consumer|deploy|license|root|webhook|bot|user|storage|admin|cookie|jwt|storage[_ -]account",
    r"|shared[_ -]access|secret)[_ -]?keys?(?:[_ -]?base|[_ -]?material)?|secrets?|tokens?)",
);

/// Of these, in small letters, each match of [`LABEL`] has one.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "pass", "pwd", "phrase", "pw", "kennwort", "wachtwoord", "senha", "clave", "parola", "contrase", "has",
    "парол", "Парол", "ПАРОЛ", "密", "口令", "パスワード", "비밀번호", "key", "secret", "token",
];

/// A number or a word that a name may end in and still be that of a secret: `PASSWORD_2`, `token value`.
pub(super) const ENDING: &str = r"(?i-u:[_ -]?(?:value|string|text)|_?[0-9]{1,2})?";

static LABEL_AT_THE_END: LazyLock<Regex> = LazyLock::new(|| Regex::new(&format!(r"(?:{LABEL})(s?)\z")).expect(VALID));

/// The name, in the singular, where it is one of a secret: `password`, `apiKeys`.
pub(super) fn label(name: &str) -> Option<&str> {
    let plural = LABEL_AT_THE_END.captures(name)?.get(1)?;
    Some(&name[..plural.start()])
}

/// How the values of a name are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// Chosen by a person.
    Password,
    /// Chosen by a person, and of several words.
    Phrase,
    /// Drawn by a machine.
    Drawn,
}

/// What a name that [`LABEL`] found asks for.
pub(super) fn sort(name: &str) -> Sort {
    let name = name.trim_start_matches(['_', '-']).trim_end_matches('s').to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    match () {
        () if ends(&["phrase"]) => Sort::Phrase,
        () if ends(&["key", "base", "material", "secret", "token"]) => Sort::Drawn,
        () => Sort::Password,
    }
}

/// What a finding calls it.
pub(super) fn what(name: &str) -> &'static str {
    match (sort(name), name.to_ascii_lowercase().trim_end_matches('s')) {
        (Sort::Password | Sort::Phrase, _) => "password",
        (Sort::Drawn, "secret") => "secret",
        (Sort::Drawn, "token") => "token",
        (Sort::Drawn, _) => "key",
    }
}
