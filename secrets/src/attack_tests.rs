//! Secrets that the guard missed, and harmless texts that it changed. The texts are assembled from pieces, so that no
//! scanner of sources finds them here.

use super::*;

const RANDOM: &str = "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW";

/// Item 11: each named way to write a secret is found, with its value and nothing else.
#[test]
fn secrets_in_commands_headers_cookies_and_pairs_are_found() {
    #[rustfmt::skip]
    let named: &[(&str, &str, &str)] = &[
        ("curl -u admin:", "S3cretPass1", ""),
        ("curl --user admin:", "S3cretPass1", " https://a.local"),
        ("http -a bob:", "S3cretPass1", " a.local"),
        ("mysql -p", "S3cretPass1", " shop"),
        ("mysql --password=", "S3cretPass1", " shop"),
        ("psql postgres://u:", "S3cretPass1", "@db/shop"),
        ("mongosh -u bob -p ", "S3cretPass1", " shop"),
        ("sqlcmd -U sa -P ", "S3cretPass1", " -Q x"),
        ("ldapsearch -x -w ", "S3cretPass1", " -b dc=a"),
        ("az login -u bob -p ", "S3cretPass1", ""),
        ("password: ", "S3cretPass1", ""),
        ("auth: ", RANDOM, ""),
        ("auth = ", RANDOM, ""),
        ("\"auth\": \"", RANDOM, "\""),
        ("oauth: ", RANDOM, ""),
        ("oauth token: ", RANDOM, ""),
        ("Authorization: ", RANDOM, ""),
        ("credential: ", RANDOM, ""),
        ("credentials = ", RANDOM, ""),
        ("sessionid=", RANDOM, ""),
        ("JSESSIONID=", RANDOM, "; path=/"),
        ("Cookie: sessionid=", RANDOM, ""),
        ("user/pass = admin/", "S3cretPass1", ""),
        ("user / password: admin / ", "S3cretPass1", " for now"),
        ("login:pw = admin:", "S3cretPass1", ", and"),
    ];
    for (before, value, after) in named {
        let text = [*before, value, after].concat();
        let found: Vec<_> = scan(&text).into_iter().map(|finding| finding.range).collect();
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].end, before.len() + value.len(), "{text}");
        assert!(!redact(&text).contains(value), "{text}");
    }
}

/// Item 11: their harmless relatives are left as they are.
#[test]
fn item_11_a_password_manager_an_id_and_a_port_are_left() {
    let card = concat!("41111111", "11111111");
    #[rustfmt::skip]
    let mut harmless: Vec<String> = [
        "when 1Password is unlocked", "1Password is online", "work goes on while 1Password is online, else not",
        "auth: jwt", "auth: none", "auth = OAuth2PasswordBearer(url)", "oauth: github", "credentials: \"same-origin\"",
        "credential helper: store", "session id: 7d793037-a076-4b0c-9e3d-0c6a3c1b2f11", "sessionid=$SESSION",
        "user/pass = admin/admin", "user/pass: see the vault", "docker run --name mysql -p3306:3306 mysql",
        "docker run --name mongo -p 27017:27017 mongo", "the image app/auth:3f2a9c1b7d8e",
    ].map(str::to_owned).into();
    #[rustfmt::skip]
    harmless.extend([
        ["https://a.example/watch/", card, ""], ["https://a.example/?id=", card, "&x=1"], ["/data/", card, "/meta"],
        ["", card, ".jpg"], ["order id ", card, ""], ["\"userId\": \"", card, "\""], ["issue #", card, ""],
    ].map(|pieces| pieces.concat()));
    for text in harmless {
        assert_eq!(scan(&text), [], "{text}");
    }
    let paid = ["https://a.example/?card=", card].concat();
    assert_eq!(scan(&paid).len(), 1, "{paid}");
}
