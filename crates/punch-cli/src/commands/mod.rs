//! The verbs: one file each. A verb reads its arguments, calls the library and hands the result to `output`.

mod add;
mod assign;
mod check_reported;
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
mod edit;
mod edit_one;
mod edit_whole;
mod export;
mod fail;
mod graph;
mod guide;
pub mod help;
mod hold;
mod hook;
mod import;
mod inbox;
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
pub mod notify_inbox;
mod plan;
mod plan_file;
mod ready;
mod redo;
mod renew;
mod replay;
mod report;
mod rm;
mod run;
mod runs;
mod schedule;
mod schema;
mod search;
mod serve;
mod show;
mod simple_verbs;
mod stats;
mod status;
mod store;
mod todo;
mod token;
mod tree;
mod undo;
mod unhold;
mod uninstall;
mod usage;
mod verify;
mod version;
mod watch;
mod why;
mod why_stop;
mod worker;
mod worker_log;

use std::cell::OnceCell;

use clap::{Args, FromArgMatches, Subcommand};

use crate::arguments::Global;
use crate::deferred_args::DeferredArgs;
use crate::failure::{Exit, Failure};
use crate::progress::ProgressDisplay;
use crate::project::Project;
use crate::reply::VerbReply;
use crate::{environment, output, style};

