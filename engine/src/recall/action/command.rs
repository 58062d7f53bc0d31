//! The commands of a line for a shell, and whether a text names one of them.

use super::lists::{
    ACTING, FILE_ENDS, GROUPED, GROUPS, INTERPRETERS, LOOKING, LOOKING_COMMANDS, MANY_GOALS, ORDINARY_PROGRAMS, PROSE,
    RUNNERS, RUNNING, SCRIPT_PROGRAMS, WRAPPERS, WRAPPING,
};
use super::named_file::{NamedFile, is_telling};
use crate::recall::words::has;

/// Commands of one line that are looked up.
const MOST_COMMANDS: usize = 3;
/// Words of a command that are looked at.
const MOST_WORDS: usize = 12;
/// Longest word of a command, in bytes.
const LONGEST_WORD: usize = 64;
/// Longest line that is read, and longest path of a script, in bytes.
const LONGEST_LINE: usize = 16 << 10;
const LONGEST_PATH: usize = 1 << 10;
/// Words of a command that are no prose.
const PHRASE_WORDS: usize = 3;
/// A text says early which program it is about.
const MOST_BEFORE_ALONE: usize = 12;
/// A shorter name says too little without another word.
const LEAST_ALONE: usize = 3;

/// A command, and the names by which a text may mean it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    program: String,
    /// Each is a way to read the command.
    names: Vec<CommandName>,
    /// Whether the program alone may be all: no word surely says what it does.
    may_be_alone: bool,
    /// The words after the program.
    words: Vec<String>,
}

/// A program with a word that says what it does, such as `cargo test`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CommandName {
    text: String,
    /// Whether the word may be the value of an option instead.
    may_be_value: bool,
}

impl CommandName {
    /// Whether both surely say that the program does the same.
    fn agrees(&self, other: &CommandName) -> bool {
        self.text == other.text && !(self.may_be_value && other.may_be_value)
    }
}

/// A program or a script that a line runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunTarget {
    Command(ShellCommand),
    Script(NamedFile),
}

/// The commands of a line for a shell that do more than look: at most three.
pub fn commands(line: &str) -> Vec<RunTarget> {
    let mut all: Vec<RunTarget> = Vec::new();
    for words in parts(line) {
        let words: Vec<&str> = words.iter().map(String::as_str).take(MOST_WORDS).collect();
        let words = unwrapped(&words);
        for run in [run_by(words), run_by_runner(words)].into_iter().flatten() {
            if all.len() < MOST_COMMANDS && !all.contains(&run) {
                all.push(run);
            }
        }
    }
    all
}

impl ShellCommand {
    /// The words to search for.
    pub fn query(&self) -> String {
        let names = self.names.iter().map(|name| &*name.text);
        [&*self.program].into_iter().chain(names).collect::<Vec<_>>().join(" ")
    }

    /// Whether the line has what a command in quotes acts on: "`npm install sharp`" says nothing about another package.
    fn has_objects(&self, following: &[&str]) -> bool {
        let mut words = following.iter().filter(|word| !word.starts_with(['-', '+', '<', '[', '$', '{']));
        let acts = words.any(|word| has(ACTING, word));
        !acts || words.all(|object| self.words.iter().any(|word| word == object))
    }

    /// Whether the words of a text go on with another word than the line: "cap staging deploy," is not about `cap staging console`.
    fn does_other(&self, name: &str, following: &[&str]) -> bool {
        let Some(last) = name.rsplit(' ').next() else { return false };
        let after = |words: &[&str]| words.iter().position(|word| *word == last).map(|at| at + 1);
        let (Some(at), Some(own)) = (after(following), self.words.iter().position(|word| word == last)) else {
            return false;
        };
        let (Some(word), Some(own)) = (following.get(at), self.words.get(own + 1)) else { return false };
        let bare = word.trim_end_matches(is_mark);
        bare != *word && !word.ends_with('.') && is_plain(bare) && is_plain(own) && bare != own
    }

