//! The verbs: one file each. A verb reads its arguments, calls the library and hands the result to `output`.

mod add;
mod assign;
mod checkpoint;
mod checkpoint_views;
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
use crate::deferred_args::DeferredArgs;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::project::Project;

/// What `punch` can do.
#[derive(Subcommand)]
pub enum Command {
    /// Add todos
    Add(DeferredArgs<add::Add>),
    /// Show todos in list order
    List(DeferredArgs<list::List>),
    /// Show the plan by phases
    Tree(DeferredArgs<tree::Tree>),
    /// Show everything about one todo
    Show(DeferredArgs<show::Show>),
    /// Show the plan on one line
    Status(DeferredArgs<status::Status>),
    /// Show what to work on now
    Next(DeferredArgs<next::Next>),
    /// Show what can be started, best first
    Ready(DeferredArgs<ready::Ready>),
    /// Tell what a todo, or everything, waits for
    Why(DeferredArgs<why::Why>),
    /// Show who waits for whom: text, DOT, Mermaid
    Graph(DeferredArgs<graph::Graph>),
    /// Show who would work on what, when, in which context window
    Schedule(DeferredArgs<schedule::Schedule>),
    /// Report what an attempt at a todo took
    Usage(DeferredArgs<usage::Usage>),
    /// Show what todos were estimated at, and what they took
    Report(DeferredArgs<report::Report>),
    /// Begin work on todos
    Start(DeferredArgs<start::Start>),
    /// Finish todos
    Done(DeferredArgs<done::Done>),
    /// Run the commands that prove todos; finish those that pass
    Verify(DeferredArgs<verify::Verify>),
    /// Give todos up on purpose
    Drop(DeferredArgs<drop::Drop>),
    /// Report a failed attempt; the second one ends the todo
    Fail(DeferredArgs<fail::Fail>),
    /// Open todos again
    Reopen(DeferredArgs<reopen::Reopen>),
    /// Let a todo wait for something that is not a todo
    Hold(DeferredArgs<hold::Hold>),
    /// End the hold of todos
    Release(DeferredArgs<release::Release>),
    /// Archive todos
    Rm(DeferredArgs<rm::Rm>),
    /// Change a todo, or the whole plan in the editor
    Edit(DeferredArgs<edit::Edit>),
    /// Append a remark to a todo
    Note(DeferredArgs<note::Note>),
    /// Move a todo in the list
    Move(DeferredArgs<move_to::Move>),
    /// Claim the best ready todo, or a named one, under a lease
    Claim(DeferredArgs<claim::Claim>),
    /// Lengthen the lease of a claim
    Renew(DeferredArgs<renew::Renew>),
    /// Give todos to a new conversation of an agent, or print its first message
    Assign(DeferredArgs<assign::Assign>),
    /// Work the plan to its end with agents
    #[command(long_about = run::LONG_ABOUT)]
    Run(DeferredArgs<run::Run>),
    /// Show what was run, how it ended and what it cost
    Runs(DeferredArgs<runs::Runs>),
    /// Make the store of this project and say where it is
    Init(DeferredArgs<init::Init>),
    /// Put punch into the configuration of agents: server and hooks
    Install(DeferredArgs<install::Install>),
    /// Take punch out of the configuration of agents
    Uninstall(DeferredArgs<uninstall::Uninstall>),
    /// Print the short text about the list for a system prompt or AGENTS.md
    Guide(DeferredArgs<guide::Guide>),
    /// Show and change settings
    Config(DeferredArgs<config::Config>),
    /// Check the store, and repair what follows from other data
    Doctor(DeferredArgs<doctor::Doctor>),
    /// Look at the store as a file: info, backup, restore, prune
    Store(DeferredArgs<store::Store>),
    /// Show in ten seconds what punch does, in a temporary project
    Demo(DeferredArgs<demo::Demo>),
    /// Print a script that lets a shell complete commands
    Completions(DeferredArgs<completions::Completions>),
    /// Show what happened, newest first
    Log(DeferredArgs<log::Log>),
    /// Undo a change
    Undo(DeferredArgs<undo::Undo>),
    /// Redo what you undid last
    Redo(DeferredArgs<redo::Redo>),
    /// Keep where the work and the code stand, and come back to it
    Checkpoint(DeferredArgs<checkpoint::Checkpoint>),
    /// Make, list, choose, rename and archive plans
    Plan(DeferredArgs<plan::Plan>),
    /// Share a `.plan.md` with people: link, status, sync, build, unlink
    PlanFile(DeferredArgs<plan_file::PlanFile>),
    /// Bring todos in from a file
    Import(DeferredArgs<import::Import>),
    /// Write the whole plan out
    Export(DeferredArgs<export::Export>),
    /// The /todo commands: phases and tasks by content
    Todo(DeferredArgs<todo::Todo>),
    /// Let agents that stop early go on: on, off, pause, resume, status
    KeepGoing(DeferredArgs<keep_going::KeepGoing>),
    /// Tell why an agent was let stop, or kept going
    WhyStop(DeferredArgs<why_stop::WhyStop>),
    /// Serve the plan to agents that speak MCP
    #[command(long_about = mcp::LONG_ABOUT)]
    Mcp(DeferredArgs<mcp::Mcp>),
    /// Take what an agent's host reports and answer in its form
    #[command(long_about = hook::LONG_ABOUT)]
    Hook(DeferredArgs<hook::Hook>),
    /// Print the JSON Schemas of what punch reads and writes
    Schema(DeferredArgs<schema::Schema>),
    /// Show what the tools and recorded calls cost a model
    Cost(DeferredArgs<cost::Cost>),
    /// Replay recorded todo calls of a dialect and print the answers
    #[command(long_about = replay::LONG_ABOUT)]
    Replay(DeferredArgs<replay::Replay>),
}

