use serde_json::json;

use super::*;

fn server() -> Value {
    json!({ "command": "/opt/a \"b\"/memorist", "args": ["serve"] })
}

fn json_entry() -> Entry {
    Entry::member(&["mcpServers"], "memorist", server())
}

/// Asserts that an inserted entry can be removed again, and that everything else stays byte for byte.
fn assert_reversible(format: Format, text: &str, entry: &Entry) {
    let with = format.insert(text, entry).unwrap_or_else(|refused| panic!("{text:?}: {refused}"));
    assert_eq!(entry.presence(&format.read(&with).unwrap()), Ok(Presence::Same), "{with}");
    assert_eq!(format.remove(&with, entry).unwrap(), text, "{with}");
}

#[test]
fn json_keeps_comments_order_indentation_and_line_ends() {
    for text in [
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\":\"x\"}\n  }\n}\n",
        "{\"mcpServers\":{}}",
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {} // c\r\n\t\t// end\r\n\t},\r\n}",
        "\u{feff}{\n   \"z\": 1, /* b */ \"mcpServers\": {\n      \"a\": {},\n   }\n}",
        "// first\n{\n\t\"mcpServers\": {\n\t\t\"a\": 1.50e3\n\t}\n} // last",
    ] {
        assert_reversible(Format::Json, text, &json_entry());
    }
    let text = "{\r\n  \"mcpServers\": {\r\n  }\r\n}";
    let with = Format::Json.insert(text, &json_entry()).unwrap();
    assert!(!with.replace("\r\n", "").contains('\n'), "one kind of line ends: {with:?}");
}

#[test]
fn a_hook_is_added_to_others_and_taken_out_from_between_them() {
    let hook = |n: u32| Entry::item(&["hooks", "Stop"], json!({ "hooks": [{ "type": "command", "command": n }] }));
    let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"x\": 1 } // theirs\n    ]\n  }\n}\n";
    assert_reversible(Format::Json, text, &hook(1));
    let later = Format::Json.insert(&Format::Json.insert(text, &hook(1)).unwrap(), &hook(2)).unwrap();
    let without = Format::Json.remove(&later, &hook(1)).unwrap();
    assert_eq!(without, Format::Json.insert(text, &hook(2)).unwrap());
}

#[test]
fn null_counts_as_nothing() {
    let hook = Entry::item(&["hooks", "Stop"], json!({ "x": 1 }));
    for text in ["{\"hooks\": null}", "{\"hooks\": {\"Stop\": null}}", "", " \n", "// only a comment\n", "{}"] {
        let with = Format::Json.insert(text, &hook).unwrap();
        assert_eq!(Format::Json.read(&with).unwrap(), json!({ "hooks": { "Stop": [{ "x": 1 }] } }), "{text:?}");
    }
}

#[test]
fn json5_is_read_where_it_is_the_format() {
    let text =
        "// gateway\n{\n  port: 0x1F, name: 'it\\'s',\n  mcp: { servers: {\n      a: { args: ['x',], },\n  }, },\n}\n";
    let entry = Entry::member(&["mcp", "servers"], "memorist", server());
    assert_reversible(Format::Json5, text, &entry);
    assert!(matches!(Format::Json.read(text), Err(Refused::Unreadable(_))));
}

#[test]
fn a_table_of_toml_is_appended_and_cut_out() {
    let entry = Entry::member(&["mcp_servers"], "memorist", server());
    for text in [
        "",
        "model = \"x\" # c\n",
        "# c\r\n[mcp_servers.a]\r\ncommand = 'x'\r\n",
        "[a]\nb = \"\"\"\n[mcp_servers.memorist]\n\"\"\"\n\n# about c\n[[c]]\n",
    ] {
        let with = Format::Toml.insert(text, &entry).unwrap();
        assert_eq!(Format::Toml.remove(&with, &entry).unwrap_or_else(|why| panic!("{why} {with}")), text, "{with}");
        let later = format!("{with}\n# theirs\n[later]\nx = 1\n");
        let without = Format::Toml.remove(&later, &entry).unwrap();
        assert!(without.starts_with(text) && without.ends_with("# theirs\n[later]\nx = 1\n"), "{without}");
        for theirs in ["\n# my servers\n\n[later]\nx = 1\n", "# one\n\n  # two\n", "\n# the end"] {
            let without = Format::Toml.remove(&format!("{with}{theirs}"), &entry).unwrap();
            assert_eq!(without, format!("{text}{theirs}"));
        }
    }
    let no_end = Format::Toml.insert("a = 1", &entry).unwrap();
    assert!(no_end.starts_with("a = 1\n\n[mcp_servers.memorist]\n"), "{no_end}");
    for (text, why) in [
        ("mcp_servers = { a = { command = \"x\" } }\n", Refused::Unsafe),
        ("mcp_servers = []\n", Refused::InTheWay("`mcp_servers` is not an object".into())),
    ] {
        assert_eq!(Format::Toml.insert(text, &entry), Err(why), "{text}");
    }
}

