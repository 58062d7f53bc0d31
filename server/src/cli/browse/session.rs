//! The command: opens the store, and runs the event loop.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use memorist_engine::Engine;
use memorist_engine::progress::Progress;
use memorist_engine::types::Filter;

use super::page::Broken;
use super::screen::{self, Screen};
use super::state::{Effect, Measures, State};
use super::theme::Theme;
use super::view;
use super::worker::{self, Message, Worker};
use crate::args::Browse;
use crate::cli::app::Maintenance;
use crate::cli::{App, list};
use crate::exit::{Failure, Kind, Outcome};

/// How often to check for a signal to stop.
const LOOK: Duration = Duration::from_millis(200);

pub fn run(app: &App, args: &Browse) -> Outcome {
    screen::check(app.output())?;
    app.require_store()?;
    let filter = list::filter(&args.filters, &app.settings().context.defaults);
    filter.validate()?;
    // Queries typed letter by letter are not logged.
    let mut config = app.config(Maintenance::On);
    config.log_searches = false;
    let engine = Engine::open(&app.settings().store, config)?;
    let outcome = browse(&engine, filter, args.query.join(" "), &app.bars()?);
    // After the screen is restored: this may have to wait for other writers.
    engine.close();
    outcome
}

/// A thread that reports when it ends by a panic.
struct PanicNotifier(Sender<Message>);

impl Drop for PanicNotifier {
    fn drop(&mut self) {
        if thread::panicking() {
            let why = "internal error; `memorist browse 2>FILE` writes the details to FILE";
            // If nobody receives it, the screen is closed already.
            let _ = self.0.send(Message::Failed(Failure::new(Kind::Internal, why)));
        }
    }
}

fn browse(engine: &Engine, filter: Filter, query: String, stop: &dyn Progress) -> Outcome {
    let (events_in, events) = mpsc::channel();
    let (effects_in, effects) = mpsc::channel();
    let (loading, wanted) = mpsc::channel();
    let screen = Screen::take()?;
    screen::read_keys(events_in.clone());
    thread::scope(|scope| {
        let answers = events_in.clone();
        let loader = scope.spawn(move || {
            let notifier = PanicNotifier(answers);
            worker::load_model(engine, &wanted, &notifier.0);
        });
        let worker = scope.spawn(move || {
            let notifier = PanicNotifier(events_in);
            Worker { engine, filter, answers: &notifier.0, loading }.run(&effects);
        });
        // It drops the only sender of effects, which ends the worker, and with it the loader.
        let outcome = turn(screen, &events, effects_in, query, stop);
        // Joined here, so that their panics, which `turn` has reported, end nothing else.
        let _ = (worker.join(), loader.join());
        outcome
    })
}

/// Draws, waits, and handles events, until the user leaves.
fn turn(
    mut screen: Screen,
    events: &Receiver<Message>,
    effects: Sender<Effect>,
    query: String,
    stop: &dyn Progress,
) -> Outcome {
    let theme = Theme::of_environment();
    let mut broken = Broken::default();
    let (mut state, first) = State::new(query);
    carry_out(&effects, first);
    loop {
        let mut measures = Measures::default();
        screen.draw(|frame| measures = view::draw(frame, &state, theme, &mut broken))?;
        state.drawn(measures);
        let Some(mut message) = next(events, stop) else { return Ok(Kind::Cancelled.code()) };
        // Handle everything that has arrived before the next frame.
        loop {
            match message {
                Message::Event(event) => carry_out(&effects, state.handle(event)),
                Message::Failed(failure) => return Err(failure),
            }
            if state.leaving {
                return Ok(0);
            }
            match events.try_recv() {
                Ok(another) => message = another,
                Err(_) => break,
            }
        }
    }
}

fn carry_out(effects: &Sender<Effect>, all: Vec<Effect>) {
    for effect in all {
        // A worker that has ended has reported it.
        let _ = effects.send(effect);
    }
}

/// The next message; `None` if the process was signalled to stop.
fn next(events: &Receiver<Message>, stop: &dyn Progress) -> Option<Message> {
    loop {
        match events.recv_timeout(LOOK) {
            Ok(message) => return Some(message),
            Err(RecvTimeoutError::Timeout) if !stop.cancelled() => {}
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        }
    }
}
