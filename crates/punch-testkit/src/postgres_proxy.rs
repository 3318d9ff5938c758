//! A proxy between a client and a PostgreSQL server on Unix sockets, which can cut a connection exactly at a commit.

use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::thread;

/// What happens to the next commit that a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nothing.
    Never,
    /// The connection is cut before the server sees it.
    Before,
    /// The server gets it, and its answer is lost.
    After,
}

const NEVER: u8 = 0;
const BEFORE: u8 = 1;
const AFTER: u8 = 2;

/// A proxy. It lives until the process ends.
#[derive(Debug)]
pub struct Proxy {
    folder: PathBuf,
    cut: Arc<AtomicU8>,
    cuts: Arc<AtomicU32>,
}

impl Proxy {
    /// Listens in a new folder and forwards to the server whose socket lies in `server`.
    pub fn start(server: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("punch-px-{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        let listener = UnixListener::bind(folder.join(".s.PGSQL.5432"))?;
        let (cut, cuts) = (Arc::new(AtomicU8::new(NEVER)), Arc::new(AtomicU32::new(0)));
        let target = server.join(".s.PGSQL.5432");
        let shared = (Arc::clone(&cut), Arc::clone(&cuts));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&target) else { continue };
                let (cut, cuts) = (Arc::clone(&shared.0), Arc::clone(&shared.1));
                let (Ok(client_in), Ok(server_in)) = (client.try_clone(), server.try_clone()) else { continue };
                thread::spawn(move || forward(client_in, server, &cut, &cuts));
                thread::spawn(move || back(server_in, client));
            }
        });
        Ok(Self { folder, cut, cuts })
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
        };
        self.cut.store(word, Ordering::SeqCst);
    }

    /// How many commits were cut.
    pub fn cuts(&self) -> u32 {
        self.cuts.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// From the client to the server, looking for commits.
fn forward(mut client: UnixStream, mut server: UnixStream, cut: &AtomicU8, cuts: &AtomicU32) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(read @ 1..) = client.read(&mut buffer) {
        let sent = &buffer[..read];
        let is_commit = sent.windows(7).any(|part| part == b"COMMIT\0");
        let how = if is_commit { cut.swap(NEVER, Ordering::SeqCst) } else { NEVER };
        if how != NEVER {
            cuts.fetch_add(1, Ordering::SeqCst);
            let _ = client.shutdown(Shutdown::Both);
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
fn back(mut server: UnixStream, mut client: UnixStream) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(read @ 1..) = server.read(&mut buffer) {
        let _ = client.write_all(&buffer[..read]);
    }
    let _ = client.shutdown(Shutdown::Both);
}
