//! The terms of texts, and the queries that find them.

use proptest::prelude::*;

use super::super::analysis::identifiers;
use super::*;

fn identifiers_of(text: &str) -> Vec<String> {
    identifiers(&normalise(text)).into_iter().map(str::to_owned).collect()
}

/// Q13.
#[test]
fn words_are_found_by_their_stem() {
    let contents = ["she runs every morning", "the database connection failed", "running is healthy"];
    assert_eq!(found_among(&contents, "run"), [3, 1]);
    assert_eq!(found_among(&contents, "RUNNING"), [3, 1]);
    assert_eq!(found_among(&contents, "databases"), [2]);
    assert_eq!(found_among(&contents, "login security"), [] as [i64; 0]);
}

#[test]
fn an_identifier_is_a_term_whole_and_in_parts() {
    assert_eq!(
        identifiers_of("see `src/main.rs:42`, (snake_case)!"),
        ["main.rs", "main.rs:42", "snake_case", "src/main.rs", "src/main.rs:42"]
            .into_iter()
            .filter(|&name| name != "main.rs:42")
            .collect::<Vec<_>>()
    );
    assert_eq!(
        identifiers_of("foo::bar_baz user@example.org"),
        ["bar_baz", "example.org", "foo::bar_baz", "user@example.org"]
    );
    assert_eq!(
        identifiers_of("engine/src/keywords/mod.rs"),
        ["engine/src/keywords/mod.rs", "keywords/mod.rs", "mod.rs", "src/keywords/mod.rs"]
    );
    assert_eq!(identifiers_of("C++ and C#, v1.2.3; ERR_CONN-42."), ["c#", "c++", "err_conn-42", "v1.2.3"]);
    assert_eq!(identifiers_of("plain words, a stop. And a dash - (so) \"quoted\" :: //"), [] as [&str; 0]);
    assert_eq!(identifiers_of("这是src/main.rs文件"), ["main.rs", "src/main.rs"]);
}

#[test]
fn identifiers_are_found_whole_in_parts_and_in_any_case() {
    let contents = [
        "the entry point is src/main.rs of the server",
        "main thing to remember: rs means reference standard",
        "compile error E0382 means use after move",
        "the service answers ERR_CONN-42 when the peer is gone",
        "call foo::bar before baz",
        "write to user@example.org",
        "the flag snake_case_name is deprecated",
        "the case of the snake with a name",
        "upgrade to v1.2.3 at https://example.org/downloads/latest?os=linux",
    ];
    for (query, first) in [
        ("src/main.rs", 1),
        ("main.rs", 1),
        ("SRC/MAIN.RS", 1),
        ("E0382", 3),
        ("e0382", 3),
        ("ERR_CONN-42", 4),
        ("err_conn-42", 4),
        ("foo::bar", 5),
        ("user@example.org", 6),
        ("snake_case_name", 7),
        ("v1.2.3", 9),
        ("https://example.org/downloads/latest?os=linux", 9),
        ("downloads", 9),
    ] {
        assert_eq!(found_among(&contents, query).first(), Some(&first), "{query}");
    }
    let found = found_among(&contents, "main");
    assert!(found.contains(&1) && found.contains(&2), "{found:?}");
}

#[test]
fn the_exact_identifier_comes_before_its_words() {
    let contents = ["running task running task queue", "running_tasks is a counter of the queue module"];
    assert_eq!(found_among(&contents, "running_tasks"), [2, 1]);
}

#[test]
fn cjk_is_found_by_single_characters_and_pairs() {
    let contents = [
        "用户喜欢深色模式",
        "東京都に住んでいます。コーヒーが好き",
        "사용자는 다크 모드를 선호합니다",
        "プログラミング言語はRustです",
        "色模",
    ];
    assert_eq!(found_among(&contents, "深色"), [1]);
    assert_eq!(found_among(&contents, "深"), [1]);
    assert_eq!(found_among(&contents, "东京"), [] as [i64; 0]);
    assert_eq!(found_among(&contents, "東京"), [2]);
    assert_eq!(found_among(&contents, "コーヒー"), [2]);
    assert_eq!(found_among(&contents, "ｺｰﾋｰ"), [2], "half-width");
    assert_eq!(found_among(&contents, "다크"), [3]);
    assert_eq!(found_among(&contents, "모드"), [3], "without its particle");
    assert_eq!(found_among(&contents, "rust"), [4], "beside Japanese");
    assert_eq!(found_among(&contents, "深色模式")[0], 1);
}

