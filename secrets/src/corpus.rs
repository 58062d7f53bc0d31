//! The error rates of the guard, measured on texts with a secret, and harmless texts about secrets, in `corpus/`.
//!
//! The rules were tuned on one part of each; the other part was written before and held out. A line is a text. So that
//! no scanner of sources finds a secret here, `¦` is removed and these are random: `{an36}` letters and digits, `{al8}`
//! letters, `{lo8}` small letters and digits, `{up8}` capitals and digits, `{dig8}`, `{hex8}`, `{bech8}`, `{b64u8}` and
//! `{b64x8}` as in base64, `{b64xe32}` base64 of a user and a password, `{uuid}`, and `{zw}`, an invisible character.
//! `\n` is a line break.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use regex::{Captures, Regex};

use super::*;

struct Part {
    name: &'static str,
    secrets: &'static str,
    harmless: &'static str,
}

const PARTS: [Part; 2] = [
    Part {
        name: "tuned",
        secrets: include_str!("corpus/tuned-secrets.txt"),
        harmless: include_str!("corpus/tuned-harmless.txt"),
    },
    Part {
        name: "held out",
        secrets: include_str!("corpus/holdout-secrets.txt"),
        harmless: include_str!("corpus/holdout-harmless.txt"),
    },
];

/// How many variants of each text are generated.
const DRAWS: u64 = 10;

fn lines(corpus: &str) -> impl Iterator<Item = &str> {
    corpus.lines().filter(|line| !line.starts_with("# ") && !line.is_empty())
}

/// A line as a text.
fn drawn(line: &str, rng: &mut ChaCha8Rng) -> String {
    static DRAW: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\{(an|al|lo|up|dig|hex|bech|b64u|b64xe|b64x)([0-9]+)\}|\{(uuid|zw)\}").unwrap());
    const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
    const LARGE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const DIGITS: &str = "0123456789";
    let mut draw = |alphabet: &str, count: usize| -> String {
        (0..count).map(|_| char::from(alphabet.as_bytes()[rng.next_u32() as usize % alphabet.len()])).collect()
    };
    let letters = [SMALL, LARGE].concat();
    let alnum = [&letters, DIGITS].concat();
    let text = line.replace('¦', "").replace("\\n", "\n");
    let draw = |captures: &Captures<'_>| {
        let count = captures.get(2).map_or(0, |count| count.as_str().parse().unwrap());
        match captures.get(1).or(captures.get(3)).unwrap().as_str() {
            "an" => draw(&alnum, count),
            "al" => draw(&letters, count),
            "lo" => draw(&[SMALL, DIGITS].concat(), count),
            "up" => draw("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", count),
            "dig" => draw("123456789", count),
            "hex" => draw("0123456789abcdef", count),
            "bech" => draw("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", count),
            "b64u" => draw(&[&alnum, "-_"].concat(), count),
            "b64x" => draw(&[&alnum, "+/"].concat(), count),
            "b64xe" => BASE64_STANDARD.encode(format!("bob:{}", draw(&alnum, count / 4 * 3 - 4))),
            "uuid" => [8, 4, 4, 4, 12].map(|count| draw("0123456789abcdef", count)).join("-"),
            "zw" => "\u{200b}".into(),
            unknown => panic!("{unknown} in {line}"),
        }
    };
    DRAW.replace_all(&text, draw).into_owned()
}

/// Per cent of the variants of each line for which `errs` returns true, and the number of lines.
fn rate(corpus: &str, shown: bool, errs: impl Fn(&str) -> bool) -> (f64, usize) {
    let (mut errors, mut count) = (0, 0);
    for line in lines(corpus) {
        let mut rng = ChaCha8Rng::seed_from_u64(count as u64);
        let texts = (0..DRAWS).map(|_| drawn(line, &mut rng));
        let wrong: Vec<String> = texts.filter(|text| errs(text)).collect();
        if let Some(first) = wrong.first().filter(|_| shown) {
            eprintln!("{} of {DRAWS}: {first:?} {:?}", wrong.len(), scan(first));
        }
        errors += wrong.len();
        count += 1;
    }
    (100.0 * errors as f64 / (count as f64 * DRAWS as f64), count)
}

/// D5: prints both error rates, and keeps them at what the chapter on memories says.
#[test]
fn error_rates_on_the_corpus_are_as_documented() {
    let (mut secrets, mut harmless, mut missed_in_all, mut refused_in_all) = (0, 0, 0.0, 0.0);
    let mut held_out = String::new();
    for Part { name, secrets: with, harmless: without } in PARTS {
        // Errors on the held-out texts are not shown, so that the rules cannot be tuned by them.
        let shown = name == "tuned";
        let (missed, with) = rate(with, shown, |text| scan(text).is_empty());
        let (refused, without) = rate(without, shown, |text| !scan(text).is_empty());
        eprintln!("{name}: {missed:.1} % of {with} secrets missed, {refused:.1} % of {without} harmless texts refused");
        // The last part, by which nothing was tuned.
        held_out = format!("held out: {missed:.1} % of {with} and {refused:.1} % of {without}");
        secrets += with;
        harmless += without;
        missed_in_all += missed * with as f64;
        refused_in_all += refused * without as f64;
    }
    let (missed, refused) = (missed_in_all / secrets as f64, refused_in_all / harmless as f64);
    eprintln!("in all: {missed:.1} % of {secrets} secrets missed, {refused:.1} % of {harmless} harmless texts refused");
    assert!(secrets >= 150 && harmless >= 150, "the texts are enough");
    assert!(missed <= 2.0, "{missed} % missed");
    assert!(refused <= 1.0, "{refused} % refused");
    let promised = format!(
        "it misses {missed:.1} % of {secrets} texts with a secret, and rejects {refused:.1} % of {harmless} harmless \
         ones"
    );
    let pages = [
        ("README.md", include_str!("../../README.md"), vec![&promised]),
        ("docs/src/memories.md", include_str!("../../docs/src/memories.md"), vec![&promised, &held_out]),
    ];
    for (name, page, promised) in pages {
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for promised in promised {
            assert!(page.contains(promised), "{name} must say: {promised}");
        }
    }
}
