//! The samples are assembled from pieces, so that no scanner of sources, this one included, finds them here.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::*;

const PEM_BODY: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const RANDOM: &str = "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY3zA5bC7dE9fG1hI3jK5lM7nO9pQ1r";
const HEX: &str = "3f2a9c1b7d8e4f506a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071";

/// The type of a secret, the text before the value, the value, and the text after it.
struct Sample(&'static str, String, String, &'static str);

/// One for each prefix and form of each rule.
fn samples() -> Vec<Sample> {
    let alnum = |count: usize| &RANDOM[..count];
    let token = |what, prefix: &str, rest: &str| Sample(what, "use ".into(), [prefix, rest].concat(), " from now on");
    let labelled = |what, before: &[&str], value: &str, after| Sample(what, before.concat(), value.into(), after);
    let mark = |end: &str, kind: &str| ["-----", end, " ", kind, "PRIVATE KEY-----"].concat();
    let pem = |kind, between: &str| [&mark("BEGIN", kind), between, PEM_BODY, between, &mark("END", kind)].concat();
    let jwt = ["eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0In0", ".c2lnbmF0dXJl"].concat();
    let cut_off = [&mark("BEGIN", ""), "\n", PEM_BODY, "\n", PEM_BODY].concat();
    let webhook = ["hooks.slack", ".com/services/T00AB1CD2/B00AB1CD2/", alnum(24)].concat();
    let putty =
        ["PuTTY-User", "-Key-File-3: ssh-rsa\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 2\n", PEM_BODY, "\n", "aGVsbG8="];
    let putty = putty.concat();
    let basic = BASE64_STANDARD.encode(["bob", ":", alnum(12)].concat());
    let mut samples = vec![
        Sample("private key", "the key:\n".into(), pem("", "\n"), "\nas of May"),
        Sample("private key", "{\"key\": \"".into(), pem("RSA ", "\\n"), "\"}"),
        Sample("private key", "".into(), pem("OPENSSH ", "\r\n"), ""),
        Sample("private key", "".into(), cut_off, " and so on"),
        Sample("private key", "".into(), putty, "\nPrivate-MAC: 0"),
        Sample("Slack webhook", "https://".into(), webhook, ""),
        token("Discord webhook", "discord.com/api", &["/webhooks/123456789012345678/", RANDOM].concat()),
        token("Telegram bot token", "123456789:AA", alnum(33)),
        token("JSON web token", "", &jwt),
        token("Discord token", "M", &[alnum(24), ".GaB3dE", ".", alnum(38)].concat()),
        token("Terraform token", alnum(14), &[".atlasv1", ".", alnum(60)].concat()),
        token("Airtable token", "pat", &[alnum(14), ".", HEX].concat()),
        token("Asana token", "1/", &["1234567890123456", ":", &HEX[..32]].concat()),
        token("Mailchimp key", &HEX[..32], "-us12"),
        token("New Relic key", &HEX[..36], "FFFFNRAL"),
        token("Azure client secret", "aB3", &["8Q~", alnum(34)].concat()),
        labelled("Azure signature", &["https://a.local/c?sp=r&si", "g="], alnum(43), " until May"),
        labelled("password of a command", &["curl -s -u ", "bob:"], "swordfish", " https://a.local"),
        labelled("password of a command", &["mysql -u root ", "-p"], "swordfish", " shop"),
        labelled("password of a command", &["sshpass", " -p "], "swordfish", " ssh a"),
        labelled("password of a command", &["docker login", " -u bob -p "], "swordfish", " a.local"),
        labelled("password of a command", &["redis-cli", " -a "], "swordfish", " ping"),
        labelled("password", &["machine a.local login bob", " password "], "swordfish", ""),
        labelled(
            "password of a command",
            &["curl -u bob", ":"],
            "S3cr3tPw99",
            " a.local && curl -u \"$USER:$PASS\" b.local",
        ),
        labelled("password of a command", &["curl -u bob", ":"], "S3cr3tPw99", " a.local -u $USER:$PASS"),
        labelled("password of a command", &["curl 'a.local?b=1&c=2' -u bob", ":"], "S3cr3tPw99", ""),
        labelled("password of a command", &["mysql", " -p"], "S3cr3tPw99", " shop && mysql -p$PASS other"),
        labelled("password of a command", &["mysql -p$PASS shop; mysql", " -p"], "S3cr3tPw99", " other"),
        labelled("password of a command", &["mysqldump", " -p"], "S3cr3tPw99", " shop > x && ssh -p2222 h"),
        labelled("password of a command", &["mysql", " -p"], "S3cr3tPw99", " shop && docker run -p8080:80 x"),
        labelled("password of a command", &["openssl enc", " -k "], "swordfish", " -in x & ls -k other"),
        labelled("credential of a registry", &["{\"auth\"", ": \""], &basic, "\"}"),
        labelled("session cookie", &["Cookie", ": a=b; sessionid="], alnum(32), "; c=d"),
        labelled("PIN", &["The bank", " PIN is "], "4821", "."),
        labelled("PIN", &["my", " PIN: "], "4821", ""),
        labelled("password", &["my password", " is "], "swordfish", ""),
        labelled("password", &["My password for the router", " is "], "swordfish", ", by the way"),
        labelled("password", &["passphrase", ": "], "correct horse battery staple", ""),
        labelled("password", &["mot de passe", " : "], "hunter2secret", ""),
        labelled("password", &["密码", "："], "hunter2secret", ""),
        labelled("password", &["<password", ">"], "hunter2secret", "</password>"),
        labelled("password in a URL", &["postgres://bob", ":"], "s3cr3t", "@db.local:5432/app"),
        labelled("password in a URL", &["https://oauth2", ":"], alnum(20), "@git.local/a.git"),
        labelled("password in a URL", &["redis://", ":"], "p@ss-w0rd", "@cache"),
        labelled("bearer token", &["curl -H 'Authorization", ": Bearer "], alnum(24), "' api.local"),
        labelled("credential in a header", &["Authorization", ": Basic "], "QWxhZGRpbjpvcGVu", ""),
        labelled("credential in a header", &["\"authorization\"", ": \"token "], alnum(20), "\""),
        labelled("password", &["password", " = "], "hunter2", ""),
        labelled("password", &["password", ": "], "hunter2secret", ""),
        labelled("password", &["password", " = "], "Tr0ub4dorKey", ""),
        labelled("password", &["Password", ": "], "Tr0ub4dor&3", ", as ever"),
        labelled("password", &["the wifi password", " is "], "correcthorse99", "."),
        labelled("password", &["the password", " for the staging database is "], "Hunter2!x", ""),
        labelled("password", &["password", " (staging): "], "Hunter2!x", ""),
        labelled("password", &["{\"password\"", ": \""], "letmein", "\"}"),
        labelled("password", &["{\\\"password\\\"", ": \\\""], "s3cr3t!x", "\\\"}"),
        labelled("password", &["os.environ['DB_PASSWORD']", " = '"], "s3cr3t!x", "'"),
        labelled("password", &["**Password", ":** "], "hunter2", ""),
        labelled("password", &["docker run -e DB_PASSWORD", "="], "letmein", " db"),
        labelled("password", &["SMTP_PASS", "="], "letmein", ""),
        labelled("password", &["mysql --password", " "], "hunter2x", " -u root"),
        labelled("password", &["Server=db;Password", "="], "Tr0ub4dor", ";Database=app"),
        labelled("password", &["passcode", ": "], "482913", ""),
        labelled("password", &["passphrase", ": \""], "correct horse battery staple", "\""),
        labelled("password", &["password", ": "], "test-Kx92pLq7Vn", ""),
        labelled("password", &["PASSWORD", "="], "test1234Xq9", ""),
        labelled("password", &["DB_PASSWORD", "=\""], "my-D0gs-N4me-Rex", "\""),
        labelled("password", &["password", ": "], "SeizeYourDay2024", ""),
        labelled("token", &["token", ": "], &["test", "_", alnum(22)].concat(), ""),
        labelled("password", &["password", ":\n  "], "Kx92pLq7Vn", "\nuser: bob"),
        labelled("password", &["user: admin pass", ": "], "Zugspitze2962", ""),
        labelled("key", &["my api key", " "], &HEX[..32], " for maps"),
        labelled("key", &["Cloudflare global API key", " "], &HEX[..37], ""),
        labelled("token", &["access token", " "], alnum(21), ""),
        labelled("token in a URL", &["https", "://"], alnum(22), "@github.com/a/b.git"),
        labelled("token in a URL", &["https", "://"], alnum(22), ":@github.com/a/b.git"),
        labelled("password", &["https://a.local/?password", "="], "Other99Secret", "&x=1"),
        labelled("token", &["https://a.local/?x=1&access_token", "="], alnum(22), "&amp;y=2"),
        labelled("secret", &["jwt secret", " = "], &HEX[..32], ""),
        labelled("token", &["deploy --auth-token", " "], alnum(12), ""),
        labelled("token", &["const TOKEN", ": &'static str = \""], alnum(16), "\";"),
        labelled("key", &["api_key", " = \""], "9a8b7c6d5e4f", "\""),
        labelled("key", &["API key", ": "], &HEX[..16], ""),
        labelled("key", &["api_key", ": "], "abcdef1234567890", ""),
        labelled("key", &["aws_secret_access_key", "="], "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzKY", ""),
        labelled("card number", &["the card "], concat!("4111 111", "1 1111 1111"), " ends 12/27"),
        labelled("card number", &[""], concat!("4111 111", "1 1111 1111"), " 123"),
        labelled("card number", &[""], concat!("4111 111", "1 1111 1111"), " 1227 123"),
        labelled("card number", &[""], concat!("4111 111", "1 1111 1111"), " 12 2027"),
        labelled("card number", &["Bob,"], concat!("55000055", "55555559"), ",Berlin"),
        labelled("card number", &[""], concat!("5555-555", "5-5555-4444"), ""),
        labelled("card number", &[""], concat!("3782 822", "463 10005"), "."),
        labelled("card number", &[""], concat!("3056 930", "902 5904"), ""),
        labelled("card number", &[""], concat!("60111111", "11111117"), ""),
        labelled("card number", &[""], concat!("35301113", "33300000"), ""),
        labelled("card number", &[""], concat!("6200 000", "0 0000 0000 000"), ""),
    ];
    let tokens = tokens::tests::samples(RANDOM, HEX).into_iter();
    samples.extend(tokens.map(|(what, token)| Sample(what, "use ".into(), token, " from now on")));
    samples
}

