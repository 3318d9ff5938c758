//! How a command fails: exit codes, messages, and the handler for panics.

use std::{any::Any, io, panic};

use punch_core::Refusal;
use punch_engine::EngineError;
use punch_engine::config::{ConfigError, SettingOrigin};
use punch_engine::locate::LocateError;
use punch_store::{StoreError, StoreObstacle};

use crate::output;

/// The exit codes of every verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Ok,
    /// A rule refused the request, or something that was named does not exist.
    Refused,
    /// The arguments make no sense.
    Usage,
    /// Something outside did not answer; the same command may work later.
    Unavailable,
    /// A run has reached a limit.
    Budget,
    /// A run was stopped by a signal.
    Interrupted,
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
            Self::Budget => 4,
            Self::Interrupted => 130,
            Self::Bug => 70,
        }
    }
}

/// Why a command stopped early.
#[derive(Debug)]
pub enum Failure {
    /// The reader of standard output went away, as `head` does. Nothing is wrong, and there is no one left to report to.
    ReaderGone,
    /// Standard input could not be read.
    Input(io::Error),
    /// Standard output could not be written.
    Output(io::Error),
    /// The change is stored, but its answer could not be written. Trying again would do it twice.
    AnswerLost(io::Error),
    /// The working folder is gone or out of reach.
    Folder(io::Error),
    /// A file that was named could not be read or written.
    File(String, io::Error),
    /// The arguments make no sense together.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// What was asked for cannot be done as things are.
    Refused {
        /// The stable code.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The rules or the store refused the request, or a name is unknown.
    Engine(EngineError),
    /// There is no usable place for a store.
    Locate(LocateError),
    /// A setting is wrong.
    Config(ConfigError),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Engine(EngineError::Store(error))
    }
}

impl From<LocateError> for Failure {
    fn from(error: LocateError) -> Self {
        Self::Locate(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl Failure {
    /// Sorts a failed write: a closed pipe is an end, everything else an error.
    pub fn writing(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::ReaderGone } else { Self::Output(error) }
    }

    /// Arguments that make no sense together.
    pub fn usage(message: &str, hint: &str) -> Self {
        Self::Usage { message: message.to_owned(), hint: hint.to_owned() }
    }

    /// Something that cannot be done as things are.
    pub fn refused(code: &'static str, message: impl Into<String>, hint: &str) -> Self {
        Self::Refused { code, message: message.into(), hint: hint.to_owned() }
    }

    /// A value that the command line gave for a setting, as a mistake in the flag or argument of this name. Other failures
    /// stay as they are.
    #[must_use]
    pub fn naming(self, name: impl Fn(&str) -> Option<String>, hint: &str) -> Self {
        match self {
            Self::Config(ConfigError::BadValue { place: SettingOrigin::Flag, key, what, way_out }) => {
                match name(&key) {
                    Some(name) => {
                        Self::Usage { message: format!("invalid value for `{name}`: {what}"), hint: hint.to_owned() }
                    }
                    None => Self::Config(ConfigError::BadValue { place: SettingOrigin::Flag, key, what, way_out }),
                }
            }
            other => other,
        }
    }

    /// The exit code it leads to.
    pub fn exit(&self) -> Exit {
        match self {
            Self::ReaderGone => Exit::Ok,
            Self::Usage { .. } => Exit::Usage,
            Self::Input(_) | Self::Output(_) | Self::Folder(_) => Exit::Unavailable,
            Self::AnswerLost(_) | Self::File(..) | Self::Config(_) | Self::Locate(_) | Self::Refused { .. } => {
                Exit::Refused
            }
            Self::Engine(EngineError::Store(error)) => match error {
                StoreError::Conflict { .. } => Exit::Unavailable,
                StoreError::Unavailable { reason, .. } => match reason {
                    StoreObstacle::Busy | StoreObstacle::Full | StoreObstacle::System | StoreObstacle::Unsure => {
                        Exit::Unavailable
                    }
                    // The same command will not do better later.
                    StoreObstacle::Missing
                    | StoreObstacle::ReadOnly
                    | StoreObstacle::Foreign
                    | StoreObstacle::Symlink
                    | StoreObstacle::Owner
                    | StoreObstacle::Address => Exit::Refused,
                },
                StoreError::Failed { .. } | StoreError::Abort => Exit::Bug,
                StoreError::UnknownPlan { .. } | StoreError::TooNew { .. } | StoreError::Damaged { .. } => {
                    Exit::Refused
                }
                StoreError::LostWrites { .. } => Exit::Refused,
            },
            Self::Engine(error) if matches!(error.code(), "conflict" | "plan_file_busy" | "run_taken") => {
                Exit::Unavailable
            }
            Self::Engine(_) => Exit::Refused,
        }
    }

    /// The stable code that programs match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ReaderGone => "reader_gone",
            Self::Usage { .. } => "usage",
            Self::Input(_) => "input",
            Self::Output(_) => "output",
            Self::AnswerLost(_) => "answer_lost",
            Self::Folder(_) => "folder",
            Self::File(..) => "file",
            Self::Refused { code, .. } => code,
            Self::Config(error) => error.code(),
            Self::Locate(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }

    /// The moments that the text names, in UTC.
    pub fn moments(&self) -> Vec<i64> {
        match self {
            Self::Engine(EngineError::Refused(refusals)) => refusals.iter().flat_map(Refusal::moments).collect(),
            _ => Vec::new(),
        }
    }

    /// What is wrong, and what to do about it. `None` where silence is right.
    pub fn text(&self) -> Option<(String, String)> {
        Some(match self {
            Self::ReaderGone => return None,
            Self::Input(cause) => {
                (format!("cannot read standard input: {}", plain(cause)), "redirect a readable file to it".into())
            }
            Self::Output(cause) => (
                format!("cannot write standard output: {}", plain(cause)),
                "free some space, or write somewhere else".into(),
            ),
            Self::AnswerLost(cause) => (
                format!("the change is stored, but standard output cannot be written: {}", plain(cause)),
                "do not run the command again; `punch log` shows the change".into(),
            ),
            Self::Folder(cause) => {
                (format!("cannot use the current folder: {}", plain(cause)), "change to a folder that exists".into())
            }
            Self::File(path, cause) => {
                (format!("cannot use the file `{path}`: {}", plain(cause)), "check the name and the permissions".into())
            }
            Self::Usage { message, hint } | Self::Refused { message, hint, .. } => (message.clone(), hint.clone()),
            Self::Engine(error) => (error.message(), error.hint()),
            Self::Locate(error) => (error.message(), error.hint()),
            Self::Config(error) => {
                // Where the user has just typed it needs no word.
                let (message, place) = (error.message(), format!("{}: ", SettingOrigin::Flag));
                (message.strip_prefix(&place).unwrap_or(&message).to_owned(), error.hint())
            }
        })
    }
}

/// What the system says about a failure, without its number.
fn plain(cause: &io::Error) -> String {
    let said = cause.to_string();
    let said = said.split(" (os error").next().unwrap_or_default();
    let mut letters = said.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
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
