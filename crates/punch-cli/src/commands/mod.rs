//! The verbs: one file each. A verb reads its arguments, calls the library and hands the result to `output`.

mod add;
mod claim;
mod completions;
mod config;
mod demo;
mod doctor;
mod done;
mod drop;
mod edit;
mod edit_whole;
mod export;
mod fail;
mod graph;
mod hold;
mod import;
mod init;
mod list;
mod log;
mod mcp;
mod move_to;
mod next;
mod note;
mod plan;
mod ready;
mod release;
mod renew;
mod reopen;
mod replay;
mod rm;
mod show;
mod start;
mod status;
mod store;
mod todo;
mod tree;
mod undo;
mod why;

use std::cell::OnceCell;

use clap::Subcommand;

use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::project::Project;

/// What `punch` can do.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one value in the life of the program")]
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
    /// Tell what a todo, or everything, waits for
    Why(why::Why),
    /// Show who waits for whom: text, DOT, Mermaid
    Graph(graph::Graph),
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
    /// Change a todo, or the whole plan in the editor
    Edit(edit::Edit),
    /// Append a remark to a todo
    Note(note::Note),
    /// Move a todo in the list
    Move(move_to::Move),
    /// Claim the best ready todo, or a named one, under a lease
    Claim(claim::Claim),
    /// Lengthen the lease of a claim
    Renew(renew::Renew),
    /// Make the store of this project and say where it is
    Init(init::Init),
    /// Show and change settings
    Config(config::Config),
    /// Check the store, and repair what follows from other data
    Doctor(doctor::Doctor),
    /// Look at the store as a file: info, backup, restore, prune
    Store(store::Store),
    /// Show in ten seconds what punch does, in a temporary project
    Demo(demo::Demo),
    /// Print a script that lets a shell complete commands
    Completions(completions::Completions),
    /// Show what happened, newest first
    Log(log::Log),
    /// Take a change back
    Undo(undo::Undo),
    /// Make, list, choose, rename and archive plans
    Plan(plan::Plan),
    /// Bring todos in from a file
    Import(import::Import),
    /// Write the whole plan out
    Export(export::Export),
    /// The /todo commands: phases and tasks by content
    Todo(todo::Todo),
    /// Serve the plan to agents that speak MCP
    #[command(long_about = mcp::LONG_ABOUT)]
    Mcp(mcp::Mcp),
    /// Replay recorded todo calls of a dialect and print the answers
    #[command(long_about = replay::LONG_ABOUT)]
    Replay(replay::Replay),
}

impl Command {
    /// Runs the chosen verb.
    pub fn run(self, global: Global) -> Result<Exit, Failure> {
        let as_json = global.json;
        let safety = OnceCell::new();
        let project = || Project::find(global.clone()).inspect(|project| drop(safety.set(project.safety())));
        let reply = match self {
            Self::Replay(verb) => return verb.run(),
            Self::Demo(verb) => return verb.run(&global),
            Self::Completions(verb) => return verb.run(),
            Self::Init(verb) => verb.run(global),
            Self::Config(verb) => verb.run(global),
            Self::Doctor(verb) => verb.run(global),
            Self::Store(verb) => verb.run(global),
            Self::Mcp(verb) => return verb.run(global),
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
            Self::Edit(verb) => verb.run(project()?),
            Self::Why(verb) => verb.run(project()?),
            Self::Graph(verb) => verb.run(project()?),
            Self::Log(verb) => verb.run(project()?),
            Self::Undo(verb) => verb.run(project()?),
            Self::Plan(verb) => verb.run(project()?),
            Self::Import(verb) => verb.run(project()?),
            Self::Export(verb) => verb.run(project()?),
            Self::Todo(verb) => verb.run(project()?),
        }?;
        output::reply(&reply, as_json)?;
        if let Some(safety) = safety.into_inner().flatten().filter(|_| reply.wrote) {
            safety.keep();
        }
        Ok(reply.exit)
    }
}