/// What `punch` can do. Verbs that `help` leaves out are for agents and scripts, or older names of others; see [`help`].
#[derive(Subcommand)]
pub enum Command {
    /// Add todos
    #[command(alias = "new")]
    Add(DeferredArgs<add::AddArgs>),
    /// List todos, with optional filters
    #[command(visible_alias = "ls")]
    List(DeferredArgs<list::ListArgs>),
    /// Search all todos, closed ones too
    Search(DeferredArgs<search::SearchArgs>),
    /// Show the plan by phases
    #[command(hide = true)]
    Tree(DeferredArgs<tree::TreeArgs>),
    /// Show everything about one todo
    Show(DeferredArgs<show::ShowArgs>),
    /// Show the plan at a glance, or on one line
    Status(DeferredArgs<status::StatusArgs>),
    /// Show what needs you
    Inbox(DeferredArgs<inbox::InboxArgs>),
    /// Show the board: who works on what, and what needs you
    Watch(DeferredArgs<watch::WatchArgs>),
    /// Serve the board to your browser, with an API for programs
    #[command(long_about = serve::LONG_ABOUT)]
    Serve(DeferredArgs<serve::ServeArgs>),
    /// Create, list and revoke tokens for the web board
    Token(DeferredArgs<token::TokenCommandArgs>),
    /// Show what to work on now
    Next(DeferredArgs<next::NextArgs>),
    /// Show what can be started, best first
    #[command(hide = true)]
    Ready(DeferredArgs<ready::ReadyArgs>),
    /// Explain what a todo, or the whole plan, is waiting for
    Why(DeferredArgs<why::WhyArgs>),
    /// Show the dependency graph as text, DOT or Mermaid
    Graph(DeferredArgs<graph::GraphArgs>),
    /// Simulate who does what, and in which order
    Schedule(DeferredArgs<schedule::ScheduleArgs>),
    /// Compare estimates with actuals, and record usage
    Stats(DeferredArgs<stats::StatsArgs>),
    /// Record tokens and time spent on a todo
    #[command(hide = true)]
    Usage(DeferredArgs<usage::UsageArgs>),
    /// Compare estimates with actuals
    #[command(hide = true)]
    Report(DeferredArgs<report::ReportArgs>),
    /// Begin work on todos
    Start(DeferredArgs<simple_verbs::Start>),
    /// Finish todos
    #[command(alias = "finish")]
    Done(DeferredArgs<done::DoneArgs>),
    /// Run the checks of todos and finish those that pass
    Verify(DeferredArgs<verify::VerifyArgs>),
    /// Cancel todos
    #[command(alias = "drop")]
    Cancel(DeferredArgs<simple_verbs::Cancel>),
    /// Report a failed attempt; a second failure is final
    Fail(DeferredArgs<fail::FailArgs>),
    /// Reopen todos
    Reopen(DeferredArgs<simple_verbs::Reopen>),
    /// Put a todo on hold: for you, a job, a timer
    Hold(DeferredArgs<hold::HoldArgs>),
    /// Take todos off hold
    Unhold(DeferredArgs<unhold::UnholdArgs>),
    /// Take todos off hold, or give claims back
    #[command(hide = true)]
    Release(DeferredArgs<unhold::ReleaseArgs>),
    /// Archive todos
    Rm(DeferredArgs<rm::RmArgs>),
    /// Change a todo, or the whole plan in your editor
    Edit(DeferredArgs<edit::EditArgs>),
    /// Add a note to a todo
    Note(DeferredArgs<note::NoteArgs>),
    /// Move a todo in the list
    Move(DeferredArgs<move_to::MoveArgs>),
    /// Claim the best ready todo, or a named one
    Claim(DeferredArgs<claim::ClaimArgs>),
    /// Release claims
    Unclaim(DeferredArgs<simple_verbs::Unclaim>),
    /// Extend a claim
    #[command(hide = true)]
    Renew(DeferredArgs<renew::RenewArgs>),
    /// Start an agent on some todos, or print the prompt for it
    Assign(DeferredArgs<assign::AssignArgs>),
    /// Run agents until the plan is done
    #[command(long_about = run::LONG_ABOUT)]
    Run(DeferredArgs<run::RunArgs>),
    /// Run a worker that takes todos on this machine
    #[command(long_about = worker::LONG_ABOUT)]
    Worker(DeferredArgs<worker::WorkerArgs>),
    /// Show past runs: how they ended and what they cost
    #[command(hide = true)]
    Runs(DeferredArgs<runs::RunsArgs>),
    /// Set up punch in this project
    Init(DeferredArgs<init::InitArgs>),
    /// Connect coding agents
    Install(DeferredArgs<install::InstallArgs>),
    /// Disconnect coding agents
    Uninstall(DeferredArgs<uninstall::UninstallArgs>),
    /// Print instructions for AGENTS.md or a system prompt
    #[command(hide = true)]
    Guide(DeferredArgs<guide::GuideArgs>),
    /// Show and change settings
    Config(DeferredArgs<config::ConfigArgs>),
    /// Check the store and the agent setup
    Doctor(DeferredArgs<doctor::DoctorArgs>),
    /// Inspect, back up, restore and prune the store
    #[command(hide = true)]
    Store(DeferredArgs<store::StoreArgs>),
    /// See what punch does, in a temporary project
    Demo(DeferredArgs<demo::DemoArgs>),
    /// Print a completion script for your shell
    Completions(DeferredArgs<completions::CompletionsArgs>),
    /// Show what happened, newest first
    Log(DeferredArgs<log::LogArgs>),
    /// Undo a change
    Undo(DeferredArgs<undo::UndoArgs>),
    /// Redo what you undid last
    Redo(DeferredArgs<redo::RedoArgs>),
    /// Save and restore snapshots of the plan and the git state
    Checkpoint(DeferredArgs<checkpoint::CheckpointArgs>),
    /// Create, switch, rename and archive plans; link a Markdown file
    Plan(DeferredArgs<plan::PlanArgs>),
    /// Link a Markdown file to the plan
    #[command(hide = true)]
    PlanFile(DeferredArgs<plan_file::PlanFileArgs>),
    /// Import todos from a file
    Import(DeferredArgs<import::ImportArgs>),
    /// Export the plan
    Export(DeferredArgs<export::ExportArgs>),
    /// Run a /todo command: phases and tasks by their texts
    #[command(hide = true)]
    Todo(DeferredArgs<todo::TodoArgs>),
    /// Turn auto-continue for agents on or off, or explain a decision
    KeepGoing(DeferredArgs<keep_going::KeepGoingArgs>),
    /// Explain why an agent was allowed to stop or told to continue
    #[command(hide = true)]
    WhyStop(DeferredArgs<why_stop::WhyStopArgs>),
    /// Serve the plan to agents over MCP
    #[command(hide = true, long_about = mcp::LONG_ABOUT)]
    Mcp(DeferredArgs<mcp::McpArgs>),
    /// Handle an agent's hook event (agents call this, not you)
    #[command(hide = true, long_about = hook::LONG_ABOUT)]
    Hook(DeferredArgs<hook::HookArgs>),
    /// Check a todo that an agent reported as done (hooks call this, not you)
    #[command(hide = true, long_about = check_reported::LONG_ABOUT)]
    CheckReported(DeferredArgs<check_reported::CheckReportedArgs>),
    /// Notify the user of what has entered the inbox (hooks call this, not you)
    #[command(hide = true, long_about = notify_inbox::LONG_ABOUT)]
    NotifyInbox(DeferredArgs<notify_inbox::NotifyInboxArgs>),
    /// Print the JSON Schemas of what punch reads and writes
    #[command(hide = true)]
    Schema(DeferredArgs<schema::SchemaArgs>),
    /// Show what tools and recorded calls cost a model
    #[command(hide = true)]
    Cost(DeferredArgs<cost::CostArgs>),
    /// Replay recorded todo calls and print the answers
    #[command(hide = true, long_about = replay::LONG_ABOUT)]
    Replay(DeferredArgs<replay::ReplayArgs>),
    /// Show help: for a command, or on options, symbols and filters
    Help(DeferredArgs<help::HelpArgs>),
    /// Print the version
    Version(DeferredArgs<version::VersionArgs>),
}

