use serde_json::json;

use super::*;
use crate::types::Kind;

/// A password that no scanner should take for one of ours.
fn password() -> String {
    ["Tr0ub4dor", "&3x"].concat()
}

fn token() -> String {
    ["ghp", "_Zk3mQx9LpB7vZk3mQx9LpB7vZk3mQx9LpB7v"].concat()
}

/// Bodies with a secret, and the same without it, if it can be redacted.
fn secret_bodies() -> Vec<(Value, Option<Value>)> {
    let (secret, taken) = (password(), "[redacted: password]");
    vec![
        (json!({ "card": 4_111_111_111_111_111_i64 }), Some(json!({ "card": "[redacted: card number]" }))),
        (
            json!({ "numbers": [1, [4_111_111_111_111_111_i64]] }),
            Some(json!({ "numbers": [1, ["[redacted: card number]"]] })),
        ),
        (json!({ "password": 12_345_678 }), Some(json!({ "password": taken }))),
        (json!({ "password": [&secret, [&secret]] }), Some(json!({ "password": [taken, [taken]] }))),
        (json!({ "dbPasswords": [&secret] }), Some(json!({ "dbPasswords": [taken] }))),
        (
            json!({ "passwords": { "staging": { "old": &secret } } }),
            Some(json!({ "passwords": { "staging": { "old": taken } } })),
        ),
        (json!({ "likes": { token(): true } }), None),
    ]
}

/// D5: anywhere in a body.
#[test]
fn a_secret_in_a_body_is_found_in_lists_numbers_and_names() {
    for (body, without) in secret_bodies() {
        let update = RecordUpdate { body: Some(Some(body.clone())), ..Default::default() };
        let new = NewRecord { kind: Kind::Profile, body: Some(body.clone()), ..NewRecord::new("a profile") };
        let messages = [
            Sensitive::Refuse.update(&update).unwrap_err().to_string(),
            Sensitive::Refuse.new_record(&new).unwrap_err().to_string(),
        ];
        for message in messages {
            assert!(
                message.starts_with("body: contains a secret (") && !message.contains("Tr0ub"),
                "{body}: {message}"
            );
        }
        let redacted = Sensitive::Redact.new_record(&new);
        match without {
            Some(without) => assert_eq!(redacted.unwrap().body.as_ref(), Some(&without), "{body}"),
            None => {
                let messages = [redacted.unwrap_err(), Sensitive::Redact.update(&update).unwrap_err()];
                assert!(
                    messages.iter().all(|message| message.to_string().contains("cannot be redacted there")),
                    "{messages:?}"
                );
            }
        }
    }
}

/// D5: harmless values are kept.
#[test]
fn a_harmless_value_near_a_label_is_kept() {
    for body in [
        json!({ "tokens": { "prompt": 123_456, "completion": 4_096 }, "max_tokens": 128_000 }),
        json!({ "password": { "min_length": 12, "changed_at": 1_700_000_000_000_i64, "until": "2026-03-01T10:00:00Z" } }),
        json!({ "password": { "type": "string", "description": "The password of the user", "minLength": 8 } }),
        json!({ "passwords": ["rotate them monthly", "kept in the vault"], "secrets": ["vault", "sops"] }),
        json!({ "secret": false, "password": null, "order": 4_111_111_111_111_112_i64 }),
        json!({ "parameters": { "properties": { "api_key": { "type": "string", "pattern": "^[A-Za-z0-9]{8,}$" } } } }),
    ] {
        let new = NewRecord { kind: Kind::Profile, body: Some(body.clone()), ..NewRecord::new("a profile") };
        for sensitive in [Sensitive::Refuse, Sensitive::Redact] {
            let kept = sensitive.new_record(&new).unwrap_or_else(|error| panic!("{body}: {error}"));
            assert!(matches!(kept, Cow::Borrowed(_)), "{body}");
        }
    }
}

/// D5: a title and a description that reveal it together.
#[test]
fn a_secret_split_over_body_fields_is_rejected() {
    let body = json!({ "title": "Production DB password", "description": format!("is {}", password()) });
    let own_words = NewRecord { kind: Kind::Decision, body: Some(body.clone()), ..NewRecord::new("how to log in") };
    let rendered = NewRecord::of_body(Kind::Decision, body).unwrap();
    for sensitive in [Sensitive::Refuse, Sensitive::Redact] {
        for new in [&own_words, &rendered] {
            let message = sensitive.new_record(new).unwrap_err().to_string();
            assert!(message.contains("contains a secret (password)") && !message.contains("Tr0ub"), "{message}");
        }
    }
}

/// D5: every stored text of a memory is scanned, on every way in, and no error shows the secret.
#[test]
fn a_secret_is_found_in_every_text_that_is_stored() {
    let secret = format!("the password is {}", password());
    let new = NewRecord::new("a memory");
    let texts: [(&str, NewRecord); 8] = [
        ("content", NewRecord { content: secret.clone(), ..new.clone() }),
        ("context", NewRecord { context: Some(secret.clone()), ..new.clone() }),
        ("source", NewRecord { source: secret.clone(), ..new.clone() }),
        ("session", NewRecord { session: Some(secret.clone()), ..new.clone() }),
        ("tags", NewRecord { tags: vec!["fine".into(), secret.clone()], ..new.clone() }),
        ("body", NewRecord { kind: Kind::Profile, body: Some(json!({ "name": &secret })), ..new.clone() }),
        ("agent", NewRecord { scope: Scope { agent: Some(secret.clone()), project: None }, ..new.clone() }),
        ("project", NewRecord { scope: Scope { agent: None, project: Some(secret.clone()) }, ..new.clone() }),
    ];
    for (field, new) in texts {
        let earlier =
            Earlier { version: 1, since: 0, replaced: Replaced { at: 1, reason: String::new() }, text: new.clone() };
        let messages = [
            Sensitive::Refuse.new_record(&new).unwrap_err().to_string(),
            Sensitive::Refuse.earlier(&earlier).unwrap_err().to_string(),
        ];
        assert!(messages[0].starts_with(&format!("{field}: contains a secret (password)")), "{messages:?}");
        assert!(
            messages[1].contains(field) && messages.iter().all(|message| !message.contains("Tr0ub")),
            "{messages:?}"
        );
        // A name cannot be redacted: the memory would be another's.
        let is_name = ["agent", "project"].contains(&field);
        match Sensitive::Redact.new_record(&new) {
            Ok(kept) => assert!(!is_name && !format!("{kept:?}").contains("Tr0ub"), "{kept:?}"),
            Err(error) => assert!(is_name && error.to_string().contains("choose another name"), "{error}"),
        }
    }
    assert!(Sensitive::Refuse.reason(&secret).is_err());
}

#[test]
fn a_logged_query_is_short_and_contains_no_secret() {
    assert_eq!(logged_query("which theme does the user like"), "which theme does the user like");
    let pasted = logged_query(concat!("pass", "word: Tr0ub4dor&3 and ünïcödé"));
    assert!(pasted.starts_with("password: [redacted") && pasted.ends_with("ünïcödé"), "{pasted}");
    assert_eq!(logged_query(&"é".repeat(10_000)).len(), 1 << 10);
    assert_eq!(logged_query("a\0b"), "a b", "what an export has can be imported");
    assert_eq!(logged_query(&pasted), pasted);
}
