//! [`Proxy`]: a server's address whose connections fail when a test says so.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// When something happens to what a client sends: before the server has it, or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// It never gets there if the connection is cut.
    Before,
    /// Its answer never comes back if the connection is cut.
    After,
}

/// An action of a test.
pub type Action = Box<dyn FnOnce() + Send>;

/// Whether a packet is the one.
type Matcher = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// An action, and the packet at which it is due.
struct Trap {
    is_due: Matcher,
    when: When,
    cuts: bool,
    action: Action,
}

/// Passes on what comes to it, until a trap is sprung.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    trap: Mutex<Option<Trap>>,
    /// Held while something happens.
    acting: Mutex<()>,
    /// How much later an answer comes.
    delay: Duration,
    /// Whether the server has answered since a client last sent something.
    has_answered: AtomicBool,
    round_trips: AtomicUsize,
}

impl Shared {
    fn trap(&self) -> MutexGuard<'_, Option<Trap>> {
        self.trap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn acting(&self) -> MutexGuard<'_, ()> {
        self.acting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Proxy {
    /// Starts one before the port of a server, or of a pooler.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn before(server: u16) -> Self {
        Self::delaying(server, Duration::ZERO)
    }

    /// Starts one as if the server were far away: each answer takes this long.
    ///
    /// # Panics
    /// See [`Proxy::before`].
    pub fn delaying(server: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("a port").port();
        let all = Arc::new(Shared { delay, ..Shared::default() });
        let shared = all.clone();
        // They end with the process.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)) else { continue };
                _ = (client.set_nodelay(true), server.set_nodelay(true));
                let (Ok(from), Ok(to)) = (server.try_clone(), client.try_clone()) else { continue };
                let [of_answers, of_questions] = [(); 2].map(|()| all.clone());
                thread::spawn(move || answers(from, to, &of_answers));
                thread::spawn(move || questions(client, server, &of_questions));
            }
        });
        Proxy { port, shared }
    }

    /// How often clients have waited for an answer. Two packets without an answer in between are one.
    pub fn round_trips(&self) -> usize {
        self.shared.round_trips.load(Ordering::Relaxed)
    }

    /// The address, instead of the one that has the server's port.
    ///
    /// # Panics
    /// If that has no port.
    pub fn of(&self, address: &str) -> String {
        let (start, end) = address.rsplit_once(':').expect("an address with a port");
        format!("{start}:{}{}", self.port, end.trim_start_matches(|digit: char| digit.is_ascii_digit()))
    }

    /// Does something at the packet with a number, from 0 on, of those that clients send from now on. If it `cuts`, that
    /// connection is lost there.
    pub fn at(&self, mut packet: usize, when: When, cuts: bool, action: Action) {
        let is_due = Box::new(move |_: &[u8]| {
            let is_due = packet == 0;
            packet = packet.saturating_sub(1);
            is_due
        });
        *self.shared.trap() = Some(Trap { is_due, when, cuts, action });
    }

    /// Does something at the next packet with these words. See [`Proxy::at`].
    pub fn at_words(&self, words: &'static str, when: When, cuts: bool, action: Action) {
        let is_due = Box::new(move |packet: &[u8]| String::from_utf8_lossy(packet).contains(words));
        *self.shared.trap() = Some(Trap { is_due, when, cuts, action });
    }

    /// Whether the trap was sprung: it may still be doing what it does.
    pub fn is_sprung(&self) -> bool {
        self.shared.trap().is_none()
    }

    /// Takes the trap away. Returns whether it was sprung, when what it did is done.
    pub fn was_sprung(&self) -> bool {
        let was_sprung = self.shared.trap().take().is_none();
        drop(self.shared.acting());
        was_sprung
    }
}

/// The port in an address.
///
/// # Panics
/// If it has none.
pub fn port_of(address: &str) -> u16 {
    let port = address.rsplit_once(':').and_then(|(_, port)| port.split('/').next()?.parse().ok());
    port.expect("an address with a port")
}

/// Passes on what the server says, also to nobody: what it was asked it does to the end.
fn answers(mut server: TcpStream, mut client: TcpStream, shared: &Arc<Shared>) {
    let (send, answers) = mpsc::channel::<(Instant, Vec<u8>)>();
    let all = shared.clone();
    let passing_on = thread::spawn(move || {
        for (came, answer) in answers {
            thread::sleep(all.delay.saturating_sub(came.elapsed()));
            all.has_answered.store(true, Ordering::Relaxed);
            _ = client.write_all(&answer);
        }
        _ = client.shutdown(Shutdown::Both);
    });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = server.read(&mut bytes) {
        _ = send.send((Instant::now(), bytes[..count].to_vec()));
    }
    drop(send);
    _ = passing_on.join();
}

fn questions(mut client: TcpStream, mut server: TcpStream, shared: &Shared) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut bytes) {
        let packet = &bytes[..count];
        if shared.has_answered.swap(false, Ordering::Relaxed) {
            shared.round_trips.fetch_add(1, Ordering::Relaxed);
        }
        let mut set = shared.trap();
        let is_due = set.as_mut().is_some_and(|set| (set.is_due)(packet));
        let _acting = is_due.then(|| shared.acting());
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