/// `punch` without a verb shows the plan.
impl Default for Command {
    fn default() -> Self {
        Self::Status(DeferredArgs(status::StatusArgs::default()))
    }
}

/// Agents call a hook on every step, so it is read without describing all the other verbs, and run without making room
/// for what they need. What cannot be read so is `None`, and the code that describes them all has the right words for
/// it.
pub fn hook_alone() -> Option<(hook::HookArgs, Global)> {
    let mut given = std::env::args_os().skip(1);
    if given.next()? != "hook" {
        return None;
    }
    let given: Vec<_> = given.collect();
    if let Some(hook) = hook::HookArgs::wired(&given) {
        return Some((hook, Global::default()));
    }
    let parser = Global::augment_args(hook::HookArgs::augment_args(clap::Command::new("hook").no_binary_name(true)));
    let matches = parser.try_get_matches_from(given).ok()?;
    let hook = hook::HookArgs::from_arg_matches(&matches).ok()?;
    Some((hook, Global::from_arg_matches(&matches).ok()?))
}

/// Prints the commands in groups.
pub fn overview() -> Result<(), Failure> {
    output::reply(&VerbReply::new(help::overview(false), serde_json::Value::Null), false)
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
    /// Returns true for verbs that may take long, because of a large plan, a slow server or other programs. Not among them are
    /// verbs that show on their own what they do, those that other programs call, and those that read no plan.
    const fn takes_time(&self) -> bool {
        !matches!(
            self,
            Self::Run(_)
                | Self::Worker(_)
                | Self::Assign(_)
                | Self::Watch(_)
                | Self::Serve(_)
                | Self::Demo(_)
                | Self::Replay(_)
                | Self::Mcp(_)
                | Self::Hook(_)
                | Self::CheckReported(_)
                | Self::NotifyInbox(_)
                | Self::Status(_)
                | Self::Completions(_)
                | Self::Guide(_)
                | Self::Schema(_)
                | Self::Help(_)
                | Self::Version(_)
        )
    }

    /// Runs the chosen verb.
    pub fn run(self, global: Global) -> Result<Exit, Failure> {
        let as_json = global.json;
        if let Some(color) = global.color {
            style::choose(color);
        }
        let progress = self.takes_time().then(ProgressDisplay::begin).flatten();
        let (safety, notifier) = (OnceCell::new(), OnceCell::new());
        let project = || {
            let project = Project::find(global.clone())?;
            style::choose(project.config.settings.view_color.value);
            project.warn_ignored();
            drop(safety.set(project.safety()));
            // You know what you do yourself.
            drop(notifier.set(environment::inside_agent().and_then(|_| notify_inbox::Notifier::of(&project))));
            Ok::<_, Failure>(project)
        };
        let reply = run_verbs!(self, project, {
            Self::Replay(DeferredArgs(verb)) => return verb.run(),
            Self::Mcp(DeferredArgs(verb)) => return verb.run(global),
            Self::Hook(DeferredArgs(verb)) => return Ok(verb.run(global)),
            Self::CheckReported(DeferredArgs(verb)) => return Ok(verb.run(global)),
            Self::NotifyInbox(DeferredArgs(verb)) => return Ok(verb.run(global)),
            Self::Run(DeferredArgs(verb)) => return verb.run(global),
            Self::Worker(DeferredArgs(verb)) => return verb.run(global),
            Self::Cost(DeferredArgs(verb)) => verb.run(global),
            Self::Watch(DeferredArgs(verb)) => return verb.run(project()?),
            Self::Serve(DeferredArgs(verb)) => return verb.run(project()?),
            Self::Demo(DeferredArgs(verb)) => return verb.run(&global),
            Self::Completions(DeferredArgs(verb)) => return verb.run(global),
            Self::Init(DeferredArgs(verb)) => verb.run(global),
            Self::Install(DeferredArgs(verb)) => verb.run(&global),
            Self::Uninstall(DeferredArgs(verb)) => verb.run(&global),
            Self::Guide(DeferredArgs(verb)) => Ok(verb.run()),
            Self::Schema(DeferredArgs(verb)) => verb.run(),
            Self::Config(DeferredArgs(verb)) => verb.run(global),
            Self::Doctor(DeferredArgs(verb)) => verb.run(global),
            Self::Store(DeferredArgs(verb)) => verb.run(global),
            Self::Stats(DeferredArgs(verb)) => verb.run(global),
            Self::Help(DeferredArgs(verb)) => return verb.run(),
            Self::Version(DeferredArgs(verb)) => Ok(verb.run()),
        }, [
            Add Assign Cancel Checkpoint Claim Done Edit Export Fail Graph Hold Import Inbox KeepGoing List
            Log Move Next Note Plan PlanFile Ready Redo Release Renew Reopen Report Rm Runs Schedule Search
            Show Start Status Todo Token Tree Unclaim Undo Unhold Usage Verify Why WhyStop
        ])?;
        drop(progress);
        let printed = output::reply(&reply, as_json);
        if let Some(safety) = safety.into_inner().flatten().filter(|_| reply.wrote) {
            safety.keep();
        }
        if let Some(notifier) = notifier.into_inner().flatten().filter(|_| reply.wrote) {
            notifier.start();
        }
        let exit = reply.exit;
        let wrote = reply.wrote;
        // The process ends: freeing the lines of a large list takes as long as printing them.
        std::mem::forget(reply);
        match printed {
            Err(Failure::Output(cause)) if wrote => Err(Failure::AnswerLost(cause)),
            printed => printed.map(|()| exit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_that_may_take_long_show_that_they_work() {
        let slow = [
            "done T-1",
            "add x",
            "edit",
            "install",
            "init",
            "plan link x.md",
            "plan-file sync",
            "inbox",
            "undo",
            "redo",
            "export",
            "rm T-1",
            "store info",
            "import x",
            "list",
            "search x",
            "why",
            "schedule",
            "graph",
            "checkpoint save",
            "doctor",
        ];
        for line in slow {
            let parser = Command::augment_subcommands(
                clap::Command::new("punch").no_binary_name(true).disable_help_subcommand(true),
            );
            let matches = parser.try_get_matches_from(line.split(' ')).unwrap_or_else(|why| panic!("{line}: {why}"));
            assert!(Command::from_arg_matches(&matches).unwrap().takes_time(), "{line}");
        }
        assert!(!Command::default().takes_time(), "a shell prompt calls `punch status --line`");
    }
}
