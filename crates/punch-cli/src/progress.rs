//! A sign of life on the terminal while a command takes longer than half a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::style::Stream;
use crate::{environment, output};

/// Commands that end sooner show nothing.
const QUIET: Duration = Duration::from_millis(500);
/// How often the line changes.
const STEP: Duration = Duration::from_millis(250);

/// A line is on the screen, and goes before anything else is printed.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// The line, as long as this lives.
pub struct Progress {
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins, if the user watches.
    pub fn begin() -> Option<Self> {
        if !Stream::Err.is_terminal() || environment::inside_agent().is_some() {
            return None;
        }
        let (ended, end) = channel::<()>();
        let thread = thread::spawn(move || {
            let begun = Instant::now();
            let mut wait = QUIET;
            while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = STEP;
                let dots = ".".repeat(1 + (begun.elapsed().as_millis() / STEP.as_millis()) as usize % 3);
                SHOWN.store(true, Ordering::Relaxed);
                output::terminal(&format!("\r\x1b[Kworking{dots:3} {} s", begun.elapsed().as_secs()));
            }
            clear();
        });
        Some(Self { ended: Some(ended), thread: Some(thread) })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.ended.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes the line away, if there is one.
pub fn clear() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        output::terminal("\r\x1b[K");
    }
}
