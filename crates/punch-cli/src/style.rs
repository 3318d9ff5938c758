//! Whether output has colors, and which color each role of a view has. Colors come from the terminal's own sixteen, so that
//! light and dark themes both work, and never carry a meaning alone: signs and words say the same.

use std::io::IsTerminal;
use std::sync::OnceLock;

use punch_core::ShownStatus;
use punch_core::view::{SpanRole, ViewLine};
use punch_engine::config::Color;

use crate::environment;

/// What `--color` and `view.color` ask for. Set once, before anything is printed.
static CHOICE: OnceLock<Color> = OnceLock::new();

/// Chooses for this process; the first choice counts.
pub fn choose(color: Color) {
    let _ = CHOICE.set(color);
}

/// Where something is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl OutputStream {
    /// Returns true if it is a terminal that shows more than plain text.
    pub fn is_terminal(self) -> bool {
        let terminal = match self {
            Self::Out => std::io::stdout().is_terminal(),
            Self::Err => std::io::stderr().is_terminal(),
        };
        terminal && !environment::is_dumb_terminal()
    }

    /// The painter for what is printed there.
    pub fn painter(self) -> Painter {
        let colors = match CHOICE.get().copied().unwrap_or(Color::Auto) {
            Color::Always => true,
            Color::Never => false,
            // Agents read what they run, and escapes cost them tokens.
            Color::Auto => self.is_terminal() && !environment::no_color() && environment::inside_agent().is_none(),
        };
        Painter { colors }
    }
}

/// Turns roles into escapes, or leaves them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Painter {
    colors: bool,
}

impl Painter {
    /// Returns true if it paints at all.
    pub const fn has_colors(self) -> bool {
        self.colors
    }

    /// Appends a line without its end.
    pub fn line(self, line: &ViewLine, out: &mut String) {
        for span in &line.0 {
            self.put(span.role, &span.text, out);
        }
    }

    /// Words in the color of a role.
    pub fn words(self, role: SpanRole, words: &str) -> String {
        let mut out = String::new();
        self.put(role, words, &mut out);
        out
    }

    fn put(self, role: SpanRole, words: &str, out: &mut String) {
        match code(role).filter(|_| self.colors) {
            None => out.push_str(words),
            Some(code) => {
                // A color that covers the padding of a column shows as nothing, but some terminals underline it.
                let text = words.trim_end();
                out.push_str("\x1b[");
                out.push_str(code);
                out.push('m');
                out.push_str(text);
                out.push_str("\x1b[0m");
                out.push_str(&words[text.len()..]);
            }
        }
    }
}

/// The parameters of the escape; `None` leaves the text as it is.
const fn code(role: SpanRole) -> Option<&'static str> {
    Some(match role {
        SpanRole::Text => return None,
        SpanRole::Heading | SpanRole::Strong | SpanRole::Command => "1",
        SpanRole::Id => "36",
        SpanRole::Owner => "34",
        SpanRole::Detail => "2",
        SpanRole::Warning => "33",
        SpanRole::Done => "32",
        SpanRole::Status(status) => match status {
            ShownStatus::Ready => return None,
            ShownStatus::Waiting | ShownStatus::Parked | ShownStatus::Cancelled | ShownStatus::Archived => "2",
            ShownStatus::Stuck | ShownStatus::Empty => "31",
            ShownStatus::Failed => "1;31",
            ShownStatus::Held => "35",
            ShownStatus::InProgress | ShownStatus::Stalled | ShownStatus::Reported => "33",
            ShownStatus::Completed => "32",
        },
    })
}
