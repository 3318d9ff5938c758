//! `punch keep-going`: whether agents that stop early are sent on.

use clap::{Args, ValueEnum};
use punch_core::drive::Switch;
use punch_core::text;
use punch_engine::config::Settings;
use punch_engine::{Engine, Going};
use punch_store::SessionKey;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::guard;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch keep-going                     # the same as status
  punch keep-going pause               # every session of this project, from its next stop on
  punch keep-going off --session 1a2b3c
  punch keep-going on";

/// The arguments of `punch keep-going`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct KeepGoing {
    /// What to do
    #[arg(value_enum, default_value = "status")]
    what: What,
    /// Only this session, by its id or the beginning of it
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Ends `off` and `pause`
    On,
    /// Agents stop when they want to
    Off,
    /// Agents stop when they want to, for a while
    Pause,
    /// Ends `pause`
    Resume,
    /// Says how it stands
    Status,
}

impl KeepGoing {
    /// Runs the verb. What it says counts from the next stop of an agent on.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        if self.what == What::Status {
            let Some(open) = project.read()?.plan() else {
                return Ok(Reply::new("Nothing to keep going yet.", json!({"sessions": []})));
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
            (What::Off, _) => Switch::Off,
            (What::Pause, Switch::On | Switch::Paused) => Switch::Paused,
            (What::Resume | What::Pause, Switch::Off) => Switch::Off,
            (What::On | What::Resume | What::Status, _) => Switch::On,
        };
        open.engine.switch(open.plan, key.as_ref(), to)?;
        Ok(status(&open.engine, key.as_ref(), &open.project)?.after_write())
    }
}

/// A session that is not known yet may still be named in full.
fn key(engine: &Engine, given: Option<&str>) -> Result<Option<SessionKey>, Failure> {
    let Some(given) = given else { return Ok(None) };
    Ok(Some(engine.find_session(given)?.unwrap_or_else(|| SessionKey::new(given, None))))
}

fn status(engine: &Engine, key: Option<&SessionKey>, project: &Project) -> Result<Reply, Failure> {
    let switches = engine.switches(key)?;
    let enabled = &project.config.settings.keep_going_enabled;
    let mut lines = vec![match (switches.all, enabled.value) {
        (Switch::Off, _) => "Keep-going is off; `punch keep-going on` switches it on.".to_owned(),
        (Switch::Paused, _) => "Keep-going is paused; `punch keep-going resume` goes on.".to_owned(),
        (Switch::On, false) => {
            "Keep-going is off in the settings; `punch config show` says where that is set.".to_owned()
        }
        (Switch::On, true) => "Keep-going is on.".to_owned(),
    }];
    if let Some(key) = key.filter(|_| switches.session != Switch::On) {
        let word = word(switches.session);
        let known = engine.find_session(key.session_id())?.is_some();
        let remark = if known { "" } else { " No such session has been seen yet." };
        lines.push(format!("For session {} it is {word}.{remark}", text::clip(&text::neutral(key.session_id()), 80)));
    }
    let going = engine.going()?;
    lines.extend(going.iter().map(|going| line(going, project)));
    Ok(Reply::new(
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

/// One session that is kept going, on a line.
pub fn line(going: &Going, project: &Project) -> String {
    let of = settings(going, project).keep_going_max_continuations.value;
    let session = text::clip(&text::neutral(going.key.session_id()), 40).into_owned();
    format!("{} {session}: continuation {}/{of}", text::clip(&text::neutral(&going.agent), 20), going.continuation)
}

/// The sessions that are kept going, as JSON.
pub fn records(going: &[Going], project: &Project) -> Vec<Value> {
    let record = |going: &Going| {
        json!({
            "session": going.key.session_id(),
            "subagent": going.key.subagent(),
            "agent": going.agent,
            "continuation": going.continuation,
            "of": settings(going, project).keep_going_max_continuations.value,
        })
    };
    going.iter().map(record).collect()
}

fn settings<'p>(going: &Going, project: &'p Project) -> &'p Settings {
    project.config.for_agent(&going.agent)
}
