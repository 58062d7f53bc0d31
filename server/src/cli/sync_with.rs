//! `memorist sync-with`: the same memories on several machines of a person.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufReader};
use std::time::SystemTime;

use memorist_durable::LockedFile;
use memorist_engine::Engine;
use memorist_engine::config::ModelSource;
use memorist_engine::paths::StorePaths;
use memorist_engine::progress::Progress as _;
use memorist_engine::types::{Reach, Version, Viewer};
use serde::Serialize;

use super::app::Maintenance;
use super::progress::Bars;
use super::{App, format};
use crate::args::SyncWith;
use crate::exit::{Failure, Kind, Outcome};
use crate::machines::{self, Conflict, Done, Exchange, Files, Known, Met, Peer, Pipe, Place, PlaceStanding, Standing};
use crate::wording::Worded as _;

/// A hint where no place is remembered.
const NONE: &str = "no other machine is known; `memorist sync-with ssh://HOST` or `memorist sync-with FOLDER` adds one";

pub fn run(app: &App, args: &SyncWith) -> Outcome {
    if app.settings().engine.team.is_some() {
        return Err(Failure::input("a team store is shared by all machines already; sync-with is for a local store"));
    }
    if args.stdio {
        return answer(app);
    }
    if args.list {
        let standing = Standing::of(&app.existing(Maintenance::Off)?)?;
        app.output().result(&standing.places, |places| list(places))?;
        return Ok(0);
    }
    if args.conflicts {
        return conflicts(app);
    }
    if let Some(id) = args.keep {
        return keep(app, id);
    }
    if let Some(address) = &args.forget {
        return forget(app, address);
    }
    let place = args.address.as_deref().map(Place::parse).transpose()?;
    let engine = if args.address.is_some() { app.engine(Maintenance::Off)? } else { app.existing(Maintenance::Off)? };
    let Some(_alone) = lock(app)? else {
        if app.output().quiet {
            // The other one does the same.
            return Ok(0);
        }
        return Err(busy());
    };
    let known = Known::of(&engine)?;
    let peers = match &place {
        Some(place) => vec![peer(&known, place, args)?],
        None => known.peers.clone(),
    };
    if peers.is_empty() {
        app.output().note(NONE);
    }
    let bars = app.bars()?;
    let mut all: Vec<Met> = Vec::new();
    for peer in &peers {
        all.push(meet(app, &engine, &known, peer.clone(), args, &bars));
    }
    // What a later place has told is news for the ones before it.
    let last = all.iter().rposition(|met| met.here.is_any()).unwrap_or(0);
    if !args.dry_run {
        let again = Known::as_noted(&engine)?.peers;
        for met in &mut all[..last] {
            if let Some(peer) = again.iter().find(|peer| peer.address == met.address && met.error.is_none()) {
                met.add(meet(app, &engine, &known, peer.clone(), args, &bars));
            }
        }
    }
    let is_news = all.iter().any(|met| met.here.is_any());
    let warning = if is_news && !args.dry_run { embed(app, &engine, &bars)? } else { None };
    if bars.cancelled() {
        return Err(Failure::new(Kind::Cancelled, "interrupted; the same command continues"));
    }
    remove_unused_lock(app, &engine)?;
    engine.close();
    drop(bars);
    let failed = all.iter().any(|met| met.error.is_some());
    if !(app.output().quiet && !app.output().json && !failed) {
        app.output().result(&ExchangeReport { machines: &all, warning: warning.as_deref() }, |report| {
            report.text(args.dry_run)
        })?;
    }
    let refused = all.iter().any(|met| met.here.refused > 0);
    Ok(match () {
        () if failed => Kind::Io.code(),
        () if refused => Kind::Input.code(),
        () => 0,
    })
}

fn busy() -> Failure {
    Failure::new(Kind::Store, "another `memorist sync-with` of this store is running; wait for it")
}

/// Removes the file that hooks look at, where no place is remembered.
fn remove_unused_lock(app: &App, engine: &Engine) -> Result<(), Failure> {
    if Known::as_noted(engine)?.peers.is_empty() {
        // One that stays costs a hook some milliseconds.
        let _ = std::fs::remove_file(StorePaths::new(&app.settings().store).machines_lock());
    }
    Ok(())
}

