//! `punch keep-going`: whether agents that stop early are sent back to work.

use clap::{Args, ValueEnum};
use punch_core::drive::Switch;
use punch_core::{Actor, text};
use punch_engine::{Engine, Going};
use punch_store::SessionKey;
use serde_json::{Value, json};

use super::why_stop::WhyStopArgs;
use crate::failure::Failure;
use crate::guard;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch keep-going                     # the same as status
  punch keep-going pause               # every session of this project, from its next stop on
  punch keep-going off --session 1a2b3c
  punch keep-going on
  punch keep-going why                 # explain the last decision
  punch keep-going why 1a2b3c";

/// The arguments of `punch keep-going`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct KeepGoingArgs {
    /// What to do
    #[arg(value_enum, default_value = "status")]
    what: KeepGoingCommand,
    /// With `why`: the session, by its id or the beginning of it
    #[arg(value_name = "SESSION")]
    of: Option<String>,
    /// Only this session, by its id or the beginning of it
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KeepGoingCommand {
    /// Turn auto-continue on
    On,
    /// Turn auto-continue off: agents stop when they want to
    Off,
    /// Turn auto-continue off for a while
    Pause,
    /// End a pause
    Resume,
    /// Show whether auto-continue is on, and for which sessions
    Status,
    /// Explain why an agent was allowed to stop or told to continue
    Why,
}

impl KeepGoingArgs {
    /// Runs the verb. What it says counts from the next stop of an agent on.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        if self.what == KeepGoingCommand::Why {
            return WhyStopArgs::of(self.of.or(self.session)).run(project);
        }
        if self.of.is_some() {
            return Err(Failure::usage("only `why` takes a session here", "name it with `--session`"));
        }
        if self.what == KeepGoingCommand::Status {
            let Some(open) = project.read()?.plan() else {
                return Ok(VerbReply::new("No sessions yet.", json!({"sessions": []})));
            };
            let key = key(&open.engine, self.session.as_deref())?;
            return status(&open.engine, key.as_ref(), &open.project);
        }
        guard::only_user("change `punch keep-going`")?;
        let open = project.write()?;
        let key = key(&open.engine, self.session.as_deref())?;
        let before = open.engine.switches(key.as_ref())?;
        let before = if key.is_some() { before.session } else { before.all };
        let to = match (self.what, before) {
            (KeepGoingCommand::Off, _) => Switch::Off,
            (KeepGoingCommand::Pause, Switch::On | Switch::Paused) => Switch::Paused,
            (KeepGoingCommand::Resume | KeepGoingCommand::Pause, Switch::Off) => Switch::Off,
            (KeepGoingCommand::On | KeepGoingCommand::Resume | KeepGoingCommand::Status | KeepGoingCommand::Why, _) => {
                Switch::On
            }
        };
        open.engine.switch(open.plan, key.as_ref(), to, &Actor::user())?;
        Ok(status(&open.engine, key.as_ref(), &open.project)?.after_write())
    }
}

/// A session that is not known yet may still be named in full.
fn key(engine: &Engine, given: Option<&str>) -> Result<Option<SessionKey>, Failure> {
    let Some(given) = given else { return Ok(None) };
    Ok(Some(engine.find_session(given)?.unwrap_or_else(|| SessionKey::new(given, None))))
}

fn status(engine: &Engine, key: Option<&SessionKey>, project: &Project) -> Result<VerbReply, Failure> {
    let switches = engine.switches(key)?;
    let enabled = &project.config.settings.keep_going_enabled;
    let mut lines = vec![match (switches.all, enabled.value) {
        (Switch::Off, _) => "Auto-continue is off; `punch keep-going on` turns it on.".to_owned(),
        (Switch::Paused, _) => "Auto-continue is paused; `punch keep-going resume` ends the pause.".to_owned(),
        (Switch::On, false) => "Auto-continue is off in the settings; `punch config show` shows where.".to_owned(),
        (Switch::On, true) => "Auto-continue is on.".to_owned(),
    }];
    if let Some(key) = key.filter(|_| switches.session != Switch::On) {
        let word = word(switches.session);
        let known = engine.find_session(key.session_id())?.is_some();
        let remark = if known { "" } else { " No session with this id is known yet." };
        lines.push(format!("For session {} it is {word}.{remark}", text::clip(&text::neutral(key.session_id()), 80)));
    }
    let going = engine.going()?;
    lines.extend(going.iter().map(|going| line(going, project)));
    Ok(VerbReply::new(
        lines.join("\n"),
        json!({
            "keepGoing": word(if enabled.value { switches.combined() } else { Switch::Off }),
            "enabled": enabled.value,
            "all": word(switches.all),
            "session": key.map(|key| json!({"id": key.session_id(), "subagent": key.subagent(), "switch": word(switches.session)})),
            "sessions": records(&going, project),
        }),
    ))
}

const fn word(switch: Switch) -> &'static str {
    match switch {
        Switch::On => "on",
        Switch::Paused => "paused",
        Switch::Off => "off",
    }
}

/// Describes one session that is being continued, on a line.
pub fn line(going: &Going, project: &Project) -> String {
    let (n, of) = limit(going, project);
    let session = text::clip(&text::neutral(going.key.session_id()), 40).into_owned();
    format!("{} {session}: continuation {n}/{of}", text::clip(&text::neutral(&going.agent), 20))
}

/// Returns the sessions that are being continued, as JSON.
pub fn records(going: &[Going], project: &Project) -> Vec<Value> {
    let record = |going: &Going| {
        let (n, of) = limit(going, project);
        json!({
            "session": going.key.session_id(),
            "subagent": going.key.subagent(),
            "agent": going.agent,
            "continuation": n,
            "of": of,
        })
    };
    going.iter().map(record).collect()
}

/// Returns the continuation that a session is at and how many there may be, by the limit that will end the loop first.
fn limit(going: &Going, project: &Project) -> (u32, u32) {
    going.counters.latest(&project.config.for_agent(&going.agent).keep_going())
}
