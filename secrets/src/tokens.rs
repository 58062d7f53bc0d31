//! Tokens whose prefix names their service.
//!
//! The table contains facts that the services publish for secret scanners, one row per prefix. It was checked for gaps
//! against the list of services in gitleaks 8 (MIT licence); no expression and no text of it is copied. gitleaks' rule
//! set itself, and the crates with it, were considered and rejected: its 235 expressions are for code (a memory is
//! mostly prose), each of them matches a keyword and a value, which costs far more than one pass for all prefixes, and
//! none of them finds a password in a sentence.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::finding::{Finding, VALID};
use super::looks;

/// The characters that follow a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Hex,
    Lower,
    Upper,
    Alnum,
    /// And `_`, `-`.
    Word,
    /// And `.`.
    Dotted,
    /// And `+`, `/`, `=`.
    Base64,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Alphabet::Hex => byte.is_ascii_hexdigit(),
            Alphabet::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Alnum => byte.is_ascii_alphanumeric(),
            Alphabet::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Alphabet::Dotted => Alphabet::Word.has(byte) || byte == b'.',
            Alphabet::Base64 => Alphabet::Word.has(byte) || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

/// The required form of the rest of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// At least this many characters.
    Least(usize),
    /// At least this many, with capitals, small letters and digits.
    Mixed(usize),
    /// At least this many, looking random: names may begin with the prefix, too.
    Random(usize),
    /// Exactly this many.
    Just(usize),
}
use Alphabet::{Alnum, Base64, Dotted, Hex, Lower, Upper, Word};
use Rest::{Just, Least, Mixed, Random};

