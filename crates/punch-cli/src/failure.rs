//! How a command ends when it does not end well: exit codes, texts, and the net under every panic.

use std::{any::Any, io, panic};

use crate::output;

/// The exit codes of every verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Ok,
    /// A rule said no, or something named does not exist.
    Refused,
    /// The arguments make no sense.
    Usage,
    /// Something outside did not answer; the same command may work later.
    Unavailable,
    /// Our own mistake.
    Bug,
}

impl Exit {
    /// The number the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Refused => 1,
            Self::Usage => 2,
            Self::Unavailable => 3,
            Self::Bug => 70,
        }
    }
}

/// Why a command stopped early.
#[derive(Debug)]
pub enum Failure {
    /// Whoever read standard output went away, as `head` does. Nobody is left to tell, and nothing is wrong.
    ReaderGone,
    /// Standard input could not be read.
    Input(io::Error),
    /// Standard output could not be written.
    Output(io::Error),
}

impl Failure {
    /// Sorts a failed write: a closed pipe is an end, everything else an error.
    pub fn writing(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::ReaderGone } else { Self::Output(error) }
    }

    /// The exit code it leads to.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::ReaderGone => Exit::Ok,
            Self::Input(_) | Self::Output(_) => Exit::Unavailable,
        }
    }

    /// What is wrong, and what to do about it. `None` where silence is right.
    pub fn text(&self) -> Option<(String, &'static str)> {
        match self {
            Self::ReaderGone => None,
            Self::Input(cause) => {
                Some((format!("cannot read standard input: {cause}"), "pipe or redirect a readable file into it"))
            }
            Self::Output(cause) => Some((
                format!("cannot write standard output: {cause}"),
                "make room where it goes, or send it somewhere else",
            )),
        }
    }
}

/// Runs the program; a panic becomes a short report and [`Exit::Bug`] instead of a backtrace.
///
/// Unwinding, rather than leaving from inside the hook, lets buffered answers reach standard output first.
pub fn guard(body: impl FnOnce() -> Exit + panic::UnwindSafe) -> Exit {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
        output::bug(&panic_message(info.payload()), place.as_deref());
    }));
    catch(body)
}

fn catch(body: impl FnOnce() -> Exit + panic::UnwindSafe) -> Exit {
    panic::catch_unwind(body).unwrap_or(Exit::Bug)
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_in_the_exit_code_of_a_bug() {
        assert_eq!(catch(|| panic!("made by a test")), Exit::Bug);
    }

    #[test]
    fn panic_messages_are_read_from_both_kinds_of_payload() {
        assert_eq!(panic_message(&"literal"), "literal");
        assert_eq!(panic_message(&String::from("formatted")), "formatted");
        assert_eq!(panic_message(&7), "no message");
    }

    #[test]
    fn only_a_closed_pipe_is_silent() {
        assert!(Failure::writing(io::ErrorKind::BrokenPipe.into()).text().is_none());
        assert!(Failure::writing(io::ErrorKind::StorageFull.into()).text().is_some());
    }
}
