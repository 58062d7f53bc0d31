//! The promises, on notes made at random.

use std::collections::HashSet;
use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::tokens::Estimate;

/// A word is a token.
struct WordCount;

impl TokenCount for WordCount {
    fn count(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

fn cut(text: &str, kind: NoteKind, cuts: &HashSet<u64>) -> Note {
    chunk(text, kind, &Limits::default(), &WordCount, cuts)
}

fn markdown(text: &str) -> Vec<Chunk> {
    cut(text, NoteKind::Markdown, &HashSet::new()).chunks
}

fn starts(note: &Note) -> HashSet<u64> {
    note.chunks.iter().map(|chunk| chunk.start).collect()
}

/// Words that are nowhere else, in sentences of twelve.
fn words(range: Range<usize>) -> String {
    range
        .map(|n| if n % 12 == 11 { format!("W{n}. ") } else { format!("W{n} ") })
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// Checks the promises about every note, whatever its text.
#[track_caller]
fn check(text: &str, note: &Note, limits: &Limits, tokens: &dyn TokenCount) {
    let lines: Vec<&str> = text.split('\n').collect();
    for chunk in &note.chunks {
        assert!(tokens.count(&chunk.text) <= limits.tokens, "{} tokens: {}", tokens.count(&chunk.text), chunk.text);
        assert!(!chunk.text.trim().is_empty());
        let (first, last) = chunk.lines;
        let place = lines[first as usize - 1..last as usize].join("\n");
        assert!(place.contains(&chunk.text), "lines {first} to {last} are {place:?}, not {:?}", chunk.text);
        assert_eq!(chunk.text.matches('\n').count() as u64, last - first);
    }
}

/// Without an overlap, the chunks are the note.
#[track_caller]
fn check_nothing_is_left_out(text: &str, kind: NoteKind, tokens: usize) {
    let limits = Limits { tokens, overlap: 0 };
    let note = chunk(text, kind, &limits, &Estimate, &HashSet::new());
    let Some(first) = note.chunks.first() else { return };
    let mut rest = text.split_once(first.text.trim_start()).unwrap().1;
    for chunk in &note.chunks[1..] {
        let next = rest.trim_start().strip_prefix(chunk.text.trim_start());
        rest = next.unwrap_or_else(|| panic!("{:?} does not go on {rest:?}", chunk.text));
    }
    assert_eq!(rest.trim(), "");
}

#[test]
fn small_sections_share_a_chunk_until_it_is_large_enough() {
    let text = format!("# A\n\none\n\n## B\n\ntwo\n\n## C\n\n{}\n\n### D\n\nthree\n\n## E\n\nfour\n", words(0..110));
    let chunks = markdown(&text);
    assert_eq!(chunks.len(), 2, "{chunks:#?}");
    assert!(chunks[0].text.starts_with("# A\n") && chunks[0].text.ends_with("### D\n\nthree"), "{}", chunks[0].text);
    assert_eq!(chunks[1].text, "## E\n\nfour");
    assert_eq!((&chunks[1].headings[..], chunks[1].lines), (&["A".to_owned()][..], (17, 19)));
}

#[test]
fn a_chunk_knows_the_headings_above_it() {
    let text = format!(
        "Top\n===\n\nx\n\n## *B* `c`\n\n{}\n\n> ### no heading\n\n{}\n\n# Z\n\n{}\n\n{}",
        words(0..250),
        words(300..500),
        words(600..850),
        words(900..1100)
    );
    let chunks = markdown(&text);
    let paths: Vec<String> = chunks.iter().map(|chunk| chunk.headings.join("/")).collect();
    assert_eq!(paths, ["", "Top/B c", "", "Z"], "{chunks:#?}");
    assert!(chunks[0].text.ends_with("> ### no heading"));
    assert_eq!(cut(&text, NoteKind::Markdown, &HashSet::new()).title.as_deref(), Some("Top"));
}

#[test]
fn a_heading_stays_with_what_is_below_it() {
    let chunks = markdown(&format!("{}\n\n# H\n\n{}", words(0..95), words(100..405)));
    assert_eq!(chunks.len(), 2);
    assert!(chunks[1].text.starts_with("# H") && !chunks[0].text.contains("# H"));
}

#[test]
fn chunks_overlap_by_whole_sentences_but_not_across_headings() {
    let text = format!("{}\n\n{}\n\n# H\n\nend", words(0..250), words(300..500));
    let chunks = markdown(&text);
    assert_eq!(chunks.len(), 3);
    assert!(chunks[0].text.starts_with("W0 ") && chunks[0].text.ends_with("W249"));
    assert!(
        chunks[1].text.starts_with("W180 W181 "),
        "six sentences of twelve words, and the rest: {}",
        chunks[1].text
    );
    assert_eq!((chunks[1].lines, &chunks[2].text[..]), ((1, 3), "# H\n\nend"));
    let text = format!("{}\n\n# H\n\n{}\n\n{}", words(0..48), words(60..80), words(100..440));
    assert!(markdown(&text)[1].text.starts_with("# H\n\nW60 "), "nothing from above a heading");
    let lines = (0..200).map(|n| format!("- a b c item{n}\n")).collect::<String>();
    let chunks = markdown(&lines);
    assert!(chunks[1].text.starts_with("- a b c item"), "whole lines: {}", chunks[1].text);
}

#[test]
fn a_fence_that_fits_is_whole_and_another_is_cut_at_lines() {
    let code: String = (0..60).map(|n| format!("  let a{n} = b{n} ;\n\n")).collect();
    let text =
        format!("{}\n\n- item\n  ```rust\n{code}  ```\n  {}\n\n{}", words(0..150), words(600..800), words(200..300));
    let chunks = markdown(&text);
    let whole: Vec<&Chunk> = chunks.iter().filter(|chunk| chunk.text.contains("```")).collect();
    assert!(whole.iter().all(|chunk| chunk.text.matches("```").count() == 2), "{chunks:#?}");
    assert!(!whole.is_empty() && chunks.iter().all(|chunk| !chunk.text.starts_with("  let")));

    let long = format!("```\n{}```\n", code.repeat(4));
    let chunks = markdown(&long);
    assert!(chunks.len() > 2);
    for chunk in &chunks {
        assert!(chunk.text.lines().all(|line| long.lines().any(|whole| whole == line)), "{}", chunk.text);
    }
}

#[test]
fn a_long_line_is_cut_at_sentences_and_a_long_sentence_at_words() {
    let chunks = markdown(&words(0..1000));
    assert!(chunks[..chunks.len() - 1].iter().all(|chunk| chunk.text.ends_with('.')), "{chunks:#?}");
    let endless: String = (0..1000).map(|n| format!("w{n} ")).collect();
    let chunks = markdown(&endless);
    let known: HashSet<String> = endless.split(' ').map(str::to_owned).collect();
    assert!(chunks.len() > 2 && chunks.iter().all(|chunk| chunk.text.split(' ').all(|word| known.contains(word))));
    let chinese: String = (0..400).map(|n| format!("\u{8fd9}\u{662f}\u{7b2c}{n}\u{53e5}\u{3002}")).collect();
    let chunks = chunk(&chinese, NoteKind::Text, &Limits::default(), &Estimate, &HashSet::new()).chunks;
    assert!(chunks.len() > 2 && chunks.iter().all(|chunk| chunk.text.ends_with('\u{3002}')), "{chunks:#?}");
}

#[test]
fn front_matter_is_no_text_but_its_lines_count() {
    let note = cut("---\ntags: [a, b]\ntitle: T\n---\n\n# H\n\nx\n", NoteKind::Markdown, &HashSet::new());
    assert_eq!((note.title.as_deref(), &note.tags[..]), (Some("T"), &["a".to_owned(), "b".to_owned()][..]));
    assert_eq!((&note.chunks[0].text[..], note.chunks[0].lines, note.chunks.len()), ("# H\n\nx", (6, 8), 1));
    assert!(markdown("---\ntitle: T\n---\n").is_empty() && markdown("").is_empty() && markdown("\n \n").is_empty());
}

#[test]
fn org_has_a_title_headings_and_blocks() {
    let code = "* no heading\n\nx\n".repeat(40);
    let text = format!(
        "#+TITLE: Log\n#+FILETAGS: :a:b:\n\n* One :tag:\n{}\n\n** Two\n#+BEGIN_SRC sh\n{code}#+end_src\n\n- {}\n- {}\n",
        words(0..120),
        words(200..290),
        words(300..390)
    );
    let note = cut(&text, NoteKind::Org, &HashSet::new());
    assert_eq!((note.title.as_deref(), &note.tags[..]), (Some("Log"), &["a".to_owned(), "b".to_owned()][..]));
    assert!(note.chunks[0].text.starts_with("* One"));
    assert!(note.chunks.iter().all(|chunk| chunk.text.contains("BEGIN_SRC") == chunk.text.contains("end_src")));
    assert_eq!(note.chunks.last().unwrap().headings, ["One", "Two"]);
    let open = cut("#+BEGIN_SRC\n* heading\n\ntext\n", NoteKind::Org, &HashSet::new());
    assert_eq!(open.chunks.len(), 1);
}

#[test]
fn equal_blocks_have_their_own_marks() {
    let text = "same words in each of these blocks\n\n".repeat(300);
    let note = cut(&text, NoteKind::Text, &HashSet::new());
    assert_eq!(starts(&note).len(), note.chunks.len());
    assert_eq!(cut(&text, NoteKind::Text, &starts(&note)), note);
}

/// A block of a note: its kind, its length, and a number that makes it unlike all others.
type Spec = (u8, usize, usize);

fn block((kind, size, seed): Spec) -> String {
    let word = |n: usize| format!("w{seed}_{n}");
    let prose = |count: usize| {
        (0..count).map(|n| word(n) + if n % 9 == 8 { ". " } else { " " }).collect::<String>().trim_end().to_owned()
    };
    match kind {
        0 => format!("# {}", word(0)),
        1 => format!("## {} {}", word(0), word(1)),
        2 => format!("### {}", word(0)),
        3 => format!("```\n{}\n```", (0..size / 3).map(|n| format!("{} = 1;\n", word(n))).collect::<String>()),
        4 => (0..size / 4 + 1).map(|n| format!("- {} is b", word(n))).collect::<Vec<_>>().join("\n"),
        5 => format!(
            "| a | b |\n|---|---|\n{}",
            (0..size / 5).map(|n| format!("| {} | x |\n", word(n))).collect::<String>()
        ),
        6 => prose(size * 6),
        _ => prose(size),
    }
}

fn note_of(specs: &[Spec]) -> String {
    specs.iter().map(|spec| block(*spec)).collect::<Vec<_>>().join("\n\n") + "\n"
}

fn spec() -> impl Strategy<Value = (u8, usize)> {
    (0u8..12, 1usize..140)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_time: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// An edit changes its chunk, the one behind by what it repeats, and one more where a chunk is cut in two. If it is at
    /// the beginning of a chunk, that cut is lost: then the one before takes something of it.
    #[test]
    fn an_edit_of_one_block_leaves_all_other_chunks(
        specs in proptest::collection::vec(spec(), 1..120),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..3, 7u8..12, 1usize..140), 1..12),
    ) {
        let mut specs: Vec<Spec> = specs.into_iter().enumerate().map(|(seed, (kind, size))| (kind, size, seed)).collect();
        let text = note_of(&specs);
        let mut note = cut(&text, NoteKind::Markdown, &HashSet::new());
        check(&text, &note, &Limits::default(), &WordCount);
        for (seed, (index, what, kind, size)) in (1000..).zip(edits) {
            let at = index.index(specs.len());
            match what {
                0 if specs.len() > 1 => drop(specs.remove(at)),
                1 => specs.insert(at, (kind, size, seed)),
                _ if specs[at].0 < 7 => continue,
                _ => specs[at] = (kind, size, seed),
            }
            let text = note_of(&specs);
            let before: HashSet<&str> = note.chunks.iter().map(|chunk| &chunk.text[..]).collect();
            let after = cut(&text, NoteKind::Markdown, &starts(&note));
            check(&text, &after, &Limits::default(), &WordCount);
            let new: Vec<&str> = after.chunks.iter().map(|chunk| &chunk.text[..]).filter(|text| !before.contains(text)).collect();
            prop_assert!(new.len() <= 4, "{} of {} chunks are new: {new:#?}", new.len(), after.chunks.len());
            prop_assert_eq!(&cut(&text, NoteKind::Markdown, &starts(&after)), &after, "the same again");
            note = after;
        }
        let most = note.chunks.len() as f64 * 400.0;
        let fill = WordCount.count(&note_of(&specs)) as f64 / most;
        prop_assert!(note.chunks.len() < 4 || fill > 0.15, "{} chunks are {fill:.2} full", note.chunks.len());
    }

    #[test]
    fn any_text_is_cut_within_the_limits(
        pieces in proptest::collection::vec(prop_oneof![
            "[a-z]{1,9}[ .]", "[\u{4e00}-\u{4e20}\u{3042}-\u{3060}]{1,30}[\u{3002}\u{ff01}]?", "\\PC{0,20}", "[a-zA-Z0-9+/]{200,900}",
            "(\n\n|\n|\r\n|  \n)(# |- |> |```\n|~~~\n|\\* |1\\. |\\|a\\|\n|    |---\n|<div>\n|#\\+BEGIN_X\n|#\\+END_X\n|\\[a\\]: b\n|\\[\\^1\\]: x\n)?",
            "[ \n]{50,300}", any::<String>(),
        ], 0..200),
        kind in proptest::sample::select(vec![NoteKind::Markdown, NoteKind::Text, NoteKind::Org, NoteKind::AsciiDoc]),
        tokens in 20usize..120,
    ) {
        let text = pieces.concat();
        let limits = Limits { tokens, overlap: tokens / 5 };
        let note = chunk(&text, kind, &limits, &Estimate, &HashSet::new());
        check(&text, &note, &limits, &Estimate);
        check_nothing_is_left_out(&text, kind, tokens);
        prop_assert_eq!(&chunk(&text, kind, &limits, &Estimate, &starts(&note)), &note);
    }
}
