//! Evidence from what hooks see: which commands check work, whether their result is known, and what the result says about a
//! todo. Pure; nothing runs here, and nothing is believed that a command only prints (decision 0110).

mod changes;
mod commands;
mod line;
mod observation;
mod selection;
mod shell;
mod wrapper;

pub use line::{SeenRun, ShellStep, steps};
pub use observation::{Observation, SeenCheck};
pub use selection::{selected, selects};

crate::words! {
    /// The proof of a completed todo.
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Proof {
        /// A check passed, and nothing was changed after it.
        Checked = "checked",
        /// No check ran, or its result is not known.
        Unchecked = "unchecked",
        /// A check passed, and files were changed after it.
        Outdated = "outdated",
        /// The last check failed.
        Failing = "failing",
    }
}

crate::words! {
    /// What a check command does. A success of a stronger one makes up for the failure of a weaker one.
    #[derive(PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CheckKind {
        /// It looks for mistakes in the text.
        Lint = "lint",
        /// A check that compiles.
        Build = "build",
        /// A check that runs tests.
        Test = "test",
    }
}
