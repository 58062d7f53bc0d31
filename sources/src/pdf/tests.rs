//! PDFs of `tests/corpus/pdf`, which another program made, and some that are made here.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hayro_font::kurbo::Point;
use proptest::prelude::*;

use super::layout::{Drawn, Layout};
use super::line::TextLine;
use super::*;
use crate::formats::corpus as mutations;

fn corpus(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/pdf")
}

/// A PDF of these objects, from number 1 on. The first is its catalog.
fn made(objects: &[&str]) -> Vec<u8> {
    let (mut pdf, mut places) = ("%PDF-1.7\n".to_owned(), String::new());
    for (object, number) in objects.iter().zip(1..) {
        writeln!(places, "{:010} 00000 n ", pdf.len()).unwrap();
        writeln!(pdf, "{number} 0 obj\n{object}\nendobj").unwrap();
    }
    let (start, size) = (pdf.len(), objects.len() + 1);
    writeln!(pdf, "xref\n0 {size}\n0000000000 65535 f \n{places}trailer\n<</Size {size}/Root 1 0 R>>").unwrap();
    writeln!(pdf, "startxref\n{start}\n%%EOF").unwrap();
    pdf.into_bytes()
}

/// A page that draws this, with Helvetica as /F.
fn page(content: &str) -> Vec<u8> {
    let stream = format!("<</Length {}>>stream\n{content}\nendstream", content.len());
    made(&[
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>/Properties<</P<</ActualText(named)>>>>>>>>",
        &stream,
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>/Length 25>>stream\n/X Do /X Do BT (a) Tj ET \nendstream",
    ])
}

fn text(content: &str) -> String {
    read(page(content)).unwrap().pages.concat()
}

/// 44.11: the text of each page is as another program has written it: words, lines, paragraphs.
#[test]
fn the_corpus_says_what_it_should() {
    for (name, title) in [
        ("letters", Some("The launch plan")),
        ("columns", None),
        ("restricted", None),
        ("right-to-left", None),
        ("points", None),
    ] {
        let text = read(corpus(&format!("{name}.pdf"))).unwrap();
        let expected = fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
        assert_eq!(text.pages.join("\n--- page\n"), expected.trim_end(), "{name}");
        assert_eq!(text.title.as_deref(), title, "{name}");
    }
}

/// 44.11: a PDF without text says why.
#[test]
fn a_pdf_without_text_says_why() {
    assert_eq!(read(corpus("locked.pdf")), Err(NoPdfText::Encrypted));
    assert_eq!(read(corpus("scan.pdf")), Err(NoPdfText::OnlyImages));
    assert_eq!(read(page("0 0 10 10 re f")), Err(NoPdfText::OnlyImages));
    for none in [&b""[..], b"%PDF-1.7\n", b"# A note\n\nwith text", &[0; 1000], &corpus("letters.pdf")[..40]] {
        assert_eq!(read(none.to_vec()), Err(NoPdfText::Damaged), "{}", none.len());
    }
    // A font of which nothing says what its glyphs are.
    let font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
    let unknown = b"<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/CIDSystemInfo<</Ordering(Identity)>>>>]>>";
    let pdf = page("BT /F 12 Tf 50 700 Td (abcd) Tj ET");
    let at = memchr::memmem::find(&pdf, font).unwrap();
    let pdf = [&pdf[..at], unknown, &pdf[at + font.len()..]].concat();
    assert_eq!(read(pdf), Err(NoPdfText::UnknownLetters));
}

/// 44.11: places say what is a word, a line and a paragraph, whatever the operators are.
#[test]
fn places_make_words_lines_and_paragraphs() {
    for (content, expected) in [
        (
            "BT /F 12 Tf 50 700 Td (one) Tj 40 0 Td (two) Tj 0 -14 Td (three) Tj 0 -40 Td (four) Tj ET",
            "one two\nthree\n\nfour",
        ),
        ("BT /F 12 Tf 50 700 Td [(wo) 20 (rd) -400 (next)] TJ ET", "word next"),
        ("BT /F 12 Tf 14 TL 50 700 Td (a) Tj T* (b) Tj (c) ' 1 0 (d e) \" ET", "a\nb\nc\nd e"),
        ("BT /F 1 Tf 12 0 0 12 50 700 Tm (big) Tj 12 0 0 12 50 686 Tm (low) Tj ET", "big\nlow"),
        ("q 2 0 0 2 10 10 cm BT /F 6 Tf 5 Tr 50 300 Td (in) Tj ET Q BT /F 12 Tf 139 610 Td (side) Tj ET", "in side"),
        // Drawn twice, it is bold. A word that is broken goes on with a small letter.
        ("BT /F 12 Tf 50 700 Td (B) Tj ET BT /F 12 Tf 50.4 700 Td (B) Tj ET", "B"),
        (
            "BT /F 12 Tf 50 700 Td (some-) Tj 0 -14 Td (thing) Tj 0 -14 Td (well-) Tj 0 -14 Td (Known) Tj ET",
            "something\nwell-\nKnown",
        ),
        ("BT /F 12 Tf 3 Tr 50 700 Td (unseen layer of a scan) Tj ET", "unseen layer of a scan"),
        ("BT /G 12 Tf 50 700 Td (no font) Tj ET", "no font"),
        ("BT /F 0 Tf 50 700 Td (small) Tj ET BT /F 1e39 Tf (x) Tj ET", "small\n\nx"),
    ] {
        assert_eq!(text(content), expected, "{content}");
    }
}

