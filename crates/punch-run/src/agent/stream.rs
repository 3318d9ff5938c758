//! The output of an agent: all of it goes into its bounded log, and line by line to the reader. An endless line costs
//! no more than its limit.

use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use punch_engine::process::BoundedLog;

/// Bytes of a log.
pub const LOG_LIMIT: u64 = 4 * 1024 * 1024;

/// Bytes of a line that are looked at; the rest of a longer one is skipped. Hosts print whole files as one line.
pub const LINE: usize = 1024 * 1024;

/// Where several streams of one agent are written down.
#[derive(Clone, Debug)]
pub struct Out {
    log: Arc<Mutex<Option<BoundedLog>>>,
    printed: Arc<Mutex<Instant>>,
}

impl Out {
    /// Opens the log.
    pub fn open(path: &Path) -> io::Result<Self> {
        let log = Arc::new(Mutex::new(Some(BoundedLog::open(path, LOG_LIMIT)?)));
        Ok(Self { log, printed: Arc::new(Mutex::new(Instant::now())) })
    }

    /// Writes to this log for a stream whose output is not a sign of life.
    #[must_use]
    pub fn aside(&self) -> Self {
        Self { log: self.log.clone(), printed: Arc::new(Mutex::new(Instant::now())) }
    }

    /// When something was last printed, were it half a line.
    pub fn printed(&self) -> Instant {
        *self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes down. A disk that is full ends the log, not the agent.
    pub fn take(&self, bytes: &[u8]) {
        *self.printed.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.as_mut().is_some_and(|log| log.take(bytes).is_err()) {
            *log = None;
        }
    }
}

/// The lines of a stream, bytes that are not text replaced. Everything is written down on the way.
#[derive(Debug)]
pub struct StreamLines<R> {
    from: R,
    out: Out,
    limit: usize,
    chunk: Vec<u8>,
    /// How much of the chunk was taken already.
    at: usize,
    rest: Vec<u8>,
    ended: bool,
}

impl<R: Read> StreamLines<R> {
    /// Reads lines of at most [`LINE`] bytes.
    pub fn new(from: R, out: Out) -> Self {
        Self { from, out, limit: LINE, chunk: Vec::new(), at: 0, rest: Vec::new(), ended: false }
    }

    /// Changes how many bytes a line may have.
    #[must_use]
    pub fn limited(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Takes what is left of the chunk up to a line end. True if there was one.
    fn fill(&mut self) -> bool {
        let left = &self.chunk[self.at..];
        let end = left.iter().position(|byte| *byte == b'\n');
        let piece = &left[..end.unwrap_or(left.len())];
        let room = self.limit.saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&piece[..piece.len().min(room)]);
        self.at += end.map_or(left.len(), |end| end + 1);
        end.is_some()
    }

    fn line(&mut self) -> String {
        let bytes = std::mem::take(&mut self.rest);
        let text = String::from_utf8_lossy(&bytes);
        text.strip_suffix('\r').unwrap_or(&text).to_owned()
    }
}

impl<R: Read> Iterator for StreamLines<R> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            if self.at < self.chunk.len() && self.fill() {
                return Some(self.line());
            }
            if self.ended {
                return (!self.rest.is_empty()).then(|| self.line());
            }
            let mut chunk = [0; 16 * 1024];
            match self.from.read(&mut chunk) {
                Ok(0) => self.ended = true,
                Ok(n) => {
                    self.out.take(&chunk[..n]);
                    self.chunk.clear();
                    self.chunk.extend_from_slice(&chunk[..n]);
                    self.at = 0;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.ended = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], limit: usize) -> (Vec<String>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let found = StreamLines::new(text, Out::open(&path).unwrap()).limited(limit).collect();
        (found, std::fs::read(&path).unwrap().len())
    }

    #[test]
    fn lines_are_cut_at_their_limit_and_all_is_written_down() {
        let (found, logged) = lines(b"one\r\ntwo and more\n\n\xFFx\nlast", 5);
        assert_eq!(found, ["one", "two a", "", "\u{FFFD}x", "last"]);
        assert_eq!(logged, 26);
    }

    #[test]
    fn a_line_without_end_costs_its_limit() {
        let (found, _) = lines(&[b'x'; 300_000], 1_000);
        assert_eq!(found, ["x".repeat(1_000)]);
    }
}