#[test]
fn yaml_keeps_its_lines() {
    let member = Entry::member(
        &["extensions"],
        "memorist",
        json!({ "enabled": true, "args": ["serve"], "envs": {}, "n": { "m": 1 } }),
    );
    for text in [
        "# c\nGOOSE_MODEL: x\nextensions:\n    # theirs\n    a:\n        enabled: true # yes\n    b: {}\nlast: 1\n",
        "extensions:\n  a: 1\r\n",
        "extensions: {}\nx: 1\n",
    ] {
        assert_reversible(Format::Yaml, text, &member);
    }
    let item = Entry::item(&["mcpServers"], json!({ "name": "memorist", "command": "/m x", "args": ["serve"] }));
    for text in [
        "name: c\nmcpServers:\n- name: a\n  command: x\n# end\n",
        "mcpServers:\n    # theirs\n    - name: a\n    - name: b\nmodels: []\n",
        "mcpServers: [] # none\n",
    ] {
        assert_reversible(Format::Yaml, text, &item);
    }
    let made = Format::Yaml.insert("a: 1", &member).unwrap();
    assert!(made.starts_with("a: 1\nextensions:\n  memorist:\n    enabled: true\n"), "{made}");
    let without = Format::Yaml.remove(&made, &member).unwrap();
    assert_eq!(without, "a: 1\nextensions: {}\n");
    assert_eq!(Format::Yaml.remove(&without, &Entry::member(&[], "extensions", json!({}))).unwrap(), "a: 1\n");
    for flow in
        ["extensions: { a: 1 }\n", "extensions: &x\n  a: 1\n", "a: 1\n...\n", "\"extensions\":\n  a: 1\n", "{ a: 1 }\n"]
    {
        assert_eq!(Format::Yaml.insert(flow, &member), Err(Refused::Unsafe), "{flow}");
    }
}

#[test]
fn a_text_that_is_no_valid_object_is_refused() {
    let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = deep.as_str();
    let deep_value = &deep[4..];
    let deep_yaml = &deep.replace(" =", ":");
    let blocks: &str = &(0..5_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<String>();
    for (format, texts) in [
        (Format::Json, vec!["{", "{\"a\": 1", "{\"a\" 1}", "nonsense", "{\"a\":\0}", "{} {}", "{'a': 1}", deep_value]),
        (Format::Json5, vec!["{a: 'x}", "{a: 1 b: 2}", deep_value]),
        (Format::Toml, vec!["a = ", "a = 1\na = 2", "[a\n", "\0", deep]),
        (Format::Yaml, vec!["a: [", "a: 1\na: 2", "a: 1\n---\nb: 2\n", "a: \"x", "\0", deep_yaml, blocks]),
    ] {
        for text in texts {
            let short = &text[..text.len().min(20)];
            assert!(matches!(format.read(text), Err(Refused::Unreadable(_))), "{format:?} {short:?}");
            assert!(format.insert(text, &json_entry()).is_err(), "{format:?} {short:?}");
        }
    }
    for (format, text) in [(Format::Json, "[]"), (Format::Json, "7"), (Format::Yaml, "- a\n"), (Format::Yaml, "text")] {
        assert!(matches!(format.read(text), Err(Refused::InTheWay(_))), "{format:?} {text:?}");
    }
}

#[test]
fn a_value_in_the_way_is_named() {
    let in_the_way = |text: &str| match Format::Json.insert(text, &json_entry()) {
        Err(Refused::InTheWay(why)) => why,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(in_the_way("{\"mcpServers\": []}"), "`mcpServers` is not an object");
    assert_eq!(in_the_way("{\"mcpServers\": {\"memorist\": 1}}"), "there is a `mcpServers.memorist` already");
    assert_eq!(in_the_way("{\"mcpServers\": {}, \"mcpServers\": {}}"), "`mcpServers` stands in it twice");
    let hook = Entry::item(&["hooks", "Stop"], json!({ "x": 1 }));
    let refused = Format::Json.insert("{\"hooks\": {\"Stop\": {}}}", &hook);
    assert_eq!(refused, Err(Refused::InTheWay("`hooks.Stop` is not a list".into())));
}

#[test]
fn an_entry_that_was_changed_is_not_removed() {
    let text = "{\"mcpServers\": {\"memorist\": {\"command\": \"/other\"}}}";
    assert!(matches!(Format::Json.remove(text, &json_entry()), Err(Refused::InTheWay(_))));
    let item = Entry::item(&["mcpServers"], json!({ "name": "memorist" }));
    let read = json!({ "mcpServers": [{ "name": "memorist", "command": "x" }] });
    assert_eq!(item.presence(&read), Ok(Presence::Other(json!({ "name": "memorist", "command": "x" }))));
}

/// An edit that does more than it should is found, whatever it is.
#[test]
fn an_edit_is_checked() {
    let text = "{\"a\": 1, \"mcpServers\": {}}";
    let right = Format::Json.insert(text, &json_entry()).unwrap();
    for wrong in [right.replace("1", "2"), "{}".to_owned(), "{".to_owned(), text.to_owned()] {
        let put = |entry: &Entry, read: &mut Value| entry.put(read, false);
        let changed = Format::Json.change(text, &json_entry(), |_| Ok(wrong.clone()), put);
        assert_eq!(changed, Err(Refused::Unsafe), "{wrong}");
    }
}

#[test]
fn blank_lines_stay_where_nothing_is_changed() {
    for lines in [1, 8, 9, 10, 500] {
        let blank = "\n".repeat(lines);
        for text in [
            format!("{{{blank}  \"z\": \"ä\",{blank}  \"mcpServers\": {{\n    \"a\": {{}}\n  }}{blank}}}{blank}"),
            format!(
                "/* {blank} */ {{{blank}  \"mcpServers\": {{\n    \"ü\": {{}}\n  }}{blank}, \"z\": 1}} // x{blank}"
            ),
        ] {
            assert_reversible(Format::Json, &text, &json_entry());
        }
    }
}