#[test]
fn cjk_terms_are_pairs_and_singles() {
    assert_eq!(words_of("東京都", Singles::All), ["東", "東京", "京", "京都", "都"]);
    assert_eq!(words_of("東京都", Singles::Lone), ["東京", "京都"]);
    assert_eq!(words_of("都 is a 都市", Singles::Lone), ["都", "is", "a", "都市"]);
}

#[test]
fn accents_and_widths_are_folded() {
    let contents = ["Caf\u{e9} Müller near the Straße", "ΑΘΗΝΑ is the capital", "молодой ёж", "５００ＧＢ disk"];
    for query in ["cafe", "cafe\u{301}", "CAFÉ", "ｃａｆｅ", "muller", "MÜLLER", "strasse"] {
        assert_eq!(found_among(&contents, query), [1], "{query}");
    }
    assert_eq!(found_among(&contents, "Αθήνα"), [2]);
    assert_eq!(found_among(&contents, "молодой"), [3]);
    assert_eq!(found_among(&contents, "500gb"), [4]);
    assert_eq!(normalise("İstanbul Rust™ が й"), "istanbul rust  が й");
    assert_eq!(words_of("हिन्दी भाषा", Singles::All), ["हिन्दी", "भाषा"], "vowel signs and viramas belong to their word");
}

#[test]
fn stop_words_count_only_when_there_is_nothing_else() {
    let contents = ["to be or not to be", "what is the password of the router", "cats sleep"];
    assert_eq!(found_among(&contents, "what is the router"), [2]);
    assert_eq!(found_among(&contents, "to be or not to be")[0], 1);
    assert_eq!(found_among(&contents, "the"), [2]);
    assert_eq!(found_among(&contents, "the cats")[..], [3]);
}

/// Q14.
#[test]
fn no_text_is_a_syntax() {
    let contents = ["dogs and cats", "field:value \"quoted\" (grouped)"];
    for nothing in ["", " ", "( \" *", "\"", "()", "***", "-", "+ - && ||", "\u{0}", "\u{301}", "::", "─"] {
        assert_eq!(found_among(&contents, nothing), [] as [i64; 0], "{nothing:?}");
        assert!(KeywordQuery::new(nothing).is_empty(), "{nothing:?}");
    }
    assert_eq!(found_among(&contents, "AND OR NOT ( \" *"), [1], "all stop words, so they are looked for");
    assert_eq!(found_among(&contents, "content:dogs"), [1]);
    assert_eq!(found_among(&contents, "NOT dogs"), [1]);
    assert_eq!(found_among(&contents, "\"quoted"), [2]);
    assert_eq!(found_among(&contents, "(dogs OR grouped) AND [1 TO"), [1, 2]);
}

#[test]
fn very_long_words_and_queries_are_bounded() {
    let long = "x".repeat(100_000);
    let path = "a/b_c.".repeat(50_000);
    let contents = [long.as_str(), path.as_str(), "short"];
    assert_eq!(found_among(&contents, &long), [1]);
    assert_eq!(found_among(&contents, &path), [2]);
    let sentence: String = (0..20_000).map(|number| format!("word{number} ")).collect();
    let query = KeywordQuery::new(&sentence);
    assert_eq!(query.words.len(), 256);
    assert!(query.pairs.len() <= 16);
}