    /// The name by which a text has this command: the program and what it does as neighbours, other options aside. A name that is
    /// also prose, and (where it `is_alone` enough) a program alone, count where they are written like a command.
    pub fn named_in(&self, text: &str, is_alone: bool) -> Option<&str> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_prose = has(PROSE, &self.program);
        words.iter().enumerate().find_map(|(at, word)| {
            let opened = word.trim_start_matches(is_mark);
            let bare = opened.trim_end_matches(is_mark);
            let is_program = bare.rsplit('/').next().map(without_wrapper) == Some(&self.program);
            let is_command = || is_written_as_command(&words[..at], word);
            if !is_program {
                return None;
            }
            let following = if opened == bare { until_mark(&words[at + 1..]) } else { Vec::new() };
            let named = names(&self.program, &following);
            let name = self.names.iter().find(|name| named.iter().any(|other| name.agrees(other)));
            // "go live" is prose, "go mod tidy" is not.
            let is_phrase = name.is_some_and(|name| name.text.split(' ').count() >= PHRASE_WORDS);
            if is_prose && !is_phrase && !is_command() {
                return None;
            }
            let is_other = |name: &CommandName| self.does_other(&name.text, &words[at + 1..]);
            if name.is_some_and(is_other) || name.is_some() && opened != *word && !self.has_objects(&following) {
                return None;
            }
            // "mvn deploy: …" is about that alone, whether or not `-q verify` is an option with a value.
            let is_about_other = || !self.names.is_empty() && !named.is_empty() && following.len() == 1;
            let is_alone = is_alone && at < MOST_BEFORE_ALONE && self.may_be_alone && !is_about_other();
            name.map(|name| &*name.text).or_else(|| (is_alone && is_command()).then_some(&*self.program))
        })
    }
}

/// Whether a word after these others begins a command: in quotes, first, after a colon or after "run".
fn is_written_as_command(before: &[&str], word: &str) -> bool {
    let is_led = |last: &&str| last.ends_with(':') || has(RUNNING, &last.to_lowercase());
    word.starts_with(['`', '"', '\'', '$']) || before.last().is_none_or(is_led)
}

/// The words of a text up to one that ends with a mark, without that mark.
fn until_mark<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut all = Vec::new();
    for word in words.iter().take(MOST_WORDS) {
        let bare = word.trim_end_matches(is_mark);
        all.push(bare);
        if bare != *word {
            break;
        }
    }
    all
}

/// Punctuation around a word of a text.
fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() && !"-_/+~@%=&".contains(c)
}

/// The program of these words with what it does: a word that is no option. Where it may be the value of the option before, the
/// next one may do, too.
fn names(prefix: &str, mut following: &[&str]) -> Vec<CommandName> {
    let mut all = Vec::new();
    let mut may_be_value = false;
    while let [word, rest @ ..] = following {
        following = rest;
        if word.starts_with(['-', '+']) {
            may_be_value = word.starts_with('-') && !word.contains('=');
            continue;
        }
        if is_plain(word) {
            let text = format!("{prefix} {word}");
            if GROUPS.contains(&&*text) || has(GROUPED, prefix) {
                let of_group = names(&text, rest);
                if of_group.is_empty() && GROUPS.contains(&&*text) {
                    all.push(CommandName { text, may_be_value });
                }
                all.extend(of_group);
            } else {
                all.push(CommandName { text, may_be_value });
            }
        }
        if !may_be_value {
            break;
        }
        may_be_value = false;
    }
    all
}

/// A word that may be a command of a program: no path, no file, no number.
fn is_plain(word: &str) -> bool {
    let is_file = word.rsplit_once('.').is_some_and(|(_, end)| end.is_empty() || has(FILE_ENDS, end));
    word.len() <= LONGEST_WORD
        && !is_file
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
}

/// The words from the program on that does the work.
fn unwrapped<'a, 'b>(mut words: &'a [&'b str]) -> &'a [&'b str] {
    loop {
        words = match words {
            [word, rest @ ..] if word.split_once('=').is_some_and(|(name, _)| is_plain(name)) => rest,
            ["command", "-v" | "-V", ..] => return &[],
            [word, rest @ ..] if has(WRAPPERS, word) => without_options(rest),
            [one, two, rest @ ..] if WRAPPING.contains(&&*format!("{one} {two}")) => rest,
            _ => return words,
        };
    }
}

/// The words after the options of a wrapper and their numbers.
fn without_options<'a, 'b>(mut words: &'a [&'b str]) -> &'a [&'b str] {
    loop {
        words = match words {
            ["-u" | "--user", _, rest @ ..] => rest,
            [word, rest @ ..] if word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => rest,
            _ => return words,
        };
    }
}

/// The program that a package manager runs by its name: the words after `yarn` of `yarn cypress run`.
fn run_by_runner(words: &[&str]) -> Option<RunTarget> {
    let (runner, rest) = words.split_first()?;
    let is_program = has(RUNNERS, runner) && rest.first().is_some_and(|word| is_plain(word) && !has(ACTING, word));
    let says_what = |run: &RunTarget| matches!(run, RunTarget::Command(command) if command.names.iter().any(|name| !name.may_be_value));
    run_by(rest).filter(|run| is_program && says_what(run))
}

