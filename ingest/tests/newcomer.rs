//! Files that a new user adds: ChatGPT's export and an Obsidian vault. Five questions about each are answered in the first three
//! results, by keyword search alone.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use memorist_engine::Engine;
use memorist_engine::config::Config;
use memorist_engine::progress::NoProgress;
use memorist_engine::types::{Filter, NewSource, Query, Scope};
use memorist_ingest::detect::detect;
use memorist_ingest::settings::SyncSettings;
use memorist_ingest::sources::machine::Machine;
use memorist_ingest::sync::{SyncOptions, Syncer};
use serde_json::{Value, json};

/// Conversations: a title, a question and an answer.
#[rustfmt::skip] // one a line
const TALKS: [(&str, &str, &str); 30] = [
    ("Winter tyres", "Which tyres fit a gravel bike in winter?", "Wide ones, 40 mm, with a soft rubber; spikes only on ice."),
    ("Flat sourdough", "Why is my sourdough flat?", "It fermented too long. Put the dough in the fridge at 4 °C for twelve hours."),
    ("Pear tree", "When do I prune the pear tree?", "In February, above a bud that looks outwards."),
    ("Rent increase", "My landlord raises the rent by 18 percent. Is that allowed?", "Not at once: the cap is 15 percent in three years there. Object in writing."),
    ("Trip to Lisbon", "Plan three days in Lisbon with a child.", "Day one: the Oceanário. Day two: tram 28 and Belém. Day three: the beach of Cascais."),
    ("Knee pain", "My knee hurts after running downhill.", "Often the iliotibial band. Rest for a week and do hip abductions."),
    ("Backup script", "How do I back up my laptop to a NAS each night?", "Use restic with a systemd timer at 02:30 and forget --keep-daily 14."),
    ("Birthday of grandma", "Ideas for the 80th birthday of my grandma?", "A book of photos with a page from each grandchild."),
    ("Kotlin flows", "What is the difference between StateFlow and SharedFlow?", "StateFlow has one current value; SharedFlow replays as many as you say."),
    ("Tax on a home office", "Can I deduct my home office?", "Yes, six euros a day, at most 1,260 euros a year."),
    ("Leaking tap", "The kitchen tap drips.", "Replace the ceramic cartridge, 35 mm; close the stopcock first."),
    ("Name of a bird", "A brown bird dives in our stream. What is it?", "A dipper, Cinclus cinclus."),
    ("Letter of notice", "Write a notice for my gym contract.", "I cancel my membership 4471 as of 31 March."),
    ("Chess opening", "A sound answer to the London System?", "Play ...c5 and ...Qb6 early, which hits b2."),
    ("Postgres locks", "ALTER TABLE blocks my production database.", "Set lock_timeout to 2s and add the constraint as NOT VALID first."),
    ("Vegan lasagne", "A lasagne without cheese?", "Use a béchamel of cashews and nutritional yeast."),
    ("Learning Japanese", "How do I remember kanji?", "Learn radicals first, then ten cards a day in Anki."),
    ("Old piano", "Is a piano of 1921 worth tuning?", "If the pin block holds; ask for a test of the torque first."),
    ("Solar panels", "How many panels for 3,500 kWh a year?", "About nine of 430 W on a roof that looks south."),
    ("Wedding speech", "Help with a speech for my sister.", "Begin with the treehouse that you built and fell out of."),
    ("Cat at night", "Our cat wakes us at four.", "Feed her late from an automatic bowl, and ignore her till six."),
    ("Regex for dates", "A regex for ISO dates?", "^\\d{4}-\\d{2}-\\d{2}$ and then parse it."),
    ("Used car", "What do I check on a used diesel?", "The particle filter, the timing belt and the service book."),
    ("Slime", "A recipe for slime without borax?", "Glue, shaving foam and contact lens solution."),
    ("History of Trieste", "Why was Trieste important to Austria?", "It was the only large port of the monarchy, a free port since 1719."),
    ("Sleep of a baby", "Our baby of five months does not sleep alone.", "A fixed order: bath, bottle, song, and put her down awake."),
    ("Interview", "Questions to ask at the end of an interview?", "What would make the first ninety days a success?"),
    ("Mould in the bathroom", "Black mould on silicone.", "Cut the joint out, treat with alcohol of 80 percent, and seal again."),
    ("Telescope", "A first telescope for 300 euros?", "A Dobsonian of 6 inches; no motor."),
    ("Rust lifetimes", "Why does the borrow checker refuse my iterator?", "The closure captures self; collect the keys first."),
];

