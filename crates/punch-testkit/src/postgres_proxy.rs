//! A proxy between a client and a PostgreSQL server on Unix sockets. It can cut or hold a connection exactly at a commit, and
//! make the network slow.

use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What happens to the next commit that a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nothing.
    Never,
    /// The connection is cut before the server sees it.
    Before,
    /// The server gets it, and its answer is lost.
    After,
    /// It is held for longer than the server lets a client be silent in a transaction, as if the client were stopped.
    Hold,
}

const NEVER: u8 = 0;
const BEFORE: u8 = 1;
const AFTER: u8 = 2;
const HOLD: u8 = 3;

/// How long a held commit is held.
const HELD: Duration = Duration::from_secs(17);

/// A proxy. It lives until the process ends.
#[derive(Debug)]
pub struct Proxy {
    folder: PathBuf,
    shared: Arc<ProxyState>,
}

/// What all connections look at.
#[derive(Debug, Default)]
struct ProxyState {
    cut: AtomicU8,
    cuts: AtomicU32,
    /// How much later everything arrives, in milliseconds.
    delay: AtomicU64,
}

impl ProxyState {
    fn travel(&self) {
        match self.delay.load(Ordering::Relaxed) {
            0 => {}
            delay => thread::sleep(Duration::from_millis(delay)),
        }
    }
}

impl Proxy {
    /// Listens in a new folder and forwards to the server whose socket lies in `server`.
    pub fn start(server: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("punch-px-{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        let listener = UnixListener::bind(folder.join(".s.PGSQL.5432"))?;
        let shared = Arc::new(ProxyState::default());
        let target = server.join(".s.PGSQL.5432");
        let ours = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&target) else { continue };
                let (there, here) = (Arc::clone(&ours), Arc::clone(&ours));
                let (Ok(client_in), Ok(server_in)) = (client.try_clone(), server.try_clone()) else { continue };
                thread::spawn(move || forward(client_in, server, &there));
                thread::spawn(move || back(server_in, client, &here));
            }
        });
        Ok(Self { folder, shared })
    }

    /// The folder with the socket.
    pub fn socket_folder(&self) -> &Path {
        &self.folder
    }

    /// Decides about the next commit.
    pub fn cut(&self, cut: Cut) {
        let word = match cut {
            Cut::Never => NEVER,
            Cut::Before => BEFORE,
            Cut::After => AFTER,
            Cut::Hold => HOLD,
        };
        self.shared.cut.store(word, Ordering::SeqCst);
    }

    /// How many commits were cut or held.
    pub fn cuts(&self) -> u32 {
        self.shared.cuts.load(Ordering::SeqCst)
    }

    /// Makes everything arrive later, in both directions.
    pub fn slow_down(&self, delay: Duration) {
        self.shared.delay.store(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// From the client to the server, looking for commits.
fn forward(mut client: UnixStream, mut server: UnixStream, shared: &ProxyState) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(read @ 1..) = client.read(&mut buffer) {
        let sent = &buffer[..read];
        let is_commit = sent.windows(7).any(|part| part == b"COMMIT\0");
        let how = if is_commit { shared.cut.swap(NEVER, Ordering::SeqCst) } else { NEVER };
        if how != NEVER {
            shared.cuts.fetch_add(1, Ordering::SeqCst);
        }
        match how {
            BEFORE | AFTER => drop(client.shutdown(Shutdown::Both)),
            HOLD => thread::sleep(HELD),
            _ => shared.travel(),
        }
        if how == BEFORE || server.write_all(sent).is_err() {
            break;
        }
        if how == AFTER {
            // The server ends the session after it has done what it was sent.
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

/// From the server to the client. What a client that is gone does not read is read here: a server that cannot send its answers gives
/// up before it comes to the commit.
fn back(mut server: UnixStream, mut client: UnixStream, shared: &ProxyState) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(read @ 1..) = server.read(&mut buffer) {
        shared.travel();
        let _ = client.write_all(&buffer[..read]);
    }
    let _ = client.shutdown(Shutdown::Both);
}
