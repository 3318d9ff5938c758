//! The verbs: one file each. A verb reads its arguments, calls the library and hands the result to `output`.

mod add;
mod assign;
mod checkpoint;
mod checkpoint_told;
mod claim;
mod completions;
mod config;
mod cost;
mod demo;
mod demo_agent;
mod demo_run;
mod doctor;
mod doctor_agents;
mod done;
mod drop;
mod edit;
mod edit_whole;
mod export;
mod fail;
mod graph;
mod guide;
mod hold;
mod hook;
mod import;
mod init;
mod init_agents;
mod install;
mod keep_going;
mod list;
mod log;
mod mcp;
mod move_to;
mod next;
mod note;
mod plan;
mod plan_file;
mod ready;
mod redo;
mod release;
mod renew;
mod reopen;
mod replay;
mod report;
mod rm;
mod run;
mod runs;
mod schedule;
mod schema;
mod show;
mod start;
mod status;
mod store;
mod todo;
mod tree;
mod undo;
mod uninstall;
mod usage;
mod verify;
mod why;
mod why_stop;

use std::cell::OnceCell;

use clap::{Args, FromArgMatches, Subcommand};

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
    /// Tell what a todo, or everything, waits for
    Why(Later<why::Why>),
    /// Show who waits for whom: text, DOT, Mermaid
    Graph(Later<graph::Graph>),
    /// Show who would work on what, when, in which context window
    Schedule(Later<schedule::Schedule>),
    /// Report what an attempt at a todo took
    Usage(Later<usage::Usage>),
    /// Show what todos were estimated at, and what they took
    Report(Later<report::Report>),
    /// Begin work on todos
    Start(Later<start::Start>),
    /// Finish todos
    Done(Later<done::Done>),
    /// Run the commands that prove todos; finish those that pass
    Verify(Later<verify::Verify>),
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
    /// Change a todo, or the whole plan in the editor
    Edit(Later<edit::Edit>),
    /// Append a remark to a todo
    Note(Later<note::Note>),
    /// Move a todo in the list
    Move(Later<move_to::Move>),
    /// Claim the best ready todo, or a named one, under a lease
    Claim(Later<claim::Claim>),
    /// Lengthen the lease of a claim
    Renew(Later<renew::Renew>),
    /// Give todos to a new conversation of an agent, or print its first message
    Assign(Later<assign::Assign>),
    /// Work the plan to its end with agents
    #[command(long_about = run::LONG_ABOUT)]
    Run(Later<run::Run>),
    /// Show what was run, how it ended and what it cost
    Runs(Later<runs::Runs>),
    /// Make the store of this project and say where it is
    Init(Later<init::Init>),
    /// Put punch into the configuration of agents: server and hooks
    Install(Later<install::Install>),
    /// Take punch out of the configuration of agents
    Uninstall(Later<uninstall::Uninstall>),
    /// Print the short text about the list for a system prompt or AGENTS.md
    Guide(Later<guide::Guide>),
    /// Show and change settings
    Config(Later<config::Config>),
    /// Check the store, and repair what follows from other data
    Doctor(Later<doctor::Doctor>),
    /// Look at the store as a file: info, backup, restore, prune
    Store(Later<store::Store>),
    /// Show in ten seconds what punch does, in a temporary project
    Demo(Later<demo::Demo>),
    /// Print a script that lets a shell complete commands
    Completions(Later<completions::Completions>),
    /// Show what happened, newest first
    Log(Later<log::Log>),
    /// Undo a change
    Undo(Later<undo::Undo>),
    /// Redo what you undid last
    Redo(Later<redo::Redo>),
    /// Keep where the work and the code stand, and come back to it
    Checkpoint(Later<checkpoint::Checkpoint>),
    /// Make, list, choose, rename and archive plans
    Plan(Later<plan::Plan>),
    /// Share a `.plan.md` with people: link, status, sync, build, unlink
    PlanFile(Later<plan_file::PlanFile>),
    /// Bring todos in from a file
    Import(Later<import::Import>),
    /// Write the whole plan out
    Export(Later<export::Export>),
    /// The /todo commands: phases and tasks by content
    Todo(Later<todo::Todo>),
    /// Let agents that stop early go on: on, off, pause, resume, status
    KeepGoing(Later<keep_going::KeepGoing>),
    /// Tell why an agent was let stop, or kept going
    WhyStop(Later<why_stop::WhyStop>),
    /// Serve the plan to agents that speak MCP
    #[command(long_about = mcp::LONG_ABOUT)]
    Mcp(Later<mcp::Mcp>),
    /// Take what an agent's host reports and answer in its form
    #[command(long_about = hook::LONG_ABOUT)]
    Hook(Later<hook::Hook>),
    /// Print the JSON Schemas of what punch reads and writes
    Schema(Later<schema::Schema>),
    /// Show what the tools and recorded calls cost a model
    Cost(Later<cost::Cost>),
    /// Replay recorded todo calls of a dialect and print the answers
    #[command(long_about = replay::LONG_ABOUT)]
    Replay(Later<replay::Replay>),
}