/// The place as it is remembered, with what the arguments say.
fn peer(known: &Known, place: &Place, args: &SyncWith) -> Result<Peer, Failure> {
    let address = place.to_string();
    let mut peer = known.peers.iter().find(|peer| peer.address == address).cloned().unwrap_or_default();
    peer.address = address;
    if let Some(project) = &args.only_project {
        if project == Reach::EVERY || project.is_empty() {
            return Err(Failure::input(
                "--only-project: names one project; for all, --forget the place and add it again",
            ));
        }
        if peer.project.as_ref() != Some(project) {
            // What was left there before had other memories.
            peer.files = Files::default();
            peer.project = Some(project.clone());
        }
    }
    if args.program.is_some() {
        peer.program.clone_from(&args.program);
    }
    Ok(peer)
}

/// Locks the file that hooks look at, and says that this is the last try.
fn lock(app: &App) -> Result<Option<LockedFile>, Failure> {
    let path = StorePaths::new(&app.settings().store).machines_lock();
    let failure = |error: io::Error| Failure::file(&path, &error);
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let locked = LockedFile::try_lock(options.open(&path).map_err(failure)?).map_err(failure)?;
    if let Some(locked) = &locked {
        locked.set_modified(SystemTime::now()).map_err(failure)?;
    }
    Ok(locked)
}

/// Exchanges with one place. A failure is noted there, and does not stop the others.
fn meet(app: &App, engine: &Engine, known: &Known, mut peer: Peer, args: &SyncWith, bars: &Bars) -> Met {
    let mut met = Met { address: peer.address.clone(), ..Met::default() };
    let exchange = Exchange {
        engine,
        folder: &app.settings().store,
        known,
        dry_run: args.dry_run,
        quiet: app.output().quiet,
        progress: bars,
    };
    let outcome = Place::parse(&peer.address).and_then(|place| match place {
        Place::Folder(folder) => machines::meet_in_folder(&exchange, &folder, &mut peer, &mut met),
        Place::Ssh { host, port } => machines::meet_over_ssh(&exchange, (&host, port), &peer, &mut met),
    });
    let is_interrupted = outcome.is_err() && bars.cancelled();
    let noted = match args.dry_run || is_interrupted {
        true => Ok(()),
        false => note(engine, &mut peer, &met, &outcome),
    };
    met.error = outcome.and(noted).err().map(|failure| failure.to_string());
    met
}

/// Remembers what has become of an exchange. A place where none was ever complete is not remembered.
fn note(engine: &Engine, peer: &mut Peer, met: &Met, outcome: &Result<(), Failure>) -> Result<(), Failure> {
    let is_known = peer.met_at.is_some();
    if peer.address.starts_with("ssh://") {
        peer.name = met.names.first().cloned().or(peer.name.take());
    }
    match outcome {
        Ok(()) => (peer.met_at, peer.error) = (Some(engine.now()), None),
        Err(failure) => peer.error = Some(failure.to_string()),
    }
    if outcome.is_ok() || is_known { Known::remember(engine, peer).map(drop) } else { Ok(()) }
}

/// Embeds what came. Without a model, it is found by its words.
fn embed(app: &App, engine: &Engine, bars: &Bars) -> Result<Option<String>, Failure> {
    let mut warning = None;
    if app.settings().engine.model.source != ModelSource::None {
        let ready = engine.prepare_model(&mut |plan| app.announce(plan), bars);
        if let Err(error) = ready.and_then(|()| engine.embed_pending(bars)) {
            warning = Some(format!("not embedded, so keyword search only for now: {}", error.worded()));
        }
    }
    engine.flush(bars)?;
    Ok(warning)
}

/// Answers the machine that has started this.
fn answer(app: &App) -> Outcome {
    let engine = app.engine(Maintenance::Off)?;
    let input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    machines::answer(&engine, Pipe { input, output: app.output().pipe(), folder: &app.settings().store })?;
    engine.close();
    Ok(0)
}

fn forget(app: &App, named: &str) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    // A folder that is not there any more is forgotten by the name that the list has.
    let address = Place::parse(named).map_or_else(|_| named.to_owned(), |place| place.to_string());
    let _alone = lock(app)?.ok_or_else(busy)?;
    if !Known::forget(&engine, &address)? {
        return Err(Failure::new(
            Kind::NotFound,
            format!("{named} is not a remembered place; `memorist sync-with --list` shows them"),
        ));
    }
    remove_unused_lock(app, &engine)?;
    app.output().result(&serde_json::json!({ "forgotten": address }), |_| {
        let files = if address.starts_with("ssh://") {
            ""
        } else {
            ", and so does its folder there: remove it if it is not needed"
        };
        format!("forgot {address}; its memories stay{files}")
    })?;
    Ok(0)
}

fn keep(app: &App, id: i64) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    if !Known::settle(&engine, id)? {
        let why = format!("memory {id} has no conflict; `memorist sync-with --conflicts` shows them");
        return Err(Failure::new(Kind::NotFound, why));
    }
    app.output().result(&serde_json::json!({ "kept": id }), |_| format!("memory {id} keeps its text"))?;
    Ok(0)
}

