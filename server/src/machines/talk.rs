//! An exchange over a pipe: the machines take turns, so neither ever waits for the other to read. The first turn has the state of one
//! alone. If the other's is another, it answers with the states of its memories, and from then on each turn has what the other lacks.

use std::io::{BufRead, Write};
use std::path::Path;

use memorist_engine::Engine;
use memorist_engine::progress::{NoProgress, Progress};
use memorist_engine::types::{Filter, Millis, Stamps};

use super::known::{Known, Peer, filter_of};
use super::merge::{Exchange, Met, differing, merge, write_lines};
use super::turn::{self, Header, IncomingTurn};
use crate::exit::{Failure, Kind};

/// Turns of the other machine in an exchange. Two do; histories that unite on one machine alone may need another.
const MAX_TURNS: usize = 6;
/// From this difference on, clocks are named.
const CLOCKS_DIFFER: u64 = 120_000;

/// One end of the pipe.
pub struct Pipe<'a, R, W> {
    /// The bytes from the other machine.
    pub input: R,
    /// The bytes to it.
    pub output: W,
    /// Where turns are kept while they are read.
    pub folder: &'a Path,
}

impl<R: BufRead, W: Write> Pipe<'_, R, W> {
    fn read(&mut self, who: &str) -> Result<Option<IncomingTurn>, Failure> {
        turn::read(&mut self.input, self.folder).map_err(|unusable| unusable.failure(who))
    }

    /// Sends the states of the memories here, and what a machine lacks that has the states `there`. Returns how many memories that
    /// are.
    fn send(
        &mut self,
        (engine, progress): (&Engine, &dyn Progress),
        filter: &Filter,
        header: &Header,
        here: Option<&Stamps>,
        there: Option<&Stamps>,
    ) -> Result<u64, Failure> {
        let wanted = here.zip(there).map(|(here, there)| differing(here, there)).unwrap_or_default();
        let mut sent = 0;
        if !wanted.is_empty() {
            progress.start("sending", Some(wanted.len() as u64));
        }
        turn::write(&mut self.output, header, here, |out| {
            if !wanted.is_empty() {
                sent = write_lines(engine, &wanted, filter, true, progress, out).map_err(Unsent::Failed)?;
            }
            Ok(())
        })
        .map_err(Unsent::failure)?;
        progress.finish();
        Ok(sent)
    }
}

/// Why a turn was not sent.
enum Unsent {
    Failed(Failure),
    Closed(std::io::Error),
}

impl From<std::io::Error> for Unsent {
    fn from(error: std::io::Error) -> Self {
        Unsent::Closed(error)
    }
}

impl Unsent {
    fn failure(self) -> Failure {
        match self {
            Unsent::Failed(failure) => failure,
            Unsent::Closed(error) => Failure::new(Kind::Io, format!("the other machine does not respond: {error}")),
        }
    }
}

/// Leads an exchange until both machines have the same.
pub fn lead<R: BufRead, W: Write>(
    exchange: &Exchange<'_>,
    pipe: &mut Pipe<'_, R, W>,
    peer: &Peer,
    met: &mut Met,
) -> Result<(), Failure> {
    let Exchange { engine, known, dry_run, progress, .. } = *exchange;
    let filter = peer.filter();
    let mut here = engine.stamps(&filter)?;
    let header = |here: &Stamps, done| Header {
        project: peer.project.clone(),
        state: turn::digest(here),
        done,
        ..Header::new(&known.machine, engine.now())
    };
    if let Err(failure) = pipe.send((engine, progress), &filter, &header(&here, None), None, None) {
        // A program that has ended may have said why.
        return Err(pipe.read(&peer.address).err().unwrap_or(failure));
    }
    let mut before = None;
    for _ in 0..MAX_TURNS {
        let who = met.names.first().cloned().unwrap_or_else(|| peer.address.clone());
        let Some(mut turn) = pipe.read(&who)? else {
            return Err(Failure::new(Kind::Io, format!("{who} has ended the exchange before it was complete")));
        };
        if turn.header.machine == known.machine {
            return Err(Failure::input(format!("{}: this is the store itself", peer.address)));
        }
        met.names.insert(turn.header.name.clone());
        if turn.bytes == 0 {
            // A turn with memories takes its time.
            name_clocks(&turn.header, engine.now(), met);
        }
        if let Some(there) = &turn.header.done {
            met.there.get_or_insert_default().add(there);
        }
        let (state, there, has_lines) = (turn.header.state.clone(), turn.states.take(), turn.bytes > 0);
        if dry_run {
            let there = there.unwrap_or_else(|| here.clone());
            met.sent = differing(&here, &there).len() as u64;
            met.here.changed = differing(&there, &here).len() as u64;
            return Ok(());
        }
        if turn.bytes > 0 {
            progress.start("receiving", Some(turn.bytes));
        }
        let done = merge(engine, turn, &filter, progress, met)?;
        progress.finish();
        if has_lines {
            // Also where no memory is another: a tombstone is a state.
            here = engine.stamps(&filter)?;
        }
        let both = (turn::digest(&here), state);
        if both.0 == both.1 {
            return Ok(());
        }
        if before.as_ref() == Some(&both) {
            break;
        }
        let there = there.ok_or_else(|| Failure::new(Kind::Io, format!("{who} does not list its memories")))?;
        met.sent += pipe.send((engine, progress), &filter, &header(&here, Some(done)), Some(&here), Some(&there))?;
        before = Some(both);
    }
    let why = "the two machines still differ: one rejects memories of the other, or somebody saves meanwhile";
    met.notes.push(why.to_owned());
    Ok(())
}

/// Answers the machine that leads an exchange, until it ends it.
pub fn answer<R: BufRead, W: Write>(engine: &Engine, mut pipe: Pipe<'_, R, W>) -> Result<(), Failure> {
    let known = Known::of(engine)?;
    while let Some(mut turn) = pipe.read("the other machine")? {
        let project = turn.header.project.clone();
        let filter = filter_of(project.as_deref());
        let mut met = Met { address: turn.header.name.clone(), ..Met::default() };
        let (state, there) = (turn.header.state.clone(), turn.states.take());
        let done = merge(engine, turn, &filter, &NoProgress, &mut met)?;
        let here = engine.stamps(&filter)?;
        let header = Header {
            project,
            state: turn::digest(&here),
            done: done.is_any().then_some(done),
            ..Header::new(&known.machine, engine.now())
        };
        let is_same = header.state == state;
        pipe.send((engine, &NoProgress), &filter, &header, (!is_same).then_some(&here), there.as_ref())?;
    }
    Ok(())
}

/// Times order the versions of a memory.
fn name_clocks(other: &Header, now: Millis, met: &mut Met) {
    let difference = other.at.saturating_sub(now);
    if difference.unsigned_abs() >= CLOCKS_DIFFER {
        let seconds = difference.unsigned_abs() / 1_000;
        let how = if difference > 0 { "ahead of" } else { "behind" };
        let note = format!(
            "the clock of {} is {seconds} seconds {how} this one: the newest of two edits may be the wrong one",
            other.name
        );
        if !met.notes.contains(&note) {
            met.notes.push(note);
        }
    }
}
