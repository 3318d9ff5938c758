//! The flags that every verb takes.

use std::path::PathBuf;

use clap::Args;

/// Flags of every verb.
#[derive(Args, Clone, Debug, Default)]
pub struct Global {
    /// Print one JSON object instead of text
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// The plan to work on, instead of the one chosen for this worktree
    #[arg(long, global = true, value_name = "NAME", help_heading = "Everywhere")]
    pub plan: Option<String>,
    /// Who works: todos are started and finished under this name
    #[arg(long, global = true, value_name = "NAME", help_heading = "Everywhere")]
    pub owner: Option<String>,
    /// The folder of the store, instead of the one found from here
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub store: Option<PathBuf>,
    /// Use ASCII symbols only
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub ascii: bool,
}