/// R3.
#[test]
fn context_and_tags_are_searched_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = records(&["blue", "green", "red"]);
    all[0].context = Some("asked about the wallpaper in config/ui.toml".to_owned());
    all[1].tags = vec!["wallpaper".to_owned(), "home-office".to_owned()];
    all[2].content = "wallpaper".to_owned();
    let index = index_of(folder.path(), &all);
    let snapshot = index.snapshot().unwrap();
    assert_eq!(ids(snapshot.as_ref(), "wallpapers"), [3, 2, 1], "content before tags before context");
    assert_eq!(ids(snapshot.as_ref(), "ui.toml"), [1]);
    assert_eq!(ids(snapshot.as_ref(), "office"), [2]);
    assert_eq!(ids(snapshot.as_ref(), "home-office"), [2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_text_is_a_sound_record_and_a_sound_query(texts in prop::collection::vec("\\PC{0,60}|[\\s\\S]{0,30}", 12)) {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<Record> = texts.iter().zip(1..).map(|(text, id)| record(id, text)).collect();
        let index = index_of(folder.path(), &all);
        let snapshot = index.snapshot().unwrap();
        for (text, id) in texts.iter().zip(1..) {
            let query = KeywordQuery::new(text);
            let found = snapshot.search(&query, 12, &Filter::default(), &RoaringTreemap::new(), None).unwrap();
            prop_assert_eq!(found.iter().any(|&(hit, _)| hit == RecordId::from(id)), !query.is_empty(), "{:?}", text);
            let ids: Vec<RecordId> = found.iter().map(|&(id, _)| id).collect();
            let scores: Vec<f32> = found.iter().map(|&(_, score)| score).collect();
            let again: Vec<f32> = super::scores_of(&*snapshot, &query, &ids, None).unwrap().into_iter().flatten().collect();
            prop_assert_eq!(scores, again);
        }
    }

    #[test]
    fn composed_and_decomposed_texts_have_the_same_terms(text in "\\PC{0,80}") {
        use unicode_normalization::UnicodeNormalization;
        let composed: String = text.nfc().collect();
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(words_of(&composed, Singles::All), words_of(&decomposed, Singles::All));
        prop_assert_eq!(identifiers_of(&composed), identifiers_of(&decomposed));
    }
}

#[test]
fn a_word_that_no_record_has_finds_those_one_letter_away() {
    let contents = ["the gardener plants tulips", "the dentist has an appointment", "a long list of tulip bulbs"];
    assert_eq!(found_among(&contents, "tullips"), [1, 3]);
    assert_eq!(found_among(&contents, "apointment"), [2]);
    assert_eq!(found_among(&contents, "the dentits and the gardener"), [1, 2]);
    assert_eq!(found_among(&contents, "fulips"), [] as [i64; 0], "the first letter is taken as right");
    assert_eq!(found_among(&contents, "lits"), [] as [i64; 0], "short words are not corrected");
    // What is there is not corrected.
    assert_eq!(found_among(&["a tulip", "a turip"], "turip"), [2]);
}

#[test]
fn a_corrected_word_counts_less_and_singles_nothing_out() {
    let folder = tempfile::tempdir().unwrap();
    let contents = ["the gardener plants tulips", "the dentist has an appointment", "rain in the afternoon"];
    let all = records(&contents);
    let index = index_of(folder.path(), &all[..2]);
    let snapshot = index.snapshot().unwrap();
    let tail = tail_of(&all[2..]);
    let ids: Vec<_> = all.iter().map(|record| record.id).collect();
    let judged = |text: &str| -> Vec<Match> {
        let matches = snapshot.matches(&KeywordQuery::new(text), &ids, Some(&tail)).unwrap();
        matches.into_iter().flatten().collect()
    };
    for (right, typo, at) in [("tulips", "tulpis", 0), ("appointment", "appointmnt", 1), ("afternoon", "aftenoon", 2)] {
        let (right, typo) = (judged(right)[at], judged(typo)[at]);
        assert!((typo.score / right.score - 0.6).abs() < 1e-6, "{typo:?} of {right:?}");
        assert!((0.2..0.6).contains(&typo.share) && right.share == 1.0, "{typo:?}");
        assert!(right.is_singled_out && !typo.is_singled_out);
        let found = search(snapshot.as_ref(), ["tulpis", "appointmnt", "aftenoon"][at], 9, Some(&tail));
        assert_eq!(found, [(ids[at], typo.score)]);
    }
}