/// A conflict with both texts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConflictTexts {
    id: i64,
    newest: String,
    version: i64,
    other: String,
    address: String,
}

fn conflicts(app: &App) -> Outcome {
    let engine = app.existing(Maintenance::Off)?;
    let mut shown = Vec::new();
    for Conflict { id, version, address, .. } in Standing::of(&engine)?.conflicts {
        let newest = engine.viewed_by(&Viewer::OWNER).history(id.into(), None, 1)?;
        let other = engine.viewed_by(&Viewer::OWNER).history(id.into(), Some(version + 1), 1)?;
        let text = |versions: Vec<Version>| versions.into_iter().next().map_or_else(String::new, |one| one.content);
        shown.push(ConflictTexts { id, newest: text(newest), version, other: text(other), address });
    }
    app.output().result(&shown, |shown| {
        if shown.is_empty() {
            return "no memory was changed on two machines at once".to_owned();
        }
        let each = shown.iter().map(|ConflictTexts { id, newest, version, other, address }| {
            format!(
                "memory {id}, changed here and at {address}\n  newest:    {}\n  version {version}: {}\n  \
                 `memorist rollback {id} {version}` restores the other, `memorist sync-with --keep {id}` keeps the newest",
                format::one_line(newest),
                format::one_line(other)
            )
        });
        each.collect::<Vec<_>>().join("\n")
    })?;
    Ok(0)
}

fn list(places: &[PlaceStanding]) -> String {
    if places.is_empty() {
        return NONE.to_owned();
    }
    places.iter().map(described_place).collect::<Vec<_>>().join("\n")
}

/// How it stands with a place, in a line.
pub fn described_place(place: &PlaceStanding) -> String {
    let name = place.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    let met = place.met_at.map_or_else(|| "never met".to_owned(), |at| format!("met {}", format::time(Some(at))));
    let project = place.project.as_ref().map_or_else(String::new, |name| format!(", project {name} alone"));
    let error = place.error.as_ref().map_or_else(String::new, |error| format!("; the last try failed: {error}"));
    format!("{}{name}: {met}{project}{error}", place.address)
}

/// The result with `--json`.
#[derive(Serialize)]
struct ExchangeReport<'a> {
    machines: &'a [Met],
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'a str>,
}

impl ExchangeReport<'_> {
    /// The text for people.
    fn text(&self, dry_run: bool) -> String {
        let mut text: Vec<String> = self.machines.iter().map(|met| described(met, dry_run)).collect();
        text.extend(self.warning.map(str::to_owned));
        text.join("\n")
    }
}

fn described(met: &Met, dry_run: bool) -> String {
    let names = met.names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let who = if names.is_empty() { met.address.clone() } else { format!("{names}, {}", met.address) };
    if let Some(error) = &met.error {
        return format!("{who}: failed: {error}");
    }
    if dry_run {
        let (sent, received) = (format::memories(met.sent), format::thousands(met.here.changed));
        return format!("{who}: {sent} would be sent, {received} memories or files received");
    }
    let mut text = match (numbers(&met.here), met.sent, &met.there) {
        (None, 0, _) => format!("{who}: nothing is new"),
        (here, _, Some(there)) => {
            let [here, there] =
                [here, numbers(there)].map(|numbers| numbers.unwrap_or_else(|| "nothing new".to_owned()));
            format!("{who}: here {here}; there {there}")
        }
        (here, sent, None) => {
            let here = here.unwrap_or_else(|| "nothing new".to_owned());
            format!("{who}: here {here}; {} written for the others", format::memories(sent))
        }
    };
    // Writing to a string cannot fail.
    if !met.conflicts.is_empty() {
        let _ = write!(text, "\n  changed on both: `memorist sync-with --conflicts` shows the texts");
    }
    for note in &met.notes {
        let _ = write!(text, "\n  {note}");
    }
    text
}

/// The numbers of changes, without zeros.
fn numbers(done: &Done) -> Option<String> {
    let all = [
        (done.created, "new"),
        (done.changed, "changed"),
        (done.united, "changed on both"),
        (done.deleted, "deleted"),
        (done.purged, "purged"),
        (done.links, "links"),
        (done.refused, "refused"),
    ];
    let some = all.iter().filter(|(number, _)| *number > 0);
    let some: Vec<_> = some.map(|(number, what)| format!("{} {what}", format::thousands(*number))).collect();
    (!some.is_empty()).then(|| some.join(", "))
}