/// 44.11: a part of a line whose text the page says has that text; a longer one has that of its glyphs.
#[test]
fn glyphs_have_the_text_that_a_page_says() {
    let long = "x".repeat(65);
    let (long_span, unended) =
        (format!("/Span<</ActualText(no)>>BDC ({long}) Tj EMC"), format!("({}) Tj EMC", "y".repeat(40)));
    for (content, expected) in [
        ("/Span<</ActualText(office)>>BDC (o) Tj (?) Tj EMC ( work) Tj", "office work"),
        ("/Span<</ActualText<FEFF00E4>>>BDC (a) Tj EMC (b) Tj", "äb"),
        ("/Span /P BDC (x) Tj EMC /Span /Q BDC (y) Tj EMC", "namedy"),
        ("/Span<</ActualText()>>BDC (seen) Tj EMC", "seen"),
        ("/Span<</ActualText(no)>>BDC EMC (glyphs) Tj", "glyphs"),
        ("/Span<</ActualText(no)>>BDC (one) Tj 0 -14 Td (two) Tj EMC", "one\ntwo"),
        ("/Span<</ActualText(a)>>BDC /P BMC (x) Tj EMC /Span /P BDC (y) Tj EMC (z) Tj EMC (b) Tj EMC", "ab"),
        ("/Span<</ActualText(open)>>BDC (x) Tj", "open"),
        (&long_span, &long),
        (&format!("/Span<</ActualText({})>>BDC {unended}", "no".repeat(600)), &"y".repeat(40)),
    ] {
        assert_eq!(text(&format!("BT /F 12 Tf 50 700 Td {content} ET")), expected, "{content}");
    }
}

/// 44.11: a line from right to left is in the order of reading, whatever the order is in which its letters are drawn.
#[test]
fn a_line_from_right_to_left_is_read_so() {
    // Each part with its place: letters of one glyph are in the order of reading.
    let line = |parts: &[(&str, f64)]| {
        let mut line = TextLine::default();
        for &(letters, start) in parts {
            line.add(letters, (start, start + letters.chars().count() as f64 * 10.0), true, false);
        }
        line.take(10.0)
    };
    assert_eq!(line(&[("ש", 30.0), ("ל", 20.0), ("ו", 10.0), ("ם", 0.0)]), "שלום");
    assert_eq!(line(&[("ם", 0.0), ("ו", 10.0), ("ל", 20.0), ("ש", 30.0)]), "שלום");
    assert_eq!(line(&[("רחמ", 0.0), ("10:30", 40.0), ("העשב", 100.0)]), "העשב 10:30 רחמ");
    assert_eq!(
        line(&[("before", 0.0), ("ןושאר", 65.0), ("ינש", 120.0), ("and after", 155.0)]),
        "before ינש ןושאר and after"
    );
    // A ligature of Arabic that is one letter of Unicode, and a column beside it.
    assert_eq!(line(&[("\u{fefb}", 0.0), ("ﻊ", 60.0), ("ﻣ", 70.0)]), "مع\nلا");
    // Each narrow letter is drawn left of the last one.
    let mut layout = Layout::new(1_000);
    for (at, letter) in ["י", "ו", "ם", " ", "ש", "נ", "י"].iter().enumerate() {
        let x = 100.0 - 2.5 * at as f64;
        let [start, end, up] = [(x, 0.0), (x + 2.5, 0.0), (x, 10.0)].map(Point::from);
        layout.add(&Drawn { letters: Some(letter), start, end, up });
    }
    assert_eq!(layout.finish().unwrap().text, "יום שני");
    // Another script keeps the order in which it is drawn.
    assert_eq!(line(&[("one", 100.0), ("two", 0.0), ("three", 60.0)]), "one\ntwo three");
}

/// 44.11: a form that draws itself twice, and pages that are their own parents, end.
#[test]
fn circles_end() {
    let begun = std::time::Instant::now();
    let found = read(page("BT /F 12 Tf 50 700 Td (word) Tj ET /X Do"));
    assert!(matches!(found, Ok(_) | Err(NoPdfText::TooLarge)), "{found:?}");
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let circle = made(&["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 2 0 R]/Parent 2 0 R/Count 9>>"]);
    assert_eq!(read(circle), Err(NoPdfText::Damaged));
}

/// 44.11: a title in every encoding that PDF has; one that a program invented is none.
#[test]
fn a_title_is_decoded() {
    let of = |bytes: &[u8]| super::string::title(bytes);
    assert_eq!(of(b"Plan \xE4\n for\tall").as_deref(), Some("Plan ä for all"));
    assert_eq!(of(b"\xFE\xFF\x4F\x1A\x8B\xAE\xD8\x3D").as_deref(), Some("会议\u{fffd}"));
    assert_eq!(of(b"\xEF\xBB\xBFPl\xC3\xA4ne").as_deref(), Some("Pläne"));
    assert_eq!((of(b"Untitled"), of(b" \0"), of(b"")), (None, None, None));
    assert_eq!(of(&[b'x'; 9000]).map(|title| title.len()), Some(512));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// 44.11: whatever is broken in a PDF, it says something, or why not.
    #[test]
    fn a_broken_pdf_is_read(changes in prop::collection::vec(mutations::mutation(), 1..8), which in 0..3_usize) {
        let mut bytes = corpus(["letters.pdf", "columns.pdf", "restricted.pdf"][which]);
        changes.into_iter().for_each(|change| mutations::mutate(&mut bytes, change));
        if let Ok(text) = read(bytes) {
            prop_assert!(text.pages.iter().any(|page| !page.is_empty()));
        }
    }
}
