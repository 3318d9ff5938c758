//! One report from beginning to end: copy the host's own todo tools, link sessions by receipt, ask the engine what to
//! do. A copy that fails is remarked, and the rest still happens.

use std::path::PathBuf;

use punch_core::drive::{Effect, HostEvent, ToolKind};
use punch_engine::call::{Caller, Task, TodoUse, Work};
use punch_engine::config::Settings;
use punch_engine::{Choice, Code, Engine, EngineError, HostReport, Mark, Observed, UpcomingCall, WorkTree, locate};
use punch_store::SessionKey;

use super::host::Naming;
use super::{Heard, Meaning, context_use, todos, transcript, turns};
use crate::{Problem, Project};

/// How reports are taken.
pub struct Hook<'a> {
    /// Where the store comes from.
    pub project: &'a dyn Project,
    /// The settings of the agent.
    pub settings: &'a Settings,
    /// What tells worktrees that share a store apart.
    pub worktree: Option<String>,
    /// The work tree, whose commit completions keep.
    pub root: Option<PathBuf>,
    /// The host's own limit of continuations in a row.
    pub host_cap: Option<u32>,
    /// The assignment that the agent was started for.
    pub assigned: Option<SessionKey>,
}

/// What came of a report.
#[derive(Debug, Default)]
pub struct Done {
    /// What the host is asked to do.
    pub effect: Effect,
    /// The plan was changed.
    pub wrote: bool,
    /// Why the host must not call its task done.
    pub veto: Option<String>,
    /// What went wrong on the way, for the log.
    pub problems: Vec<Problem>,
}

impl Hook<'_> {
    /// Takes one report. Without a store nothing happens, unless there is something to copy.
    pub fn run(&self, heard: &Heard) -> Result<Done, Problem> {
        let used = match &heard.event {
            HostEvent::ToolEnded { tool } => Some(tool),
            _ => None,
        };
        // Nobody's session: what is copied twice could not be told from what is new.
        let named = !heard.key.session_id().is_empty();
        let told = used.filter(|_| named).and_then(|used| todos::told(heard, &used.name));
        let Some(engine) = self.project.open(told.is_some())? else { return Ok(Done::default()) };
        let mut done = Done::default();
        if let Some(assigned) = self.assigned.as_ref().filter(|_| named)
            && let Err(error) = engine.adopt(assigned, &heard.key)
        {
            done.problems.push(error.into());
        }
        if let Some(revision) = used.filter(|_| named).and_then(|used| used.receipt) {
            match engine.link(&heard.key, revision, &heard.input) {
                Ok(linked) => done.wrote |= linked,
                Err(error) => done.problems.push(error.into()),
            }
        }
        let report = HostReport {
            agent: heard.host.name().to_owned(),
            key: heard.key.clone(),
            choice: self.choice(&engine, heard)?,
            event: heard.event.clone(),
            context: matches!(heard.event, HostEvent::Stopping { .. }).then(|| context_use(heard)).flatten(),
            host_cap: self.host_cap,
            turn: heard.turn.clone(),
            tree: self.root.clone(),
            earlier: turns::earlier(heard),
            by_runner: false,
            upcoming: upcoming(heard),
        };
        if heard.meaning == Meaning::TaskEnd {
            match self.veto(&engine, heard, &report.choice) {
                Ok(veto) => done.veto = veto,
                Err(error) => done.problems.push(error.into()),
            }
        }
        if let (Some(context), Some(root)) = (report.context, &self.root) {
            let look = || Code::look(&WorkTree { root: root.clone(), git: None, consents: None });
            match engine.checkpoint_at(&report.choice, &heard.key, context, &look) {
                Ok(saved) => done.wrote |= saved.is_some(),
                Err(error) => done.problems.push(error.into()),
            }
        }
        let read = |mark: &Mark| transcript::since(heard, mark);
        let observed = match (told, used) {
            (Some((family, told)), Some(used)) => {
                let once = used.call.as_deref().map(|call| self.once(heard, &used.name, call));
                let caller = self.caller(heard);
                let used = TodoUse { caller: &caller, family, told: &told, key: once.as_deref() };
                engine.observe_copying(&report, self.settings, &used, Some(&read))
            }
            _ => {
                let effect = engine.observe_reading(&report, self.settings, Some(&read));
                effect.map(|effect| Observed { effect, ..Observed::default() })
            }
        };
        match observed {
            Ok(observed) => {
                done.effect = observed.effect;
                done.wrote |= observed.copied;
                done.problems.extend(observed.failed.map(Problem::from));
            }
            Err(error) => done.problems.push(error.into()),
        }
        Ok(done)
    }

    /// What the plan says to the end of a task of the host's own.
    fn veto(&self, engine: &Engine, heard: &Heard, choice: &Choice) -> Result<Option<String>, EngineError> {
        let word = |key: &str| heard.input.get(key).and_then(serde_json::Value::as_str);
        let (Some(key), Some(plan)) = (word("task_id"), engine.choose(choice)?) else { return Ok(None) };
        engine.veto(plan.id, &heard.key, Task { key, content: word("task_subject") }, self.settings)
    }

    /// The plan of the session; that of a subagent nobody has seen is its main agent's.
    fn choice(&self, engine: &Engine, heard: &Heard) -> Result<Choice, Problem> {
        let known = heard.key.subagent().is_none() || engine.session(&heard.key)?.is_some();
        let session = if known { heard.key.clone() } else { SessionKey::new(heard.key.session_id(), None) };
        Ok(Choice {
            name: self.settings.plan.value.clone(),
            session: (!session.session_id().is_empty()).then_some(session),
            worktree: self.worktree.clone(),
            plans: self.settings.plans.value,
        })
    }

    /// Who copies the host's list, which may finish something.
    fn caller(&self, heard: &Heard) -> Caller<'_> {
        let root = self.root.as_ref();
        Caller {
            work: Work {
                commit: root.filter(|_| Work::finishes(&heard.input)).and_then(|root| locate::head_commit(root)),
                tree: root.map(|root| WorkTree { root: root.clone(), git: None, consents: None }),
                ..Work::default()
            },
            ..Caller::under(self.settings, heard.key.clone(), heard.host.name().to_owned())
        }
    }

    /// The host's number for a use of a tool, with what makes it another one where numbers are counted anew.
    fn once(&self, heard: &Heard, name: &str, call: &str) -> String {
        crate::identity::idempotency(&heard.key, &format!("hook {} {name}", heard.host.name()), call, &heard.input)
    }
}

/// The call of one of our tools that a report announces, unless the host names the session in the call itself.
fn upcoming(heard: &Heard) -> Option<UpcomingCall> {
    let HostEvent::ToolStarting { tool } = &heard.event else { return None };
    let naming = heard.host.naming();
    let announced = tool.kind == ToolKind::Ours && naming != Naming::EveryCall && heard.meaning == Meaning::ToolStart;
    announced.then(|| UpcomingCall {
        id: tool.call.clone(),
        arguments: heard.input.clone(),
        named_at_start: naming == Naming::AtStart,
    })
}
