//! Log messages of a server. Never on standard output, which belongs to the protocol.

use std::io::Write;
use std::sync::{Arc, Mutex};

/// Where remarks go, shared by everything that serves.
#[derive(Clone)]
pub struct ServeLog {
    out: Arc<Mutex<Box<dyn Write + Send>>>,
}

/// Discards every remark.
impl Default for ServeLog {
    fn default() -> Self {
        Self::new(Box::new(std::io::sink()))
    }
}

impl ServeLog {
    /// Writes to a file or a stream.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out: Arc::new(Mutex::new(out)) }
    }

    /// One line. A log that cannot be written is not a reason to stop serving.
    pub fn say(&self, line: &str) {
        if let Ok(mut out) = self.out.lock() {
            let _ = writeln!(out, "punch mcp: {}", punch_core::text::neutral(line));
            let _ = out.flush();
        }
    }
}