/// Its type, its prefix, and what follows. The longest matching prefix comes first.
#[rustfmt::skip]
const TOKENS: &[(&str, &str, Alphabet, Rest)] = &[
    ("1Password token", "ops_eyJ", Base64, Least(100)),
    ("1Password secret key", "A3-", Word, Random(30)),
    ("Adobe client secret", "p8e-", Lower, Just(32)),
    ("age private key", "AGE-SECRET-KEY-1", Upper, Just(58)),
    ("Alibaba access key", "LTAI", Alnum, Just(20)),
    ("Anthropic API key", "sk-ant-", Word, Mixed(20)),
    ("Artifactory token", "AKCp", Alnum, Least(69)),
    ("Artifactory token", "cmVmd", Alnum, Just(59)),
    ("Atlassian token", "ATATT3", Base64, Mixed(60)),
    ("Atlassian token", "ATCTT3", Base64, Mixed(60)),
    ("Atlassian token", "ATBB", Alnum, Mixed(28)),
    ("AWS access key", "AKIA", Upper, Just(16)),
    ("AWS access key", "ASIA", Upper, Just(16)),
    ("AWS access key", "ABIA", Upper, Just(16)),
    ("AWS access key", "ACCA", Upper, Just(16)),
    ("AWS Bedrock key", "ABSK", Base64, Mixed(80)),
    ("Brevo API key", "xkeysib-", Word, Mixed(64)),
    ("Buildkite token", "bkua_", Hex, Least(40)),
    ("CircleCI token", "CCIPAT_", Word, Mixed(40)),
    ("Clojars token", "CLOJARS_", Hex, Least(60)),
    ("Cloudflare key", "v1.0-", Word, Random(100)),
    ("Contentful token", "CFPAT-", Word, Mixed(40)),
    ("crates.io token", "cio", Alnum, Random(32)),
    ("Databricks token", "dapi", Hex, Just(32)),
    ("DigitalOcean token", "dop_v1_", Hex, Just(64)),
    ("DigitalOcean token", "doo_v1_", Hex, Just(64)),
    ("DigitalOcean token", "dor_v1_", Hex, Just(64)),
    ("Docker Hub token", "dckr_pat_", Word, Mixed(20)),
    ("Docker Hub token", "dckr_oat_", Word, Mixed(20)),
    ("Doppler token", "dp.pt.", Alnum, Least(40)),
    ("Doppler token", "dp.st.", Dotted, Mixed(40)),
    ("Doppler token", "dp.ct.", Alnum, Least(40)),
    ("Doppler token", "dp.sa.", Alnum, Least(40)),
    ("Doppler token", "dp.scim.", Alnum, Least(40)),
    ("Doppler token", "dp.audit.", Alnum, Least(40)),
    ("Duffel token", "duffel_live_", Word, Mixed(40)),
    ("Duffel token", "duffel_test_", Word, Mixed(40)),
    ("Dynatrace token", "dt0c01.", Dotted, Mixed(80)),
    ("EasyPost API key", "EZAK", Alnum, Just(54)),
    ("EasyPost API key", "EZTK", Alnum, Just(54)),
    ("Facebook token", "EAAC", Alnum, Random(80)),
    ("Facebook token", "EAAM", Alnum, Random(80)),
    ("Figma token", "figd_", Word, Mixed(30)),
    ("Fly token", "fo1_", Word, Mixed(40)),
    ("Fly token", "fm1r_", Base64, Mixed(60)),
    ("Fly token", "fm1a_", Base64, Mixed(60)),
    ("Fly token", "fm2_", Base64, Mixed(60)),
    ("Flutterwave key", "FLWSECK-", Word, Mixed(30)),
    ("Flutterwave key", "FLWSECK_TEST-", Word, Mixed(30)),
    ("Frame.io token", "fio-u-", Word, Mixed(60)),
    ("GitHub token", "ghp_", Alnum, Least(36)),
    ("GitHub token", "gho_", Alnum, Least(36)),
    ("GitHub token", "ghu_", Alnum, Least(36)),
    ("GitHub token", "ghs_", Alnum, Least(36)),
    ("GitHub token", "ghr_", Alnum, Least(36)),
    ("GitHub token", "github_pat_", Word, Mixed(36)),
    ("GitLab token", "glpat-", Dotted, Mixed(20)),
    ("GitLab token", "glptt-", Dotted, Mixed(20)),
    ("GitLab token", "gldt-", Dotted, Mixed(20)),
    ("GitLab token", "glrt-", Dotted, Mixed(20)),
    ("GitLab token", "glcbt-", Dotted, Mixed(20)),
    ("GitLab token", "glsoat-", Dotted, Mixed(20)),
    ("GitLab token", "glft-", Dotted, Mixed(20)),
    ("GitLab token", "glffct-", Dotted, Mixed(20)),
    ("GitLab token", "glagent-", Dotted, Mixed(20)),
    ("GitLab token", "glimt-", Dotted, Mixed(20)),
    ("GitLab token", "gloas-", Dotted, Mixed(20)),
    ("Google API key", "AIza", Word, Mixed(35)),
    ("Google client secret", "GOCSPX-", Word, Mixed(20)),
    ("Google access token", "ya29.", Word, Random(20)),
    ("Grafana token", "glsa_", Word, Mixed(32)),
    ("Grafana token", "glc_", Base64, Mixed(32)),
    ("Groq API key", "gsk_", Alnum, Mixed(20)),
    ("Heroku API key", "HRKU-", Word, Mixed(32)),
    ("Hugging Face token", "hf_", Alnum, Least(30)),
    ("Hugging Face token", "api_org_", Alnum, Least(30)),
    ("Infracost API key", "ico-", Alnum, Random(32)),
    ("Intra42 secret", "s-s4t2ud-", Hex, Least(64)),
    ("Jina API key", "jina_", Word, Mixed(32)),
    ("LangSmith API key", "lsv2_pt_", Word, Mixed(32)),
    ("LangSmith API key", "lsv2_sk_", Word, Mixed(32)),
    ("Linear API key", "lin_api_", Alnum, Least(32)),
    ("Linear token", "lin_oauth_", Alnum, Least(32)),
    ("Mailgun key", "key-", Hex, Just(32)),
    ("Netlify token", "nfp_", Alnum, Mixed(32)),
    ("New Relic key", "NRAK-", Upper, Least(20)),
    ("New Relic key", "NRJS-", Lower, Mixed(16)),
    ("New Relic key", "NRII-", Word, Mixed(24)),
    ("New Relic key", "NRIQ-", Word, Mixed(24)),
    ("Notion token", "ntn_", Alnum, Least(40)),
    ("Notion token", "secret_", Alnum, Random(40)),
    ("npm token", "npm_", Alnum, Just(36)),
    ("NuGet API key", "oy2", Lower, Just(43)),
    ("NVIDIA API key", "nvapi-", Word, Mixed(40)),
    ("Octopus API key", "API-", Upper, Random(26)),
    ("OpenShift token", "sha256~", Word, Mixed(43)),
    ("Perplexity API key", "pplx-", Alnum, Least(32)),
    ("Pinecone API key", "pcsk_", Word, Mixed(40)),
    ("PlanetScale token", "pscale_tkn_", Dotted, Mixed(32)),
    ("PlanetScale token", "pscale_oauth_", Dotted, Mixed(32)),
    ("PlanetScale password", "pscale_pw_", Dotted, Mixed(32)),
    ("Postman API key", "PMAK-", Word, Mixed(50)),
    ("Prefect API key", "pnu_", Alnum, Just(36)),
    ("Pulumi token", "pul-", Hex, Least(40)),
    ("PyPI token", "pypi-AgE", Word, Least(40)),
    ("ReadMe API key", "rdme_", Lower, Least(60)),
    ("Replicate token", "r8_", Alnum, Mixed(32)),
    ("Resend API key", "re_", Word, Random(30)),
    ("RubyGems API key", "rubygems_", Hex, Least(48)),
    ("Scalingo token", "tk-us-", Word, Mixed(40)),
    ("SendGrid API key", "SG.", Dotted, Random(33)),
    ("Sentry token", "sntrys_", Base64, Mixed(40)),
    ("Sentry token", "sntryu_", Hex, Least(64)),
    ("SettleMint token", "sm_pat_", Alnum, Mixed(16)),
    ("SettleMint token", "sm_aat_", Alnum, Mixed(16)),
    ("SettleMint token", "sm_sat_", Alnum, Mixed(16)),
    ("Shippo token", "shippo_live_", Hex, Least(40)),
    ("Shippo token", "shippo_test_", Hex, Least(40)),
    ("Shopify token", "shpat_", Hex, Least(32)),
    ("Shopify token", "shpca_", Hex, Least(32)),
    ("Shopify token", "shppa_", Hex, Least(32)),
    ("Shopify secret", "shpss_", Hex, Least(32)),
    ("Slack token", "xoxa-", Word, Mixed(10)),
    ("Slack token", "xoxb-", Word, Mixed(10)),
    ("Slack token", "xoxc-", Word, Mixed(10)),
    ("Slack token", "xoxd-", Word, Mixed(10)),
    ("Slack token", "xoxe-", Word, Mixed(10)),
    ("Slack token", "xoxe.xox", Word, Mixed(10)),
    ("Slack token", "xoxo-", Word, Random(10)),
    ("Slack token", "xoxp-", Word, Mixed(10)),
    ("Slack token", "xoxr-", Word, Mixed(10)),
    ("Slack token", "xoxs-", Word, Mixed(10)),
    ("Slack app token", "xapp-", Word, Mixed(12)),
    ("SonarQube token", "squ_", Hex, Least(40)),
    ("SonarQube token", "sqp_", Hex, Least(40)),
    ("SonarQube token", "sqa_", Hex, Least(40)),
    ("Sourcegraph token", "sgp_", Word, Mixed(40)),
    ("Square token", "sq0atp-", Word, Mixed(22)),
    ("Square secret", "sq0csp-", Word, Mixed(22)),
    ("Square token", "EAAA", Word, Random(50)),
    ("Stripe key", "sk_live_", Alnum, Least(16)),
    ("Stripe key", "sk_test_", Alnum, Least(16)),
    ("Stripe key", "rk_live_", Alnum, Least(16)),
    ("Stripe key", "rk_test_", Alnum, Least(16)),
    ("Stripe webhook secret", "whsec_", Base64, Mixed(24)),
    ("Supabase token", "sbp_", Hex, Least(40)),
    ("Supabase secret key", "sb_secret_", Word, Mixed(20)),
    ("Tailscale key", "tskey-", Word, Mixed(20)),
    ("Tavily API key", "tvly-", Word, Mixed(20)),
    ("Together API key", "tgp_v1_", Word, Mixed(32)),
    ("Twilio key", "SK", Hex, Just(32)),
    ("Typeform token", "tfp_", Word, Mixed(40)),
    ("Vault token", "hvs.", Word, Random(24)),
    ("Vault token", "hvb.", Word, Random(24)),
    ("Vercel token", "vcp_", Alnum, Mixed(24)),
    ("xAI API key", "xai-", Alnum, Least(40)),
    ("Yandex token", "t1.", Dotted, Random(80)),
    // The common prefix comes last, so that a longer one names the token.
    ("API key", "sk-", Word, Random(20)),
];

