//! The verbs: one file each. A verb reads its arguments, calls the library and hands the result to `output`.

mod add;
mod claim;
mod cost;
mod done;
mod drop;
mod fail;
mod hold;
mod list;
mod mcp;
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
use crate::output;
use crate::project::Project;

/// What `punch` can do.
#[derive(Subcommand)]
pub enum Command {
    /// Add todos
    Add(add::Add),
    /// Show todos in list order
    List(list::List),
    /// Show the plan by phases
    Tree(tree::Tree),
    /// Show everything about one todo
    Show(show::Show),
    /// Show the plan on one line
    Status(status::Status),
    /// Show what to work on now
    Next(next::Next),
    /// Show what can be started, best first
    Ready(ready::Ready),
    /// Begin work on todos
    Start(start::Start),
    /// Finish todos
    Done(done::Done),
    /// Give todos up on purpose
    Drop(drop::Drop),
    /// Report a failed attempt; the second one ends the todo
    Fail(fail::Fail),
    /// Open todos again
    Reopen(reopen::Reopen),
    /// Let a todo wait for something that is not a todo
    Hold(hold::Hold),
    /// End the hold of todos
    Release(release::Release),
    /// Archive todos
    Rm(rm::Rm),
    /// Append a remark to a todo
    Note(note::Note),
    /// Move a todo in the list
    Move(move_to::Move),
    /// Claim the best ready todo, or a named one, under a lease
    Claim(claim::Claim),
    /// Lengthen the lease of a claim
    Renew(renew::Renew),
    /// Serve the plan to agents that speak MCP
    #[command(long_about = mcp::LONG_ABOUT)]
    Mcp(mcp::Mcp),
    /// Show what the tools and recorded calls cost a model
    Cost(cost::Cost),
    /// Replay recorded todo calls of a dialect and print the answers
    #[command(long_about = replay::LONG_ABOUT)]
    Replay(replay::Replay),
}

impl Command {
    /// Runs the chosen verb.
    pub fn run(self, global: Global) -> Result<Exit, Failure> {
        let as_json = global.json;
        let project = || Project::find(global.clone());
        let reply = match self {
            Self::Replay(verb) => return verb.run(),
            Self::Mcp(verb) => return verb.run(global),
            Self::Cost(verb) => verb.run(),
            Self::Add(verb) => verb.run(project()?),
            Self::List(verb) => verb.run(project()?),
            Self::Tree(verb) => verb.run(project()?),
            Self::Show(verb) => verb.run(project()?),
            Self::Status(verb) => verb.run(project()?),
            Self::Next(verb) => verb.run(project()?),
            Self::Ready(verb) => verb.run(project()?),
            Self::Start(verb) => verb.run(project()?),
            Self::Done(verb) => verb.run(project()?),
            Self::Drop(verb) => verb.run(project()?),
            Self::Fail(verb) => verb.run(project()?),
            Self::Reopen(verb) => verb.run(project()?),
            Self::Hold(verb) => verb.run(project()?),
            Self::Release(verb) => verb.run(project()?),
            Self::Rm(verb) => verb.run(project()?),
            Self::Note(verb) => verb.run(project()?),
            Self::Move(verb) => verb.run(project()?),
            Self::Claim(verb) => verb.run(project()?),
            Self::Renew(verb) => verb.run(project()?),
        }?;
        output::reply(&reply, as_json)?;
        Ok(reply.exit)
    }
}
