//! What can be wrong with a plan file. Whatever it is, neither the file nor the plan was changed.

use std::path::PathBuf;

use punch_core::plan_file::LIMIT;
use punch_core::{Refusal, text};

/// Why a plan file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// The plan has none.
    NotLinked,
    /// The plan has another one.
    Linked(PathBuf),
    /// The file belongs to another plan, by its name.
    Taken(PathBuf, String),
    /// There is no such file.
    Missing(PathBuf),
    /// It is a link; where it leads.
    Link(PathBuf, PathBuf),
    /// A folder, a pipe, a device.
    NotFile(PathBuf),
    /// Larger than is read.
    TooLarge(PathBuf),
    /// Not UTF-8; the first wrong byte, counted from 1.
    NotText(PathBuf, usize),
    /// What stands in it is not understood.
    Unclear(PathBuf, Refusal),
    /// The system said no.
    System(PathBuf, String),
    /// Another process is writing it, or it changes all the time.
    Busy(PathBuf),
}

impl FileError {
    /// The stable code that programs match on.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotLinked => "no_plan_file",
            Self::Linked(_) => "plan_file_linked",
            Self::Taken(..) => "plan_file_taken",
            Self::Missing(_) => "plan_file_missing",
            Self::Link(..) | Self::NotFile(_) => "plan_file_kind",
            Self::TooLarge(_) => "too_large",
            Self::NotText(..) | Self::Unclear(..) => "plan_file_unclear",
            Self::System(..) => "plan_file_system",
            Self::Busy(_) => "plan_file_busy",
        }
    }

    /// What is wrong.
    pub fn message(&self) -> String {
        let named = |path: &PathBuf| format!("`{}`", text::neutral(&path.display().to_string()));
        match self {
            Self::NotLinked => "the plan has no plan file".to_owned(),
            Self::Linked(path) => format!("the plan is linked to {}", named(path)),
            Self::Taken(path, plan) => format!("{} belongs to the plan `{}`", named(path), text::neutral(plan)),
            Self::Missing(path) => format!("no file {}", named(path)),
            Self::Link(path, to) => format!("{} is a link to {}", named(path), named(to)),
            Self::NotFile(path) => format!("{} is no file", named(path)),
            Self::TooLarge(path) => format!("{} is larger than {} MiB", named(path), LIMIT / 1024 / 1024),
            Self::NotText(path, byte) => format!("{}: not UTF-8 text (byte {byte} is wrong)", named(path)),
            Self::Unclear(path, refusal) => format!("{}: {}", named(path), refusal.message()),
            Self::System(path, cause) => format!("cannot use {}: {cause}", named(path)),
            Self::Busy(path) => format!("{} is being changed by somebody else", named(path)),
        }
    }

    /// What to do.
    pub fn hint(&self) -> String {
        match self {
            Self::NotLinked => "`punch plan-file link FILE` links one".to_owned(),
            Self::Linked(_) => "`punch plan-file unlink` first; the file stays".to_owned(),
            Self::Taken(_, plan) => format!("`punch plan-file unlink --plan {}` first", text::shell(plan)),
            Self::Missing(path) => {
                let path = path.display().to_string();
                format!("`punch export --format cursor-plan {}` makes one", text::shell(&path))
            }
            Self::Link(_, to) => format!("name the file itself: {}", text::shell(&to.display().to_string())),
            Self::NotFile(_) => "name a file whose name ends with `.plan.md`".to_owned(),
            Self::TooLarge(_) => "keep the text below the list in a file of its own".to_owned(),
            Self::NotText(..) => "save it as UTF-8".to_owned(),
            Self::Unclear(..) => "mend it and try again; nothing was changed".to_owned(),
            Self::System(..) => "check the permissions of the file and of its folder".to_owned(),
            Self::Busy(_) => "try again in a moment".to_owned(),
        }
    }
}