/// Agents call a hook on every step, so it is read without describing all the other verbs, and run without making room
/// for what they need. What cannot be read so is `None`, and the code that describes them all has the right words for
/// it.
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

/// A match over the verbs: some with arms of their own, the rest on the project they are called in.
macro_rules! run_verbs {
    ($command:expr, $project:expr, { $($arms:tt)* }, [$($verb:ident)*]) => {
        match $command {
            $($arms)*
            $(Self::$verb(DeferredArgs(verb)) => verb.run($project()?),)*
        }
    };
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
        let reply = run_verbs!(self, project, {
            Self::Replay(DeferredArgs(verb)) => return verb.run(),
            Self::Mcp(DeferredArgs(verb)) => return verb.run(global),
            Self::Hook(DeferredArgs(verb)) => return Ok(verb.run(global)),
            Self::Run(DeferredArgs(verb)) => return verb.run(global),
            Self::Cost(DeferredArgs(verb)) => verb.run(global),
            Self::Demo(DeferredArgs(verb)) => return verb.run(&global),
            Self::Completions(DeferredArgs(verb)) => return verb.run(),
            Self::Init(DeferredArgs(verb)) => verb.run(global),
            Self::Install(DeferredArgs(verb)) => verb.run(&global),
            Self::Uninstall(DeferredArgs(verb)) => verb.run(&global),
            Self::Guide(DeferredArgs(verb)) => Ok(verb.run()),
            Self::Schema(DeferredArgs(verb)) => verb.run(),
            Self::Config(DeferredArgs(verb)) => verb.run(global),
            Self::Doctor(DeferredArgs(verb)) => verb.run(global),
            Self::Store(DeferredArgs(verb)) => verb.run(global),
        }, [
            Add Assign Checkpoint Claim Done Drop Edit Export Fail Graph Hold Import KeepGoing List
            Log Move Next Note Plan PlanFile Ready Redo Release Renew Reopen Report Rm Runs Schedule
            Show Start Status Todo Tree Undo Usage Verify Why WhyStop
        ])?;
        output::reply(&reply, as_json)?;
        if let Some(safety) = safety.into_inner().flatten().filter(|_| reply.wrote) {
            safety.keep();
        }
        Ok(reply.exit)
    }
}
