//! Takes over the terminal for the board, and restores it however the board ends.

use std::cell::Cell;
use std::io::{self, BufWriter, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// Whether the terminal is taken. Giving it back twice would put the cursor where it was before the board, over the report
/// of a panic.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Held while a picture is written, so that another thread that panics in the meantime reports after it and not into it.
static DRAWING: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether this thread holds [`DRAWING`]: if drawing itself panics, its report must not wait for the picture.
    static DRAWS: Cell<bool> = const { Cell::new(false) };
}

/// The terminal while the board is on it. Dropping it gives the terminal back.
pub struct TerminalScreen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    mouse: bool,
}

impl TerminalScreen {
    /// Takes the terminal.
    pub fn take(mouse: bool) -> io::Result<Self> {
        enter(mouse)?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, io::stdout()));
        match Terminal::new(backend) {
            Ok(terminal) => Ok(Self { terminal, mouse }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Draws a picture.
    pub fn draw(&mut self, picture: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        let _drawing = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
        // A panic of another thread has given the terminal back, and its report must stay.
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        DRAWS.set(true);
        let drawn = self.terminal.draw(picture).map(|_| ());
        DRAWS.set(false);
        drawn
    }

    /// Gives the terminal back while `body` runs, and takes it again.
    pub fn lend<T>(&mut self, body: impl FnOnce() -> T) -> io::Result<T> {
        leave();
        let done = body();
        enter(self.mouse)?;
        self.terminal.clear()?;
        Ok(done)
    }

    /// Puts a text on the clipboard, where the terminal allows that.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout();
        write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
        out.flush()
    }

    /// Rings the bell, and shows a notification on terminals that know OSC 9. Others ignore it.
    pub fn notify(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout();
        out.write_all(notification(text).as_bytes())?;
        out.flush()
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        leave();
    }
}

fn enter(mouse: bool) -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
    if mouse {
        execute!(io::stdout(), EnableMouseCapture)?;
    }
    Ok(())
}

/// Whatever fails here, the rest is tried: a terminal half given back is worse than one that was never taken.
fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(io::stdout(), DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Gives the terminal back before a panic is reported, so that the report can be read.
pub fn restore_on_panic() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let _no_picture = (!DRAWS.get()).then(|| DRAWING.lock().unwrap_or_else(PoisonError::into_inner));
        leave();
        report(info);
    }));
}

/// What makes a terminal notify the user. Nothing in the text can end the sequence and begin another one.
fn notification(text: &str) -> String {
    let text: String = punch_core::text::neutral(text).chars().filter(|c| !c.is_control()).collect();
    format!("\x1b]9;punch: {text}\x1b\\\x07")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{base64, notification};

    #[test]
    fn a_notification_is_one_sequence_whatever_its_text() {
        assert_eq!(notification("T-1 asks"), "\x1b]9;punch: T-1 asks\x1b\\\x07");
        let hostile = notification("a\x07b\x1b]52;c;x\x07\u{9c}\r\nc");
        assert_eq!(hostile.matches('\x1b').count(), 2, "{hostile:?}");
        assert_eq!(hostile.matches('\x07').count(), 1, "{hostile:?}");
        assert!(!hostile.contains('\u{9c}') && !hostile.contains('\n'), "{hostile:?}");
    }

    #[test]
    fn texts_for_the_clipboard_are_encoded() {
        for (text, encoded) in [("", ""), ("T", "VA=="), ("T-", "VC0="), ("T-1", "VC0x"), ("T-12", "VC0xMg==")] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }
}