fn run_by(words: &[&str]) -> Option<RunTarget> {
    let (program, rest) = words.split_first()?;
    let name = program.rsplit('/').next().filter(|name| name.len() <= LONGEST_WORD)?;
    let is_about_itself = rest.contains(&"--help") || rest.last() == Some(&"--version") || rest == ["-h"];
    if has(LOOKING, name) || is_about_itself || name == "sed" && !rest.iter().any(|word| word.starts_with("-i")) {
        return None;
    }
    if has(INTERPRETERS, name.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit())) {
        match rest {
            ["-c" | "-lc" | "-ec", line, ..] => return commands(line).into_iter().next(),
            ["-m", rest @ ..] => return run_by(rest),
            _ => {}
        }
        // `php artisan` and `deno task` are commands.
        let at = rest.iter().position(|word| !word.starts_with('-'));
        let file = at.map(|at| &rest[at]);
        // `python manage.py migrate`, `php bin/console cache:clear`.
        let is_program =
            |at: &usize| is_script_program(rest[*at]) || rest[*at].contains('/') && !rest[*at].contains('.');
        if let Some(at) = at.filter(is_program) {
            return run_by(&rest[at..]);
        }
        if let Some(file) = file.filter(|file| !is_plain(file)) {
            return script(file);
        }
    }
    if name.contains('.') && is_telling(name) && !is_script_program(name) {
        return script(program);
    }
    let name = without_wrapper(name);
    let mut names = names(name, rest);
    if has(MANY_GOALS, name) {
        let goals = rest.iter().map(|word| word.rsplit(':').next().filter(|_| word.starts_with(':')).unwrap_or(word));
        let others = goals.filter(|word| is_plain(word)).map(|word| format!("{name} {word}"));
        let others: Vec<String> = others.filter(|text| names.iter().all(|other| other.text != *text)).collect();
        names.extend(others.into_iter().map(|text| CommandName { text, may_be_value: true }));
    }
    let may_be_alone = names.iter().all(|name| name.may_be_value)
        && !has(ORDINARY_PROGRAMS, name)
        && !has(MANY_GOALS, name)
        && name.len() >= LEAST_ALONE;
    let says_nothing = names.is_empty() && !may_be_alone;
    let only_looks = names.iter().any(|name| LOOKING_COMMANDS.contains(&&*name.text));
    let is_usable = (is_plain(name) || is_script_program(name)) && !says_nothing && !only_looks;
    let words = rest.iter().map(|word| (*word).to_owned()).collect();
    is_usable.then(|| RunTarget::Command(ShellCommand { program: name.to_owned(), names, may_be_alone, words }))
}

/// The program for the wrapper of it that a project has.
fn without_wrapper(name: &str) -> &str {
    if has("gradlew mvnw", name) { name.trim_end_matches('w') } else { name }
}

fn is_script_program(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| has(SCRIPT_PROGRAMS, name))
}

fn script(path: &str) -> Option<RunTarget> {
    let is_script = path.len() <= LONGEST_PATH && path.contains('.') && !path.contains(char::is_whitespace);
    NamedFile::new(path, None).filter(|_| is_script).map(RunTarget::Script)
}