/// Finds all prefixes in one pass.
static PREFIXES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let prefixes = TOKENS.iter().map(|(_, prefix, ..)| prefix);
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(prefixes).expect(VALID)
});

/// The tokens of `text`, with their row numbers, in time linear in its length for each prefix that it contains.
pub(super) fn search(text: &str, found: &mut dyn FnMut(usize, Finding)) {
    let bytes = text.as_bytes();
    // How far each row has been judged: matches within such a run were judged with it.
    let mut judged = [0; TOKENS.len()];
    for hit in PREFIXES.find_overlapping_iter(text) {
        let row = hit.pattern().as_usize();
        let (what, _, alphabet, rest) = TOKENS[row];
        if begins_in_a_word(&bytes[..hit.start()]) || hit.start() < judged[row] {
            continue;
        }
        let after = &bytes[hit.end()..];
        let length = after.iter().position(|&byte| !alphabet.has(byte)).unwrap_or(after.len());
        let end = hit.end() + length;
        judged[row] = end;
        let token = &text[hit.start()..end];
        let fits = match rest {
            Least(least) => length >= least,
            Mixed(least) => length >= least && looks::drawn(&text[hit.end()..end]),
            Random(least) => length >= least && looks::random(&text[hit.end()..end]),
            Just(count) => length == count && !bytes.get(end).is_some_and(|&byte| is_word(byte)),
        };
        if fits && !looks::is_placeholder(token) {
            let end =
                hit.start() + token.trim_end_matches(['.', '-', '=']).len().max(token.trim_end_matches('.').len());
            found(row, Finding { what, range: hit.start()..end });
        }
    }
}

/// Whether a prefix after `before` continues a word. An escaped line break is not part of one.
fn begins_in_a_word(before: &[u8]) -> bool {
    before.last().is_some_and(|&byte| is_word(byte)) && !matches!(before, [.., b'\\', b'n' | b'r' | b't'])
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How many rows there are: these findings are the most specific.
pub(super) const ROWS: usize = TOKENS.len();

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// For each row, its type and a sample token, made of `random`.
    pub fn samples(random: &str, hex: &str) -> Vec<(&'static str, String)> {
        let sample = |&(what, prefix, alphabet, rest): &(&'static str, &str, Alphabet, Rest)| {
            let (Least(count) | Mixed(count) | Random(count) | Just(count)) = rest;
            let from = match alphabet {
                Hex | Lower => hex.to_owned(),
                Upper => hex.to_ascii_uppercase(),
                Alnum | Word | Dotted | Base64 => random.to_owned(),
            };
            let rest: String = from.chars().filter(|&c| alphabet.has(c as u8)).cycle().take(count).collect();
            (what, [prefix, &rest].concat())
        };
        TOKENS.iter().map(sample).collect()
    }
}
