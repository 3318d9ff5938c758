//! Shows progress on the terminal while a command takes longer than half a second.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::style::OutputStream;
use crate::{environment, output};

/// Commands that end sooner show nothing.
const QUIET: Duration = Duration::from_millis(500);
/// How often the line changes.
const STEP: Duration = Duration::from_millis(250);

/// The line on the screen.
static LINE: Mutex<ProgressLine> = Mutex::new(ProgressLine::None);

/// What is on the screen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgressLine {
    /// No line yet, or none any more.
    None,
    /// A line, which goes before anything else is printed.
    Shown,
    /// The user is asked something, and no line may cover that.
    Forbidden,
}

/// The line, as long as this lives.
pub struct ProgressDisplay {
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressDisplay {
    /// Begins, if the user watches.
    pub fn begin() -> Option<Self> {
        if !OutputStream::Err.is_terminal() || environment::inside_agent().is_some() {
            return None;
        }
        let (ended, end) = channel::<()>();
        let thread = thread::spawn(move || {
            let begun = Instant::now();
            let mut wait = QUIET;
            while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = STEP;
                show(begun.elapsed(), output::terminal);
            }
            clear();
        });
        Some(Self { ended: Some(ended), thread: Some(thread) })
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        drop(self.ended.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Draws the line again.
fn show(since: Duration, print: impl Fn(&str)) {
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if *line == ProgressLine::Forbidden {
        return;
    }
    *line = ProgressLine::Shown;
    let dots = ".".repeat(1 + (since.as_millis() / STEP.as_millis()) as usize % 3);
    print(&format!("\r\x1b[Kworking{dots:3} {} s", since.as_secs()));
}

/// Takes the line away, if there is one.
pub fn clear() {
    replace(ProgressLine::None, output::terminal);
}

/// Takes the line away for good, because the user is asked something.
pub fn forbid() {
    replace(ProgressLine::Forbidden, output::terminal);
}

fn replace(by: ProgressLine, print: impl Fn(&str)) {
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if *line == ProgressLine::Shown {
        print("\r\x1b[K");
    }
    if *line != ProgressLine::Forbidden {
        *line = by;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_line_goes_for_good_when_the_user_is_asked_something() {
        let printed = RefCell::new(Vec::new());
        let print = |text: &str| printed.borrow_mut().push(text.to_owned());
        show(Duration::from_secs(3), print);
        replace(ProgressLine::None, print);
        show(Duration::from_secs(4), print);
        replace(ProgressLine::Forbidden, print);
        show(Duration::from_secs(5), print);
        replace(ProgressLine::None, print);
        show(Duration::from_secs(6), print);
        let is_line: Vec<bool> = printed.borrow().iter().map(|text| text.contains("working")).collect();
        assert_eq!(is_line, [true, false, true, false], "{printed:?}");
    }
}
