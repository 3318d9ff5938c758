//! `punch install`: punch into the configuration of agents, after showing what would change.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use punch_serve::hook::Host;
use punch_serve::wiring::Level;

use crate::arguments::Global;
use crate::failure::Failure;
use crate::output;
use crate::reply::Reply;
use crate::wiring::{Change, Consent, Form, Place, Way, found_agents};

const EXAMPLES: &str = "\
Examples:
  punch install claude codex     # in this project
  punch install --user gemini    # in every project of this user
  punch install                  # for every agent on PATH
  punch install qwen --dry-run   # shows the difference and writes nothing
  punch install --user --plugin claude

Only what is ours changes; comments and order stay. `FILE.before-punch` is a copy of what was there.
`punch uninstall` leaves every file as it was.";

/// Where, and with which consent; the same for both verbs.
#[derive(Args)]
pub struct How {
    /// The agents; without any, those found
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agents: Vec<Host>,
    /// In this project; this is the default
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// In every project of this user
    #[arg(long)]
    user: bool,
    /// Show the difference and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
}

/// The arguments of `punch install`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Install {
    #[command(flatten)]
    how: How,
    /// Also add the text of `punch guide` to AGENTS.md, CLAUDE.md, GEMINI.md or QWEN.md
    #[arg(long)]
    guide: bool,
    /// As a plugin or extension instead of entries in the settings: claude, codex, gemini, with --user
    #[arg(long)]
    plugin: bool,
}

impl Install {
    /// Runs the verb.
    pub fn run(self, global: &Global) -> Result<Reply, Failure> {
        let place = Place::find(global, self.how.level())?;
        let agents = if self.how.agents.is_empty() { found_agents() } else { self.how.agents.clone() };
        if agents.is_empty() {
            let names: Vec<&str> = Host::ALL.iter().map(|host| host.name()).collect();
            let hint = format!("name the agent: {}", names.join(", "));
            return Err(Failure::refused("no_agent", "no agent was found on PATH", &hint));
        }
        let form = if self.plugin { Form::Plugin } else { Form::Settings };
        self.how.change(global, Change::plan(place, Way::In, &agents, form, self.guide)?)
    }
}

impl How {
    /// For the project or for the person.
    pub fn level(&self) -> Level {
        if self.user { Level::User } else { Level::Project }
    }

    /// Shows a change, asks, does it, tells.
    pub fn change(&self, global: &Global, mut change: Change) -> Result<Reply, Failure> {
        if !global.json {
            output::document(&change.diff())?;
        }
        let consent = match (self.dry_run, self.yes || global.json) {
            (true, _) => Consent::Never,
            (false, true) => Consent::Given,
            (false, false) => Consent::Ask,
        };
        let done = change.run(consent)?;
        Ok(Reply::new(change.told(done), change.json(done)))
    }
}

/// The names of agents.
pub fn agents() -> impl TypedValueParser<Value = Host> {
    PossibleValuesParser::new(Host::ALL.iter().map(|host| host.name()))
        .try_map(|name| Host::parse(&name).ok_or("no such agent"))
}
