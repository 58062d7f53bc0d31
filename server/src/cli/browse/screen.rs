//! Takes over the terminal, and restores it: at the end, on an error, and on a panic.

use std::io::{self, IsTerminal, Stdout};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event as Input, KeyEventKind};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::prelude::CrosstermBackend;
use ratatui::{Frame, Terminal};

use super::state::Event;
use super::worker::Message;
use crate::exit::{Failure, Kind};
use crate::output::Output;

/// Whether the terminal is taken over. The panic hook has no other way to know it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Refuses anything but a terminal.
pub fn check(output: Output) -> Result<(), Failure> {
    if output.json {
        return Err(Failure::input("browse is interactive and prints no JSON; use `memorist search --json`"));
    }
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Failure::input("browse needs a terminal on stdin and stdout; without one use `memorist search`"));
    }
    Ok(())
}

/// The terminal, while it is taken over.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes over the terminal.
    pub fn take() -> Result<Self, Failure> {
        give_back_on_panic();
        TAKEN.store(true, Ordering::SeqCst);
        let taken = terminal::enable_raw_mode()
            .and_then(|()| execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste))
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match taken {
            Ok(terminal) => Ok(Screen { terminal }),
            Err(error) => {
                give_back();
                Err(failure(&error))
            }
        }
    }

    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> Result<(), Failure> {
        self.terminal.draw(draw).map(drop).map_err(|error| failure(&error))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal, at the first call. Errors are ignored: the terminal is gone.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

/// A panic of this thread is printed where it can be read. One of another thread would be written across the screen,
/// which continues: the code that joins that thread reports it.
fn give_back_on_panic() {
    let own = thread::current().id();
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == own {
            give_back();
        }
        if TAKEN.load(Ordering::SeqCst) { tracing::error!("{info}") } else { others(info) }
    }));
}

/// Sends key events from a thread that ends with the process: reading cannot be interrupted.
pub fn read_keys(events: Sender<Message>) {
    thread::spawn(move || {
        loop {
            let message = match event::read() {
                Ok(Input::Key(key)) if key.kind != KeyEventKind::Release => Message::Event(Event::Key(key)),
                Ok(Input::Paste(text)) => Message::Event(Event::Pasted(text)),
                Ok(Input::Resize(..)) => Message::Event(Event::Resized),
                Ok(_) => continue,
                Err(error) => Message::Failed(failure(&error)),
            };
            let last = matches!(message, Message::Failed(_));
            if events.send(message).is_err() || last {
                return;
            }
        }
    });
}

fn failure(error: &io::Error) -> Failure {
    Failure::new(Kind::Io, format!("the terminal cannot be used: {error}"))
}
