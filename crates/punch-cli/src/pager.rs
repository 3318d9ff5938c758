//! Shows long output one screen at a time, as git does: through `PUNCH_PAGER`, `PAGER` or `less`, and only on a
//! terminal.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use punch_engine::process::withhold_passwords;

use crate::environment;

/// Prints through the pager. Returns false if there is none, or nobody who could press a key: then nothing was printed.
pub fn print(text: &str) -> bool {
    let rows = text.lines().count();
    if !environment::has_reader() || rows < environment::screen().height {
        return false;
    }
    let Some(mut child) = environment::pager().and_then(|pager| start(&pager)) else { return false };
    if let Some(mut input) = child.stdin.take() {
        // The user may leave before the end.
        let _ = input.write_all(text.as_bytes());
    }
    let _ = child.wait();
    true
}

/// Starts the pager through the shell: the variable may hold arguments.
fn start(pager: &str) -> Option<Child> {
    let mut command = Command::new("sh");
    withhold_passwords(&mut command).args(["-c", pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Leave at once if it fits, keep colors, leave the text on the screen.
        command.env("LESS", "FRX");
    }
    let child: io::Result<Child> = command.spawn();
    child.ok()
}