/// Agents call a hook on every step, so it is read without describing all the other verbs, and run without making room
/// for what they need. What cannot be read so is `None`, and whoever describes them all has the right words for it.
pub fn hook_alone() -> Option<(hook::Hook, Global)> {
    let mut given = std::env::args_os().skip(1);
    if given.next()? != "hook" {
        return None;
    }
    let given: Vec<_> = given.collect();
    if let Some(hook) = hook::Hook::wired(&given) {
        return Some((hook, Global::default()));
    }
    let parser = Global::augment_args(hook::Hook::augment_args(clap::Command::new("hook").no_binary_name(true)));
    let matches = parser.try_get_matches_from(given).ok()?;
    let hook = hook::Hook::from_arg_matches(&matches).ok()?;
    Some((hook, Global::from_arg_matches(&matches).ok()?))
}

impl Command {
    /// Runs the chosen verb.
    pub fn run(self, global: Global) -> Result<Exit, Failure> {
        let as_json = global.json;
        let safety = OnceCell::new();
        let project = || {
            let project = Project::find(global.clone())?;
            project.warn_ignored();
            drop(safety.set(project.safety()));
            Ok::<_, Failure>(project)
        };
        let reply = match self {
            Self::Replay(Later(verb)) => return verb.run(),
            Self::Mcp(Later(verb)) => return verb.run(global),
            Self::Hook(Later(verb)) => return Ok(verb.run(global)),
            Self::Run(Later(verb)) => return verb.run(global),
            Self::Cost(Later(verb)) => verb.run(global),
            Self::Demo(Later(verb)) => return verb.run(&global),
            Self::Completions(Later(verb)) => return verb.run(),
            Self::Init(Later(verb)) => verb.run(global),
            Self::Install(Later(verb)) => verb.run(&global),
            Self::Uninstall(Later(verb)) => verb.run(&global),
            Self::Guide(Later(verb)) => Ok(verb.run()),
            Self::Schema(Later(verb)) => verb.run(),
            Self::Config(Later(verb)) => verb.run(global),
            Self::Doctor(Later(verb)) => verb.run(global),
            Self::Store(Later(verb)) => verb.run(global),
            Self::Runs(Later(verb)) => verb.run(project()?),
            Self::Add(Later(verb)) => verb.run(project()?),
            Self::List(Later(verb)) => verb.run(project()?),
            Self::Tree(Later(verb)) => verb.run(project()?),
            Self::Show(Later(verb)) => verb.run(project()?),
            Self::Status(Later(verb)) => verb.run(project()?),
            Self::Next(Later(verb)) => verb.run(project()?),
            Self::Ready(Later(verb)) => verb.run(project()?),
            Self::Usage(Later(verb)) => verb.run(project()?),
            Self::Report(Later(verb)) => verb.run(project()?),
            Self::Start(Later(verb)) => verb.run(project()?),
            Self::Done(Later(verb)) => verb.run(project()?),
            Self::Verify(Later(verb)) => verb.run(project()?),
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
            Self::Assign(Later(verb)) => verb.run(project()?),
            Self::Edit(Later(verb)) => verb.run(project()?),
            Self::Why(Later(verb)) => verb.run(project()?),
            Self::Graph(Later(verb)) => verb.run(project()?),
            Self::Schedule(Later(verb)) => verb.run(project()?),
            Self::Log(Later(verb)) => verb.run(project()?),
            Self::Undo(Later(verb)) => verb.run(project()?),
            Self::Redo(Later(verb)) => verb.run(project()?),
            Self::Checkpoint(Later(verb)) => verb.run(project()?),
            Self::Plan(Later(verb)) => verb.run(project()?),
            Self::PlanFile(Later(verb)) => verb.run(project()?),
            Self::Import(Later(verb)) => verb.run(project()?),
            Self::Export(Later(verb)) => verb.run(project()?),
            Self::Todo(Later(verb)) => verb.run(project()?),
            Self::KeepGoing(Later(verb)) => verb.run(project()?),
            Self::WhyStop(Later(verb)) => verb.run(project()?),
        }?;
        output::reply(&reply, as_json)?;
        if let Some(safety) = safety.into_inner().flatten().filter(|_| reply.wrote) {
            safety.keep();
        }
        Ok(reply.exit)
    }
}
