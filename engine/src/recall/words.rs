//! Lists of words by which names, questions and languages are recognized.

/// English words before a lower-case name that is the topic, the thing asked about: "the rate limit of osprey".
pub const PREPOSITIONS: &str = "of for from with against about in on at to by into than";
/// English auxiliary verbs, "when" and "if", which stand before a lower-case name that is the grammatical subject:
/// "which port does osprey use".
pub const BEFORE_SUBJECTS: &str = "is are was were does did do has have can could will would should when if";
/// English words before a lower-case name, if a significant word follows the name: "the osprey queue", but not "the schema of it".
pub const DETERMINERS: &str = "the our";
/// The words of [`PREPOSITIONS`] that lead to a place in a follow-up, and to no other thing: "and on staging?".
pub const PLACE_PREPOSITIONS: &str = "in on at";
/// The beginnings of questions that ask somebody to do something, or offer it.
pub const REQUESTS: &[&str] = &[
    "can you ", "could you ", "would you ", "will you ", "do you want ", "can i ", "could i ", "may i ", "shall i ",
    "should i ", "shall we ", "want me ",
];
/// Verbs of telling and knowing. After one of [`REQUESTS`], they ask for knowledge, not for an action: "can you tell
/// me".
pub const TELLING: &str = "tell know remember recall explain say";
/// Filler words at the beginning of a sentence ("please", "ok"), skipped before [`REQUESTS`] are looked for.
pub const LEADS: &str = "please ok okay so and now then well hi hey";
/// English words that other languages with the Latin alphabet hardly have. A text is English if they are one word in ten.
pub const ENGLISH: &str = "about against and because did does for from have how into my need needs should than that the these this \
     those until what when where which who whom why with would you your";
/// German words that other languages hardly have. A text is German if they are one word in ten.
pub const GERMAN: &str = "aber als am auf aus bei beim bis da das dass dem den der des dich dir doch du ein er es für gegen hat ich ihr im \
     ins ist ja kein mein mich mir mit nach nicht noch nun nur oder ob sein seit sich sie sind so um und uns unser vom von vor \
     wann warum was wegen welche welchem welchen welcher welches wem wen wenn wer wie wir wird wo womit wurde zu zum zur";
/// German articles that do not end like adjectives.
pub const ARTICLES: &str = "am ans beim das dein ein im ins kein mein sein unser vom zum zur";
/// Pronouns that a hyphen joins to verbs in French and Portuguese ("est-elle"): such a word is no identifier.
pub const CLITICS: &str =
    "ce ci elle elles il ils je la las le les lhe lo los là me moi nos nous on os se te toi tu vous";
/// The English days and months: they have a capital letter and are no names.
pub const DATES: &str = "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august \
     september october november december";
/// Ordinary words, most of them technical, that the vocabulary of 30,000 words of the default model splits into several tokens.
pub const MORE_ORDINARY_WORDS: &str = "acl adapter admin allergy allowlist annotation api app ascii ast async auth autocomplete avocado babysitter backend \
     backlog backoff benchmark blacklist blob blocklist boilerplate bool boolean breakpoint broccoli brunch bugfix bundler \
     bytecode callback captcha cert changelog charger charset chatbot checkbox checkout checksum chmod cli codebase codec \
     config constructor coupon credential cron cronjob csrf css csv cursor dataset daycare deadlock debug debugger decorator \
     denylist deserializer destructor devcontainer diaper dict diff dishwasher docker dockerfile downtime dropdown egress \
     electrician emitter emoji endpoint enum env espresso executable facet failback failover fallback faq favicon filesystem \
     firewall flexbox footer formatter frontend fulltext gluten gpu hashmap hashtable headset healthcheck hmac hostname \
     hotfix imap inbox indexer ingress inode installer intranet invoice iterator jitter json jwt kanban keystore lactose \
     latency latte ldap lexer lifecycle limiter lint linter livestream llm locale localhost lockfile logger login logon \
     logout mailbox makefile middleware migraine minifier mockup modal monorepo mutex namespace navbar nonce oatmeal oauth \
     offline oncall opcode orm outage override pager pagination paginator param parser passphrase payout paywall physio \
     placeholder playlist plugin plumber polyfill popup postmortem prod profiler rbac readme rebase refactor refund regex \
     repo retry roadmap rollback rollout router runbook runtime saml sandbox sanitizer scaffold scheduler schema screencast \
     screenshot semaphore semver serialization serializer shard shim sidebar signin signup sla slider slideshow smtp snapshot \
     snippet sourcemap spam spreadsheet ssd ssh ssl sso stacktrace standup stash stderr stdin stdout struct stub stylesheet \
     subdomain submodule subnet subscriber subtask sudo superuser symlink tarball telemetry textbox thermostat throughput \
     thumbnail timeout timezone toddler todo toggle tokenizer toml tooltip traceback transpiler treadmill tuple typeahead \
     typedef upload uptime uri url username utf vaccination vegan viewport vpn watermark webcam webhook websocket whitelist \
     wifi wiki wireframe workflow workspace wrapper xss yaml";

/// Whether a list contains a word.
pub fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|other| other == word)
}