#[test]
fn every_rule_finds_its_samples_and_redacts_nothing_else() {
    let mut found = BTreeSet::new();
    for Sample(what, before, value, after) in samples() {
        let text = [&before, value.as_str(), after].concat();
        let expected = Finding { what, range: before.len()..before.len() + value.len() };
        assert_eq!(scan(&text), [expected], "{text}");
        assert_eq!(redact(&text), format!("{before}[redacted: {what}]{after}"));
        found.insert(what);
    }
    let missing: Vec<_> = RULES.iter().map(|(what, ..)| what).filter(|what| !found.contains(*what)).collect();
    assert!(missing.is_empty(), "rules without a sample: {missing:?}");
}

/// D5: each name of a secret, however it is written, before each sign that may follow it.
#[test]
fn every_label_is_known_by_every_separator() {
    #[rustfmt::skip]
    let labels = [
        "password", "passwd", "passphrase", "passcode", "db password", "admin password", "pwd", "pw",
        "secret", "client secret", "api secret", "secret key", "api secret key", "secret key base", "api key",
        "access key", "aws secret access key", "private key", "auth key", "encryption key", "signing key",
        "master key", "account key", "session key", "service key", "webhook secret", "token", "access token",
        "refresh token", "auth token", "bearer token", "auth", "oauth", "authorization", "credential",
    ];
    #[rustfmt::skip]
    let in_prose = [
        "Passwort", "Kennwort", "contraseña", "contrasena", "mot de passe", "senha", "wachtwoord", "parola", "clave",
        "hasło", "пароль", "Пароль", "密码", "密碼", "パスワード", "비밀번호",
    ];
    #[rustfmt::skip]
    let separators = [
        ("=", ""), (" = ", ""), (": ", ""), (":", ""), ("：", ""), (" := ", ""), (" => ", ""), (" -> ", ""), (" - ", ""),
        (" | ", " |"), ("=\"", "\""), (" = \"", "\""), (": \"", "\""), ("\": \"", "\""), ("\":\"", "\""), ("' => '", "'"),
        ("'] = '", "'"), ("\\\": \\\"", "\\\""), ("=`", "`"), (": '", "'"), (":** ", ""), ("**: ", ""), (" is ", ""), (" is: ", ""),
        (" is now ", ""), (" was set to ", ""), (" for the staging server is ", ""), (" (prod): ", ""), (">", "</a>"),
        ("\" value=\"", "\""), (": &str = \"", "\";"),
    ];
    let joined = |words: &str, between: &str| words.split(' ').collect::<Vec<_>>().join(between);
    let capitalised = |words: &str| {
        let capitalise = |word: &str| word[..1].to_uppercase() + &word[1..];
        words.split(' ').map(capitalise).collect::<String>()
    };
    let camel = |words: &str| words[..1].to_owned() + &capitalised(words)[1..];
    let written = labels.into_iter().flat_map(|label| {
        let snake = joined(label, "_");
        [label.to_owned(), joined(label, "-"), snake.to_uppercase(), snake, camel(label), capitalised(label)]
    });
    let value = &RANDOM[..20];
    for label in written.chain(in_prose.map(str::to_owned)) {
        for (separator, after) in separators {
            let text = [&label, separator, value, after].concat();
            let start = label.len() + separator.len();
            let ranges: Vec<_> = scan(&text).into_iter().map(|finding| finding.range).collect();
            assert_eq!((ranges.len(), ranges.first()), (1, Some(&(start..start + value.len()))), "{text}");
        }
    }
}