/// A line without the texts that it has in itself: from `<<EOF` to a line that is `EOF`.
fn without_heredocs(line: &str) -> String {
    let (mut kept, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("<<") {
        kept.push_str(before);
        let tag = after.trim_start_matches(['-', ' ', '\'', '"', '\\']);
        let tag = &tag[..tag.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(tag.len())];
        let text = after.split_once('\n').filter(|_| !tag.is_empty());
        let end = text.and_then(|(_, text)| {
            let mut at = 0;
            text.split_inclusive('\n').find_map(|line| {
                at += line.len();
                (line.trim() == tag).then(|| &text[at..])
            })
        });
        rest = match (text, end) {
            (Some((opening, _)), Some(end)) => {
                let opening = opening.split_once(tag).map_or("", |(_, more)| more);
                kept.push_str(opening.trim_start_matches(['\'', '"']));
                kept.push('\n');
                end
            }
            _ => after,
        };
    }
    kept + rest
}

/// The words of each command of a line.
fn parts(line: &str) -> Vec<Vec<String>> {
    let line = &line[..line.floor_char_boundary(LONGEST_LINE)];
    let line = without_heredocs(line).replace("\\\n", " ");
    let (mut parts, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let mut quote = None;
    let mut is_comment = false;
    for c in line.chars().chain(['\n']) {
        // `${PORT}` is a part of a word.
        let ends_part = quote.is_none() && (";|&\n()`".contains(c) || "{}".contains(c) && word.is_empty());
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => word.push(c),
            None if is_comment && c != '\n' => {}
            None if c == '#' && word.is_empty() => is_comment = true,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if ends_part || c.is_whitespace() => {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)))
            }
            None => word.push(c),
        }
        if ends_part {
            is_comment &= c != '\n';
            parts.push(std::mem::take(&mut words));
        }
    }
    // A quote that nothing closes.
    words.extend((!word.is_empty()).then_some(word));
    parts.push(words);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<String> {
        let name = |run| match run {
            RunTarget::Command(command) if command.names.is_empty() => command.program,
            RunTarget::Command(command) => {
                command.names.into_iter().map(|name| name.text).collect::<Vec<_>>().join("|")
            }
            RunTarget::Script(file) => file.path(),
        };
        commands(line).into_iter().map(name).collect()
    }

    #[test]
    fn a_line_runs_what_its_parts_say() {
        for (line, expected) in [
            ("cargo test -p engine --release", &["cargo test"][..]),
            ("cd /p && RUST_LOG=debug sudo -u ana cargo +nightly test", &["cargo test"]),
            ("npm run build && npm test; git push origin main", &["npm run build", "npm test", "git push"]),
            ("docker compose -f prod.yml up -d", &["docker compose up"]),
            ("kubectl -n prod apply -f x.yml", &["kubectl prod|kubectl apply"]),
            ("timeout 600 cargo test 2>&1 | tail -5", &["cargo test"]),
            ("bash -c 'terraform plan'", &["terraform plan"]),
            ("uv run pytest tests/a.py", &["pytest"]),
            ("python -m pytest", &["pytest"]),
            ("python3 tools/gen.py --all", &["tools/gen.py"]),
            ("./scripts/deploy.sh prod", &["scripts/deploy.sh"]),
            ("git commit -m 'cargo build: fix'", &["git commit"]),
            ("cat > x.sh <<'EOF'\ncargo publish\nEOF", &[]),
            ("cat > x.sh <<EOF\ncargo publish\nEOF\ncargo check", &["cargo check"]),
            ("git commit -m \"$(cat <<'EOF'\nFix: \"cargo test\"\n\nEOF\n)\" && git push", &["git commit", "git push"]),
            ("echo $((1 << 2)) && cargo check", &["cargo check"]),
            ("curl localhost:${PORT}/health", &[]),
            ("if cargo publish; then git push; fi", &["cargo publish", "git push"]),
            ("git stash", &["git stash"]),
            ("cargo check 'unclosed", &["cargo check"]),
            ("# cargo test\ncargo check", &["cargo check"]),
            ("ls -la && git status && sed -n 1p x && cargo test --help", &[]),
            ("command -v podman && type -a nix", &[]),
            ("mvn -B clean deploy", &["mvn clean|mvn deploy"]),
            ("./gradlew :app:check --info", &["gradle check"]),
            ("DEBUG=1 python manage.py migrate", &["manage.py migrate"]),
            ("php bin/console cache:clear", &["console cache:clear"]),
            ("yarn cypress run", &["yarn cypress", "cypress run"]),
            ("conan create . --version 6.1", &["conan create"]),
            ("make; python; git", &[]),
            ("a && b && c", &[]),
            ("", &[]),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
        for hostile in ["'\"`$((((", "\u{0}\u{1b}[2J", "&&&&||||;;;;", "-c -c -c", "sudo", "=x =y", "\\\n\\\n"] {
            assert!(read(&hostile.repeat(100_000)).len() <= MOST_COMMANDS);
        }
    }

    #[test]
    fn a_text_names_a_command_by_program_and_subcommand() {
        let named = |line: &str, text: &str| match commands(line).first() {
            Some(RunTarget::Command(command)) => command.named_in(text, true).map(str::to_owned),
            _ => panic!("{line}"),
        };
        for (line, text) in [
            ("cargo test -p engine", "Run `cargo test` with RUST_MIN_STACK set"),
            ("cargo test", "use cargo --locked test, then push"),
            ("npm run build", "\"npm run build\" needs Node 20."),
            ("make deploy", "Always run make deploy from main"),
            ("npm install sharp", "`npm install sharp` needs libvips"),
            ("npm install lodash", "npm install needs Node 20"),
            ("pytest", "`pytest` hangs without --forked"),
            ("./gradlew test", "./gradlew test needs Java 21"),
            ("mvn clean deploy", "mvn deploy: unlock the agent before"),
            ("go mod tidy", "With Go 1.23, go mod tidy writes a toolchain line"),
            ("pg_restore -d x", "pg_restore of a dump needs --no-owner"),
        ] {
            assert!(named(line, text).is_some(), "{line}: {text}");
        }
        for (line, text) in [
            ("cargo test", "cargo build needs it, the test does not"),
            ("cargo test", "We moved to cargo. Test it"),
            ("npm run build", "npm run lint is slow"),
            ("make deploy", "to make deploy windows shorter"),
            ("make test", "Make test coverage visible"),
            ("npm install lodash", "`npm install sharp` needs libvips"),
            ("stack build", "The stack build pipeline is slow"),
            ("pytest", "the team likes pytest"),
            ("docker compose up", "docker compose down"),
            ("mvn -q verify", "mvn deploy: unlock the agent before"),
            ("cap staging console", "The old release stays after cap staging deploy, stop it"),
        ] {
            assert_eq!(named(line, text), None, "{line}: {text}");
        }
    }
}
