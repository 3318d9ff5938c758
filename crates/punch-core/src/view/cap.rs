//! The size cap of a view, and the page that keeps it.

/// How large a view may become. Views say how many todos they left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    lines: usize,
    bytes: usize,
}

impl Cap {
    /// Smaller caps would have no room for the counts.
    const LEAST: Self = Self { lines: 4, bytes: 256 };

    /// At most that many lines and bytes; never below 4 lines and 256 bytes.
    pub const fn new(lines: usize, bytes: usize) -> Self {
        Self {
            lines: if lines < Self::LEAST.lines { Self::LEAST.lines } else { lines },
            bytes: if bytes < Self::LEAST.bytes { Self::LEAST.bytes } else { bytes },
        }
    }

    /// The number of lines.
    pub const fn lines(self) -> usize {
        self.lines
    }

    /// The number of bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }
}

impl Default for Cap {
    fn default() -> Self {
        Self::new(200, 32 * 1024)
    }
}

/// What follows a line besides the foot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Further lines: room is kept for the line that counts what was left out.
    More,
    /// Nothing.
    End,
}

/// Text that grows line by line until the cap is reached.
#[derive(Clone)]
pub(super) struct Page {
    cap: Cap,
    text: String,
    lines: usize,
    foot: String,
}

impl Page {
    /// No number makes `+N more` longer than this.
    const MORE: usize = 32;

    /// An empty page; `foot` (short) always fits below.
    pub(super) fn new(cap: Cap, foot: String) -> Self {
        Self { cap, text: String::new(), lines: 0, foot }
    }

    /// Appends a line if it fits together with all that must follow, and says whether it did.
    pub(super) fn line(&mut self, line: &str, then: Then) -> bool {
        let (mut lines, mut bytes) = (self.lines + 1, self.text.len() + line.len() + 1);
        if !self.foot.is_empty() {
            lines += 1 + self.foot.matches('\n').count();
            bytes += self.foot.len() + 1;
        }
        if then == Then::More {
            lines += 1;
            bytes += Self::MORE;
        }
        let fits = lines <= self.cap.lines && bytes <= self.cap.bytes;
        if fits {
            self.push(line);
        }
        fits
    }

    /// Says how many todos were left out, if any, and adds the foot.
    pub(super) fn end(mut self, left_out: usize) -> String {
        if left_out > 0 {
            self.push(&format!("+{left_out} more"));
        }
        if !self.foot.is_empty() {
            let foot = std::mem::take(&mut self.foot);
            self.push(&foot);
        }
        self.text
    }

    fn push(&mut self, line: &str) {
        if self.lines > 0 {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.lines += 1;
    }
}