/// D5: invisible characters hide nothing, and are redacted with the token.
#[test]
fn an_invisible_character_hides_no_token() {
    let token = ["ghp", "_", &RANDOM[..36]].concat();
    for hidden in ['\u{200b}', '\u{ad}', '\u{2060}', '\u{feff}', '\u{200d}', '\u{e0041}', '\u{fe0f}'] {
        for at in [1, 3, 4, 20, token.len()] {
            let (start, end) = token.split_at(at);
            let text = format!("ü: {start}{hidden}{end} here");
            let redacted = redact(&text);
            assert!(
                redacted.starts_with("ü: [redacted: GitHub token]") && redacted.ends_with(" here"),
                "{text:?}: {redacted:?}"
            );
        }
        let glued = format!("the{hidden}{token}");
        assert_eq!(redact(&glued), format!("the{hidden}[redacted: GitHub token]"));
        let label = format!("pass{hidden}word: hunter2secret");
        assert_eq!(redact(&label), format!("pass{hidden}word: [redacted: password]"));
        assert_eq!(scan(&format!("soft{hidden}ware is eating the world{hidden}")), []);
    }
}

#[test]
fn two_cards_side_by_side_are_two_findings() {
    let card = concat!("4111 111", "1 1111 1111");
    let other = concat!("5500 005", "5 5555 5559");
    assert_eq!(redact(&[card, " ", other].concat()), "[redacted: card number] [redacted: card number]");
}

