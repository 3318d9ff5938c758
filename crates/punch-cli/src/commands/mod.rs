//! The verbs: one file each. A verb reads its arguments, calls the library and hands the result to `output`.

mod add;
mod claim;
mod done;
mod drop;
mod fail;
mod hold;
mod list;
mod move_to;
mod next;
mod note;
mod ready;
mod release;
mod renew;
mod reopen;
mod replay;
mod rm;
mod show;
mod start;
mod status;
mod tree;

use clap::Subcommand;

use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::later::Later;
use crate::output;
use crate::project::Project;

/// What `punch` can do.
#[derive(Subcommand)]
pub enum Command {
    /// Add todos
    Add(Later<add::Add>),
    /// Show todos in list order
    List(Later<list::List>),
    /// Show the plan by phases
    Tree(Later<tree::Tree>),
    /// Show everything about one todo
    Show(Later<show::Show>),
    /// Show the plan on one line
    Status(Later<status::Status>),
    /// Show what to work on now
    Next(Later<next::Next>),
    /// Show what can be started, best first
    Ready(Later<ready::Ready>),
    /// Begin work on todos
    Start(Later<start::Start>),
    /// Finish todos
    Done(Later<done::Done>),
    /// Give todos up on purpose
    Drop(Later<drop::Drop>),
    /// Report a failed attempt; the second one ends the todo
    Fail(Later<fail::Fail>),
    /// Open todos again
    Reopen(Later<reopen::Reopen>),
    /// Let a todo wait for something that is not a todo
    Hold(Later<hold::Hold>),
    /// End the hold of todos
    Release(Later<release::Release>),
    /// Archive todos
    Rm(Later<rm::Rm>),
    /// Append a remark to a todo
    Note(Later<note::Note>),
    /// Move a todo in the list
    Move(Later<move_to::Move>),
    /// Claim the best ready todo, or a named one, under a lease
    Claim(Later<claim::Claim>),
    /// Lengthen the lease of a claim
    Renew(Later<renew::Renew>),
    /// Replay recorded todo calls of a dialect and print the answers
    #[command(long_about = replay::LONG_ABOUT)]
    Replay(Later<replay::Replay>),
}

impl Command {
    /// Runs the chosen verb.
    pub fn run(self, global: Global) -> Result<Exit, Failure> {
        let as_json = global.json;
        let project = || Project::find(global);
        let reply = match self {
            Self::Replay(Later(verb)) => return verb.run(),
            Self::Add(Later(verb)) => verb.run(project()?),
            Self::List(Later(verb)) => verb.run(project()?),
            Self::Tree(Later(verb)) => verb.run(project()?),
            Self::Show(Later(verb)) => verb.run(project()?),
            Self::Status(Later(verb)) => verb.run(project()?),
            Self::Next(Later(verb)) => verb.run(project()?),
            Self::Ready(Later(verb)) => verb.run(project()?),
            Self::Start(Later(verb)) => verb.run(project()?),
            Self::Done(Later(verb)) => verb.run(project()?),
            Self::Drop(Later(verb)) => verb.run(project()?),
            Self::Fail(Later(verb)) => verb.run(project()?),
            Self::Reopen(Later(verb)) => verb.run(project()?),
            Self::Hold(Later(verb)) => verb.run(project()?),
            Self::Release(Later(verb)) => verb.run(project()?),
            Self::Rm(Later(verb)) => verb.run(project()?),
            Self::Note(Later(verb)) => verb.run(project()?),
            Self::Move(Later(verb)) => verb.run(project()?),
            Self::Claim(Later(verb)) => verb.run(project()?),
            Self::Renew(Later(verb)) => verb.run(project()?),
        }?;
        output::reply(&reply, as_json)?;
        Ok(reply.exit)
    }
}
