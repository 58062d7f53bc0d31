//! [`Proxy`]: a server's address whose connections fail when a test says so.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

/// When something happens to what a client sends: before the server has it, or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Before,
    After,
}

/// What a test does.
pub(super) type Action = Box<dyn FnOnce() + Send>;

/// Whether a packet is the one.
type Matcher = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// What happens, and at which of the packets that come.
struct Trap {
    is_due: Matcher,
    when: When,
    cuts: bool,
    action: Action,
}

/// Passes on what comes to it, until a trap is sprung.
pub(super) struct Proxy {
    port: u16,
    trap: Arc<Mutex<Option<Trap>>>,
    /// Held while something happens.
    acting: Arc<Mutex<()>>,
}

impl Proxy {
    /// One before the port of a server, or of a pooler.
    pub(super) fn before(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let trap = Arc::<Mutex<Option<Trap>>>::default();
        let acting = Arc::<Mutex<()>>::default();
        let shared = (trap.clone(), acting.clone());
        // They end with the process.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)) else { continue };
                _ = (client.set_nodelay(true), server.set_nodelay(true));
                let (trap, acting) = shared.clone();
                let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || answers(from, to));
                thread::spawn(move || questions(client, server, &trap, &acting));
            }
        });
        Proxy { port, trap, acting }
    }

    /// The address, instead of the one that has the server's port.
    pub(super) fn of(&self, address: &str) -> String {
        let (start, end) = address.rsplit_once(':').unwrap();
        format!("{start}:{}{}", self.port, end.trim_start_matches(|digit: char| digit.is_ascii_digit()))
    }

    /// Does something at the packet with a number, from 0 on, of those that clients send from now on. If it `cuts`, that
    /// connection is lost there.
    pub(super) fn at(&self, mut packet: usize, when: When, cuts: bool, action: Action) {
        let is_due = Box::new(move |_: &[u8]| {
            let is_due = packet == 0;
            packet = packet.saturating_sub(1);
            is_due
        });
        *self.trap.lock() = Some(Trap { is_due, when, cuts, action });
    }

    /// The same at the next packet with these words.
    pub(super) fn at_words(&self, words: &'static str, when: When, cuts: bool, action: Action) {
        let is_due = Box::new(move |packet: &[u8]| String::from_utf8_lossy(packet).contains(words));
        *self.trap.lock() = Some(Trap { is_due, when, cuts, action });
    }

    /// Takes the trap away. Returns whether it was sprung, when what it did is done.
    pub(super) fn was_sprung(&self) -> bool {
        let was_sprung = self.trap.lock().take().is_none();
        drop(self.acting.lock());
        was_sprung
    }
}

/// Passes on what the server says, also to nobody: what it was asked it does to the end.
fn answers(mut server: TcpStream, mut client: TcpStream) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = server.read(&mut bytes) {
        _ = client.write_all(&bytes[..count]);
    }
    _ = client.shutdown(Shutdown::Both);
}

fn questions(mut client: TcpStream, mut server: TcpStream, trap: &Mutex<Option<Trap>>, acting: &Mutex<()>) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut bytes) {
        let packet = &bytes[..count];
        let mut set = trap.lock();
        let is_due = set.as_mut().is_some_and(|set| (set.is_due)(packet));
        let _acting = is_due.then(|| acting.lock());
        let sprung = if is_due { set.take() } else { None };
        drop(set);
        let Some(Trap { when, cuts, action, .. }) = sprung else {
            if server.write_all(packet).is_err() {
                break;
            }
            continue;
        };
        if cuts {
            _ = client.shutdown(Shutdown::Both);
        }
        match when {
            When::Before => {
                action();
                _ = cuts || server.write_all(packet).is_ok();
            }
            When::After => {
                _ = server.write_all(packet);
                action();
            }
        }
        if cuts {
            break;
        }
    }
    _ = server.shutdown(Shutdown::Write);
}