const NOTES: [(&str, &str); 8] = [
    (
        "Projects/Harbour light.md",
        "---\nstatus: waiting\nclient: Borealis GmbH\n---\n# Harbour light\n\nThe lamp is delivered in week 12.\n\n## Budget\n\n14,200 euros, of which 9,000 are approved.\n",
    ),
    (
        "People/Ines Moreau.md",
        "---\naliases: [Inès]\nbirthday: 1984-06-03\n---\nEngineer at the port authority. Prefers calls before ten.\n",
    ),
    ("Recipes/Risotto.md", "# Risotto\n\n320 g of rice, saffron, no cream. Stir for 17 minutes.\n"),
    ("Daily/2026-10-12.md", "- Bought a second bicycle lock\n- The dentist moved the appointment to 5 November\n"),
    (
        "Ideas/Bees.md",
        "# Bees on the roof\n\nTwo hives fit beside the chimney. The statics need a report first. #garden\n",
    ),
    ("Books/Invisible Cities.md", "author:: Italo Calvino\nrating:: 5\n\nEach city is the same one.\n"),
    (
        "Health/Vaccinations.md",
        "| what | when |\n|---|---|\n| tetanus | 2021-03 |\n| tick-borne encephalitis | 2024-05 |\n",
    ),
    ("Reading list.md", "- The Overstory\n- Invisible Cities\n"),
];

/// A store in which a file or a folder was added as `memorist source add` does.
fn added(folder: &Path, path: &Path) -> Engine {
    let store = folder.join("store");
    let config = Config::without_model();
    let model = config.model.clone();
    let engine = Engine::open(&store, config).unwrap();
    let (kind, format) = detect(path, &Machine::new(folder, []));
    let format = format.map(|format| format.name().to_owned());
    let path = path.to_str().unwrap().to_owned();
    engine.add_source(&NewSource { kind, path, format, globs: Vec::new(), scope: Scope::default() }).unwrap();
    let syncer = Syncer::new(&store, SyncSettings::default(), model);
    let report = syncer.sync(&engine, &SyncOptions::default(), &NoProgress).unwrap();
    assert_eq!(report.sources[0].failed, 0, "{report:?}");
    engine
}

/// Each question has its answer within the first three results.
fn ask(engine: &Engine, questions: &[(&str, &str)]) {
    let place = |(question, answer): &(&str, &str)| {
        let hits = engine.search(&Query::new(*question)).unwrap().hits;
        let is_answer = |text: &str| text.contains(answer);
        let texts = hits.iter().map(|hit| format!("{:?} {}", hit.record.context, hit.record.content));
        let place = texts.clone().position(|text| is_answer(&text)).map(|place| place + 1);
        assert!(place.is_some_and(|place| place <= 3), "{question}: {:#?}", texts.take(5).collect::<Vec<_>>());
        place
    };
    eprintln!("places: {:?}", questions.iter().filter_map(place).collect::<Vec<_>>());
}

fn talk(number: usize, (title, question, answer): &(&str, &str, &str)) -> Value {
    let node = |id: &str, parent: Option<&str>, role: &str, text: &str, at: f64| {
        json!({ "id": id, "parent": parent, "children": [], "message": { "id": format!("{number}-{id}"), "author": { "role": role },
            "create_time": at, "content": { "content_type": "text", "parts": [text] }, "recipient": "all", "metadata": {} } })
    };
    let at = 1_790_000_000.5 + number as f64 * 86_400.0;
    let mapping = json!({
        "q": node("q", None, "user", question, at),
        "old": node("old", Some("q"), "assistant", "I cannot say.", at + 5.0),
        "a": node("a", Some("q"), "assistant", answer, at + 9.0),
        "t": node("t", Some("a"), "user", "Thanks, that helps.", at + 60.0),
    });
    json!({ "title": title, "create_time": at, "conversation_id": format!("talk-{number}"), "mapping": mapping, "current_node": "t" })
}

/// 44: ChatGPT's export, as it is sent.
#[test]
fn questions_about_an_export_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap().join("export.zip");
    let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    for (number, talks) in TALKS.chunks(20).enumerate() {
        let talks: Vec<_> = talks.iter().enumerate().map(|(at, one)| talk(number * 20 + at, one)).collect();
        archive.start_file(format!("conversations-00{number}.json"), zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(Value::from(talks).to_string().as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    let engine = added(folder.path(), &path);
    assert_eq!(engine.stats(&Filter::default()).unwrap().total, 90);
    ask(
        &engine,
        &[
            ("when should the pear tree be pruned", "In February"),
            ("what did we say about the rent increase of my landlord", "15 percent in three years"),
            ("restic systemd timer for the NAS", "restic with a systemd timer at 02:30"),
            ("which cartridge does the dripping kitchen tap need", "ceramic cartridge, 35 mm"),
            ("free port of the Austrian monarchy", "free port since 1719"),
        ],
    );
    // Only its title says what it is about.
    ask(&engine, &[("the wedding", "speech for my sister")]);
}

/// 44: an Obsidian vault.
#[test]
fn questions_about_a_vault_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let vault = fs::canonicalize(folder.path()).unwrap().join("vault");
    for (name, text) in NOTES {
        let path = vault.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(vault.join(".obsidian")).unwrap();
    let engine = added(folder.path(), &vault);
    ask(
        &engine,
        &[
            ("budget of the harbour light", "14,200 euros"),
            ("what is waiting for Borealis", "client: Borealis GmbH"),
            ("birthday of Inès", "1984-06-03"),
            ("when was my last tetanus vaccination", "tetanus | 2021-03"),
            ("who wrote Invisible Cities", "Italo Calvino"),
        ],
    );
}
