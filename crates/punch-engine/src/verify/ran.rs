//! The result of a check.

/// The number of bytes of output that are kept.
pub const TAIL: usize = 8 * 1024;

/// The way in which a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckEnd {
    /// It ended by itself, with this exit code; 128 and more for signals.
    Exit(i32),
    /// It took longer than allowed.
    TimedOut,
    /// The caller stopped it.
    Stopped,
}

/// A check that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// The way in which the check ended.
    pub end: CheckEnd,
    /// The end of what it printed, both streams together; at most [`TAIL`] bytes, as it came.
    pub tail: String,
    /// The hash of everything it printed.
    pub hash: String,
}