#[test]
fn each_password_of_a_command_is_a_finding() {
    let option = ["-u bob", ":", "S3cr3tPw99"].concat();
    let text = ["curl ", &option, " a.local && curl ", &option, " b.local ", &option].concat();
    assert_eq!(scan(&text).len(), 3, "{text}");
}

#[test]
fn a_finding_never_shows_the_value() {
    for Sample(_, before, value, after) in samples() {
        let found = scan(&[&before, value.as_str(), after].concat());
        assert!(!found.is_empty() && !format!("{found:?} {found:#?}").contains(&value));
    }
}

#[test]
fn prose_code_and_placeholders_are_left() {
    #[rustfmt::skip]
    let innocent = [
        "the user forgot the password: it must be reset",
        "reset the password: resetting requires an admin, 3rd-party login is off",
        "The password is required, the password is base64-encoded, password is sha256-hashed.",
        "password policy: at least 12 characters; password: 8-char minimum; password is case-sensitive",
        "keeps logins in 1Password; the secret: never give up; access token: opaque, 64 characters",
        "password: see 1Password, or mail admin@example.org; forgot password: admin@corp.com",
        "token = next_token()", "let token = self.tokens[i2];", "token: Option<String>,",
        "token => Token::Ident2(name)",
        "let key: String", "password: str", "password: String,", "fn login(user: &str, password: &str)",
        "token: uint256",
        "\"token\": null", "password = None", "password: string;", "password=password",
        "f(token=token, secret=secret1)",
        "secret = process.env.SECRET2", "password = os.environ[\"DB_PASSWORD1\"]",
        "digest: Sha256Digest, token: Base64Token",
        "token: Client2Config", "secret: production2", "token: notes2024/archives", "password = read2pass(stdin)",
        "password = user1creds.value", "password = oauth2token", "password=p12password", "password: db_2_password1",
        "password = user1_password", "token: aes256key",
 "\"password\": \"at least eight characters\"",
        "secret: kubernetes-secret-v12", "secret: /run/secrets/db2-password", "pwd: /home/user/project2",
        "PWD=./a1b2c3d4e5",
        "pub const NO_TOKEN: u32 = 0xC000007C_u32;", "const TOKEN: i64 = 1048576_i64;", "token: 50257",
        "max_tokens: 128000",
        "the public key token b03f5f7f11d50a3ab03f5f7f", "token 7d793037-a076-4b0c-9e3d-0c6a3c1b2f11",
        "the signing key of commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "storage key theme-v2-dark-1a2b3c4d", "drop tokens 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "https://9fceb02d0ae598e95dc970b74767f193@o1.ingest.sentry.io/2", "the tests pass: step2b, pass: Rewrite2Hir",
        "password:\n  type: string2x", "password =\n  read2pass", "password: your-password-2024",
        "password: test1234567", "api_key: test_1234567890abcdefghij", "curl a.local; ssh -u bob:swordfish",
        "curl -u $USER:$PASS a.local && x -u bob:swordfish", "sshpass -p $PASS ssh -p 2022 a.local",
        "mysql -p$PASS & docker run -p8080:80 x",
        "nextToken: \"a8f3k2l1m4n5b6v7\"", "next_page_token=CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA", "token 5b6v7a8f3k2l1m4n",
        "password: <your password>", "password: ${DB_PASSWORD1}", "password: $DB_PASSWORD1",
        "password: {{ vault_pw1 }}",
        "password: %(pw1)s", "password: ********", "api_key: your-api-key-123abc", "password: changeme123",
        "token: xxxxxxxx-1a2b-3c4d", "token: [token from 1a2b3c4d5e6f]", "password: 000000", "PASSWORD=postgres",
        "PASSWORD: \"Passwort\"", "\"password\": \"Enter your password\"", "passphrase: \"the passphrase of your key\"",
        "postgres://postgres:postgres@localhost/app", "https://user:${PASS}@host", "amqp://guest:guest@mq",
        "https://user:password@host",
        "git@github.com:owner/repo.git", "http://localhost:8080/@scope/package", "ssh://git@host:22/a",
        "Authorization: Bearer <token>", "Authorization: Basic authentication is off",
        "a bearer of good news about things",
        "-----BEGIN PRIVATE KEY----- is how a key in PEM begins, and -----END PRIVATE KEY----- how it ends",
        "sk-circle-fade-dot-animation-delay", "risk-assessment-of-the-2024-programme", "npm_config_registry",
        "xoxb-your-token-goes-here", "the prefixes are ghp_, gho_, glpat-, AKIA and AIza", "AKIAIOSFODNN7EXAMPLE",
        "4111 1111 1111 1112", "1234567812345670", "0.4111111111111111", "0,4111111111111111", "4111111111111111.5",
        "1754112345678", "1754112345678901234", "a4111111111111111", "4111111111111111f",
        "call +49 4111 1111 1111 1111",
        "DE89 3704 0044 0532 0130 00", "4111 1111 1111 1111 4111", "4111 1111-1111 1111", "41 11 11 11 11 11 11 11",
        "4006381333931", "01a2b3c4-4111-1111-1111-111111111111",
    ];
    for text in innocent {
        assert_eq!(scan(text), [], "{text}");
        assert!(matches!(redact(text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn overlapping_findings_keep_the_more_specific_rule() {
    let key = ["AKIA", "QX7M2PLK9ZT4WD8V"].concat();
    assert_eq!(redact(&["password", ": ", &key, " and"].concat()), "password: [redacted: AWS access key] and");
    assert_eq!(redact(&["password", ": x1-", &key, "!2 and"].concat()), "password: [redacted: AWS access key] and");
    assert_eq!(redact(&["password", ": ", &key, "!2 and"].concat()), "password: [redacted: AWS access key] and");
    let two = ["the token", " ", &key, ", the password", " = hunter2"].concat();
    assert_eq!(redact(&two), "the token [redacted: AWS access key], the password = [redacted: password]");
}

#[test]
fn a_label_within_a_value_that_is_left_has_its_own_value() {
    let text = ["password: token: ", &RANDOM[..16]].concat();
    assert_eq!(redact(&text), "password: token: [redacted: token]");
}

#[test]
fn a_long_password_is_redacted_to_its_end() {
    let text = ["password", "=", &RANDOM.repeat(20), " then"].concat();
    assert_eq!(redact(&text), "password=[redacted: password] then");
}

#[test]
fn believable_memories_contain_no_secrets() {
    for memory in bench_data::memories(42, 20_000) {
        for text in [Some(&memory.content), memory.context.as_ref()].into_iter().flatten() {
            assert_eq!(scan(text), [], "{text}");
        }
    }
}

#[test]
fn digests_uuids_commit_ids_and_base64_are_left_without_a_label() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut draw = |alphabet: &str, length: usize| -> String {
        (0..length).map(|_| char::from(alphabet.as_bytes()[rng.next_u32() as usize % alphabet.len()])).collect()
    };
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    for _ in 0..1_000 {
        let mut made: Vec<String> = [7, 8, 12, 32, 40, 64].map(|length| draw("0123456789abcdef", length)).into();
        made.push(draw("0123456789ABCDEF", 64));
        made.push([8, 4, 4, 4, 12].map(|length| draw("0123456789abcdef", length)).join("-"));
        made.extend([24, 44, 88].map(|length| draw(&[letters, "+/"].concat(), length) + "=="));
        made.push(draw(&[letters, "-_"].concat(), 43));
        for value in made {
            let text = format!("{value} fixed it: commit {value}, key: {value}, sha256={value} id \"{value}\"");
            assert_eq!(scan(&text), [], "{text}");
        }
    }
}

#[test]
fn the_sources_of_this_repository_contain_no_secrets() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !path.is_symlink() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path).unwrap();
                let found = scan(&text);
                assert!(found.is_empty(), "{}: {found:?}", path.display());
                read += 1;
            }
        }
    }
    assert!(read > 100, "the sources are there");
}

/// Texts of random pieces, among them parts of every sample.
fn jumble(rng: &mut ChaCha8Rng, pieces: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..1 + rng.next_u32() % 12 {
        let piece = &pieces[rng.next_u32() as usize % pieces.len()];
        match rng.next_u32() % 8 {
            0 => text.push_str(&piece[piece.floor_char_boundary(rng.next_u32() as usize % (piece.len() + 1))..]),
            1 => text.push(char::from_u32(rng.next_u32() % 0x250).unwrap_or(' ')),
            2 => write!(text, "{}", rng.next_u64()).unwrap(),
            _ => text.push_str(piece),
        }
    }
    text
}

#[test]
fn a_redacted_text_contains_no_secrets() {
    #[rustfmt::skip]
    let glue = [
        " ", "\n", "\t", "\"", "'", "`", "\\", "\\\"", ":", " = ", "=", ",", ";", ".", "@", "://", "/", "-", "_",
        "(", ")",
        "[", "]", "**", " is ", " for ", "--", "é", "京", "password", "Token", "API_KEY", "secret: ", "0", "4111",
    ];
    let parts = samples().into_iter().flat_map(|Sample(what, before, value, after)| {
        [what.to_owned(), format!("{before}{value}"), before, value, after.to_owned()]
    });
    let pieces: Vec<String> = parts.chain(glue.map(str::to_owned)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut secrets = 0;
    for _ in 0..2_000 {
        let text = jumble(&mut rng, &pieces);
        let found = scan(&text);
        let ends = found.iter().flat_map(|finding| [finding.range.start, finding.range.end]);
        assert!(ends.clone().is_sorted() && ends.clone().all(|end| text.is_char_boundary(end)), "{text:?}: {found:?}");
        let redacted = redact(&text);
        assert_eq!(scan(&redacted), [], "{text:?} became {redacted:?}");
        assert_eq!(redact(&redacted), redacted);
        secrets += found.len();
    }
    assert!(secrets > 1_000, "{secrets} are enough to redact");
}

/// Prints how long a scan takes. With `--release`, 1 MiB without a finding takes about 21 ms.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let memories: String = bench_data::memories(42, 50).map(|memory| memory.content + "\n").collect();
    let text = &memories[..memories.floor_char_boundary(1 << 10)];
    let took = |text: &str, times: u32| {
        let start = Instant::now();
        (0..times).for_each(|_| drop(std::hint::black_box(scan(text))));
        start.elapsed() / times
    };
    eprintln!("the first: {:?}; 1 KiB: {:?}", took(text, 1), took(text, 1_000));
    let begin = ["-----BEGIN ", "PRIVATE KEY-----"].concat();
    for piece in
        [text, "password=", "password='", "token:\\\"", "4111 ", "4", "://a:b", "sk-a1", "password for ", &begin]
    {
        let sizes = [1 << 16, 1 << 18, 1 << 20].map(|size| took(&piece.repeat(size / piece.len()), 1));
        eprintln!("64 KiB, 256 KiB, 1 MiB of {:?}: {sizes:?}", &piece[..piece.len().min(20)]);
        assert!(sizes[2] < sizes[0] * 16 * 4, "linear: {sizes:?}");
    }
}
